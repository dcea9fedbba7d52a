//! The start of a league that is loaded, and whether it is over. By way of the manager's own messages.

use super::running_league::RunningLeague;
use matchday_core::agent::{Agent, Content};
use matchday_core::league::Manager;
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{Body, ConversationId, Envelope, Message, Sender};
use std::time::Duration;
use tokio::time::timeout;

/// How long a request waits for the referees of the house to register, when the league has just been loaded.
const HOUSE_MAX: Duration = Duration::from_secs(2);

impl RunningLeague {
    /// Waits until the referees of the house are registered: the league could not be started before.
    pub(super) async fn house_is_registered(&self) {
        let house = self.plan.house_codes.len();
        let look = move |manager: &Manager| {
            manager.league().phase != Phase::Registration || manager.league().referees.len() >= house
        };
        let registered = async {
            let mut changes = self.manager.changes.clone();
            while self.manager.handle.inspect(look).await == Some(false) && changes.changed().await.is_ok() {}
        };
        self.house_registered.get_or_init(|| async { drop(timeout(HOUSE_MAX, registered).await) }).await;
    }

    /// Starts the league if as many have registered as it waits for. `Some` if that was refused: why.
    pub(super) async fn start_if_complete(&self) -> Option<String> {
        let wanted = self.plan.start_when?;
        let look = |manager: &Manager| {
            let league = manager.league();
            let players = league.players.values().filter(|player| !player.withdrawn).count();
            (league.phase, players, league.referees.len())
        };
        let (phase, players, referees) = self.manager.handle.inspect(look).await?;
        if phase != Phase::Registration || players < wanted.players || referees < wanted.referees {
            return None;
        }
        self.start().await.err()
    }

    /// Whether the league is over, and nothing is left to be said to anyone.
    pub(super) async fn is_over_and_told(&self) -> bool {
        let look =
            |manager: &Manager| manager.league().phase == Phase::Completed && manager.deadline().is_none();
        self.manager.handle.inspect(look).await.unwrap_or(false)
    }

    /// Starts the league, as its operator would; says why if that is refused.
    pub(super) async fn start(&self) -> Result<(), String> {
        let league_id = self.plan.league.league_id.clone();
        let now = self.clock.now();
        let envelope = Envelope::new(Sender::Launcher, now, ConversationId::new("conv-start-when"));
        let message = Message::new(envelope, StartLeague { league_id });
        match self.manager.service.intake().order(&message).await {
            Ok(Content::Message(Message { body: Body::LeagueError(error), .. })) => {
                let message = error.error_message.as_ref().map(|text| text.escaped().to_string());
                Err(format!("{} {}", error.error_code.code(), message.unwrap_or_default()))
            }
            _ => Ok(()),
        }
    }
}
