//! The scenario of a seed: the number of agents, the league's settings, and how the agents behave.

use super::agent_id::AgentId;
use super::behaviour::Behaviour;
use super::external_deciders::Decider;
use super::faults::{Faults, pick};
use super::planted_fault::PlantedFault;
use super::shared_store::SharedStore;
use super::wire::Wire;
use core::net::IpAddr;
use matchday_core::driver::IsColocated;
use matchday_core::entropy::Entropy;
use matchday_core::game::GAMES;
use matchday_core::league::format::{Competition, Format, Seeding};
use matchday_core::league::{ATTEMPTS_PER_REFEREE_MAX, EndpointCheck, LeagueSettings, ProofRule};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::{DRAW_2, Timeouts};
use matchday_core::protocol::{Body, Endpoint, GameType, LeagueId, Message, Token};
use matchday_core::retry::RetryPolicy;
use matchday_core::timing::Timing;
use std::sync::Arc;
use std::time::Duration;

/// How long both sides take for what they do before and after an answer, at most.
const STEPS_AND_DISKS: Duration = Duration::from_millis(100);

/// After how many rounds the operator ends a ladder.
pub(super) const LADDER_ROUNDS: u32 = 6;
/// What the operator shows.
pub(super) const OPERATOR_TOKEN: &str = "tok_operator_of_the_simulation";

/// All that is chosen about a run before it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Named in every message.
    pub league_id: LeagueId,
    /// What is played in the league.
    pub game_type: GameType,
    /// How each player behaves: there are as many.
    pub players: Vec<Behaviour>,
    /// Who decides for each player; those beyond decide for themselves.
    pub deciders: Vec<Decider>,
    /// How many matches each referee takes at a time.
    pub referees: Vec<u32>,
    /// How long before its first match a round is announced.
    pub lead: Duration,
    /// The timeouts that the manager hands over to the referees.
    pub timing: Timing,
    /// The referees' own settings, where they have others than the manager.
    pub referee_timing: Option<Timing>,
    /// What each referee allows at most of what the manager hands over, by turns.
    pub bounds: Vec<Timeouts>,
    /// How strictly all agents decode messages.
    pub conformance: Conformance,
    /// When the manager probes endpoints.
    pub endpoint_check: EndpointCheck,
    /// Whether messages are encoded as bytes on their way.
    pub wire: Wire,
    /// How each agent likes to wrap what it sends to the manager, by turns.
    pub dialects: Vec<Dialect>,
    /// Whether the league is started as soon as the manager allows it, and not once all who will surely come are in it.
    pub hasty: bool,
    /// The faults of network, clocks, disks and hosts.
    pub faults: Faults,
    /// The format of the league.
    pub competition: Competition,
    /// How many players live in one process with the manager and all referees, as `matchday run` and `practice` have it;
    /// the others are guests. `None`: everyone has a computer of its own.
    pub colocated_players: Option<u8>,
    /// The numbers of the referees that cheat.
    pub cheats: Vec<u8>,
    /// The numbers of the referees that do not announce that they prove, and do not.
    pub without_proof: Vec<u8>,
    /// How many players, of the first, register without a key, as agents of other makes do.
    pub unkeyed: u8,
    /// The one dialect that each player understands, if it does not understand all.
    pub understood: Vec<Option<Dialect>>,
    /// How many players, of the first, dial out to a relay.
    pub dialling: u8,
    /// Whether the manager, with what is colocated with it, runs on one of several machines that share a store.
    pub shared_store: Option<SharedStore>,
    /// A promise that is broken on purpose.
    pub planted: Option<PlantedFault>,
}

impl Scenario {
    /// A small sound league, for tests that look at one thing.
    pub fn plain(players: usize, referees: usize) -> Self {
        Self {
            league_id: LeagueId::new("league_sim"),
            game_type: GameType::even_odd(),
            players: vec![Behaviour::HONEST; players],
            deciders: Vec::new(),
            referees: vec![2; referees],
            lead: Duration::ZERO,
            timing: Timing::default(),
            referee_timing: None,
            bounds: Vec::new(),
            conformance: Conformance::Strict,
            endpoint_check: EndpointCheck::AtStart,
            wire: Wire::Typed,
            dialects: Vec::new(),
            hasty: false,
            faults: Faults::NONE,
            competition: Competition::default(),
            colocated_players: None,
            cheats: Vec::new(),
            without_proof: Vec::new(),
            unkeyed: 0,
            understood: Vec::new(),
            dialling: 0,
            shared_store: None,
            planted: None,
        }
    }

