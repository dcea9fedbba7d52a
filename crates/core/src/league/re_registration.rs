//! Recognition of an agent that registers again: by its token, by its registration key, by a join code, or, without a
//! key and before it has shown its token, by its IP address.

use super::applicant::Applicant;
use super::event::{LeagueEvent, Proof, RenewedBy, Requested};
use super::manager::{Ctx, Manager};
use super::member::Member;
use super::request::{ReceivedMessage, RequestError};
use super::roster::Place;
use crate::agent::Agent;
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::{PlayerMeta, RefereeMeta};
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::token::TokenHash;
use crate::protocol::{Sender, Timestamp, Token};

/// How a registration relates to the registered agents.
#[derive(Debug)]
pub(super) enum Recognition {
    /// A new agent.
    Not,
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
            Self::Not | Self::Outdated { .. } | Self::Refused(_) => None,
        }
    }
}

/// What recognition needs to know of a member.
struct KnownMember<'a> {
    id: &'a str,
    endpoint: &'a Endpoint,
    name: &'a DisplayName,
    token: &'a TokenHash,
    request: Option<Requested>,
    may_ask_again: bool,
    may_renew: bool,
    needs_proof: bool,
    carried_over: bool,
    withdrawn: bool,
}

impl<'a> KnownMember<'a> {
    fn new<M>(
        id: &'a str,
        member: &'a Member<M>,
        endpoint: &'a Endpoint,
        name: &'a DisplayName,
        now: Timestamp,
        received: &ReceivedMessage,
    ) -> KnownMember<'a> {
        KnownMember {
            id,
            endpoint,
            name,
            token: &member.token,
            request: member.request,
            may_ask_again: member.may_ask_again(now),
            may_renew: member.may_renew_from(received.client),
            needs_proof: member.is_keyed() || member.pinned,
            carried_over: member.carried_over,
            withdrawn: member.withdrawn,
        }
    }

    fn was_asked_by(&self, proof: Proof) -> bool {
        self.request.is_some_and(|request| request.proof == proof)
    }

    fn is_of(&self, applicant: &Applicant) -> bool {
        self.endpoint == applicant.endpoint() && self.name == applicant.name()
    }
}

/// The registration key in `auth_token`, if there is one.
pub(super) fn key(received: &ReceivedMessage) -> Option<&Token> {
    received.envelope.auth_token.as_ref().filter(|token| token.is_registration_key())
}

/// The record of a registration. The timestamp of a fast clock is capped, so that later registrations are not outdated.
pub(super) fn requested(now: Timestamp, received: &ReceivedMessage) -> Requested {
    let proof = match key(received) {
        Some(key) => Proof::Key(key.proof()),
        None => Proof::Conversation(TokenHash::of_conversation(&received.envelope.conversation_id)),
    };
    let sent_at = received.envelope.timestamp.min(now);
    Requested { proof, sent_at, client: received.client, renewed_by: None }
}

/// Whether a registration was sent before the one in force.
fn is_older(request: Requested, in_force: Requested) -> bool {
    request.sent_at < in_force.sent_at
}

fn in_use(member: &Sender) -> RequestError {
    let message = "Join code in use - it was used at another endpoint: show the registration key or the token of that \
                   registration as auth_token, or ask the operator for a new code";
    RequestError::new(ErrorCode::TokenInvalid, message).with("id", member.id())
}

