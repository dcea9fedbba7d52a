//! A manager for one player: it registers here under the id of its choice, and so believes what is derived from the token that
//! it is given here. Nobody else has that token.

use super::fake_agent::{FakeAgent, FakeServer, Responder};
use super::player::registration::{identity, is_registration, refusal_of, registration};
use super::{Wait, ack_server};
use anyhow::{Context, Result, bail};
use matchday_core::entropy::Entropy;
use matchday_core::league::{EndpointCheck, LeagueSettings, Manager};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::dialect::reply::HttpReply;
use matchday_core::protocol::{Endpoint, GameType, LeagueId, PlayerId, Token};
use matchday_runtime::Clock;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// As many ids as a league has at most.
const PLAYERS_MAX: u64 = 500;

/// The player to wait for.
#[derive(Debug)]
pub struct Expected<'a> {
    pub player: &'a PlayerId,
    pub league: LeagueId,
    pub game: GameType,
}

#[derive(Debug)]
pub struct OwnPlayer {
    pub endpoint: Endpoint,
    pub token: Token,
    /// Kept open, because the agent may call its manager.
    _server: FakeServer,
}

struct Host {
    manager: FakeAgent<Manager>,
    granted: Arc<Mutex<Option<Token>>>,
}

impl Responder for Host {
    fn answer(&mut self, body: &[u8]) -> HttpReply {
        let (reply, contents) = self.manager.answer(body);
        if let Some(token) = identity(&contents).and_then(|identity| identity.token) {
            let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
            *granted = Some(token);
        }
        reply
    }
}

/// Waits for the agent to register. Fails with why it has not.
pub async fn wait(
    expected: Expected<'_>,
    Wait { listener, within }: Wait,
    entropy: &mut Entropy,
) -> Result<OwnPlayer> {
    let player = expected.player;
    let number = player
        .as_str()
        .strip_prefix('P')
        .and_then(|digits| digits.parse().ok())
        .filter(|number| (1..=PLAYERS_MAX).contains(number));
    let number: u64 =
        number.with_context(|| format!("{player} is not a player id, such as P01"))?;
    let clock = Clock::start();
    let settings = LeagueSettings {
        league_id: expected.league,
        game_type: expected.game.clone(),
        conformance: Conformance::Lenient,
        endpoint_check: EndpointCheck::Off,
        registrations_per_address: u32::MAX,
        ..LeagueSettings::default()
    };
    let mut manager = FakeAgent::new(
        Manager::new(settings),
        clock,
        Entropy::from_seed(entropy.bytes()),
    );
    // Ids are given out in order.
    for earlier in 1..number {
        if let Some(registration) = registration(clock.now(), earlier, expected.game.as_str()) {
            let _accepted = manager.answer(&write_call(Dialect::Standard, 1, &registration));
        }
    }
    let granted = Arc::new(Mutex::new(None));
    let host = Host {
        manager,
        granted: Arc::clone(&granted),
    };
    let mut server = FakeServer::start(listener, host);
    while let Some(exchange) = server.next(within).await {
        if !is_registration(&exchange.request) {
            continue;
        }
        let token = granted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let named = ack_server::message_in(&exchange.request);
        let endpoint = named
            .as_ref()
            .and_then(|named| named.pointer("/player_meta/contact_endpoint"))
            .and_then(Value::as_str)
            .and_then(|url| Endpoint::parse(url).ok());
        let (Some(token), Some(endpoint)) = (token, endpoint) else {
            bail!(
                "the agent's registration is refused: {}",
                refusal_of(&exchange)
            );
        };
        return Ok(OwnPlayer {
            endpoint,
            token,
            _server: server,
        });
    }
    bail!("no agent has registered here in time - start it, or wait longer with --wait-for")
}
