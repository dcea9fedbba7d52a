//! The roster: slots and join codes that the operator issued. A named slot is for one agent; a code without a name is
//! shared by all agents of its role.

use super::applicant::Applicant;
use super::event::LeagueEvent;
use super::manager::{Ctx, Manager};
use super::request::{ReceivedMessage, RequestError};
use super::state::League;
use crate::agent::{Agent, Content};
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::{AgentRole, PlaceState, RosterPlace};
use crate::protocol::text::DisplayName;
use crate::protocol::token::TokenHash;
use crate::protocol::{Message, Sender, Token};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The name of the referees' shared code in an order.
pub const REFEREES: &str = "referees";

/// A join code that the operator issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Whom the code admits: players or referees.
    pub role: AgentRole,
    /// The display name of its agent; `None` for a code shared by any number of agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DisplayName>,
    /// Only the hash is stored: a log that leaks admits nobody.
    #[serde(rename = "join_code")]
    pub code: TokenHash,
}

/// A slot on the roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Who may take it, and with which code.
    pub invitation: Invitation,
    /// The registered agent of a named slot.
    pub holder: Option<Sender>,
    /// Whether its holder registered with the current code rather than a replaced one.
    pub used: bool,
}

impl Place {
    fn is(&self, role: AgentRole, name: Option<&DisplayName>) -> bool {
        self.invitation.role == role && self.invitation.name.as_ref() == name
    }
}

impl League {
    /// Adds a code for an existing or a new slot.
    pub(super) fn invite(&mut self, invitation: &Invitation) {
        let Invitation { role, name, .. } = invitation;
        match self.roster.iter_mut().find(|place| place.is(*role, name.as_ref())) {
            Some(place) => (place.invitation, place.used) = (invitation.clone(), false),
            None => {
                let invitation = invitation.clone();
                self.roster.push(Place { invitation, holder: None, used: false });
            }
        }
    }

    /// Assigns the slot of this name to its agent.
    pub(super) fn take_place(&mut self, role: AgentRole, name: &DisplayName, agent: Sender) {
        if let Some(place) = self.roster.iter_mut().find(|place| place.is(role, Some(name))) {
            (place.holder, place.used) = (Some(agent), true);
        }
    }

    /// Whether agents of this role need a join code.
    pub fn needs_code(&self, role: AgentRole) -> bool {
        self.roster.iter().any(|place| place.invitation.role == role)
    }

    /// Whether the holder of this code, if any, may have an address at the relay: players and referees who may register.
    pub fn may_dial_out(&self, code: Option<&Token>) -> bool {
        let known = |code: &Token| {
            [AgentRole::Player, AgentRole::Referee].iter().any(|role| self.place_for(*role, code).is_some())
        };
        !self.needs_code(AgentRole::Player) || code.is_some_and(known)
    }

    /// The slot of this code.
    pub(super) fn place_for(&self, role: AgentRole, code: &Token) -> Option<&Place> {
        let hash = code.hash();
        let mut of_role = self.roster.iter().filter(|place| place.invitation.role == role);
        of_role.find(|place| place.invitation.code.is(&hash))
    }

    /// The name on the roster of an agent that registered with a code.
    pub(super) fn name_on_roster(&self, agent: &Sender) -> Option<&DisplayName> {
        let place = self.roster.iter().find(|place| place.holder.as_ref() == Some(agent))?;
        place.invitation.name.as_ref()
    }

    fn is_on_roster(&self, role: AgentRole, name: &DisplayName) -> bool {
        self.roster.iter().any(|place| place.is(role, Some(name)))
    }

    fn place_shown(&self, place: &Place) -> RosterPlace {
        let withdrawn = |holder: &Sender| match holder {
            Sender::Player(id) => self.players.get(id).is_some_and(|player| player.withdrawn),
            _ => false,
        };
        let state = match &place.holder {
            _ if place.invitation.name.is_none() => PlaceState::Shared,
            None => PlaceState::Open,
            Some(holder) if withdrawn(holder) => PlaceState::Withdrawn,
            Some(_) => PlaceState::Registered,
        };
        RosterPlace {
            role: place.invitation.role,
            display_name: place.invitation.name.clone(),
            state,
            agent_id: place.holder.as_ref().map(|holder| SmolStr::new(holder.id())),
        }
    }
}

/// The join code of a message: in `join_code`, in the path, or in `auth_token`.
fn shown(received: &ReceivedMessage) -> Option<&Token> {
    let token = received.envelope.auth_token.as_ref().filter(|token| token.is_join_code());
    received.join_code.as_ref().or(token)
}