impl Manager {
    pub(super) fn recognise(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        applicant: &Applicant,
    ) -> Recognition {
        let shown = received.envelope.auth_token.as_ref();
        if let Some(token) = shown
            && let Some(member) = self.holder(applicant, token)
        {
            return match self.is_revoked(&member) {
                true => Recognition::Barred(member),
                false => Recognition::Returns(member, token.clone(), RenewedBy::Token),
            };
        }
        let known = self.by_key(now, received, applicant).unwrap_or_else(|| {
            let place = match self.admitted(received, applicant) {
                Ok(place) => place,
                // "Too late" is the more helpful answer.
                Err(error) if error.code == ErrorCode::TokenMissing && !self.is_open() => {
                    return Recognition::Not;
                }
                Err(error) => return Recognition::Refused(error),
            };
            let known = match place.filter(|place| place.invitation.name.is_some()) {
                Some(place) => self.by_place(now, received, applicant, place),
                None => self.by_endpoint(now, received, applicant),
            };
            known.unwrap_or(Recognition::Not)
        });
        // An agent that is recognised by less than its token is rejected if the operator has revoked or rotated the
        // token.
        let by_new_code = matches!(known, Recognition::Renews(_, RenewedBy::JoinCode));
        let is_barred = |member: &&Sender| match by_new_code {
            true => self.is_revoked(member),
            false => self.is_barred(member),
        };
        match known.member().filter(is_barred) {
            Some(member) => Recognition::Barred(member.clone()),
            None if matches!(known, Recognition::Unproven(_)) && !self.is_open() => Recognition::Not,
            None => known,
        }
    }

    /// Whether registration is open.
    fn is_open(&self) -> bool {
        self.league.is_open()
    }

    fn is_barred(&self, member: &Sender) -> bool {
        let barred = |revoked: bool, pinned: bool| revoked || pinned;
        match member {
            Sender::Player(id) => self.league.players.get(id).is_some_and(|it| barred(it.revoked, it.pinned)),
            Sender::Referee(id) => {
                self.league.referees.get(id).is_some_and(|it| barred(it.revoked, it.pinned))
            }
            Sender::LeagueManager | Sender::Launcher => false,
        }
    }

    /// The member of the applicant's role that has this token.
    fn holder(&self, applicant: &Applicant, token: &Token) -> Option<Sender> {
        match applicant {
            Applicant::Player(_) => self.player_with(token).map(Sender::Player),
            Applicant::Referee(_) => self.referee_with(token).map(Sender::Referee),
        }
    }

    /// A key proves as much as its token. But a delayed copy of an old registration must not restore an old endpoint.
    fn by_key(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        applicant: &Applicant,
    ) -> Option<Recognition> {
        let (key, request) = (key(received)?, requested(now, received));
        let fits = |known: &KnownMember<'_>| known.was_asked_by(request.proof);
        let (member, known_member) = self.find(now, received, applicant, fits)?;
        let token = key.league_token(&self.league.settings.league_id, member.id());
        if !known_member.token.admits(&token) {
            // The token of a player that was carried over is that of the league it comes from.
            return known_member.carried_over.then_some(Recognition::Renews(member, RenewedBy::Key));
        }
        let is_old = known_member.request.is_some_and(|known| is_older(request, known));
        Some(match is_old {
            true => Recognition::Repeats(member, token),
            false => Recognition::Returns(member, token, RenewedBy::Key),
        })
    }

    /// Endpoint, name and conversation id are no secrets, so they prove nothing by themselves.
    fn by_endpoint(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        applicant: &Applicant,
    ) -> Option<Recognition> {
        let of_it = |known: &KnownMember<'_>| known.is_of(applicant);
        let in_league = self.find(now, received, applicant, |known| of_it(known) && !known.withdrawn);
        let (member, known_member) = in_league.or_else(|| self.find(now, received, applicant, of_it))?;
        if !known_member.may_renew {
            // A withdrawn agent does not block its endpoint and name.
            return (!known_member.withdrawn).then_some(Recognition::Unproven(member));
        }
        Some(self.again(now, received, member, &known_member, RenewedBy::Address))
    }

