//! What came of a practice, as data: from the stored league and what was seen at the gate. Pure.

use super::gate::{Call, Notes};
use super::programme::{Bout, Kind, Programme};
use super::relay::{is_choice, is_invitation};
use crate::check::player::times::quantile;
use matchday_core::league::League;
use matchday_core::league::fixture::Match;
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::MatchId;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::timing::Timing;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) guest: Guest,
    /// Whether it had no technical loss, and everything was played.
    pub(crate) passed: bool,
    pub(crate) matches_played: usize,
    pub(crate) matches: usize,
    pub(crate) total: Tally,
    pub(crate) partners: Vec<Row>,
    pub(crate) technical_losses: Vec<Technical>,
    pub(crate) answer_times: Vec<Times>,
    pub(crate) deviations: Vec<Counted>,
    pub(crate) errors: Vec<Told>,
    pub(crate) oddities: Vec<String>,
    pub(crate) verdict: String,
    pub(crate) seconds: f64,
    pub(crate) store: PathBuf,
}

#[derive(Debug, Serialize)]
pub(crate) struct Guest {
    pub(crate) player_id: String,
    pub(crate) name: String,
    pub(crate) url: String,
}

/// How matches ended for the guest.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    pub(crate) won: u32,
    pub(crate) drawn: u32,
    pub(crate) lost: u32,
    /// Of those lost, how many by its own fault.
    pub(crate) technical: u32,
}

/// The record against one partner.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) partner: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) about: &'static str,
    #[serde(flatten)]
    pub(crate) tally: Tally,
    pub(crate) matches: Vec<String>,
}

/// A match that the guest did not lose by playing.
#[derive(Debug, Serialize)]
pub(crate) struct Technical {
    pub(crate) match_id: String,
    pub(crate) partner: &'static str,
    pub(crate) reason: String,
    pub(crate) blame: &'static str,
    pub(crate) command: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Times {
    pub(crate) question: &'static str,
    pub(crate) deadline_ms: f64,
    pub(crate) answers: usize,
    /// Asked, and never answered.
    pub(crate) unanswered: usize,
    /// Answered, but after the deadline.
    pub(crate) late: usize,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Counted {
    pub(crate) what: String,
    pub(crate) times: u32,
}

/// An error that the guest was told of, and what it did.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    pub(crate) code: String,
    pub(crate) message: String,
    /// Where it was told, or what it had asked.
    pub(crate) at: String,
    pub(crate) reaction: String,
    pub(crate) times: u32,
}

/// What a report is made of.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) league: &'a League,
    pub(crate) programme: &'a Programme,
    pub(crate) notes: &'a Notes,
    /// What the manager refused the guest: of what, the code, the text.
    pub(crate) refusals: &'a [(String, String, String)],
    pub(crate) url: String,
    pub(crate) timing: Timing,
    pub(crate) took: Duration,
    pub(crate) store: PathBuf,
}

impl Report {
    pub(crate) fn of(seen: &Seen<'_>) -> Self {
        let guest = Programme::guest();
        let member = seen.league.players.get(&guest);
        let name = member
            .map_or_else(|| "Your agent".to_owned(), |known| known.meta.display_name.escaped().to_string());
        let total = tally(seen.programme.matches().filter_map(|(id, _)| ended(seen.league, &id)));
        let mut report = Self {
            guest: Guest { player_id: guest.to_string(), name, url: seen.url.clone() },
            passed: false,
            matches_played: seen
                .programme
                .matches()
                .filter(|(id, _)| ended(seen.league, id).is_some())
                .count(),
            matches: seen.programme.bouts.len(),
            total,
            partners: rows(seen),
            technical_losses: seen
                .programme
                .matches()
                .filter_map(|(id, bout)| technical(seen, &id, bout))
                .collect(),
            answer_times: vec![
                times(&seen.notes.calls, "invitation", is_invitation, seen.timing.join),
                times(&seen.notes.calls, "choice", is_choice, seen.timing.choice),
                times(&seen.notes.calls, "GAME_OVER", |kind| kind == "GAME_OVER", seen.timing.game_over),
            ],
            deviations: deviations(seen),
            errors: errors(seen),
            oddities: seen.notes.oddities.clone(),
            verdict: String::new(),
            seconds: seen.took.as_secs_f64(),
            store: seen.store.clone(),
        };
        report.passed = report.technical_losses.is_empty() && report.matches_played == report.matches;
        report.verdict = report.judge();
        report
    }

    fn judge(&self) -> String {
        let (name, played) = (&self.guest.name, self.matches_played);
        let mut said = Vec::new();
        said.push(match self.technical_losses.len() {
            0 if played == 0 => format!("{name} has played no match."),
            0 => format!("{name} played {played} matches and lost none by its own fault."),
            lost if lost == played => {
                format!("{name} lost all {played} matches by its own fault: it plays in no league.")
            }
            lost => format!("{name} lost {lost} of {played} matches by its own fault."),
        });
        let most_told = self.errors.iter().max_by_key(|told| told.times);
        if let Some(told) = most_told.filter(|_| !self.technical_losses.is_empty()) {
            said.push(format!("Most often it was told {}: {}", told.code, full_stop(&told.message)));
        }
        if played < self.matches {
            said.push(format!("{} matches were not played.", self.matches - played));
        }
        match self.deviations.len() {
            0 => {}
            1 => said.push("It departs from the rules in one way, for which a strict league would refuse its answers.".to_owned()),
            many => said.push(format!(
                "It departs from the rules in {many} ways, for which a strict league would refuse its answers."
            )),
        }
        if !self.oddities.is_empty() {
            said.push("Trouble showed what needs a look.".to_owned());
        }
        said.join(" ")
    }
}

