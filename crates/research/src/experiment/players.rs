//! The players of a plan that are no built-in strategies: `[[player]]`, and the limits of their servers: `[[provider]]`. Leagues
//! have the same players.

use super::keys::Keys;
use super::models::{Fallback, Halt, ModelPlayer, Provider};
use super::plan;
use crate::simulate::entrants::Externals;
use hyper::header::{HeaderName, HeaderValue};
use matchday_core::game::observation::ObservationForm;
use matchday_core::game::strategy;
use matchday_core::player::THINK_TIME;
use matchday_runtime::deciders::llm::{self, Api, Key, Llm, ModelSettings};
use matchday_runtime::deciders::llm_budget::{LlmBudget, TokenPrices, UsageLimits};
use matchday_runtime::deciders::llm_gate::LlmGate;
use matchday_runtime::deciders::player_strategy::{self, ExternalDecider, PlayerStrategy};
use matchday_terminal::suggest::hint;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const PLAYER_KEYS: [&str; 19] = [
    "name",
    "api",
    "url",
    "model",
    "command",
    "key_env",
    "temperature",
    "seed",
    "max_tokens",
    "effort",
    "thinking_tokens",
    "request",
    "headers",
    "system",
    "system_file",
    "observation",
    "prices",
    "retries",
    "fallback",
];
const PROVIDER_KEYS: [&str; 4] = ["url", "concurrency", "calls_per_minute", "budget"];
/// Of a provider that the plan sets no limits for.
const CONCURRENCY: u32 = 4;
const FALLBACKS: [&str; 2] = ["none", "random"];

#[derive(Debug)]
pub(super) enum PlayerEntry {
    Model(Box<ModelPlayer>),
    Program(String, ExternalDecider),
}

/// A player of a plan, for a league.
#[derive(Debug)]
pub struct LeaguePlayer {
    pub name: String,
    pub strategy: PlayerStrategy,
    /// What it may use, together with the others of its provider.
    pub budget: Option<Arc<LlmBudget>>,
}

/// The players that a plan names: each `[[player]]`, and its `strategies`. What is played is not its business here.
pub fn for_league(text: &str, externals: &Externals) -> Result<Vec<LeaguePlayer>, String> {
    let mut keys = Keys::read(text, &plan::KEYS)?;
    let think_time = plan::think_time(&keys)?.unwrap_or(THINK_TIME);
    let externals = Externals {
        think_time,
        ..externals.clone()
    };
    let entries = read(&mut keys, &externals)?;
    let mut players: Vec<LeaguePlayer> = entries
        .into_iter()
        .map(|entry| entry.for_league(think_time))
        .collect();
    for name in keys.texts("strategies")?.unwrap_or_default() {
        let strategy =
            player_strategy::named(&name).map_err(|why| keys.wrong("strategies", why))?;
        players.push(LeaguePlayer {
            name,
            strategy,
            budget: None,
        });
    }
    if players.is_empty() {
        return Err("player: expected one or more, each under [[player]]".to_owned());
    }
    Ok(players)
}

/// Takes both kinds of tables out of the plan.
pub(super) fn read(keys: &mut Keys<'_>, externals: &Externals) -> Result<Vec<PlayerEntry>, String> {
    let mut providers = BTreeMap::new();
    for table in keys.tables("provider", &PROVIDER_KEYS)? {
        let url = table
            .text("url")?
            .ok_or_else(|| table.wrong("url", "expected the address that its players name"))?;
        let provider = provider(&table, &url)?;
        if providers.insert(trimmed(&url), provider).is_some() {
            return Err(table.wrong("url", "expected each provider once"));
        }
    }
    let mut players: Vec<PlayerEntry> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for table in keys.tables("player", &PLAYER_KEYS)? {
        let player = match table.text("command")? {
            Some(command) => program(&table, &command, externals)?,
            None => PlayerEntry::Model(Box::new(model(&table, &mut providers, externals)?)),
        };
        let name = player.name().to_owned();
        if name.is_empty() || name.contains([',', '"', '\n', '\r']) {
            return Err(table.wrong("name", "expected a text without commas and quotes"));
        }
        if names.contains(&name) {
            return Err(table.wrong("name", "expected each name once"));
        }
        names.push(name);
        players.push(player);
    }
    Ok(players)
}

