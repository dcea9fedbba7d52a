//! Statistics of a league for people. Pure.

use super::table;
use matchday_stats::LeagueStatistics;
use matchday_stats::head_to_head::HeadToHead;
use matchday_stats::league::PlayerStatistics;
use matchday_stats::results::Wdl;
use matchday_stats::sentences::percent;
use std::collections::BTreeMap;

/// The standings with ratings, followed by remarks. What players say that they play by stands beside their names.
pub fn league(statistics: &LeagueStatistics, strategies: &BTreeMap<String, String>) -> String {
    if statistics.players.is_empty() {
        return "no player has registered yet".to_owned();
    }
    let next = statistics
        .neighbours
        .iter()
        .map(|pair| percent(pair.likelihood));
    let next = next.chain(std::iter::repeat("-".to_owned()));
    let players = statistics.players.iter();
    let is_ladder = players
        .clone()
        .any(|player| player.pairing_rating.is_some());
    let rows: Vec<_> = players
        .zip(next)
        .map(|(player, next)| {
            let strategy = strategies.get(&player.player_id);
            row(player, strategy, next, is_ladder)
        })
        .collect();
    let mut headers = vec![
        "RANK",
        "PLAYER",
        "NAME",
        "PLAYED",
        "POINTS",
        "RATING",
        "95 %",
        "AS GOOD BY CHANCE",
        "BETTER THAN NEXT",
    ];
    if is_ladder {
        headers.insert(PAIRING_RATING_AT, "PAIRING RATING");
    }
    format!("{}\n\n{}", table(&headers, &rows), remarks(statistics))
}

/// In front of the rating.
const PAIRING_RATING_AT: usize = 5;

fn row(
    player: &PlayerStatistics,
    strategy: Option<&String>,
    next: String,
    is_ladder: bool,
) -> Vec<String> {
    let whole = |rating: f64| format!("{rating:.0}");
    let between = |low: f64, high: f64| format!("{low:.0} to {high:.0}");
    let strength = player.bradley_terry;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut row = vec![
        player.rank.to_string(),
        player.player_id.clone(),
        named(&player.display_name, strategy),
        player.record.total().to_string(),
        player.points.to_string(),
        or_dash(strength.map(|strength| whole(strength.rating))),
        or_dash(strength.map(|strength| between(strength.low, strength.high))),
        if player.record.total() == 0 {
            "-".to_owned()
        } else {
            percent(player.as_good_by_chance)
        },
        next,
    ];
    if is_ladder {
        let pairing = player.pairing_rating.as_ref();
        row.insert(
            PAIRING_RATING_AT,
            or_dash(pairing.map(|pairing| whole(pairing.now.rating))),
        );
    }
    row
}

/// `Ada · lookahead`, where the strategy is known.
pub fn named(name: &str, strategy: Option<&String>) -> String {
    match strategy {
        Some(strategy) => format!("{name} · {strategy}"),
        None => name.to_owned(),
    }
}

/// What each of the two ratings of a ladder is.
const OF_A_LADDER: &str = "The pairing rating (Glicko-2) moves with each round; the ladder pairs and ranks by it. The rating \
                           (Bradley-Terry) weighs all results alike; go by it and its interval to tell who is better.";

/// Remarks below the table, each with its heading.
fn remarks(statistics: &LeagueStatistics) -> String {
    let mut lines = vec![("Luck meter", statistics.luck.sentence.clone())];
    lines.extend(statistics.luck.note.clone().map(|note| ("", note)));
    lines.extend(
        statistics
            .top_two
            .as_ref()
            .map(|top| ("Top two", top.sentence.clone())),
    );
    if statistics
        .players
        .iter()
        .any(|player| player.pairing_rating.is_some())
    {
        lines.push(("Ratings", OF_A_LADDER.to_owned()));
    }
    match statistics.forfeits {
        0 => {}
        1 => lines.push((
            "Forfeits",
            "1 match was forfeited. It says nothing about strength and is left out.".into(),
        )),
        more => lines.push((
            "Forfeits",
            format!(
                "{more} matches were forfeited. They say nothing about strength and are left out."
            ),
        )),
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|(name, text)| format!("{name:10}  {text}"))
        .collect();
    lines.join("\n")
}

/// A player's statistics as label and value.
pub fn player_rows(player: &PlayerStatistics) -> Vec<(&'static str, String)> {
    let rated =
        |rating: f64, low: f64, high: f64| format!("{rating:.0} (95 %: {low:.0} to {high:.0})");
    let strength = player.bradley_terry.map_or_else(
        || "-".to_owned(),
        |strength| rated(strength.rating, strength.low, strength.high),
    );
    let chance = match player.record.total() {
        0 => "-".to_owned(),
        _ => percent(player.as_good_by_chance),
    };
    let mut rows = vec![("rating", strength), ("as good by chance", chance)];
    if let Some(pairing) = &player.pairing_rating {
        rows.push(("pairing rating", format!("{:.0}", pairing.now.rating)));
    }
    rows
}

