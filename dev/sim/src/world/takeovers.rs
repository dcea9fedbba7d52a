//! An outsider that tries to take over agents of the league: it knows their names, endpoints and conversations, writes any
//! timestamp, and has neither their tokens nor their keys.

use super::World;
use crate::agent_id::AgentId;
use crate::call::Purpose;
use crate::failure::{Checker, Fault};
use crate::faults::pick;
use crate::wire::Packet;
use matchday_core::league::RegistrationRecord;
use matchday_core::protocol::messages::{
    LeagueRegisterRequest, PlayerMeta, RefereeMeta, RefereeRegisterRequest, RegisterStatus,
};
use matchday_core::protocol::token::TokenHash;
use matchday_core::protocol::{
    Body, ConversationId, Endpoint, Envelope, Message, PlayerId, RefereeId, Sender, Token,
};
use std::time::Duration;

/// What an agent would lose with its registration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeldRegistration {
    id: Sender,
    endpoint: Endpoint,
    token: TokenHash,
    request: Option<RegistrationRecord>,
}

/// A clock may be far ahead, and yet nobody is locked out by it.
const FAR_AHEAD: Duration = Duration::from_secs(73 * 365 * 24 * 60 * 60);

impl World {
    /// What an agent holds in the league, if it has registered.
    pub(super) fn held_by(&self, who: AgentId) -> Option<HeldRegistration> {
        let league = self.agents.league();
        let players = league.players.iter().map(|(id, it)| {
            (
                Sender::Player(id.clone()),
                &it.meta.contact_endpoint,
                it.token,
                it.request,
            )
        });
        let referees = league.referees.iter().map(|(id, it)| {
            (
                Sender::Referee(id.clone()),
                &it.meta.contact_endpoint,
                it.token,
                it.request,
            )
        });
        let (id, endpoint, token, request) = players
            .chain(referees)
            .find(|(_, endpoint, ..)| AgentId::at(endpoint) == Some(who))?;
        Some(HeldRegistration {
            id,
            endpoint: endpoint.clone(),
            token,
            request,
        })
    }

    /// Registers under the name of an agent that has registered.
    pub(super) fn try_takeover(&mut self) {
        let league = self.agents.league();
        let players = league
            .players
            .values()
            .map(|member| Victim::Player(member.meta.clone()));
        let referees = league
            .referees
            .values()
            .map(|member| Victim::Referee(member.meta.clone()));
        let victims: Vec<_> = players.chain(referees).collect();
        // Only a start that was answered is known to be stored.
        let closed = self.launched && !league.is_open();
        let Some(victim) = pick(&mut self.chance, &victims).cloned() else {
            return;
        };
        let Some(who) = AgentId::at(victim.endpoint()) else {
            return;
        };
        let own = self.wiretap.conversation_of(who).cloned();
        let conversation = own.filter(|_| self.chance.chance(50));
        let conversation = conversation.unwrap_or_else(|| ConversationId::new("conv-takeover"));
        let hour = Duration::from_secs(60 * 60);
        let times = [
            self.now,
            self.now + hour,
            self.now + FAR_AHEAD,
            self.now - hour,
        ];
        let timestamp = pick(&mut self.chance, &times).copied().unwrap_or(self.now);
        let seen = pick(&mut self.chance, self.wiretap.match_tokens()).cloned();
        let token = match self.chance.below(3) {
            0 => None,
            1 => Some(Token::new_registration_key(&mut self.chance)),
            _ => seen,
        };
        // Before the start another endpoint is another agent, and may register.
        let moves = closed && self.chance.chance(50);
        let body = victim.registration(moves.then(|| AgentId::Outsider.endpoint()));
        let sender = match &body {
            Body::RefereeRegisterRequest(_) => Sender::Referee(RefereeId::new("outsider")),
            _ => Sender::Player(PlayerId::new("outsider")),
        };
        let envelope = Envelope::new(sender, timestamp, conversation).with_token(token);
        self.stats.takeovers += 1;
        let message = Message { envelope, body };
        self.call_from_outside(
            Purpose::Takeover(who),
            AgentId::Outsider,
            AgentId::Manager,
            Packet::Message(message),
        );
    }
}

#[derive(Debug, Clone)]
enum Victim {
    Player(PlayerMeta),
    Referee(RefereeMeta),
}

impl Victim {
    fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Player(meta) => &meta.contact_endpoint,
            Self::Referee(meta) => &meta.contact_endpoint,
        }
    }

    fn registration(self, moved_to: Option<Endpoint>) -> Body {
        match self {
            Self::Player(mut meta) => {
                meta.contact_endpoint = moved_to.unwrap_or(meta.contact_endpoint);
                LeagueRegisterRequest {
                    player_meta: meta,
                    join_code: None,
                }
                .into()
            }
            Self::Referee(mut meta) => {
                meta.contact_endpoint = moved_to.unwrap_or(meta.contact_endpoint);
                RefereeRegisterRequest {
                    referee_meta: meta,
                    join_code: None,
                }
                .into()
            }
        }
    }
}

/// An agent keeps what it holds, whatever somebody registers who cannot prove to be it.
pub(super) fn nothing_lost(
    before: &HeldRegistration,
    after: Option<&HeldRegistration>,
) -> Result<(), Fault> {
    if after == Some(before) {
        return Ok(());
    }
    Err(Fault::new(
        Checker::NobodyTakenOver,
        format!("{before:?} became {after:?}"),
    ))
}

/// Whether a takeover was refused.
pub(super) fn is_refused(body: Option<&Body>) -> bool {
    match body {
        Some(Body::LeagueRegisterResponse(response)) => {
            response.answer.status == RegisterStatus::Rejected && response.player_id.is_none()
        }
        Some(Body::RefereeRegisterResponse(response)) => {
            response.answer.status == RegisterStatus::Rejected && response.referee_id.is_none()
        }
        Some(Body::LeagueError(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::entropy::Entropy;

    fn held(number: u64) -> HeldRegistration {
        HeldRegistration {
            id: Sender::Player(PlayerId::numbered(1)),
            endpoint: AgentId::Player(1).endpoint(),
            token: Token::issue("P01", &mut Entropy::numbered(number)).hash(),
            request: None,
        }
    }

    #[test]
    fn an_agent_that_loses_its_token_or_its_endpoint_is_noticed() {
        let moved = HeldRegistration {
            endpoint: AgentId::Outsider.endpoint(),
            ..held(1)
        };
        assert_eq!(nothing_lost(&held(1), Some(&held(1))), Ok(()));
        for after in [Some(&held(2)), Some(&moved), None] {
            assert_eq!(
                nothing_lost(&held(1), after).unwrap_err().checker,
                Checker::NobodyTakenOver
            );
        }
    }
}
