//! Leagues for the tests of reports: a recorded one, in which a player stopped answering and one withdrew, and
//! variants of it.

use super::Report;
use crate::league_log::LeagueLog;
use crate::verify::verify;
use matchday_core::event_codec;
use matchday_core::league::schedule::{Pairings, round_robin};
use matchday_core::league::{DecidedBy, LeagueEvent, ResultProof};
use matchday_core::protocol::messages::{ByPlayer, GameStatus, MatchResult, PlayerMeta};
use matchday_core::protocol::{Attempt, DisplayName, MatchId, PlayerId, RoundId, Timestamp};
use matchday_stats::Resampling;
use matchday_store::{Stored, Stream, chain};

const RECORDED: &str = include_str!("sample.jsonl");

/// Fewer resamples, for speed.
pub(super) const SETTINGS: Resampling = Resampling {
    seed: 1,
    posterior_draws: 100,
    leagues_of_chance: 500,
};

fn stored(lines: impl Iterator<Item = String>) -> Vec<Stored> {
    let stream = Stream::league();
    let mut before = chain::genesis(&stream);
    let events = (1..).zip(lines).map(|(seq, line)| {
        let (at, _) = event_codec::decode::<LeagueEvent>(&line).unwrap();
        before = chain::link(&before, &stream, seq, &line);
        Stored {
            seq,
            at,
            line,
            hash: before,
        }
    });
    events.collect()
}

fn report(events: Vec<Stored>) -> Report {
    let history = LeagueLog::decode(&events).unwrap();
    let mut report = Report::of(&history, verify([(Stream::league(), events)]), &SETTINGS);
    report.verification.files = vec!["league.db".into()];
    report
}

pub(super) fn lines(count: usize) -> impl Iterator<Item = String> {
    RECORDED.lines().take(count).map(str::to_owned)
}

/// The recorded league: five players, ten matches, some with technical losses.
pub fn league() -> Report {
    report(stored(lines(usize::MAX)))
}

pub fn unfinished() -> Report {
    let half = RECORDED.lines().count() * 2 / 3;
    report(stored(lines(half)))
}

pub fn before_the_first_player() -> Report {
    report(stored(lines(1)))
}

/// With a result that was changed afterwards.
pub fn tampered() -> Report {
    let mut events = stored(lines(usize::MAX));
    let changed = events
        .iter_mut()
        .rfind(|stored| stored.line.contains("match_decided"))
        .unwrap();
    changed.line = changed.line.replace("\"score\":{", "\"score\":{ ");
    report(events)
}

/// A league of this size in which player A wins every match, with some technical losses.
pub fn large(players: usize) -> Report {
    let template: Vec<LeagueEvent> = lines(usize::MAX)
        .map(|line| event_codec::decode(&line).unwrap().1)
        .collect();
    let registered = template
        .iter()
        .find(|event| matches!(event, LeagueEvent::PlayerRegistered { .. }))
        .unwrap();
    let decided = template.iter().find_map(|event| match event {
        LeagueEvent::MatchDecided { result, .. } if result.winner.is_some() => Some(result.clone()),
        _ => None,
    });
    let decided = decided.unwrap();
    let ids: Vec<PlayerId> = (1..=players)
        .map(|number| PlayerId::new(format!("P{number:02}")))
        .collect();
    let mut events = vec![template[0].clone()];
    events.extend(ids.iter().map(|id| renamed(registered, id)));
    let rounds = round_robin(&ids);
    events.push(LeagueEvent::LeagueStarted {
        rounds: rounds.clone(),
        draw: None,
        proofs_required: false,
    });
    for (number, round) in (1..).zip(&rounds) {
        events.extend(results(number, round, &decided));
    }
    let written = (1_800_000_000_000_000..).zip(&events);
    report(stored(written.map(|(at, event)| {
        event_codec::encode(Timestamp::from_micros(at), event).unwrap()
    })))
}

fn renamed(registered: &LeagueEvent, id: &PlayerId) -> LeagueEvent {
    let mut event = registered.clone();
    if let LeagueEvent::PlayerRegistered {
        player_id, meta, ..
    } = &mut event
    {
        *player_id = id.clone();
        *meta = PlayerMeta {
            display_name: DisplayName::parse(&format!("Player {id}")).unwrap(),
            ..meta.clone()
        };
    }
    event
}

fn results(number: u32, round: &Pairings, decided: &MatchResult) -> Vec<LeagueEvent> {
    let each = (1..).zip(&round.pairs).map(|(place, (a, b))| {
        let mut result = decided.clone();
        result.winner = Some(a.clone());
        result.score = ByPlayer::pair((a.clone(), 3), (b.clone(), 0));
        result.details.answer_ms =
            Some(ByPlayer::pair((a.clone(), Some(number)), (b.clone(), None)));
        LeagueEvent::MatchDecided {
            match_id: MatchId::numbered(RoundId(number), place),
            attempt: Attempt::FIRST,
            status: if place == 1 {
                GameStatus::TechnicalLoss
            } else {
                GameStatus::Win
            },
            result: result.into(),
            by: DecidedBy::Manager,
            proof: ResultProof::Unprovable,
        }
    });
    each.collect()
}
