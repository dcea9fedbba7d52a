//! The addresses of agents in texts that anyone may read. Tokens are cut before anything is stored.

use super::json_text::{opened, text_end};
use matchday_core::league::League;
use std::collections::BTreeSet;

const LEFT_OUT: &str = "(left out)";

/// Knows the addresses of a league's members.
#[derive(Debug, Default)]
pub struct EndpointRedactor {
    /// `127.0.0.1:8101`, the longest first, so that none is taken for the beginning of another.
    addresses: Vec<String>,
}

impl EndpointRedactor {
    pub fn of(league: &League) -> Self {
        let players = league
            .players
            .values()
            .map(|player| player.meta.contact_endpoint.raw());
        let referees = league
            .referees
            .values()
            .map(|referee| referee.meta.contact_endpoint.raw());
        let address = |url: &str| {
            url.split("://")
                .nth(1)?
                .split(['/', '?', '#'])
                .next()
                .map(str::to_owned)
        };
        let known: BTreeSet<String> = players.chain(referees).filter_map(address).collect();
        let mut addresses: Vec<String> = known
            .into_iter()
            .filter(|address| !address.is_empty())
            .collect();
        addresses.sort_by_key(|address| std::cmp::Reverse(address.len()));
        Self { addresses }
    }

    /// The text without any URL, without what stands in a field for endpoints, and without a member's address.
    pub fn redact(&self, text: &str) -> String {
        let mut shown = without_urls(&without_endpoints(text));
        for address in &self.addresses {
            if shown.contains(address.as_str()) {
                shown = shown.replace(address.as_str(), LEFT_OUT);
            }
        }
        shown
    }
}

/// Blanks the texts of fields whose names end with `endpoint`, at any depth of quoting.
fn without_endpoints(text: &str) -> String {
    const NAME: &str = "endpoint";
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(NAME) {
        let (before, after) = rest.split_at(at + NAME.len());
        shown.push_str(before);
        rest = after;
        if let Some((depth, value)) = opened(rest) {
            shown.push_str(rest.get(..rest.len() - value.len()).unwrap_or_default());
            shown.push_str(LEFT_OUT);
            rest = value.get(text_end(value, depth)..).unwrap_or_default();
        }
    }
    shown.push_str(rest);
    shown
}

fn without_urls(text: &str) -> String {
    const SLASHES: [&str; 2] = ["://", ":\\/\\/"];
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, mark)) = SLASHES
        .iter()
        .filter_map(|mark| Some((rest.find(mark)?, *mark)))
        .min()
    {
        let (before, after) = rest.split_at(at);
        let scheme = before.len()
            - before
                .trim_end_matches(|c: char| c.is_ascii_alphanumeric())
                .len();
        shown.push_str(before.get(..before.len() - scheme).unwrap_or_default());
        shown.push_str(LEFT_OUT);
        let after = after.get(mark.len()..).unwrap_or_default();
        let is_end = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ',' | '`' | '\\')
        };
        let url = after.split_at(after.find(is_end).unwrap_or(after.len())).0;
        // Punctuation at its end belongs to the sentence.
        let url = url.trim_end_matches([':', '.', ';', '?', '!']);
        rest = after.get(url.len()..).unwrap_or_default();
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_left_in_what_anyone_may_read() {
        let redactor = EndpointRedactor {
            addresses: vec!["127.0.0.1:81010".into(), "127.0.0.1:8101".into()],
        };
        for (text, shown) in [
            (
                r#"{"contact_endpoint":"http://127.0.0.1:9/mcp","x":1}"#,
                r#"{"contact_endpoint":"(left out)","x":1}"#,
            ),
            (
                r#"{"referee_endpoint" : "weird"}"#,
                r#"{"referee_endpoint" : "(left out)"}"#,
            ),
            (
                r#"{"text":"{\"endpoint\":\"odd\",\"a\":1}"}"#,
                r#"{"text":"{\"endpoint\":\"(left out)\",\"a\":1}"}"#,
            ),
            (
                r#"{"endpoint":"http:\/\/a.b\/mcp"}"#,
                r#"{"endpoint":"(left out)"}"#,
            ),
            (
                "no connection to http://a.b:1/mcp, refused",
                "no connection to (left out), refused",
            ),
            (
                "to http://a.b:1/mcp: is it there?",
                "to (left out): is it there?",
            ),
            (r#"see http:\/\/a.b and"#, "see (left out) and"),
            (
                "no way to 127.0.0.1:8101: refused",
                "no way to (left out): refused",
            ),
            ("at 127.0.0.1:81010", "at (left out)"),
            (
                r#"{"endpoint":"odd\\","x":"y"}"#,
                r#"{"endpoint":"(left out)","x":"y"}"#,
            ),
            (r#"{"endpoint":null}"#, r#"{"endpoint":null}"#),
            ("the endpoint", "the endpoint"),
            ("", ""),
        ] {
            assert_eq!(redactor.redact(text), shown);
        }
    }
}
