//! The rules of a game in an external program, for simulations. Called synchronously by the simulating thread.

use crate::ExternalRules;
use matchday_core::agent::{ExternalId, RulesRequest};
use matchday_core::game::{Game, GameEntry};
use matchday_core::protocol::{MatchId, Timestamp};
use matchday_runtime::ExternalRules as _;
use matchday_runtime::deciders::game_program::{GameProgram, ResourceLimits};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

#[derive(Debug)]
pub struct RulesProgram {
    program: GameProgram,
    runtime: Handle,
    /// Set when the program fails: without rules nobody can go on.
    stop: Arc<AtomicBool>,
    failure: Mutex<Option<String>>,
}

impl RulesProgram {
    /// Starts the program, and asks it what it plays.
    pub async fn start(
        command: &str,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Self, &'static GameEntry), String> {
        let program = GameProgram::named(command, ResourceLimits::default())
            .map_err(|error| error.to_string())?;
        let entry = program.describe().await?.entry();
        let stop = Arc::clone(stop);
        Ok((
            Self {
                program,
                runtime: Handle::current(),
                stop,
                failure: Mutex::new(None),
            },
            entry,
        ))
    }

    /// Why the run was stopped, if the program is to blame.
    pub fn failure(&self) -> Option<String> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl ExternalRules for RulesProgram {
    fn rule(&self, match_id: &MatchId, game: &mut dyn Game) -> bool {
        let request = RulesRequest {
            id: ExternalId(0),
            match_id: match_id.clone(),
            history: game.history().to_vec(),
            until: Timestamp::EPOCH,
        };
        let position = self.runtime.block_on(self.program.position(request));
        let ruled = position.and_then(|position| game.ruled(position));
        ruled
            .map_err(|why| {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                self.stop.store(true, Ordering::Relaxed);
            })
            .is_ok()
    }
}
