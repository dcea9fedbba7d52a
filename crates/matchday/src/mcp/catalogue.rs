//! The tables of tools: what each role can be asked. A table and nothing else.

use super::tools::{Effect, Entry, Gives, Param};
use matchday_core::protocol::MessageType as M;
use matchday_core::protocol::methods::Party;

pub(super) fn entries(role: Party) -> &'static [Entry] {
    match role {
        Party::Manager => MANAGER,
        Party::Referee => REFEREE,
        Party::Player => PLAYER,
    }
}

const PING: Entry = Entry::question(
    "ping",
    "Ping",
    &[],
    Gives::Data(&[("status", "string")]),
    "Is anyone there? Answers at once and changes nothing.",
);

static MANAGER: &[Entry] = &[
    Entry::message(
        "register_player",
        "Register a player",
        M::LeagueRegisterRequest,
        Gives::Message(M::LeagueRegisterResponse),
        Effect::EachTime,
        "Enters a player into the league while registration is open. The player must listen at contact_endpoint \
             and speak league.v2 there: referees call it for every match. The answer holds the player's id and its \
             token, which is told this once. To register again under the same id, show the token.",
    ),
    Entry::message(
        "register_referee",
        "Register a referee",
        M::RefereeRegisterRequest,
        Gives::Message(M::RefereeRegisterResponse),
        Effect::EachTime,
        "Offers the services of a referee while registration is open. The referee must listen at \
             contact_endpoint: the manager gives it matches there. The answer holds its id and its token, which is \
             told this once.",
    ),
    Entry::message(
        "start_league",
        "Start the league",
        M::StartLeague,
        Gives::Message(M::LeagueStatus),
        Effect::Once,
        "Closes registration, draws up the rounds and begins. For the operator: by token, or from the manager's \
             own machine.",
    ),
    Entry::message(
        "order_league",
        "Give the league an order",
        M::LeagueOrder,
        Gives::Message(M::LeagueStatus),
        Effect::Destroys,
        "The operator steps in: pause, resume, withdraw a player, strike a result, end the league now, or replace \
             or revoke a token. Needs the operator token.",
    ),
    Entry::message(
        "report_match_result",
        "Report a match",
        M::MatchResultReport,
        Gives::Message(M::MatchResultAck),
        Effect::Once,
        "A referee reports how a match that was assigned to it ended. Needs the referee's token. To report the \
             same again is harmless.",
    ),
    Entry::message(
        "league_query",
        "Ask as a member",
        M::LeagueQuery,
        Gives::Message(M::LeagueQueryResponse),
        Effect::Nothing,
        "Standings, schedule, next match, statistics or the list of players, for a member of the league. Needs \
             the member's token, and works where the league is closed to other readers.",
    ),
    Entry::notice(
        "notify_league_error",
        "Hand a match back",
        M::LeagueError,
        "A referee says that it cannot play a match, by no fault of the players: E020 with the match_id in context. \
             Needs the referee's token.",
    ),
    Entry::question(
        "get_standings",
        "Standings",
        &[],
        Gives::Message(M::LeagueQueryResponse),
        "The table as it stands: rank, points and results of every player.",
    ),
    Entry::question(
        "get_schedule",
        "Schedule",
        &[Param {
            name: "round_id",
            kind: "integer",
            about: "One round only, by its number from 1 on",
            required: false,
        }],
        Gives::Message(M::LeagueQueryResponse),
        "Every round with its matches, and the results of those that are decided. Empty until the league starts.",
    ),
    Entry::question(
        "get_status",
        "Status",
        &[],
        Gives::Message(M::LeagueStatus),
        "Whether the league is registering, running, paused or completed, and how far it has come.",
    ),
    Entry::question(
        "get_player_stats",
        "Statistics of a player",
        &[Param { name: "player_id", kind: "string", about: "The player's id, such as P01", required: true }],
        Gives::Message(M::LeagueQueryResponse),
        "How one player has done: results, rates, answer times, and its record against each opponent.",
    ),
    Entry::question(
        "get_referees",
        "Referees",
        &[],
        Gives::Message(M::LeagueQueryResponse),
        "Who officiates, how many matches each has decided, and how each departs from the rules.",
    ),
    Entry::question(
        "get_games",
        "Games",
        &[Param {
            name: "game_type",
            kind: "string",
            about: "One game only, such as connect_four",
            required: false,
        }],
        Gives::Message(M::LeagueQueryResponse),
        "The games that can be played, the rules of each in words, and which of them this league plays.",
    ),
    PING,
];

