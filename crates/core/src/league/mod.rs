//! The league manager: registers agents, schedules rounds, records results, computes the standings.
//!
//! # Layout
//! - [`settings`], [`event`], [`state`] (of [`member`]s and [`fixture`]s): the league's configuration, its events, and
//!   the fold over them
//! - [`mod@format`], [`schedule`], [`standings`]: pure arithmetic; `statistics`: figures of each player and referee
//! - [`manager`]: the agent, which dispatches its inputs
//! - entry: `registration`, `applicant`, `re_registration`, `carry_over` (of a season), [`roster`], `capacity`, `auth` (authorization), `rate_limit`
//! - course: `start`, `drawing`, `play_off`, `ladder`, `rounds`, `referee_choice`, `assignments`, `handing_back`, `notices` (announcements),
//!   `briefing`
//! - results: `results`, `result_check`, `proof`, `table`; also `queries`, `orders`, `tokens`, `checkpoints`

mod applicant;
mod assignments;
mod auth;
mod briefing;
mod capacity;
mod carry_over;
mod cause;
mod checkpoints;
mod drawing;
pub mod event;
pub mod fixture;
pub mod format;
mod handing_back;
mod ladder;
pub mod manager;
pub mod member;
mod metrics;
mod notices;
mod orders;
mod play_off;
mod proof;
mod queries;
mod rate_limit;
mod re_registration;
mod referee_choice;
mod registration;
mod request;
mod result_check;
mod results;
pub mod roster;
mod rounds;
pub mod schedule;
pub mod settings;
pub mod standings;
mod start;
pub mod state;
mod state_members;
mod statistics;
mod table;
mod tokens;

pub use carry_over::CarriedOver;
pub use cause::{LossCause, Suspicion};
pub use checkpoints::{CHECKPOINT_KEY, Checkpoints, checkpoint_origin, is_successor, sign_successor};
pub use event::{DecidedBy, DrawnFrom, LeagueEvent, Proof, Renewal, RenewedBy, Requested};
pub use fixture::ResultProof;
pub use format::{Competition, Draw, Format};
pub use handing_back::{ATTEMPTS_PER_REFEREE_MAX, LOST_MAX, LOST_PERCENT_MAX};
pub use manager::Manager;
pub use matchday_rating::Rating;
pub use proof::InvalidProof;
pub use roster::{Invitation, Place, REFEREES};
pub use settings::{EndpointCheck, LeagueSettings, ProofRule, Score, TieBreak};
pub use state::League;
pub use tokens::OPERATOR;