    /// A random scenario of which some players, or all, dial out.
    pub fn drawn_dialling(chance: &mut Entropy) -> Self {
        let mut scenario = Self::drawn(chance);
        scenario.dialling =
            u8::try_from(1 + chance.below(scenario.players.len() as u64)).unwrap_or(u8::MAX);
        scenario
    }

    /// Whether an agent is called through a relay.
    pub(super) fn dials_out(&self, who: AgentId) -> bool {
        matches!(who, AgentId::Player(number) if number <= self.dialling) && !self.is_colocated(who)
    }

    /// A random scenario; `chance` is seeded by the run.
    pub fn drawn(chance: &mut Entropy) -> Self {
        let faults = if chance.chance(15) {
            Faults::NONE
        } else {
            Faults::drawn(chance)
        };
        let players = *pick(chance, &[2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 7, 8]).unwrap_or(&2);
        let players = (0..players)
            .map(|number| behaviour(chance, &faults, number))
            .collect();
        let referees = (0..1 + chance.below(3))
            .map(|_| *pick(chance, &[1, 1, 2, 3]).unwrap_or(&1))
            .collect();
        let other = pick(chance, GAMES).map_or(GameType::EVEN_ODD, |game| game.name);
        let game_type = if chance.chance(85) {
            GameType::EVEN_ODD
        } else {
            other
        };
        let lead = *pick(chance, &[0, 0, 0, 1_000, 5_000]).unwrap_or(&0);
        let endpoint_checks = [
            EndpointCheck::AtStart,
            EndpointCheck::AtStart,
            EndpointCheck::AtRegistration,
            EndpointCheck::Off,
        ];
        let mut scenario = Self {
            game_type: GameType::new(game_type),
            players,
            referees,
            lead: Duration::from_millis(lead),
            timing: timing(chance),
            conformance: if chance.chance(50) {
                Conformance::Strict
            } else {
                Conformance::Lenient
            },
            endpoint_check: pick(chance, &endpoint_checks)
                .copied()
                .unwrap_or(EndpointCheck::Off),
            wire: if chance.chance(40) {
                Wire::Json
            } else {
                Wire::Typed
            },
            dialects: dialects(chance),
            hasty: chance.chance(50),
            faults,
            ..Self::plain(0, 0)
        };
        if chance.chance(50) {
            scenario.deciders = scenario
                .players
                .iter()
                .map(|_| Decider::drawn(chance))
                .collect();
        }
        // Drawn aside, so that a league of the usual kind goes on as its seed has always had it.
        let mut aside = chance.clone();
        if aside.chance(15) {
            scenario.competition = competition(&mut aside);
        }
        if aside.chance(20) {
            let players = scenario.players.len() as u64;
            scenario.colocated_players = u8::try_from(aside.below(players + 1)).ok();
        }
        if aside.chance(50) {
            scenario.referee_timing = Some(timing(&mut aside));
        }
        if aside.chance(30) {
            scenario.bounds = (0..3).map(|_| bounds(&mut aside)).collect();
        }
        if aside.chance(20) {
            let referees = scenario.referees.len() as u64;
            scenario.cheats = u8::try_from(1 + aside.below(referees))
                .into_iter()
                .collect();
        }
        if aside.chance(30) {
            let players = scenario.players.len() as u64;
            scenario.unkeyed = u8::try_from(1 + aside.below(players)).unwrap_or(0);
        }
        if aside.chance(25) {
            let one = |aside: &mut Entropy| {
                pick(aside, &Dialect::ALL)
                    .copied()
                    .filter(|_| aside.chance(50))
            };
            scenario.understood = scenario.players.iter().map(|_| one(&mut aside)).collect();
        }
        if aside.chance(5) {
            scenario.competition = ladder(&mut aside);
        }
        if aside.chance(10) {
            scenario.share_store(&mut aside);
        }
        if aside.chance(20) {
            let referees = scenario.referees.len() as u64;
            scenario.without_proof =
                (1..=u8::try_from(1 + aside.below(referees)).unwrap_or(1)).collect();
        }
        scenario
    }

