//! Is this agent conformant? Plays the others' parts against a running agent, and says of each rule whether it holds, what
//! was seen, and how to mend it.
//!
//! # Layout
//! - [`rule`]: what agents are held against; [`report`]: what was found; [`exchange`]: what went over the wire
//! - [`probe`], [`raw`]: calls to the agent, decent and otherwise; [`stand_in`], [`receiver`]: what the agent can call;
//!   [`reach`]: is there anything at all?
//! - [`heard`]: what an answer comes to; [`wire`]: what is judged of every role alike
//! - [`judge`], [`form`]: is an answer right, in its fields and in its form? By the readers that a league reads with
//! - [`stage`]: the pretended league and its messages
//! - [`player`], [`referee`], [`manager`]: the suites for each role
//! - [`render`]: what people and programs get to see

pub(crate) mod exchange;
mod form;
mod heard;
mod judge;
pub(crate) mod manager;
pub(crate) mod player;
pub(crate) mod probe;
mod raw;
pub(crate) mod reach;
mod receiver;
pub(crate) mod referee;
pub(crate) mod render;
pub(crate) mod report;
mod rule;
mod stage;
mod stand_in;
mod wire;
