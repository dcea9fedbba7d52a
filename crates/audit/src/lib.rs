//! What is made of the log of a league: whether it holds, what happened, and how it is told. Reads stores and writes none but copies.
//!
//! # Layout
//! - [`league_log`], [`agent_log`], [`log_set`]: events decoded, of a league, of an agent, of a league with its agents
//! - [`verify`]: whether everything in a log follows from what stands before it
//! - [`timeline`], [`describe`]: what happened in a match, in brief, for people; [`request_replay`]: a recorded request once more
//! - [`fallbacks`], [`llm_usage`]: what players' deciders did; [`best_response`], [`exploitability`]: what players give away;
//!   [`statistics`]: the results of a league for the statistics crate
//! - [`export`], [`csv_rows`]: logs as rows and records; [`league_view`]: the read model of a league, [`model_calls`]: of
//!   what models were told and said;
//!   [`report`]: a league on a page, as HTML, Markdown and CSV; [`template`]: how pages are written, [`design`]: what they look like
//! - [`backup`], [`transfer`]: verified copies of stores and leagues
//! - [`fix`]: how to fix deviations from the protocol; [`glossary`]: what words on pages mean; [`sides`], [`plural`]: sentences and words that several readers share

pub mod agent_log;
pub mod backup;
pub mod best_response;
pub mod csv_rows;
pub mod describe;
pub mod design;
pub mod exploitability;
pub mod export;
pub mod fallbacks;
pub mod fix;
pub mod glossary;
pub mod league_log;
pub mod league_view;
pub mod llm_usage;
pub mod log_set;
pub mod model_calls;
pub mod plural;
pub mod report;
pub mod request_replay;
pub mod sides;
pub mod statistics;
pub mod template;
pub mod timeline;
pub mod transfer;
pub mod verify;
