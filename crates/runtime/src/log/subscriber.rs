//! Reads `tracing` events into entries: those of one agent, or the warnings of libraries.

use super::entry::Entry;
use crate::clock::Clock;
use matchday_core::protocol::Timestamp;
use matchday_store::redact::redact_text;
use serde_json::{Map, Value};
use std::fmt::Debug;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Dispatch, Event, Level, Subscriber, dispatcher};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

/// Of the events that agents emit.
const TARGET: &str = "matchday";
/// Of the events of a store, which belongs to no single agent.
const STORE_TARGET: &str = "matchday::store";
/// Of the events of a service, which belong to no agent of a league.
pub const SERVICE_TARGET: &str = "matchday::service";
/// How long a text of a library's event may be: it may quote a message of a peer.
const DIAGNOSTIC_CHARS_MAX: usize = 500;

/// The log of an agent. `sink` gets each of its events that are at least so severe, on the thread that emits it, and must not block.
/// At `DEBUG` each message has one.
pub fn dispatch(least: Level, sink: impl Fn(&Entry) + Send + Sync + 'static) -> Dispatch {
    let ours = Targets::new().with_target(TARGET, least);
    Dispatch::new(Registry::default().with(ours).with(EntryLayer(sink)))
}

/// From now on `sink` gets what services say, and the warnings and errors of stores and libraries, that is at least so severe, wherever in
/// the process it occurs. Only the first call of a process has an effect.
pub fn collect_diagnostics(least: Level, sink: impl Fn(&Entry) + Send + Sync + 'static) {
    let warnings = least.min(Level::WARN);
    let others = Targets::new()
        .with_default(warnings)
        .with_target(TARGET, LevelFilter::OFF);
    let others = others
        .with_target(STORE_TARGET, warnings)
        .with_target(SERVICE_TARGET, least);
    let subscriber = Registry::default().with(others).with(EntryLayer(sink));
    let _ = dispatcher::set_global_default(Dispatch::new(subscriber));
}

struct EntryLayer<F>(F);

impl<S: Subscriber, F: Fn(&Entry) + 'static> Layer<S> for EntryLayer<F> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // A field without a value is null.
        let absent = event
            .fields()
            .map(|field| (field.name().to_owned(), Value::Null));
        let mut fields = Fields(absent.collect());
        event.record(&mut fields);
        let metadata = event.metadata();
        let entry = match metadata.target() {
            TARGET => fields.into_entry(*metadata.level()),
            target => fields.into_diagnostic(*metadata.level(), target),
        };
        (self.0)(&entry);
    }
}

struct Fields(Map<String, Value>);

impl Fields {
    fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The fields that every line has, and the others as its details.
    fn into_entry(mut self, level: Level) -> Entry {
        let micros = self
            .0
            .remove("timestamp")
            .and_then(|micros| micros.as_i64());
        Entry {
            timestamp: micros.map_or_else(|| Clock::start().now(), Timestamp::from_micros),
            level,
            component: self.text("component").unwrap_or_default().into(),
            agent_id: self.text("agent_id").unwrap_or_default().into(),
            event_type: self.text("event_type").unwrap_or_default().into(),
            message_type: self.text("message_type").map(Into::into),
            conversation_id: self.text("conversation_id").map(Into::into),
            match_id: self.text("match_id").map(Into::into),
            message: self.text("message").unwrap_or_default(),
            details: self.0,
        }
    }

    /// The event of a library, whose texts may quote a message.
    fn into_diagnostic(mut self, level: Level, target: &str) -> Entry {
        for value in self.0.values_mut() {
            if let Value::String(text) = value {
                *text = text.chars().take(DIAGNOSTIC_CHARS_MAX).collect();
            }
        }
        let (component, agent_id) = match target {
            SERVICE_TARGET => ("service", "service"),
            _ => ("library", target.split("::").next().unwrap_or(target)),
        };
        for (name, value) in [
            ("component", component),
            ("agent_id", agent_id),
            ("target", target),
        ] {
            self.0.insert(name.to_owned(), value.into());
        }
        let event_type = || Value::from("diagnostic");
        self.0.entry("event_type").or_insert_with(event_type);
        self.into_entry(level)
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    /// Whatever it says, it may quote a peer, and so a token.
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0
            .insert(field.name().to_owned(), redact_text(value).as_str().into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Header, emit, with};
    use matchday_core::protocol::Sender;
    use std::sync::{Arc, Mutex};

    fn collect() -> (
        Arc<Mutex<Vec<Entry>>>,
        impl Fn(&Entry) + Send + Sync + 'static,
    ) {
        let entries = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&entries);
        (entries, move |entry: &Entry| {
            sink.lock().unwrap().push(entry.clone())
        })
    }

