//! What referees say of matches: their results, as the manager has recorded them and as they stand in their own stores, with
//! the keys that decide whether they and the players have said so. Pure.

use super::agents::ManagerRecord;
use super::result::Played;
use super::{Fault, Source};
use crate::agent_log::AgentLog;
use matchday_core::event_codec;
use matchday_core::league::{DecidedBy, LeagueEvent};
use matchday_core::protocol::messages::MatchResult;
use matchday_core::protocol::{
    Attempt, GameType, LeagueId, MatchId, PlayerId, RefereeId, Timestamp,
};
use matchday_core::referee::RefereeEvent;
use matchday_core::referee_statement::{AttemptRef, Statement};
use matchday_core::signature::{PublicKey, Signature};
use matchday_store::StoreUrl;
use matchday_store::stream::Stream;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A result of a referee, by its own log or by the manager's.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) league_id: LeagueId,
    pub(super) referee: String,
    /// The keys that the referee has registered.
    referee_keys: Vec<PublicKey>,
    game_type: GameType,
    players: [PlayerId; 2],
    player_keys: [Option<PublicKey>; 2],
    pub(super) match_id: MatchId,
    pub(super) attempt: Attempt,
    pub(super) result: Arc<MatchResult>,
    /// Where it stands.
    file: Option<StoreUrl>,
    stream: Stream,
    seq: u64,
    at: Timestamp,
    what: &'static str,
}

impl Claim {
    pub(super) fn fault(&self, why: String) -> Fault {
        let Self {
            file,
            stream,
            seq,
            at,
            what,
            ..
        } = self;
        let what = SmolStr::new_static(what);
        Fault {
            file: file.clone(),
            stream: stream.clone(),
            seq: *seq,
            at: *at,
            what,
            why,
        }
    }

    /// `REF01 says of attempt 1 at R1M1`.
    pub(super) fn says(&self) -> String {
        format!(
            "{} says of attempt {} at {}",
            self.referee, self.attempt, self.match_id
        )
    }

    pub(super) fn played(&self) -> Played<'_> {
        let Self {
            league_id,
            game_type,
            match_id,
            attempt,
            players: [a, b],
            player_keys: keys,
            ..
        } = self;
        Played {
            league_id,
            game_type,
            match_id,
            attempt: *attempt,
            a,
            b,
            keys: *keys,
        }
    }

    /// Whether the referee has signed this; `None` if it has registered no key.
    pub(super) fn is_signed(
        &self,
        statement: Statement<'_>,
        signature: &Signature,
    ) -> Option<bool> {
        let Self {
            league_id,
            match_id,
            attempt,
            ..
        } = self;
        let about = AttemptRef {
            league_id,
            match_id,
            attempt: *attempt,
        };
        let fits = |key| about.is_signed(key, statement, signature);
        (!self.referee_keys.is_empty()).then(|| self.referee_keys.iter().any(fits))
    }
}

/// What the manager has recorded of referees.
pub(super) fn recorded(manager: ManagerRecord<'_>, log: &Source) -> Vec<Claim> {
    let registered = registered_keys(log);
    let by_referee = manager
        .recorded
        .iter()
        .filter_map(|recorded| match &recorded.by {
            DecidedBy::Referee(referee) => Some((recorded, referee)),
            DecidedBy::Manager => None,
        });
    let league = manager.league;
    by_referee
        .filter_map(|(recorded, referee)| {
            let game = league.matches.get(&recorded.match_id)?;
            let keys = registered
                .iter()
                .filter(|(of, _)| of == referee)
                .map(|(_, key)| *key);
            Some(Claim {
                league_id: league.settings.league_id.clone(),
                referee: referee.to_string(),
                referee_keys: keys.collect(),
                game_type: league.settings.game_type.clone(),
                players: [game.a.clone(), game.b.clone()],
                player_keys: game.keys.as_deref().copied().unwrap_or_default(),
                match_id: recorded.match_id.clone(),
                attempt: recorded.attempt,
                result: Arc::clone(&recorded.result),
                file: manager.file.cloned(),
                stream: Stream::league(),
                seq: recorded.seq,
                at: recorded.at,
                what: "match_decided",
            })
        })
        .collect()
}

/// Every key that a referee has registered, at first or when it came back.
fn registered_keys(log: &Source) -> Vec<(RefereeId, PublicKey)> {
    let of_referees = log
        .events
        .iter()
        .filter(|stored| stored.line.contains("\"max_concurrent_matches\""));
    of_referees
        .filter_map(|stored| match event_codec::decode(&stored.line).ok()?.1 {
            LeagueEvent::RefereeRegistered {
                referee_id, meta, ..
            }
            | LeagueEvent::RefereeRejoined {
                referee_id, meta, ..
            } => Some((referee_id, meta.public_key?)),
            _ => None,
        })
        .collect()
}

/// What a referee has decided, recorded by the manager or not.
pub(super) fn decided(log: &AgentLog<RefereeEvent>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut keys = Vec::new();
    let mut given = BTreeMap::new();
    for entry in &log.entries {
        let (match_id, attempt, result) = match &entry.event {
            RefereeEvent::Applied(application) => {
                keys.push(application.signing_key().public_key());
                continue;
            }
            RefereeEvent::Assigned { assignment } => {
                given.insert(&assignment.match_id, assignment);
                continue;
            }
            RefereeEvent::Decided {
                match_id,
                attempt,
                result,
            } => (match_id, attempt, result),
            _ => continue,
        };
        let Some(assignment) = given.get(match_id) else {
            continue;
        };
        let Played {
            a,
            b,
            keys: player_keys,
            ..
        } = Played::as_assigned(assignment);
        claims.push(Claim {
            league_id: assignment.league_id.clone(),
            referee: log.id().to_owned(),
            referee_keys: keys.clone(),
            game_type: assignment.game_type.clone(),
            players: [a.clone(), b.clone()],
            player_keys,
            match_id: match_id.clone(),
            attempt: *attempt,
            result: Arc::clone(result),
            file: log.store.clone(),
            stream: log.stream.clone(),
            seq: entry.seq,
            at: entry.at,
            what: "decided",
        });
    }
    claims
}
