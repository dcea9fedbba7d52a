//! The start of a league: by its operator's process, or as soon as enough have registered. By way of the manager's own messages.

use super::StartCounts;
use matchday_core::agent::Content;
use matchday_core::league::Manager;
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{Body, ConversationId, Envelope, LeagueId, Message, Sender};
use matchday_runtime::{Inspector, Intake};
use std::sync::Arc;

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