/// Two players beside each other.
pub fn head_to_head(found: &HeadToHead) -> String {
    let [first, second] = &found.players;
    let [one, other] = found.ratings.map_or_else(
        || [(); 2].map(|()| "-".to_owned()),
        |ratings| ratings.map(|rating| format!("{rating:.0}")),
    );
    let [name, other_name] = found.names.clone();
    let back = found.record.reversed();
    let record = |record: Wdl| format!("{}-{}-{}", record.wins, record.draws, record.losses);
    let rows = [
        ["name".to_owned(), name, other_name],
        ["rating".to_owned(), one, other],
        [
            "won-drawn-lost against the other".to_owned(),
            record(found.record),
            record(back),
        ],
        [
            "score to expect of a match".to_owned(),
            format!("{:.2}", found.expected_score),
            format!("{:.2}", 1.0 - found.expected_score),
        ],
        [
            "likelihood to be the better one".to_owned(),
            percent(found.likelihood),
            percent(1.0 - found.likelihood),
        ],
    ];
    let rows: Vec<Vec<String>> = rows.map(|row| row.to_vec()).to_vec();
    format!(
        "{}\n\n{}",
        table(&["", first, second], &rows),
        found.sentence
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_stats::rng::SeededRng;
    use matchday_stats::{ChanceRounds, Entrant, MatchOutcome, Played, Resampling, Results};

    /// Four players of even/odd who call at random, but for the first two, who call opposite to each other. One more match
    /// is forfeited.
    fn league_of(legs: u32) -> LeagueStatistics {
        statistics_of(legs, false)
    }

    fn statistics_of(legs: u32, ladder: bool) -> LeagueStatistics {
        let mut rng = SeededRng::new(4, 0);
        let mut matches = Vec::new();
        let ids = ["P01", "P02", "P03", "P04"];
        for round in 0..legs {
            for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)] {
                let mut is_even = || rng.share() < 0.5;
                let [one, other, drawn] = [is_even(), is_even(), is_even()];
                let other = if (a, b) == (0, 1) { !one } else { other };
                let outcome = match (one == drawn, other == drawn) {
                    (true, false) => MatchOutcome::WonByA,
                    (false, true) => MatchOutcome::WonByB,
                    _ => MatchOutcome::Drawn,
                };
                let [a, b] = [ids[a], ids[b]].map(str::to_owned);
                matches.push(Played {
                    round: round + 1,
                    a,
                    b,
                    outcome,
                    forfeited: false,
                });
            }
        }
        let a = "P03".to_owned();
        let b = "P04".to_owned();
        let outcome = MatchOutcome::WonByA;
        matches.push(Played {
            round: legs,
            a,
            b,
            outcome,
            forfeited: true,
        });
        let entrant = |(id, rank): (&str, u32)| Entrant {
            rank,
            id: id.to_owned(),
            name: format!("Player {id}"),
        };
        // The last two are level.
        let players = ids.into_iter().zip([1, 2, 3, 3]).map(entrant).collect();
        LeagueStatistics::of(
            &Results {
                game: "even_odd".into(),
                players,
                matches,
                ladder,
            },
            &ChanceRounds::Fixed,
            &Resampling::default(),
        )
    }

    #[test]
    fn a_league_of_many_rounds() {
        insta::assert_snapshot!(league(&league_of(24), &BTreeMap::new()));
    }

    #[test]
    fn what_a_player_plays_by_stands_beside_its_name() {
        let strategies = BTreeMap::from([("P01".to_owned(), "lookahead".to_owned())]);
        let table = league(&league_of(1), &strategies);
        assert_eq!(table.matches(" · lookahead ").count(), 1, "{table}");
    }

    #[test]
    fn a_ladder_says_what_each_of_its_ratings_is() {
        insta::assert_snapshot!(league(&statistics_of(2, true), &BTreeMap::new()));
    }

    #[test]
    fn a_league_of_one_round_robin() {
        insta::assert_snapshot!(league(&league_of(1), &BTreeMap::new()));
    }

    #[test]
    fn a_league_before_its_first_match() {
        let player = Entrant {
            rank: 1,
            id: "P01".into(),
            name: "Ada".into(),
        };
        let results = Results {
            game: "nim".into(),
            players: vec![player],
            matches: Vec::new(),
            ladder: false,
        };
        let statistics =
            LeagueStatistics::of(&results, &ChanceRounds::Fixed, &Resampling::default());
        insta::assert_snapshot!(league(&statistics, &BTreeMap::new()));
    }

    #[test]
    fn a_player_of_many_rounds() {
        let statistics = league_of(24);
        let player = &statistics.players[0];
        let rows: Vec<_> = player_rows(player)
            .into_iter()
            .map(|(name, value)| vec![name.to_owned(), value])
            .collect();
        insta::assert_snapshot!(format!(
            "{}\n\n{}",
            table(&["P01", "Player P01"], &rows),
            player.sentence
        ));
    }
}
