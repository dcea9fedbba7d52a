//! Results against the players' own stores: what a referee says that a player chose, gave, was promised or left unanswered,
//! and what that player wrote down at the time. A valid signature decides which of the two is believed; where there is none,
//! both are named. Pure, but for [`AllegedSilence::is_disproved`], which reads stored messages.

use super::claims::Claim;
use super::signatures::{choices_of, has_signed};
use super::{Fault, Source};
use crate::agent_log::AgentLog;
use crate::describe::summarize;
use matchday_core::player::PlayerEvent;
use matchday_core::player::event::{Choice, SignedResult};
use matchday_core::protocol::draw::Commitment;
use matchday_core::protocol::messages::{Cause, GameResult, MatchResult};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, ConversationId, LeagueId, MatchId, PlayerId, Timestamp};
use matchday_core::referee_statement::{Statement, result_text};
use matchday_core::signature::Signature;
use matchday_store::StoreUrl;
use matchday_store::entry::Entry;
use matchday_store::error::StoreError;
use matchday_store::exchange::{Direction, Exchange};
use matchday_store::handle::Store;
use serde_json::Value;
use smol_str::SmolStr;

/// A player that is said to have been silent, and has an answer in its store. Whether the answer went out, the messages in
/// its store say.
#[derive(Debug)]
pub(super) struct AllegedSilence {
    store: StoreUrl,
    league_id: LeagueId,
    match_id: MatchId,
    attempt: Attempt,
    pub(super) fault: Fault,
}

/// What a player wrote down of one attempt.
#[derive(Default)]
struct Own<'a> {
    invitation: Option<(
        &'a Entry<PlayerEvent>,
        Option<&'a Commitment>,
        Option<&'a Signature>,
    )>,
    choices: Vec<&'a Choice>,
    /// The event of the first choice.
    chosen: Option<&'a Entry<PlayerEvent>>,
    /// GAME_OVER as the referee signed it.
    over: Option<(&'a Entry<PlayerEvent>, &'a SignedResult)>,
}

