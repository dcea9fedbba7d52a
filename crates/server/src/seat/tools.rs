//! The tools of a seat, described for a language model: no game but that of the league, no messages.

use crate::mcp::schema;
use crate::mcp::tool::{Param, params_schema};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// Default and maximum of a wait. Many clients give up after a minute.
pub(super) const WAIT_SECONDS: u32 = 25;
pub(super) const WAIT_SECONDS_MAX: u32 = 50;

pub(super) const JOIN_LEAGUE: &str = "join_league";
pub(super) const WAIT_FOR_TURN: &str = "wait_for_turn";
pub(super) const MAKE_MOVE: &str = "make_move";
pub(super) const STANDINGS: &str = "standings";
pub(super) const MY_HISTORY: &str = "my_history";

pub(crate) const NAMES: [&str; 5] = [JOIN_LEAGUE, WAIT_FOR_TURN, MAKE_MOVE, STANDINGS, MY_HISTORY];

const SEAT: Param = text(
    "seat",
    "The key of your seat, from join_league. May be left out in a session that has joined once.",
);

const fn text(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        kind: "string",
        about,
        required: false,
    }
}

/// The tools as clients are shown them.
pub(crate) fn list() -> &'static [Tool] {
    static LIST: LazyLock<Vec<Tool>> = LazyLock::new(all);
    &LIST
}

fn all() -> Vec<Tool> {
    let name = text(
        "name",
        "What you are called in the table, in 1 to 50 characters. Required unless you show the key of a seat.",
    );
    let kept = text(
        "seat",
        "The key of a seat that you have: you get it back, and no new one.",
    );
    let code = text(
        "join_code",
        "The join code that the operator gave you, if the league asks for one.",
    );
    let wait_seconds = Param {
        name: "wait_seconds",
        kind: "integer",
        about: "How many seconds to wait at most: 25 unless you say otherwise, and never more than 50.",
        required: false,
    };
    let turn = text(
        "turn",
        "The turn that you decide, as wait_for_turn names it in turn.turn. May be left out if only one is open.",
    );
    // A text, because no host refuses that: some take no field of several types, and none in strict mode an open object.
    let choice = Param {
        required: true,
        ..text(
            "choice",
            "One of turn.options, as it is written there, such as 3 or {\"heap\": 1, \"take\": 2}.",
        )
    };
    let reasoning = text(
        "reasoning",
        "Why you choose it, in a few sentences. It is kept with the match, for people; the opponent cannot read it before the league is over.",
    );
    vec![
        tool(
            (JOIN_LEAGUE, "Join the league"),
            "Takes a seat in the league and registers you as a player under a name of your choice. Call this first, and \
             once. The answer holds the rules of the game and your seat, a key that is passed with every other call. \
             Then call wait_for_turn, again and again.",
            params_schema(&[name, kept, code]),
            &[
                ("seat", "string"),
                ("player_id", "string"),
                ("league_id", "string"),
                ("games", "array"),
                ("if_you_do_not_move", "string"),
                ("next", "string"),
            ],
            (false, false),
        ),
        tool(
            (WAIT_FOR_TURN, "Wait for your turn"),
            "Waits until something happens that concerns you, and tells it: your turn, with the options and the deadline \
             (then call make_move); that a match has begun; how matches ended; that the league is over, with the final \
             table. When nothing happens for a while it says so. In every case but league_over, call it again, at once \
             and without asking anyone: a turn waits for some seconds only.",
            params_schema(&[SEAT, wait_seconds]),
            &[
                ("happened", "string"),
                ("turn", "object"),
                ("results", "array"),
                ("earlier_results", "array"),
                ("final_table", "array"),
                ("player_id", "string"),
                ("next", "string"),
            ],
            (true, false),
        ),
        tool(
            (MAKE_MOVE, "Make your move"),
            "Makes the choice that wait_for_turn asked you for. A move cannot be taken back; to make the same one again is \
             harmless. Then call wait_for_turn again to learn how the match goes on.",
            params_schema(&[SEAT, turn, choice, reasoning]),
            &[
                ("turn", "string"),
                ("already_made", "boolean"),
                ("next", "string"),
            ],
            (false, true),
        ),
        tool(
            (STANDINGS, "Standings"),
            "The current standings of the league: rank, points and results of every player.",
            params_schema(&[SEAT]),
            &[("player_id", "string"), ("standings", "array")],
            (true, true),
        ),
        tool(
            (MY_HISTORY, "Your games so far"),
            "Your record, and your last games one by one: score, moves, why each ended so, and whether the fallback had to \
             choose for you.",
            params_schema(&[SEAT]),
            &[
                ("player_id", "string"),
                ("league_id", "string"),
                ("played", "integer"),
                ("moves_made_for_you", "integer"),
                ("record", "object"),
                ("games", "array"),
            ],
            (true, true),
        ),
    ]
}

fn tool(
    (name, title): (&'static str, &'static str),
    about: &'static str,
    input: Map<String, Value>,
    output: &[(&str, &str)],
    (read_only, idempotent): (bool, bool),
) -> Tool {
    let hints = ToolAnnotations::with_title(title)
        .read_only(read_only)
        .destructive(false)
        .idempotent(idempotent)
        .open_world(false);
    Tool::new(name, about, Arc::new(input))
        .with_title(title)
        .with_raw_output_schema(Arc::new(schema::fields(output)))
        .with_annotations(hints)
}
