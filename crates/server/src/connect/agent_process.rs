//! Starts the agent, and starts it again when it has ended.

use super::status::{Change, Status};
use matchday_os::process;
use matchday_runtime::deciders::command::Program;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// An agent that has run for so long did not fail at its start.
const STEADY_AFTER: Duration = Duration::from_secs(60);

/// Kills the agent and its children when the side-car ends.
struct KillOnDrop(u32);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        process::kill_group(self.0);
    }
}

/// Runs until it is dropped, which ends the agent.
pub async fn keep_running(program: Program, status: Status) {
    let mut pause = PAUSE_MIN;
    loop {
        let began = Instant::now();
        let ended = match program.start_agent() {
            Ok(mut child) => {
                let _kill = child.id().map(KillOnDrop);
                match child.wait().await {
                    Ok(code) => format!("the agent has ended ({code})"),
                    Err(error) => format!("the agent cannot be waited for: {error}"),
                }
            }
            Err(error) => error.to_string(),
        };
        if began.elapsed() >= STEADY_AFTER {
            pause = PAUSE_MIN;
        }
        status.tell(Change::Trouble(format!(
            "{ended}: it is started again in {} s",
            pause.as_secs_f64()
        )));
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
