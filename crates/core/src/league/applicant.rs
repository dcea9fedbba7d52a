//! An agent that asks to be registered, with what it announces of itself.

use super::event::RenewedBy;
use crate::protocol::Sender;
use crate::protocol::ids::GameType;
use crate::protocol::messages::{AgentRole, PlayerMeta, RefereeMeta};
use crate::protocol::text::{DisplayName, Endpoint};

/// An applicant that is to be taken on: as a new member, or anew as one that it has been.
#[derive(Debug)]
pub(super) struct NewMember {
    pub(super) applicant: Applicant,
    pub(super) renews: Option<(Sender, RenewedBy)>,
}

/// Who wants in, with what it says of itself.
#[derive(Debug, Clone)]
pub(super) enum Applicant {
    Player(PlayerMeta),
    Referee(RefereeMeta),
}

impl Applicant {
    pub(super) fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Player(meta) => &meta.contact_endpoint,
            Self::Referee(meta) => &meta.contact_endpoint,
        }
    }

    pub(super) fn name(&self) -> &DisplayName {
        match self {
            Self::Player(meta) => &meta.display_name,
            Self::Referee(meta) => &meta.display_name,
        }
    }

    pub(super) fn role(&self) -> AgentRole {
        match self {
            Self::Player(_) => AgentRole::Player,
            Self::Referee(_) => AgentRole::Referee,
        }
    }

    /// With another display name, if there is one.
    pub(super) fn renamed(mut self, name: Option<&DisplayName>) -> Self {
        let own = match &mut self {
            Self::Player(meta) => &mut meta.display_name,
            Self::Referee(meta) => &mut meta.display_name,
        };
        if let Some(name) = name {
            *own = name.clone();
        }
        self
    }

    pub(super) fn games(&self) -> &[GameType] {
        match self {
            Self::Player(meta) => &meta.game_types,
            Self::Referee(meta) => &meta.game_types,
        }
    }

    pub(super) fn protocol_version(&self) -> Option<&str> {
        match self {
            Self::Player(meta) => meta.protocol_version.as_deref(),
            Self::Referee(meta) => meta.protocol_version.as_deref(),
        }
    }

    pub(super) fn meta_field(&self) -> &'static str {
        match self {
            Self::Player(_) => "player_meta",
            Self::Referee(_) => "referee_meta",
        }
    }
}

/// The supported versions of league.v2.
pub(super) const VERSIONS: &str = ">=2.0.0, <2.2.0";

/// Whether a version is supported; `2.1` means `2.1.0`.
pub(super) fn speaks(version: &str) -> bool {
    let parsed = semver::Version::parse(version).or_else(|_| semver::Version::parse(&format!("{version}.0")));
    match (semver::VersionReq::parse(VERSIONS), parsed) {
        (Ok(spoken), Ok(version)) => spoken.matches(&version),
        _ => false,
    }
}