    /// A random scenario with a shared store.
    pub fn drawn_with_shared_store(chance: &mut Entropy) -> Self {
        let mut scenario = Self::drawn(chance);
        if scenario.shared_store.is_none() {
            scenario.share_store(chance);
        }
        scenario
    }

    fn share_store(&mut self, chance: &mut Entropy) {
        self.shared_store = Some(SharedStore::drawn(chance));
        let least = *pick(chance, &[1, 5, 20, 60]).unwrap_or(&1);
        self.faults.heal_after = self.faults.heal_after.max(Duration::from_secs(least));
        // House referees live with their manager.
        if chance.chance(50) {
            self.colocated_players.get_or_insert(0);
        }
    }

    /// Whether the league has no end of its own.
    pub fn is_ladder(&self) -> bool {
        self.competition.format == Format::Ladder
    }

    /// Whether a player that answers at once is in time: on a sound network, whose slowest way there and back takes no longer
    /// than a referee waits.
    pub(super) fn answers_come_in_time(&self) -> bool {
        let (_, slowest) = self.faults.latency_us;
        // Each dialect may have to be tried.
        let attempts = if self.understood.is_empty() {
            1
        } else {
            Dialect::ALL.len() as u64
        };
        let there_and_back = Duration::from_micros(2 * slowest * attempts) + STEPS_AND_DISKS;
        let shortest = (0..3).map(|referee| self.timing.within(&self.bounds_of(referee)));
        let shortest = shortest.map(|timing| timing.join.min(timing.choice)).min();
        // A take-over takes seconds, which only the default windows leave.
        let default = Timing::default();
        let least = self
            .shared_store
            .as_ref()
            .map_or(Duration::ZERO, |_| default.join.min(default.choice));
        let needed = there_and_back.max(least);
        self.faults.is_sound() && shortest.is_some_and(|shortest| needed <= shortest)
    }

    /// What a referee allows at most.
    pub fn bounds_of(&self, referee: u8) -> Timeouts {
        self.bounds
            .iter()
            .cycle()
            .nth(usize::from(referee))
            .copied()
            .unwrap_or_default()
    }

    /// Whether it shares a process and its log with the manager.
    pub fn is_colocated(&self, who: AgentId) -> bool {
        is_colocated(self.colocated_players, who) || self.shares_store(who)
    }

    /// Whether it runs on one of the machines that share a store.
    pub(super) fn shares_store(&self, who: AgentId) -> bool {
        let is_there = who == AgentId::Manager || is_colocated(self.colocated_players, who);
        is_there && self.shared_store.is_some()
    }

    /// How the driver of `who` knows the agents that it shares its log with, if there are any.
    pub(super) fn colocated_with(&self, who: AgentId) -> Option<IsColocated> {
        let players = self.colocated_players;
        let others = move |endpoint: &Endpoint| {
            AgentId::at(endpoint).is_some_and(|to| is_colocated(players, to))
        };
        self.is_colocated(who)
            .then(|| Arc::new(others) as IsColocated)
    }

    /// Takes the key out of the registration of an agent that has none.
    pub(super) fn withhold_key(&self, from: AgentId, message: &mut Message) {
        let unkeyed = matches!(from, AgentId::Player(number) if number <= self.unkeyed);
        if unkeyed && matches!(message.body, Body::LeagueRegisterRequest(_)) {
            message
                .envelope
                .auth_token
                .take_if(|token| token.is_registration_key());
        }
    }

    /// Whether it is a referee that does not prove.
    pub(super) fn is_without_proof(&self, who: AgentId) -> bool {
        matches!(who, AgentId::Referee(number) if self.without_proof.contains(&number))
    }

    /// Takes out of a registration that the referee proves, and out of a report what it proves.
    pub(super) fn withhold_proof(&self, from: AgentId, message: &mut Message) {
        if !self.is_without_proof(from) {
            return;
        }
        match &mut message.body {
            Body::RefereeRegisterRequest(request) => {
                Arc::make_mut(request)
                    .referee_meta
                    .capabilities
                    .retain(|name| name != DRAW_2);
            }
            Body::MatchResultReport(report) => {
                Arc::make_mut(&mut Arc::make_mut(report).result)
                    .details
                    .fairness = None;
            }
            _ => {}
        }
    }

