//! One match is one trace, across manager, referee and players. Its id follows from the league and the match alone, so
//! that agents of any make may stand between ours, and nothing needs to be handed on; the usual header goes out all the
//! same, so that what is called can be put beneath what called it.
//!
//! - `ids`: the ids, and how they are made; `span`: what is told of a stretch of time
//! - `tracer`: one agent's matches; `export`: the queue and the task that sends; `otlp`: what it sends

mod export;
mod ids;
mod otlp;
mod span;
mod tracer;

pub use export::Exporter;
pub(crate) use ids::Parent;
pub(crate) use span::SpanStatus;
pub(crate) use tracer::Tracer;
