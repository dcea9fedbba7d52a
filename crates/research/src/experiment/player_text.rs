//! The table of players as CSV, Markdown and LaTeX, and as rows of a page. Pure.

use super::player_table::{PlayerRow, PlayerTable, Scope};
use matchday_runtime::decider::FailureKind;
use std::fmt::Write;

/// Kinds of failure that are shown, with their headings.
const KINDS: [(FailureKind, &str); 5] = [
    (FailureKind::Illegal, "Illegal"),
    (FailureKind::Unreadable, "Unreadable"),
    (FailureKind::Late, "Late"),
    (FailureKind::Refused, "Refused"),
    (FailureKind::Server, "Server"),
];
/// Of the table: what a researcher prints.
pub(super) const HEADS: [&str; 20] = [
    "Player",
    "Rating",
    "95 %",
    "Matches",
    "Won first",
    "Won second",
    "Forfeited",
    "Illegal",
    "Unreadable",
    "Late",
    "Refused",
    "Server",
    "Void",
    "Not played",
    "Tokens",
    "Cost/match",
    "Cost",
    "p50 s",
    "p95 s",
    "Blunders/game",
];

impl Scope {
    pub(super) fn title(&self) -> String {
        self.game.clone().unwrap_or_else(|| "All games".to_owned())
    }

    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        self.players.iter().map(cells).collect()
    }

    /// With a heading for each column: names, then scores in percent.
    pub(super) fn matrix(&self) -> Vec<Vec<String>> {
        let names = self.players.iter().map(|player| player.player.clone());
        let head = std::iter::once(String::new())
            .chain(names.clone())
            .collect();
        let cell = |score: &Option<f64>| {
            score.map_or_else(String::new, |score| format!("{:.0}", 100.0 * score))
        };
        let row = |(name, scores): (String, &Vec<Option<f64>>)| {
            std::iter::once(name)
                .chain(scores.iter().map(cell))
                .collect()
        };
        std::iter::once(head)
            .chain(names.zip(&self.scores).map(row))
            .collect()
    }
}

fn share(count: u64, of: u64) -> String {
    if of == 0 {
        return "-".to_owned();
    }
    format!("{:.1} %", 100.0 * count as f64 / of as f64)
}

fn money(micros: u64) -> String {
    format!("{:.4}", micros as f64 / 1e6)
}

fn cells(player: &PlayerRow) -> Vec<String> {
    let [first, second] = player.seats;
    let calls = u64::from(player.usage.calls);
    let asked = player.usage.calls > 0;
    let if_asked = |text: String| if asked { text } else { "-".to_owned() };
    let if_priced = |micros: u64| {
        if asked && player.has_prices {
            money(micros)
        } else {
            "-".to_owned()
        }
    };
    let (rating, interval) = player.rating.map_or_else(
        || ("-".to_owned(), String::new()),
        |rating| {
            let interval = format!("{:.0} to {:.0}", rating.low, rating.high);
            (format!("{:.0}", rating.value), interval)
        },
    );
    let seconds = |place: usize| {
        let ms = player.latency_ms.and_then(|all| all.get(place).copied());
        ms.map_or_else(|| "-".to_owned(), |ms| format!("{:.2}", ms / 1000.0))
    };
    let matches = player.matches();
    let failed = KINDS.iter().map(|(kind, _)| {
        let count = player.failed_calls.get(kind).copied().unwrap_or(0);
        if_asked(share(count, calls))
    });
    let start = [
        player.player.clone(),
        rating,
        interval,
        matches.to_string(),
        share(first.wins, first.total()),
        share(second.wins, second.total()),
        player.forfeits.values().sum::<u64>().to_string(),
    ];
    let end = [
        if_asked(player.voided.to_string()),
        if_asked(player.not_played.to_string()),
        if_asked(player.usage.tokens().to_string()),
        if_priced(
            player
                .usage
                .cost_micros
                .checked_div(matches)
                .unwrap_or_default(),
        ),
        if_priced(player.usage.cost_micros),
        seconds(0),
        seconds(1),
        if player.judged > 0 {
            format!("{:.2}", player.blunders as f64 / matches.max(1) as f64)
        } else {
            "-".to_owned()
        },
    ];
    start.into_iter().chain(failed).chain(end).collect()
}

