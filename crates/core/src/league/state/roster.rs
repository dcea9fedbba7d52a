//! The roster: slots and join codes that the operator issued. A named slot is for one agent; a code without a name is
//! shared by all agents of its role.

use super::League;
use crate::league::invitation::{Invitation, Place, REFEREES};
use crate::league::request::{ReceivedMessage, RequestError};
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::{AgentRole, PlaceState, RosterPlace};
use crate::protocol::text::DisplayName;
use crate::protocol::{Sender, Token};
use smol_str::SmolStr;

impl League {
    /// Adds a code for an existing or a new slot.
    pub(crate) fn invite(&mut self, invitation: &Invitation) {
        let Invitation { role, name, .. } = invitation;
        match self
            .roster
            .iter_mut()
            .find(|place| place.is(*role, name.as_ref()))
        {
            Some(place) => (place.invitation, place.used) = (invitation.clone(), false),
            None => {
                let invitation = invitation.clone();
                self.roster.push(Place {
                    invitation,
                    holder: None,
                    used: false,
                });
            }
        }
    }

    /// Assigns the slot of this name to its agent.
    pub(crate) fn take_place(&mut self, role: AgentRole, name: &DisplayName, agent: Sender) {
        if let Some(place) = self
            .roster
            .iter_mut()
            .find(|place| place.is(role, Some(name)))
        {
            (place.holder, place.used) = (Some(agent), true);
        }
    }

    /// Whether agents of this role need a join code.
    pub fn needs_code(&self, role: AgentRole) -> bool {
        self.roster
            .iter()
            .any(|place| place.invitation.role == role)
    }

    /// Whether the holder of this code, if any, may have an address at the relay: players and referees who may register.
    pub fn may_dial_out(&self, code: Option<&Token>) -> bool {
        let known = |code: &Token| {
            [AgentRole::Player, AgentRole::Referee]
                .iter()
                .any(|role| self.place_for(*role, code).is_some())
        };
        !self.needs_code(AgentRole::Player) || code.is_some_and(known)
    }

    /// If this is the code of one place alone: how many such places the roster has.
    pub fn places_beside(&self, code: Option<&Token>) -> Option<usize> {
        let mut roles = AgentRole::ALL.into_iter();
        let place = roles.find_map(|role| self.place_for(role, code?))?;
        let named = |place: &&Place| place.invitation.name.is_some();
        named(&place).then(|| self.roster.iter().filter(named).count())
    }

    /// The slot of this code.
    pub(crate) fn place_for(&self, role: AgentRole, code: &Token) -> Option<&Place> {
        let hash = code.hash();
        let mut of_role = self
            .roster
            .iter()
            .filter(|place| place.invitation.role == role);
        of_role.find(|place| place.invitation.code.is(&hash))
    }

    /// The name on the roster of an agent that registered with a code.
    pub(crate) fn name_on_roster(&self, agent: &Sender) -> Option<&DisplayName> {
        let place = self
            .roster
            .iter()
            .find(|place| place.holder.as_ref() == Some(agent))?;
        place.invitation.name.as_ref()
    }

    fn is_on_roster(&self, role: AgentRole, name: &DisplayName) -> bool {
        self.roster.iter().any(|place| place.is(role, Some(name)))
    }

    fn place_shown(&self, place: &Place) -> RosterPlace {
        let withdrawn =
            |holder: &Sender| self.member(holder).is_some_and(|member| member.withdrawn);
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
            agent_id: place
                .holder
                .as_ref()
                .map(|holder| SmolStr::new(holder.id())),
        }
    }
}

/// The join code of a message: in `join_code`, in the path, or in `auth_token`.
fn shown(received: &ReceivedMessage) -> Option<&Token> {
    let token = received
        .envelope
        .auth_token
        .as_ref()
        .filter(|token| token.is_join_code());
    received.join_code.as_ref().or(token)
}

impl League {
    /// The slot of the join code of a registration; `None` if no code is needed.
    pub(crate) fn admitted(
        &self,
        received: &ReceivedMessage,
        role: AgentRole,
        name: &DisplayName,
    ) -> Result<Option<&Place>, RequestError> {
        if !self.needs_code(role) {
            return Ok(None);
        }
        let Some(code) = shown(received) else {
            let message = "Join code missing - send the one that the operator gave you as join_code or auth_token, or \
                           register at /join/CODE/mcp";
            return Err(RequestError::new(ErrorCode::TokenMissing, message));
        };
        let Some(place) = self.place_for(role, code) else {
            let message = format!(
                "Join code invalid - ask the operator for one for a {}",
                role.name()
            );
            let error = RequestError::new(ErrorCode::TokenInvalid, message)
                .with("provided_token", code.hint());
            // Wrong codes share one counter, because the number of names is unlimited.
            return Err(RequestError {
                guess: Some(Sender::LeagueManager),
                ..error
            });
        };
        if place.invitation.name.is_none() && self.is_on_roster(role, name) {
            let message = "Name taken - this name is on the roster, for another join code: choose another name";
            return Err(RequestError::new(ErrorCode::TokenInvalid, message));
        }
        Ok(Some(place))
    }

    /// The display name of the slot of the join code.
    pub(crate) fn name_by_code(
        &self,
        received: &ReceivedMessage,
        role: AgentRole,
    ) -> Option<&DisplayName> {
        shown(received)
            .and_then(|code| self.place_for(role, code))?
            .invitation
            .name
            .as_ref()
    }

    pub(crate) fn roster_shown(&self) -> Vec<RosterPlace> {
        self.roster
            .iter()
            .map(|place| self.place_shown(place))
            .collect()
    }

    /// Finds a slot by name, with the prefix `player:` or `referee:` if both roles have it.
    pub(crate) fn slot_called(
        &self,
        whose: &str,
    ) -> Result<(AgentRole, Option<DisplayName>), RequestError> {
        let role = AgentRole::ALL
            .into_iter()
            .find(|role| whose.starts_with(&format!("{}:", role.name())));
        let name = role
            .and_then(|_| whose.split_once(':'))
            .map_or(whose, |(_, name)| name);
        let is_it = |place: &&Place| {
            let known = place
                .invitation
                .name
                .as_ref()
                .map_or(REFEREES, DisplayName::raw);
            known == name && role.is_none_or(|role| role == place.invitation.role)
        };
        let mut found = self.roster.iter().filter(is_it);
        match (found.next(), found.next()) {
            (Some(place), None) => Ok((place.invitation.role, place.invitation.name.clone())),
            (Some(_), Some(_)) => {
                let message = format!(
                    "a player and a referee are called {name}: say player:{name} or referee:{name}"
                );
                Err(RequestError::new(ErrorCode::InvalidState, message))
            }
            (None, _) => {
                let message = format!("nobody on the roster is called {name}");
                Err(RequestError::new(ErrorCode::PlayerNotRegistered, message).with("name", name))
            }
        }
    }
}

/// The role and the name of a slot that is to be new.
pub(crate) fn new_slot(whose: &str) -> Result<(AgentRole, Option<DisplayName>), RequestError> {
    let role = |word: &str| AgentRole::ALL.into_iter().find(|role| role.name() == word);
    let place = whose
        .split_once(':')
        .and_then(|(word, name)| Some((role(word)?, DisplayName::parse(name).ok()?)));
    match place {
        Some((role, name)) => Ok((role, Some(name))),
        None => {
            let message = format!("agent_id: expected player:NAME or referee:NAME, got {whose}");
            Err(RequestError::new(ErrorCode::InvalidFormat, message))
        }
    }
}