fn full_stop(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

fn ended<'a>(league: &'a League, id: &MatchId) -> Option<&'a Match> {
    league.matches.get(id).filter(|game| game.decision.is_some())
}

fn tally<'a>(games: impl Iterator<Item = &'a Match>) -> Tally {
    games.fold(Tally::default(), |mut tally, game| {
        let Some(decision) = &game.decision else { return tally };
        let guest_is_a = game.a == Programme::guest();
        match (decision.verdict(game), guest_is_a) {
            (Verdict::WonByA, true) | (Verdict::WonByB, false) => tally.won += 1,
            (Verdict::Drawn, _) => tally.drawn += 1,
            _ => {
                tally.lost += 1;
                tally.technical += u32::from(decision.status == GameStatus::TechnicalLoss);
            }
        }
        tally
    })
}

/// One row for each partner and each trouble, in the order in which they first came.
fn rows(seen: &Seen<'_>) -> Vec<Row> {
    let mut groups: Vec<(&Bout, Vec<MatchId>)> = Vec::new();
    for (id, bout) in seen.programme.matches() {
        match groups.iter_mut().find(|(known, _)| known.kind == bout.kind && known.partner == bout.partner) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((bout, vec![id])),
        }
    }
    let row = |(bout, ids): (&Bout, Vec<MatchId>)| Row {
        partner: bout.name,
        kind: bout.kind.name(),
        about: bout.about,
        tally: tally(ids.iter().filter_map(|id| ended(seen.league, id))),
        matches: ids.iter().map(ToString::to_string).collect(),
    };
    groups.into_iter().map(row).collect()
}

fn technical(seen: &Seen<'_>, id: &MatchId, bout: &Bout) -> Option<Technical> {
    let game = ended(seen.league, id)?;
    let decision = game.decision.as_ref()?;
    let lost = decision.status == GameStatus::TechnicalLoss
        && decision.result.winner.as_ref() != Some(&Programme::guest());
    if !lost {
        return None;
    }
    let troubled = matches!(bout.kind, Kind::Trouble(_));
    Some(Technical {
        match_id: id.to_string(),
        partner: bout.name,
        reason: decision.result.reason.clone().unwrap_or_default().escaped().to_string(),
        blame: match decision.result.winner {
            None => "your agent, and its partner too",
            Some(_) if troubled => "your agent, under trouble",
            Some(_) => "your agent",
        },
        command: format!("matchday replay {} --match {id}", seen.store.display()),
    })
}

fn times(calls: &[Call], question: &'static str, is: fn(&str) -> bool, deadline: Duration) -> Times {
    let calls: Vec<&Call> = calls.iter().filter(|call| is(&call.message_type)).collect();
    let mut took: Vec<Duration> = calls.iter().filter_map(|call| call.took).collect();
    took.sort_unstable();
    Times {
        question,
        deadline_ms: millis(&deadline),
        answers: took.len(),
        unanswered: calls.len() - took.len(),
        late: took.iter().filter(|took| **took > deadline).count(),
        p50_ms: quantile(&took, 50).as_ref().map(millis),
        p99_ms: quantile(&took, 99).as_ref().map(millis),
    }
}

fn millis(span: &Duration) -> f64 {
    (span.as_secs_f64() * 10_000.0).round() / 10.0
}

/// What the manager noted, and what referees did.
fn deviations(seen: &Seen<'_>) -> Vec<Counted> {
    let guest = Programme::guest();
    let mut counts: BTreeMap<String, u32> =
        seen.league.players.get(&guest).map(|member| member.deviations.clone()).unwrap_or_default();
    for game in seen.league.matches.values() {
        let noted = game.decision.as_ref().and_then(|decision| decision.result.details.deviations.as_ref());
        for deviation in noted.and_then(|noted| noted.get(&guest)).into_iter().flatten() {
            *counts.entry(deviation.to_string()).or_default() += 1;
        }
    }
    counts.into_iter().map(|(what, times)| Counted { what, times }).collect()
}

fn errors(seen: &Seen<'_>) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let mut tell = |code: &str, message: &str, at: String, reaction: &str| {
        let same =
            |known: &&mut Told| known.code == code && known.message == message && known.reaction == reaction;
        match told.iter_mut().find(same) {
            Some(known) => known.times += 1,
            None => told.push(Told {
                code: code.to_owned(),
                message: message.to_owned(),
                at,
                reaction: reaction.to_owned(),
                times: 1,
            }),
        }
    };
    for (asked, code, text) in seen.refusals {
        tell(code, text, format!("its {asked}"), "");
    }
    for call in &seen.notes.calls {
        if let Some((code, text)) = &call.error {
            let at = call.match_id.clone().unwrap_or_else(|| call.message_type.clone());
            tell(code, text, at, &call.reaction);
        }
    }
    told
}
