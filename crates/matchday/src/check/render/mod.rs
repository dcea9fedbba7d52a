//! Reports for people, as JSON, and as JUnit XML. Pure.

mod json;
mod junit;
mod people;

pub(crate) use json::json;
pub(crate) use junit::junit;
pub(crate) use people::people;

#[cfg(test)]
mod sample;
