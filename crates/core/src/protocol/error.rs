//! The error catalogue: one table with code, name, retryability and text.

#[cfg(feature = "schema")]
use super::schema_words::Word;
use super::untrusted::Untrusted;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;

macro_rules! catalogue {
    ($($variant:ident $code:literal $name:literal $retry:ident $prose:literal;)*) => {
        /// What went wrong, as the protocol numbers it.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $code, "` ", $name, ". ", $prose)] $variant,)*
            /// A code that is not in our catalogue: other agents have codes of their own, and they are kept as they came.
            Foreign(SmolStr),
        }

        impl ErrorCode {
            /// Every code of the catalogue, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written on the wire, `E012`; a foreign code as it came.
            pub fn code(&self) -> &str {
                match self {
                    $(Self::$variant => $code,)*
                    Self::Foreign(code) => code,
                }
            }

            /// The name in capitals; a foreign code is its own name.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Foreign(code) => code,
                }
            }

            /// Whether a retry of the same message may succeed.
            pub fn retryable(&self) -> bool {
                match self {
                    $(Self::$variant => catalogue!(@retry $retry),)*
                    Self::Foreign(_) => false,
                }
            }

            /// A sentence for people, if nothing more precise is known.
            pub fn prose(&self) -> &str {
                match self {
                    $(Self::$variant => $prose,)*
                    Self::Foreign(_) => "The agent reported an error of its own.",
                }
            }

            /// Reads a code (`E012`) or, since some agents send that instead, a name (`AUTH_TOKEN_INVALID`).
            pub fn parse(text: &str) -> Self {
                match text {
                    $($code | $name => Self::$variant,)*
                    foreign => Self::Foreign(SmolStr::new(foreign)),
                }
            }
        }
    };
    (@retry retryable) => { true };
    (@retry final) => { false };
}

catalogue! {
    Timeout "E001" "TIMEOUT_ERROR" retryable "No answer came in time.";
    InvalidFormat "E002" "INVALID_MESSAGE_FORMAT" final "A field has the wrong type, form or range.";
    MissingField "E003" "MISSING_REQUIRED_FIELD" final "A required field is missing or null.";
    InvalidParityChoice "E004" "INVALID_PARITY_CHOICE" final "The choice must be exactly \"even\" or \"odd\".";
    PlayerNotRegistered "E005" "PLAYER_NOT_REGISTERED" final "No player is registered under this id.";
    MatchNotFound "E006" "MATCH_NOT_FOUND" final "There is no match with this id.";
    LeagueNotFound "E007" "LEAGUE_NOT_FOUND" final "This agent belongs to another league.";
    InvalidState "E008" "INVALID_STATE" final "The league is not in a state that allows this.";
    Connection "E009" "CONNECTION_ERROR" retryable "The agent could not be reached.";
    InvalidMove "E010" "INVALID_MOVE" final "The rules of the game do not allow this move.";
    TokenMissing "E011" "AUTH_TOKEN_MISSING" final "The message needs an auth_token.";
    TokenInvalid "E012" "AUTH_TOKEN_INVALID" final "The auth_token is not the sender's, or does not allow this.";
    RefereeNotRegistered "E013" "REFEREE_NOT_REGISTERED" final "No referee is registered under this id.";
    RateLimited "E014" "RATE_LIMITED" retryable "Too many messages at once: wait, then send it again.";
    MatchIdMismatch "E015" "MATCH_ID_MISMATCH" final "The answer belongs to another match.";
    ResultConflict "E016" "RESULT_CONFLICT" final "The match is decided already, and differently.";
    VersionMismatch "E018" "PROTOCOL_VERSION_MISMATCH" final "This protocol or version is not supported here.";
    LateRegistration "E019" "LATE_REGISTRATION" final "Registration is closed: the league has started, or its operator has closed it.";
    Internal "E020" "INTERNAL_ERROR" final "Internal error of the agent that answers.";
    InvalidTimestamp "E021" "INVALID_TIMESTAMP" final "A timestamp must be ISO 8601 in UTC, such as 2025-01-15T10:30:00Z.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign(code) => Untrusted::new(code).escaped().fmt(f),
            known => write!(f, "{} {}", known.code(), known.name()),
        }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SmolStr::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for ErrorCode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Word::json_schema(generator);
        let codes: Vec<_> = Self::ALL.iter().map(Self::code).collect();
        schema.insert("examples".to_owned(), codes.into());
        let words = "What went wrong. Agents have codes of their own: one that you do not know is no failure.";
        schema.insert("description".to_owned(), words.into());
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_every_name_stands_for_itself_alone() {
        for code in ErrorCode::ALL {
            assert_eq!(&ErrorCode::parse(code.code()), code);
            assert_eq!(&ErrorCode::parse(code.name()), code);
        }
    }

    #[test]
    fn the_codes_of_the_sources_have_the_names_of_the_sources() {
        for (code, name) in [
            ("E001", "TIMEOUT_ERROR"),
            ("E003", "MISSING_REQUIRED_FIELD"),
            ("E004", "INVALID_PARITY_CHOICE"),
            ("E005", "PLAYER_NOT_REGISTERED"),
            ("E009", "CONNECTION_ERROR"),
            ("E011", "AUTH_TOKEN_MISSING"),
            ("E012", "AUTH_TOKEN_INVALID"),
            ("E015", "MATCH_ID_MISMATCH"),
            ("E018", "PROTOCOL_VERSION_MISMATCH"),
            ("E019", "LATE_REGISTRATION"),
            ("E021", "INVALID_TIMESTAMP"),
        ] {
            assert_eq!(ErrorCode::parse(code).name(), name);
        }
    }

    #[test]
    fn every_code_is_a_letter_and_three_digits() {
        for code in ErrorCode::ALL.iter().map(ErrorCode::code) {
            let digits = code.strip_prefix('E').unwrap();
            assert!(
                digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()),
                "{code}"
            );
        }
    }

    #[test]
    fn only_time_connection_and_load_are_worth_another_try() {
        let retryable: Vec<_> = ErrorCode::ALL
            .iter()
            .filter(|code| code.retryable())
            .map(|code| code.code())
            .collect();
        assert_eq!(retryable, ["E001", "E009", "E014"]);
    }

    #[test]
    fn a_foreign_code_survives_as_text() {
        let code = ErrorCode::parse("E777");
        assert_eq!(serde_json::to_string(&code).unwrap(), "\"E777\"");
    }
}
