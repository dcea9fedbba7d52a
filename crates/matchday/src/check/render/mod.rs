//! A report for people, for programs, and for whoever grades by JUnit. Pure.

mod json;
mod junit;
mod people;

pub(crate) use json::json;
pub(crate) use junit::junit;
pub(crate) use people::people;

#[cfg(test)]
mod sample;
