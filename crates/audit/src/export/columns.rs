//! The columns of the tables: their names, their types and what they mean. To write
//! the page anew: `UPDATE_DOCS=1 cargo test -p matchday-audit --lib columns`. Values only.

use serde::Serialize;
use std::fmt;

/// A type by its name in pandas. A cell of any type may be empty, where the description says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ColumnType {
    #[serde(rename = "string")]
    Text,
    #[serde(rename = "Int64")]
    Integer,
    #[serde(rename = "Float64")]
    Number,
    /// `true` or `false`.
    #[serde(rename = "boolean")]
    Boolean,
    /// RFC 3339 in UTC with milliseconds.
    #[serde(rename = "datetime64[ns, UTC]")]
    Time,
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Time => "time",
        })
    }
}

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnType,
    pub about: &'static str,
}

#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    pub columns: &'static [Column],
}

const fn text(name: &'static str, about: &'static str) -> Column {
    let kind = ColumnType::Text;
    Column { name, kind, about }
}

const fn integer(name: &'static str, about: &'static str) -> Column {
    let kind = ColumnType::Integer;
    Column { name, kind, about }
}

const fn number(name: &'static str, about: &'static str) -> Column {
    let kind = ColumnType::Number;
    Column { name, kind, about }
}

const fn boolean(name: &'static str, about: &'static str) -> Column {
    let kind = ColumnType::Boolean;
    Column { name, kind, about }
}

const fn time(name: &'static str, about: &'static str) -> Column {
    let kind = ColumnType::Time;
    Column { name, kind, about }
}

const LEAGUE: Column = text("league", "the league, as in `leagues`");

pub const LEAGUES: Table = Table {
    name: "leagues",
    about: "A row for each league.",
    columns: &[
        text(
            "league",
            "its id; `ID@TIME` with the time of its creation, if several leagues of the export have this id",
        ),
        text("game", "the game, such as `even_odd`"),
        text("format", "the format, such as `round_robin`"),
        text(
            "phase",
            "`registration`, `running`, `paused` or `completed`",
        ),
        integer("players", "how many players have registered"),
        integer("referees", "how many referees have registered"),
        integer("rounds", "how many rounds are scheduled"),
        integer("matches", "how many matches are scheduled"),
        integer("matches_decided", "how many of them have a result"),
        text(
            "champion",
            "the player that won the league; empty before its end",
        ),
        time("created_at", "when it was created"),
        time("started_at", "when registration was closed; empty before"),
        time("completed_at", "when it was completed; empty before"),
    ],
};

pub const PLAYERS: Table = Table {
    name: "players",
    about: "A row for each player of a league, in the order of the standings.",
    columns: &[
        LEAGUE,
        text("player", "its id in the league"),
        text("name", "the name that it registered under"),
        text(
            "strategy",
            "the strategy that it says it plays; empty if it says none",
        ),
        text("version", "the version of its software"),
        text(
            "model",
            "the language model that it says it asks; empty if it says none",
        ),
        integer("rank", "its rank; level players share one"),
        integer(
            "played",
            "how many matches it has played, forfeited ones included",
        ),
        integer("wins", "how many it won"),
        integer("draws", "how many it drew"),
        integer("losses", "how many it lost"),
        integer("points", "its points: 3 for a win, 1 for a draw"),
        integer(
            "technical_losses",
            "how many of the losses were not played out",
        ),
        text(
            "rank_reason",
            "what decided its rank against a level player; empty if nothing did",
        ),
        time("registered_at", "when it registered"),
    ],
};

pub const MATCHES: Table = Table {
    name: "matches",
    about: "A row for each scheduled match, in the order of the rounds.",
    columns: &[
        LEAGUE,
        text("match", "its id in the league, such as `R1M1`"),
        integer("round", "its round, from 1"),
        text(
            "round_title",
            "the round's name, such as `Final`; empty if it has none",
        ),
        text("game", "the game"),
        text("format", "the format of the league"),
        text("player_a", "the player of the first seat"),
        text("player_b", "the player of the second seat"),
        text(
            "status",
            "`WIN`, `DRAW`, `TECHNICAL_LOSS`, or `OPEN` without a result",
        ),
        text("winner", "the player that won; empty for none"),
        integer(
            "points_a",
            "points of the first player; empty without a result",
        ),
        integer("points_b", "points of the second player"),
        integer(
            "payoff_a",
            "the game's own points of the first player; empty if the game has none",
        ),
        integer("payoff_b", "the game's own points of the second player"),
        integer(
            "drawn_number",
            "the number that was drawn in even/odd; empty in other games",
        ),
        text(
            "cause_a",
            "why the first player lost without play, such as `silent`; empty if it did not",
        ),
        text("cause_b", "the same of the second player"),
        integer(
            "turns",
            "how many turns were played; empty if the referee told no moves",
        ),
        integer(
            "answer_ms_a",
            "mean time of an answer of the first player, in milliseconds; empty if unknown",
        ),
        integer("answer_ms_b", "the same of the second player"),
        text(
            "referee",
            "who decided it: a referee, or `manager`; empty without a result",
        ),
        integer("attempts", "how many times it was given to a referee"),
        text(
            "proof",
            "`proven`, `unproven` or `unprovable`; empty without a result",
        ),
        time(
            "assigned_at",
            "when the attempt that counts was given to its referee; empty if there is none",
        ),
        time(
            "decided_at",
            "when the manager recorded the result; empty without one",
        ),
        number("duration_ms", "the time between these two, in milliseconds"),
        text("reason", "the referee's words for the result; may be empty"),
    ],
};

