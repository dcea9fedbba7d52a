//! Builds a report from stores, read-only.

use super::{Match, PlayerName, Referee, Report, Round, VerificationSummary, faults, players, sentences};
use crate::league_log::LeagueLog;
use crate::log_set::LogSet;
use crate::sides;
use crate::statistics;
use crate::verify::{Evidence, Verdict, Verification, draw_proof, verify_league};
use crate::{fallbacks, llm_usage};
use matchday_core::game::replay::views;
use matchday_core::game::view::{Grid, View};
use matchday_core::league::fixture::{self, Decision};
use matchday_core::league::{DecidedBy, League, LeagueEvent};
use matchday_core::protocol::messages::{GameStatus, Phase};
use matchday_core::protocol::{LeagueId, PlayerId, Timestamp};
use matchday_stats::{LeagueStatistics, Resampling};
use matchday_store::error::StoreError;
use matchday_store::open::short_name;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}: a report needs the manager's store - name it too, or in its place")]
    NoLeague(String),
}

impl Report {
    /// Reads and verifies the stores.
    pub fn gather(
        files: &[PathBuf],
        league_id: Option<&LeagueId>,
        settings: &Resampling,
    ) -> Result<Self, ReportError> {
        let logs = LogSet::open_league(files, league_id)?;
        let named: Vec<String> = logs.files().map(|file| file.display().to_string()).collect();
        let Some(history) = &logs.league else { return Err(ReportError::NoLeague(named.join(", "))) };
        let paths: Vec<PathBuf> = logs.files().map(ToOwned::to_owned).collect();
        let found = verify_league(&paths, league_id, &Evidence::default())?;
        let mut report = Self::of(history, found, settings);
        // Only file names: a report may be published, and should not tell paths of this machine.
        report.verification.files = paths.iter().map(|file| short_name(file)).collect();
        let mut failed = fallbacks::of_players(&logs.players);
        let mut used = llm_usage::of_players(&logs.players);
        for player in &mut report.players {
            player.fallbacks = failed.remove(&player.who.id);
            player.llm_usage = used.remove(&player.who.id);
        }
        report.faults = faults::gather(&logs, &report)?;
        Ok(report)
    }

    /// The report without what needs recorded exchanges.
    pub fn of(history: &LeagueLog, found: Verification, settings: &Resampling) -> Self {
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
            champion: league.champion.as_ref().map(|champion| player_name(league, champion)),
            joint_champions: league.joint_champions().iter().map(|id| player_name(league, id)).collect(),
            created_at: when(|event| matches!(event, LeagueEvent::LeagueCreated { .. })),
            started_at: when(|event| matches!(event, LeagueEvent::LeagueStarted { .. })),
            completed_at: when(|event| matches!(event, LeagueEvent::LeagueCompleted { .. })),
            as_of: history.entries.last().map(|entry| entry.at),
            matches: u32::try_from(league.matches.len()).unwrap_or(u32::MAX),
            matches_decided: league.matches_decided,
            technical_matches: u32::try_from(technical).unwrap_or(u32::MAX),
            deadline_ms: u64::try_from(league.settings.timing.choice.as_millis()).unwrap_or(u64::MAX),
            sides: sides::note(league),
            tie_breaks: league.settings.tie_breaks.iter().map(|rule| rule.name().to_owned()).collect(),
            players: players::gather(history),
            referees: referees(league),
            rounds: league.rounds.iter().map(|round| round_data(history, round)).collect(),
            faults: Vec::new(),
            statistics: LeagueStatistics::of(&results, settings),
            verification: verified(found),
        }
    }
}

pub(super) fn player_name(league: &League, player: &PlayerId) -> PlayerName {
    let name = league.players.get(player).map(|player| player.meta.display_name.escaped().to_string());
    PlayerName { id: player.to_string(), name: name.unwrap_or_default() }
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
            sentences::count_of(league.players.len(), "player has registered", "players have registered")
        )),
        Phase::Running => Some(format!("The league is not over: {so_far}.")),
        Phase::Paused => Some(format!("The league is not over, and paused by its operator: {so_far}.")),
    }
}

fn referees(league: &League) -> Vec<Referee> {
    let listed = league.referee_listings().referees.into_iter().map(|referee| Referee {
        who: PlayerName {
            id: referee.referee_id.to_string(),
            name: referee.display_name.escaped().to_string(),
        },
        matches_decided: referee.matches_decided,
        attempts: referee.attempts,
        attempts_lost: referee.attempts_lost,
        deviations: referee.deviations,
    });
    listed.collect()
}

fn round_data(history: &LeagueLog, round: &fixture::Round) -> Round {
    let league = &history.league;
    let matches = league.matches_of(round).map(|(id, game)| {
        let decision = game.decision.as_ref();
        let score = |decision: &Decision| {
            let of = |player| decision.result.score.get(player).copied().unwrap_or(0);
            (of(&game.a), of(&game.b))
        };
        Match {
            id: id.to_string(),
            a: player_name(league, &game.a),
            b: player_name(league, &game.b),
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
            draw: draw_proof(&history.league, id),
            decided_by: decision.map(|decision| match &decision.by {
                DecidedBy::Referee(referee) => referee.to_string(),
                DecidedBy::Manager => "manager".to_owned(),
            }),
            decided_at: decision.map(|decision| decision.at),
            attempts: game.attempts.len(),
            position: decision.and_then(|decision| last_board(league, game, decision)),
        }
    });
    let byes = match &round.drawn {
        Some(drawn) => drawn.byes.as_slice(),
        None => round.bye.as_slice(),
    };
    Round {
        number: round.round_id.0,
        title: league.title(round.round_id).map(str::to_owned),
        state: round_state(round),
        starts_at: round.starts_at.map(Timestamp::whole_second),
        byes: byes.iter().map(|player| player_name(league, player)).collect(),
        matches: matches.collect(),
    }
}

/// The last position of a game with a board.
fn last_board(league: &League, game: &fixture::Match, decision: &Decision) -> Option<Grid> {
    let details = &decision.result.details;
    match views(&league.settings.game_type, [&game.a, &game.b], details).pop()? {
        View::Grid(grid) => Some(grid),
        View::Strip(_) => None,
    }
}

fn round_state(round: &fixture::Round) -> &'static str {
    match (round.completed, round.starts_at) {
        (true, _) => "completed",
        (false, Some(_)) => "being played",
        (false, None) => "to come",
    }
}

fn verified(found: Verification) -> VerificationSummary {
    let sentence = match (&found.fault, found.not_checked.is_empty()) {
        (None, _) if found.verdict() == Verdict::NotAllProven => {
            "Everything that could be checked fits; not everything is proven.".to_owned()
        }
        (Some(fault), _) => format!("This does not fit: {fault}. Nothing after that can be relied on."),
        (None, true) => {
            "Everything fits: the chain of events, every draw, every score and the table.".to_owned()
        }
        (None, false) => "Everything that could be checked fits.".to_owned(),
    };
    VerificationSummary {
        passed: found.fault.is_none(),
        sentence,
        head: found.head.clone(),
        files: Vec::new(),
        found,
    }
}
