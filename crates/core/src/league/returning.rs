//! How an agent that registers once more is known again: by its token, by the key behind it, or, where it has no key and
//! has not shown its token yet, by the address that it registered from. Decides nothing but that.

use super::event::{LeagueEvent, Proof, RenewedBy, Requested};
use super::manager::{Act, Asked, Manager, Refusal};
use super::member::Member;
use super::registration::Applicant;
use super::roster::Place;
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::{Phase, PlayerMeta, RefereeMeta};
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::token::TokenHash;
use crate::protocol::{Sender, Timestamp, Token};

/// What is known of an agent that registers.
#[derive(Debug)]
pub(super) enum Known {
    /// Nothing: it is taken on as a new one, if anyone is.
    Not,
    /// It shows its token, or the key behind it, and keeps that token.
    Returns(Sender, Token, RenewedBy),
    /// A copy of a registration that was granted: it is answered as that one was, and changes nothing.
    Repeats(Sender, Token),
    /// It may be registered anew: under its old id, with a fresh token.
    Renews(Sender, RenewedBy),
    /// Its endpoint and name are registered, and nothing shows that it is the agent that registered them.
    Unproven(Sender),
    /// It was sent before the registration that is in force.
    Outdated { in_force: Timestamp },
    /// The operator has taken its token away, or given it another which it does not show.
    Barred(Sender),
    /// It does not show the join code that it needs.
    Refused(Refusal),
}

impl Known {
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

/// A member, as far as it matters for knowing it again.
struct Standing<'a> {
    id: &'a str,
    endpoint: &'a Endpoint,
    name: &'a DisplayName,
    token: &'a TokenHash,
    request: Option<Requested>,
    may_ask_again: bool,
    may_renew: bool,
    needs_proof: bool,
    withdrawn: bool,
}