pub const MOVES: Table = Table {
    name: "moves",
    about: "A row for each move of a match with a result, in the order of play.",
    columns: &[
        LEAGUE,
        text("match", "the match, as in `matches`"),
        integer(
            "turn",
            "the turn, from 1; in a turn of both players two rows have the same",
        ),
        text("player", "who moved"),
        text("move", "the move: a word as it is, any other value as JSON"),
        number(
            "answer_ms",
            "time from the referee's question to the answer, in milliseconds; empty if no message was kept",
        ),
        boolean(
            "fallback",
            "whether the player's fallback strategy chose; empty if the player's own log is not at hand",
        ),
        text("fallback_reason", "why it did; empty if it did not"),
        integer(
            "model_calls",
            "calls of a language model for this move; empty if none is known",
        ),
        integer("model_input_tokens", "tokens read by the model"),
        integer("model_output_tokens", "tokens written by the model"),
        number("model_cost", "their price; 0 if the prices are not known"),
    ],
};

pub const MODEL_CALLS: Table = Table {
    name: "model_calls",
    about: "A row for each call of a language model, by the players whose stores are at hand, in the order of the calls of a match; and for each move of a seat with its reasoning. Keys are cut out. Texts are whole; a line break in them is written `\\n`.",
    columns: &[
        LEAGUE,
        text("match", "the match, as in `matches`"),
        integer("turn", "the turn, as in `moves`; empty if it is not known"),
        text("player", "whose model it is"),
        time("at", "when the call began"),
        text(
            "model",
            "the exact name of the model, as its server states it; empty if it states none",
        ),
        text(
            "prompt",
            "what the model was told since the call before, as a JSON list of `role` and `content`; empty if the same was asked again",
        ),
        text(
            "thinking",
            "what it thought, or the reasoning of a seat; empty if it said none",
        ),
        text("reply", "what it answered; empty if nothing came"),
        text(
            "failure",
            "`illegal`, `unreadable`, `late`, `refused` or `server`; empty for a move",
        ),
        text("error", "the failure in words; may be empty"),
        integer("status", "the HTTP status; empty if no answer came"),
        integer("latency_ms", "how long the call took, in milliseconds"),
        integer("input_tokens", "tokens read by the model"),
        integer("output_tokens", "tokens written by the model"),
        number("cost", "their price; 0 if the prices are not known"),
    ],
};

pub const RATINGS: Table = Table {
    name: "ratings",
    about: "A row for each player and each round with a match: the rating by all matches up to the end of that round, by Bradley and Terry; of a ladder, as of its last round alone. Forfeited matches do not count.",
    columns: &[
        LEAGUE,
        integer("round", "the round"),
        text("player", "the player"),
        number("rating", "the rating; 1500 is the average of the league"),
        number("low", "the lower end of the 95 % interval"),
        number("high", "the upper end of the 95 % interval"),
    ],
};

pub const TABLES: [&Table; 6] = [&LEAGUES, &PLAYERS, &MATCHES, &MOVES, &MODEL_CALLS, &RATINGS];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::{env, fs};

    fn documented() -> String {
        let mut page = String::new();
        for table in TABLES {
            page.push_str(&format!("\n## `{}`\n\n{}\n\n", table.name, table.about));
            page.push_str("| Column | Type | Meaning |\n| --- | --- | --- |\n");
            for Column { name, kind, about } in table.columns {
                page.push_str(&format!("| `{name}` | {kind} | {about} |\n"));
            }
        }
        page + "\n"
    }

    #[test]
    fn the_manual_has_every_column() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data.md");
        let page = fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once("<!-- tables -->\n").unwrap();
        let (shown, after) = rest.split_once("<!-- end of tables -->").unwrap();
        let wanted = documented();
        if env::var_os("UPDATE_DOCS").is_some() {
            let page = format!("{before}<!-- tables -->\n{wanted}<!-- end of tables -->{after}");
            fs::write(&path, page).unwrap();
        } else {
            assert_eq!(shown, wanted, "write it anew with UPDATE_DOCS=1");
        }
    }
}
