//! The rules for players, and those that all roles share.

use crate::check::rule::{Rule, rules};
use matchday_audit::fix;

rules! {
    REGISTER_CAME = Mandatory, "register.request", Registration, "It registers by itself, with LEAGUE_REGISTER_REQUEST", "league_register_request",
        "Post a LEAGUE_REGISTER_REQUEST to the manager's /mcp when your agent starts, and again every two seconds until it is answered.";
    REGISTER_FORM = Mandatory, "register.form", Registration, "Its registration is a JSON-RPC request in the standard dialect", "methods",
        "Send JSON-RPC 2.0 with the method \"register_player\" and the whole message as params.";
    REGISTER_ENVELOPE = Mandatory, "register.envelope", Registration, "Its registration has a whole envelope", "envelope",
        "Every message carries protocol, message_type, sender (player:NAME), timestamp (...Z) and conversation_id.";
    REGISTER_META = Mandatory, "register.meta", Registration, "player_meta has every field, in the right type", "league_register_request",
        fix::PLAYER_META;
    REGISTER_ACCEPTED = Mandatory, "register.accepted", Registration, "A manager accepts it", "registration",
        "Read `reason` or `error_message` in the manager's answer: it says what the rules of the league object to.";
    REGISTER_ENDPOINT = Mandatory, "register.endpoint", Registration, "contact_endpoint is where it listens", "endpoint-check",
        "Register the URL, host and port that others can reach your server at, with the path /mcp.";
    REGISTER_IDENTITY = Mandatory, "register.identity", Registration, "It uses the id and the token of its registration", "sender",
        "Keep player_id and auth_token of LEAGUE_REGISTER_RESPONSE, and send sender \"player:\" and that id from then on.";

    REACHABLE = Mandatory quick, "transport.reachable", Transport, "It answers HTTP at its URL", "transport",
        "Start the agent, and check host, port and path: agents listen for POST at /mcp.";
    STATUS = Advisory quick, "transport.status", Transport, "Its answers have HTTP status 200", "jsonrpc-errors",
        "Answer every JSON-RPC request with status 200, errors included: what went wrong stands in the body.";
    LENGTH = Mandatory quick, "transport.length", Transport, "The Content-Length of its answers is right", "transport",
        "Set Content-Length to the number of bytes of the body, not of its characters: without it a client on an open connection waits for more.";
    CONTENT_TYPE = Advisory quick, "transport.content-type", Transport, "Its answers are sent as application/json", "transport",
        "Set the header Content-Type: application/json on every answer.";

    FORM = Mandatory quick, "rpc.form", JsonRpc, "It answers with a JSON-RPC response, the message as its result", "transport",
        "Answer {\"jsonrpc\": \"2.0\", \"id\": the request's id, \"result\": the message}, and nothing around or between.";
    DIALECT = Advisory quick, "rpc.dialect", JsonRpc, "It understands the standard dialect", "dialects",
        "Read the message from params, whatever the method is called: message_type says what it is.";
    VERSION = Advisory quick, "rpc.version", JsonRpc, "Its responses say \"jsonrpc\": \"2.0\"", "transport",
        "Put \"jsonrpc\": \"2.0\", the text, into every response.";
    ID = Advisory quick, "rpc.id", JsonRpc, "It sends the request's id back unchanged", "jsonrpc-errors",
        "Copy id from the request into the response, without changing its type: 7 stays 7, \"7\" stays \"7\".";
    XOR = Advisory quick, "rpc.result-or-error", JsonRpc, "A response has a result or an error, never both", "jsonrpc-errors",
        "Leave `error` out of a response that has a `result`, and `result` out of one that has an `error`.";
    PARSE_ERROR = Advisory quick, "rpc.parse-error", JsonRpc, "It answers invalid JSON with error -32700", "jsonrpc-errors",
        "Catch the exception of your JSON parser and answer {\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": -32700, \"message\": \"Parse error\"}}.";
    INVALID_REQUEST = Advisory, "rpc.invalid-request", JsonRpc, "It answers an invalid request with error -32600", "jsonrpc-errors",
        "If the body is JSON but has no method, answer with error code -32600.";
    UNKNOWN_METHOD = Advisory, "rpc.unknown-method", JsonRpc, "It answers an unknown method", "jsonrpc-errors",
        "Answer error -32601, or {\"status\": \"received\"}: an HTTP error or silence looks like a crash.";
    INVALID_PARAMS = Advisory, "rpc.invalid-params", JsonRpc, "It answers params that are a list with error -32602", "jsonrpc-errors",
        "If params is not an object, answer with error code -32602 rather than with an exception.";
    NOTIFICATION = Advisory, "rpc.notification", JsonRpc, "It answers a notification with no body", "jsonrpc-errors",
        "A request without an id wants no response: answer HTTP 202 with an empty body.";
    BATCH = Advisory, "rpc.batch", JsonRpc, "It answers a batch with one response each", "jsonrpc-errors",
        "If the body is a list, answer each request in it and send the list of the responses.";

    PROTOCOL = Mandatory quick, "envelope.protocol", Envelope, "Its answers carry protocol \"league.v2\"", "envelope",
        fix::PROTOCOL;
    SENDER = Mandatory quick, "envelope.sender", Envelope, "The sender of its answers is player: and its id", "sender",
        fix::SENDER;
    TIMESTAMP = Mandatory quick, "envelope.timestamp", Envelope, "Its answers carry a timestamp in UTC, such as 2026-03-02T09:00:00Z", "timestamps",
        fix::TIMESTAMP;
    CLOCK = Advisory quick, "envelope.clock", Envelope, "Its timestamps are the time at which it answers", "timestamps",
        fix::CLOCK;
    CONVERSATION = Mandatory quick, "envelope.conversation", Envelope, "Its answers have the conversation_id of the request", "conversations",
        fix::CONVERSATION;
    TOKEN = Mandatory quick, "envelope.token", Envelope, "Its answers carry an auth_token", "tokens",
        fix::TOKEN;

    JOIN_IN_TIME = Mandatory quick, "join.in-time", Joining, "It answers GAME_INVITATION within 5 s", "game_invitation",
        "Answer at once, before you compute anything: after 5 s the referee asks again, and after three more tries the match is lost.";
    JOIN_KIND = Mandatory quick, "join.message", Joining, "It answers GAME_INVITATION with GAME_JOIN_ACK", "game_join_ack",
        "Answer in the same exchange with a message whose message_type is \"GAME_JOIN_ACK\".";
    JOIN_MATCH = Mandatory quick, "join.match-id", Joining, "GAME_JOIN_ACK names the match of the invitation", "game_join_ack",
        "Copy match_id from the invitation: another one is refused with E015.";
    JOIN_PLAYER = Mandatory quick, "join.player-id", Joining, "GAME_JOIN_ACK carries its own player_id", "game_join_ack",
        fix::PLAYER_ID;
    JOIN_ARRIVAL = Mandatory quick, "join.arrival", Joining, "GAME_JOIN_ACK has an arrival_timestamp", "game_join_ack",
        fix::ARRIVAL;
    JOIN_ACCEPT = Mandatory quick, "join.accept", Joining, "GAME_JOIN_ACK accepts, with the boolean true", "game_join_ack",
        fix::ACCEPT;

    CHOICE_IN_TIME = Mandatory quick, "choice.in-time", Choosing, "It answers CHOOSE_PARITY_CALL within 30 s", "choose_parity_call",
        "Give your strategy a time limit well inside the deadline, and fall back to any choice when it is over.";
    CHOICE_KIND = Mandatory quick, "choice.message", Choosing, "It answers CHOOSE_PARITY_CALL with CHOOSE_PARITY_RESPONSE", "choose_parity_response",
        "Answer in the same exchange with a message whose message_type is \"CHOOSE_PARITY_RESPONSE\".";
    CHOICE_PARITY = Mandatory quick, "choice.parity", Choosing, "parity_choice is exactly \"even\" or \"odd\"", "choose_parity_response",
        fix::PARITY;
    CHOICE_MATCH = Mandatory quick, "choice.match-id", Choosing, "CHOOSE_PARITY_RESPONSE names the match of the call", "choose_parity_response",
        fix::MATCH_ID;
    CHOICE_PLAYER = Mandatory quick, "choice.player-id", Choosing, "CHOOSE_PARITY_RESPONSE carries its own player_id", "choose_parity_response",
        fix::PLAYER_ID;
    CHOICE_NONCE = Advisory, "choice.nonce", Choosing, "It sends a nonce with its choice, another one in each match", "fair-draw",
        "Send \"nonce\": a few characters, random and new for each match. Without it the referee knows the number beforehand.";
    CHOICE_GENERIC = Advisory, "choice.generic", Choosing, "It gives the same choice to GAME_MOVE_CALL", "game_move_call",
        "Answer GAME_MOVE_CALL with move_type \"choose_parity\" by GAME_MOVE_RESPONSE, the choice in move_data.choice.";

    MOVE_IN_TIME = Mandatory quick, "move.in-time", Choosing, "It answers GAME_MOVE_CALL within 30 s", "game_move_call",
        "Give your strategy a time limit well inside the deadline, and fall back to any of valid_options when it is over.";
    MOVE_KIND = Mandatory quick, "move.message", Choosing, "It answers GAME_MOVE_CALL with GAME_MOVE_RESPONSE", "game_move_response",
        "Answer in the same exchange with a message whose message_type is \"GAME_MOVE_RESPONSE\".";
    MOVE_LEGAL = Mandatory quick, "move.legal", Choosing, "move_data.choice is one of the valid_options", "game_move_response",
        fix::LEGAL_MOVE;
    MOVE_TYPE = Mandatory quick, "move.type", Choosing, "move_data.move_type is the one that was asked for", "game_move_response",
        "Copy move_request.move_type into move_data.move_type.";
    MOVE_GAME = Mandatory quick, "move.game-type", Choosing, "GAME_MOVE_RESPONSE names the game that is played", "game_move_response",
        "Copy game_type from the question.";
    MOVE_MATCH = Mandatory quick, "move.match-id", Choosing, "GAME_MOVE_RESPONSE names the match of the call", "game_move_response",
        fix::MATCH_ID;
    MOVE_PLAYER = Mandatory quick, "move.player-id", Choosing, "GAME_MOVE_RESPONSE carries its own player_id", "game_move_response",
        fix::PLAYER_ID;
    MOVE_WHOLE_GAME = Mandatory, "move.whole-game", Choosing, "It plays a whole game to its end, every move legal", "game_move_call",
        "Choose again for every call: the legal moves change with every move, and valid_options lists them.";

    SHORT_LEAGUE = Mandatory, "league.played", Robustness, "It plays match after match: both seats, the same opponents again, every ending", "course-of-a-round",
        "Look at what its log says at this match: what an earlier match left behind, in its history, its files or its strategy, broke it.";

    RETRY_ANSWERED = Mandatory, "retry.answered", Robustness, "It answers a repeated call", "retries",
        "Answer every question for a choice, also for a match that you have answered before: the first answer may have been lost.";
    RETRY_SAME = Advisory, "retry.same-choice", Robustness, "It gives the same choice to a repeated call", "crashes",
        "Remember the choice by match_id before you send it, and send that one again.";
    DUPLICATE_INVITATION = Mandatory, "retry.invitation", Robustness, "It accepts a repeated invitation", "crashes",
        "Treat a second GAME_INVITATION to a match like the first: a referee that was restarted begins again.";
    AFTER_GAME_ERROR = Mandatory, "retry.game-error", Robustness, "It continues after GAME_ERROR and answers the call that follows", "game_error",
        "Take GAME_ERROR as news, answer it with {\"status\": \"received\"}, and answer the question when it comes again.";
    UNKNOWN_FIELDS = Mandatory, "robust.unknown-fields", Robustness, "It ignores unknown fields", "envelope",
        "Look up the fields that you need and ignore the others; in Python do not expand a message into keyword arguments.";
    UNKNOWN_MESSAGE = Advisory, "robust.unknown-message", Robustness, "It answers an unknown message type and keeps running", "messages",
        "End your list of message types with an `else` that answers {\"status\": \"received\"}.";
    UTF8 = Mandatory, "robust.utf-8", Robustness, "It reads and writes text as UTF-8", "transport",
        "Decode and encode bodies as UTF-8, whatever the machine's own encoding is, and count Content-Length in bytes.";
    TECHNICAL_LOSS = Advisory, "robust.technical-loss", Robustness, "It takes the GAME_OVER of a technical loss", "game_over",
        "Where nothing was drawn, drawn_number and number_parity are null, a choice may be null, and there may be no winner: look before you compute with them.";
    GAME_OVER_TWICE = Advisory, "robust.game-over-twice", Robustness, "It takes the same GAME_OVER twice", "crashes",
        "A referee that got no answer sends it again: ignore a result that you know, and do not assume that the match is still open.";
    TWO_MATCHES = Mandatory, "robust.two-matches", Robustness, "It plays two matches at once without mixing them up", "windows",
        "Keep nothing about \"the current match\" in one place: take match_id and conversation_id from each question.";
    FULL_TABLE = Advisory, "robust.full-table", Robustness, "It takes a table of 99 players", "league_standings_update",
        "Read bodies of up to 1 MiB: the table of a large league has some tens of kilobytes.";
    SLOW_DRIP = Mandatory, "robust.slow-drip", Robustness, "It reads a request that arrives in small pieces", "transport",
        "Read a body up to its Content-Length however many pieces it comes in, and serve each connection in a thread or task of its own.";
    CLOSED_CONNECTION = Mandatory, "robust.closed-connection", Robustness, "It keeps running when connections break off", "transport",
        "Catch errors while reading and writing, for each connection by itself.";
    ALIVE = Mandatory quick, "robust.alive", Robustness, "It still runs at the end of the check", "lifecycle",
        "Something above ended or hung the process: look at its last output, and catch every exception around the handler.";

    ROUND_ANNOUNCED = Advisory quick, "notice.round", Notices, "It acknowledges ROUND_ANNOUNCEMENT", "round_announcement",
        "Answer {\"status\": \"received\"} within 10 s.";
    GAME_OVER = Advisory quick, "notice.game-over", Notices, "It acknowledges GAME_OVER within 5 s", "game_over",
        "Answer {\"status\": \"received\"} first, and learn from the result afterwards.";
    GAME_ERROR = Advisory, "notice.game-error", Notices, "It acknowledges GAME_ERROR", "game_error",
        "Answer {\"status\": \"received\"} within 10 s.";
    STANDINGS = Advisory quick, "notice.standings", Notices, "It acknowledges LEAGUE_STANDINGS_UPDATE", "league_standings_update",
        "Answer {\"status\": \"received\"} within 10 s.";
    ROUND_COMPLETED = Advisory quick, "notice.round-completed", Notices, "It acknowledges ROUND_COMPLETED", "round_completed",
        "Answer {\"status\": \"received\"} within 10 s.";
    LEAGUE_ERROR = Advisory, "notice.league-error", Notices, "It acknowledges LEAGUE_ERROR and keeps running", "league_error",
        "Log it, answer {\"status\": \"received\"}, and go on: not every error is the end.";
    LEAGUE_COMPLETED = Advisory quick, "notice.league-completed", Notices, "It acknowledges LEAGUE_COMPLETED", "league_completed",
        "Answer {\"status\": \"received\"} before you end the process, if you end it.";

    JOIN_TIMES = Advisory, "timing.join", Timing, "Joining takes less than half of its 5 s", "windows",
        "Answer GAME_INVITATION without computing anything.";
    CHOICE_TIMES = Advisory, "timing.choice", Timing, "Choosing takes less than half of its 30 s", "windows",
        "Bound the time of your strategy: networks and busy machines need their share of the window.";

    FALSE_TOKEN = Advisory, "trust.false-token", Trust, "It refuses a message with a false token", "match-tokens",
        "Compute the token of the match from your own, and answer E012 if another is shown: else an opponent can ask for your choice.";
    NO_TOKEN = Advisory, "trust.no-token", Trust, "It refuses a message without a token", "match-tokens",
        "Answer E011 to a game message without auth_token, where the manager said match_tokens: true.";
    FALSE_NOTICE = Advisory, "trust.false-notice", Trust, "It refuses a manager's notice with a false token", "notice-tokens",
        "Compute the notice token from your own, and answer E012 if another is shown.";
    FALSE_SENDER = Advisory, "trust.false-sender", Trust, "It refuses a player that speaks as a referee", "tokens",
        "Answer E012 to a game message whose sender is another player.";
    OWN_TOKEN = Advisory, "trust.own-token", Trust, "It shows its league token only to the manager", "match-tokens",
        "Answer referees with the player-to-referee token of the match: anyone who has your league token can act as you.";
}

/// Whether a rule of choosing is about GAME_MOVE_CALL rather than CHOOSE_PARITY_CALL.
pub(super) fn of_moves(rule: &Rule) -> bool {
    rule.id.starts_with("move.")
}
