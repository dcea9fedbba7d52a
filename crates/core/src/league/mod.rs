//! The league manager: registers agents, schedules rounds, records results, computes the standings.
//!
//! # Layout
//! - [`settings`], [`event`], [`state`] (of [`member`]s and [`fixture`]s): the league's configuration, its events, and
//!   the fold over them, with all that only reads it
//! - [`mod@format`], [`schedule`], [`standings`], [`lots`]: pure arithmetic
//! - the machines, each with its own state and its own deadline: `registrar`, `rounds`, `assignments`, `notices`, `liveness`,
//!   `signatures`; with the `keyrings` of members and the `deliveries` that they hand over
//! - [`manager`]: the agent, which hands its inputs to the machines and records, sends and tells what follows

mod assignments;
mod cause;
mod deliveries;
pub mod event;
pub mod fixture;
pub mod format;
mod invitation;
mod keyrings;
mod liveness;
pub mod lots;
pub mod manager;
pub mod member;
mod notices;
mod registrar;
mod request;
mod rounds;
pub mod schedule;
pub mod settings;
mod signatures;
pub mod standings;
pub mod state;
mod tie_break;

pub use cause::{LossCause, Suspicion};
pub use event::{DrawnFrom, LeagueEvent, Proof, RegistrationRecord, Renewal, RenewedBy};
pub use fixture::{DecidedBy, ResultProof};
pub use format::{Competition, Draw, Format};
pub use invitation::{Invitation, Place, REFEREES};
pub use manager::{CHECKPOINT_KEY, LOST_MAX, LOST_PERCENT_MAX, Manager, OPERATOR};
pub use matchday_rating::Rating;
pub use registrar::CarriedOver;
pub use settings::{EndpointCheck, LeagueSettings, ProofRule, Registration, Score, TokenRule};
pub use standings::TieBreak;
pub use state::{
    ATTEMPTS_PER_REFEREE_MAX, Checkpoints, InvalidProof, League, checkpoint_origin, is_successor,
    sign_successor,
};
