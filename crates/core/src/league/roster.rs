//! Who may register, where the operator has given out join codes: the places of the roster, and the codes for them. A
//! place with a name is for one agent; a code without a name is shared by all agents of its role.

use super::event::LeagueEvent;
use super::manager::{Act, Asked, Manager, Refusal};
use super::registration::Applicant;
use super::state::League;
use crate::agent::{Content, Reply};
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::{AgentRole, PlaceState, RosterPlace};
use crate::protocol::text::DisplayName;
use crate::protocol::token::TokenHash;
use crate::protocol::{Message, Sender, Token};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// What an order calls the code that referees share.
pub const REFEREES: &str = "referees";

/// A join code that the operator has given out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub role: AgentRole,
    /// For whom; `None` for any number of agents of the role, each under its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DisplayName>,
    #[serde(rename = "join_code")]
    pub code: TokenHash,
}

/// A place on the roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub invitation: Invitation,
    /// Who registered for it, if it has a name.
    pub holder: Option<Sender>,
    /// Whether its holder registered with this very code, and not with one that was replaced since.
    pub used: bool,
}

impl Place {
    fn is(&self, role: AgentRole, name: Option<&DisplayName>) -> bool {
        self.invitation.role == role && self.invitation.name.as_ref() == name
    }
}

impl League {
    /// Takes in a code: for a place that is there, or for a new one.
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

    /// An agent of this name has registered.
    pub(super) fn take_place(&mut self, role: AgentRole, name: &DisplayName, agent: Sender) {
        if let Some(place) = self.roster.iter_mut().find(|place| place.is(role, Some(name))) {
            (place.holder, place.used) = (Some(agent), true);
        }
    }

    /// Whether agents of this role need a join code.
    pub fn needs_code(&self, role: AgentRole) -> bool {
        self.roster.iter().any(|place| place.invitation.role == role)
    }

    /// The place for which this code was given out.
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

/// The join code that is shown: in `join_code`, in the path, or where agents show tokens.
fn shown(asked: &Asked) -> Option<&Token> {
    let token = asked.envelope.auth_token.as_ref().filter(|token| token.is_join_code());
    asked.join_code.as_ref().or(token)
}

impl Manager {
    /// The place whose code the applicant shows, or `None` where no code is needed.
    pub(super) fn admitted(&self, asked: &Asked, applicant: &Applicant) -> Result<Option<&Place>, Refusal> {
        let role = applicant.role();
        if !self.league.needs_code(role) {
            return Ok(None);
        }
        let Some(code) = shown(asked) else {
            let message = "Join code missing - send the one that the operator gave you as join_code or auth_token, or \
                           register at /join/CODE/mcp";
            return Err(Refusal::new(ErrorCode::TokenMissing, message));
        };
        let Some(place) = self.league.place_for(role, code) else {
            let message = format!("Join code invalid - ask the operator for one for a {}", role.name());
            let refusal = Refusal::new(ErrorCode::TokenInvalid, message).with("provided_token", code.hint());
            // Guesses share one count, whatever name they come in: there is no end of names.
            return Err(Refusal { guess: Some(Sender::LeagueManager), ..refusal });
        };
        if place.invitation.name.is_none() && self.league.is_on_roster(role, applicant.name()) {
            let message =
                "Name taken - this name is on the roster, for another join code: choose another name";
            return Err(Refusal::new(ErrorCode::TokenInvalid, message));
        }
        Ok(Some(place))
    }

    /// The applicant under the name that the roster has for its code.
    pub(super) fn named_by_code(&self, asked: &Asked, applicant: Applicant) -> Applicant {
        let place = shown(asked).and_then(|code| self.league.place_for(applicant.role(), code));
        applicant.renamed(place.and_then(|place| place.invitation.name.as_ref()))
    }

    pub(super) fn roster(&self) -> Vec<RosterPlace> {
        self.league.roster.iter().map(|place| self.league.place_shown(place)).collect()
    }

    /// Makes a new code for a place, which the answer shows this once: for one on the roster, or with `add` for a new one.
    pub(super) fn issue_code(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        whose: &str,
        add: bool,
    ) -> Result<(), Refusal> {
        let (role, name) = if add { new_place(whose)? } else { self.place_called(whose)? };
        if add && self.league.roster.iter().any(|place| place.is(role, name.as_ref())) {
            let message = format!("{whose} is on the roster already: rotate its code instead");
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        }
        let code = Token::new_join_code(act.entropy);
        let invitation = Invitation { role, name, code: code.hash() };
        self.record(act, LeagueEvent::JoinCodeIssued { invitation });
        let envelope = self.envelope(act.now, asked.envelope.conversation_id.as_str()).with_token(Some(code));
        let content = Content::Message(Message::new(envelope, self.status()));
        act.step.replies.push(Reply { to: asked.request, content });
        Ok(())
    }

    /// By its name, with `player:` or `referee:` before it where both roles have it.
    fn place_called(&self, whose: &str) -> Result<(AgentRole, Option<DisplayName>), Refusal> {
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
                Err(Refusal::new(ErrorCode::InvalidState, message))
            }
            (None, _) => {
                let message = format!("nobody on the roster is called {name}");
                Err(Refusal::new(ErrorCode::PlayerNotRegistered, message).with("name", name))
            }
        }
    }
}

fn new_place(whose: &str) -> Result<(AgentRole, Option<DisplayName>), Refusal> {
    let role = |word: &str| AgentRole::ALL.into_iter().find(|role| role.name() == word);
    let place =
        whose.split_once(':').and_then(|(word, name)| Some((role(word)?, DisplayName::parse(name).ok()?)));
    match place {
        Some((role, name)) => Ok((role, Some(name))),
        None => {
            let message = format!("agent_id: expected player:NAME or referee:NAME, got {whose}");
            Err(Refusal::new(ErrorCode::InvalidFormat, message))
        }
    }
}
