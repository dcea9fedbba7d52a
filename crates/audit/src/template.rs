//! The templates' way of writing pages: what a template shows is escaped for its kind of file, as askama.toml says. Pure.

use askama::Template;
use askama::filters::Escaper;
use matchday_core::protocol::Untrusted;
use std::fmt;

/// For files that end with `.html`. Characters that deceive readers are shown as what they are.
#[derive(Debug, Clone, Copy)]
pub struct HtmlEscaper;

impl Escaper for HtmlEscaper {
    fn write_escaped_str<W: fmt::Write>(&self, mut dest: W, text: &str) -> fmt::Result {
        dest.write_str(&Untrusted::new(text).html())
    }
}

/// For files that end with `.md`.
#[derive(Debug, Clone, Copy)]
pub struct MarkdownEscaper;

impl Escaper for MarkdownEscaper {
    fn write_escaped_str<W: fmt::Write>(&self, mut dest: W, text: &str) -> fmt::Result {
        dest.write_str(&Untrusted::new(text).markdown())
    }
}

pub fn rendered(template: &impl Template) -> String {
    // Writing into a string does not fail.
    template.render().unwrap_or_default()
}
