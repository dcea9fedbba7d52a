//! The tools of each role that take a league message; those of queries follow from the table of queries. Data only.

use super::tool::{Effect, Output, ToolEntry};
use matchday_core::protocol::MessageType as M;
use matchday_core::protocol::methods::Party;

pub(super) fn entries(role: Party) -> &'static [ToolEntry] {
    match role {
        Party::Manager => MANAGER,
        Party::Referee => REFEREE,
        Party::Player => PLAYER,
    }
}

const ROUND_COMPLETED: ToolEntry = ToolEntry::notice(
    "notify_round_completed",
    "A round is completed",
    M::RoundCompleted,
    "The manager says that all matches of a round are decided.",
);

static MANAGER: &[ToolEntry] = &[
    ToolEntry::message(
        "register_player",
        "Register a player",
        M::LeagueRegisterRequest,
        Output::Message(M::LeagueRegisterResponse),
        Effect::Additive,
        "Enters a player into the league while registration is open. The player must listen at contact_endpoint \
             and speak league.v2 there: referees call it for every match. The answer holds the player's id and its \
             token, which is told only once. To register again under the same id, show the token.",
    ),
    ToolEntry::message(
        "register_referee",
        "Register a referee",
        M::RefereeRegisterRequest,
        Output::Message(M::RefereeRegisterResponse),
        Effect::Additive,
        "Offers the services of a referee while registration is open. The referee must listen at \
             contact_endpoint: the manager gives it matches there. The answer holds its id and its token, which is \
             told only once.",
    ),
    ToolEntry::message(
        "start_league",
        "Start the league",
        M::StartLeague,
        Output::Message(M::LeagueStatus),
        Effect::Idempotent,
        "Closes registration, schedules the rounds and begins. For the operator: by token, or from the manager's \
             own machine.",
    ),
    ToolEntry::message(
        "order_league",
        "Give the league an order",
        M::LeagueOrder,
        Output::Message(M::LeagueStatus),
        Effect::Destructive,
        "The operator steps in: pause, resume, withdraw a player, void a result, end the league now, or replace \
             or revoke a token. Needs the operator token.",
    ),
    ToolEntry::message(
        "report_match_result",
        "Report a match",
        M::MatchResultReport,
        Output::Message(M::MatchResultAck),
        Effect::Idempotent,
        "A referee reports how a match that was assigned to it ended. Needs the referee's token. To report the \
             same again is harmless.",
    ),
    ToolEntry::message(
        "league_query",
        "Ask as a member",
        M::LeagueQuery,
        Output::Message(M::LeagueQueryResponse),
        Effect::ReadOnly,
        "Standings, schedule, next match, statistics or the list of players, for a member of the league. Needs \
             the member's token, and works where the league is closed to other readers.",
    ),
    ToolEntry::notice(
        "notify_league_error",
        "Hand a match back",
        M::LeagueError,
        "A referee says that it cannot play a match, by no fault of the players: E020 with the match_id in context. \
             Needs the referee's token.",
    ),
];

static REFEREE: &[ToolEntry] = &[
    ToolEntry::notice(
        "notify_round",
        "Announce a round",
        M::RoundAnnouncement,
        "The manager announces a round, and with it the matches that this referee is to run.",
    ),
    ToolEntry::notice(
        "assign_match",
        "Assign a match",
        M::MatchAssignment,
        "The manager gives this referee one match to run now.",
    ),
    ROUND_COMPLETED,
    ToolEntry::notice(
        "notify_league_completed",
        "The league is completed",
        M::LeagueCompleted,
        "The manager says that the league is over.",
    ),
    ToolEntry::notice(
        "notify_league_error",
        "Something is wrong",
        M::LeagueError,
        "The manager says that something is wrong.",
    ),
    ToolEntry::notice(
        "game_join_ack",
        "Accept an invitation",
        M::GameJoinAck,
        "A player's answer to GAME_INVITATION, where it comes separately.",
    ),
    ToolEntry::notice(
        "choose_parity_response",
        "Make a choice",
        M::ChooseParityResponse,
        "A player's answer to CHOOSE_PARITY_CALL, where it comes separately.",
    ),
    ToolEntry::notice(
        "game_move_response",
        "Make a move",
        M::GameMoveResponse,
        "A player's answer to GAME_MOVE_CALL, where it comes separately.",
    ),
];

static PLAYER: &[ToolEntry] = &[
    ToolEntry::message(
        "handle_game_invitation",
        "Invite to a match",
        M::GameInvitation,
        Output::Message(M::GameJoinAck),
        Effect::Idempotent,
        "A referee invites this player to a match; it accepts or declines.",
    ),
    ToolEntry::message(
        "choose_parity",
        "Ask for a choice",
        M::ChooseParityCall,
        Output::Message(M::ChooseParityResponse),
        Effect::Idempotent,
        "A referee asks for \"even\" or \"odd\". The player chooses once a match and repeats it when asked again.",
    ),
    ToolEntry::message(
        "choose_move",
        "Ask for a move",
        M::GameMoveCall,
        Output::Message(M::GameMoveResponse),
        Effect::Idempotent,
        "A referee asks for a move in any other game.",
    ),
    ToolEntry::notice(
        "notify_match_result",
        "A match is over",
        M::GameOver,
        "A referee says how a match ended.",
    ),
    ToolEntry::notice(
        "notify_game_error",
        "Something is wrong in a match",
        M::GameError,
        "A referee says what was wrong with an answer, and whether it can be fixed.",
    ),
    ToolEntry::notice(
        "notify_round",
        "Announce a round",
        M::RoundAnnouncement,
        "The manager announces the matches of a round.",
    ),
    ROUND_COMPLETED,
    ToolEntry::notice(
        "update_standings",
        "The table has changed",
        M::LeagueStandingsUpdate,
        "The manager shows the table after new results.",
    ),
    ToolEntry::notice(
        "notify_league_completed",
        "The league is completed",
        M::LeagueCompleted,
        "The manager says that the league is over, and who won.",
    ),
    ToolEntry::notice(
        "notify_league_error",
        "Something is wrong",
        M::LeagueError,
        "The manager says that something is wrong.",
    ),
];
