//! Stores as arguments: FILE|URL, or `--store` as other commands have it. A store is a file or a database (`postgres://...`).

use super::Usage;
use anyhow::Result;
use clap::Args;
use matchday_store::StoreUrl;

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(super) struct StoreArgs {
    /// The store of the league; those of its referees and players may follow, and tell more
    #[arg(value_name = "FILE|URL")]
    files: Vec<StoreUrl>,
    /// The same as FILE|URL
    #[arg(long = "store", value_name = "FILE|URL", value_delimiter = ',')]
    stores: Vec<StoreUrl>,
}

impl StoreArgs {
    pub(super) fn urls(&self) -> Vec<StoreUrl> {
        self.stores.iter().chain(&self.files).cloned().collect()
    }
}

impl StoreArgs {
    /// The league's page, if that is named in the place of a store.
    pub(super) fn page(&self) -> Option<String> {
        let urls = self.urls();
        let [url] = urls.as_slice() else { return None };
        Some(url.to_string())
            .filter(|url| url.starts_with("http://") || url.starts_with("https://"))
    }
}

/// For commands that take one store.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct StoreArg {
    /// The store
    #[arg(value_name = "FILE|URL")]
    file: Option<StoreUrl>,
    /// The same as FILE|URL
    #[arg(long = "store", value_name = "FILE|URL")]
    store: Option<StoreUrl>,
}

impl StoreArg {
    /// One of them is given.
    pub(super) fn url(&self) -> StoreUrl {
        self.file
            .as_ref()
            .or(self.store.as_ref())
            .map_or(StoreUrl::Memory, StoreUrl::clone)
    }
}

/// For commands that ask about an agent, and may read a store instead of asking a manager.
#[derive(Debug, Args)]
pub(super) struct AgentAndStoreArg {
    /// Which player or referee, such as P01 or REF01 [default: the whole league], and a store, as --store names it
    #[arg(value_name = "AGENT|FILE|URL", num_args = 0..=2)]
    named: Vec<String>,
    /// Read a stored league instead of asking a manager
    #[arg(long = "store", value_name = "FILE|URL")]
    store: Option<StoreUrl>,
}

impl AgentAndStoreArg {
    /// The agent and the store, in any order: the id of an agent has neither a dot nor a slash in it.
    pub(super) fn split(&self) -> Result<(Option<&str>, Option<StoreUrl>)> {
        let is_store = |text: &&String| text.contains(['.', '/', '\\']);
        let (stores, agents): (Vec<&String>, Vec<&String>) = self.named.iter().partition(is_store);
        let stores: Vec<StoreUrl> = stores
            .into_iter()
            .map(|text| text.as_str().into())
            .chain(self.store.clone())
            .collect();
        match (agents.as_slice(), stores.as_slice()) {
            ([] | [_], [] | [_]) => Ok((
                agents.first().map(|agent| agent.as_str()),
                stores.into_iter().next(),
            )),
            ([_, _, ..], _) => {
                Err(Usage("two agents are named: compare them with --against".to_owned()).into())
            }
            _ => Err(
                Usage("two stores are named: put the earlier one after --since".to_owned()).into(),
            ),
        }
    }
}
