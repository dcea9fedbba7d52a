//! The rules for managers.

use crate::check::player::rules as player_rules;
use crate::check::rule::{Rule, rules};
use crate::check::wire;

static ROBUSTNESS: &[&Rule] = &[
    &player_rules::SLOW_DRIP,
    &player_rules::CLOSED_CONNECTION,
    &player_rules::ALIVE,
];

pub fn all() -> impl Iterator<Item = &'static Rule> {
    wire::RULES.iter().chain(OWN).chain(ROBUSTNESS).copied()
}

rules! {
    ENVELOPE = Mandatory quick, "envelope.whole", Envelope, "Every message has a complete envelope, with sender league_manager", "envelope",
        "Put protocol \"league.v2\", message_type, sender \"league_manager\", timestamp (...Z) and conversation_id into every message.";
    CONVERSATION = Mandatory quick, "envelope.conversation", Envelope, "Its answers have the conversation_id of the request", "conversations",
        "Copy conversation_id from the request into the answer.";

    PLAYER = Mandatory quick, "register.player", Registration, "It accepts a player, with an id, a token and the league's name", "league_register_response",
        "Answer LEAGUE_REGISTER_REQUEST with LEAGUE_REGISTER_RESPONSE: status ACCEPTED, player_id, auth_token, league_id, reason null.";
    REFEREE = Mandatory quick, "register.referee", Registration, "It accepts a referee, with an id, a token and the league's name", "referee_register_response",
        "Answer REFEREE_REGISTER_REQUEST with REFEREE_REGISTER_RESPONSE: status ACCEPTED, referee_id, auth_token, league_id, reason null.";
    IDENTITIES = Mandatory quick, "register.identities", Registration, "Every agent has an id and a token of its own", "registration",
        "Number your agents, and draw a random token for each.";
    ID_FORM = Advisory quick, "register.id-form", Registration, "Its ids are P01, P02, ... and REF01, REF02, ...", "values",
        "Other agents take other ids, but people expect these.";
    AGAIN = Advisory quick, "register.again", Registration, "An agent that registers again with its token keeps its id", "registering-twice",
        "Know an agent by its auth_token, or by contact_endpoint and display_name: agents crash, and come back.";
    GAME_TYPE = Mandatory quick, "register.game-type", Registration, "It rejects a player that does not play the league's game", "registration",
        "Answer status REJECTED with a reason (and E002) if game_types does not hold the league's game.";
    PROTOCOL_VERSION = Advisory quick, "register.protocol-version", Registration, "It rejects a protocol_version that it does not speak (E018)", "registration",
        "Answer status REJECTED with a reason and E018 if protocol_version is given and is not 2.0.0 up to 2.1.x.";
    LATE = Mandatory, "register.late", Registration, "It rejects registrations after the start (E019)", "registration",
        "Answer status REJECTED with a reason and E019 once the league has started.";

    MISSING = Advisory quick, "refuse.missing-field", Refusals, "A field that is missing is E003", "checks",
        "Answer LEAGUE_ERROR E003 for each required field that is not there, and register nobody.";
    WRONG_TYPE = Advisory quick, "refuse.wrong-type", Refusals, "A field of the wrong type or form is E002", "checks",
        "Answer LEAGUE_ERROR E002 for a number in place of a text, a version or URL that is none, an empty name.";
    PROTOCOL = Advisory quick, "refuse.protocol", Refusals, "Another protocol is E018", "checks",
        "Answer LEAGUE_ERROR E018 to any protocol but exactly \"league.v2\".";
    TIMESTAMP = Advisory quick, "refuse.timestamp", Refusals, "A time that is not UTC is E021", "timestamps",
        "Answer LEAGUE_ERROR E021 to a timestamp with another offset than Z or +00:00, or with none.";
    UNKNOWN_TYPE = Advisory quick, "refuse.message-type", Refusals, "An unknown message_type is E002", "checks",
        "Answer LEAGUE_ERROR E002 to a message_type that is in no table.";
    NOT_FOR_IT = Advisory quick, "refuse.not-for-it", Refusals, "A message that is not for a manager is E008", "errors",
        "Answer LEAGUE_ERROR E008 to a GAME_OVER or a choice: those are for others.";
    SIZE = Advisory quick, "refuse.size", Refusals, "It refuses a body of more than 10 KB and keeps running", "jsonrpc-errors",
        "Read at most 10,240 bytes, and answer HTTP 413 with JSON-RPC error -32600.";

    START_TRUST = Mandatory, "start.false-token", Rounds, "A player's token starts no league", "start_league",
        "Take START_LEAGUE without a token from your own machine only, or with the operator's token.";
    START_LEAGUE_ID = Advisory, "start.other-league", Rounds, "START_LEAGUE for another league is E007", "start_league",
        "Compare league_id with your own.";
    START = Advisory, "start.status", Rounds, "START_LEAGUE is answered with LEAGUE_STATUS, running", "league_status",
        "Close registration, schedule the rounds, and answer LEAGUE_STATUS.";
    START_TWICE = Advisory, "start.twice", Rounds, "A second START_LEAGUE changes nothing", "start_league",
        "Answer it with the present LEAGUE_STATUS.";
    ANNOUNCED = Mandatory, "round.announced", Rounds, "Every player receives every ROUND_ANNOUNCEMENT", "round_announcement",
        "Post ROUND_ANNOUNCEMENT to the contact_endpoint of each player, also to those that sit out.";
    GIVEN = Mandatory, "round.given", Rounds, "Every match is given to a referee", "course-of-a-round",
        "Send each referee its matches with ROUND_ANNOUNCEMENT (referee_id or referee_endpoint) or MATCH_ASSIGNMENT.";
    BRIEFED = Advisory, "round.briefed", Rounds, "The referee receives the endpoints of its players", "round_announcement",
        "Put player_A_endpoint and player_B_endpoint into the referee's copy: else it has to ask with GET_PLAYERS.";
    PRIVATE = Mandatory, "round.private", Rounds, "Players do not receive the endpoints of others", "round_announcement",
        "Leave player endpoints out of the players' copy of ROUND_ANNOUNCEMENT.";
    ONCE = Mandatory, "round.once", Rounds, "Each pair of players meets once, and no player plays twice in a round", "schedule",
        "Schedule a round robin: N players have N(N-1)/2 matches, each pair one.";
    TABLE = Advisory, "round.table", Rounds, "The rounds are those of the table, sides included", "schedule",
        "For four players the table is fixed: P01-P02 and P03-P04, P03-P01 and P04-P02, P04-P01 and P03-P02.";
    ROUND_COMPLETED = Mandatory, "round.completed", Rounds, "Every agent receives ROUND_COMPLETED with the right numbers", "round_completed",
        "After the last result of a round post ROUND_COMPLETED to players and referees, with matches_completed and summary.";
    LEAGUE_COMPLETED = Mandatory, "league.completed", Rounds, "Every agent receives LEAGUE_COMPLETED with the right champion and standings", "league_completed",
        "After the last round post LEAGUE_COMPLETED to players and referees: the champion is the first of the table.";

    RECORDED = Mandatory, "result.recorded", Results, "A report is answered with MATCH_RESULT_ACK", "match_result_ack",
        "Record the result, then answer MATCH_RESULT_ACK with match_id and status \"recorded\".";
    DUPLICATE = Mandatory, "result.duplicate", Results, "The same report again is acknowledged, and counted once", "results",
        "Answer MATCH_RESULT_ACK with duplicate: true: the first answer may have been lost.";
    CONFLICT = Mandatory, "result.conflict", Results, "Another result for a decided match is E016", "results",
        "The first result stands: answer LEAGUE_ERROR E016.";
    NO_TOKEN = Mandatory, "result.no-token", Results, "A report without a token is E011", "results",
        "Anyone could send it: answer LEAGUE_ERROR E011.";
    FALSE_TOKEN = Mandatory, "result.false-token", Results, "A report with a false token is E012", "results",
        "Compare the whole token with the one that you gave to this referee.";
    OTHER_REFEREE = Mandatory, "result.other-referee", Results, "A report by another referee is E012", "results",
        "Take a result only from the referee that the match was given to.";
    BY_PLAYER = Mandatory, "result.by-player", Results, "A report by a player is E012", "results",
        "Take results from referees only.";
    UNKNOWN_MATCH = Mandatory, "result.unknown-match", Results, "A report of a match that does not exist is E006", "results",
        "Look the match up in the schedule first.";
    OTHER_LEAGUE = Advisory, "result.other-league", Results, "A report for another league is E007", "results",
        "Compare league_id with your own.";
    SCORES = Mandatory, "result.scores", Results, "Scores that no match can have are E002", "results",
        "Take 3-0, 0-3, 1-1 and 0-0 of exactly the two players, and a winner that fits.";
    STANDINGS = Mandatory, "standings.sent", Results, "Every player receives LEAGUE_STANDINGS_UPDATE after results", "standings-updates",
        "Post the whole table to every player within 5 s of a result.";
    STANDINGS_RIGHT = Mandatory, "standings.right", Results, "The table counts what was reported", "ranking",
        "3 points for a win, 1 for a draw; played = wins + draws + losses; more points come first; ranks are 1, 2, 3, ..., level players may share one.";
    STANDINGS_TIES = Advisory, "standings.ties", Results, "Equal points are ranked head-to-head first", "ranking",
        "By points, the matches among those with equal points, win percentage, wins, fewer draws; level rows by player id.";

    GET_STANDINGS = Mandatory quick, "query.standings", Queries, "GET_STANDINGS is answered with the table", "queries",
        "Answer LEAGUE_QUERY_RESPONSE with success true and data.standings.";
    GET_SCHEDULE = Mandatory quick, "query.schedule", Queries, "GET_SCHEDULE is answered with the rounds", "queries",
        "Answer LEAGUE_QUERY_RESPONSE with success true and data.rounds.";
    GET_NEXT_MATCH = Mandatory quick, "query.next-match", Queries, "GET_NEXT_MATCH is answered with the player's next match, or null", "queries",
        "Answer with data.next_match: match_id, round_id, opponent_id, referee_endpoint.";
    GET_PLAYER_STATS = Mandatory quick, "query.player-stats", Queries, "GET_PLAYER_STATS is answered with a player's numbers", "queries",
        "Answer with data.player_id and data.stats.";
    GET_PLAYERS = Advisory quick, "query.players", Queries, "GET_PLAYERS is answered with everyone, endpoints for referees only", "queries",
        "Answer with data.players; leave contact_endpoint out unless a referee asks.";
    QUERY_UNKNOWN_PLAYER = Advisory quick, "query.unknown-player", Queries, "A query about an unknown player is E005", "queries",
        "Answer LEAGUE_QUERY_RESPONSE with success false and error.error_code E005.";
    QUERY_TYPE = Advisory quick, "query.unknown-type", Queries, "An unknown query_type is E002", "league_query",
        "Answer LEAGUE_ERROR E002 to a query_type that is in no table.";
    QUERY_NO_PLAYER = Advisory quick, "query.missing-player", Queries, "GET_PLAYER_STATS without player_id is about the player that asks, or E003", "league_query",
        "Answer for the asking player, or LEAGUE_ERROR E003.";
    QUERY_NO_TOKEN = Mandatory quick, "query.no-token", Queries, "A query without a token is E011", "tokens",
        "Answer LEAGUE_ERROR E011.";
    QUERY_FALSE_TOKEN = Mandatory quick, "query.false-token", Queries, "A query with another's token is E012", "false-tokens",
        "The token must be the one that was given to the sender.";
    QUERY_STRANGER = Advisory quick, "query.stranger", Queries, "A query by an unknown player is E005, by an unknown referee E013", "checks",
        "Look the sender up first.";

    NOTICE_TOKEN = Advisory, "trust.notices", Trust, "Its notices carry the notice token", "notice-tokens",
        "Compute it from the token of the agent that you write to: otherwise anyone can send messages to agents in your name.";
}
