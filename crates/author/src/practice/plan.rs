//! The sequence of matches in a practice. Pure.

use super::chaos_partner::ChaosMode;
use super::proxy::player::InjectedFault;
use matchday_core::game::strategy::StrategyEntry;
use matchday_core::game::{GameEntry, strategy};
use matchday_core::league::schedule::Pairings;
use matchday_core::protocol::{MatchId, PlayerId, RoundId};
use std::collections::BTreeMap;

/// The agent registers first.
const AGENT_NUMBER: u32 = 1;

#[derive(Debug, Clone, Copy)]
pub enum Partner {
    Sparring(&'static StrategyEntry),
    Chaos(ChaosMode),
}

#[derive(Debug, Clone)]
pub struct PracticeMatch {
    pub partner: PlayerId,
    pub kind: Kind,
    pub name: &'static str,
    pub about: &'static str,
}

/// The purpose of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Sparring,
    Chaos,
    /// A correct partner, and a fault injected into the agent's requests.
    InjectedFault(InjectedFault),
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sparring => "sparring",
            Self::Chaos => "chaos",
            Self::InjectedFault(_) => "trouble",
        }
    }
}

#[derive(Debug, Clone)]
pub struct PracticePlan {
    pub partners: Vec<Partner>,
    /// One for each round.
    pub matches: Vec<PracticeMatch>,
}

impl PracticePlan {
    /// Every strategy of the game `times` times, then every chaos mode and every injected fault once.
    pub fn new(game: &GameEntry, times: u32) -> Self {
        let sparring = strategy::of(game).map(Partner::Sparring);
        let partners: Vec<Partner> = sparring.chain(ChaosMode::ALL.map(Partner::Chaos)).collect();
        let numbered: Vec<(PlayerId, Partner)> = (AGENT_NUMBER + 1..)
            .map(PlayerId::numbered)
            .zip(partners.iter().copied())
            .collect();
        let is_sparring = |partner: &Partner| matches!(partner, Partner::Sparring(_));
        let (honest, chaotic): (Vec<_>, Vec<_>) = numbered
            .iter()
            .partition(|(_, partner)| is_sparring(partner));
        let mut matches = Vec::new();
        for _ in 0..times {
            matches.extend(
                honest
                    .iter()
                    .map(|(id, partner)| PracticeMatch::with(id, *partner)),
            );
        }
        matches.extend(
            chaotic
                .iter()
                .map(|(id, partner)| PracticeMatch::with(id, *partner)),
        );
        let friends = honest.iter().map(|(id, _)| id).cycle();
        matches.extend(
            InjectedFault::ALL
                .into_iter()
                .zip(friends)
                .map(|(fault, id)| PracticeMatch::with_fault(id, fault)),
        );
        Self { partners, matches }
    }

    pub fn agent_id() -> PlayerId {
        PlayerId::numbered(AGENT_NUMBER)
    }

    pub fn matches(&self) -> impl Iterator<Item = (MatchId, &PracticeMatch)> {
        (1..)
            .map(|round| MatchId::numbered(RoundId(round), 1))
            .zip(&self.matches)
    }

    /// One match a round; the agent alternates sides.
    pub fn fixtures(&self) -> Vec<Pairings> {
        let sides = [true, false].into_iter().cycle();
        let pairs = self.matches.iter().zip(sides).map(|(game, is_a)| {
            let agent = Self::agent_id();
            let partner = game.partner.clone();
            if is_a {
                (agent, partner)
            } else {
                (partner, agent)
            }
        });
        pairs
            .map(|pair| Pairings {
                pairs: vec![pair],
                bye: None,
            })
            .collect()
    }

    pub fn faults(&self) -> BTreeMap<String, InjectedFault> {
        let troubled = self.matches().filter_map(|(id, game)| match game.kind {
            Kind::InjectedFault(fault) => Some((id.to_string(), fault)),
            Kind::Sparring | Kind::Chaos => None,
        });
        troubled.collect()
    }
}

impl Partner {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sparring(entry) => entry.name,
            Self::Chaos(mode) => mode.name(),
        }
    }
}

impl PracticeMatch {
    fn with(id: &PlayerId, partner: Partner) -> Self {
        let (kind, about) = match partner {
            Partner::Sparring(entry) => (Kind::Sparring, entry.about),
            Partner::Chaos(mode) => (Kind::Chaos, mode.about()),
        };
        Self {
            partner: id.clone(),
            kind,
            name: partner.name(),
            about,
        }
    }

    fn with_fault(id: &PlayerId, fault: InjectedFault) -> Self {
        let name = fault.name();
        let about = fault.about();
        Self {
            partner: id.clone(),
            kind: Kind::InjectedFault(fault),
            name,
            about,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::game;
    use matchday_core::protocol::GameType;

    fn even_odd() -> &'static GameEntry {
        game::find(&GameType::new("even_odd")).unwrap()
    }

    #[test]
    fn every_strategy_comes_as_often_as_asked_and_every_mood_and_trouble_once() {
        let plan = PracticePlan::new(even_odd(), 3);
        let count =
            |kind: fn(&Kind) -> bool| plan.matches.iter().filter(|game| kind(&game.kind)).count();
        assert_eq!(
            count(|kind| *kind == Kind::Sparring),
            3 * strategy::of(even_odd()).count()
        );
        assert_eq!(count(|kind| *kind == Kind::Chaos), ChaosMode::ALL.len());
        assert_eq!(
            count(|kind| matches!(kind, Kind::InjectedFault(_))),
            InjectedFault::ALL.len()
        );
    }

    #[test]
    fn the_guest_is_in_every_fixture_and_troubles_are_at_their_matches() {
        let plan = PracticePlan::new(even_odd(), 1);
        let fixtures = plan.fixtures();
        assert!(fixtures.iter().all(|round| {
            round
                .pairs
                .iter()
                .all(|(a, b)| [a, b].contains(&&PracticePlan::agent_id()) && a != b)
        }));
        let last = format!("R{}M1", fixtures.len());
        assert!(plan.faults().contains_key(&last));
    }
}
