//! Which hostile agents there are, and what becomes of each in a match against an honest player.

use crate::content::Content;
use crate::tricks::Trick;

/// How its matches end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedEnd {
    /// By playing: what it does is odd, and harms nobody.
    Plays,
    /// By a technical loss. What the result says of it, and the code in the evidence that comes with it.
    Loses(&'static str, &'static str),
}

pub(crate) const SILENT: ExpectedEnd =
    ExpectedEnd::Loses("failed to respond within timeout", "E001");
pub(crate) const UNREADABLE: ExpectedEnd = invalid("E002");
pub(crate) const UNREACHABLE: ExpectedEnd = ExpectedEnd::Loses("could not be reached", "E009");

const fn invalid(code: &'static str) -> ExpectedEnd {
    ExpectedEnd::Loses("gave no valid answer within timeout", code)
}

/// What it does: on the wire to its caller, or in what it answers when it is to choose.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Behaviour {
    Wire(Trick),
    Choice(Content),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct HostileAgent {
    pub(crate) name: &'static str,
    pub(crate) behaviour: Behaviour,
    pub(crate) expected_end: ExpectedEnd,
}

const fn wire(name: &'static str, trick: Trick, expected_end: ExpectedEnd) -> HostileAgent {
    HostileAgent {
        name,
        behaviour: Behaviour::Wire(trick),
        expected_end,
    }
}

const fn choice(name: &'static str, content: Content, expected_end: ExpectedEnd) -> HostileAgent {
    HostileAgent {
        name,
        behaviour: Behaviour::Choice(content),
        expected_end,
    }
}

pub(crate) const HOSTILE_AGENTS: &[HostileAgent] = &[
    wire("silent", Trick::Silent, SILENT),
    wire("slow drip", Trick::Drip, SILENT),
    wire("endless body", Trick::EndlessBody, UNREADABLE),
    wire("body of 100 MB", Trick::HugeBody, UNREADABLE),
    wire("gzip bomb", Trick::GzipBomb, UNREADABLE),
    wire("redirect to itself", Trick::RedirectLoop, UNREADABLE),
    wire(
        "redirect to the manager",
        Trick::RedirectToManager,
        UNREADABLE,
    ),
    wire("server error", Trick::ServerError, UNREADABLE),
    wire("web page", Trick::WebPage, UNREADABLE),
    wire("half of a body", Trick::HalfBody, UNREACHABLE),
    wire("half-closed socket", Trick::HalfClosed, UNREACHABLE),
    wire("closed at once", Trick::ClosedAtOnce, UNREACHABLE),
    wire("TLS on a plain port", Trick::TlsGarbage, UNREACHABLE),
    choice("wrong content type", Content::WrongType, ExpectedEnd::Plays),
    choice(
        "one answer too many",
        Content::TwoAnswers,
        ExpectedEnd::Plays,
    ),
    choice("truncated JSON", Content::Truncated, UNREADABLE),
    choice("100,000 levels", Content::Nested, UNREADABLE),
    choice("duplicate keys", Content::DuplicateKeys, ExpectedEnd::Plays),
    choice("invalid UTF-8", Content::InvalidUtf8, UNREADABLE),
    choice("not a number", Content::NotANumber, UNREADABLE),
    choice("huge number", Content::HugeNumber, UNREADABLE),
    choice(
        "wrong id of the call",
        Content::WrongCallId,
        ExpectedEnd::Plays,
    ),
    choice(
        "wrong id of the player",
        Content::WrongPlayerId,
        invalid("E012"),
    ),
    choice("id of another match", Content::OtherMatch, invalid("E015")),
    choice("answer of before, again", Content::Replayed, UNREADABLE),
    choice(
        "in the opponent's name",
        Content::AsOpponent,
        invalid("E012"),
    ),
    choice(
        "in the opponent's name, to the referee",
        Content::ForgedCall,
        SILENT,
    ),
];
