//! An agent that asks to be registered, with what it announces of itself.

use crate::league::event::{LeagueEvent, RegistrationRecord, RenewedBy};
use crate::league::member::AgentMeta;
use crate::protocol::Sender;
use crate::protocol::dialect::Dialect;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::messages::{AgentRole, PlayerMeta, RefereeMeta};
use crate::protocol::text::DisplayName;
use crate::protocol::token::TokenHash;

/// An applicant that is to be taken on: as a new member, or anew as one that it has been.
#[derive(Debug)]
pub(in crate::league) struct NewMember {
    pub(in crate::league) applicant: Applicant,
    pub(in crate::league) renews: Option<(Sender, RenewedBy)>,
}

/// Who wants in, with what it says of itself.
#[derive(Debug, Clone)]
pub(in crate::league) enum Applicant {
    Player(PlayerMeta),
    Referee(RefereeMeta),
}

impl Applicant {
    pub(in crate::league) fn meta(&self) -> &dyn AgentMeta {
        match self {
            Self::Player(meta) => meta,
            Self::Referee(meta) => meta,
        }
    }

    pub(in crate::league) fn role(&self) -> AgentRole {
        match self {
            Self::Player(_) => AgentRole::Player,
            Self::Referee(_) => AgentRole::Referee,
        }
    }

    /// Whether a member has the role that it applies for.
    pub(in crate::league) fn may_be(&self, member: &Sender) -> bool {
        match self {
            Self::Player(_) => matches!(member, Sender::Player(_)),
            Self::Referee(_) => matches!(member, Sender::Referee(_)),
        }
    }

    /// With another display name, if there is one.
    pub(in crate::league) fn renamed(mut self, name: Option<&DisplayName>) -> Self {
        let own = match &mut self {
            Self::Player(meta) => &mut meta.display_name,
            Self::Referee(meta) => &mut meta.display_name,
        };
        if let Some(name) = name {
            *own = name.clone();
        }
        self
    }

    /// Its registration under an id, with a token.
    pub(in crate::league) fn registered(
        self,
        id: &str,
        token: TokenHash,
        dialect: Dialect,
        request: RegistrationRecord,
    ) -> LeagueEvent {
        match self {
            Self::Player(meta) => LeagueEvent::PlayerRegistered {
                player_id: PlayerId::new(id),
                meta,
                token,
                dialect,
                request,
            },
            Self::Referee(meta) => LeagueEvent::RefereeRegistered {
                referee_id: RefereeId::new(id),
                meta,
                token,
                dialect,
                request,
            },
        }
    }

    /// Its registration again under its id, with the token that it has.
    pub(in crate::league) fn rejoined(
        self,
        id: &str,
        dialect: Dialect,
        request: RegistrationRecord,
    ) -> LeagueEvent {
        match self {
            Self::Player(meta) => LeagueEvent::PlayerRejoined {
                player_id: PlayerId::new(id),
                meta,
                dialect,
                request,
            },
            Self::Referee(meta) => LeagueEvent::RefereeRejoined {
                referee_id: RefereeId::new(id),
                meta,
                dialect,
                request,
            },
        }
    }
}
