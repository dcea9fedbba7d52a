//! Writes SVG. Text and attributes are escaped here, which prevents injection.

use crate::colour::Paint;
use crate::text::number;
use std::fmt::Write;

#[derive(Debug)]
pub(crate) struct Svg(String);

impl Svg {
    /// Accessible: the title is its name for a screen reader, the description a text alternative.
    pub(crate) fn new(kind: &str, width: f64, height: f64, title: &str, description: &str) -> Self {
        let mut svg = Self(String::new());
        let view = format!("0 0 {} {}", place(width), place(height));
        svg.open(
            "svg",
            &[
                ("xmlns", "http://www.w3.org/2000/svg"),
                ("class", &format!("plot {kind}")),
                ("role", "img"),
                ("viewBox", &view),
                ("width", &place(width)),
                ("height", &place(height)),
                ("font-family", "system-ui, sans-serif"),
                ("font-size", "12"),
                ("fill", "currentColor"),
            ],
        );
        svg.leaf("title", &[], title);
        svg.leaf("desc", &[], description);
        svg
    }

    pub(crate) fn finish(mut self) -> String {
        self.close("svg");
        self.0
    }

    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.0.push('>');
    }

    pub(crate) fn close(&mut self, name: &str) {
        let _ = write!(self.0, "</{name}>");
    }

    pub(crate) fn leaf(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.open(name, attributes);
        escape(&mut self.0, text);
        self.close(name);
    }

    /// An element, with a tooltip if there is one.
    pub(crate) fn shape(&mut self, name: &str, attributes: &[(&str, &str)], hint: &str) {
        if hint.is_empty() {
            self.start(name, attributes);
            self.0.push_str("/>");
        } else {
            self.open(name, attributes);
            self.leaf("title", &[], hint);
            self.close(name);
        }
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, paint: &Paint, text: &str) {
        let x = place(x);
        let y = place(y);
        let mut attributes = vec![("x", x.as_str()), ("y", y.as_str())];
        attributes.extend(paint.attributes());
        if !paint.colour.is_empty() {
            attributes.push(("fill", "currentColor"));
        }
        attributes.extend(anchor.name().map(|name| ("text-anchor", name)));
        self.leaf("text", &attributes, text);
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), paint: &Paint) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(place);
        let mut attributes: Vec<_> = paint.attributes().collect();
        attributes.extend([("x1", x1.as_str()), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
        attributes.push(("stroke", "currentColor"));
        self.shape("line", &attributes, "");
    }

    pub(crate) fn rect(
        &mut self,
        at: (f64, f64),
        (width, height): (f64, f64),
        paint: &Paint,
        hint: &str,
    ) {
        let [x, y, width, height] = [at.0, at.1, width.max(0.0), height.max(0.0)].map(place);
        let mut attributes: Vec<_> = paint.attributes().collect();
        attributes.extend([
            ("x", x.as_str()),
            ("y", &y),
            ("width", &width),
            ("height", &height),
        ]);
        attributes.push(("fill", "currentColor"));
        self.shape("rect", &attributes, hint);
    }

    /// A filled path, or a line.
    pub(crate) fn path(&mut self, path: &str, paint: &Paint, line: Option<&str>, hint: &str) {
        let mut attributes: Vec<_> = paint.attributes().chain([("d", path)]).collect();
        match line {
            Some(width) => {
                attributes.extend([
                    ("fill", "none"),
                    ("stroke", "currentColor"),
                    ("stroke-width", width),
                ]);
                attributes.push(("stroke-linejoin", "round"));
            }
            None => attributes.push(("fill", "currentColor")),
        }
        self.shape("path", &attributes, hint);
    }

    /// Dashes over so many other lines, the more of them the wider apart.
    pub(crate) fn dashed(&mut self, path: &str, paint: &Paint, over: usize) {
        let dashes = format!("6 {}", 6 * over);
        let mut attributes: Vec<_> = paint
            .attributes()
            .chain([("d", path), ("fill", "none")])
            .collect();
        attributes.extend([
            ("stroke", "currentColor"),
            ("stroke-width", "2"),
            ("stroke-dasharray", &dashes),
        ]);
        self.shape("path", &attributes, "");
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        let _ = write!(self.0, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.0, " {key}=\"");
            escape(&mut self.0, value);
            self.0.push('"');
        }
    }
}

/// The text anchor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Start => None,
            Self::Middle => Some("middle"),
            Self::End => Some("end"),
        }
    }
}

/// A coordinate, with a precision of a tenth of a pixel.
pub(crate) fn place(value: f64) -> String {
    number((value * 10.0).round() / 10.0)
}

/// Bidirectional marks, separators, zero-width characters, tags and noncharacters.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

fn escape(into: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            // Most of these are not allowed in XML, and the others are invisible; labels are untrusted text of one
            // line.
            c if c.is_control() || is_invisible(c) => into.push('\u{fffd}'),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text() {
        let mut svg = Svg::new(
            "bars",
            10.0,
            10.0,
            "</title><script>alert(1)</script>",
            "\"quoted\" & \u{1}",
        );
        svg.shape("rect", &[("class", "\"><script>")], "'</svg>");
        let text = svg.finish();
        assert_eq!(text.matches("<script").count(), 0);
        assert_eq!(text.matches("</svg").count(), 1);
        assert!(text.contains("&quot;quoted&quot; &amp; \u{fffd}"));
    }
}
