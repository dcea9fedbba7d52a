//! Parses the query string of a URL. Pure.

use hyper::Uri;
use std::collections::BTreeMap;

/// Each name with its value; the last value of a repeated name. An empty value counts as missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    pub(crate) fn of(uri: &Uri) -> Self {
        let pairs = uri.query().unwrap_or_default().split('&');
        let read = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(name), percent_decode(value))
        };
        Self(
            pairs
                .map(read)
                .filter(|(_, value)| !value.is_empty())
                .collect(),
        )
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// A whole number, or an error for people.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.0.get(name) else {
            return Ok(None);
        };
        let number = text.parse::<u64>().map(Some);
        number.map_err(|_| format!("{name}: expected a whole number, got {text:?}"))
    }
}

/// Decodes percent-encoding and `+`. An invalid escape stays as it is.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| hex::decode(digits).ok());
        match escaped.as_deref() {
            Some([byte]) => {
                bytes.push(*byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_without_escapes() {
        let uri: Uri = "/api/messages?conversation_id=a%2Fb+c&type=&code=E003&limit=7&x=%zz"
            .parse()
            .unwrap();
        let query = Query::of(&uri);
        assert_eq!(query.text("conversation_id").as_deref(), Some("a/b c"));
        assert_eq!(query.text("type"), None);
        assert_eq!(query.text("x").as_deref(), Some("%zz"));
        assert_eq!(query.number("limit"), Ok(Some(7)));
        assert!(query.number("code").unwrap_err().contains("whole number"));
        assert_eq!(Query::of(&"/api/league".parse().unwrap()), Query::default());
    }
}
