//! The table of methods: which message or query each has in the standard dialect, who serves it, and its possible
//! answers. Decoding, schemas and OpenRPC documents are derived from it.

use super::envelope::Sender;
use super::message::MessageType;
use MessageType as M;

/// The kinds of agent that serve methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// Registers agents, draws rounds and keeps the table; also the launcher, as a sender.
    Manager,
    /// Runs matches.
    Referee,
    /// Plays matches.
    Player,
}

impl Party {
    /// In the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Manager, Self::Referee, Self::Player];

    /// The kind of this sender. The launcher counts as the manager.
    pub fn of(name: &Sender) -> Self {
        match name {
            Sender::LeagueManager | Sender::Launcher => Self::Manager,
            Sender::Referee(_) => Self::Referee,
            Sender::Player(_) => Self::Player,
        }
    }

    /// In lower case, as paths of schemas have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Referee => "referee",
            Self::Player => "player",
        }
    }
}

/// A query that is not a league message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// `get_standings`
    Standings,
    /// `get_schedule`
    Schedule,
    /// `get_status`
    Status,
    /// `get_player_stats`
    Stats,
    /// `get_referees`
    Referees,
    /// `get_games`
    Games,
    /// `get_match_state`
    MatchState,
    /// `get_player_state`
    PlayerState,
    /// `ping`
    Ping,
    /// `rpc.discover`
    Discover,
}

/// A JSON-RPC method of the standard dialect.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The name that we call it by.
    pub name: &'static str,
    /// Other names that are understood for it.
    pub also: &'static [&'static str],
    /// The kinds of agent that answer it.
    pub served_by: &'static [Party],
    /// What `params` holds.
    pub carries: Carries,
    /// All that may come back; an error of JSON-RPC itself may come back from every method.
    pub answers: &'static [Answers],
    /// For people, in one sentence.
    pub summary: &'static str,
}

/// What the `params` of a method hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// The message itself, flat, as `params`.
    Message(MessageType),
    /// A few parameters, or none.
    Question(Question),
}

/// What may come back from a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// A league message of this type.
    Message(MessageType),
    /// An acknowledgement of any form. Ours is `{"status": "received"}`.
    Received,
    /// An acknowledgement: the answer follows as a separate request.
    Later,
    /// `{"status": "ok"}`.
    Alive,
    /// The agent's state, for debugging, in a form of its own.
    State,
    /// An OpenRPC document.
    Document,
}

impl Method {
    /// Whether agents of this kind answer it.
    pub fn is_served_by(&self, party: Party) -> bool {
        self.served_by.contains(&party)
    }

    /// The method of this name, or the one that is also called so.
    pub fn named(name: &str) -> Option<&'static Self> {
        let own = METHODS.iter().find(|method| method.name == name);
        own.or_else(|| METHODS.iter().find(|method| method.also.contains(&name)))
    }
}

/// The liveness probe.
pub const PING: &str = "ping";

use Answers::{Alive, Document, Later, Message, Received, State};
use Party::{Manager, Player, Referee};

const ALL: &[Party] = &Party::ALL;

const fn carrying(
    kind: MessageType,
    served_by: &'static [Party],
    answers: &'static [Answers],
    summary: &'static str,
) -> Method {
    Method { name: kind.method(), also: &[], served_by, carries: Carries::Message(kind), answers, summary }
}

const fn asking(
    name: &'static str,
    question: Question,
    served_by: &'static [Party],
    answers: &'static [Answers],
    summary: &'static str,
) -> Method {
    Method { name, also: &[], served_by, carries: Carries::Question(question), answers, summary }
}

const NOTICE: &[Answers] = &[Received, Message(M::LeagueError)];

