//! A registered player or referee. Changed only by `apply`.

use super::event::{Proof, RegistrationRecord};
use crate::agent::Payload;
use crate::protocol::Timestamp;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::GameType;
use crate::protocol::messages::{Lifecycle, PING, PlayerMeta, Record, RefereeMeta};
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::token::{Token, TokenHash};
use core::net::IpAddr;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long after a registration its conversation id alone proves a repetition: enough for a retry, too short for a
/// third party that collects tokens later.
const REPEAT_WITHIN: Duration = Duration::from_secs(30);

/// What players and referees both say of themselves.
pub trait AgentMeta {
    /// Where it listens.
    fn contact_endpoint(&self) -> &Endpoint;
    /// For people.
    fn display_name(&self) -> &DisplayName;
    /// The games it can take part in.
    fn game_types(&self) -> &[GameType];
    /// The version of league.v2 that it names, if it does.
    fn protocol_version(&self) -> Option<&str>;
    /// What is sent to see whether it is there.
    fn probe(&self) -> Payload;
}

macro_rules! agent_meta {
    ($($meta:ty),*) => {$(
        impl AgentMeta for $meta {
            fn contact_endpoint(&self) -> &Endpoint {
                &self.contact_endpoint
            }

            fn display_name(&self) -> &DisplayName {
                &self.display_name
            }

            fn game_types(&self) -> &[GameType] {
                &self.game_types
            }

            fn protocol_version(&self) -> Option<&str> {
                self.protocol_version.as_deref()
            }

            fn probe(&self) -> Payload {
                if self.capabilities.iter().any(|name| name == PING) {
                    Payload::Probe
                } else {
                    Payload::Connect
                }
            }
        }
    )*};
}

agent_meta!(PlayerMeta, RefereeMeta);

/// A registered player or referee.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<M: ?Sized> {
    /// The hash of its current token.
    pub token: TokenHash,
    /// When it registered.
    pub registered_at: Timestamp,
    /// The registration that its token was issued for; `None` for a token that the operator issued.
    pub request: Option<RegistrationRecord>,
    /// Whether it is known to have its token.
    pub token_shown: bool,
    /// The dialect in which the manager calls it.
    pub dialect: Dialect,
    /// A suspended member is taken to be absent.
    pub state: Lifecycle,
    /// Technical losses in a row.
    pub streak: u32,
    /// How often it was suspended since its last match that was played.
    pub suspensions: u32,
    /// Of a player: wins, losses and draws over its decided matches.
    pub record: Record,
    /// Of a referee: the undecided matches that it has.
    pub in_hand: u32,
    /// Of a referee: the attempts it was assigned, and how many of them it lost after they had begun.
    pub given: u32,
    /// Of a referee: attempts that it lost after they had begun.
    pub lost: u32,
    /// Of a referee: suspended for that share; only a new token lifts it.
    pub barred: bool,
    /// Of a referee: it could not be told of the last match that it was assigned.
    pub unreachable: bool,
    /// Withdrawn by the operator, for good.
    pub withdrawn: bool,
    /// Taken over from the season's previous league, and not registered with this one since.
    pub carried_over: bool,
    /// Of a player of a ladder: it has left, until it registers again.
    pub away: bool,
    /// Whether it was still suspended when the league ended.
    pub left: bool,
    /// The operator revoked its token, and it has no other yet.
    pub revoked: bool,
    /// The operator issued its token: it is recognised by that token alone.
    pub pinned: bool,
    /// Replaced tokens: invalid, but old records refer to them.
    pub replaced: Vec<TokenHash>,
    /// How often each deviation from the protocol was accepted, by kind and path.
    pub deviations: BTreeMap<String, u32>,
    /// How often it has registered again.
    pub renewals: u32,
    /// As its latest registration gave it.
    pub meta: M,
}

impl<M> Member<M> {
    pub(super) fn new(
        meta: M,
        token: TokenHash,
        registered_at: Timestamp,
        dialect: Dialect,
        request: Option<RegistrationRecord>,
    ) -> Self {
        Self {
            meta,
            token,
            registered_at,
            request,
            token_shown: false,
            dialect,
            state: Lifecycle::Registered,
            streak: 0,
            suspensions: 0,
            record: Record::default(),
            in_hand: 0,
            given: 0,
            lost: 0,
            barred: false,
            unreachable: false,
            withdrawn: false,
            carried_over: false,
            away: false,
            left: false,
            revoked: false,
            pinned: false,
            replaced: Vec::new(),
            deviations: BTreeMap::new(),
            renewals: 0,
        }
    }

