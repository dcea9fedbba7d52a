//! Plots as inline SVG, and as text for a terminal. Pure: data in, text out.
//!
//! Each plot is a plain struct with three outputs: `svg()`, `sketch(width)` and `alternative()`, a text alternative that
//! the SVG contains as its description.
//!
//! ```
//! use matchday_plot::{Bar, Bars};
//! let bars = Bars { title: "Points".into(), bars: vec![Bar::new("Ada", 7.0), Bar::new("Grace", 4.0)], ..Bars::default() };
//! assert!(bars.svg().starts_with("<svg"));
//! assert_eq!(bars.sketch(20), "Ada    ██████████  7\nGrace  █████▊      4");
//! ```
//!
//! # Layout
//! - `svg`: writes and escapes elements; `colour`: colours, and [`CSS`] for light and dark mode
//! - `scale`: values to positions, ticks; `text`: numbers, truncation
//! - `frame`: axes; `braille`: a bitmap for terminals
//! - [`line`](LineChart), [`bars`](Bars), [`histogram`](Histogram), [`heat`](HeatMap), [`dots`](Dots): the plots

mod bars;
mod braille;
mod colour;
mod dots;
mod frame;
mod heat;
mod histogram;
mod line;
mod scale;
mod svg;
mod text;

pub use bars::{Bar, Bars};
pub use colour::CSS;
pub use dots::{Dot, Dots};
pub use heat::{HeatCell, HeatMap};
pub use histogram::{Bin, Histogram};
pub use line::{Line, LineChart};

/// A labelled line, such as a deadline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    pub at: f64,
    pub label: String,
}

impl Mark {
    pub fn new(label: impl Into<String>, at: f64) -> Self {
        Self {
            at,
            label: label.into(),
        }
    }
}
