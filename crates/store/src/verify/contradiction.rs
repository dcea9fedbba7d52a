//! Results against the players' own stores: what a referee says that a player chose, gave, was promised or left unanswered,
//! and what that player wrote down at the time. Pure, but for [`AllegedSilence::is_disproved`], which reads stored messages.

use super::agents::ManagerRecord;
use super::signatures::choices_of;
use super::{Fault, Source};
use crate::agent_log::AgentLog;
use crate::describe::summarize;
use crate::error::StoreError;
use crate::exchange::{Direction, Exchange};
use crate::handle::Store;
use crate::stream::Stream;
use matchday_core::league::DecidedBy;
use matchday_core::player::PlayerEvent;
use matchday_core::player::event::Choice;
use matchday_core::protocol::messages::{Cause, MatchResult};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, ConversationId, LeagueId, MatchId, PlayerId, Timestamp};
use matchday_core::referee::RefereeEvent;
use serde_json::Value;
use smol_str::SmolStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A result of a referee, by its own log or by the manager's.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) league_id: LeagueId,
    pub(super) referee: String,
    pub(super) match_id: MatchId,
    pub(super) attempt: Attempt,
    pub(super) result: Arc<MatchResult>,
    /// Where it stands.
    file: PathBuf,
    stream: Stream,
    seq: u64,
    at: Timestamp,
    what: &'static str,
}

impl Claim {
    fn fault(&self, why: String) -> Fault {
        let Self { file, stream, seq, at, what, .. } = self;
        let what = SmolStr::new_static(what);
        Fault { file: file.clone(), stream: stream.clone(), seq: *seq, at: *at, what, why }
    }

    /// `REF01 says of attempt 1 at R1M1`.
    fn says(&self) -> String {
        format!("{} says of attempt {} at {}", self.referee, self.attempt, self.match_id)
    }
}

/// What the manager has recorded of referees.
pub(super) fn recorded(manager: ManagerRecord<'_>) -> Vec<Claim> {
    let by_referee = manager.recorded.iter().filter_map(|recorded| match &recorded.by {
        DecidedBy::Referee(referee) => Some((recorded, referee.to_string())),
        DecidedBy::Manager => None,
    });
    by_referee
        .map(|(recorded, referee)| Claim {
            league_id: manager.league.settings.league_id.clone(),
            referee,
            match_id: recorded.match_id.clone(),
            attempt: recorded.attempt,
            result: Arc::clone(&recorded.result),
            file: manager.file.to_owned(),
            stream: Stream::league(),
            seq: recorded.seq,
            at: recorded.at,
            what: "match_decided",
        })
        .collect()
}

/// What a referee has decided, recorded by the manager or not.
pub(super) fn decided(log: &AgentLog<RefereeEvent>) -> Vec<Claim> {
    let league_id = log.identity.as_ref().and_then(|identity| identity.league_id.clone());
    let Some(league_id) = league_id else { return Vec::new() };
    let entries = log.entries.iter().filter_map(|entry| match &entry.event {
        RefereeEvent::Decided { match_id, attempt, result } => Some((entry, match_id, *attempt, result)),
        _ => None,
    });
    entries
        .map(|(entry, match_id, attempt, result)| Claim {
            league_id: league_id.clone(),
            referee: log.id().to_owned(),
            match_id: match_id.clone(),
            attempt,
            result: Arc::clone(result),
            file: log.file.clone(),
            stream: log.stream.clone(),
            seq: entry.seq,
            at: entry.at,
            what: "decided",
        })
        .collect()
}

/// A player that is said to have been silent, and has an answer in its store. Whether the answer went out, the messages in
/// its store say.
#[derive(Debug)]
pub(super) struct AllegedSilence {
    path: PathBuf,
    league_id: LeagueId,
    match_id: MatchId,
    attempt: Attempt,
    pub(super) fault: Fault,
}

/// What a player wrote down of one attempt.
struct Own<'a> {
    commitment: Option<&'a str>,
    choices: Vec<&'a Choice>,
    invited: bool,
    /// Whether it chose at a time when attempts were not yet written down.
    unnumbered: bool,
}

fn own<'a>(log: &'a AgentLog<PlayerEvent>, claim: &Claim) -> Own<'a> {
    let mut own = Own { commitment: None, choices: Vec::new(), invited: false, unnumbered: false };
    for entry in &log.entries {
        match &entry.event {
            PlayerEvent::Invited { match_id, attempt, draw_commitment, .. }
                if *match_id == claim.match_id && *attempt == claim.attempt =>
            {
                own.invited = true;
                own.commitment = own.commitment.or(draw_commitment.as_ref().map(|it| it.0.as_str()));
            }
            PlayerEvent::Chosen { match_id, attempt: Some(attempt), choice, .. }
                if *match_id == claim.match_id && *attempt == claim.attempt =>
            {
                own.choices.push(choice);
            }
            PlayerEvent::Chosen { match_id, attempt: None, .. } if *match_id == claim.match_id => {
                own.unnumbered = true;
            }
            _ => {}
        }
    }
    own
}