    /// Who decides for an agent: `Own` for all that are not players.
    pub fn decider(&self, who: AgentId) -> Decider {
        let AgentId::Player(number) = who else {
            return Decider::Own;
        };
        let place = usize::from(number).checked_sub(1);
        place
            .and_then(|place| self.deciders.get(place))
            .copied()
            .unwrap_or(Decider::Own)
    }

    /// The behaviour of a player by its number, counted from 1; honest beyond the last.
    pub fn behaviour(&self, player: u8) -> Behaviour {
        usize::from(player)
            .checked_sub(1)
            .and_then(|index| self.players.get(index))
            .copied()
            .unwrap_or(Behaviour::HONEST)
    }

    /// How `from` wraps what it sends to `to`, if it has a way of its own.
    pub fn dialect_of(&self, from: AgentId, to: Option<AgentId>) -> Option<Dialect> {
        let number = match from {
            AgentId::Referee(number) => usize::from(number),
            AgentId::Player(number) => usize::from(number) + self.referees.len(),
            AgentId::Manager | AgentId::Outsider => return None,
        };
        (to == Some(AgentId::Manager)).then(|| self.dialects.iter().cycle().nth(number).copied())?
    }

    /// The one dialect that an agent understands, if it does not understand all.
    pub(super) fn understood_by(&self, who: AgentId) -> Option<Dialect> {
        let AgentId::Player(number) = who else {
            return None;
        };
        usize::from(number)
            .checked_sub(1)
            .and_then(|index| self.understood.get(index).copied())?
    }

    /// Whether an agent will surely be there to register.
    pub fn is_expected(&self, who: AgentId) -> bool {
        match who {
            AgentId::Player(number) => !self.behaviour(number).is_absent(),
            _ => true,
        }
    }

    /// What the manager is created with.
    pub fn league_settings(&self) -> LeagueSettings {
        LeagueSettings {
            league_id: self.league_id.clone(),
            game_type: self.game_type.clone(),
            conformance: self.conformance,
            announce_lead: self.lead,
            endpoint_check: self.endpoint_check,
            timing: self.timing,
            competition: self.competition.clone(),
            operator_token: self.is_ladder().then(|| Token::new(OPERATOR_TOKEN).hash()),
            proof: match self.planted {
                Some(PlantedFault::ProofOptional) => ProofRule::Optional,
                _ => ProofRule::Required,
            },
            ..LeagueSettings::default()
        }
    }

    /// How long the league can take from the end of the faults, or from its start if that is later. Every match may be
    /// given to each referee in turn and once more, and each time be overdue.
    pub fn bound(&self) -> Duration {
        let settings = self.league_settings();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let rounds = self.rounds_at_most();
        let at_once = self.matches_at_once();
        let waves = count(self.players.len() / 2).div_ceil(at_once).max(1);
        let once = settings.overdue_after(&settings.timing)
            + settings.timing.other
            + settings.probe_every
            + settings.probe_timeout;
        // A referee that cheats loses every attempt at a match that one may lose.
        let lost = count(self.cheats.len() * ATTEMPTS_PER_REFEREE_MAX);
        let wave = once.saturating_mul(
            count(self.referees.len())
                .saturating_add(1)
                .saturating_add(lost),
        );
        let round = wave.saturating_mul(waves) + self.lead + settings.timing.other;
        Duration::from_secs(60) + round.saturating_mul(rounds)
    }

    /// How many matches the referees that prove can run at a time; all, if none proves.
    fn matches_at_once(&self) -> u32 {
        let referees = || (1_u8..).zip(&self.referees);
        let provers = referees().filter(|(number, _)| !self.without_proof.contains(number));
        let of_provers: u32 = provers.map(|(_, capacity)| capacity).sum();
        let of_all: u32 = referees().map(|(_, capacity)| capacity).sum();
        if of_provers > 0 {
            of_provers
        } else {
            of_all.max(1)
        }
    }
}

fn is_colocated(players: Option<u8>, who: AgentId) -> bool {
    match who {
        AgentId::Manager | AgentId::Referee(_) => players.is_some(),
        AgentId::Player(number) => players.is_some_and(|players| number <= players),
        AgentId::Outsider => false,
    }
}

