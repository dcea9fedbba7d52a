//! What `matchday run` began a league with, in a private stream of that league: the same command goes on with a league that was
//! broken off. Touches the store.

use super::settings::config::Value;
use super::settings::{self, Config, Declared, RunFlags};
use anyhow::{Context, Result, bail};
use matchday_audit::league_log::LeagueLog;
use matchday_core::event_codec;
use matchday_core::league::League;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::Phase;
use matchday_server::local::ports::PortNumbers;
use matchday_store::{Store, StoreUrl, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether a setting is about the league; the others are about a process, and each command may give others.
fn is_of_league(setting: &Declared) -> bool {
    let of_the_process = [
        settings::STORE.id,
        settings::PORT_BASE.id,
        settings::STAY.id,
        settings::OPEN.id,
        settings::PACE.id,
        settings::DASHBOARD.id,
        settings::METRICS.id,
        settings::OTLP.id,
        settings::EXCHANGES.id,
    ];
    !of_the_process.contains(&setting.id)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunRecord {
    /// Those that were given.
    settings: BTreeMap<String, String>,
    /// Where the agents are registered.
    pub(super) ports: PortNumbers,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RunEvent {
    RunBegan(RunRecord),
}

fn stream() -> Stream {
    Stream("run".into())
}

impl RunRecord {
    pub(super) fn of(config: &Config, ports: PortNumbers) -> Self {
        let given = config
            .given()
            .filter(|value| is_of_league(value.setting))
            .filter_map(|value| Some((value.setting.name(), value.text.clone()?)));
        Self {
            settings: given.collect(),
            ports,
        }
    }

    /// Blocks until it is on disk.
    pub(super) fn write(self, store: &Store, now: Timestamp) -> Result<()> {
        let line = event_codec::encode(now, &RunEvent::RunBegan(self))?;
        Ok(store.private().append_blocking(now, stream(), line)?)
    }

    fn read(store: &Store) -> Result<Option<Self>> {
        let stored = store.private().load(&stream())?;
        let Some(last) = stored.last() else {
            return Ok(None);
        };
        let (_, RunEvent::RunBegan(record)) = event_codec::decode(&last.line)
            .with_context(|| format!("what began the league in {} is unknown", store.name()))?;
        Ok(Some(record))
    }

    /// The settings of a command that goes on with the league: the league's are those it began with.
    fn config(&self, now: &Config, store: &StoreUrl) -> Result<Config> {
        let begun = RunFlags::of_texts(&self.settings)?.resolve_alone();
        let differing: Vec<String> = now
            .given()
            .filter(|value| is_of_league(value.setting))
            .filter_map(|value| difference(value, &begun))
            .collect();
        if !differing.is_empty() {
            bail!(
                "the league in {store} is not over, and began with other settings than {}: leave them out to continue it, or name another file with --store to begin another",
                differing.join(", ")
            );
        }
        Ok(now.keeping(&begun, is_of_league))
    }
}

/// `--players 8 (it has 4)`, if the value is not that of the league.
fn difference(value: &Value, begun: &Config) -> Option<String> {
    let own = begun.text(value.setting);
    let differs = own != value.text.as_deref();
    let own = own.map_or("the default".to_owned(), str::to_owned);
    let flag = value.setting.name();
    differs.then(|| format!("--{flag} {value} (it has {own})"))
}

/// Where a run begins or goes on.
pub(super) enum Place {
    /// In a store that does not exist yet.
    NewStore,
    /// In this store, under a number that is free.
    NewLeague(Store),
    /// A league that was broken off, with the settings that it has.
    Unfinished {
        store: Store,
        record: RunRecord,
        config: Config,
        league: Option<Box<League>>,
    },
}

impl Place {
    pub(super) fn find(config: &Config) -> Result<Self> {
        let Some(url) = config.get(&settings::STORE)? else {
            return Ok(Self::NewStore);
        };
        let is_file = match &url {
            StoreUrl::Sqlite(file) if !file.exists() => return Ok(Self::NewStore),
            StoreUrl::Memory => return Ok(Self::NewStore),
            StoreUrl::Sqlite(_) => true,
            StoreUrl::Postgres(_) => false,
        };
        let store = Store::open(&url)?;
        let league = latest_league(&store)?;
        let is_over = |league: &League| league.phase == Phase::Completed;
        match (RunRecord::read(&store)?, league) {
            (Some(record), league) if !league.as_ref().is_some_and(is_over) => {
                Ok(Self::Unfinished {
                    config: record.config(config, &url)?,
                    store,
                    record,
                    league: league.map(Box::new),
                })
            }
            _ if !is_file => {
                let next = if store.leagues()?.is_empty() {
                    store.league_number()
                } else {
                    store.league_number() + 1
                };
                Ok(Self::NewLeague(store.in_league(next)))
            }
            (None, None) if is_empty(&store)? => Ok(Self::NewLeague(store)),
            (None, _) => bail!(
                "{url} holds something else than a league of `matchday run`, which cannot continue it: name another file \
                 with --store"
            ),
            (Some(_), _) => bail!(
                "the league in {url} is over: `matchday report {url}` shows how it went; name another file with --store to play \
                 another"
            ),
        }
    }
}

fn latest_league(store: &Store) -> Result<Option<League>> {
    let events = store.load(&store.manager_stream()?)?;
    if events.is_empty() {
        return Ok(None);
    }
    let log = LeagueLog::decode(&events).context("the league in the store cannot be read")?;
    Ok(Some(log.league))
}

fn is_empty(store: &Store) -> Result<bool> {
    let reader = store.reader()?;
    Ok(reader.streams()?.is_empty() && !reader.is_of_a_service()?)
}