static REFEREE: &[Entry] = &[
    Entry::notice(
        "notify_round",
        "Announce a round",
        M::RoundAnnouncement,
        "The manager announces a round, and with it the matches that this referee is to run.",
    ),
    Entry::notice(
        "assign_match",
        "Assign a match",
        M::MatchAssignment,
        "The manager gives this referee one match to run now.",
    ),
    Entry::notice(
        "notify_round_completed",
        "A round is completed",
        M::RoundCompleted,
        "The manager says that all matches of a round are decided.",
    ),
    Entry::notice(
        "notify_league_completed",
        "The league is completed",
        M::LeagueCompleted,
        "The manager says that the league is over.",
    ),
    Entry::notice(
        "notify_league_error",
        "Something is wrong",
        M::LeagueError,
        "The manager says that something is wrong.",
    ),
    Entry::notice(
        "game_join_ack",
        "Accept an invitation",
        M::GameJoinAck,
        "A player's answer to GAME_INVITATION, where it comes separately.",
    ),
    Entry::notice(
        "choose_parity_response",
        "Make a choice",
        M::ChooseParityResponse,
        "A player's answer to CHOOSE_PARITY_CALL, where it comes separately.",
    ),
    Entry::notice(
        "game_move_response",
        "Make a move",
        M::GameMoveResponse,
        "A player's answer to GAME_MOVE_CALL, where it comes separately.",
    ),
    Entry::question(
        "get_match_state",
        "State of the matches",
        &[Param {
            name: "match_id",
            kind: "string",
            about: "One match only, by its id, such as R1M1",
            required: false,
        }],
        Gives::Matches,
        "Which matches are being played here, how far they are, and what is owed. Never choices or secrets.",
    ),
    PING,
];

static PLAYER: &[Entry] = &[
    Entry::message(
        "handle_game_invitation",
        "Invite to a match",
        M::GameInvitation,
        Gives::Message(M::GameJoinAck),
        Effect::Once,
        "A referee invites this player to a match; it accepts or declines.",
    ),
    Entry::message(
        "choose_parity",
        "Ask for a choice",
        M::ChooseParityCall,
        Gives::Message(M::ChooseParityResponse),
        Effect::Once,
        "A referee asks for \"even\" or \"odd\". The player chooses once a match and repeats it when asked again.",
    ),
    Entry::message(
        "choose_move",
        "Ask for a move",
        M::GameMoveCall,
        Gives::Message(M::GameMoveResponse),
        Effect::Once,
        "A referee asks for a move in any other game.",
    ),
    Entry::notice("notify_match_result", "A match is over", M::GameOver, "A referee says how a match ended."),
    Entry::notice(
        "notify_game_error",
        "Something is wrong in a match",
        M::GameError,
        "A referee says what was wrong with an answer, and whether it may be mended.",
    ),
    Entry::notice(
        "notify_round",
        "Announce a round",
        M::RoundAnnouncement,
        "The manager announces the matches of a round.",
    ),
    Entry::notice(
        "notify_round_completed",
        "A round is completed",
        M::RoundCompleted,
        "The manager says that all matches of a round are decided.",
    ),
    Entry::notice(
        "update_standings",
        "The table has changed",
        M::LeagueStandingsUpdate,
        "The manager shows the table after new results.",
    ),
    Entry::notice(
        "notify_league_completed",
        "The league is completed",
        M::LeagueCompleted,
        "The manager says that the league is over, and who won.",
    ),
    Entry::notice(
        "notify_league_error",
        "Something is wrong",
        M::LeagueError,
        "The manager says that something is wrong.",
    ),
    Entry::question(
        "get_player_state",
        "State of the player",
        &[],
        Gives::Data(&[
            ("display_name", "string"),
            ("registration", "string"),
            ("totals", "object"),
            ("opponents", "object"),
            ("open_matches", "array"),
            ("history", "array"),
        ]),
        "Who this player is, how it has done, and which matches it has open. Nothing of a match still being played.",
    ),
    PING,
];
