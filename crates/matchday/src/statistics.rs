//! The results of a league in the form that statistics take, from the league itself or from a manager's answers. Pure.

use matchday_core::league::League;
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::query::{
    PlayerStatsData, ScheduleData, ScheduledMatch, StandingsData,
};
use matchday_core::protocol::messages::{GameStatus, StandingRow};
use matchday_stats::{Calls, Entrant, Outcome, Played, Results};
use std::collections::BTreeMap;

/// The one game in which players call a parity.
const GAME_OF_CALLS: &str = "even_odd";

/// The results of a league that is at hand.
pub fn of_league(league: &League) -> Results {
    let choices = league.choices();
    let game = league.settings.game_type.to_string();
    let calls = |player: &PlayerId| calls(&game, choices.get(player));
    let decided = league.rounds.iter().flat_map(|round| league.matches_of(round));
    let matches = decided.filter_map(|(_, played)| {
        let decision = played.decision.as_ref()?;
        Some(Played {
            round: played.round_id.0,
            a: played.a.to_string(),
            b: played.b.to_string(),
            outcome: match decision.verdict(played) {
                Verdict::WonByA => Outcome::WonByA,
                Verdict::WonByB => Outcome::WonByB,
                Verdict::Drawn => Outcome::Drawn,
                Verdict::LostByBoth => Outcome::LostByBoth,
            },
            forfeited: decision.status == GameStatus::TechnicalLoss,
        })
    });
    Results { players: entrants(&league.rows(), calls), matches: matches.collect(), game }
}

/// The results of a league as its manager tells them.
pub(crate) fn of_answers(
    standings: &StandingsData,
    schedule: &ScheduleData,
    players: &[PlayerStatsData],
) -> Results {
    let rounds = || schedule.rounds.iter();
    let games = rounds().flat_map(|round| round.matches.iter().map(move |played| (round.round_id.0, played)));
    let game = games.clone().next().map(|(_, played)| played.game_type.to_string()).unwrap_or_default();
    let stats = |player: &PlayerId| players.iter().find(|stats| stats.player_id == *player);
    let calls = |player: &PlayerId| calls(&game, stats(player).map(|stats| &stats.stats.choices));
    let matches = games.filter_map(|(round, played)| decided(round, played)).collect();
    Results { players: entrants(&standings.standings, calls), matches, game }
}

fn decided(round: u32, played: &ScheduledMatch) -> Option<Played> {
    let result = played.result.as_ref()?;
    let forfeited = result.status == GameStatus::TechnicalLoss;
    let outcome = match &result.winner {
        Some(winner) if *winner == played.player_a_id => Outcome::WonByA,
        Some(_) => Outcome::WonByB,
        None if forfeited => Outcome::LostByBoth,
        None => Outcome::Drawn,
    };
    let [a, b] = [&played.player_a_id, &played.player_b_id].map(ToString::to_string);
    Some(Played { round, a, b, outcome, forfeited })
}

fn entrants(rows: &[StandingRow], calls: impl Fn(&PlayerId) -> Option<Calls>) -> Vec<Entrant> {
    let entrant = |row: &StandingRow| Entrant {
        id: row.player_id.to_string(),
        name: row.display_name.escaped().to_string(),
        calls: calls(&row.player_id),
    };
    rows.iter().map(entrant).collect()
}

fn calls(game: &str, choices: Option<&BTreeMap<String, u32>>) -> Option<Calls> {
    let count = |parity: &str| choices.and_then(|choices| choices.get(parity)).copied().unwrap_or(0);
    (game == GAME_OF_CALLS).then(|| Calls { even: count("even"), odd: count("odd") })
}
