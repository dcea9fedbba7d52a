//! The topics of change events, by the names that clients know. Values only.

/// A part of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    League,
    Standings,
    Rounds,
    Players,
    Messages,
    Referees,
}

pub(crate) const TOPICS: [Topic; 6] = [
    Topic::League,
    Topic::Standings,
    Topic::Rounds,
    Topic::Players,
    Topic::Messages,
    Topic::Referees,
];

impl Topic {
    pub fn name(self) -> &'static str {
        match self {
            Self::League => "league",
            Self::Standings => "standings",
            Self::Rounds => "rounds",
            Self::Players => "players",
            Self::Messages => "messages",
            Self::Referees => "referees",
        }
    }
}