impl Manager {
    /// The slot of the applicant's join code; `None` if no code is needed.
    pub(super) fn admitted(
        &self,
        received: &ReceivedMessage,
        applicant: &Applicant,
    ) -> Result<Option<&Place>, RequestError> {
        let role = applicant.role();
        if !self.league.needs_code(role) {
            return Ok(None);
        }
        let Some(code) = shown(received) else {
            let message = "Join code missing - send the one that the operator gave you as join_code or auth_token, or \
                           register at /join/CODE/mcp";
            return Err(RequestError::new(ErrorCode::TokenMissing, message));
        };
        let Some(place) = self.league.place_for(role, code) else {
            let message = format!("Join code invalid - ask the operator for one for a {}", role.name());
            let error =
                RequestError::new(ErrorCode::TokenInvalid, message).with("provided_token", code.hint());
            // Wrong codes share one counter, because the number of names is unlimited.
            return Err(RequestError { guess: Some(Sender::LeagueManager), ..error });
        };
        if place.invitation.name.is_none() && self.league.is_on_roster(role, applicant.name()) {
            let message =
                "Name taken - this name is on the roster, for another join code: choose another name";
            return Err(RequestError::new(ErrorCode::TokenInvalid, message));
        }
        Ok(Some(place))
    }

    /// The applicant with the display name of its slot.
    pub(super) fn named_by_code(&self, received: &ReceivedMessage, applicant: Applicant) -> Applicant {
        let place = shown(received).and_then(|code| self.league.place_for(applicant.role(), code));
        applicant.renamed(place.and_then(|place| place.invitation.name.as_ref()))
    }

    pub(super) fn roster(&self) -> Vec<RosterPlace> {
        self.league.roster.iter().map(|place| self.league.place_shown(place)).collect()
    }

    /// Issues a code for a slot, or with `add` for a new slot; only this answer shows it.
    pub(super) fn issue_code(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        whose: &str,
        add: bool,
    ) -> Result<(), RequestError> {
        let (role, name) = if add { new_place(whose)? } else { self.place_called(whose)? };
        if add && self.league.roster.iter().any(|place| place.is(role, name.as_ref())) {
            let (_, name) = whose.split_once(':').unwrap_or(("", whose));
            let message = format!("{name} is on the roster already: rotate its code instead");
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        let code = Token::new_join_code(ctx.entropy);
        let invitation = Invitation { role, name, code: code.hash() };
        self.record(ctx, LeagueEvent::JoinCodeIssued { invitation });
        let envelope =
            self.envelope(ctx.now, received.envelope.conversation_id.as_str()).with_token(Some(code));
        let content = Content::Message(Message::new(envelope, self.status()));
        ctx.reply(received.request, content);
        Ok(())
    }

    /// Finds a slot by name, with the prefix `player:` or `referee:` if both roles have it.
    fn place_called(&self, whose: &str) -> Result<(AgentRole, Option<DisplayName>), RequestError> {
        let role = AgentRole::ALL.into_iter().find(|role| whose.starts_with(&format!("{}:", role.name())));
        let name = role.and_then(|_| whose.split_once(':')).map_or(whose, |(_, name)| name);
        let is_it = |place: &&Place| {
            let known = place.invitation.name.as_ref().map_or(REFEREES, DisplayName::raw);
            known == name && role.is_none_or(|role| role == place.invitation.role)
        };
        let mut found = self.league.roster.iter().filter(is_it);
        match (found.next(), found.next()) {
            (Some(place), None) => Ok((place.invitation.role, place.invitation.name.clone())),
            (Some(_), Some(_)) => {
                let message =
                    format!("a player and a referee are called {name}: say player:{name} or referee:{name}");
                Err(RequestError::new(ErrorCode::InvalidState, message))
            }
            (None, _) => {
                let message = format!("nobody on the roster is called {name}");
                Err(RequestError::new(ErrorCode::PlayerNotRegistered, message).with("name", name))
            }
        }
    }
}

fn new_place(whose: &str) -> Result<(AgentRole, Option<DisplayName>), RequestError> {
    let role = |word: &str| AgentRole::ALL.into_iter().find(|role| role.name() == word);
    let place =
        whose.split_once(':').and_then(|(word, name)| Some((role(word)?, DisplayName::parse(name).ok()?)));
    match place {
        Some((role, name)) => Ok((role, Some(name))),
        None => {
            let message = format!("agent_id: expected player:NAME or referee:NAME, got {whose}");
            Err(RequestError::new(ErrorCode::InvalidFormat, message))
        }
    }
}
