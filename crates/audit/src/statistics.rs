//! The statistics of a league, from its state or from a manager's answers. Pure.

use matchday_core::league::standings::Verdict;
use matchday_core::league::{Draw, Format, League};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::query_data::{
    ScheduleData, ScheduledMatch, ScheduledRound, StandingsData,
};
use matchday_core::protocol::messages::{GameStatus, Phase, StandingRow};
use matchday_stats::luck::PlayLeague;
use matchday_stats::results;
use matchday_stats::{
    ChanceRounds, Entrant, LeagueStatistics, MatchOutcome, Played, Resampling, Results,
};
use std::collections::BTreeMap;

/// The pairing of a swiss round takes time with the third power of the players. A larger league is compared with its own
/// pairings, among which points are a little further apart: that errs towards luck.
const SWISS_DRAWN_MAX: usize = 64;

/// All statistics of a league that is at hand.
pub fn statistics(league: &League, settings: &Resampling) -> LeagueStatistics {
    let results = of_league(league);
    let is_over = league.phase == Phase::Completed;
    let rounds = chance_rounds(league.draw.as_deref(), &results, is_over);
    LeagueStatistics::of(&results, &rounds, settings)
}

/// All statistics, as far as a manager's answers tell them.
pub fn statistics_of_answers(
    standings: &StandingsData,
    schedule: &ScheduleData,
    settings: &Resampling,
) -> LeagueStatistics {
    let results = of_answers(standings, schedule);
    // Rounds that follow from results have names.
    let has_name = |round: &ScheduledRound| round.title.is_some();
    let rounds = if schedule.rounds.iter().any(has_name) && !results.ladder {
        ChanceRounds::Unknown
    } else {
        ChanceRounds::Fixed
    };
    LeagueStatistics::of(&results, &rounds, settings)
}

/// Leagues of chance are drawn as this one was. A ladder is compared with its own pairings, of which each player has as many
/// whatever comes of them.
pub fn chance_rounds<'a>(
    draw: Option<&'a Draw>,
    results: &Results,
    is_over: bool,
) -> ChanceRounds<'a> {
    let drawn = draw.filter(|draw| match draw.competition().format {
        Format::RoundRobin | Format::DoubleRoundRobin | Format::Ladder => false,
        Format::Swiss => draw.players().len() <= SWISS_DRAWN_MAX,
        Format::Knockout | Format::GroupsKnockout => true,
    });
    let Some(draw) = drawn else {
        return ChanceRounds::Fixed;
    };
    let ids = results
        .players
        .iter()
        .map(|player| PlayerId::new(player.id.as_str()));
    let places: BTreeMap<PlayerId, usize> = ids.zip(0..).collect();
    let place = move |id: &PlayerId| places.get(id).copied().unwrap_or(usize::MAX);
    let play: Box<PlayLeague<'a>> = Box::new(move |decide| {
        draw.play_out(|a, b| {
            Some(match decide(place(a), place(b))? {
                results::Verdict::A => Verdict::WonByA,
                results::Verdict::B => Verdict::WonByB,
                results::Verdict::Draw => Verdict::Drawn,
            })
        });
    });
    ChanceRounds::Drawn {
        play,
        // Matches that were forfeited are left out, so that there are fewer than a league of chance has.
        is_over: is_over && !results.matches.iter().any(|played| played.forfeited),
    }
}

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
        rank: row.shown_rank(),
        id: row.player_id.to_string(),
        name: row.display_name.escaped().to_string(),
    };
    rows.iter().map(entrant).collect()
}
