//! The referees and their load. Pure.

use super::Versioned;
use crate::dashboard::projection::Snapshot;
use matchday_core::league::DecidedBy;
use matchday_core::protocol::RefereeId;
use matchday_core::protocol::messages::GameStatus;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct RefereesPage {
    referees: Vec<RefereeLoad>,
}

#[derive(Debug, Serialize)]
struct RefereeLoad {
    id: String,
    name: String,
    state: &'static str,
    capacity: u32,
    in_hand: u32,
    refereed: u32,
    technical: u32,
    handed_back: u32,
    overdue: u32,
    refused: u32,
    /// Why it is given fewer matches than others, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<&'static str>,
}

const WITHOUT_KEYED_MATCHES: &str = "It is given no match in which a player has a key: it does not announce that it proves its results (draw-2).";

pub(crate) fn page(snapshot: &Snapshot) -> Versioned<RefereesPage> {
    let projection = &*snapshot.projection;
    let mut decided: BTreeMap<&RefereeId, (u32, u32)> = BTreeMap::new();
    for decision in projection
        .league
        .matches
        .values()
        .filter_map(|game| game.decision.as_ref())
    {
        if let DecidedBy::Referee(id) = &decision.by {
            let (all, technical) = decided.entry(id).or_default();
            *all += 1;
            *technical += u32::from(decision.status == GameStatus::TechnicalLoss);
        }
    }
    let referees = projection.league.referees.iter().map(|(id, referee)| {
        let (refereed, technical) = decided.get(id).copied().unwrap_or_default();
        let lost = projection.lost.get(id).copied().unwrap_or_default();
        RefereeLoad {
            id: id.to_string(),
            name: referee.meta.display_name.escaped().to_string(),
            state: if referee.revoked || referee.is_suspended() {
                "suspended"
            } else {
                "active"
            },
            capacity: referee.meta.max_concurrent_matches,
            in_hand: referee.in_hand,
            refereed,
            technical,
            handed_back: lost.handed_back,
            overdue: lost.overdue,
            refused: lost.refused,
            remark: projection
                .league
                .is_without_keyed_matches(referee)
                .then_some(WITHOUT_KEYED_MATCHES),
        }
    });
    Versioned {
        version: snapshot.version(),
        page: RefereesPage {
            referees: referees.collect(),
        },
    }
}
