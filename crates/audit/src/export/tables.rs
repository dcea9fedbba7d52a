//! The tables of leagues as CSV files, and `tables.json`, which tells the type of each column. Writes into one directory.

use super::columns::{LEAGUES, MATCHES, MODEL_CALLS, MOVES, PLAYERS, RATINGS, TABLES, Table};
use super::moves;
use super::rows;
use crate::csv_rows;
use crate::describe;
use crate::log_set::LogSet;
use matchday_core::protocol::LeagueId;
use matchday_store::StoreUrl;
use matchday_store::error::StoreError;
use matchday_store::open;
use matchday_store::reader::Reader;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// How many leagues and matches the tables have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tables {
    pub leagues: usize,
    pub matches: usize,
}

/// Writes the tables of every league in these stores, or of the one of this name, into a directory that is new or empty. The
/// stores of agents tell more of their leagues.
pub fn export_tables(
    stores: &[StoreUrl],
    league_id: Option<&LeagueId>,
    dir: &Path,
) -> Result<Tables, StoreError> {
    let found = leagues_of(stores, league_id)?;
    let agents = agent_stores(stores, &found)?;
    super::begin(dir)?;
    let mut writer = TableWriter::begin(dir).map_err(|error| StoreError::io(dir, error))?;
    for league in &found {
        let logs = league.logs(&agents, found.len() > 1)?;
        let same = found.iter().filter(|other| other.id == league.id).count();
        let created = logs.league.as_ref().and_then(rows::created_at);
        let name = match created.filter(|_| same > 1) {
            Some(at) => format!("{}@{}", league.id, describe::time(at)),
            None => league.id.clone(),
        };
        writer.add(&name, &logs)?;
    }
    writer.finish()
}

/// A league by its store and its number there.
struct Found {
    store: StoreUrl,
    number: u32,
    id: String,
}

impl Found {
    fn open(&self) -> Result<Reader, StoreError> {
        Ok(open::to_read(&self.store)?.in_league(self.number))
    }

    /// With what these agents wrote down. With several leagues an agent's store need not be of this one.
    fn logs(&self, agents: &[StoreUrl], several: bool) -> Result<LogSet, StoreError> {
        let mut readers = vec![self.open()?];
        for agent in agents {
            let other = || -> Result<bool, StoreError> {
                match LogSet::of(vec![self.open()?, open::to_read(agent)?]) {
                    Err(StoreError::OtherLeague { .. }) => Ok(true),
                    logs => logs.map(|_| false),
                }
            };
            if !(several && other()?) {
                readers.push(open::to_read(agent)?);
            }
        }
        LogSet::of(readers)
    }
}

fn leagues_of(stores: &[StoreUrl], league_id: Option<&LeagueId>) -> Result<Vec<Found>, StoreError> {
    let mut found = Vec::new();
    for store in each_once(stores) {
        let mut leagues = open::to_read(store)?.choose(league_id)?.leagues()?;
        if let Some(wanted) = league_id {
            leagues.retain(|league| league.id.as_ref() == Some(wanted));
            leagues.drain(..leagues.len().saturating_sub(1));
        }
        found.extend(leagues.into_iter().map(|league| {
            Found {
                store: store.clone(),
                number: league.number,
                id: league
                    .id
                    .map_or_else(|| league.number.to_string(), |id| id.to_string()),
            }
        }));
    }
    match (found.is_empty(), stores.first()) {
        (true, Some(store)) => Err(StoreError::NoLeague(store.clone())),
        _ => Ok(found),
    }
}

/// The stores without a league, which are those of referees and players.
fn agent_stores(stores: &[StoreUrl], leagues: &[Found]) -> Result<Vec<StoreUrl>, StoreError> {
    let mut agents = Vec::new();
    for store in each_once(stores) {
        let has_league = leagues.iter().any(|league| league.store == *store);
        if !has_league && open::to_read(store)?.leagues()?.is_empty() {
            agents.push(store.clone());
        }
    }
    Ok(agents)
}

/// A store that is named twice is read once.
fn each_once(stores: &[StoreUrl]) -> impl Iterator<Item = &StoreUrl> {
    let mut seen = Vec::new();
    stores.iter().filter(move |store| {
        let url = store.canonical();
        let is_new = !seen.contains(&url);
        seen.push(url);
        is_new
    })
}

/// Adds leagues one after the other, so that no more than one is in memory.
pub(super) struct TableWriter<'a> {
    dir: &'a Path,
    files: BTreeMap<&'static str, BufWriter<File>>,
    written: Tables,
}

impl<'a> TableWriter<'a> {
    pub(super) fn begin(dir: &'a Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for table in TABLES {
            let mut file = super::create(&dir.join(format!("{}.csv", table.name)))?;
            let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            writeln!(file, "{}", names.join(","))?;
            files.insert(table.name, file);
        }
        let types: Map<String, Value> = TABLES
            .iter()
            .map(|table| (table.name.to_owned(), types(table)))
            .collect();
        let text = serde_json::to_string_pretty(&types)?;
        fs::write(dir.join("tables.json"), text + "\n")?;
        Ok(Self {
            dir,
            files,
            written: Tables::default(),
        })
    }

    pub(super) fn add(&mut self, name: &str, logs: &LogSet) -> Result<(), StoreError> {
        let Some(league_log) = &logs.league else {
            return Ok(());
        };
        let (moves, calls) = moves::moves(name, logs)?;
        self.written.leagues += 1;
        self.written.matches += league_log.league.matches.len();
        let dir = self.dir;
        self.append(&LEAGUES, [rows::league(name, league_log)])
            .and_then(|()| self.append(&PLAYERS, rows::players(name, league_log)))
            .and_then(|()| self.append(&MATCHES, rows::matches(name, league_log)))
            .and_then(|()| self.append(&MOVES, moves))
            .and_then(|()| self.append(&MODEL_CALLS, calls))
            .and_then(|()| self.append(&RATINGS, rows::ratings(name, league_log)))
            .map_err(|error| StoreError::io(dir, error))
    }

    fn append<R: Serialize>(
        &mut self,
        table: &Table,
        rows: impl IntoIterator<Item = R>,
    ) -> io::Result<()> {
        let csv = csv_rows::csv(rows)?;
        // The first line is the header, which is there already.
        let (_, rows) = csv.split_once('\n').unwrap_or_default();
        match self.files.get_mut(table.name) {
            Some(file) => file.write_all(rows.as_bytes()),
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<Tables, StoreError> {
        for file in self.files.values_mut() {
            file.flush()
                .map_err(|error| StoreError::io(self.dir, error))?;
        }
        Ok(self.written)
    }
}

fn types(table: &Table) -> Value {
    let columns = table.columns.iter();
    let types: Map<String, Value> = columns
        .map(|column| (column.name.to_owned(), json!(column.kind)))
        .collect();
    types.into()
}
