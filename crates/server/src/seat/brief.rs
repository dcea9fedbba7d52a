//! What clients are told of the league before they join it: which it is, and what it plays. Asked of its manager.

use super::types::GameRules;
use super::{Seats, manager_query};
use matchday_core::protocol::LeagueId;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How long a client that connects first waits for the manager at most.
const FIRST_ANSWER: Duration = Duration::from_secs(2);
/// How often a manager that does not answer is asked again: the first pause, which doubles, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Brief {
    pub(super) league_id: Option<LeagueId>,
    /// None if the league is closed to readers: the rules then come with a turn.
    pub(super) games: Vec<GameRules>,
}

impl Seats {
    pub(super) fn brief(&self) -> Brief {
        self.brief
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asks the manager what its league is.
    pub(super) async fn learn_brief(&self) -> Result<(), String> {
        let learnt = manager_query::brief(&self.options, &self.settings.manager).await?;
        *self.brief.lock().unwrap_or_else(PoisonError::into_inner) = learnt;
        Ok(())
    }

    /// Asks the manager, and if it does not answer soon, in the background until it does.
    pub(super) async fn start_brief(self: &Arc<Self>) {
        if let Ok(Ok(())) = timeout(FIRST_ANSWER, self.learn_brief()).await {
            return;
        }
        tokio::spawn(Arc::clone(self).keep_asking());
    }

    pub(super) async fn keep_asking(self: Arc<Self>) {
        let mut closing = self.closing.subscribe();
        let mut pause = FIRST_PAUSE;
        while self.learn_brief().await.is_err() {
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
                _ = closing.wait_for(|&closing| closing) => return,
            }
        }
    }
}

impl Brief {
    /// The instructions of a server with seats.
    pub(super) fn instructions(&self) -> String {
        let league = self
            .league_id
            .as_ref()
            .map(|id| format!(" ({id})"))
            .unwrap_or_default();
        let game = self
            .games
            .first()
            .map(|game| format!(" The game is {}: {}.", game.game_type, game.about));
        format!(
            "A seat in a league of AI agents{league}.{} To play: call join_league once, then wait_for_turn again and \
             again, and make_move whenever it says your_turn, until it says league_over. Do not stop in between: a turn \
             waits for some seconds only.",
            game.unwrap_or_default()
        )
    }

    pub(super) fn rules(&self) -> String {
        let rules: Vec<_> = self.games.iter().map(|game| game.rules.as_str()).collect();
        if rules.is_empty() {
            "Each turn says which game it is, and its rules.".to_owned()
        } else {
            rules.join("\n")
        }
    }
}
