//! Gathers a report from stores. Reads them, and changes nothing.

use super::{Match, Named, Referee, Report, Round, Verified, faults, players, words};
use crate::statistics;
use crate::store::chronicle::Chronicle;
use crate::store::error::StoreError;
use crate::store::fallbacks;
use crate::store::history::History;
use crate::store::verify::{Verification, verify_files};
use matchday_core::league::fixture::{self, Decision};
use matchday_core::league::{DecidedBy, League, LeagueEvent};
use matchday_core::protocol::messages::{GameStatus, Phase};
use matchday_core::protocol::{PlayerId, Timestamp};
use matchday_stats::{LeagueStatistics, Settings};
use std::path::PathBuf;

/// What keeps a report from being written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: a report needs the manager's store - name it too, or in its place")]
    NoLeague(String),
}

impl Report {
    /// Everything that the stores tell about their league, and whether they can be believed.
    pub(crate) fn gather(files: &[PathBuf], settings: &Settings) -> Result<Self, Failed> {
        let chronicle = Chronicle::open(files)?;
        let named: Vec<String> = chronicle.files().map(|file| file.display().to_string()).collect();
        let Some(history) = &chronicle.league else { return Err(Failed::NoLeague(named.join(", "))) };
        let paths: Vec<PathBuf> = chronicle.files().map(ToOwned::to_owned).collect();
        let found = verify_files(&paths)?;
        let mut report = Self::of(history, found, settings);
        // A report may be passed on: where its stores lie on this machine is nobody's business.
        let short = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
        report.verification.files = paths.iter().filter_map(short).collect();
        let mut failed = fallbacks::of_players(&chronicle.players);
        for player in &mut report.players {
            player.fallbacks = failed.remove(&player.who.id);
        }
        report.faults = faults::gather(&chronicle, &report)?;
        Ok(report)
    }

    /// The same without what only recorded messages tell.
    pub(crate) fn of(history: &History, found: Verification, settings: &Settings) -> Self {
        let league = &history.league;
        let results = statistics::of_league(league);
        let decided = || league.matches.values().filter_map(|game| game.decision.as_ref());
        let technical = decided().filter(|decision| decision.status == GameStatus::TechnicalLoss).count();
        let when = |wanted: fn(&LeagueEvent) -> bool| {
            history.entries.iter().find(|entry| wanted(&entry.event)).map(|entry| entry.at)
        };
        Self {
            league_id: league.settings.league_id.to_string(),
            game: league.settings.game_type.to_string(),
            format: league.settings.competition.format.name(),
            phase: league.phase,
            unfinished: unfinished(league),
            champion: league.champion.as_ref().map(|champion| named(league, champion)),
            created_at: when(|event| matches!(event, LeagueEvent::LeagueCreated { .. })),
            started_at: when(|event| matches!(event, LeagueEvent::LeagueStarted { .. })),
            completed_at: when(|event| matches!(event, LeagueEvent::LeagueCompleted { .. })),
            as_of: history.entries.last().map(|entry| entry.at),
            matches: u32::try_from(league.matches.len()).unwrap_or(u32::MAX),
            matches_decided: league.matches_decided,
            technical_matches: u32::try_from(technical).unwrap_or(u32::MAX),
            deadline_ms: u64::try_from(league.settings.timing.choice.as_millis()).unwrap_or(u64::MAX),
            tie_breaks: league.settings.tie_breaks.iter().map(|rule| rule.name().to_owned()).collect(),
            players: players::gather(history),
            referees: referees(league),
            rounds: league.rounds.iter().map(|round| of_round(history, round)).collect(),
            faults: Vec::new(),
            statistics: LeagueStatistics::of(&results, settings),
            verification: verified(found),
        }
    }
}

pub(super) fn named(league: &League, player: &PlayerId) -> Named {
    let name = league.players.get(player).map(|player| player.meta.display_name.escaped().to_string());
    Named { id: player.to_string(), name: name.unwrap_or_default() }
}

fn unfinished(league: &League) -> Option<String> {
    let (decided, matches) = (league.matches_decided, league.matches.len());
    let rounds = league.rounds.len();
    let so_far =
        format!("{decided} of {matches} matches are decided, in round {} of {rounds}", league.current_round);
    match league.phase {
        Phase::Completed => None,
        Phase::Registration => Some(format!(
            "The league has not begun: {}.",
            words::many(league.players.len(), "player has registered", "players have registered")
        )),
        Phase::Running => Some(format!("The league is not over: {so_far}.")),
        Phase::Paused => Some(format!("The league is not over, and paused by its operator: {so_far}.")),
    }
}

fn referees(league: &League) -> Vec<Referee> {
    let listed = league.referee_listings().referees.into_iter().map(|referee| Referee {
        who: Named { id: referee.referee_id.to_string(), name: referee.display_name.escaped().to_string() },
        matches_decided: referee.matches_decided,
        attempts: referee.attempts,
        attempts_lost: referee.attempts_lost,
        deviations: referee.deviations,
    });
    listed.collect()
}

fn of_round(history: &History, round: &fixture::Round) -> Round {
    let league = &history.league;
    let matches = league.matches_of(round).map(|(id, game)| {
        let decision = game.decision.as_ref();
        let score = |decision: &Decision| {
            let of = |player| decision.result.score.get(player).copied().unwrap_or(0);
            (of(&game.a), of(&game.b))
        };
        Match {
            id: id.to_string(),
            a: named(league, &game.a),
            b: named(league, &game.b),
            state: match decision {
                Some(_) => "decided",
                None if game.in_play => "playing",
                None => "to come",
            },
            technical: decision.is_some_and(|decision| decision.status == GameStatus::TechnicalLoss),
            winner: decision.and_then(|decision| decision.result.winner.as_ref().map(ToString::to_string)),
            score: decision.map(score),
            reason: decision
                .and_then(|decision| decision.result.reason.clone())
                .unwrap_or_default()
                .escaped()
                .to_string(),
            draw: history.proof(id),
            decided_by: decision.map(|decision| match &decision.by {
                DecidedBy::Referee(referee) => referee.to_string(),
                DecidedBy::Manager => "manager".to_owned(),
            }),
            decided_at: decision.map(|decision| decision.at),
            attempts: game.attempts.len(),
        }
    });
    let byes = match &round.drawn {
        Some(drawn) => drawn.byes.as_slice(),
        None => round.bye.as_slice(),
    };
    Round {
        number: round.round_id.0,
        title: league.title(round.round_id).map(str::to_owned),
        state: state_of(round),
        starts_at: round.starts_at.map(Timestamp::whole_second),
        byes: byes.iter().map(|player| named(league, player)).collect(),
        matches: matches.collect(),
    }
}

fn state_of(round: &fixture::Round) -> &'static str {
    match (round.completed, round.starts_at) {
        (true, _) => "completed",
        (false, Some(_)) => "being played",
        (false, None) => "to come",
    }
}

fn verified(found: Verification) -> Verified {
    let sentence = match (&found.fault, found.not_checked.is_empty()) {
        (Some(fault), _) => format!("This does not fit: {fault}. Nothing after that can be relied on."),
        (None, true) => {
            "Everything fits: the chain of events, every draw, every score and the table.".to_owned()
        }
        (None, false) => "Everything that could be checked fits.".to_owned(),
    };
    Verified { passed: found.fault.is_none(), sentence, head: found.head.clone(), files: Vec::new(), found }
}
