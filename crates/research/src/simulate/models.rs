//! Language models as strategies of a simulation: `llm:MODEL`, each a model of one server, with one budget of calls for all.

use matchday_core::game::turn::TurnSheet;
use matchday_net::client::Client;
use matchday_runtime::Decider;
use matchday_runtime::decider::Deciding;
use matchday_runtime::deciders::llm::{Api, Key, Llm};
use matchday_runtime::deciders::llm_budget::LlmBudget;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Before the name of a model.
pub const PREFIX: &str = "llm:";

/// The server of the models, and how it may be asked.
#[derive(Debug, Clone)]
pub struct Models {
    pub client: Client,
    pub url: String,
    pub api: Api,
    pub key: Option<Key>,
    /// How often a model is asked again after an answer that is no move.
    pub retries: u32,
    pub budget: Arc<LlmBudget>,
    /// Set when a model is not asked because the budget is used up: the run stops, and no match is forfeited for it.
    pub stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct BudgetedModel {
    model: Llm,
    budget: Arc<LlmBudget>,
    stop: Arc<AtomicBool>,
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
        Arc::new(BudgetedModel {
            model: model
                .with_retries(self.retries)
                .with_budget(Arc::clone(&self.budget)),
            budget: Arc::clone(&self.budget),
            stop: Arc::clone(&self.stop),
        })
    }
}

impl Decider for BudgetedModel {
    fn decide(&self, turn: TurnSheet) -> Deciding {
        let deciding = self.model.decide(turn);
        let budget = Arc::clone(&self.budget);
        let stop = Arc::clone(&self.stop);
        Box::pin(async move {
            let decided = deciding.await;
            if decided.decision.is_err() && budget.spent().is_some() {
                stop.store(true, Ordering::Relaxed);
            }
            decided
        })
    }
}