    /// The code of a named roster slot is valid for one agent. A newer code lets another agent take over.
    fn by_place(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        applicant: &Applicant,
        place: &Place,
    ) -> Option<Recognition> {
        let holder = place.holder.as_ref()?;
        let (member, known_member) = self.find(now, received, applicant, |known| known.id == holder.id())?;
        let is_same = known_member.endpoint == applicant.endpoint() && !known_member.needs_proof;
        match (place.used, known_member.withdrawn) {
            (false, true) => None,
            (false, false) => Some(Recognition::Renews(member, RenewedBy::JoinCode)),
            (true, false) if is_same => {
                Some(self.again(now, received, member, &known_member, RenewedBy::JoinCode))
            }
            (true, _) => Some(Recognition::Refused(in_use(&member))),
        }
    }

    /// A repeated registration: a duplicate gets the same answer, and an outdated one changes nothing.
    fn again(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        member: Sender,
        known_member: &KnownMember<'_>,
        by: RenewedBy,
    ) -> Recognition {
        let (open, by_code) = (self.is_open(), by == RenewedBy::JoinCode);
        let (request, in_force) = (requested(now, received), known_member.request);
        let repeats = in_force.is_some_and(|in_force| request.proof == in_force.proof)
            && (open || by_code || known_member.may_ask_again);
        let token_issuer = self.token_issuer.as_ref().filter(|_| repeats);
        let token = token_issuer
            .map(|token_issuer| token_issuer.issue(member.id(), &received.envelope.conversation_id));
        let renewable = open || repeats || by_code;
        let old = in_force.filter(|in_force| renewable && is_older(request, *in_force));
        match (token.filter(|token| known_member.token.admits(token)), old) {
            (Some(token), _) => Recognition::Repeats(member, token),
            (None, Some(in_force)) => Recognition::Outdated { in_force: in_force.sent_at },
            (None, None) if renewable => Recognition::Renews(member, by),
            (None, None) => Recognition::Unproven(member),
        }
    }

    /// The record of a member that registered again; the proof that its token was issued for stays.
    pub(super) fn renewed(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        member: &Sender,
        by: RenewedBy,
    ) -> Requested {
        let request = requested(now, received);
        let proof = self.request_of(member).map_or(request.proof, |known| known.proof);
        Requested { proof, renewed_by: Some(by), ..request }
    }

    fn request_of(&self, member: &Sender) -> Option<Requested> {
        match member {
            Sender::Player(id) => self.league.players.get(id)?.request,
            Sender::Referee(id) => self.league.referees.get(id)?.request,
            Sender::LeagueManager | Sender::Launcher => None,
        }
    }

    fn find(
        &self,
        now: Timestamp,
        received: &ReceivedMessage,
        applicant: &Applicant,
        fits: impl Fn(&KnownMember<'_>) -> bool,
    ) -> Option<(Sender, KnownMember<'_>)> {
        match applicant {
            Applicant::Player(_) => self.league.players.iter().find_map(|(id, known)| {
                let PlayerMeta { contact_endpoint, display_name, .. } = &known.meta;
                let known_member =
                    KnownMember::new(id.as_str(), known, contact_endpoint, display_name, now, received);
                fits(&known_member).then(|| (Sender::Player(id.clone()), known_member))
            }),
            Applicant::Referee(_) => self.league.referees.iter().find_map(|(id, known)| {
                let RefereeMeta { contact_endpoint, display_name, .. } = &known.meta;
                let known_member =
                    KnownMember::new(id.as_str(), known, contact_endpoint, display_name, now, received);
                fits(&known_member).then(|| (Sender::Referee(id.clone()), known_member))
            }),
        }
    }

    /// Records that an agent without a key has shown its token, so that no other is issued without proof.
    pub(super) fn note_token_shown(&mut self, ctx: &mut Ctx<'_>, agent: &Sender) {
        let is_news = match agent {
            Sender::Player(id) => self.league.players.get(id).is_some_and(Member::could_show_token),
            Sender::Referee(id) => self.league.referees.get(id).is_some_and(Member::could_show_token),
            Sender::LeagueManager | Sender::Launcher => false,
        };
        if is_news {
            self.record(ctx, LeagueEvent::TokenShown { agent: agent.clone() });
        }
    }
}
