//! Who may ask what of the manager: the sender's name, the token behind it, and the table of rights.

use super::event::LeagueEvent;
use super::manager::{Act, Asked, Manager, Refusal};
use crate::protocol::decode::{Conformance, Deviation};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::methods::Party;
use crate::protocol::rights::{Right, who_may};
use crate::protocol::token::TokenHash;
use crate::protocol::{Envelope, MessageType, Sender, Timestamp, Token};
use std::time::Duration;

impl Manager {
    /// Establishes who sends a message and whether that agent may; `None` for senders that need no name.
    pub(super) fn admit(
        &self,
        envelope: &Envelope,
        message: MessageType,
        local: bool,
    ) -> Result<Option<Sender>, Refusal> {
        match who_may(Party::Manager, message) {
            Right::NewPlayer if matches!(envelope.sender, Sender::Player(_)) => Ok(None),
            Right::NewReferee if matches!(envelope.sender, Sender::Referee(_)) => Ok(None),
            Right::NewPlayer => Err(wrong_kind(&envelope.sender, "player")),
            Right::NewReferee => Err(wrong_kind(&envelope.sender, "referee")),
            Right::Launcher => self.admit_operator(envelope, local).map(|()| None),
            Right::Operator => self.admit_operator(envelope, false).map(|()| None),
            Right::Member => self.identify(envelope).map(Some),
            Right::Referee => match self.identify(envelope)? {
                referee @ Sender::Referee(_) => Ok(Some(referee)),
                other => Err(Refusal::new(
                    ErrorCode::TokenInvalid,
                    format!("only a referee may send {message}, and {other} is none"),
                )),
            },
            Right::Manager | Right::RefereeOfMatch | Right::PlayerOfMatch | Right::Nobody => Err(
                Refusal::new(ErrorCode::InvalidState, format!("a league manager does not take {message}")),
            ),
        }
    }

    /// Refuses; and where wrong tokens come too often in one name, not at once. An agent that shows the right one never
    /// comes here, however many wrong ones others show in its name.
    pub(super) fn turn_away(&mut self, act: &mut Act<'_>, asked: &Asked, refusal: Refusal) {
        let (refusal, late) = self.slowed(act.now, asked, refusal);
        self.refuse(act, asked, refusal);
        if late {
            self.hold_back(act);
        }
    }

    /// The refusal as it is given, and whether its answer is to be held back: where there were too many guesses.
    pub(super) fn slowed(&mut self, now: Timestamp, asked: &Asked, refusal: Refusal) -> (Refusal, bool) {
        let most = self.league.settings.token_guesses_max;
        let guess = refusal.guess.clone();
        let Some(wait) = guess.and_then(|name| self.guard.guessed(now, name, most)) else {
            return (refusal, false);
        };
        let mut slowed = Refusal::new(
            ErrorCode::RateLimited,
            format!("more than {most} wrong tokens a minute in the name of {}", asked.envelope.sender),
        );
        slowed.context = refusal.context;
        (slowed.in_time(wait), true)
    }

    /// Keeps the answer that was given last for a while.
    pub(super) fn hold_back(&mut self, act: &mut Act<'_>) {
        if let Some(reply) = act.step.replies.pop() {
            let at_once = self.guard.hold_back(act.now, reply);
            act.step.replies.extend(at_once);
        }
    }

    /// Why a member has to wait, if it asks too much.
    pub(super) fn hurried(&mut self, now: Timestamp, member: &Sender) -> Option<Refusal> {
        let most = self.league.settings.requests_per_second;
        let wait = self.guard.asked(now, member, most)?;
        let message = format!("{member} asks more than {most} times a second");
        Some(Refusal::new(ErrorCode::RateLimited, message).in_time(wait))
    }

    fn admit_operator(&self, envelope: &Envelope, local: bool) -> Result<(), Refusal> {
        if envelope.sender != Sender::Launcher && self.league.settings.conformance == Conformance::Strict {
            return Err(Refusal::new(
                ErrorCode::TokenInvalid,
                format!("sender: expected launcher, got {}: agents do not run the league", envelope.sender),
            ));
        }
        match (&envelope.auth_token, &self.league.settings.operator_token) {
            (Some(shown), Some(kept)) if kept.admits(shown) => Ok(()),
            (None, _) if local => Ok(()),
            (None, _) => Err(Refusal::new(
                ErrorCode::TokenMissing,
                "only the operator may do this: send the operator token as auth_token",
            )),
            (Some(shown), _) => Err(invalid_token(shown, "this is not the operator token", Sender::Launcher)),
        }
    }

