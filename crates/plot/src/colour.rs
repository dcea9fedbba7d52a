//! The colours of plots. Each shape has an inline colour, so that a plot can stand alone, and a class, by which
//! [`CSS`] overrides it in dark mode.

/// How many lines of a chart have a colour and a label; the others are thin and grey.
pub(crate) const HUES: usize = 8;

/// Distinguishable with any colour vision, on white.
const ON_LIGHT: [Paint; HUES] = [
    Paint::new("c0", "#0067a5"),
    Paint::new("c1", "#b34a00"),
    Paint::new("c2", "#00785a"),
    Paint::new("c3", "#a0307a"),
    Paint::new("c4", "#5b5bd6"),
    Paint::new("c5", "#8a6d00"),
    Paint::new("c6", "#007a8a"),
    Paint::new("c7", "#6b4b3a"),
];

/// A class and a default colour; without a colour, that of the surrounding text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    pub(crate) class: &'static str,
    pub(crate) colour: &'static str,
}

impl Paint {
    const fn new(class: &'static str, colour: &'static str) -> Self {
        Self { class, colour }
    }

    pub(crate) fn attributes<'a>(self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        [("class", self.class), ("color", self.colour)]
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
    }
}

/// The colour of the surrounding text.
pub(crate) const INK: Paint = Paint::new("", "");
pub(crate) const QUIET: Paint = Paint::new("quiet", "");
/// For secondary lines.
pub(crate) const OTHER: Paint = Paint::new("other", "#8a8f98");
pub(crate) const GRID: Paint = Paint::new("grid", "#d5d8dd");
/// For marks, such as a deadline.
pub(crate) const MARK: Paint = Paint::new("mark", "#b3261e");

/// Background and text colours, from the low end over the middle to the high end.
const HEAT: [(Paint, Paint); 9] = [
    (Paint::new("h0", "#b35806"), Paint::new("t0", "#fff")),
    (Paint::new("h1", "#e08214"), Paint::new("t1", "#000")),
    (Paint::new("h2", "#fdb863"), Paint::new("t2", "#000")),
    (Paint::new("h3", "#fee0b6"), Paint::new("t3", "#000")),
    (Paint::new("h4", "#f2f2f2"), Paint::new("t4", "#000")),
    (Paint::new("h5", "#d8daeb"), Paint::new("t5", "#000")),
    (Paint::new("h6", "#b2abd2"), Paint::new("t6", "#000")),
    (Paint::new("h7", "#8073ac"), Paint::new("t7", "#000")),
    (Paint::new("h8", "#542788"), Paint::new("t8", "#fff")),
];

pub(crate) fn hue(number: usize) -> Paint {
    ON_LIGHT.get(number).copied().unwrap_or(OTHER)
}

pub(crate) const SHADES: usize = HEAT.len();

/// The index of the shade for a share from 0 to 1.
pub(crate) fn shade(share: f64) -> usize {
    let last = SHADES - 1;
    ((share * last as f64).round().max(0.0) as usize).min(last)
}

/// A shade, and a readable text colour on it.
pub(crate) fn heat(shade: usize) -> (Paint, Paint) {
    HEAT.get(shade).copied().unwrap_or((OTHER, INK))
}

/// For the page that contains the plots: responsive width, dark mode.
pub const CSS: &str = "\
.plot{max-width:100%;height:auto}
.plot .quiet{opacity:.8}
@media (prefers-color-scheme:dark){
.plot .grid{color:#3d4148}.plot .mark{color:#ff8a80}.plot .other{color:#6b7078}
.plot .c0{color:#5ab4f0}.plot .c1{color:#ff9a4d}.plot .c2{color:#3fcf9f}.plot .c3{color:#f08cc8}
.plot .c4{color:#a5a5ff}.plot .c5{color:#e0c040}.plot .c6{color:#45c8dc}.plot .c7{color:#cfa890}
.plot .h0{color:#f1a340}.plot .h1{color:#c97a1e}.plot .h2{color:#8f5614}.plot .h3{color:#5a3a17}.plot .h4{color:#33333a}
.plot .h5{color:#3d3560}.plot .h6{color:#5b4f91}.plot .h7{color:#8073b8}.plot .h8{color:#b2a5e6}
.plot .t0,.plot .t1,.plot .t7,.plot .t8{color:#000}.plot .t2,.plot .t3,.plot .t4,.plot .t5,.plot .t6{color:#fff}
}
";
