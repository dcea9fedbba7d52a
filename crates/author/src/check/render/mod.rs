//! Reports for people, as JSON, and as JUnit XML. Pure.

mod json;
mod junit;
mod people;

pub use json::json;
pub use junit::junit;
pub use people::people;

#[cfg(test)]
mod sample;
