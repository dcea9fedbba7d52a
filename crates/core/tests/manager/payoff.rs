//! Tables of repeated games by the total payoff.

use crate::desk::*;
use matchday_core::league::{League, Score};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{GameType, PlayerId};
use serde_json::{Map, json};
use std::sync::Arc;

/// The first player wins both of its matches by a little; the other two cooperate with each other.
fn played(score: Score) -> League {
    let mut desk = Desk::started(quick(), 3, 1);
    let first = PlayerId::numbered(1);
    while desk.manager.league().phase == Phase::Running {
        desk.settle_received();
        for (match_id, a, b, _) in desk.open_matches() {
            let won = if a == first {
                (3, 0)
            } else if b == first {
                (0, 3)
            } else {
                (1, 1)
            };
            desk.report(match_id.as_str(), won);
        }
    }
    // As if the league had been one of the dilemma.
    let mut league = desk.manager.league().clone();
    league.settings.game_type = GameType::new("iterated_prisoners_dilemma");
    league.settings.score = score;
    for game in league.matches.values_mut() {
        let paid = |player: &PlayerId| match (game.has(&first), *player == first) {
            (true, true) => 25,
            (true, false) => 20,
            (false, _) => 60,
        };
        let totals = json!({ game.a.as_str(): paid(&game.a), game.b.as_str(): paid(&game.b) });
        let details = ResultDetails::of(GameDetails::Other(Map::from_iter([(
            "totals".to_owned(),
            totals,
        )])));
        if let Some(decision) = &mut game.decision {
            Arc::make_mut(&mut decision.result).details = details;
        }
    }
    league
}

fn rows(league: &League) -> Vec<(String, u32, Option<String>)> {
    let rows = league.rows();
    let told = |row: &StandingRow| {
        row.rank_reason
            .as_ref()
            .map(|reason| reason.raw().to_owned())
    };
    rows.iter()
        .map(|row| (row.player_id.to_string(), row.points, told(row)))
        .collect()
}

#[test]
fn the_total_payoff_comes_before_won_matches() {
    let found = rows(&played(Score::Payoff));
    assert_eq!(
        found,
        [
            ("P02".to_owned(), 1, Some("level with P03".to_owned())),
            (
                "P03".to_owned(),
                1,
                Some("ahead of P01 on payoff (80 to 50)".to_owned())
            ),
            ("P01".to_owned(), 6, None),
        ]
    );
}

/// What is forfeited pays the opponent as if both had cooperated in all twenty rounds.
#[test]
fn a_forfeit_pays_the_opponent_and_nobody_else() {
    let mut league = played(Score::Payoff);
    for game in league
        .matches
        .values_mut()
        .filter(|game| game.has(&PlayerId::numbered(1)))
    {
        if let Some(decision) = &mut game.decision {
            decision.status = GameStatus::TechnicalLoss;
        }
    }
    let found = rows(&league);
    assert_eq!(
        found[0],
        (
            "P01".to_owned(),
            6,
            Some("ahead of P02 on payoff (120 to 60)".to_owned())
        )
    );
}

#[test]
fn a_league_that_names_no_score_is_ranked_by_matches() {
    let found = rows(&played(Score::Match));
    assert_eq!(
        found[0],
        (
            "P01".to_owned(),
            6,
            Some("ahead of P02 on points".to_owned())
        )
    );
}

#[test]
fn only_the_dilemma_is_ranked_by_payoff_unless_asked() {
    let of = |game: &str| Score::default_of(&GameType::new(game));
    assert_eq!(of("iterated_prisoners_dilemma"), Score::Payoff);
    assert_eq!(
        [of("even_odd"), of("rock_paper_scissors"), of("unknown")],
        [Score::Match; 3]
    );
}