impl PlayerTable {
    /// Names and contents.
    pub(super) fn files(&self) -> [(&'static str, String); 4] {
        [
            ("players.csv", self.csv()),
            ("pairs.csv", self.pairs_csv()),
            ("players.md", self.markdown()),
            ("players.tex", self.latex()),
        ]
    }

    /// Counts, so that anybody can compute what they like.
    fn csv(&self) -> String {
        let mut text = "game,player,model,served_as,rating,rating_low,rating_high,matches,first_won,first_drawn,first_lost,\
                        second_won,second_drawn,second_lost,lost_by_both,forfeits_illegal,forfeits_unreadable,forfeits_late,\
                        forfeits_refused,calls,calls_illegal,calls_unreadable,calls_late,calls_refused,calls_server,voided,\
                        not_played,input_tokens,output_tokens,cost,latency_p50_ms,latency_p95_ms,judged_moves,blunders\n"
            .to_owned();
        for scope in &self.scopes {
            for player in &scope.players {
                let rating = player.rating.map_or([None; 3], |rating| {
                    [rating.value, rating.low, rating.high].map(Some)
                });
                let rating = rating
                    .map(|value| value.map_or_else(String::new, |value| format!("{value:.1}")));
                let seats = player
                    .seats
                    .iter()
                    .flat_map(|record| [record.wins, record.draws, record.losses]);
                let of = |counts: &std::collections::BTreeMap<FailureKind, u64>, kinds: usize| {
                    let count = |(kind, _): &(FailureKind, &str)| {
                        counts.get(kind).copied().unwrap_or(0).to_string()
                    };
                    KINDS.iter().take(kinds).map(count).collect::<Vec<_>>()
                };
                let latency = player.latency_ms.map_or([None; 2], |all| all.map(Some));
                let latency = latency
                    .map(|value| value.map_or_else(String::new, |value| format!("{value:.0}")));
                let cost = if player.has_prices {
                    format!("{:.6}", player.usage.cost_micros as f64 / 1e6)
                } else {
                    String::new()
                };
                let mut fields = vec![
                    scope.game.clone().unwrap_or_else(|| "all".to_owned()),
                    player.player.clone(),
                    player.model.clone(),
                    player.served_as.join(" "),
                ];
                fields.extend(rating);
                fields.push(player.matches().to_string());
                fields.extend(seats.map(|count| count.to_string()));
                fields.push(player.lost_by_both.to_string());
                fields.extend(of(&player.forfeits, 4));
                fields.push(player.usage.calls.to_string());
                fields.extend(of(&player.failed_calls, 5));
                let counts = [
                    player.voided,
                    player.not_played,
                    player.usage.input_tokens,
                    player.usage.output_tokens,
                ];
                fields.extend(counts.map(|count| count.to_string()));
                fields.push(cost);
                fields.extend(latency);
                fields.extend([player.judged, player.blunders].map(|count| count.to_string()));
                text.push_str(&csv_line(&fields));
            }
        }
        text
    }

    fn pairs_csv(&self) -> String {
        let mut text = "game,player,opponent,score\n".to_owned();
        for scope in &self.scopes {
            let game = scope.game.clone().unwrap_or_else(|| "all".to_owned());
            for (player, scores) in scope.players.iter().zip(&scope.scores) {
                for (opponent, score) in scope.players.iter().zip(scores) {
                    if let Some(score) = score {
                        text.push_str(&csv_line(&[
                            game.clone(),
                            player.player.clone(),
                            opponent.player.clone(),
                            format!("{score:.4}"),
                        ]));
                    }
                }
            }
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        for scope in &self.scopes {
            let heads = HEADS.map(str::to_owned);
            let _ = write!(text, "## {}\n\n{}", scope.title(), line(&heads));
            text.push_str(&line(&vec!["---".to_owned(); heads.len()]));
            scope
                .rows()
                .iter()
                .for_each(|row| text.push_str(&line(row)));
            text.push_str("\nScore of each row against each column, in %:\n\n");
            for (number, row) in scope.matrix().iter().enumerate() {
                text.push_str(&line(row));
                if number == 0 {
                    text.push_str(&line(&vec!["---".to_owned(); row.len()]));
                }
            }
            text.push('\n');
        }
        text.push_str("## What the figures do not show\n\n");
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }

    /// For `\input`, with the package booktabs.
    fn latex(&self) -> String {
        let mut text = String::from("% Needs \\usepackage{booktabs}\n");
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let table = |rows: &[Vec<String>], caption: &str| {
            let columns = rows.first().map_or(0, Vec::len);
            let mut text = format!(
                "\\begin{{table}}\n\\caption{{{}}}\n\\begin{{tabular}}{{l{}}}\n\\toprule\n",
                escaped(caption),
                "r".repeat(columns.saturating_sub(1))
            );
            for (number, row) in rows.iter().enumerate() {
                text.push_str(&line(row));
                text.push_str(if number == 0 { "\\midrule\n" } else { "" });
            }
            text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
        };
        for scope in &self.scopes {
            let heads = HEADS.map(str::to_owned).to_vec();
            let rows: Vec<_> = std::iter::once(heads).chain(scope.rows()).collect();
            let title = scope.title();
            text.push_str(&table(&rows, &format!("{title}. {}", self.notes.join(" "))));
            let caption = format!("{title}: score of each row against each column, in %");
            text.push_str(&table(&scope.matrix(), &caption));
        }
        text
    }
}

fn csv_line(fields: &[String]) -> String {
    let field = |text: &String| {
        if text.contains([',', '"', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.clone()
        }
    };
    let fields: Vec<String> = fields.iter().map(field).collect();
    fields.join(",") + "\n"
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            other => escaped.push(other),
        }
    }
    escaped
}
