//! Limits on registrations: in total, and per IP address.

use super::applicant::{Applicant, NewMember};
use super::event::Requested;
use super::manager::Manager;
use super::request::{ReceivedMessage, RequestError};
use crate::protocol::error::ErrorCode;
use core::net::IpAddr;

/// IPv6 addresses are counted by their /64, because one host commonly has all of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
    }
}

impl Manager {
    /// Whether the league takes another agent. One that renews its registration counts already.
    pub(super) fn check_room(
        &self,
        received: &ReceivedMessage,
        new_member: &NewMember,
    ) -> Result<(), RequestError> {
        if new_member.renews.is_some() {
            return Ok(());
        }
        if !self.league.is_open() {
            return Err(RequestError::new(
                ErrorCode::LateRegistration,
                "Registration closed - league already started",
            ));
        }
        let settings = &self.league.settings;
        let (taken, most, reason) = match new_member.applicant {
            Applicant::Player(_) => (
                self.league.players.values().filter(|player| player.is_in() && !player.away).count(),
                settings.players_max,
                "Maximum players reached",
            ),
            Applicant::Referee(_) => (
                self.league.referees.values().filter(|referee| referee.is_in()).count(),
                settings.referees_max,
                "Maximum referees reached",
            ),
        };
        if taken >= most as usize {
            return Err(RequestError::new(ErrorCode::InvalidState, reason));
        }
        self.check_address(received)
    }

    /// Whether the address has not reached its limit. Loopback is not limited.
    fn check_address(&self, received: &ReceivedMessage) -> Result<(), RequestError> {
        let most = self.league.settings.registrations_per_address;
        let Some(client) = received.client.filter(|client| most > 0 && !client.is_loopback()) else {
            return Ok(());
        };
        let network = network(client);
        let players = self.league.players.values().filter(|player| player.is_in()).map(|it| it.request);
        let referees = self.league.referees.values().filter(|referee| referee.is_in()).map(|it| it.request);
        let from_there = |request: &Option<Requested>| {
            request.and_then(|request| request.client).is_some_and(|known| self::network(known) == network)
        };
        if players.chain(referees).filter(from_there).count() < most as usize {
            return Ok(());
        }
        let reason = format!(
            "Too many registrations from one address - {most} agents have registered from {client}: ask the operator \
             for a higher --agents-per-address"
        );
        Err(RequestError::new(ErrorCode::InvalidState, reason).with("registrations_per_address", most))
    }
}
