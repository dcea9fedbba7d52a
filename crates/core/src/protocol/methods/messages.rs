//! The methods that carry a league message, and the messages that may answer each.

use super::MethodResult::{Later, Message, Received};
use super::Party::{Manager, Player, Referee};
use super::{Method, MethodParams, MethodResult, Party};
use crate::protocol::message::MessageType;
use MessageType as M;

const ALL: &[Party] = &Party::ALL;

const fn carrying(
    kind: MessageType,
    served_by: &'static [Party],
    results: &'static [MethodResult],
    summary: &'static str,
) -> Method {
    Method {
        name: kind.method(),
        also: &[],
        served_by,
        params: MethodParams::Message(kind),
        results,
        summary,
    }
}

const NOTICE: &[MethodResult] = &[Received, Message(M::LeagueError)];

/// The methods that carry a league message.
pub(super) static METHODS: &[Method] = &[
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
        "The operator pauses, resumes or ends the league, withdraws a player, voids a result, or changes a token.",
    ),
    carrying(
        M::RoundAnnouncement,
        &[Referee, Player],
        NOTICE,
        "The manager announces the matches of a round.",
    ),
    carrying(
        M::LeagueStandingsUpdate,
        &[Referee, Player],
        NOTICE,
        "The manager sends the standings.",
    ),
    carrying(
        M::RoundCompleted,
        &[Referee, Player],
        NOTICE,
        "Every match of a round has a result.",
    ),
    carrying(
        M::LeagueCompleted,
        &[Referee, Player],
        NOTICE,
        "The league is over.",
    ),
    carrying(
        M::LeagueError,
        ALL,
        NOTICE,
        "An error without a request: the manager stops a match, or a referee hands back one that it cannot play.",
    ),
    carrying(
        M::GameInvitation,
        &[Player],
        &[Message(M::GameJoinAck), Later, Message(M::LeagueError)],
        "A referee invites a player to a match; the player has 5 seconds.",
    ),
    Method {
        also: &["parity_choose"],
        ..carrying(
            M::ChooseParityCall,
            &[Player],
            &[
                Message(M::ChooseParityResponse),
                Later,
                Message(M::LeagueError),
            ],
            "A referee asks a player for \"even\" or \"odd\"; the player has 30 seconds.",
        )
    },
    carrying(
        M::GameMoveCall,
        &[Player],
        &[Message(M::GameMoveResponse), Later, Message(M::LeagueError)],
        "A referee asks a player for a move in any game; the player has 30 seconds.",
    ),
    carrying(
        M::GameOver,
        &[Player],
        NOTICE,
        "A referee sends the result of a match.",
    ),
    carrying(
        M::GameError,
        &[Player],
        NOTICE,
        "A referee reports to a player that its answer was wrong or missing.",
    ),
    carrying(
        M::GameJoinAck,
        &[Referee],
        NOTICE,
        "A player answers an invitation by a request of its own.",
    ),
    carrying(
        M::ChooseParityResponse,
        &[Referee],
        NOTICE,
        "A player sends its choice by a request of its own.",
    ),
    carrying(
        M::GameMoveResponse,
        &[Referee],
        NOTICE,
        "A player sends its move by a request of its own.",
    ),
    Method {
        also: &["start_match"],
        ..carrying(
            M::MatchAssignment,
            &[Referee],
            NOTICE,
            "A third-party manager assigns a match to a referee.",
        )
    },
];
