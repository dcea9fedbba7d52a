//! The registrar: registrations that wait for a probe, tokens, rate limits, and the players of the league before.

mod applicant;
mod carried_over;
mod rate_limit;
mod recognition;

pub(super) use applicant::{Applicant, NewMember};
pub use carried_over::CarriedOver;
pub(super) use recognition::{Recognition, key, requested};

use super::request::{ReceivedMessage, RequestError};
use super::settings::LeagueSettings;
use super::state::League;
use crate::agent::{CallId, Reply};
use crate::entropy::Entropy;
use crate::protocol::error::ErrorCode;
use crate::protocol::token::TokenIssuer;
use crate::protocol::{Sender, Timestamp, Token};
use rate_limit::RateLimiter;
use recognition::Recogniser;
use std::collections::BTreeMap;

/// A registration that waits for the probe of its endpoint.
#[derive(Debug)]
pub(super) struct PendingRegistration {
    pub(super) received: ReceivedMessage,
    pub(super) applicant: Applicant,
}

/// Not durable: what is lost with a restart is asked again.
#[derive(Debug, Default)]
pub(super) struct Registrar {
    /// Registrations that are answered once their endpoint has answered a probe.
    pending: BTreeMap<CallId, PendingRegistration>,
    /// Created when the first agent registers.
    token_issuer: Option<TokenIssuer>,
    rate_limiter: RateLimiter,
    /// The players of the season's previous league, until the first event of this one.
    carried_over: Vec<CarriedOver>,
}

impl Registrar {
    pub(super) fn carry_over(&mut self, players: Vec<CarriedOver>) {
        self.carried_over = players;
    }

    pub(super) fn take_carried_over(&mut self) -> Vec<CarriedOver> {
        std::mem::take(&mut self.carried_over)
    }

    /// Keeps a registration until the probe of its endpoint is answered.
    pub(super) fn hold(&mut self, probe: CallId, registration: PendingRegistration) {
        self.pending.insert(probe, registration);
    }

    pub(super) fn take(&mut self, probe: CallId) -> Option<PendingRegistration> {
        self.pending.remove(&probe)
    }

    /// How a registration relates to the registered agents.
    pub(super) fn recognise(
        &self,
        league: &League,
        now: Timestamp,
        received: &ReceivedMessage,
        applicant: &Applicant,
    ) -> Recognition {
        let token_issuer = self.token_issuer.as_ref();
        Recogniser {
            league,
            token_issuer,
            now,
            received,
            applicant,
        }
        .recognise()
    }

    /// A new token for a member: by its registration key, if it has shown one.
    pub(super) fn issue(
        &mut self,
        league: &League,
        entropy: &mut Entropy,
        received: &ReceivedMessage,
        member: &Sender,
    ) -> Token {
        if let Some(key) = key(received) {
            return key.league_token(&league.settings.league_id, member.id());
        }
        let token_issuer = self
            .token_issuer
            .get_or_insert_with(|| TokenIssuer::new(entropy));
        token_issuer.issue(member.id(), &received.envelope.conversation_id)
    }

    /// The error for a member that exceeds its request rate.
    pub(super) fn over_rate_limit(
        &mut self,
        settings: &LeagueSettings,
        now: Timestamp,
        member: &Sender,
    ) -> Option<RequestError> {
        let most = settings.requests_per_second;
        let wait = self.rate_limiter.count_request(now, member, most)?;
        let message = format!("{member} sends more than {most} requests a second");
        Some(RequestError::new(ErrorCode::RateLimited, message).retry_after(wait))
    }

    /// The error to reply, and whether the reply is to be delayed because of too many wrong tokens. An agent with the right
    /// token is never affected by wrong tokens that others show in its name.
    pub(super) fn limit_wrong_tokens(
        &mut self,
        settings: &LeagueSettings,
        now: Timestamp,
        received: &ReceivedMessage,
        error: RequestError,
    ) -> (RequestError, bool) {
        let most = settings.token_guesses_max;
        let guess = error.guess.clone();
        let Some(wait) =
            guess.and_then(|name| self.rate_limiter.count_wrong_token(now, name, most))
        else {
            return (error, false);
        };
        let mut limited = RequestError::new(
            ErrorCode::RateLimited,
            format!(
                "more than {most} wrong tokens a minute in the name of {}",
                received.envelope.sender
            ),
        );
        limited.context = error.context;
        (limited.retry_after(wait), true)
    }

    /// Delays the last of these replies.
    pub(super) fn delay_last(&mut self, now: Timestamp, replies: &mut Vec<Reply>) {
        if let Some(reply) = replies.pop() {
            replies.extend(self.rate_limiter.delay(now, reply));
        }
    }

    /// Moves the replies that are due into `replies`.
    pub(super) fn tick(&mut self, now: Timestamp, replies: &mut Vec<Reply>) {
        self.rate_limiter.release(now, replies);
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.rate_limiter.deadline()
    }
}
