//! What a match costs in the pure machines: whole leagues, typed messages, no JSON, no network, no waiting.
//!
//! `cargo bench -p matchday-core` shows matches a second; the reciprocal is the cost of one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on has failed"
)]

use divan::Bencher;
use divan::counter::ItemsCount;
use matchday_core::agent::{
    Agent, Answer, Ask, CallId, Content, Failure, Input, Outgoing, Parcel, Request, RequestId, Step,
};
use matchday_core::entropy::Entropy;
use matchday_core::league::{EndpointCheck, Manager, Settings};
use matchday_core::player::{self, Player, strategy};
use matchday_core::protocol::decode::{Conformance, Incoming};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, Message, Sender, Timestamp, Version,
};
use matchday_core::referee::{self, Referee};
use matchday_core::timing::Timing;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

fn main() {
    divan::main();
}

#[divan::bench(args = [4, 16, 50])]
fn even_odd(bencher: Bencher, players: u32) {
    bencher
        .counter(ItemsCount::new(players * (players - 1) / 2))
        .with_inputs(|| World::new(players))
        .bench_values(World::play);
}

/// One of the three machines.
enum Machine {
    Manager(Box<Manager>),
    Referee(Box<Referee>),
    Player(Box<Player>),
}

/// What one step of any machine sends and answers; its events are dropped, as if the disk took no time.
type Effects = (Vec<Outgoing>, Option<Content>);

impl Machine {
    fn handle(&mut self, now: Timestamp, entropy: &mut Entropy, input: Input) -> Effects {
        fn effects<E>(step: Step<E>) -> Effects {
            (step.outbox, step.replies.into_iter().next().map(|reply| reply.content))
        }
        match self {
            Self::Manager(agent) => effects(agent.handle(now, entropy, input)),
            Self::Referee(agent) => effects(agent.handle(now, entropy, input)),
            Self::Player(agent) => effects(agent.handle(now, entropy, input)),
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        match self {
            Self::Manager(agent) => agent.deadline(),
            Self::Referee(agent) => agent.deadline(),
            Self::Player(agent) => agent.deadline(),
        }
    }
}

/// A league whose messages arrive at once.
struct World {
    machines: Vec<Machine>,
    places: BTreeMap<Endpoint, usize>,
    mail: VecDeque<(usize, Outgoing)>,
    entropy: Entropy,
    now: Timestamp,
}

fn endpoint(port: u32) -> Endpoint {
    Endpoint::parse(&format!("http://localhost:{port}/mcp")).unwrap()
}

fn name(kind: &str, number: u32) -> DisplayName {
    DisplayName::parse(&format!("{kind} {number}")).unwrap()
}

impl World {
    fn new(players: u32) -> Self {
        let settings = Settings {
            announce_lead: Duration::ZERO,
            endpoint_check: EndpointCheck::Off,
            standings_pause: Duration::from_millis(50),
            ..Settings::default()
        };
        let mut machines = vec![Machine::Manager(Box::new(Manager::new(settings)))];
        let mut places = BTreeMap::from([(endpoint(8000), 0)]);
        for number in 1..=2 {
            places.insert(endpoint(8000 + number), machines.len());
            machines.push(Machine::Referee(Box::new(Referee::new(referee_settings(number)))));
        }
        for number in 1..=players {
            places.insert(endpoint(8100 + number), machines.len());
            let strategy = strategy::find("random").unwrap().build();
            machines.push(Machine::Player(Box::new(Player::new(player_settings(number), strategy))));
        }
        let now = Timestamp::from_micros(1_736_937_000_000_000);
        let mut world = Self { machines, places, mail: VecDeque::new(), entropy: Entropy::numbered(1), now };
        for place in 0..world.machines.len() {
            world.hand_in(place, Input::Wake);
        }
        world.deliver();
        world
    }

    fn hand_in(&mut self, place: usize, input: Input) -> Option<Content> {
        let (outbox, reply) = self.machines[place].handle(self.now, &mut self.entropy, input);
        self.mail.extend(outbox.into_iter().map(|outgoing| (place, outgoing)));
        reply
    }

    fn deliver(&mut self) {
        while let Some((from, Outgoing { call, to, dialect, parcel, .. })) = self.mail.pop_front() {
            let answer = match (self.places.get(&to), parcel) {
                (None, _) => Answer::Undelivered(Failure::NoConnection),
                (Some(&place), parcel) => self.ask(place, call, parcel),
            };
            self.hand_in(from, Input::Answer { call, dialect, answer });
        }
    }

    fn ask(&mut self, place: usize, call: CallId, parcel: Parcel) -> Answer {
        let ask = match parcel {
            Parcel::Message(message) => Ask::Message(Ok(incoming(message))),
            Parcel::Probe => Ask::Ping,
        };
        let id = RequestId(call.0);
        let request = Request { id, ask, dialect: Dialect::Standard, local: true, objection: None };
        match self.hand_in(place, Input::Request(request)) {
            Some(Content::Message(message)) => Answer::Message(Ok(incoming(message))),
            _ => Answer::Received,
        }
    }

    fn play(mut self) -> Self {
        let envelope = Envelope::new(Sender::Launcher, self.now, ConversationId::new("conv-start"));
        let start = Message::new(envelope, StartLeague { league_id: Settings::default().league_id });
        self.ask(0, CallId(0), Parcel::Message(start));
        self.deliver();
        while self.phase() != Phase::Completed {
            let due = self.machines.iter().map(Machine::deadline).enumerate();
            let (place, at) =
                due.filter_map(|(place, at)| Some((place, at?))).min_by_key(|(_, at)| *at).unwrap();
            self.now = self.now.max(at);
            self.hand_in(place, Input::Tick);
            self.deliver();
        }
        self
    }

    fn phase(&self) -> Phase {
        match &self.machines[0] {
            Machine::Manager(manager) => manager.league().phase,
            _ => panic!("the manager comes first"),
        }
    }
}

fn incoming(message: Message) -> Incoming {
    let message_type = message.message_type();
    Incoming { envelope: message.envelope, message_type, body: Ok(message.body), deviations: Vec::new() }
}

fn referee_settings(number: u32) -> referee::Settings {
    referee::Settings {
        manager: endpoint(8000),
        contact_endpoint: endpoint(8000 + number),
        display_name: name("Referee", number),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        max_concurrent_matches: 10,
        timing: Timing::default(),
        conformance: Conformance::Strict,
    }
}

fn player_settings(number: u32) -> player::Settings {
    player::Settings {
        manager: endpoint(8000),
        contact_endpoint: endpoint(8100 + number),
        display_name: name("Agent", number),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        strategy: "random".into(),
    }
}
