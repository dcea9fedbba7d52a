//! Recognition of an agent that registers again: by its token, by its registration key, by a join code, or, without a
//! key and before it has shown its token, by its IP address.

use super::applicant::Applicant;
use crate::league::event::{Proof, RegistrationRecord, RenewedBy};
use crate::league::invitation::Place;
use crate::league::member::{AgentMeta, Member};
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::state::League;
use crate::protocol::error::ErrorCode;
use crate::protocol::token::{TokenHash, TokenIssuer};
use crate::protocol::{Sender, Timestamp, Token};

/// How a registration relates to the registered agents.
#[derive(Debug)]
pub(in crate::league) enum Recognition {
    /// A new agent.
    Unknown,
    /// It shows its token or registration key, and keeps its token.
    Returns(Sender, Token, RenewedBy),
    /// A duplicate of an accepted registration: answered identically, without any change.
    Repeats(Sender, Token),
    /// It is registered again under its old id with a new token.
    Renews(Sender, RenewedBy),
    /// Its endpoint and name are registered, and it does not prove to be that agent.
    Unproven(Sender),
    /// It was sent before the registration in force.
    Outdated { in_force: Timestamp },
    /// Its token was revoked or rotated by the operator, and it does not show the new one.
    Barred(Sender),
    /// It lacks a valid join code.
    Refused(RequestError),
}

impl Recognition {
    fn member(&self) -> Option<&Sender> {
        match self {
            Self::Returns(member, ..)
            | Self::Repeats(member, _)
            | Self::Renews(member, _)
            | Self::Unproven(member)
            | Self::Barred(member) => Some(member),
            Self::Unknown | Self::Outdated { .. } | Self::Refused(_) => None,
        }
    }
}

/// The registration key in `auth_token`, if there is one.
pub(in crate::league) fn key(received: &ReceivedMessage) -> Option<&Token> {
    received
        .envelope
        .auth_token
        .as_ref()
        .filter(|token| token.is_registration_key())
}

/// The record of a registration. The timestamp of a fast clock is capped, so that later registrations are not outdated.
pub(in crate::league) fn requested(
    now: Timestamp,
    received: &ReceivedMessage,
) -> RegistrationRecord {
    let proof = match key(received) {
        Some(key) => Proof::Key(key.proof()),
        None => Proof::Conversation(TokenHash::of_conversation(
            &received.envelope.conversation_id,
        )),
    };
    let sent_at = received.envelope.timestamp.min(now);
    RegistrationRecord {
        proof,
        sent_at,
        client: received.client,
        renewed_by: None,
    }
}

fn in_use(member: &Sender) -> RequestError {
    let message = "Join code in use - it was used at another endpoint: show the registration key or the token of that \
                   registration as auth_token, or ask the operator for a new code";
    RequestError::new(ErrorCode::TokenInvalid, message).with("id", member.id())
}

/// What an applicant is recognised by.
pub(super) struct Recogniser<'a> {
    pub(super) league: &'a League,
    pub(super) token_issuer: Option<&'a TokenIssuer>,
    pub(super) now: Timestamp,
    pub(super) received: &'a ReceivedMessage,
    pub(super) applicant: &'a Applicant,
}

type KnownMember<'a> = (Sender, &'a Member<dyn AgentMeta>);

impl<'a> Recogniser<'a> {
    pub(super) fn recognise(&self) -> Recognition {
        let shown = self.received.envelope.auth_token.as_ref();
        if let Some(token) = shown
            && let Some(member) = self
                .league
                .member_with(token)
                .filter(|member| self.applicant.may_be(member))
        {
            return if self.league.is_revoked(&member) {
                Recognition::Barred(member)
            } else {
                Recognition::Returns(member, token.clone(), RenewedBy::Token)
            };
        }
        let known = self.by_key().unwrap_or_else(|| self.by_less_than_key());
        // An agent that is recognised by less than its token is rejected if the operator has revoked or rotated the
        // token.
        let by_new_code = matches!(known, Recognition::Renews(_, RenewedBy::JoinCode));
        let is_barred = |agent: &&Sender| {
            let member = self.league.member(agent);
            member.is_some_and(|member| member.revoked || member.pinned && !by_new_code)
        };
        match known.member().filter(is_barred) {
            Some(member) => Recognition::Barred(member.clone()),
            None if matches!(known, Recognition::Unproven(_)) && !self.league.is_open() => {
                Recognition::Unknown
            }
            None => known,
        }
    }

