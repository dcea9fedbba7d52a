//! Limits on registrations: in total, and per IP address.

use super::League;
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::settings::{Admission, Registration};
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::AgentRole;
use core::net::IpAddr;

/// IPv6 addresses are counted by their /64, because one host commonly has all of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
    }
}

impl League {
    /// Whether the league takes another agent of this role.
    pub(crate) fn check_room(
        &self,
        received: &ReceivedMessage,
        role: AgentRole,
        admission: Admission,
    ) -> Result<(), RequestError> {
        if self.is_open() && admission.registration == Registration::Closed {
            return Err(RequestError::new(
                ErrorCode::LateRegistration,
                "Registration closed - the operator of the league opens it",
            ));
        }
        if !self.is_open() {
            return Err(RequestError::new(
                ErrorCode::LateRegistration,
                match role {
                    AgentRole::Player => "Registration closed - league already started",
                    AgentRole::Referee => "League already started",
                },
            ));
        }
        let settings = &self.settings;
        let (taken, most, reason) = match role {
            AgentRole::Player => (
                self.players
                    .values()
                    .filter(|player| player.is_in() && !player.away)
                    .count(),
                settings.players_max,
                "Maximum players reached",
            ),
            AgentRole::Referee => (
                self.referees
                    .values()
                    .filter(|referee| referee.is_in())
                    .count(),
                settings.referees_max,
                "Maximum referees reached",
            ),
        };
        if taken >= most as usize {
            return Err(RequestError::new(ErrorCode::InvalidState, reason));
        }
        // Whoever shows a code of its own is known to the operator, from wherever it comes.
        if self.name_by_code(received, role).is_some() {
            return Ok(());
        }
        self.check_address(received, admission.registrations_per_address)
    }

    /// Whether the address has not reached its limit. Loopback is not limited, and places on the roster are not counted; 0 is for any
    /// number.
    fn check_address(&self, received: &ReceivedMessage, most: u32) -> Result<(), RequestError> {
        let Some(client) = received
            .client
            .filter(|client| most > 0 && !client.is_loopback())
        else {
            return Ok(());
        };
        let network = network(client);
        let from_there = self.members().filter(|(agent, member)| {
            let known = member.request.and_then(|request| request.client);
            member.is_in()
                && known.is_some_and(|known| self::network(known) == network)
                && self.name_on_roster(agent).is_none()
        });
        if from_there.count() < most as usize {
            return Ok(());
        }
        let reason = format!(
            "Too many registrations from one address - {most} agents have registered from {client}: ask the operator \
             for a higher --agents-per-address"
        );
        Err(RequestError::new(ErrorCode::InvalidState, reason)
            .with("registrations_per_address", most))
    }
}