/// Every method that our agents serve. Messages that are only answers have none.
pub const METHODS: &[Method] = &[
    carrying(
        M::RefereeRegisterRequest,
        &[Manager],
        &[Message(M::RefereeRegisterResponse), Message(M::LeagueError)],
        "A referee offers its services.",
    ),
    carrying(
        M::LeagueRegisterRequest,
        &[Manager],
        &[Message(M::LeagueRegisterResponse), Message(M::LeagueError)],
        "A player asks to take part.",
    ),
    carrying(
        M::MatchResultReport,
        &[Manager],
        &[Message(M::MatchResultAck), Message(M::LeagueError)],
        "A referee reports how a match ended.",
    ),
    carrying(
        M::LeagueQuery,
        &[Manager],
        &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
        "A registered agent asks for standings, schedule, next match, statistics, players, referees or games.",
    ),
    carrying(
        M::StartLeague,
        &[Manager],
        &[Message(M::LeagueStatus), Message(M::LeagueError)],
        "The operator closes registration and begins.",
    ),
    carrying(
        M::LeagueOrder,
        &[Manager],
        &[Message(M::LeagueStatus), Message(M::LeagueError)],
        "The operator pauses, resumes or ends the league, withdraws a player, strikes a result, or changes a token.",
    ),
    carrying(
        M::RoundAnnouncement,
        &[Referee, Player],
        NOTICE,
        "The manager tells who meets whom in a round.",
    ),
    carrying(M::LeagueStandingsUpdate, &[Player], NOTICE, "The manager shows the table."),
    carrying(M::RoundCompleted, &[Referee, Player], NOTICE, "Every match of a round has a result."),
    carrying(M::LeagueCompleted, &[Referee, Player], NOTICE, "The league is over."),
    carrying(
        M::LeagueError,
        ALL,
        NOTICE,
        "Something is wrong, unasked: the manager stops a match, or a referee hands one back that it cannot play.",
    ),
    carrying(
        M::GameInvitation,
        &[Player],
        &[Message(M::GameJoinAck), Later, Message(M::LeagueError)],
        "A referee calls a player to a match; the player has 5 seconds.",
    ),
    Method {
        also: &["parity_choose"],
        ..carrying(
            M::ChooseParityCall,
            &[Player],
            &[Message(M::ChooseParityResponse), Later, Message(M::LeagueError)],
            "A referee asks a player for \"even\" or \"odd\"; the player has 30 seconds.",
        )
    },
    carrying(
        M::GameMoveCall,
        &[Player],
        &[Message(M::GameMoveResponse), Later, Message(M::LeagueError)],
        "A referee asks a player for a move in any game; the player has 30 seconds.",
    ),
    carrying(M::GameOver, &[Player], NOTICE, "A referee tells how a match ended."),
    carrying(
        M::GameError,
        &[Player],
        NOTICE,
        "A referee tells a player that an answer was wrong or did not come.",
    ),
    carrying(M::GameJoinAck, &[Referee], NOTICE, "A player answers an invitation by a request of its own."),
    carrying(
        M::ChooseParityResponse,
        &[Referee],
        NOTICE,
        "A player sends its choice by a request of its own.",
    ),
    carrying(M::GameMoveResponse, &[Referee], NOTICE, "A player sends its move by a request of its own."),
    Method {
        also: &["start_match"],
        ..carrying(M::MatchAssignment, &[Referee], NOTICE, "A foreign manager hands a match to a referee.")
    },
    asking(
        "get_standings",
        Question::Standings,
        &[Manager],
        &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
        "The table, for anyone, unless the league is closed to readers.",
    ),
    asking(
        "get_schedule",
        Question::Schedule,
        &[Manager],
        &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
        "The rounds and their results, for anyone, unless the league is closed to readers.",
    ),
    asking(
        "get_status",
        Question::Status,
        &[Manager],
        &[Message(M::LeagueStatus), Message(M::LeagueError)],
        "How far the league has come, for anyone, unless the league is closed to readers.",
    ),
    asking(
        "get_player_stats",
        Question::Stats,
        &[Manager],
        &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
        "A player's record in numbers, for anyone, unless the league is closed to readers.",
    ),
    asking(
        "get_referees",
        Question::Referees,
        &[Manager],
        &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
        "The referees and what each has decided, for anyone, unless the league is closed to readers.",
    ),
    asking(
        "get_games",
        Question::Games,
        &[Manager],
        &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
        "The games and their rules in words, for anyone, unless the league is closed to readers.",
    ),
    asking(
        "get_match_state",
        Question::MatchState,
        &[Referee],
        &[State, Message(M::LeagueError)],
        "For debugging: the matches that this referee has in hand, or one of them.",
    ),
    asking(
        "get_player_state",
        Question::PlayerState,
        &[Player],
        &[State, Message(M::LeagueError)],
        "For debugging: what this player is doing.",
    ),
    asking(PING, Question::Ping, ALL, &[Alive], "Is anyone there?"),
    asking(
        "rpc.discover",
        Question::Discover,
        ALL,
        &[Document],
        "What this agent serves, as an OpenRPC document.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_stands_for_two_methods() {
        let names: Vec<_> =
            METHODS.iter().flat_map(|method| std::iter::once(&method.name).chain(method.also)).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn every_message_is_carried_by_a_method_or_answers_one() {
        for kind in MessageType::ALL {
            let carried = METHODS.iter().any(|method| method.carries == Carries::Message(*kind));
            let answers = METHODS.iter().any(|method| method.answers.contains(&Message(*kind)));
            assert!(carried || answers, "{kind}");
        }
    }
}
