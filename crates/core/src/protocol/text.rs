//! Validated text: names, versions, endpoints.

#[cfg(feature = "schema")]
use super::schema_words::{CONTROLS, NO_CONTROLS};
use super::untrusted::{Escaped, Untrusted, cleaned, is_deceptive};
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::fmt;
use url::{Host, Url};

/// Why a text is invalid: what the rule requires, to complete "expected ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct RuleBroken(pub Cow<'static, str>);

impl RuleBroken {
    const fn new(rule: &'static str) -> Self {
        Self(Cow::Borrowed(rule))
    }
}

macro_rules! ruled_texts {
    ($($(#[$doc:meta])* $name:ident, $check:ident;)*) => {$(
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(try_from = "SmolStr")]
        $(#[$doc])*
        pub struct $name(SmolStr);

        impl $name {
            fn check(text: &str) -> Result<(), RuleBroken> {
                $check(text)
            }
        }

        impl TryFrom<SmolStr> for $name {
            type Error = RuleBroken;

            fn try_from(text: SmolStr) -> Result<Self, RuleBroken> {
                Self::check(&text)?;
                check_characters(&text)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for SmolStr {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.0.as_str(), f)
            }
        }
    )*};
}

ruled_texts! {
    /// What an agent calls itself: 1 to 50 characters, none of them a control character or invisible.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = NAME_CHARS_MAX, "pattern" = format!("^{NO_CONTROLS}*$"))))]
    DisplayName, check_name;
    /// The version of an agent's software: `MAJOR.MINOR.PATCH`.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = VERSION_PATTERN)))]
    Version, check_version;
    /// Where an agent listens: an absolute `http` or `https` URL with a host, without user and password.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "uri", "maxLength" = ENDPOINT_BYTES_MAX, "pattern" = endpoint_pattern())))]
    Endpoint, check_endpoint;
}

/// Untrusted texts: printed only through a rendering of [`Untrusted`].
macro_rules! untrusted_texts {
    ($($name:ident)*) => {$(
        impl $name {
            /// Strict: the text must keep to the type's rule and have no deceptive characters.
            pub fn parse(text: &str) -> Result<Self, RuleBroken> {
                Self::check(text)?;
                check_characters(text)?;
                Ok(Self(SmolStr::new(text)))
            }

            /// For lenient decoding: without deceptive characters, and whether there were any.
            pub fn parse_cleaned(text: &str) -> Result<(Self, bool), RuleBroken> {
                let clean = cleaned(text);
                Ok((Self::parse(&clean)?, matches!(clean, Cow::Owned(_))))
            }

            /// To show it in CSV, HTML or Markdown.
            pub fn untrusted(&self) -> Untrusted<'_> {
                Untrusted::new(&self.0)
            }

            /// One line for terminals, logs and JSON.
            pub fn escaped(&self) -> Escaped<'_> {
                self.untrusted().escaped()
            }

            /// Unescaped: to compare, hash, send or call, never to show.
            pub fn raw(&self) -> &str {
                &self.0
            }
        }
    )*};
}

untrusted_texts! { DisplayName Endpoint }

impl Endpoint {
    /// Whether its host is this address; `None` for a name, which is not looked up, other than `localhost`.
    pub fn is_at(&self, address: IpAddr) -> Option<bool> {
        let url = Url::parse(self.raw()).ok()?;
        let address = address.to_canonical();
        match url.host()? {
            Host::Ipv4(host) => Some(address == host),
            Host::Ipv6(host) => Some(address == host),
            Host::Domain("localhost") => Some(address.is_loopback()),
            Host::Domain(_) => None,
        }
    }
}

impl Version {
    /// Any semantic version, pre-release and build metadata included.
    pub fn parse(text: &str) -> Result<Self, RuleBroken> {
        Self::check(text).map(|()| Self(SmolStr::new(text)))
    }