    /// A key proves as much as its token. But a delayed copy of an old registration must not restore an old endpoint.
    fn by_key(&self) -> Option<Recognition> {
        let key = key(self.received)?;
        let request = requested(self.now, self.received);
        let (member, known) = self.find(|_, known| known.was_asked_by(&request.proof))?;
        let token = key.league_token(&self.league.settings.league_id, member.id());
        if !known.token.admits(&token) {
            // The token of a player that was carried over is that of the league it comes from.
            return known
                .carried_over
                .then_some(Recognition::Renews(member, RenewedBy::Key));
        }
        let is_old = known
            .request
            .is_some_and(|in_force| request.sent_at < in_force.sent_at);
        Some(if is_old {
            Recognition::Repeats(member, token)
        } else {
            Recognition::Returns(member, token, RenewedBy::Key)
        })
    }

    fn by_less_than_key(&self) -> Recognition {
        let place = match self.league.admitted(
            self.received,
            self.applicant.role(),
            self.applicant.meta().display_name(),
        ) {
            Ok(place) => place,
            // "Too late" is the more helpful answer.
            Err(error) if error.code == ErrorCode::TokenMissing && !self.league.is_open() => {
                return Recognition::Unknown;
            }
            Err(error) => return Recognition::Refused(error),
        };
        let known = match place.filter(|place| place.invitation.name.is_some()) {
            Some(place) => self.by_place(place),
            None => self.by_endpoint(),
        };
        known.unwrap_or(Recognition::Unknown)
    }

    /// Endpoint, name and conversation id are no secrets, so they prove nothing by themselves.
    fn by_endpoint(&self) -> Option<Recognition> {
        let meta = self.applicant.meta();
        let is_it = |known: &Member<dyn AgentMeta>| {
            known.meta.contact_endpoint() == meta.contact_endpoint()
                && known.meta.display_name() == meta.display_name()
        };
        let in_league = self.find(|_, known| is_it(known) && !known.withdrawn);
        let (member, known) = in_league.or_else(|| self.find(|_, known| is_it(known)))?;
        if !known.may_renew_from(self.received.client) {
            // A withdrawn agent does not block its endpoint and name.
            return (!known.withdrawn).then_some(Recognition::Unproven(member));
        }
        Some(self.again(member, known, RenewedBy::Address))
    }

    /// The code of a named roster slot is valid for one agent. A newer code lets another agent take over.
    fn by_place(&self, place: &Place) -> Option<Recognition> {
        let holder = place.holder.as_ref()?;
        let (member, known) = self.find(|agent, _| agent.id() == holder.id())?;
        let needs_proof = known.is_keyed() || known.pinned;
        let is_same = known.meta.contact_endpoint() == self.applicant.meta().contact_endpoint()
            && !needs_proof;
        match (place.used, known.withdrawn) {
            (false, true) => None,
            (false, false) => Some(Recognition::Renews(member, RenewedBy::JoinCode)),
            (true, false) if is_same => Some(self.again(member, known, RenewedBy::JoinCode)),
            (true, _) => Some(Recognition::Refused(in_use(&member))),
        }
    }

    /// A repeated registration: a duplicate gets the same answer, and an outdated one changes nothing.
    fn again(&self, member: Sender, known: &Member<dyn AgentMeta>, by: RenewedBy) -> Recognition {
        let is_open = self.league.is_open();
        let by_code = by == RenewedBy::JoinCode;
        let request = requested(self.now, self.received);
        let repeats = known.was_asked_by(&request.proof)
            && (is_open || by_code || known.may_ask_again(self.now));
        let token_issuer = self.token_issuer.filter(|_| repeats);
        let token = token_issuer
            .map(|issuer| issuer.issue(member.id(), &self.received.envelope.conversation_id))
            .filter(|token| known.token.admits(token));
        if let Some(token) = token {
            return Recognition::Repeats(member, token);
        }
        if !is_open && !repeats && !by_code {
            return Recognition::Unproven(member);
        }
        match known
            .request
            .filter(|in_force| request.sent_at < in_force.sent_at)
        {
            Some(in_force) => Recognition::Outdated {
                in_force: in_force.sent_at,
            },
            None => Recognition::Renews(member, by),
        }
    }

    fn find(
        &self,
        fits: impl Fn(&Sender, &Member<dyn AgentMeta>) -> bool,
    ) -> Option<KnownMember<'a>> {
        let mut members = self.league.members();
        members.find(|(agent, known)| self.applicant.may_be(agent) && fits(agent, known))
    }
}
