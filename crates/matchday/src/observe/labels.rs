//! The words by which things are counted. Each set is closed: what a peer makes up is counted as "other", so that nobody
//! can make the figures grow.

use matchday_core::agent::{Answer, Failure};
use matchday_core::protocol::{Body, ErrorCode, MessageType, Sender};

/// What an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Manager,
    Referee,
    Player,
}

impl Role {
    pub(super) const ALL: [Self; 3] = [Self::Manager, Self::Referee, Self::Player];

    pub(crate) fn of(agent: &Sender) -> Self {
        match agent {
            Sender::LeagueManager | Sender::Launcher => Self::Manager,
            Sender::Referee(_) => Self::Referee,
            Sender::Player(_) => Self::Player,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Referee => "referee",
            Self::Player => "player",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

impl Direction {
    pub(super) const ALL: [Self; 2] = [Self::In, Self::Out];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// What is asked besides messages of the league.
const QUESTIONS: [&str; 12] = [
    "ping",
    "get_standings",
    "get_schedule",
    "get_status",
    "get_player_stats",
    "get_referees",
    "get_games",
    "get_match_state",
    "get_player_state",
    "rpc.discover",
    "batch",
    "other",
];

/// The type of a message or a question, as a place in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(usize);

impl Kind {
    pub(super) const COUNT: usize = MessageType::ALL.len() + QUESTIONS.len();
    pub(super) const OTHER: Self = Self(Self::COUNT - 1);

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    pub(super) fn named(text: &str) -> Self {
        if let Some(known) = MessageType::parse(text) {
            return Self(known as usize);
        }
        let place = QUESTIONS.iter().position(|question| *question == text);
        place.map_or(Self::OTHER, |place| Self(MessageType::ALL.len() + place))
    }

    pub(super) fn name(self) -> &'static str {
        match MessageType::ALL.get(self.0) {
            Some(known) => known.name(),
            None => QUESTIONS.get(self.0 - MessageType::ALL.len()).copied().unwrap_or("other"),
        }
    }

    pub(super) fn place(self) -> usize {
        self.0
    }
}

/// How an exchange can end, but for the codes of the protocol.
const ENDS: [&str; 12] = [
    "ok",
    "refused",
    "unknown_method",
    "stopping",
    "timed_out",
    "no_connection",
    "closed",
    "no_route",
    "forbidden",
    "own_fault",
    "garbled",
    "foreign_code",
];

/// How an exchange ended, as a place in the list of all ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome(usize);

impl Outcome {
    pub(super) const COUNT: usize = ENDS.len() + ErrorCode::ALL.len();
    pub(super) const OK: Self = Self(0);
    pub(super) const REFUSED: Self = Self(1);
    const UNKNOWN_METHOD: Self = Self(2);
    const STOPPING: Self = Self(3);
    const GARBLED: Self = Self(10);
    const FOREIGN_CODE: Self = Self(11);

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    fn of_code(code: &ErrorCode) -> Self {
        let place = ErrorCode::ALL.iter().position(|known| known == code);
        place.map_or(Self::FOREIGN_CODE, |place| Self(ENDS.len() + place))
    }

    /// How we answered, from the few words that are told of it.
    pub(super) fn of_words(words: &str) -> Self {
        let is_code = words.starts_with('E') && words.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        match words {
            _ if is_code => Self::of_code(&ErrorCode::parse(words.get(..4).unwrap_or(words))),
            "method not found" => Self::UNKNOWN_METHOD,
            "stopping" => Self::STOPPING,
            _ if words.starts_with("refused") => Self::REFUSED,
            _ => Self::OK,
        }
    }

    /// How we were answered.
    pub(super) fn of_answer(answer: &Answer) -> Self {
        match answer {
            Answer::Message(Ok(incoming)) => match &incoming.body {
                Ok(Body::LeagueError(error)) => Self::of_code(&error.error_code),
                Ok(_) => Self::OK,
                Err(rejection) => Self::of_code(&rejection.code),
            },
            Answer::Message(Err(rejection)) => Self::of_code(&rejection.code),
            Answer::Received => Self::OK,
            Answer::Garbled(_) => Self::GARBLED,
            Answer::Undelivered(failure) => Self(match failure {
                Failure::TimedOut => 4,
                Failure::NoConnection => 5,
                Failure::Closed => 6,
                Failure::NoRoute => 7,
                Failure::Forbidden => 8,
                Failure::Ours => 9,
            }),
        }
    }

    pub(super) fn is_ok(self) -> bool {
        self == Self::OK
    }

    /// `ok`, `timed_out`, `E003`.
    pub(super) fn name(self) -> &'static str {
        match ENDS.get(self.0) {
            Some(word) => word,
            None => ErrorCode::ALL.get(self.0 - ENDS.len()).map_or("foreign_code", |code| code.code()),
        }
    }

    pub(super) fn place(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_counted_under_its_own_name() {
        for kind in Kind::all() {
            assert_eq!(Kind::named(kind.name()), kind);
        }
        assert_eq!(Kind::named("MADE_UP").name(), "other");
        assert_eq!(Kind::named("").name(), "other");
    }

    #[test]
    fn what_is_told_of_an_exchange_says_how_it_ended() {
        for (words, name) in [
            ("GAME_JOIN_ACK", "ok"),
            ("received", "ok"),
            ("E014 RATE_LIMITED", "E014"),
            ("E003 MISSING_REQUIRED_FIELD: \"x\" is missing", "E003"),
            ("refused: not a request", "refused"),
            ("method not found", "unknown_method"),
            ("stopping", "stopping"),
            ("E999: of another make", "foreign_code"),
        ] {
            assert_eq!(Outcome::of_words(words).name(), name, "{words}");
        }
    }

    #[test]
    fn every_way_not_to_be_answered_has_a_name() {
        for (failure, name) in [
            (Failure::TimedOut, "timed_out"),
            (Failure::NoConnection, "no_connection"),
            (Failure::Closed, "closed"),
            (Failure::NoRoute, "no_route"),
            (Failure::Forbidden, "forbidden"),
            (Failure::Ours, "own_fault"),
        ] {
            assert_eq!(Outcome::of_answer(&Answer::Undelivered(failure)).name(), name);
        }
        assert_eq!(Outcome::of_answer(&Answer::Garbled(String::new())).name(), "garbled");
        assert_eq!(Outcome::of_answer(&Answer::Received).name(), "ok");
    }
}
