//! Writes HTML. Untrusted text can only be written as text or as the value of an attribute, and both are escaped
//! here, which prevents injection. Plots are inserted as markup; they escape their own labels.

use matchday_core::protocol::Untrusted;
use matchday_plot::{Bars, Dots, HeatMap, Histogram, LineChart};

#[derive(Debug, Default)]
pub struct Html(String);

pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    pub fn document() -> Self {
        Self("<!DOCTYPE html>\n".to_owned())
    }

    pub fn finish(self) -> String {
        self.0
    }

    pub fn element(
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

    /// An element without content, such as `meta`.
    pub fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
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

    pub fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |html| html.text(text));
    }

    pub fn text(&mut self, text: &str) {
        self.0.push_str(&Untrusted::new(text).html());
    }

    /// A display name, isolated so that it cannot change the text direction around it.
    pub fn name(&mut self, name: &str) {
        self.leaf("bdi", &[], name);
    }

    pub fn style(&mut self, sheets: &[&'static str]) {
        self.element("style", &[], |html| sheets.iter().for_each(|sheet| html.0.push_str(sheet)));
    }

    pub fn plot(&mut self, plot: &impl Plot) {
        self.0.push_str(&plot.svg());
    }
}

pub fn section(html: &mut Html, id: &str, title: &str, inside: impl FnOnce(&mut Html)) {
    let heading = format!("{id}-heading");
    html.element("section", &[("id", id), ("aria-labelledby", &heading)], |html| {
        html.leaf("h2", &[("id", &heading)], title);
        inside(html);
    });
}

pub fn figure(html: &mut Html, title: &str, about: &str, plot: &impl Plot) {
    html.element("figure", &[], |html| {
        html.element("figcaption", &[], |html| {
            html.text(title);
            html.leaf("p", &[], about);
        });
        let scrolls = [("class", "wide"), ("tabindex", "0"), ("role", "group"), ("aria-label", title)];
        html.element("div", &scrolls, |html| html.plot(plot));
    });
}

/// Elements that end with a line break, so that pages can be compared line by line.
const BLOCKS: [&str; 14] = [
    "head", "title", "style", "header", "nav", "main", "section", "article", "figure", "table", "tr", "p",
    "li", "details",
];

pub trait Plot {
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
