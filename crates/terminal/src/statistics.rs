//! Statistics of a league for people. Pure.

use super::table;
use matchday_stats::LeagueStatistics;
use matchday_stats::head_to_head::HeadToHead;
use matchday_stats::league::PlayerStatistics;
use matchday_stats::results::Wdl;
use matchday_stats::sentences::percent;

/// The standings with ratings, followed by remarks.
pub fn league(statistics: &LeagueStatistics) -> String {
    if statistics.players.is_empty() {
        return "no player has registered yet".to_owned();
    }
    let next = statistics
        .neighbours
        .iter()
        .map(|pair| percent(pair.likelihood));
    let next = next.chain(std::iter::repeat("-".to_owned()));
    let ranked = (1..).zip(&statistics.players).zip(next);
    let rows: Vec<_> = ranked
        .map(|((rank, player), next)| row(rank, player, next))
        .collect();
    let headers = [
        "RANK",
        "PLAYER",
        "NAME",
        "PLAYED",
        "POINTS",
        "BRADLEY-TERRY",
        "95 %",
        "GLICKO-2",
        "95 %",
        "AS GOOD BY CHANCE",
        "BETTER THAN NEXT",
    ];
    format!("{}\n\n{}", table(&headers, &rows), remarks(statistics))
}

fn row(rank: u32, player: &PlayerStatistics, next: String) -> Vec<String> {
    let whole = |rating: f64| format!("{rating:.0}");
    let between = |low: f64, high: f64| format!("{low:.0} to {high:.0}");
    let strength = player.bradley_terry;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        rank.to_string(),
        player.player_id.clone(),
        player.display_name.clone(),
        player.record.total().to_string(),
        player.points.to_string(),
        or_dash(strength.map(|strength| whole(strength.rating))),
        or_dash(strength.map(|strength| between(strength.low, strength.high))),
        whole(player.glicko.now.rating),
        between(player.glicko.low, player.glicko.high),
        if player.record.total() == 0 {
            "-".to_owned()
        } else {
            percent(player.as_good_by_chance)
        },
        next,
    ]
}

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
    match statistics.forfeits {
        0 => {}
        1 => lines.push((
            "Forfeits",
            "1 match was forfeited, says nothing of strength, and is left out.".into(),
        )),
        more => lines.push((
            "Forfeits",
            format!("{more} matches were forfeited, say nothing of strength, and are left out."),
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
    let glicko = &player.glicko;
    let chance = match player.record.total() {
        0 => "-".to_owned(),
        _ => percent(player.as_good_by_chance),
    };
    vec![
        ("Bradley-Terry", strength),
        (
            "Glicko-2",
            rated(glicko.now.rating, glicko.low, glicko.high),
        ),
        ("as good by chance", chance),
    ]
}

/// Two players beside each other.
pub fn head_to_head(found: &HeadToHead) -> String {
    let [first, second] = &found.players;
    let [one, other] = found.ratings.map(|rating| {
        let [low, high] = rating.interval();
        format!("{:.0} (95 %: {low:.0} to {high:.0})", rating.rating)
    });
    let [name, other_name] = found.names.clone();
    let back = found.record.reversed();
    let record = |record: Wdl| format!("{}-{}-{}", record.wins, record.draws, record.losses);
    let rows = [
        ["name".to_owned(), name, other_name],
        ["Glicko-2".to_owned(), one, other],
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
    use matchday_stats::{Entrant, MatchOutcome, Played, Resampling, Results};

    /// Four players of even/odd who call at random, but for the first two, who call opposite to each other. One more match
    /// is forfeited.
    fn league_of(legs: u32) -> LeagueStatistics {
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
        let entrant = |id: &str| Entrant {
            id: id.to_owned(),
            name: format!("Player {id}"),
        };
        let players = ids.map(entrant).to_vec();
        LeagueStatistics::of(
            &Results {
                game: "even_odd".into(),
                players,
                matches,
                ladder: false,
            },
            &Resampling::default(),
        )
    }

    #[test]
    fn a_league_of_many_rounds() {
        insta::assert_snapshot!(league(&league_of(24)));
    }

    #[test]
    fn a_league_of_one_round_robin() {
        insta::assert_snapshot!(league(&league_of(1)));
    }

    #[test]
    fn a_league_before_its_first_match() {
        let player = Entrant {
            id: "P01".into(),
            name: "Ada".into(),
        };
        let results = Results {
            game: "nim".into(),
            players: vec![player],
            matches: Vec::new(),
            ladder: false,
        };
        insta::assert_snapshot!(league(&LeagueStatistics::of(
            &results,
            &Resampling::default()
        )));
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
