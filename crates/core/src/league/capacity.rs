//! How many agents the league takes: in all, and from one address.

use super::event::Requested;
use super::manager::{Asked, Manager, Refusal};
use super::registration::{Applicant, Newcomer};
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::Phase;
use core::net::IpAddr;

/// Addresses of one network are counted together: a host with IPv6 commonly has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
    }
}

impl Manager {
    /// Whether the league still takes anyone. An agent that renews its registration has its place.
    pub(super) fn check_room(&self, asked: &Asked, newcomer: &Newcomer) -> Result<(), Refusal> {
        if newcomer.renews.is_some() {
            return Ok(());
        }
        if self.league.phase != Phase::Registration {
            return Err(Refusal::new(
                ErrorCode::LateRegistration,
                "Registration closed - league already started",
            ));
        }
        let settings = &self.league.settings;
        let (taken, most, reason) = match newcomer.applicant {
            Applicant::Player(_) => (
                self.league.players.values().filter(|player| player.is_in()).count(),
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
            return Err(Refusal::new(ErrorCode::InvalidState, reason));
        }
        self.check_address(asked)
    }

    /// Whether the address has not registered too many already. This machine's own agents are not counted.
    fn check_address(&self, asked: &Asked) -> Result<(), Refusal> {
        let most = self.league.settings.registrations_per_address;
        let Some(client) = asked.client.filter(|client| most > 0 && !client.is_loopback()) else {
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
             for a higher --registrations-per-address"
        );
        Err(Refusal::new(ErrorCode::InvalidState, reason).with("registrations_per_address", most))
    }
}
