//! The round robins: everyone with everyone, once or twice. All rounds are known when the league begins.

use super::{Draw, DrawnRound, Format, legs};
use crate::league::schedule::{Pairings, round_robin};
use crate::protocol::PlayerId;

impl Draw {
    pub(super) fn fixed_rounds(&self) -> Vec<DrawnRound> {
        let mut rounds = round_robin(&self.players);
        if self.competition.format == Format::DoubleRoundRobin {
            let second = rounds.iter().map(swapped).collect::<Vec<_>>();
            rounds.extend(second);
        }
        let numbered = (1..).zip(rounds);
        let drawn = numbered.map(|(stage, Pairings { pairs, bye })| DrawnRound {
            title: format!("Round {stage}"),
            stage,
            leg: 1,
            pairs,
            byes: bye.into_iter().collect(),
            fixed: true,
            play_off: false,
        });
        drawn
            .flat_map(|round| legs::repeated(round, self.competition.legs()))
            .collect()
    }
}

fn swapped(round: &Pairings) -> Pairings {
    let turn = |(a, b): &(PlayerId, PlayerId)| (b.clone(), a.clone());
    Pairings {
        pairs: round.pairs.iter().map(turn).collect(),
        bye: round.bye.clone(),
    }
}
