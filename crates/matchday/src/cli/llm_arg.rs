//! Flags of the commands that have models play in simulations.

use super::Usage;
use super::settings::{LLM_API_KEY, secret_file};
use super::tls::TlsArgs;
use anyhow::Result;
use clap::Args;
use matchday_research::simulate::entrants::Externals;
use matchday_research::simulate::models::Models;
use matchday_runtime::deciders::llm::{self, Api, Key};
use matchday_runtime::deciders::llm_budget::{LlmBudget, TokenPrices, UsageLimits};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::runtime::Handle;

#[derive(Debug, Args)]
pub(super) struct LlmArgs {
    /// The server of the models that are named as llm:MODEL; its key comes from MATCHDAY_LLM_API_KEY
    #[arg(long, value_name = "URL")]
    llm_url: Option<String>,
    /// What the server speaks: openai (/v1/chat/completions), anthropic (/v1/messages) or ollama (/api/chat)
    #[arg(long, value_name = "NAME", default_value = "openai", value_parser = api)]
    llm_api: Api,
    /// After how many calls of models to stop, with what there is
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    llm_calls: u64,
    /// How often a model is asked again, and told what was wrong, after an answer that is no move
    #[arg(long, value_name = "N", default_value_t = llm::RETRIES)]
    llm_retries: u32,
    #[command(flatten)]
    tls: TlsArgs,
}

fn api(name: &str) -> Result<Api, String> {
    Api::named(name).ok_or_else(|| format!("expected {}, got {name:?}", Api::NAMES.join(", ")))
}

impl LlmArgs {
    /// What external strategies need. `stop` is set when the budget is spent.
    pub(super) fn externals(
        &self,
        think_time: Duration,
        stop: &Arc<AtomicBool>,
    ) -> Result<Externals> {
        let models = self.llm_url.as_ref().map(|url| -> Result<Models> {
            if !["http://", "https://"]
                .iter()
                .any(|scheme| url.starts_with(scheme))
            {
                return Err(Usage(format!(
                    "--llm-url: expected a URL, such as http://localhost:11434, got {url}"
                ))
                .into());
            }
            let key = std::env::var(LLM_API_KEY)
                .ok()
                .filter(|key| !key.trim().is_empty());
            let key = key.map_or_else(
                || secret_file::of_variable(LLM_API_KEY),
                |key| Ok(Some(key)),
            )?;
            Ok(Models {
                client: self.tls.client()?,
                url: url.clone(),
                api: self.llm_api,
                key: key.map(|key| Key::new(key.trim())),
                retries: self.llm_retries,
                budget: Arc::new(LlmBudget::new(
                    UsageLimits {
                        calls: Some(self.llm_calls),
                        ..UsageLimits::default()
                    },
                    TokenPrices::default(),
                )),
                stop: Arc::clone(stop),
            })
        });
        Ok(Externals {
            think_time,
            runtime: Handle::current(),
            models: models.transpose()?,
        })
    }
}