    #[test]
    fn each_agent_has_a_log_of_its_own() {
        let ((first, to_first), (second, to_second)) = (collect(), collect());
        let first_log = dispatch(Level::INFO, to_first);
        let second_log = dispatch(Level::INFO, to_second);
        let started = |number: u64| {
            let header = Header::new(Timestamp::EPOCH, &Sender::LeagueManager, "started");
            emit!(Level::INFO, header, number, "number {number}");
        };
        with(&first_log, || started(1));
        with(&second_log, || started(2));
        with(&Dispatch::none(), || panic!("nobody listens"));
        let messages = |entries: &Mutex<Vec<Entry>>| -> Vec<_> {
            entries
                .lock()
                .unwrap()
                .iter()
                .map(|entry| (entry.message.clone(), entry.timestamp))
                .collect()
        };
        assert_eq!(
            messages(&first),
            [("number 1".to_owned(), Timestamp::EPOCH)]
        );
        assert_eq!(
            messages(&second),
            [("number 2".to_owned(), Timestamp::EPOCH)]
        );
        assert_eq!(first.lock().unwrap()[0].details["number"], 1);
    }

    #[test]
    fn what_is_less_severe_than_asked_for_is_left_out() {
        for (least, expected) in [
            (Level::ERROR, "error"),
            (Level::WARN, "error warning"),
            (Level::INFO, "error warning info"),
            (Level::DEBUG, "error warning info debug"),
        ] {
            let (entries, sink) = collect();
            let log = dispatch(least, sink);
            let header = || Header::new(Timestamp::EPOCH, &Sender::LeagueManager, "started");
            with(&log, || {
                emit!(Level::ERROR, header(), "error");
                emit!(Level::WARN, header(), "warning");
                emit!(Level::INFO, header(), "info");
                emit!(Level::DEBUG, header(), "debug");
            });
            let entries = entries.lock().unwrap();
            let messages: Vec<&str> = entries.iter().map(|entry| entry.message.as_str()).collect();
            assert_eq!(messages.join(" "), expected, "{least}");
        }
    }

    #[test]
    fn warnings_of_stores_services_and_libraries_are_logged_without_tokens() {
        let (entries, sink) = collect();
        collect_diagnostics(Level::INFO, sink);
        tracing::info!(target: "rmcp::service", "of no interest");
        tracing::warn!(target: "matchday", "of an agent without a log");
        let token = r#"{"auth_token": "tok_0123456789abcdef0123456789abcdef"}"#;
        tracing::warn!(target: "rmcp::service", id = 7, "cannot read {token}");
        tracing::warn!(target: "matchday::store", "the store is unavailable");
        tracing::error!(target: SERVICE_TARGET, event_type = "league_quarantined", league = "spring", "in quarantine");
        tracing::info!(target: SERVICE_TARGET, event_type = "change", "POST /api/leagues");
        let entries = entries.lock().unwrap();
        let [entry, of_store, of_service, change] = entries.as_slice() else {
            panic!("{entries:?}")
        };
        assert_eq!(
            (&*entry.component, &*entry.agent_id, &*entry.event_type),
            ("library", "rmcp", "diagnostic")
        );
        assert_eq!(of_store.message, "the store is unavailable");
        assert_eq!((change.level, &*change.event_type), (Level::INFO, "change"));
        assert_eq!(
            (
                &*of_service.component,
                &*of_service.event_type,
                &of_service.details["league"]
            ),
            ("service", "league_quarantined", &"spring".into())
        );
        assert!(
            entry.message.starts_with("cannot read"),
            "{}",
            entry.message
        );
        assert!(
            !entry.message.contains("0123456789abcdef"),
            "{}",
            entry.message
        );
        assert_eq!(
            (&entry.details["target"], &entry.details["id"]),
            (&"rmcp::service".into(), &7.into())
        );
    }
}