impl PlayerEntry {
    fn for_league(self, think_time: Duration) -> LeaguePlayer {
        match self {
            Self::Program(name, program) => LeaguePlayer {
                name,
                strategy: PlayerStrategy::External(program),
                budget: None,
            },
            Self::Model(model) => {
                let fallback = match model.fallback {
                    Fallback::None => None,
                    Fallback::Random => Some(&strategy::RANDOM),
                };
                let budget = Some(Arc::clone(model.llm.budget()));
                let decider = ExternalDecider::model(&model.model, model.llm, fallback, think_time);
                LeaguePlayer {
                    name: model.name,
                    strategy: PlayerStrategy::External(decider),
                    budget,
                }
            }
        }
    }

    pub(super) fn name(&self) -> &String {
        match self {
            Self::Model(model) => &model.name,
            Self::Program(name, _) => name,
        }
    }
}

fn trimmed(url: &str) -> String {
    url.trim().trim_end_matches('/').to_owned()
}

fn provider(keys: &Keys<'_>, url: &str) -> Result<Arc<Provider>, String> {
    let concurrency = keys.count("concurrency", 1..=1000)?.unwrap_or(CONCURRENCY);
    let per_minute = keys.count("calls_per_minute", 1..=1_000_000)?;
    let budget = keys.get("budget", "limits, as in \"calls=500,money=5\"", |value| {
        UsageLimits::parse(value.as_str()?)
    })?;
    Ok(Arc::new(Provider {
        url: trimmed(url),
        concurrency: concurrency as usize,
        gate: Arc::new(LlmGate::new(concurrency as usize, per_minute)),
        budget: Arc::new(LlmBudget::new(
            budget.unwrap_or_default(),
            TokenPrices::default(),
        )),
    }))
}

fn program(keys: &Keys<'_>, command: &str, externals: &Externals) -> Result<PlayerEntry, String> {
    let decider = ExternalDecider::program(command, None, externals.think_time);
    let decider = decider.map_err(|why| keys.wrong("command", why))?;
    let name = keys
        .text("name")?
        .unwrap_or_else(|| decider.name.to_string());
    Ok(PlayerEntry::Program(name, decider))
}

fn model(
    keys: &Keys<'_>,
    providers: &mut BTreeMap<String, Arc<Provider>>,
    externals: &Externals,
) -> Result<ModelPlayer, String> {
    let api = match keys.text("api")? {
        None => Api::OpenAi,
        Some(name) => Api::named(&name).ok_or_else(|| {
            let hint = hint(&name, Api::NAMES.into_iter());
            keys.wrong("api", format!("there is no API {name:?}{hint}"))
        })?,
    };
    let model = keys
        .text("model")?
        .ok_or_else(|| keys.wrong("model", "expected the name of the model, or a command"))?;
    let url = keys.text("url")?.unwrap_or_else(|| api.home().to_owned());
    if !["http://", "https://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        let why = format!("expected a URL, such as http://localhost:11434, got {url:?}");
        return Err(keys.wrong("url", why));
    }
    let provider = match providers.get(&trimmed(&url)) {
        Some(provider) => Arc::clone(provider),
        None => {
            let unlimited = Keys::read("", &[])?;
            let provider = provider(&unlimited, &url)?;
            providers.insert(trimmed(&url), Arc::clone(&provider));
            provider
        }
    };
    let prices = keys.get(
        "prices",
        "two numbers, of a million tokens of prompt and answer, as in \"3,15\"",
        |value| TokenPrices::parse(value.as_str()?),
    )?;
    let retries = keys.count("retries", 0..=100)?.unwrap_or(llm::RETRIES);
    let key = if externals.replays {
        None
    } else {
        key(keys, api)?
    };
    let budget = provider.budget.with_prices(prices.unwrap_or_default());
    let llm = Llm::new(externals.client.clone(), &url, model.clone(), api, key)
        .with_settings(settings(keys, api)?)
        .with_retries(retries)
        .with_observation(observation(keys)?)
        .with_gate(Arc::clone(&provider.gate))
        .with_budget(Arc::new(budget));
    let fallback = match keys.text("fallback")?.as_deref() {
        None | Some("none") => Fallback::None,
        Some("random") => Fallback::Random,
        Some(other) => {
            let why = format!("expected {}, got {other:?}", FALLBACKS.join(" or "));
            return Err(keys.wrong("fallback", why));
        }
    };
    Ok(ModelPlayer {
        name: keys.text("name")?.unwrap_or_else(|| model.clone()),
        model,
        llm,
        provider,
        fallback,
        has_prices: prices.is_some(),
        think_time: Duration::ZERO,
        halt: Halt::of(&Arc::default()),
        runtime: externals.runtime.clone(),
    })
}