impl Scenario {
    fn rounds_at_most(&self) -> u32 {
        let players = u32::try_from(self.players.len()).unwrap_or(u32::MAX);
        let Competition {
            format,
            matches_per_pairing,
            replays,
            ..
        } = &self.competition;
        let knockout =
            players.next_power_of_two().trailing_zeros() * (matches_per_pairing + replays);
        match format {
            Format::RoundRobin | Format::Swiss => players * matches_per_pairing,
            Format::DoubleRoundRobin => 2 * players * matches_per_pairing,
            Format::Knockout => knockout,
            Format::GroupsKnockout => players * matches_per_pairing + knockout,
            Format::Ladder => 2 * LADDER_ROUNDS,
        }
    }
}

fn competition(chance: &mut Entropy) -> Competition {
    let format = pick(chance, &Format::ENDING).copied().unwrap_or_default();
    let matches_per_pairing = *pick(chance, &[1, 1, 1, 2, 3]).unwrap_or(&1);
    let replays = *pick(chance, &[0, 1, 3]).unwrap_or(&3);
    let seeding = if chance.chance(50) {
        Seeding::Lots
    } else {
        Seeding::Registration
    };
    // Drawn aside, so that the rest of a seed's scenario stays as it was.
    let play_off =
        !matches!(format, Format::Knockout | Format::GroupsKnockout) && chance.clone().chance(50);
    Competition {
        matches_per_pairing,
        replays,
        seeding,
        play_off,
        ..Competition::of(format)
    }
}

fn ladder(chance: &mut Entropy) -> Competition {
    let matches_per_pairing = *pick(chance, &[1, 1, 2, 3]).unwrap_or(&1);
    let matches_per_hour = pick(chance, &[None, Some(60), Some(4)]).copied().flatten();
    Competition {
        matches_per_pairing,
        matches_per_hour,
        ..Competition::of(Format::Ladder)
    }
}

fn behaviour(chance: &mut Entropy, faults: &Faults, number: u32) -> Behaviour {
    if !chance.chance(faults.bad_player_percent) {
        return Behaviour::HONEST;
    }
    let drawn = Behaviour::drawn(chance);
    // A league needs two players to begin at all.
    if drawn.is_absent() && number < 2 {
        return Behaviour::HONEST;
    }
    drawn
}

fn dialects(chance: &mut Entropy) -> Vec<Dialect> {
    if chance.chance(50) {
        return Vec::new();
    }
    (0..3)
        .filter_map(|_| pick(chance, &Dialect::ALL).copied())
        .collect()
}

/// Any of the windows and counts, each at times.
fn bounds(chance: &mut Entropy) -> Timeouts {
    let mut some = |least: u64, span: u64| {
        let drawn = u32::try_from(least + chance.below(span)).ok();
        drawn.filter(|_| chance.chance(40))
    };
    Timeouts {
        join_ms: some(500, 8_000),
        choice_ms: some(500, 40_000),
        retries: some(0, 6),
        retry_delay_ms: some(100, 4_000),
        retry_delay_max_ms: None,
    }
}

fn timing(chance: &mut Entropy) -> Timing {
    let retry = if chance.chance(60) {
        RetryPolicy::FIXED
    } else {
        RetryPolicy::EXPONENTIAL
    };
    if chance.chance(50) {
        return Timing {
            retry,
            ..Timing::default()
        };
    }
    let ms = Duration::from_millis;
    Timing {
        join: ms(500 + chance.below(1_500)),
        choice: ms(500 + chance.below(4_000)),
        game_over: ms(500),
        report: ms(1_000 + chance.below(2_000)),
        other: ms(1_000 + chance.below(2_000)),
        retry,
    }
}
impl Scenario {
    /// The address that a request comes from.
    pub(super) fn address_of(&self, from: AgentId, victim: Option<AgentId>) -> IpAddr {
        match (self.planted, victim) {
            (Some(PlantedFault::SharedAddress), Some(victim)) => victim.address(),
            _ => from.address(),
        }
    }

    /// Takes the timeouts out of an assignment.
    pub(super) fn lose_timeouts(&self, message: &mut Message) {
        if self.planted != Some(PlantedFault::TimeoutsLost) {
            return;
        }
        if let Body::RoundAnnouncement(round) = &mut message.body {
            let mut matches = round.matches.to_vec();
            for briefing in matches.iter_mut().filter_map(|game| game.briefing.as_mut()) {
                briefing.timeouts = None;
            }
            Arc::make_mut(round).matches = matches.into();
        }
    }
}
