//! A hostile agent at work: a listening socket, a registration, and what it does with its callers.

use crate::agents::{Behaviour, HostileAgent};
use crate::tricks::GZIP_BOMB;
use crate::wire::{WireRequest, as_response, json_response, next_request, right_result};
use matchday_testkit::test_league::{TestLeague, endpoint, free_port};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What a hostile agent knows.
struct AgentServer {
    agent: HostileAgent,
    own: SocketAddr,
    manager: SocketAddr,
    referees: Vec<SocketAddr>,
    token: String,
    /// What it said when it last joined a match.
    joined: Mutex<Value>,
    test_league: Arc<TestLeague>,
    /// What it was told when it called others in somebody else's name.
    told: Arc<Mutex<Vec<Value>>>,
}

/// Runs until this is dropped.
pub(crate) struct RunningAgent {
    pub(crate) agent: HostileAgent,
    pub(crate) told: Arc<Mutex<Vec<Value>>>,
    _life: JoinSet<()>,
}

/// Registers the hostile agent as a player, and lets it do what it does.
pub(crate) async fn start_agent(
    test_league: &Arc<TestLeague>,
    agent: HostileAgent,
    manager: SocketAddr,
    referees: &[SocketAddr],
) -> RunningAgent {
    let listener = free_port().await;
    let own = listener.local_addr().unwrap();
    let token = register(test_league, manager, own, agent.name).await;
    LazyLock::force(&GZIP_BOMB);
    let told = Arc::new(Mutex::new(Vec::new()));
    let server = AgentServer {
        agent,
        own,
        manager,
        referees: referees.to_vec(),
        token,
        joined: Mutex::default(),
        test_league: Arc::clone(test_league),
        told: Arc::clone(&told),
    };
    let mut life = JoinSet::new();
    life.spawn(live(listener, Arc::new(server)));
    RunningAgent {
        agent,
        told,
        _life: life,
    }
}

/// The token by which the manager knows the player that says it is at `own`.
pub(crate) async fn register(
    test_league: &TestLeague,
    manager: SocketAddr,
    own: SocketAddr,
    name: &str,
) -> String {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:agent",
            "timestamp": test_league.clock.now(), "conversation_id": format!("conv-{}", own.port()),
            "player_meta": {
                "display_name": name, "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": endpoint(own),
            },
        },
    });
    let (_, answer) = test_league.post(manager, message.to_string()).await;
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{name}: {answer}");
    answer["result"]["auth_token"].as_str().unwrap().to_owned()
}

async fn live(listener: TcpListener, server: Arc<AgentServer>) {
    let mut callers = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        callers.spawn(receive(stream, Arc::clone(&server)));
        while callers.try_join_next().is_some() {}
    }
}

async fn receive(mut stream: TcpStream, server: Arc<AgentServer>) {
    while let Some(asked) = next_request(&mut stream).await {
        let goes_on = match server.agent.behaviour {
            Behaviour::Wire(trick) => trick.play(&mut stream, server.own, server.manager).await,
            Behaviour::Choice(_) => {
                let answer = server.answer(&asked).await;
                stream.write_all(&answer).await.is_ok()
            }
        };
        if !goes_on {
            return;
        }
    }
}

impl AgentServer {
    async fn answer(&self, asked: &WireRequest) -> Vec<u8> {
        let right = right_result(asked, &self.token);
        if let (Behaviour::Choice(content), true) =
            (self.agent.behaviour, asked.is("CHOOSE_PARITY_CALL"))
        {
            let joined = self.joined.lock().unwrap().clone();
            if let Some(call) = content.call(asked, &self.token) {
                for referee in &self.referees {
                    let (_, told) = self.test_league.post(*referee, call.to_string()).await;
                    self.told.lock().unwrap().push(told);
                }
            }
            return content.answer(asked, &self.token, &joined);
        }
        if asked.is("GAME_INVITATION") {
            *self.joined.lock().unwrap() = right.clone();
        }
        json_response(&as_response(asked, &right).to_string())
    }
}