impl<'a> Standing<'a> {
    fn new<M>(
        id: &'a str,
        member: &'a Member<M>,
        endpoint: &'a Endpoint,
        name: &'a DisplayName,
        now: Timestamp,
        asked: &Asked,
    ) -> Standing<'a> {
        Standing {
            id,
            endpoint,
            name,
            token: &member.token,
            request: member.request,
            may_ask_again: member.may_ask_again(now),
            may_renew: member.may_renew_from(asked.client),
            needs_proof: member.is_keyed() || member.pinned,
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

/// The registration key that is shown, if one is.
pub(super) fn key(asked: &Asked) -> Option<&Token> {
    asked.envelope.auth_token.as_ref().filter(|token| token.is_registration_key())
}

/// A registration, as it will be known again. A clock that is ahead of ours must not make it later than all that follow.
pub(super) fn requested(now: Timestamp, asked: &Asked) -> Requested {
    let proof = match key(asked) {
        Some(key) => Proof::Key(key.proof()),
        None => Proof::Conversation(TokenHash::of_conversation(&asked.envelope.conversation_id)),
    };
    let sent_at = asked.envelope.timestamp.min(now);
    Requested { proof, sent_at, client: asked.client, renewed_by: None }
}

/// Whether a registration was sent before the one in force, whose time old logs may have in our future.
fn is_older(request: Requested, in_force: Requested, now: Timestamp) -> bool {
    request.sent_at < in_force.sent_at.min(now)
}

fn in_use(member: &Sender) -> Refusal {
    let message = "Join code in use - it was used at another endpoint: show the registration key or the token of that \
                   registration as auth_token, or ask the operator for a new code";
    Refusal::new(ErrorCode::TokenInvalid, message).with("id", member.id())
}

impl Manager {
    pub(super) fn recognise(&self, now: Timestamp, asked: &Asked, applicant: &Applicant) -> Known {
        let shown = asked.envelope.auth_token.as_ref();
        if let Some(token) = shown
            && let Some(member) = self.holder(applicant, token)
        {
            return match self.is_revoked(&member) {
                true => Known::Barred(member),
                false => Known::Returns(member, token.clone(), RenewedBy::Token),
            };
        }
        let known = self.by_key(now, asked, applicant).unwrap_or_else(|| {
            let place = match self.admitted(asked, applicant) {
                Ok(place) => place,
                // That it comes too late is the better answer.
                Err(refusal) if refusal.code == ErrorCode::TokenMissing && !self.is_open() => {
                    return Known::Not;
                }
                Err(refusal) => return Known::Refused(refusal),
            };
            let known = match place.filter(|place| place.invitation.name.is_some()) {
                Some(place) => self.by_place(now, asked, applicant, place),
                None => self.by_endpoint(now, asked, applicant),
            };
            known.unwrap_or(Known::Not)
        });
        // An agent that is known by less than its token gets in only if the operator has not had to do with that.
        let by_new_code = matches!(known, Known::Renews(_, RenewedBy::JoinCode));
        let is_barred = |member: &&Sender| match by_new_code {
            true => self.is_revoked(member),
            false => self.is_barred(member),
        };
        match known.member().filter(is_barred) {
            Some(member) => Known::Barred(member.clone()),
            None if matches!(known, Known::Unproven(_)) && !self.is_open() => Known::Not,
            None => known,
        }
    }

    /// Whether registration is open.
    fn is_open(&self) -> bool {
        self.league.phase == Phase::Registration
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

    /// Which member of the applicant's kind holds this token.
    fn holder(&self, applicant: &Applicant, token: &Token) -> Option<Sender> {
        match applicant {
            Applicant::Player(_) => self.player_with(token).map(Sender::Player),
            Applicant::Referee(_) => self.referee_with(token).map(Sender::Referee),
        }
    }

    /// A key is as good as the token that follows from it. Only, a copy of an old registration may still be on its way
    /// when the agent has moved, and must not move it back.
    fn by_key(&self, now: Timestamp, asked: &Asked, applicant: &Applicant) -> Option<Known> {
        let (key, request) = (key(asked)?, requested(now, asked));
        let fits = |known: &Standing<'_>| known.was_asked_by(request.proof);
        let (member, standing) = self.find(now, asked, applicant, fits)?;
        let token = key.league_token(&self.league.settings.league_id, member.id());
        if !standing.token.admits(&token) {
            return None;
        }
        let is_old = standing.request.is_some_and(|known| is_older(request, known, now));
        Some(match is_old {
            true => Known::Repeats(member, token),
            false => Known::Returns(member, token, RenewedBy::Key),
        })
    }

    /// Endpoint and name are known to others, referees among them, and a conversation can be guessed: they open nothing to
    /// a stranger.
    fn by_endpoint(&self, now: Timestamp, asked: &Asked, applicant: &Applicant) -> Option<Known> {
        let of_it = |known: &Standing<'_>| known.is_of(applicant);
        let in_league = self.find(now, asked, applicant, |known| of_it(known) && !known.withdrawn);
        let (member, standing) = in_league.or_else(|| self.find(now, asked, applicant, of_it))?;
        if !standing.may_renew {
            // What was withdrawn keeps nobody else from its place.
            return (!standing.withdrawn).then_some(Known::Unproven(member));
        }
        Some(self.again(now, asked, member, &standing, RenewedBy::Address))
    }

    /// The code of a place is good for one agent. One that was made since lets another take over, by the operator's will.
    fn by_place(&self, now: Timestamp, asked: &Asked, applicant: &Applicant, place: &Place) -> Option<Known> {
        let holder = place.holder.as_ref()?;
        let (member, standing) = self.find(now, asked, applicant, |known| known.id == holder.id())?;
        let is_same = standing.endpoint == applicant.endpoint() && !standing.needs_proof;
        match (place.used, standing.withdrawn) {
            (false, true) => None,
            (false, false) => Some(Known::Renews(member, RenewedBy::JoinCode)),
            (true, false) if is_same => Some(self.again(now, asked, member, &standing, RenewedBy::JoinCode)),
            (true, _) => Some(Known::Refused(in_use(&member))),
        }
    }

    /// What comes of a registration of a known agent: a copy is answered as the first was, and an old one changes nothing.
    fn again(
        &self,
        now: Timestamp,
        asked: &Asked,
        member: Sender,
        standing: &Standing<'_>,
        by: RenewedBy,
    ) -> Known {
        let (open, by_code) = (self.is_open(), by == RenewedBy::JoinCode);
        let (request, in_force) = (requested(now, asked), standing.request);
        let repeats = in_force.is_some_and(|in_force| request.proof == in_force.proof)
            && (open || by_code || standing.may_ask_again);
        let mint = self.mint.as_ref().filter(|_| repeats);
        let token = mint.map(|mint| mint.issue(member.id(), &asked.envelope.conversation_id));
        let old = in_force.filter(|in_force| open && is_older(request, *in_force, now));
        match (token.filter(|token| standing.token.admits(token)), old) {
            (Some(token), _) => Known::Repeats(member, token),
            (None, Some(in_force)) => Known::Outdated { in_force: in_force.sent_at },
            (None, None) if open || repeats || by_code => Known::Renews(member, by),
            (None, None) => Known::Unproven(member),
        }
    }

    /// The registration of a member once it has come back with this one: what its token was granted for does not change.
    pub(super) fn renewed(&self, now: Timestamp, asked: &Asked, member: &Sender, by: RenewedBy) -> Requested {
        let request = requested(now, asked);
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
        asked: &Asked,
        applicant: &Applicant,
        fits: impl Fn(&Standing<'_>) -> bool,
    ) -> Option<(Sender, Standing<'_>)> {
        match applicant {
            Applicant::Player(_) => self.league.players.iter().find_map(|(id, known)| {
                let PlayerMeta { contact_endpoint, display_name, .. } = &known.meta;
                let standing = Standing::new(id.as_str(), known, contact_endpoint, display_name, now, asked);
                fits(&standing).then(|| (Sender::Player(id.clone()), standing))
            }),
            Applicant::Referee(_) => self.league.referees.iter().find_map(|(id, known)| {
                let RefereeMeta { contact_endpoint, display_name, .. } = &known.meta;
                let standing = Standing::new(id.as_str(), known, contact_endpoint, display_name, now, asked);
                fits(&standing).then(|| (Sender::Referee(id.clone()), standing))
            }),
        }
    }

    /// Remembers that an agent without a key has its token, so that it is not given another without proof.
    pub(super) fn note_token_shown(&mut self, act: &mut Act<'_>, agent: &Sender) {
        let is_news = match agent {
            Sender::Player(id) => self.league.players.get(id).is_some_and(Member::could_show_token),
            Sender::Referee(id) => self.league.referees.get(id).is_some_and(Member::could_show_token),
            Sender::LeagueManager | Sender::Launcher => false,
        };
        if is_news {
            self.record(act, LeagueEvent::TokenShown { agent: agent.clone() });
        }
    }
}
