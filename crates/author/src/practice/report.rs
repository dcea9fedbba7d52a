//! The results of a practice, from the stored league and the proxies' records. Pure.

use super::plan::{Kind, PracticeMatch, PracticePlan};
use super::proxy::player::{Call, PlayerProxyLog};
use super::proxy::{is_choice, is_invitation};
use matchday_core::league::League;
use matchday_core::league::fixture::Match;
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::MatchId;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::timing::Timing;
use matchday_stats::quantile::quantile;
use matchday_store::StoreUrl;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(rename = "guest")]
    pub agent: AgentInfo,
    /// Every match was played, and none lost by a technical loss.
    pub passed: bool,
    pub matches_played: usize,
    pub matches: usize,
    pub total: Tally,
    pub partners: Vec<Row>,
    pub technical_losses: Vec<TechnicalLoss>,
    pub answer_times: Vec<ResponseTimes>,
    pub deviations: Vec<DeviationCount>,
    pub errors: Vec<ReportedError>,
    pub oddities: Vec<String>,
    pub verdict: String,
    pub seconds: f64,
    pub store: StoreUrl,
}

#[derive(Debug, Serialize)]
pub struct AgentInfo {
    pub player_id: String,
    pub name: String,
    pub url: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub won: u32,
    pub drawn: u32,
    pub lost: u32,
    /// Those of the losses that were technical.
    pub technical: u32,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub partner: &'static str,
    pub kind: &'static str,
    pub about: &'static str,
    #[serde(flatten)]
    pub tally: Tally,
    pub matches: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct TechnicalLoss {
    pub match_id: String,
    pub partner: &'static str,
    pub reason: String,
    pub blame: &'static str,
    pub command: String,
}

#[derive(Debug, Serialize)]
pub struct ResponseTimes {
    pub question: &'static str,
    pub deadline_ms: f64,
    pub answers: usize,
    pub unanswered: usize,
    pub late: usize,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct DeviationCount {
    pub what: String,
    pub times: u32,
}

/// An error that was reported to the agent, and its answer.
#[derive(Debug, Serialize)]
pub struct ReportedError {
    pub code: String,
    pub message: String,
    /// The match, or the request that was refused.
    pub at: String,
    pub reaction: String,
    pub times: u32,
}

#[derive(Debug)]
pub struct ReportInput<'a> {
    pub league: &'a League,
    pub plan: &'a PracticePlan,
    pub log: &'a PlayerProxyLog,
    /// Refusals by the manager: request type, code, text.
    pub refusals: &'a [(String, String, String)],
    pub url: String,
    pub timing: Timing,
    pub took: Duration,
    pub store: StoreUrl,
}

impl Report {
    pub fn of(input: &ReportInput<'_>) -> Self {
        let agent = PracticePlan::agent_id();
        let member = input.league.players.get(&agent);
        let name = member.map_or_else(
            || "Your agent".to_owned(),
            |known| known.meta.display_name.escaped().to_string(),
        );
        let total = tally(
            input
                .plan
                .matches()
                .filter_map(|(id, _)| ended(input.league, &id)),
        );
        let mut report = Self {
            agent: AgentInfo {
                player_id: agent.to_string(),
                name,
                url: input.url.clone(),
            },
            passed: false,
            matches_played: input
                .plan
                .matches()
                .filter(|(id, _)| ended(input.league, id).is_some())
                .count(),
            matches: input.plan.matches.len(),
            total,
            partners: rows(input),
            technical_losses: input
                .plan
                .matches()
                .filter_map(|(id, planned)| technical(input, &id, planned))
                .collect(),
            answer_times: vec![
                times(
                    &input.log.calls,
                    "invitation",
                    is_invitation,
                    input.timing.join,
                ),
                times(&input.log.calls, "choice", is_choice, input.timing.choice),
                times(
                    &input.log.calls,
                    "GAME_OVER",
                    |kind| kind == "GAME_OVER",
                    input.timing.game_over,
                ),
            ],
            deviations: deviations(input),
            errors: errors(input),
            oddities: input.log.oddities.clone(),
            verdict: String::new(),
            seconds: input.took.as_secs_f64(),
            store: input.store.clone(),
        };
        report.passed =
            report.technical_losses.is_empty() && report.matches_played == report.matches;
        report.verdict = report.judge();
        report
    }

    fn judge(&self) -> String {
        let name = &self.agent.name;
        let played = self.matches_played;
        let mut sentences = Vec::new();
        sentences.push(match self.technical_losses.len() {
            0 if played == 0 => format!("{name} has played no match."),
            0 => format!("{name} played {played} matches and lost none by its own fault."),
            lost if lost == played => {
                format!("{name} lost all {played} matches by its own fault: it plays in no league.")
            }
            lost => format!("{name} lost {lost} of {played} matches by its own fault."),
        });
        let most_frequent = self.errors.iter().max_by_key(|error| error.times);
        if let Some(error) = most_frequent.filter(|_| !self.technical_losses.is_empty()) {
            sentences.push(format!(
                "Most often it received {}: {}",
                error.code,
                full_stop(&error.message)
            ));
        }
        if played < self.matches {
            sentences.push(format!(
                "{} matches were not played.",
                self.matches - played
            ));
        }
        match self.deviations.len() {
            0 => {}
            1 => sentences.push("It has one deviation from the protocol: a strict league would refuse its answers.".to_owned()),
            many => sentences.push(format!(
                "It has {many} deviations from the protocol: a strict league would refuse its answers."
            )),
        }
        if !self.oddities.is_empty() {
            sentences.push("See the warnings above.".to_owned());
        }
        sentences.join(" ")
    }
}

fn full_stop(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

fn ended<'a>(league: &'a League, id: &MatchId) -> Option<&'a Match> {
    league
        .matches
        .get(id)
        .filter(|game| game.decision.is_some())
}