fn own<'a>(log: &'a AgentLog<PlayerEvent>, claim: &Claim) -> Own<'a> {
    let mut own = Own::default();
    let is_meant = |match_id: &MatchId, attempt: Attempt| {
        *match_id == claim.match_id && attempt == claim.attempt
    };
    for entry in &log.entries {
        match &entry.event {
            PlayerEvent::Invited {
                match_id,
                attempt,
                draw_commitment,
                commitment_signature,
                ..
            } if is_meant(match_id, *attempt) => {
                let first = (
                    entry,
                    draw_commitment.as_ref(),
                    commitment_signature.as_ref(),
                );
                own.invitation = own.invitation.or(Some(first));
            }
            PlayerEvent::Chosen {
                match_id,
                attempt,
                choice,
                ..
            } if is_meant(match_id, *attempt) => {
                own.choices.push(choice);
                own.chosen = own.chosen.or(Some(entry));
            }
            PlayerEvent::Finished {
                game,
                signed: Some(signed),
            } if is_meant(&game.match_id, signed.attempt) => {
                own.over = Some((entry, signed));
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
    let league_id = log
        .identity
        .as_ref()
        .and_then(|identity| identity.league_id.as_ref());
    let mut silences = Vec::new();
    let of_it = |claim: &&Claim| {
        league_id == Some(&claim.league_id) && claim.result.score.get(&player).is_some()
    };
    for claim in claims.iter().filter(of_it) {
        let own = own(log, claim);
        let checked = check_statements(log, &player, claim, &own).and_then(|()| {
            compare(&player, claim, &own).map_err(|why| {
                if has_signed(&claim.played(), &player, &claim.result) {
                    let why = format!(
                        "it contradicts what {player} has signed: {} {why}",
                        claim.says()
                    );
                    let entry = own.chosen.or(own.invitation.map(|(entry, ..)| entry));
                    entry.map_or_else(
                        || claim.fault(why.clone()),
                        |entry| in_store(log, entry, why.clone()),
                    )
                } else {
                    claim.fault(format!("{} {why}, by its own store", claim.says()))
                }
            })
        });
        if let Err(fault) = checked {
            return (Some(fault), silences);
        }
        if is_blamed_for_silence(&player, &claim.result) && !own.choices.is_empty() {
            let why = format!(
                "{} that {player} was silent, and {player} answered in time, by its own store",
                claim.says()
            );
            silences.push(AllegedSilence {
                store: source.store.clone(),
                league_id: claim.league_id.clone(),
                match_id: claim.match_id.clone(),
                attempt: claim.attempt,
                fault: claim.fault(why),
            });
        }
    }
    (None, silences)
}

/// The fault of the player's store itself.
fn in_store(log: &AgentLog<PlayerEvent>, entry: &Entry<PlayerEvent>, why: String) -> Fault {
    let what = match &entry.event {
        PlayerEvent::Invited { .. } => "invited",
        PlayerEvent::Chosen { .. } => "chosen",
        _ => "finished",
    };
    let file = log.store.clone();
    let stream = log.stream.clone();
    Fault {
        file,
        stream,
        seq: entry.seq,
        at: entry.at,
        what: SmolStr::new_static(what),
        why,
    }
}

/// What the referee has signed in its messages to this player, against what it reports.
fn check_statements(
    log: &AgentLog<PlayerEvent>,
    player: &PlayerId,
    claim: &Claim,
    own: &Own<'_>,
) -> Result<(), Fault> {
    let Claim {
        referee,
        match_id,
        attempt,
        result,
        ..
    } = claim;
    let forged = |entry, what: &str| {
        let why =
            format!("{referee} has not signed this {what} of attempt {attempt} at {match_id}");
        in_store(log, entry, why)
    };
    if let Some((entry, Some(commitment), Some(signature))) = own.invitation
        && let Some(is_signed) = claim.is_signed(Statement::Commitment(commitment), signature)
    {
        if !is_signed {
            return Err(forged(entry, "commitment"));
        }
        let reported = result
            .details
            .fairness
            .as_ref()
            .map(|reveal| &reveal.commitment);
        if let Some(reported) = reported.filter(|reported| *reported != commitment) {
            return Err(claim.fault(format!(
                "{referee} reports of attempt {attempt} at {match_id} the commitment {}, and has signed another for \
                 {player}: {}",
                reported.0, commitment.0
            )));
        }
    }
    let Some((entry, signed)) = own.over else {
        return Ok(());
    };
    let Some(is_signed) =
        claim.is_signed(Statement::Result(&signed.game_result), &signed.signature)
    else {
        return Ok(());
    };
    if !is_signed {
        return Err(forged(entry, "result"));
    }
    if facts(&signed.game_result) == facts(&result_text(&GameResult::of(result))) {
        Ok(())
    } else {
        Err(claim.fault(format!(
            "{referee} reports another result of attempt {attempt} at {match_id} than it has signed for {player}: {}",
            signed.game_result
        )))
    }
}

/// A result without its words for people.
fn facts(game_result: &str) -> Option<Value> {
    let mut facts: Value = serde_json::from_str(game_result).ok()?;
    facts.as_object_mut()?.remove("reason");
    Some(facts)
}

fn compare(player: &PlayerId, claim: &Claim, own: &Own<'_>) -> Result<(), String> {
    let told = choices_of(player, &claim.result);
    let made: Vec<&Value> = own.choices.iter().map(|choice| &choice.value).collect();
    let is_known = !made.is_empty() || own.invitation.is_some();
    if is_known
        && !(told.len() <= made.len() && told.iter().zip(&made).all(|(told, made)| told == *made))
    {
        let told = listed(told.iter());
        let made = listed(made.into_iter());
        let made = if made.is_empty() {
            "nothing".to_owned()
        } else {
            made
        };
        return Err(format!(
            "that {player} chose {told}, and {player} chose {made}"
        ));
    }
    let Some(reveal) = &claim.result.details.fairness else {
        return Ok(());
    };
    let promised = own.invitation.and_then(|(_, commitment, _)| commitment);
    if let Some(promised) = promised.filter(|promised| **promised != reveal.commitment) {
        let revealed = &reveal.commitment.0;
        let promised = &promised.0;
        return Err(format!(
            "that its commitment was {revealed}, and {player} was promised {promised}"
        ));
    }
    let Some(last) = own.choices.get(told.len().wrapping_sub(1)) else {
        return Ok(());
    };
    let nonce = reveal
        .nonces
        .get(player)
        .map_or("none", |nonce: &Nonce| nonce.0.as_str());
    if nonce != last.nonce.0 {
        return Err(format!(
            "that {player} gave the nonce {nonce:?}, and {player} gave {:?}",
            last.nonce.0
        ));
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
    let blame = result
        .details
        .blame
        .as_ref()
        .and_then(|blame| blame.get(player));
    blame.is_some_and(|blame| matches!(blame.cause, Cause::Silent | Cause::Unreachable))
        && choices_of(player, result).is_empty()
}

impl AllegedSilence {
    /// Whether the player's stored messages show that it answered a question of this attempt within the time that the
    /// question left, by the player's own clock.
    pub(super) fn is_disproved(&self) -> Result<bool, StoreError> {
        let reader = Store::open_read_only(&self.store)?.choose(Some(&self.league_id));
        // An agent's own store has no league by name.
        let reader = match reader {
            Ok(reader) => reader,
            Err(_) => Store::open_read_only(&self.store)?,
        };
        let conversation = ConversationId::of_match(&self.match_id, self.attempt);
        let exchanges = reader.exchanges_of(&self.match_id)?;
        Ok(exchanges
            .iter()
            .any(|it| it.conversation_id == conversation && is_answer_in_time(it)))
    }
}

fn is_answer_in_time(exchange: &Exchange) -> bool {
    const QUESTIONS: [&str; 2] = ["CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"];
    const ANSWERS: [&str; 2] = ["CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"];
    let answered = exchange
        .answer
        .as_deref()
        .and_then(|answer| summarize(answer).message_type);
    let is_answer = answered.is_some_and(|kind| ANSWERS.contains(&kind.as_str()));
    let time = |key: &str| {
        let request: Value = serde_json::from_str(&exchange.request).ok()?;
        let message = request.get("params").unwrap_or(&request);
        let message = message
            .get("arguments")
            .or_else(|| message.get("message"))
            .unwrap_or(message);
        Some(Timestamp::parse(message.get(key)?.as_str()?)?.0)
    };
    let window = time("deadline")
        .zip(time("timestamp"))
        .map(|(until, from)| until.since(from));
    let took = exchange.done_at.map(|done| done.since(exchange.at));
    exchange.direction == Direction::In
        && QUESTIONS.contains(&exchange.message_type.raw())
        && is_answer
        && window.is_none_or(|window| took.is_none_or(|took| took < window))
}
