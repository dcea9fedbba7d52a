//! Authorization: which sender may send which message to which agent, in one table for the agents and the
//! documentation.

use super::message::MessageType;
use super::methods::Party;
use MessageType as M;

/// The required sender of a message, and its authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// Anyone that signs as a player: it is how a player becomes known.
    NewPlayer,
    /// Anyone that signs as a referee: it is how a referee becomes known.
    NewReferee,
    /// The operator: from the manager's own machine, or with the operator's token.
    Launcher,
    /// The operator, by the operator's token and nothing else.
    Operator,
    /// A registered referee, by its league token.
    Referee,
    /// Any registered agent, by its league token.
    Member,
    /// The league manager, by the notice token made for the receiver.
    Manager,
    /// The referee of the match, by the token made for that match.
    RefereeOfMatch,
    /// A player of the match, by the token made for that match or by its own, from which that was made.
    PlayerOfMatch,
    /// Nobody sends this to such an agent.
    Nobody,
}

/// The required sender of a message to an agent of this kind, unless it answers a call of its own.
pub fn who_may(at: Party, message: MessageType) -> Right {
    match (at, message) {
        (Party::Manager, M::LeagueRegisterRequest) => Right::NewPlayer,
        (Party::Manager, M::RefereeRegisterRequest) => Right::NewReferee,
        (Party::Manager, M::StartLeague) => Right::Launcher,
        (Party::Manager, M::LeagueOrder) => Right::Operator,
        (Party::Manager, M::MatchResultReport | M::LeagueError) => Right::Referee,
        (Party::Manager, M::LeagueQuery) => Right::Member,
        (
            Party::Referee | Party::Player,
            M::RoundAnnouncement | M::RoundCompleted | M::LeagueCompleted | M::LeagueError,
        )
        | (Party::Referee | Party::Player, M::LeagueStandingsUpdate)
        | (Party::Referee, M::MatchAssignment) => Right::Manager,
        (
            Party::Player,
            M::GameInvitation | M::ChooseParityCall | M::GameMoveCall | M::GameOver | M::GameError,
        ) => Right::RefereeOfMatch,
        (Party::Referee, M::GameJoinAck | M::ChooseParityResponse | M::GameMoveResponse) => {
            Right::PlayerOfMatch
        }
        _ => Right::Nobody,
    }
}

impl Right {
    /// For people, as a cell of a table.
    pub fn words(self) -> &'static str {
        match self {
            Self::NewPlayer => "anyone that signs as a player",
            Self::NewReferee => "anyone that signs as a referee",
            Self::Launcher => "the operator: its token, or the manager's own machine",
            Self::Operator => {
                "the operator: its token; a player of a ladder, to leave it: its token"
            }
            Self::Referee => "a referee: its league token",
            Self::Member => "a registered agent: its league token",
            Self::Manager => "the manager: the receiver's notice token",
            Self::RefereeOfMatch => "the match's referee: the match token to the player",
            Self::PlayerOfMatch => {
                "a player of the match: the match token from it, or its league token"
            }
            Self::Nobody => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::methods::{Method, MethodParams};

    #[test]
    fn what_an_agent_serves_is_what_someone_may_send_to_it() {
        for party in Party::ALL {
            for message in MessageType::ALL {
                let params = MethodParams::Message(*message);
                let served = Method::all()
                    .any(|method| method.params == params && method.is_served_by(party));
                let allowed = who_may(party, *message) != Right::Nobody;
                assert_eq!(served, allowed, "{message} at a {}", party.name());
            }
        }
    }
}
