//! Redaction: what must not be stored, exported or shown. Pure.
//!
//! - `token`: tokens in the text of messages; `event`: tokens and secrets in exported events; `endpoint`: addresses of agents
//! - `json_text`: finds the text of a field in JSON, also in JSON that is quoted in JSON

mod endpoint;
mod event;
mod json_text;
mod token;

pub use endpoint::EndpointRedactor;
pub use event::redact_event;
pub use token::{MATCH_BYTES_MAX, NOTICE_BYTES_MAX, redact_body, redact_text, redact_tokens};