    /// Gets a new token; the rest stays, since it is the same agent. A repetition of the same registration does not
    /// extend the time for repetitions.
    pub(super) fn register_again(&mut self, again: Self) {
        let same = |request: RegistrationRecord| self.was_asked_by(&request.proof);
        if !again.request.is_some_and(same) {
            self.registered_at = again.registered_at;
        }
        let old = std::mem::replace(&mut self.token, again.token);
        if !old.is(&self.token) {
            self.replaced.push(old);
        }
        self.rejoin(again.meta, again.dialect, again.request);
        self.token_shown = false;
        self.pinned = false;
    }

    /// Registers again with its token, with new metadata.
    pub(super) fn rejoin(
        &mut self,
        meta: M,
        dialect: Dialect,
        request: Option<RegistrationRecord>,
    ) {
        self.meta = meta;
        self.dialect = dialect;
        self.away = false;
        self.carried_over = false;
        self.request = request.or(self.request);
        self.token_shown = true;
        self.unreachable = false;
        self.renewals = self.renewals.saturating_add(1);
        self.recover();
    }
}

impl<M: ?Sized> Member<M> {
    /// Gets a new token from the operator.
    pub(super) fn rotate(&mut self, token: TokenHash) {
        self.replaced
            .push(std::mem::replace(&mut self.token, token));
        self.request = None;
        self.revoked = false;
        self.barred = false;
        self.pinned = true;
    }

    /// Whether this is its token or a replaced one.
    pub fn has_had(&self, token: &Token) -> bool {
        let hash = token.hash();
        self.token.is(&hash) || self.replaced.iter().any(|old| old.is(&hash))
    }

    /// Whether it takes part: neither withdrawn nor revoked.
    pub fn is_in(&self) -> bool {
        !self.withdrawn && !self.revoked
    }

    /// Whether it can be paired in a ladder.
    pub fn is_there(&self) -> bool {
        self.is_in() && !self.away && !self.is_suspended()
    }

    /// Of a referee: whether it can be given a match. A barred one is given matches for want of others, as long as it can
    /// be reached.
    pub(super) fn is_available(&self) -> bool {
        !self.revoked && (!self.is_suspended() || self.barred && !self.unreachable)
    }

    /// Whether it registered with this proof.
    pub fn was_asked_by(&self, proof: &Proof) -> bool {
        self.request.is_some_and(|known| known.proof == *proof)
    }

    /// Whether it registered with a key, so that a weaker proof is not accepted.
    pub fn is_keyed(&self) -> bool {
        self.request
            .is_some_and(|known| matches!(known.proof, Proof::Key(_)))
    }

    /// Whether showing its token is worth an event: with a key or an operator's token it makes no difference.
    pub(super) fn could_show_token(&self) -> bool {
        !self.token_shown && self.request.is_some() && !self.is_keyed()
    }

    /// Whether a registration without proof may replace it: it has no key, never showed its token, and registered from
    /// this address.
    pub fn may_renew_from(&self, client: Option<IpAddr>) -> bool {
        let registered_from = self.request.and_then(|known| known.client);
        !self.is_keyed() && !self.token_shown && client.is_some() && client == registered_from
    }

    /// Whether its conversation id alone entitles it to a token again: only for a short time, and only until it has
    /// shown its token.
    pub fn may_ask_again(&self, now: Timestamp) -> bool {
        !self.token_shown && now.since(self.registered_at) <= REPEAT_WITHIN
    }

    /// The league is over.
    pub(super) fn shut_down(&mut self) {
        self.left = self.is_suspended();
        self.state = Lifecycle::Shutdown;
    }

    /// The league goes on after all.
    pub(super) fn reopen(&mut self) {
        self.left = false;
        self.state = Lifecycle::Active;
    }

    fn recover(&mut self) {
        self.streak = 0;
        if self.state == Lifecycle::Suspended && !self.barred {
            self.state = Lifecycle::Active;
        }
    }

    pub(super) fn note<'a>(&mut self, deviations: impl Iterator<Item = &'a str>) {
        for deviation in deviations {
            let count = self.deviations.entry(deviation.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Whether the agent is suspended because it does not answer.
    pub fn is_suspended(&self) -> bool {
        self.state == Lifecycle::Suspended
    }
}
