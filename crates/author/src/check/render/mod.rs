//! Reports for people, as JSON, and as JUnit XML. Pure.

mod json;
mod junit;
mod people;

pub use json::json;
pub use junit::junit;
pub use people::people;

use matchday_core::protocol::decode::Conformance;

fn league(conformance: Conformance) -> &'static str {
    match conformance {
        Conformance::Strict => "strict",
        Conformance::Lenient => "lenient",
    }
}

#[cfg(test)]
mod sample;
