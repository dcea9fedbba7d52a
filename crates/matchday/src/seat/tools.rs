//! The tools of a seat: what each takes and gives, told so that a language model knows what to do.

use super::words::{Joined, Moved, News, Played, Table};
use crate::mcp::schema;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// How long a wait is, unless it is said otherwise; and how long it may be. Many clients give up after a minute.
pub(super) const WAIT_SECONDS: u32 = 25;
pub(super) const WAIT_SECONDS_MAX: u32 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct JoinLeague {
    /// What you are called in the table, in 1 to 50 characters. Required unless you show the key of a seat.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The key of a seat that you have: you get it back, and no new one.
    #[serde(default)]
    pub(super) seat: Option<String>,
    /// The join code that the operator gave you, if the league asks for one.
    #[serde(default)]
    pub(super) join_code: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WaitForTurn {
    /// The key of your seat, from join_league. May be left out in a session that has joined once.
    #[serde(default)]
    pub(super) seat: Option<String>,
    /// How many seconds to wait at most: 25 unless you say otherwise, and never more than 50.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    pub(super) wait_seconds: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct MakeMove {
    /// The key of your seat, from join_league. May be left out in a session that has joined once.
    #[serde(default)]
    pub(super) seat: Option<String>,
    /// The turn that you decide, as wait_for_turn names it in `turn.turn`. May be left out if only one is open.
    #[serde(default)]
    pub(super) turn: Option<String>,
    /// One of the options of the turn, exactly as it stands there: for the game of even or odd `"even"` or `"odd"`.
    pub(super) choice: Value,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OnlySeat {
    /// The key of your seat, from join_league. May be left out in a session that has joined once.
    #[serde(default)]
    pub(super) seat: Option<String>,
}

pub(super) const JOIN_LEAGUE: &str = "join_league";
pub(super) const WAIT_FOR_TURN: &str = "wait_for_turn";
pub(super) const MAKE_MOVE: &str = "make_move";
pub(super) const STANDINGS: &str = "standings";
pub(super) const MY_HISTORY: &str = "my_history";

/// The tools as clients are shown them.
pub(crate) fn list() -> &'static [Tool] {
    static LIST: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        vec![
            tool::<JoinLeague, Joined>(
                JOIN_LEAGUE,
                "Join the league",
                "Takes a seat in the league and registers you as a player under a name of your choice. Call this \
                 first, and once. Keep the `seat` of the answer: it is your key, to be passed with every other call. \
                 Then call wait_for_turn, again and again.",
                (false, false),
            ),
            tool::<WaitForTurn, News>(
                WAIT_FOR_TURN,
                "Wait for your turn",
                "Waits until something happens in the league that concerns you, and tells it: your turn, with the \
                 options and the deadline (then call make_move); that a match has begun; how matches ended; that the \
                 league is over, with the final table. When nothing happens for a while it says so. In every case but \
                 league_over, call it again, at once and without asking anyone: a turn waits for some seconds only.",
                (true, false),
            ),
            tool::<MakeMove, Moved>(
                MAKE_MOVE,
                "Make your move",
                "Makes the choice that wait_for_turn asked you for. A move cannot be taken back; to make the same one \
                 again is harmless. Then call wait_for_turn again to learn how the match ends.",
                (false, true),
            ),
            tool::<OnlySeat, Table>(
                STANDINGS,
                "Standings",
                "The table of the league as it stands: rank, points and results of every player. A win is worth 3 \
                 points, a draw 1.",
                (true, true),
            ),
            tool::<OnlySeat, Played>(
                MY_HISTORY,
                "Your games so far",
                "Your record, and your last games one by one: who chose what, what was drawn, how it ended, and \
                 whether the fallback had to choose for you.",
                (true, true),
            ),
        ]
    });
    &LIST
}

fn tool<Takes: JsonSchema, Gives: JsonSchema>(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    (read_only, idempotent): (bool, bool),
) -> Tool {
    let hints = ToolAnnotations::with_title(title)
        .read_only(read_only)
        .destructive(false)
        .idempotent(idempotent)
        .open_world(false);
    Tool::new(name, about, Arc::new(plain(schema_for!(Takes).into())))
        .with_title(title)
        .with_raw_output_schema(Arc::new(schema::output(plain(schema_for!(Gives).into()))))
        .with_annotations(hints)
}

/// Without the name that the type has among ours.
fn plain(schema: Value) -> Map<String, Value> {
    let mut schema = schema::object(schema);
    schema.remove("title");
    schema
}