fn tally<'a>(games: impl Iterator<Item = &'a Match>) -> Tally {
    games.fold(Tally::default(), |mut tally, game| {
        let Some(decision) = &game.decision else {
            return tally;
        };
        let agent_is_a = game.a == PracticePlan::agent_id();
        match (decision.verdict(game), agent_is_a) {
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

/// One row for each partner and each injected fault, in order.
fn rows(input: &ReportInput<'_>) -> Vec<Row> {
    let mut groups: Vec<(&PracticeMatch, Vec<MatchId>)> = Vec::new();
    for (id, planned) in input.plan.matches() {
        match groups
            .iter_mut()
            .find(|(known, _)| known.kind == planned.kind && known.partner == planned.partner)
        {
            Some((_, ids)) => ids.push(id),
            None => groups.push((planned, vec![id])),
        }
    }
    let row = |(planned, ids): (&PracticeMatch, Vec<MatchId>)| Row {
        partner: planned.name,
        kind: planned.kind.name(),
        about: planned.about,
        tally: tally(ids.iter().filter_map(|id| ended(input.league, id))),
        matches: ids.iter().map(ToString::to_string).collect(),
    };
    groups.into_iter().map(row).collect()
}

fn technical(
    input: &ReportInput<'_>,
    id: &MatchId,
    planned: &PracticeMatch,
) -> Option<TechnicalLoss> {
    let game = ended(input.league, id)?;
    let decision = game.decision.as_ref()?;
    let lost = decision.status == GameStatus::TechnicalLoss
        && decision.result.winner.as_ref() != Some(&PracticePlan::agent_id());
    if !lost {
        return None;
    }
    let troubled = matches!(planned.kind, Kind::InjectedFault(_));
    Some(TechnicalLoss {
        match_id: id.to_string(),
        partner: planned.name,
        reason: decision
            .result
            .reason
            .clone()
            .unwrap_or_default()
            .escaped()
            .to_string(),
        blame: match decision.result.winner {
            None => "your agent, and its partner too",
            Some(_) if troubled => "your agent, with faults",
            Some(_) => "your agent",
        },
        command: format!("matchday replay {} --match {id}", input.store),
    })
}

fn times(
    calls: &[Call],
    question: &'static str,
    is: fn(&str) -> bool,
    deadline: Duration,
) -> ResponseTimes {
    let calls: Vec<&Call> = calls.iter().filter(|call| is(&call.message_type)).collect();
    let took: Vec<Duration> = calls.iter().filter_map(|call| call.took).collect();
    let mut took_ms: Vec<f64> = took
        .iter()
        .map(|took| took.as_secs_f64() * 1000.0)
        .collect();
    took_ms.sort_unstable_by(f64::total_cmp);
    ResponseTimes {
        question,
        deadline_ms: millis(&deadline),
        answers: took.len(),
        unanswered: calls.len() - took.len(),
        late: took.iter().filter(|took| **took > deadline).count(),
        p50_ms: quantile(&took_ms, 0.5).map(tenth),
        p99_ms: quantile(&took_ms, 0.99).map(tenth),
    }
}

fn millis(span: &Duration) -> f64 {
    tenth(span.as_secs_f64() * 1000.0)
}

fn tenth(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}

/// Deviations counted by the manager and by the referees.
fn deviations(input: &ReportInput<'_>) -> Vec<DeviationCount> {
    let agent = PracticePlan::agent_id();
    let mut counts: BTreeMap<String, u32> = input
        .league
        .players
        .get(&agent)
        .map(|member| member.deviations.clone())
        .unwrap_or_default();
    for game in input.league.matches.values() {
        let noted = game
            .decision
            .as_ref()
            .and_then(|decision| decision.result.details.deviations.as_ref());
        for deviation in noted
            .and_then(|noted| noted.get(&agent))
            .into_iter()
            .flatten()
        {
            *counts.entry(deviation.to_string()).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .map(|(what, times)| DeviationCount { what, times })
        .collect()
}

fn errors(input: &ReportInput<'_>) -> Vec<ReportedError> {
    let mut errors: Vec<ReportedError> = Vec::new();
    let mut add = |code: &str, message: &str, at: String, reaction: &str| {
        let same = |known: &&mut ReportedError| {
            known.code == code && known.message == message && known.reaction == reaction
        };
        match errors.iter_mut().find(same) {
            Some(known) => known.times += 1,
            None => errors.push(ReportedError {
                code: code.to_owned(),
                message: message.to_owned(),
                at,
                reaction: reaction.to_owned(),
                times: 1,
            }),
        }
    };
    for (request, code, text) in input.refusals {
        add(code, text, format!("its {request}"), "");
    }
    for call in &input.log.calls {
        if let Some((code, text)) = &call.error {
            let at = call
                .match_id
                .clone()
                .unwrap_or_else(|| call.message_type.clone());
            add(code, text, at, &call.reaction);
        }
    }
    errors
}
