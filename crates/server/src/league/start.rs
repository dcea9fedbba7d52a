//! The start of a league: by its operator's process, or as soon as enough have registered. By way of the manager's own messages.

use super::{RunningLeague, StartCounts};
use crate::reach::is_reached;
use crate::relay::Relay;
use matchday_core::agent::Content;
use matchday_core::league::Manager;
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{Body, ConversationId, Envelope, LeagueId, Message, Sender};
use matchday_net::client::Client;
use matchday_runtime::{Inspector, Intake, LocalRoutes, Mailboxes};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// How long after a refused connection a player is tried again.
const PAUSE: Duration = Duration::from_millis(500);
/// How long an agent that dials out may take to come to the next league of its season: until the one before has let it go, and it
/// has dialled again.
const DIALLED_WITHIN: Duration = Duration::from_secs(10);

impl RunningLeague {
    /// Waits until so many players can be reached that are in and not suspended; says why the league cannot begin if too few can.
    pub async fn players_answer(&self, wanted: usize) -> Result<(), String> {
        let look = |manager: &Manager| {
            let league = manager.league();
            let players = league.players.values().filter(|player| player.is_in());
            let players = players.map(|player| {
                let endpoint = player.meta.contact_endpoint.raw().to_owned();
                Some(endpoint).filter(|_| player.is_there())
            });
            let players: Vec<Option<String>> = players.collect();
            (league.phase, players, league.settings.probe_timeout)
        };
        let (players, within) = match self.manager.handle.inspect(look).await {
            Some((Phase::Registration, players, within)) => (players, within),
            // What it is instead is said by the manager.
            _ => return Ok(()),
        };
        let registered = players.len();
        let until = Instant::now() + within;
        let mut asked = JoinSet::new();
        for url in players.into_iter().flatten() {
            let (client, routes) = (self.options.client.clone(), self.options.routes.clone());
            match self.relay.clone().filter(|relay| relay.has(&url)) {
                Some(relay) => asked.spawn(async move { dials(&relay, &url).await }),
                None => asked.spawn(async move { answers(&client, &routes, &url, until).await }),
            };
        }
        let mut reached = 0;
        while reached < wanted
            && let Some(answered) = asked.join_next().await
        {
            reached += usize::from(answered.unwrap_or(false));
        }
        if reached >= wanted {
            return Ok(());
        }
        Err(if registered < wanted {
            format!("a league needs at least {wanted} players; registered: {registered}")
        } else {
            format!(
                "a league needs at least {wanted} players that can be reached and are not suspended: of the {registered} that are in \
                 it, {reached} can"
            )
        })
    }
}

/// Whether the agent reads its mailbox; waited for, because it may just be coming from another league.
async fn dials(relay: &Relay, url: &str) -> bool {
    let until = Instant::now() + DIALLED_WITHIN;
    while relay.has_reader(url) != Some(true) {
        if Instant::now() + PAUSE >= until {
            return false;
        }
        sleep(PAUSE).await;
    }
    true
}

/// Whether a connection to the agent can be made; tried until it can, or the time is over.
async fn answers(client: &Client, routes: &LocalRoutes, url: &str, until: Instant) -> bool {
    while !is_reached(client, routes, url, until).await {
        if Instant::now() + PAUSE >= until {
            return false;
        }
        sleep(PAUSE).await;
    }
    true
}

/// Starts a league of this process.
#[derive(Debug, Clone)]
pub struct Starter {
    pub(super) league_id: LeagueId,
    pub(super) manager: Inspector<Manager>,
    pub(super) intake: Arc<Intake>,
}

impl Starter {
    /// Starts the league, as its operator would; says why if that is refused.
    pub async fn start(&self) -> Result<(), String> {
        let conversation = ConversationId::new("conv-start");
        let envelope = Envelope::new(Sender::Launcher, self.intake.now(), conversation);
        let start = StartLeague {
            league_id: self.league_id.clone(),
        };
        match self.intake.order(Message::new(envelope, start)).await {
            Ok(Content::Message(Message {
                body: Body::LeagueError(error),
                ..
            })) => {
                let message = error
                    .error_message
                    .as_ref()
                    .map(|text| text.escaped().to_string());
                Err(format!(
                    "{} {}",
                    error.error_code.code(),
                    message.unwrap_or_default()
                ))
            }
            Ok(_) => Ok(()),
            Err(_) => Err("the manager is stopping".to_owned()),
        }
    }

    /// Starts the league once as many have registered as are `wanted`. Looks whenever something has become durable. A start that
    /// is refused is tried again when others have registered.
    pub(super) async fn start_when(self, wanted: StartCounts, refused: impl Fn(&str)) {
        let mut changes = self.intake.changes();
        let mut refused_with = None;
        let look = |manager: &Manager| {
            let league = manager.league();
            let players = league
                .players
                .values()
                .filter(|player| !player.withdrawn)
                .count();
            (league.phase, players, league.referees.len())
        };
        while let Some((Phase::Registration, players, referees)) = self.manager.inspect(look).await
        {
            let is_complete = players >= wanted.players && referees >= wanted.referees;
            if is_complete && refused_with != Some((players, referees)) {
                match self.start().await {
                    Ok(()) => return,
                    Err(why) => refused(&why),
                }
                refused_with = Some((players, referees));
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}
