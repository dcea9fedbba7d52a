//! What a manager is held against.

use crate::check::player::rules as form;
use crate::check::rule::Category::*;
use crate::check::rule::{Rule, rules};
use crate::check::wire;

static STRAIN: &[&Rule] = &[&form::SLOW_DRIP, &form::CLOSED_CONNECTION, &form::ALIVE];

/// All of them, in the order in which people read them.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    wire::RULES.iter().chain(OWN).chain(STRAIN).copied()
}

rules! {
    ENVELOPE = Rule::mandatory(
        "envelope.whole", Envelope, "Every message of it has a whole envelope, sent by league_manager", "envelope",
        "Put protocol \"league.v2\", message_type, sender \"league_manager\", timestamp (...Z) and conversation_id into every message.",
    ).quick();
    CONVERSATION = Rule::mandatory(
        "envelope.conversation", Envelope, "It answers in the conversation that it was asked in", "conversations",
        "Copy conversation_id from the request into the answer.",
    ).quick();

    PLAYER = Rule::mandatory(
        "register.player", Registration, "It accepts a player, with an id, a token and the league's name", "league_register_response",
        "Answer LEAGUE_REGISTER_REQUEST with LEAGUE_REGISTER_RESPONSE: status ACCEPTED, player_id, auth_token, league_id, reason null.",
    ).quick();
    REFEREE = Rule::mandatory(
        "register.referee", Registration, "It accepts a referee, with an id, a token and the league's name", "referee_register_response",
        "Answer REFEREE_REGISTER_REQUEST with REFEREE_REGISTER_RESPONSE: status ACCEPTED, referee_id, auth_token, league_id, reason null.",
    ).quick();
    IDENTITIES = Rule::mandatory(
        "register.identities", Registration, "Every agent has an id and a token of its own", "registration",
        "Number your agents, and draw a random token for each.",
    ).quick();
    ID_FORM = Rule::advisory(
        "register.id-form", Registration, "Its ids are P01, P02, ... and REF01, REF02, ...", "values",
        "Other agents take other ids, but people expect these.",
    ).quick();
    AGAIN = Rule::mandatory(
        "register.again", Registration, "Who registers again keeps its id and gets a fresh token", "registering-twice",
        "Know an agent by contact_endpoint and display_name: agents crash, and come back.",
    ).quick();
    GAME_TYPE = Rule::mandatory(
        "register.game-type", Registration, "It rejects a player that does not play the league's game", "registration",
        "Answer status REJECTED with a reason (and E002) if game_types does not hold the league's game.",
    ).quick();
    PROTOCOL_VERSION = Rule::mandatory(
        "register.protocol-version", Registration, "It rejects a protocol_version that it does not speak (E018)", "registration",
        "Answer status REJECTED with a reason and E018 if protocol_version is given and is not 2.0.0 up to 2.1.x.",
    ).quick();
    LATE = Rule::mandatory(
        "register.late", Registration, "It rejects who comes after the start (E019)", "registration",
        "Answer status REJECTED with a reason and E019 once the league has started.",
    );

    MISSING = Rule::mandatory(
        "refuse.missing-field", Refusals, "A field that is missing is E003", "checks",
        "Answer LEAGUE_ERROR E003 for each required field that is not there, and register nobody.",
    ).quick();
    WRONG_TYPE = Rule::mandatory(
        "refuse.wrong-type", Refusals, "A field of the wrong type or form is E002", "checks",
        "Answer LEAGUE_ERROR E002 for a number in place of a text, a version or URL that is none, an empty name.",
    ).quick();
    PROTOCOL = Rule::mandatory(
        "refuse.protocol", Refusals, "Another protocol is E018", "checks",
        "Answer LEAGUE_ERROR E018 to any protocol but exactly \"league.v2\".",
    ).quick();
    TIMESTAMP = Rule::mandatory(
        "refuse.timestamp", Refusals, "A time that is not UTC is E021", "timestamps",
        "Answer LEAGUE_ERROR E021 to a timestamp with another offset than Z or +00:00, or with none.",
    ).quick();
    UNKNOWN_TYPE = Rule::mandatory(
        "refuse.message-type", Refusals, "An unknown message_type is E002", "checks",
        "Answer LEAGUE_ERROR E002 to a message_type that is in no table.",
    ).quick();
    NOT_FOR_IT = Rule::advisory(
        "refuse.not-for-it", Refusals, "A message that is not for a manager is E008", "errors",
        "Answer LEAGUE_ERROR E008 to a GAME_OVER or a choice: those are for others.",
    ).quick();
    SIZE = Rule::advisory(
        "refuse.size", Refusals, "It refuses a body of more than 10 KB, and lives on", "jsonrpc-errors",
        "Read at most 10,240 bytes, and answer HTTP 413 with JSON-RPC error -32600.",
    ).quick();

    START_TRUST = Rule::mandatory(
        "start.false-token", Rounds, "A player's token starts no league (E012)", "start_league",
        "Take START_LEAGUE without a token from your own machine only, or with the operator's token.",
    );
    START_LEAGUE_ID = Rule::mandatory(
        "start.other-league", Rounds, "START_LEAGUE for another league is E007", "start_league",
        "Compare league_id with your own.",
    );
    START = Rule::mandatory(
        "start.status", Rounds, "START_LEAGUE is answered with LEAGUE_STATUS, running", "league_status",
        "Close registration, draw up the rounds, and answer LEAGUE_STATUS.",
    );
    START_TWICE = Rule::mandatory(
        "start.twice", Rounds, "A second START_LEAGUE changes nothing", "start_league",
        "Answer it with the present LEAGUE_STATUS.",
    );
    ANNOUNCED = Rule::mandatory(
        "round.announced", Rounds, "Every player is sent every ROUND_ANNOUNCEMENT", "round_announcement",
        "Post ROUND_ANNOUNCEMENT to the contact_endpoint of each player, also to those that sit out.",
    );
    GIVEN = Rule::mandatory(
        "round.given", Rounds, "Every match is given to a referee", "course-of-a-round",
        "Send each referee its matches with ROUND_ANNOUNCEMENT (referee_id or referee_endpoint) or MATCH_ASSIGNMENT.",
    );
    BRIEFED = Rule::advisory(
        "round.briefed", Rounds, "The referee is told where its players listen", "round_announcement",
        "Put player_A_endpoint and player_B_endpoint into the referee's copy: else it has to ask with GET_PLAYERS.",
    );
    PRIVATE = Rule::mandatory(
        "round.private", Rounds, "Players are not told where others listen", "round_announcement",
        "Leave player endpoints out of the players' copy of ROUND_ANNOUNCEMENT.",
    );
    ONCE = Rule::mandatory(
        "round.once", Rounds, "Everyone meets everyone once, and nobody twice in a round", "schedule",
        "Draw up a round robin: N players have N(N-1)/2 matches, each pair one.",
    );
    TABLE = Rule::advisory(
        "round.table", Rounds, "The rounds are those of the table, sides included", "schedule",
        "For four players the table is fixed: P01-P02 and P03-P04, P03-P01 and P04-P02, P04-P01 and P03-P02.",
    );
    ROUND_COMPLETED = Rule::mandatory(
        "round.completed", Rounds, "Everyone is sent ROUND_COMPLETED, with the right numbers", "round_completed",
        "After the last result of a round post ROUND_COMPLETED to players and referees, with matches_completed and summary.",
    );
    LEAGUE_COMPLETED = Rule::mandatory(
        "league.completed", Rounds, "Everyone is sent LEAGUE_COMPLETED, with the right champion and table", "league_completed",
        "After the last round post LEAGUE_COMPLETED to players and referees: the champion is the first of the table.",
    );

    RECORDED = Rule::mandatory(
        "result.recorded", Results, "A report is answered with MATCH_RESULT_ACK", "match_result_ack",
        "Record the result, then answer MATCH_RESULT_ACK with match_id and status \"recorded\".",
    );
    DUPLICATE = Rule::mandatory(
        "result.duplicate", Results, "The same report again is acknowledged, and counted once", "results",
        "Answer MATCH_RESULT_ACK with duplicate: true: the first answer may have been lost.",
    );
    CONFLICT = Rule::mandatory(
        "result.conflict", Results, "Another result for a decided match is E016", "results",
        "The first result stands: answer LEAGUE_ERROR E016.",
    );
    NO_TOKEN = Rule::mandatory(
        "result.no-token", Results, "A report without a token is E011", "results",
        "Anyone could send it: answer LEAGUE_ERROR E011.",
    );
    FALSE_TOKEN = Rule::mandatory(
        "result.false-token", Results, "A report with a false token is E012", "results",
        "Compare the whole token with the one that you gave to this referee.",
    );
    OTHER_REFEREE = Rule::mandatory(
        "result.other-referee", Results, "A report by another referee is E012", "results",
        "Take a result only from the referee that the match was given to.",
    );
    BY_PLAYER = Rule::mandatory(
        "result.by-player", Results, "A report by a player is E012", "results",
        "Take results from referees only.",
    );
    UNKNOWN_MATCH = Rule::mandatory(
        "result.unknown-match", Results, "A report of a match that does not exist is E006", "results",
        "Look the match up in the schedule first.",
    );
    OTHER_LEAGUE = Rule::mandatory(
        "result.other-league", Results, "A report for another league is E007", "results",
        "Compare league_id with your own.",
    );
    SCORES = Rule::mandatory(
        "result.scores", Results, "Scores that no match can have are E002", "results",
        "Take 3-0, 0-3, 1-1 and 0-0 of exactly the two players, and a winner that fits.",
    );
    STANDINGS = Rule::mandatory(
        "standings.sent", Results, "Every player is sent LEAGUE_STANDINGS_UPDATE after results", "standings-updates",
        "Post the whole table to every player within 5 s of a result.",
    );
    STANDINGS_RIGHT = Rule::mandatory(
        "standings.right", Results, "The table counts what was reported", "ranking",
        "3 points for a win, 1 for a draw; played = wins + draws + losses; more points come first; ranks are 1, 2, 3, ...",
    );
    STANDINGS_TIES = Rule::advisory(
        "standings.ties", Results, "Equal points are ranked head-to-head first", "ranking",
        "By points, the matches among those with equal points, win percentage, wins, fewer draws, player id.",
    );

    GET_STANDINGS = Rule::mandatory(
        "query.standings", Queries, "GET_STANDINGS is answered with the table", "queries",
        "Answer LEAGUE_QUERY_RESPONSE with success true and data.standings.",
    ).quick();
    GET_SCHEDULE = Rule::mandatory(
        "query.schedule", Queries, "GET_SCHEDULE is answered with the rounds", "queries",
        "Answer LEAGUE_QUERY_RESPONSE with success true and data.rounds.",
    ).quick();
    GET_NEXT_MATCH = Rule::mandatory(
        "query.next-match", Queries, "GET_NEXT_MATCH is answered with the player's next match, or null", "queries",
        "Answer with data.next_match: match_id, round_id, opponent_id, referee_endpoint.",
    ).quick();
    GET_PLAYER_STATS = Rule::mandatory(
        "query.player-stats", Queries, "GET_PLAYER_STATS is answered with a player's numbers", "queries",
        "Answer with data.player_id and data.stats.",
    ).quick();
    GET_PLAYERS = Rule::mandatory(
        "query.players", Queries, "GET_PLAYERS is answered with everyone, endpoints for referees only", "queries",
        "Answer with data.players; leave contact_endpoint out unless a referee asks.",
    ).quick();
    QUERY_UNKNOWN_PLAYER = Rule::mandatory(
        "query.unknown-player", Queries, "A question about nobody is E005", "queries",
        "Answer LEAGUE_QUERY_RESPONSE with success false and error.error_code E005.",
    ).quick();
    QUERY_TYPE = Rule::mandatory(
        "query.unknown-type", Queries, "A question that nobody knows is E002", "league_query",
        "Answer LEAGUE_ERROR E002 to a query_type that is in no table.",
    ).quick();
    QUERY_NO_PLAYER = Rule::mandatory(
        "query.missing-player", Queries, "GET_PLAYER_STATS without player_id is about the player that asks, or E003", "league_query",
        "Answer for the asking player, or LEAGUE_ERROR E003.",
    ).quick();
    QUERY_NO_TOKEN = Rule::mandatory(
        "query.no-token", Queries, "A query without a token is E011", "tokens",
        "Answer LEAGUE_ERROR E011.",
    ).quick();
    QUERY_FALSE_TOKEN = Rule::mandatory(
        "query.false-token", Queries, "A query with another's token is E012", "false-tokens",
        "The token must be the one that was given to the sender.",
    ).quick();
    QUERY_STRANGER = Rule::mandatory(
        "query.stranger", Queries, "A query by an unknown player is E005, by an unknown referee E013", "checks",
        "Look the sender up first.",
    ).quick();

    NOTICE_TOKEN = Rule::advisory(
        "trust.notices", Trust, "Its notices carry the notice token", "notice-tokens",
        "Compute it from the token of the agent that you write to: else anyone can speak to agents in your name.",
    );
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::check::rule::is_documented;
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_has_a_name_of_its_own() {
        assert_eq!(all().map(|rule| rule.id).collect::<BTreeSet<_>>().len(), all().count());
    }

    #[test]
    fn every_rule_is_to_be_found_in_the_documentation() {
        let lost: Vec<_> = all().filter(|rule| !is_documented(rule)).map(|rule| rule.anchor).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
