//! The formats: who meets whom, whatever the results. Pure arithmetic, checked for every size of league.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code: a failure here is the point"
)]

mod fixed;
mod groups;
mod impossible;
mod knockout;
mod py4swiss;
mod season;
mod swiss;
mod tie_breaks;
