//! The client's side of the relay: an agent that dials out. `matchday connect` runs it beside an unmodified agent; agents of ours
//! run it within their process (`--dial`).
//!
//! - `relay_client`: the requests to a relay; `lines`: the lines of its stream; `calls`: reads them or polls, reconnects, has the
//!   agent answer
//! - `stand_in`: stands in for the manager on localhost, so that the agent registers there; `rewrite`: the one field it changes
//! - `in_process`: an agent of this process
//! - `agent_process`: starts and restarts the agent; `status`: what is shown; `saved_mailbox`: the mailbox of the last run

mod agent_process;
mod calls;
mod in_process;
mod lines;
mod relay_client;
mod rewrite;
mod saved_mailbox;
mod stand_in;
mod status;

pub use agent_process::keep_running;
pub use calls::{AgentEndpoint, Dialled};
pub use calls::{CALLS_BYTES_MAX, CALLS_MAX};
pub use in_process::{AgentListener, DialledAgent, NO_SOCKET, dial, dial_to};
pub use relay_client::{OpenedMailbox, RelayClient, RelayError};
pub use saved_mailbox::SavedMailbox;
pub use stand_in::StandIn;
pub use status::{Change, Status};
