//! Players that dial out, over the real HTTP of relay and client: cut off from the manager, and slow, while a league is played.

use crate::sim_network::{MANAGER, SimNetwork};
use crate::wire::SimDialer;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::{Endpoint, Token};
use matchday_net::client::Client;
use matchday_runtime::Options;
use matchday_server::connect::{
    AgentEndpoint, AgentListener, Dialled, DialledAgent, RelayClient, RelayError, Status,
};
use matchday_server::relay::{Relay, RelayLimits, RelaySettings};
use matchday_store::Store;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A relay at the manager.
pub(crate) fn mount(store: &Store, options: &mut Options) -> Arc<Relay> {
    let base_url = format!("http://{}:8000", turmoil::lookup(MANAGER));
    let limits = RelayLimits::new(64, 64);
    let settings = RelaySettings {
        base_url,
        limits,
        message_bytes_max: Limits::MANAGER.message_bytes_max,
    };
    let relay = Relay::open(settings, store.clone(), Default::default(), options).unwrap();
    relay.mount(options);
    relay
}

/// Opens a mailbox, as soon as the manager can be reached.
pub(crate) async fn out(
    manager: &str,
    mut entropy: Entropy,
) -> Result<(AgentListener, Endpoint), RelayError> {
    let client = Client::with_dialer(Arc::new(SimDialer));
    let opened = loop {
        match RelayClient::open(&client, manager, None).await {
            Err(RelayError::Unreachable(_) | RelayError::Refused(..)) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            opened => break opened?,
        }
    };
    let name = format!("client{}", entropy.next_u64());
    let relay = RelayClient::new(
        client,
        manager,
        &opened.mailbox,
        Token::new(&*opened.relay_token),
        name,
    );
    let agent = DialledAgent::default();
    let answers = AgentEndpoint::InProcess(Arc::clone(&agent));
    tokio::spawn(Dialled::new(relay, answers, Status::new(|_, _| {}), false).run(entropy));
    let contact = Endpoint::parse(&opened.contact_endpoint).unwrap();
    Ok((
        AgentListener::Dialled {
            contact: contact.clone(),
            agent,
        },
        contact,
    ))
}

#[test]
fn players_that_dial_out_play_a_league_though_their_streams_are_cut() {
    for seed in 0..6 {
        let network = Rc::new(SimNetwork::new(seed, 3, 1).dialling());
        let mut sim = network.settle();
        let mut chance = matchday_runtime::entropy_numbered(seed, "cuts");
        let cuts: Vec<_> = (0..3)
            .map(|_| {
                let player = network.players[usize::try_from(chance.below(3)).unwrap()].clone();
                let begins = Duration::from_millis(200 + chance.below(2_000));
                (
                    player,
                    begins,
                    begins + Duration::from_millis(100 + chance.below(1_500)),
                )
            })
            .collect();
        let bound = network.bound() + Duration::from_secs(60);
        while network.completed().is_none() {
            let now = sim.elapsed();
            assert!(now < bound, "seed {seed}: the league does not end");
            sim.step().unwrap();
            for (player, begins, ends) in &cuts {
                if now < *begins && sim.elapsed() >= *begins {
                    sim.partition(player.as_str(), MANAGER);
                }
                if now < *ends && sim.elapsed() >= *ends {
                    sim.repair(player.as_str(), MANAGER);
                }
            }
        }
        assert_eq!(
            network.replayed(),
            network.completed().unwrap(),
            "seed {seed}"
        );
    }
}

#[test]
fn over_a_sound_network_nobody_that_dials_out_loses_for_want_of_an_answer() {
    let network = Rc::new(SimNetwork::new(7, 3, 1).dialling());
    let mut sim = network.settle();
    while network.completed().is_none() {
        assert!(sim.elapsed() < network.bound(), "the league does not end");
        sim.step().unwrap();
    }
    let log = network.log.lock().unwrap().join("\n");
    assert!(!log.to_lowercase().contains("technical"), "{log}");
}
