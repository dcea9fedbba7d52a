//! The agents of a run: one manager, some referees, some players, each on its host.

use super::agent_id::{AgentId, well_formed};
use super::external_deciders::Decider;
use super::faults::pick;
use super::host::Host;
use super::machine::Machine;
use super::scenario::Scenario;
use matchday_core::entropy::Entropy;
use matchday_core::game;
use matchday_core::game::strategy;
use matchday_core::league::{League, Manager};
use matchday_core::player::{self, Player, PlayerEvent, THINK_TIME};
use matchday_core::protocol::{DisplayName, Version};
use matchday_core::referee::{self, Referee};

#[derive(Debug)]
pub(super) struct Agents {
    pub manager: Host<Manager>,
    referees: Vec<Host<Referee>>,
    players: Vec<Host<Player>>,
}

impl Agents {
    pub(super) fn new(seed: u64, scenario: &Scenario, chance: &mut Entropy) -> Self {
        let settings = scenario.league_settings();
        let mut host_seed = seed.wrapping_mul(1_000_003);
        let mut next_seed = move || {
            host_seed = host_seed.wrapping_add(1);
            host_seed
        };
        let house_error = clock_error(scenario, chance);
        // One process has one clock.
        let error_of = |who, chance: &mut Entropy| {
            let own = clock_error(scenario, chance);
            if scenario.is_colocated(who) {
                house_error
            } else {
                own
            }
        };
        let manager = Host::new(
            next_seed(),
            house_error,
            scenario.colocated_with(AgentId::Manager),
            move || Manager::new(settings.clone()),
            |a, b| a.league() == b.league(),
        );
        let mut referees = Vec::new();
        for (number, capacity) in (1..).zip(&scenario.referees) {
            let who = AgentId::Referee(number);
            let settings = referee_settings(scenario, number, *capacity);
            let build = move || Referee::new(settings.clone());
            let error = error_of(who, chance);
            let colocated = scenario.colocated_with(who);
            referees.push(Host::new(next_seed(), error, colocated, build, |a, b| {
                a.durable() == b.durable()
            }));
        }
        let strategies: Vec<_> = game::find(&scenario.game_type)
            .map(strategy::of)
            .into_iter()
            .flatten()
            .collect();
        let mut players = Vec::new();
        for (number, _) in (1..).zip(&scenario.players) {
            let Some(entry) = pick(chance, &strategies).copied() else {
                continue;
            };
            let who = AgentId::Player(number);
            let settings = player_settings(scenario, who);
            let decider = scenario.decider(who);
            let build = move || match decider {
                Decider::Own => Player::new(settings.clone(), entry.build()),
                Decider::External { .. } => {
                    Player::with_external_decider(settings.clone(), entry.build(), THINK_TIME)
                }
            };
            let error = error_of(who, chance);
            let colocated = scenario.colocated_with(who);
            players.push(Host::new(next_seed(), error, colocated, build, |a, b| {
                a.durable() == b.durable()
            }));
        }
        Self {
            manager,
            referees,
            players,
        }
    }

    pub(super) fn hosts(&self) -> Vec<AgentId> {
        let referees = (1..)
            .zip(&self.referees)
            .map(|(number, _)| AgentId::Referee(number));
        let players = (1..)
            .zip(&self.players)
            .map(|(number, _)| AgentId::Player(number));
        [AgentId::Manager]
            .into_iter()
            .chain(referees)
            .chain(players)
            .collect()
    }

    pub(super) fn machine(&self, who: AgentId) -> Option<&dyn Machine> {
        match who {
            AgentId::Manager => Some(&self.manager),
            AgentId::Referee(number) => self
                .referees
                .get(place(number)?)
                .map(|host| host as &dyn Machine),
            AgentId::Player(number) => self
                .players
                .get(place(number)?)
                .map(|host| host as &dyn Machine),
            AgentId::Outsider => None,
        }
    }

    pub(super) fn machine_mut(&mut self, who: AgentId) -> Option<&mut (dyn Machine + 'static)> {
        match who {
            AgentId::Manager => Some(&mut self.manager),
            AgentId::Referee(number) => self.referees.get_mut(place(number)?).map(|host| host as _),
            AgentId::Player(number) => self.players.get_mut(place(number)?).map(|host| host as _),
            AgentId::Outsider => None,
        }
    }

    /// A disk that lies, to show that the checkers notice.
    pub(super) fn lose_last_event(&mut self, who: AgentId) {
        if let Some(machine) = self.machine_mut(who) {
            machine.lose_last_event();
        }
    }

    /// What a player has on its disk.
    pub(super) fn player_events(&self, number: u8) -> impl Iterator<Item = &PlayerEvent> {
        let host = place(number).and_then(|place| self.players.get(place));
        host.into_iter()
            .flat_map(|host| host.log().iter().map(|(_, event)| event))
    }

    /// The league as the manager knows it, or would if it were up.
    pub(super) fn league(&self) -> &League {
        self.manager
            .agent()
            .unwrap_or_else(|| self.manager.shadow())
            .league()
    }
}

/// By how much a host's clock is wrong, either way.
fn clock_error(scenario: &Scenario, chance: &mut Entropy) -> i64 {
    let most = scenario.faults.clock_error_us_max;
    let drawn = i64::try_from(chance.below(2 * most + 1)).unwrap_or(0);
    drawn - i64::try_from(most).unwrap_or(0)
}

fn place(number: u8) -> Option<usize> {
    usize::from(number).checked_sub(1)
}

fn referee_settings(scenario: &Scenario, number: u8, capacity: u32) -> referee::RefereeSettings {
    let who = AgentId::Referee(number);
    referee::RefereeSettings {
        manager: AgentId::Manager.endpoint(),
        contact_endpoint: who.endpoint(),
        display_name: well_formed(DisplayName::parse(&who.to_string())),
        version: well_formed(Version::parse("1.0.0")),
        game_types: vec![scenario.game_type.clone()],
        max_concurrent_matches: capacity,
        timing: scenario.referee_timing.unwrap_or(scenario.timing),
        bounds: scenario.bounds_of(number),
        conformance: scenario.conformance,
    }
}

fn player_settings(scenario: &Scenario, who: AgentId) -> player::PlayerSettings {
    player::PlayerSettings {
        manager: AgentId::Manager.endpoint(),
        contact_endpoint: who.endpoint(),
        display_name: well_formed(DisplayName::parse(&who.to_string())),
        version: well_formed(Version::parse("1.0.0")),
        game_types: vec![scenario.game_type.clone()],
        strategy: None,
    }
}