    /// Finds out who speaks, by name and token together.
    fn identify(&self, envelope: &Envelope) -> Result<Sender, Refusal> {
        let Some(token) = &envelope.auth_token else {
            return Err(Refusal::new(
                ErrorCode::TokenMissing,
                "send the token of the registration response as auth_token",
            ));
        };
        let Some(kept) = self.token_of(&envelope.sender) else {
            return self.identify_by_token(&envelope.sender, token);
        };
        if !kept.admits(token) {
            let why = format!("it is not the token of {}", envelope.sender);
            return Err(invalid_token(token, &why, envelope.sender.clone()));
        }
        if self.is_revoked(&envelope.sender) {
            let message = "the operator has revoked this token: ask for another";
            return Err(Refusal::new(ErrorCode::TokenInvalid, message).with("provided_token", token.hint()));
        }
        Ok(envelope.sender.clone())
    }

    /// An agent that calls itself something else is known by its token alone, where the league is lenient.
    fn identify_by_token(&self, claimed: &Sender, token: &Token) -> Result<Sender, Refusal> {
        if self.league.settings.conformance == Conformance::Lenient
            && let Some(owner) = self.owner_of(token).filter(|owner| !self.is_revoked(owner))
        {
            return Ok(owner);
        }
        let (code, kind, id) = match claimed {
            Sender::Player(id) => (ErrorCode::PlayerNotRegistered, "player", id.as_str()),
            Sender::Referee(id) => (ErrorCode::RefereeNotRegistered, "referee", id.as_str()),
            other => {
                let why = format!("no token lets an agent speak as {other}");
                return Err(invalid_token(token, &why, Sender::LeagueManager));
            }
        };
        let refusal = Refusal::new(code, format!("no {kind} is registered here as {id}: register first"));
        // Strangers share one count: there is no end of names that they could think of.
        let lenient = self.league.settings.conformance == Conformance::Lenient;
        let guess = lenient.then_some(Sender::LeagueManager);
        Err(Refusal { guess, ..refusal.with("id", id) })
    }

    pub(super) fn token_of(&self, agent: &Sender) -> Option<&TokenHash> {
        match agent {
            Sender::Player(id) => self.league.players.get(id).map(|player| &player.token),
            Sender::Referee(id) => self.league.referees.get(id).map(|referee| &referee.token),
            Sender::LeagueManager | Sender::Launcher => None,
        }
    }

    fn owner_of(&self, token: &Token) -> Option<Sender> {
        self.player_with(token).map(Sender::Player).or_else(|| self.referee_with(token).map(Sender::Referee))
    }

    pub(super) fn player_with(&self, token: &Token) -> Option<PlayerId> {
        let hash = token.hash();
        self.league.players.iter().find(|(_, player)| player.token.is(&hash)).map(|(id, _)| id.clone())
    }

    pub(super) fn referee_with(&self, token: &Token) -> Option<RefereeId> {
        let hash = token.hash();
        self.league.referees.iter().find(|(_, referee)| referee.token.is(&hash)).map(|(id, _)| id.clone())
    }

    pub(super) fn note_deviations(&mut self, act: &mut Act<'_>, agent: &Sender, deviations: &[Deviation]) {
        if !deviations.is_empty() {
            let deviations = deviations.iter().map(ToString::to_string).collect();
            self.record(act, LeagueEvent::DeviationsNoted { agent: agent.clone(), deviations });
        }
    }
}

/// A registration by a sender of another kind than the one that it registers.
fn wrong_kind(sender: &Sender, kind: &str) -> Refusal {
    let message = format!("sender: expected {kind}:ID, got {sender}: an agent registers as what it is");
    Refusal::new(ErrorCode::TokenInvalid, message)
        .with("path", "sender")
        .with("expected", format!("{kind}:ID"))
        .with("came", sender.to_string())
}

/// `name`: in whose name the token was shown.
fn invalid_token(token: &Token, why: &str, name: Sender) -> Refusal {
    let refusal = Refusal::new(ErrorCode::TokenInvalid, format!("the auth_token does not fit: {why}"))
        .with("provided_token", token.hint())
        .with("expected_format", "tok_{agent_id}_{hash}");
    Refusal { guess: Some(name), ..refusal }
}

impl Refusal {
    /// The same, with the time after which it may fare better.
    fn in_time(self, wait: Duration) -> Self {
        self.with("retry_after_sec", wait.as_secs().saturating_add(1))
    }
}
