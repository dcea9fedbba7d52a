//! Writes HTML. What is not a word of this program can only come in as text or as the value of an attribute, and both are
//! escaped here: no name can become markup. Plots bring their own markup, which is escaped where they are drawn.

use matchday_core::protocol::Untrusted;
use matchday_plot::{Bars, Dots, HeatMap, Histogram, LineChart};

#[derive(Debug, Default)]
pub(super) struct Html(String);

/// Names and values of attributes.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    pub(super) fn document() -> Self {
        Self("<!DOCTYPE html>\n".to_owned())
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    /// An element and what is in it.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        inside(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
        if BLOCKS.contains(&name) {
            self.0.push('\n');
        }
    }

    /// An element that holds nothing, such as `meta`.
    pub(super) fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(name);
        for (key, value) in attributes {
            self.0.push(' ');
            self.0.push_str(key);
            self.0.push_str("=\"");
            self.text(value);
            self.0.push('"');
        }
        self.0.push('>');
    }

    pub(super) fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |html| html.text(text));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.0.push_str(&Untrusted::new(text).html());
    }

    /// What an agent calls itself: it cannot turn the direction of what stands around it.
    pub(super) fn name(&mut self, name: &str) {
        self.leaf("bdi", &[], name);
    }

    /// A style sheet of this program.
    pub(super) fn style(&mut self, sheets: &[&'static str]) {
        self.element("style", &[], |html| sheets.iter().for_each(|sheet| html.0.push_str(sheet)));
    }

    pub(super) fn plot(&mut self, plot: &impl Plot) {
        self.0.push_str(&plot.svg());
    }
}

/// After these a new line begins, so that the page can be read and compared as text.
const BLOCKS: [&str; 14] = [
    "head", "title", "style", "header", "nav", "main", "section", "article", "figure", "table", "tr", "p",
    "li", "details",
];

/// Whatever is drawn by the one crate that draws.
pub(super) trait Plot {
    fn svg(&self) -> String;
}

macro_rules! plots {
    ($($plot:ty),*) => {
        $(impl Plot for $plot {
            fn svg(&self) -> String {
                <$plot>::svg(self)
            }
        })*
    };
}

plots!(Bars, Dots, HeatMap, Histogram, LineChart);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_becomes_markup() {
        let mut html = Html::default();
        let hostile = "\"><script>alert('1')</script>&\u{0}";
        html.element("p", &[("title", hostile)], |html| html.name(hostile));
        let text = html.finish();
        let escaped = "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;\\u0000";
        assert_eq!(text, format!("<p title=\"{escaped}\"><bdi>{escaped}</bdi></p>\n"));
    }
}
