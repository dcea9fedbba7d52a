//! The ids of traces and spans, and the header `traceparent` of W3C that carries them. Pure.

use sha2::{Digest, Sha256};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TraceId([u8; 16]);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpanId([u8; 8]);

fn digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let mut bytes = [0; N];
    bytes.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    bytes
}

impl TraceId {
    /// The trace of a match, the same in every process.
    pub(super) fn of_match(league_id: &str, match_id: &str) -> Self {
        Self(digest(&[
            b"matchday",
            league_id.as_bytes(),
            match_id.as_bytes(),
        ]))
    }
}

impl SpanId {
    /// The span that stands for the whole match: the root.
    pub(super) fn of_match(trace: TraceId) -> Self {
        Self(digest(&[b"match", &trace.0]))
    }

    /// The span of one attempt, as the manager sees it.
    pub(super) fn of_assignment(trace: TraceId, attempt: u32) -> Self {
        Self(digest(&[b"assignment", &trace.0, &attempt.to_le_bytes()]))
    }

    /// The span of one attempt, as its referee sees it.
    pub(super) fn of_refereeing(trace: TraceId, attempt: u32) -> Self {
        Self(digest(&[b"refereeing", &trace.0, &attempt.to_le_bytes()]))
    }

    /// Any other. The seed is one agent's own, and no number is used twice with it.
    pub(super) fn numbered(seed: &[u8; 16], number: u64) -> Self {
        Self(digest(&[b"exchange", seed, &number.to_le_bytes()]))
    }
}

/// Who called us, by the header of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
}

impl Parent {
    /// `None` if it is not to the letter: then it is as if there were none.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let (version, rest) = header.split_at_checked(3)?;
        let (trace, rest) = rest.split_at_checked(32)?;
        let (span, flags) = rest.strip_prefix('-')?.split_at_checked(16)?;
        let known = version == "00-" && flags.len() == 3 && flags.starts_with('-');
        let lower = |text: &str| {
            text.bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if !known || !lower(trace) || !lower(span) {
            return None;
        }
        let mut of_trace = [0; 16];
        let mut of_span = [0; 8];
        hex::decode_to_slice(trace, &mut of_trace).ok()?;
        hex::decode_to_slice(span, &mut of_span).ok()?;
        let parent = Self {
            trace: TraceId(of_trace),
            span: SpanId(of_span),
        };
        (of_trace != [0; 16] && of_span != [0; 8]).then_some(parent)
    }

    pub(crate) fn header(self) -> String {
        format!("00-{}-{}-01", self.trace, self.span)
    }
}

macro_rules! shown_as_hex {
    ($($id:ident)*) => {
        $(impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })*
    };
}

shown_as_hex!(TraceId SpanId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_has_one_trace_and_no_other_has_it() {
        let trace = TraceId::of_match("spring", "R1M1");
        assert_eq!(trace, TraceId::of_match("spring", "R1M1"));
        for (league, game) in [
            ("spring", "R1M2"),
            ("autumn", "R1M1"),
            ("springR", "1M1"),
            ("", "R1M1"),
        ] {
            assert_ne!(trace, TraceId::of_match(league, game));
        }
        assert_ne!(
            SpanId::of_assignment(trace, 1),
            SpanId::of_assignment(trace, 2)
        );
        assert_ne!(
            SpanId::of_assignment(trace, 1),
            SpanId::of_refereeing(trace, 1)
        );
    }

    #[test]
    fn the_header_is_read_as_it_is_written() {
        let trace = TraceId::of_match("spring", "R1M1");
        let parent = Parent {
            trace,
            span: SpanId::of_match(trace),
        };
        assert_eq!(Parent::parse(&parent.header()), Some(parent));
        assert_eq!(parent.header().len(), 55);
    }

    #[test]
    fn a_header_that_is_not_to_the_letter_is_none() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert!(Parent::parse(good).is_some());
        for bad in [
            "",
            "00",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
            "00-éf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(Parent::parse(bad), None, "{bad}");
        }
    }
}
