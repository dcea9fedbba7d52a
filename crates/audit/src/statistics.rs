//! Converts the results of a league for the statistics crate, from the league's state or from a manager's answers.
//! Pure.

use matchday_core::league::League;
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::messages::query_data::{ScheduleData, ScheduledMatch, StandingsData};
use matchday_core::protocol::messages::{GameStatus, StandingRow};
use matchday_stats::{Entrant, MatchOutcome, Played, Results};

pub fn of_league(league: &League) -> Results {
    let game = league.settings.game_type.to_string();
    let decided = league
        .rounds
        .iter()
        .flat_map(|round| league.matches_of(round));
    let matches = decided.filter_map(|(_, played)| {
        let decision = played.decision.as_ref()?;
        Some(Played {
            round: played.round_id.0,
            a: played.a.to_string(),
            b: played.b.to_string(),
            outcome: match decision.verdict(played) {
                Verdict::WonByA => MatchOutcome::WonByA,
                Verdict::WonByB => MatchOutcome::WonByB,
                Verdict::Drawn => MatchOutcome::Drawn,
                Verdict::LostByBoth => MatchOutcome::LostByBoth,
            },
            // In a ladder a forfeit counts as a loss, so that nobody keeps its rating by leaving a match.
            forfeited: decision.status == GameStatus::TechnicalLoss && !league.is_ladder(),
        })
    });
    let ladder = league.is_ladder();
    Results {
        players: entrants(&league.rows()),
        matches: matches.collect(),
        game,
        ladder,
    }
}

pub fn of_answers(standings: &StandingsData, schedule: &ScheduleData) -> Results {
    let rounds = || schedule.rounds.iter();
    let games = rounds().flat_map(|round| {
        round
            .matches
            .iter()
            .map(move |played| (round.round_id.0, played))
    });
    let game = games
        .clone()
        .next()
        .map(|(_, played)| played.game_type.to_string())
        .unwrap_or_default();
    // Only the rows of a ladder have ratings.
    let ladder = standings.standings.iter().any(|row| row.rating.is_some());
    let matches = games.filter_map(|(round, played)| decided(round, played));
    let matches = matches
        .map(|played| Played {
            forfeited: played.forfeited && !ladder,
            ..played
        })
        .collect();
    Results {
        players: entrants(&standings.standings),
        matches,
        game,
        ladder,
    }
}

fn decided(round: u32, played: &ScheduledMatch) -> Option<Played> {
    let result = played.result.as_ref()?;
    let forfeited = result.status == GameStatus::TechnicalLoss;
    let outcome = match &result.winner {
        Some(winner) if *winner == played.player_a_id => MatchOutcome::WonByA,
        Some(_) => MatchOutcome::WonByB,
        None if forfeited => MatchOutcome::LostByBoth,
        None => MatchOutcome::Drawn,
    };
    let [a, b] = [&played.player_a_id, &played.player_b_id].map(ToString::to_string);
    Some(Played {
        round,
        a,
        b,
        outcome,
        forfeited,
    })
}

fn entrants(rows: &[StandingRow]) -> Vec<Entrant> {
    let entrant = |row: &StandingRow| Entrant {
        id: row.player_id.to_string(),
        name: row.display_name.escaped().to_string(),
    };
    rows.iter().map(entrant).collect()
}
