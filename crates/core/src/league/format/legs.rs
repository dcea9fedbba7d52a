//! Several matches of the same two players: sides alternate from one to the next.

use super::DrawnRound;
use crate::protocol::PlayerId;

/// One pairing as that many rounds, of which only the first can depend on results.
pub(super) fn repeated(first: DrawnRound, legs: u32) -> Vec<DrawnRound> {
    (1..=legs)
        .map(|leg| DrawnRound {
            title: title(&first.title, leg, legs),
            leg,
            pairs: first.pairs.iter().map(|pair| seated(pair, leg)).collect(),
            fixed: first.fixed || leg > 1,
            ..first.clone()
        })
        .collect()
}

/// The pair as it sits in its n-th match: as it was drawn, then the other way round, and so on.
pub(crate) fn seated((a, b): &(PlayerId, PlayerId), leg: u32) -> (PlayerId, PlayerId) {
    if leg % 2 == 1 {
        (a.clone(), b.clone())
    } else {
        (b.clone(), a.clone())
    }
}

pub(super) fn title(of: &str, leg: u32, legs: u32) -> String {
    match (leg, legs) {
        (1, 1) => of.to_owned(),
        (leg, legs) if leg <= legs => format!("{of}, game {leg} of {legs}"),
        (leg, legs) => format!("{of}, played again ({})", leg - legs),
    }
}