/// The first thing that a referee says of a player, and that the player's own store contradicts; and where the player is
/// said to have been silent although it chose.
pub(super) fn find(
    log: &AgentLog<PlayerEvent>,
    source: &Source,
    claims: &[Claim],
) -> (Option<Fault>, Vec<AllegedSilence>) {
    let player = PlayerId::new(log.id());
    let league_id = log.identity.as_ref().and_then(|identity| identity.league_id.as_ref());
    let mut silences = Vec::new();
    let of_it =
        |claim: &&Claim| league_id == Some(&claim.league_id) && claim.result.score.get(&player).is_some();
    for claim in claims.iter().filter(of_it) {
        let own = own(log, claim);
        if let Err(why) = compare(&player, claim, &own) {
            return (Some(claim.fault(format!("{} {why}, by its own store", claim.says()))), silences);
        }
        if is_blamed_for_silence(&player, &claim.result) && !own.choices.is_empty() {
            let why = format!(
                "{} that {player} was silent, and {player} answered in time, by its own store",
                claim.says()
            );
            silences.push(AllegedSilence {
                path: source.path.clone(),
                league_id: claim.league_id.clone(),
                match_id: claim.match_id.clone(),
                attempt: claim.attempt,
                fault: claim.fault(why),
            });
        }
    }
    (None, silences)
}

fn compare(player: &PlayerId, claim: &Claim, own: &Own<'_>) -> Result<(), String> {
    let told = choices_of(player, &claim.result);
    let made: Vec<&Value> = own.choices.iter().map(|choice| &choice.value).collect();
    let is_known = !made.is_empty() || own.invited && !own.unnumbered;
    if is_known && !(told.len() <= made.len() && told.iter().zip(&made).all(|(told, made)| told == *made)) {
        let (told, made) = (listed(told.iter()), listed(made.into_iter()));
        let made = if made.is_empty() { "nothing".to_owned() } else { made };
        return Err(format!("that {player} chose {told}, and {player} chose {made}"));
    }
    let Some(reveal) = &claim.result.details.fairness else {
        return Ok(());
    };
    if let Some(promised) = own.commitment.filter(|promised| *promised != reveal.commitment.0) {
        let revealed = &reveal.commitment.0;
        return Err(format!("that its commitment was {revealed}, and {player} was promised {promised}"));
    }
    let Some(last) = own.choices.get(told.len().wrapping_sub(1)) else {
        return Ok(());
    };
    let nonce = reveal.nonces.get(player).map_or("none", |nonce: &Nonce| nonce.0.as_str());
    if nonce != last.nonce.0 {
        return Err(format!("that {player} gave the nonce {nonce:?}, and {player} gave {:?}", last.nonce.0));
    }
    match (&last.signature, reveal.signature(player)) {
        (Some(made), Some(told)) if made != told => {
            Err(format!("that {player} signed otherwise than {player} did"))
        }
        _ => Ok(()),
    }
}

fn listed<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    values.map(Value::to_string).collect::<Vec<_>>().join(", ")
}

fn is_blamed_for_silence(player: &PlayerId, result: &MatchResult) -> bool {
    let blame = result.details.blame.as_ref().and_then(|blame| blame.get(player));
    blame.is_some_and(|blame| matches!(blame.cause, Cause::Silent | Cause::Unreachable))
        && choices_of(player, result).is_empty()
}

impl AllegedSilence {
    /// Whether the player's stored messages show that it answered a question of this attempt within the time that the
    /// question left, by the player's own clock.
    pub(super) fn is_disproved(&self) -> Result<bool, StoreError> {
        let reader = Store::open_read_only(Path::new(&self.path))?.choose(Some(&self.league_id));
        // An agent's own store has no league by name.
        let reader = match reader {
            Ok(reader) => reader,
            Err(_) => Store::open_read_only(&self.path)?,
        };
        let conversation = ConversationId::of_match(&self.match_id, self.attempt);
        let exchanges = reader.exchanges_of(&self.match_id)?;
        Ok(exchanges.iter().any(|it| it.conversation_id == conversation && is_answer_in_time(it)))
    }
}

fn is_answer_in_time(exchange: &Exchange) -> bool {
    const QUESTIONS: [&str; 2] = ["CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"];
    const ANSWERS: [&str; 2] = ["CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"];
    let answered = exchange.answer.as_deref().and_then(|answer| summarize(answer).message_type);
    let is_answer = answered.is_some_and(|kind| ANSWERS.contains(&kind.as_str()));
    let time = |key: &str| {
        let request: Value = serde_json::from_str(&exchange.request).ok()?;
        let message = request.get("params").unwrap_or(&request);
        let message = message.get("arguments").or_else(|| message.get("message")).unwrap_or(message);
        Some(Timestamp::parse(message.get(key)?.as_str()?)?.0)
    };
    let window = time("deadline").zip(time("timestamp")).map(|(until, from)| until.since(from));
    let took = exchange.done_at.map(|done| done.since(exchange.at));
    exchange.direction == Direction::In
        && QUESTIONS.contains(&exchange.message_type.raw())
        && is_answer
        && window.is_none_or(|window| took.is_none_or(|took| took < window))
}
