//! What a guest goes through, bout by bout, and with whom. Pure.

use super::gate::Trouble;
use super::partner::Mood;
use matchday_core::game::GameEntry;
use matchday_core::league::schedule::Pairings;
use matchday_core::player::strategy::{self, StrategyEntry};
use matchday_core::protocol::{MatchId, PlayerId, RoundId};
use std::collections::BTreeMap;

/// The guest registers before all others.
const GUEST: u32 = 1;

/// A player of ours, which the guest meets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Partner {
    Sparring(&'static StrategyEntry),
    Chaos(Mood),
}

/// One match of the guest.
#[derive(Debug, Clone)]
pub(crate) struct Bout {
    pub(crate) partner: PlayerId,
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

/// What a bout is there to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Sparring,
    Chaos,
    /// An honest partner, and something in the guest's own way.
    Trouble(Trouble),
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sparring => "sparring",
            Self::Chaos => "chaos",
            Self::Trouble(_) => "trouble",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Programme {
    pub(crate) partners: Vec<Partner>,
    /// One a round.
    pub(crate) bouts: Vec<Bout>,
}

impl Programme {
    /// Every strategy of the game so many times, then every mood of chaos and every trouble once.
    pub(crate) fn new(game: &GameEntry, times: u32) -> Self {
        let sparring = strategy::of(game).map(Partner::Sparring);
        let partners: Vec<Partner> = sparring.chain(Mood::ALL.map(Partner::Chaos)).collect();
        let numbered: Vec<(PlayerId, Partner)> =
            (GUEST + 1..).map(PlayerId::numbered).zip(partners.iter().copied()).collect();
        let is_sparring = |partner: &Partner| matches!(partner, Partner::Sparring(_));
        let (honest, chaotic): (Vec<_>, Vec<_>) =
            numbered.iter().partition(|(_, partner)| is_sparring(partner));
        let mut bouts = Vec::new();
        for _ in 0..times {
            bouts.extend(honest.iter().map(|(id, partner)| Bout::with(id, *partner)));
        }
        bouts.extend(chaotic.iter().map(|(id, partner)| Bout::with(id, *partner)));
        let friends = honest.iter().map(|(id, _)| id).cycle();
        bouts
            .extend(Trouble::ALL.into_iter().zip(friends).map(|(trouble, id)| Bout::in_trouble(id, trouble)));
        Self { partners, bouts }
    }

    pub(crate) fn guest() -> PlayerId {
        PlayerId::numbered(GUEST)
    }

    /// The bouts with the matches that they are.
    pub(crate) fn matches(&self) -> impl Iterator<Item = (MatchId, &Bout)> {
        (1..).map(|round| MatchId::numbered(RoundId(round), 1)).zip(&self.bouts)
    }

    /// One match a round, the guest on either side in turn.
    pub(crate) fn fixtures(&self) -> Vec<Pairings> {
        let sides = [true, false].into_iter().cycle();
        let pairs = self.bouts.iter().zip(sides).map(|(bout, is_a)| {
            let (guest, partner) = (Self::guest(), bout.partner.clone());
            if is_a { (guest, partner) } else { (partner, guest) }
        });
        pairs.map(|pair| Pairings { pairs: vec![pair], bye: None }).collect()
    }

    pub(crate) fn troubles(&self) -> BTreeMap<String, Trouble> {
        let troubled = self.matches().filter_map(|(id, bout)| match bout.kind {
            Kind::Trouble(trouble) => Some((id.to_string(), trouble)),
            Kind::Sparring | Kind::Chaos => None,
        });
        troubled.collect()
    }
}

impl Partner {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sparring(entry) => entry.name,
            Self::Chaos(mood) => mood.name(),
        }
    }
}

impl Bout {
    fn with(id: &PlayerId, partner: Partner) -> Self {
        let (kind, about) = match partner {
            Partner::Sparring(entry) => (Kind::Sparring, entry.about),
            Partner::Chaos(mood) => (Kind::Chaos, mood.about()),
        };
        Self { partner: id.clone(), kind, name: partner.name(), about }
    }

    fn in_trouble(id: &PlayerId, trouble: Trouble) -> Self {
        let (name, about) = (trouble.name(), trouble.about());
        Self { partner: id.clone(), kind: Kind::Trouble(trouble), name, about }
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
        let programme = Programme::new(even_odd(), 3);
        let count = |kind: fn(&Kind) -> bool| programme.bouts.iter().filter(|bout| kind(&bout.kind)).count();
        assert_eq!(count(|kind| *kind == Kind::Sparring), 3 * strategy::of(even_odd()).count());
        assert_eq!(count(|kind| *kind == Kind::Chaos), Mood::ALL.len());
        assert_eq!(count(|kind| matches!(kind, Kind::Trouble(_))), Trouble::ALL.len());
    }

    #[test]
    fn the_guest_is_in_every_fixture_and_troubles_are_at_their_matches() {
        let programme = Programme::new(even_odd(), 1);
        let fixtures = programme.fixtures();
        assert!(fixtures.iter().all(|round| {
            round.pairs.iter().all(|(a, b)| [a, b].contains(&&Programme::guest()) && a != b)
        }));
        let last = format!("R{}M1", fixtures.len());
        assert!(programme.troubles().contains_key(&last));
    }
}
