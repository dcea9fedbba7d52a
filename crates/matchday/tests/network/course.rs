//! One league from its first registration to its end, and what must be true of it then.

use crate::faults::{self, Agenda, Fault, Reach};
use crate::sim_network::SimNetwork;
use matchday_audit::verify::verify;
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::messages::GameStatus;
use matchday_sim::check::{self, fixtures};
use matchday_sim::facts;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// How long everything goes on after the end, so that agents that are late are heard too.
const ECHO: Duration = Duration::from_secs(2);

pub(crate) struct Course {
    seed: u64,
    faults: Vec<Fault>,
    network: Rc<SimNetwork>,
    pub(crate) league: League,
    pub(crate) took: Duration,
}

/// Plays the league of a seed; without faults, if nobody is in their reach.
pub(crate) fn play(seed: u64, reach: Option<Reach>) -> Course {
    let players = usize::try_from(4 + seed % 3).unwrap();
    let network = Rc::new(SimNetwork::new(seed, players, 2));
    let drawn = |reach| faults::drawn(seed, reach, &network.players, &network.referees);
    let faults = reach.map(drawn).unwrap_or_default();
    let mut sim = network.settle();
    let mut agenda = Agenda::of(&faults);
    let bound = faults::over(&faults) + network.bound();
    let took = loop {
        agenda.pass(&mut sim);
        sim.step().unwrap();
        if network.completed().is_some() {
            break sim.elapsed();
        }
        let phase = network.phase();
        assert!(
            sim.elapsed() < bound,
            "seed {seed}: {phase:?} after {bound:?} with {faults:#?}"
        );
    };
    while sim.elapsed() < took + ECHO {
        agenda.pass(&mut sim);
        sim.step().unwrap();
    }
    let league = network.completed().expect("what is over stays over");
    drop(sim);
    Course {
        seed,
        faults,
        network,
        league,
        took,
    }
}

impl Course {
    /// Everything that must hold, whatever went wrong.
    pub(crate) fn assert_sound(&self) {
        let seed = self.seed;
        let league = &self.league;
        let facts = facts(league);
        check::always(&facts).unwrap_or_else(|fault| panic!("seed {seed}: {fault:?}"));
        let sound = self.untouched_players();
        fixtures::none_forfeits(&facts, &sound)
            .unwrap_or_else(|fault| panic!("seed {seed}: {fault:?} under {:#?}", self.faults));
        assert_eq!(
            self.network.replayed(),
            *league,
            "seed {seed}: what is stored is what is"
        );
        self.assert_decided_once();
        let found = verify(self.network.stored());
        assert_eq!(found.fault, None, "seed {seed}");
        let players = self.network.players.len() as u64;
        assert_eq!(
            (found.matches, found.matches_scheduled),
            (players * (players - 1) / 2, found.matches)
        );
        assert_eq!(found.table, league.rows().to_vec(), "seed {seed}");
    }

    fn assert_decided_once(&self) {
        let mut decisions: BTreeMap<_, u32> = BTreeMap::new();
        for (_, stored) in self
            .network
            .stored()
            .into_iter()
            .filter(|(stream, _)| stream.0 == "league")
        {
            for line in stored {
                let (_, event): (_, LeagueEvent) =
                    matchday_core::event_codec::decode(&line.line).unwrap();
                if let LeagueEvent::MatchDecided { match_id, .. } = event {
                    *decisions.entry(match_id).or_default() += 1;
                }
            }
        }
        assert!(
            decisions.values().all(|count| *count == 1),
            "seed {}: {decisions:?}",
            self.seed
        );
        assert!(
            decisions.keys().eq(self.league.matches.keys()),
            "seed {}",
            self.seed
        );
    }

    fn untouched_players(&self) -> Vec<matchday_core::protocol::PlayerId> {
        let touched = faults::touched(&self.faults);
        let players = self.league.players.iter();
        let untouched =
            players.filter(|(_, player)| !touched.contains(player.meta.display_name.raw()));
        untouched.map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn technical_losses(&self) -> usize {
        let decisions = self
            .league
            .matches
            .values()
            .filter_map(|game| game.decision.as_ref());
        decisions
            .filter(|decision| decision.status == GameStatus::TechnicalLoss)
            .count()
    }

    /// Matches that were given to a referee more than once.
    pub(crate) fn played_again(&self) -> usize {
        self.league
            .matches
            .values()
            .filter(|game| game.attempts.len() > 1)
            .count()
    }

    pub(crate) fn restarts(&self) -> u32 {
        self.network.restarts()
    }

    /// Everything that everyone noted, in the order in which it happened.
    pub(crate) fn log(&self) -> Vec<String> {
        self.network.log.lock().unwrap().clone()
    }
}
