//! The store: whether it opens and verifies, and which agents are registered in leagues that are not over.

use super::Finding;
use matchday_audit::league_log::LeagueLog;
use matchday_audit::verify::verify_file;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{Endpoint, Timestamp};
use matchday_store::{Store, StoreError, StoreUrl};

/// An agent that takes part in a league.
#[derive(Debug)]
pub(super) struct RegisteredAgent {
    /// `P03 (Ann Lee)`, with its league if the store has several.
    pub(super) name: String,
    pub(super) endpoint: Endpoint,
}

/// What the store is like, the agents in it, and the time of its last event.
pub(super) fn store(url: &StoreUrl) -> (Finding, Vec<RegisteredAgent>, Option<Timestamp>) {
    match look(url) {
        Ok(found) => found,
        Err(StoreError::Missing(_)) => (
            Finding::ok("store", format!("{url} is made at the first start")),
            Vec::new(),
            None,
        ),
        Err(error) => {
            let advice =
                "docs/store.md lists what to do for each of these; `matchday backup` makes copies";
            (
                Finding::failed("store", error.to_string(), advice),
                Vec::new(),
                None,
            )
        }
    }
}

fn look(url: &StoreUrl) -> Result<(Finding, Vec<RegisteredAgent>, Option<Timestamp>), StoreError> {
    let verification = verify_file(url)?;
    let reader = Store::open_read_only(url)?;
    let leagues = reader.leagues()?;
    let mut agents = Vec::new();
    let mut newest = None;
    let mut reader = reader;
    for league in &leagues {
        reader = reader.in_league(league.number);
        let log = LeagueLog::load(&reader)?;
        newest = newest.max(log.entries.last().map(|entry| entry.at));
        if log.league.phase != Phase::Completed {
            let of = match leagues.len() {
                1 => String::new(),
                _ => format!(" of {}", log.league.settings.league_id),
            };
            agents.extend(registered(&log, &of));
        }
    }
    let finding = if verification.is_good() {
        Finding::ok(
            "store",
            format!("{url} verifies; leagues: {}", leagues.len()),
        )
    } else {
        let advice = format!("see `matchday verify {url}`, and restore a copy");
        Finding::failed("store", format!("{url} does not verify"), advice)
    };
    Ok((finding, agents, newest))
}

fn registered(log: &LeagueLog, of: &str) -> Vec<RegisteredAgent> {
    let players = log
        .league
        .players
        .iter()
        .filter(|(_, player)| !player.withdrawn);
    let players = players.map(|(id, player)| RegisteredAgent {
        name: format!("{id} ({}){of}", player.meta.display_name.escaped()),
        endpoint: player.meta.contact_endpoint.clone(),
    });
    let referees = log
        .league
        .referees
        .iter()
        .map(|(id, referee)| RegisteredAgent {
            name: format!("{id} ({}){of}", referee.meta.display_name.escaped()),
            endpoint: referee.meta.contact_endpoint.clone(),
        });
    players.chain(referees).collect()
}
