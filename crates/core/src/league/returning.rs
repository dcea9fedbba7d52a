//! How an agent that registers once more is known again: by its token, by the key behind it, by its conversation, or by
//! its endpoint and name. Decides nothing but that.

use super::event::{LeagueEvent, Proof, Requested};
use super::manager::{Act, Asked, Manager};
use super::member::Member;
use super::registration::Applicant;
use crate::protocol::messages::Phase;
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::token::TokenHash;
use crate::protocol::{Sender, Timestamp, Token};

/// What is known of whoever registers.
#[derive(Debug)]
pub(super) enum Known {
    /// Nothing, or no more than that it was here before: it is taken on afresh, if anyone is.
    Not,
    /// It shows its token, or the key behind it, and keeps that token.
    Returns(Sender, Token),
    /// A copy of a registration that was granted: it is answered as that one was, and changes nothing.
    Repeats(Sender, Token),
    /// The same, but the token that it was granted is known to nobody any more: it gets another.
    Unanswered(Sender),
    /// It was sent before the registration that is in force.
    Outdated { in_force: Timestamp },
    /// The operator has taken its token away, or given it another which it does not show.
    Barred(Sender),
}

/// A member, as far as it matters for knowing it again.
struct Standing<'a> {
    endpoint: &'a Endpoint,
    name: &'a DisplayName,
    token: &'a TokenHash,
    request: Option<Requested>,
    may_ask_again: bool,
}

impl<'a> Standing<'a> {
    fn new<M>(
        member: &'a Member<M>,
        endpoint: &'a Endpoint,
        name: &'a DisplayName,
        now: Timestamp,
    ) -> Standing<'a> {
        Standing {
            endpoint,
            name,
            token: &member.token,
            request: member.request,
            may_ask_again: member.may_ask_again(now),
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

/// A registration, as it will be known again.
pub(super) fn requested(asked: &Asked) -> Requested {
    let proof = match key(asked) {
        Some(key) => Proof::Key(key.proof()),
        None => Proof::Conversation(TokenHash::of_conversation(&asked.envelope.conversation_id)),
    };
    Requested { proof, sent_at: asked.envelope.timestamp }
}

impl Manager {
    pub(super) fn recognise(&self, now: Timestamp, asked: &Asked, applicant: &Applicant) -> Known {
        let shown = asked.envelope.auth_token.as_ref();
        if let Some(token) = shown
            && let Some(member) = self.holder(applicant, token)
        {
            return match self.is_revoked(&member) {
                true => Known::Barred(member),
                false => Known::Returns(member, token.clone()),
            };
        }
        let known = self.by_key(now, asked, applicant).or_else(|| self.by_endpoint(now, asked, applicant));
        let by_key = match &known {
            Some(Known::Returns(member, _) | Known::Repeats(member, _)) => Some(member.clone()),
            _ => None,
        };
        // Whoever is known by less than its token gets in only if the operator has not had to do with that.
        let named = by_key.or_else(|| self.returning(now, applicant));
        match named.filter(|member| self.is_barred(member)) {
            Some(member) => Known::Barred(member),
            None => known.unwrap_or(Known::Not),
        }
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
        let (key, request) = (key(asked)?, requested(asked));
        let (member, standing) = self.find(now, applicant, |known| known.was_asked_by(request.proof))?;
        let token = key.league_token(&self.league.settings.league_id, member.id());
        if !standing.token.admits(&token) {
            return None;
        }
        let is_old = standing.request.is_some_and(|known| request.sent_at < known.sent_at);
        Some(if is_old { Known::Repeats(member, token) } else { Known::Returns(member, token) })
    }

    /// Without a key there is the conversation, which others may guess: it opens nothing that is not open anyway, but for
    /// an agent whose answer may have been lost.
    fn by_endpoint(&self, now: Timestamp, asked: &Asked, applicant: &Applicant) -> Option<Known> {
        let (member, standing) = self.find(now, applicant, |known| known.is_of(applicant))?;
        let (request, in_force) = (requested(asked), standing.request?);
        let open = self.league.phase == Phase::Registration;
        if request.proof == in_force.proof && (open || standing.may_ask_again) {
            let token =
                self.mint.as_ref().map(|mint| mint.issue(member.id(), &asked.envelope.conversation_id));
            match token.filter(|token| standing.token.admits(token)) {
                Some(token) => return Some(Known::Repeats(member, token)),
                None if !open => return Some(Known::Unanswered(member)),
                None => {}
            }
        }
        let is_old = open && request.sent_at < in_force.sent_at;
        is_old.then_some(Known::Outdated { in_force: in_force.sent_at })
    }

    /// Who this applicant was before it was restarted: same endpoint, same name.
    pub(super) fn returning(&self, now: Timestamp, applicant: &Applicant) -> Option<Sender> {
        self.find(now, applicant, |known| known.is_of(applicant)).map(|(member, _)| member)
    }

    /// The registration of a member once it has come back with this one: what its token was granted for does not change.
    pub(super) fn renewed(&self, asked: &Asked, member: &Sender) -> Requested {
        let request = requested(asked);
        let granted_for = self.request_of(member).map_or(request.proof, |known| known.proof);
        Requested { proof: granted_for, ..request }
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
        applicant: &Applicant,
        fits: impl Fn(&Standing<'_>) -> bool,
    ) -> Option<(Sender, Standing<'_>)> {
        match applicant {
            Applicant::Player(_) => self.league.players.iter().find_map(|(id, known)| {
                let standing =
                    Standing::new(known, &known.meta.contact_endpoint, &known.meta.display_name, now);
                fits(&standing).then(|| (Sender::Player(id.clone()), standing))
            }),
            Applicant::Referee(_) => self.league.referees.iter().find_map(|(id, known)| {
                let standing =
                    Standing::new(known, &known.meta.contact_endpoint, &known.meta.display_name, now);
                fits(&standing).then(|| (Sender::Referee(id.clone()), standing))
            }),
        }
    }

    /// Remembers that an agent has its token, where it could otherwise be given another by its conversation alone.
    pub(super) fn note_token_shown(&mut self, act: &mut Act<'_>, agent: &Sender) {
        let may_ask_again = match agent {
            Sender::Player(id) => self.league.players.get(id).is_some_and(|m| m.may_ask_again(act.now)),
            Sender::Referee(id) => self.league.referees.get(id).is_some_and(|m| m.may_ask_again(act.now)),
            Sender::LeagueManager | Sender::Launcher => false,
        };
        let by_conversation = |request: Requested| matches!(request.proof, Proof::Conversation(_));
        if may_ask_again && self.request_of(agent).is_some_and(by_conversation) {
            self.record(act, LeagueEvent::TokenShown { agent: agent.clone() });
        }
    }
}