    /// Needs no escaping: the rule allows only ASCII.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names the invalid character, because it is invisible.
pub(super) fn check_characters(text: &str) -> Result<(), RuleBroken> {
    match text.chars().zip(1..).find(|(c, _)| is_deceptive(*c)) {
        None => Ok(()),
        Some((c, place)) => Err(RuleBroken(Cow::Owned(format!(
            "a text without control or invisible characters (character {place} is U+{:04X})",
            u32::from(c)
        )))),
    }
}

/// The longest display name, in characters.
pub const NAME_CHARS_MAX: usize = 50;

fn check_name(text: &str) -> Result<(), RuleBroken> {
    match text.chars().take(NAME_CHARS_MAX + 1).count() {
        1..=NAME_CHARS_MAX => Ok(()),
        _ => Err(RuleBroken::new("a name of 1 to 50 characters")),
    }
}

fn check_version(text: &str) -> Result<(), RuleBroken> {
    match semver::Version::parse(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(RuleBroken::new(
            "a semantic version MAJOR.MINOR.PATCH, such as \"1.0.0\"",
        )),
    }
}

fn check_endpoint(text: &str) -> Result<(), RuleBroken> {
    if is_plain_endpoint(text) && text.len() <= ENDPOINT_BYTES_MAX {
        return Ok(());
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(RuleBroken::new(
            "a URL without spaces and control characters",
        ));
    }
    // `Url` takes the first part of the path for a missing host.
    let after = text
        .split_once("://")
        .filter(|(scheme, _)| is_http(scheme))
        .map(|(_, after)| after);
    if after.is_some_and(|after| after.is_empty() || after.starts_with(['/', '\\', '?', '#', ':']))
    {
        return Err(RuleBroken::new("a URL that names a host"));
    }
    if text.len() > ENDPOINT_BYTES_MAX || !is_http_url(text) {
        return Err(RuleBroken::new(
            "an http or https URL, such as \"http://localhost:8101/mcp\"",
        ));
    }
    match Url::parse(text).map(|url| url.port()) {
        Ok(Some(0)) => Err(RuleBroken::new("a URL with a port from 1 to 65535")),
        _ => Ok(()),
    }
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

fn is_http_url(text: &str) -> bool {
    let spelled_out = text
        .get(..7)
        .is_some_and(|head| head.eq_ignore_ascii_case("http://"))
        || text
            .get(..8)
            .is_some_and(|head| head.eq_ignore_ascii_case("https://"));
    let has_host =
        |url: Url| url.username().is_empty() && url.password().is_none() && url.has_host();
    spelled_out && Url::parse(text).is_ok_and(has_host)
}

/// Fast path for common URLs: an IPv4 address or a lower-case name, an optional port and path. An announcement has a
/// URL per match, and a full URL parse takes longer than the rest of it. Accepts only valid URLs.
fn is_plain_endpoint(text: &str) -> bool {
    let Some(rest) = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"))
    else {
        return false;
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    (is_plain_name(host) || is_address(host))
        && port.is_none_or(is_port)
        && path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte))
}

/// An IPv4 address in canonical form.
fn is_address(host: &str) -> bool {
    let is_part = |part: &str| {
        let plain = part.bytes().all(|byte| byte.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'));
        plain && part.parse::<u8>().is_ok()
    };
    host.split('.').count() == 4 && host.split('.').all(is_part)
}

/// A DNS name of letters, digits and single hyphens, whose last label is no number.
fn is_plain_name(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(is_plain) && !word.contains("--");
    host.split('.').all(is_word)
        && host
            .rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// The longest endpoint, in bytes.
pub const ENDPOINT_BYTES_MAX: usize = 2048;

/// A semantic version, for schemas.
#[cfg(feature = "schema")]
const VERSION_PATTERN: &str = concat!(
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)",
    r"(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?",
    r"(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$",
);

/// An approximation of [`Endpoint::parse`], for schemas.
#[cfg(feature = "schema")]
fn endpoint_pattern() -> String {
    format!("^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s{CONTROLS}]+([/?#][^\\s{CONTROLS}]*)?$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_50_characters_however_many_bytes() {
        assert!(DisplayName::parse("").is_err());
        assert!(DisplayName::parse(&"é".repeat(50)).is_ok());
        assert!(DisplayName::parse(&"a".repeat(51)).is_err());
    }

    #[test]
    fn a_name_that_could_forge_is_refused_with_the_character_and_its_place() {
        let broken = DisplayName::parse("Ada\u{202e}").unwrap_err().to_string();
        assert!(broken.contains("character 4 is U+202E"), "{broken}");
        for bad in [
            "\u{1b}[2J",
            "a\nb",
            "a\u{9b}b",
            "\u{200b}",
            "a\u{2028}b",
            "\u{e0041}a",
        ] {
            assert!(DisplayName::parse(bad).is_err(), "{bad:?}");
        }
        assert!(Endpoint::parse("http://localhost:8101/\u{202e}mcp").is_err());
        assert!(Endpoint::parse("http://localhost:81\n01/mcp").is_err());
    }

    #[test]
    fn the_lenient_reading_cleans_a_name_and_says_so() {
        let (name, changed) = DisplayName::parse_cleaned("\u{202e}Ada\n\u{7}").unwrap();
        assert_eq!((name.raw(), changed), ("Ada", true));
        assert_eq!(
            DisplayName::parse_cleaned("Ada").map(|(_, changed)| changed),
            Ok(false)
        );
        assert!(DisplayName::parse_cleaned("\u{200b}").is_err());
        let (endpoint, _) = Endpoint::parse_cleaned("http://localhost:8101/mcp\u{200b}").unwrap();
        assert_eq!(endpoint.raw(), "http://localhost:8101/mcp");
    }

    #[test]
    fn a_stored_text_keeps_to_the_rule_too() {
        assert!(serde_json::from_str::<DisplayName>("\"\\u202eAda\"").is_err());
        for stored in [
            "http:///mcp",
            "http://localhost:0/mcp",
            "http://localhost/m cp",
            "nowhere",
        ] {
            assert!(
                serde_json::from_value::<Endpoint>(stored.into()).is_err(),
                "{stored}"
            );
        }
    }

    #[test]
    fn a_version_is_semantic() {
        for good in ["1.0.0", "2.1.3", "0.0.1-alpha.1+build"] {
            assert!(Version::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "latest"] {
            assert!(Version::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_endpoint_is_an_http_url() {
        for good in [
            "http://localhost:8101/mcp",
            "https://referee01.example.com/mcp",
            "http://[::1]:9/mcp",
        ] {
            assert!(Endpoint::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "localhost:8101/mcp",
            "ftp://localhost/mcp",
            "file:///etc/passwd",
            "http:",
            "http://",
            "http:localhost",
            "/mcp",
            "http://user:secret@localhost/mcp",
            "http://localhost:99999/mcp",
            "http://256.1.1.1/mcp",
            "http://1.1.1.1.1/mcp",
        ] {
            assert!(Endpoint::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_endpoint_that_cannot_be_called_is_refused_with_what_is_wrong_about_it() {
        for (bad, expected) in [
            ("http:///mcp", "a URL that names a host"),
            ("https://?", "a URL that names a host"),
            ("http://\\mcp", "a URL that names a host"),
            (
                "http://localhost:0/mcp",
                "a URL with a port from 1 to 65535",
            ),
            (
                "http://LOCALHOST:00/mcp",
                "a URL with a port from 1 to 65535",
            ),
            ("http://[::1]:0/mcp", "a URL with a port from 1 to 65535"),
            (
                " http://localhost/mcp",
                "a URL without spaces and control characters",
            ),
            (
                "http://localhost/mcp ",
                "a URL without spaces and control characters",
            ),
            (
                "http://local host/mcp",
                "a URL without spaces and control characters",
            ),
            (
                "http://localhost/m cp",
                "a URL without spaces and control characters",
            ),
            (
                "http://local\thost/mcp",
                "a URL without spaces and control characters",
            ),
            (
                "http://localhost/mcp\n",
                "a URL without spaces and control characters",
            ),
            (
                "http://localhost/\u{a0}mcp",
                "a URL without spaces and control characters",
            ),
        ] {
            assert_eq!(
                Endpoint::parse(bad).map_err(|RuleBroken(rule)| rule),
                Err(expected.into()),
                "{bad:?}"
            );
        }
    }
}
