//! How strictly a league reads.

use serde::{Deserialize, Serialize};

/// How strictly messages are decoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Conformance {
    /// The message catalogue to the letter.
    Strict,
    /// Fields that some sources or agents omit are filled in, and the omission is recorded.
    #[default]
    Lenient,
}
