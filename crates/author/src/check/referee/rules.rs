//! The rules for referees.

use crate::check::player::rules as player_rules;
use crate::check::rule::{Rule, rules};
use crate::check::wire;

static ROBUSTNESS: &[&Rule] = &[
    &player_rules::SLOW_DRIP,
    &player_rules::CLOSED_CONNECTION,
    &player_rules::UNKNOWN_MESSAGE,
    &player_rules::ALIVE,
];

pub fn all() -> impl Iterator<Item = &'static Rule> {
    wire::RULES.iter().chain(OWN).chain(ROBUSTNESS).copied()
}

rules! {
    REGISTERED = Mandatory, "register.request", Registration, "It registers by itself, with a whole REFEREE_REGISTER_REQUEST", "referee_register_request",
        "Post REFEREE_REGISTER_REQUEST with referee_meta (display_name, version, game_types, contact_endpoint, max_concurrent_matches) when you start.";
    ENVELOPE = Mandatory quick, "envelope.whole", Envelope, "Every message has a complete envelope, with the referee as sender", "envelope",
        "Put protocol, message_type, sender \"referee:\" and your id, timestamp (...Z) and conversation_id into every message.";
    CONVERSATION = Mandatory quick, "envelope.conversation", Envelope, "All messages of a match are one conversation", "conversations",
        "Use the conversation_id of the announcement, or conv-r1m1-001, in every message of the match and in its report.";
    ANNOUNCED = Advisory quick, "notice.round", Notices, "It acknowledges ROUND_ANNOUNCEMENT, and begins its matches", "round_announcement",
        "Answer {\"status\": \"received\"} at once, and play in a thread or task of its own.";
    INVITED = Mandatory quick, "invite.whole", Joining, "Both players receive a complete GAME_INVITATION with their roles", "game_invitation",
        "Send league_id, round_id, match_id, game_type, role_in_match (PLAYER_A, PLAYER_B) and opponent_id.";
    INVITED_TOGETHER = Mandatory quick, "invite.together", Joining, "Both players are invited at the same time", "game_invitation",
        "Send both invitations before you wait for an answer.";
    ASKED = Mandatory quick, "ask.whole", Choosing, "Both players receive a complete CHOOSE_PARITY_CALL", "choose_parity_call",
        "Send match_id, player_id, game_type and deadline (...Z), and context.";
    ASKED_TOGETHER = Mandatory quick, "ask.together", Choosing, "Both players are asked at the same time, after both have joined", "choose_parity_call",
        "Send both questions before you wait for an answer: the second player could know more.";
    OVER = Mandatory quick, "over.both", Results, "Both players receive the same complete GAME_OVER", "game_over",
        "Send game_result with status, winner_player_id, drawn_number, number_parity, choices and reason to both.";
    OVER_RIGHT = Mandatory quick, "over.right", Results, "The winner follows from choices and number", "one-minute",
        "The player that alone called the parity of the drawn number (1 to 10) wins; if both did or neither did it is a draw.";
    REPORTED = Mandatory quick, "report.whole", Results, "It sends a complete MATCH_RESULT_REPORT with its own token", "match_result_report",
        "Send league_id, round_id, match_id, game_type and result (winner, score, details) to the manager, with your league token.";
    PLAYED = Mandatory quick, "report.played", Results, "It reports no match that nobody played", "match_result_report",
        "Invite both players and ask both for their choice before you decide: a result without their answers is made up.";
    REPORT_RIGHT = Mandatory quick, "report.right", Results, "The report says what GAME_OVER said, with the right scores", "match_result_report",
        "3 and 0 for a win, 1 and 1 for a draw, 0 and 0 if neither came; the winner is null if nobody won.";
    DRAW = Mandatory quick, "report.draw", Results, "Equal choices are a draw, 1-1", "one-minute",
        "If both call the same parity, nobody wins, whatever is drawn.";
    REPORT_RETRIED = Mandatory, "report.retried", Results, "A report that the manager fails to answer is sent again", "results",
        "Repeat the report until MATCH_RESULT_ACK comes: what the manager does not know does not count.";
    REPORT_ONCE = Mandatory, "report.once", Results, "A report that was acknowledged is not sent again", "match_result_ack",
        "Stop at MATCH_RESULT_ACK.";
    REPORT_CONFLICT = Mandatory, "report.conflict", Results, "It stops sending a report that the manager refuses with E016, and keeps running", "results",
        "Stop at E006, E007, E012 and E016: the match is decided otherwise.";
    NEVER_JOINS = Mandatory, "fault.never-joins", Robustness, "A player that never joins is asked four times, receives E001, and loses 0-3", "retries",
        "Wait 5 s, send GAME_ERROR E001, ask again after 2 s; after three retries it is a technical loss.";
    NO_CONNECTION = Mandatory, "fault.no-connection", Robustness, "A player that cannot be reached loses 0-3", "retries",
        "Try again three times, 2 s apart; then it is a technical loss.";
    BOTH_SILENT = Mandatory, "fault.both-silent", Robustness, "If neither joins, both lose, 0-0", "forfeits",
        "Wait for the other player's answer before you decide: two forfeits are TECHNICAL_LOSS with no winner.";
    SILENT_CHOICE = Mandatory, "fault.silent-choice", Robustness, "A player that does not choose receives E001 and is asked again", "retries",
        "Wait 30 s, send GAME_ERROR E001, and send the question again after 2 s with a new deadline.";
    DECLINES = Mandatory, "fault.declines", Robustness, "A player that declines loses 0-3", "forfeits",
        "accept: false is a technical loss.";
    INVALID_CHOICE = Mandatory, "fault.invalid-choice", Robustness, "An invalid choice is E004, and the player is asked again", "windows",
        "Send GAME_ERROR E004 at once, and ask again in what is left of the window.";
    WRONG_MATCH = Mandatory, "fault.wrong-match", Robustness, "An answer for another match does not count (E015)", "windows",
        "Compare match_id with the one that you asked about; send GAME_ERROR E015 and ask again.";
    WRONG_PLAYER = Mandatory, "fault.wrong-player", Robustness, "An answer with another player's id counts for its sender, or not at all (E012)", "windows",
        "Compare player_id with the player that you asked; send GAME_ERROR E012 and ask again.";
    DUPLICATE = Mandatory, "robust.duplicate-round", Robustness, "A repeated announcement is played once", "round_announcement",
        "Remember the matches that you have begun, by match_id.";
    TWO_MATCHES = Mandatory, "robust.two-matches", Robustness, "It plays two matches at once", "course-of-a-round",
        "Play each match in a thread or task of its own.";
    LATE = Mandatory, "robust.late-answer", Robustness, "An answer after the end is answered, and changes nothing", "separate-answers",
        "Answer E006 or E008 to an answer that comes too late.";
    FORGED = Mandatory, "trust.forged-choice", Trust, "A choice that another agent sends for a player does not count", "separate-answers",
        "Take a separate answer only with the token made for the match; refuse others with E012.";
    OWN_TOKEN = Advisory quick, "trust.own-token", Trust, "It shows its league token to no player", "tokens",
        "Anyone who has your token can report results in your name: show players the token made for the match.";
    FALSE_NOTICE = Advisory, "trust.false-notice", Trust, "It refuses an announcement with a false token", "notice-tokens",
        "Compute the notice token from your own, and answer E012 if another is shown.";
}
