//! The League Manager: registers agents, draws up rounds, takes results, keeps the table.
//!
//! # Layout
//! - [`settings`], [`event`], [`state`] (of [`member`]s and [`fixture`]s): the rules of a league, what happens to it, and
//!   how it stands
//! - [`mod@format`], [`schedule`], [`standings`]: pure arithmetic; `conduct`: what is known of each player and referee
//! - [`manager`]: the agent; it decides, and works through `registration`, `returning`, [`roster`], `capacity`, `launch`, `drawing`, `rounds`, `results`, `proof`, `handing_back`,
//!   `queries`, `orders`, `tokens`, `checkpoints`, `auth` (who may), `guard` (how often), `notices` (telling everyone), `briefing` (of a match);
//!   `table` is where its results lead

mod auth;
mod briefing;
mod capacity;
mod census;
mod checkpoints;
mod conduct;
mod drawing;
pub mod event;
pub mod fixture;
pub mod format;
mod guard;
mod handing_back;
mod launch;
pub mod manager;
pub mod member;
mod notices;
mod orders;
mod proof;
mod queries;
mod registration;
mod result_check;
mod results;
mod returning;
pub mod roster;
mod rounds;
pub mod schedule;
pub mod settings;
pub mod standings;
pub mod state;
mod table;
mod tokens;

pub use checkpoints::{CHECKPOINT_KEY, Checkpoints, checkpoint_origin, is_successor, sign_successor};
pub use event::{
    DecidedBy, DrawnFrom, LeagueEvent, LossCause, Proof, Renewal, RenewedBy, Requested, Suspicion,
};
pub use format::{Competition, Draw, Format};
pub use handing_back::{ATTEMPTS_PER_REFEREE_MAX, LOST_MAX, LOST_PERCENT_MAX};
pub use manager::Manager;
pub use roster::{Invitation, Place, REFEREES};
pub use settings::{EndpointCheck, Settings, TieBreak};
pub use state::League;
pub use tokens::OPERATOR;