/// The form in which the model is shown a turn.
fn observation(keys: &Keys<'_>) -> Result<ObservationForm, String> {
    let Some(named) = keys.text("observation")? else {
        return Ok(ObservationForm::default());
    };
    let mut forms = ObservationForm::NAMES.iter().zip(ObservationForm::ALL);
    let found = forms.find_map(|(name, form)| (*name == named).then_some(form));
    found.ok_or_else(|| {
        let why = format!(
            "expected {}, got {named:?}",
            ObservationForm::NAMES.join(" or ")
        );
        keys.wrong("observation", why)
    })
}

/// From the variable that is named, or else from the usual one if that is set.
fn key(keys: &Keys<'_>, api: Api) -> Result<Option<Key>, String> {
    let usual = match api {
        Api::OpenAi => "OPENAI_API_KEY",
        Api::Anthropic => "ANTHROPIC_API_KEY",
        Api::Ollama => "OLLAMA_API_KEY",
    };
    let named = keys.text("key_env")?;
    let variable = named.as_deref().unwrap_or(usual);
    let value = std::env::var(variable).unwrap_or_default();
    let value = value.trim();
    match (named.is_some(), value) {
        (true, "") => Err(keys.wrong("key_env", format!("{variable} is not set"))),
        (false, "") => Ok(None),
        (_, value) => Ok(Some(Key::new(value))),
    }
}

fn settings(keys: &Keys<'_>, api: Api) -> Result<ModelSettings, String> {
    let seed = keys.integer("seed", 0..=u64::MAX >> 1)?;
    let thinking_tokens = keys.count("thinking_tokens", 1..=1_000_000)?;
    if seed.is_some() && api == Api::Anthropic {
        return Err(keys.wrong("seed", "anthropic has no seed"));
    }
    if thinking_tokens.is_some() && api != Api::Anthropic {
        return Err(keys.wrong(
            "thinking_tokens",
            "only anthropic has it; others have effort",
        ));
    }
    let system = match (keys.text("system")?, keys.text("system_file")?) {
        (Some(_), Some(_)) => {
            return Err(keys.wrong("system", "expected system or system_file, not both"));
        }
        (None, Some(path)) => {
            let text = std::fs::read_to_string(&path);
            Some(text.map_err(|error| {
                keys.wrong("system_file", format!("{path} cannot be read: {error}"))
            })?)
        }
        (system, None) => system,
    };
    Ok(ModelSettings {
        temperature: keys.float("temperature")?,
        seed,
        max_tokens: keys.count("max_tokens", 1..=10_000_000)?,
        effort: keys.text("effort")?,
        thinking_tokens,
        request: keys.json("request")?,
        headers: headers(&keys.json("headers")?).map_err(|why| keys.wrong("headers", why))?,
        system,
    })
}

fn headers(fields: &Map<String, Value>) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let header = |(name, value): (&String, &Value)| {
        let parsed = name.parse::<HeaderName>().ok();
        let value = value.as_str().and_then(|text| text.parse().ok());
        parsed
            .zip(value)
            .ok_or_else(|| format!("{name} is no header with a text"))
    };
    fields.iter().map(header).collect()
}
