//! Plots: as inline SVG for a page, and as a sketch for a terminal. Pure: data in, text out.
//!
//! Each plot is a plain struct with three ways out: `svg()`, `sketch(width)` and `alternative()`, which says in words what
//! there is to see, and which the SVG carries as its description.
//!
//! ```
//! use matchday_plot::{Bar, Bars};
//! let bars = Bars { title: "Points".into(), bars: vec![Bar::new("Ada", 7.0), Bar::new("Grace", 4.0)], ..Bars::default() };
//! assert!(bars.svg().starts_with("<svg"));
//! assert_eq!(bars.sketch(20), "Ada    ██████████  7\nGrace  █████▊      4");
//! ```
//!
//! # Layout
//! - `svg`: writes elements, and escapes whatever is put into them; `colour`: colours, and [`CSS`] for light and dark
//! - `scale`: from values to places, with round numbers along the axes; `text`: numbers, and words that fit
//! - `frame`: the axes that several plots stand in; `braille`: a grid of dots for terminals
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

/// A value that is worth a line of its own, such as a deadline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    pub at: f64,
    pub label: String,
}

impl Mark {
    pub fn new(label: impl Into<String>, at: f64) -> Self {
        Self { at, label: label.into() }
    }
}
