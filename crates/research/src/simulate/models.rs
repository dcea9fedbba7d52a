//! Language models as strategies of a simulation: `llm:MODEL`, each a model of one server, with one budget of calls for all.

use matchday_core::agent::ExternalResult;
use matchday_core::game::turn::TurnSheet;
use matchday_net::client::Client;
use matchday_runtime::Decider;
use matchday_runtime::decider::Deciding;
use matchday_runtime::deciders::llm::{Api, Key, Llm};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Before the name of a model.
pub const PREFIX: &str = "llm:";

/// The server of the models, and how often it may be asked.
#[derive(Debug, Clone)]
pub struct Models {
    pub client: Client,
    pub url: String,
    pub api: Api,
    pub key: Option<Key>,
    pub budget: Arc<Budget>,
}

/// Once it is spent the run is stopped, so that no match is forfeited for it.
#[derive(Debug)]
pub struct Budget {
    pub calls_left: AtomicU64,
    pub stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Budgeted {
    model: Llm,
    budget: Arc<Budget>,
}

impl Models {
    pub fn decider(&self, model: &str) -> Arc<dyn Decider> {
        let model = Llm::new(
            self.client.clone(),
            &self.url,
            model,
            self.api,
            self.key.clone(),
        );
        Arc::new(Budgeted {
            model,
            budget: Arc::clone(&self.budget),
        })
    }
}

impl Decider for Budgeted {
    fn decide(&self, turn: TurnSheet) -> Deciding {
        let spend = |left: u64| left.checked_sub(1);
        if self
            .budget
            .calls_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_ok()
        {
            return self.model.decide(turn);
        }
        self.budget.stop.store(true, Ordering::Relaxed);
        let spent: ExternalResult = Err("the budget of calls is spent (--llm-calls)".to_owned());
        Box::pin(async { spent.into() })
    }
}
