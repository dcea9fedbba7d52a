//! The rules outside: whoever knows a game that the core does not. Each appeal of a referee is a task of its own; what comes
//! of it is put into the inbox, and told to the journal if it failed.

use super::driver::Surroundings;
use super::inbox::Arrived;
use super::journal::{Entry, Level};
use super::subject::Subject;
use matchday_core::agent::{Appeal, Decision};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::timeout_at;

/// A position that is being worked out. Dropping it must end whatever was begun for it.
pub type Ruling = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Says where the moves of a match lead.
pub trait Rules: Debug + Send + Sync {
    fn position(&self, appeal: Appeal) -> Ruling;
}

/// Puts one appeal to the rules.
pub(super) async fn ask(around: Arc<Surroundings>, appeal: Appeal) {
    let (id, until) = (appeal.id, around.clock.instant(appeal.until));
    let match_id = appeal.match_id.clone();
    let ruling = async {
        match &around.rules {
            None => Err("nobody is there who knows the rules".to_owned()),
            Some(rules) => timeout_at(until, rules.position(appeal))
                .await
                .unwrap_or_else(|_| Err("the rules of the game were asked by too many at once".to_owned())),
        }
    };
    let decision = tokio::select! {
        biased;
        () = around.inbox.closed() => return,
        decision = ruling => decision,
    };
    let at = around.clock.now();
    if let Err(why) = &decision {
        around.journal.note(|| {
            let subject = Subject { match_id: Some(match_id.as_str().into()), ..Subject::default() };
            let message = format!("{match_id} starts over in a while: {why}");
            Entry::new(at, around.name(), "rules_failed", message).about(&subject).level(Level::Warning)
        });
    }
    around.inbox.put(Arrived::Decision { at, inquiry: id, decision });
}
