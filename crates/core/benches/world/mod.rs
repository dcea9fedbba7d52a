//! A league of real machines whose messages arrive at once, for the benches: no JSON, no network, no waiting.

use matchday_core::agent::{
    Agent, Answer, Ask, CallId, Content, Input, Outgoing, Parcel, Request, RequestId, Step,
};
use matchday_core::entropy::Entropy;
use matchday_core::league::{EndpointCheck, Manager, Settings};
use matchday_core::player::{self, Player, strategy};
use matchday_core::protocol::decode::{Conformance, Incoming};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, Message, MessageType, Sender, Timestamp,
    Version,
};
use matchday_core::referee::{self, Referee};
use matchday_core::timing::Timing;
use std::collections::VecDeque;
use std::time::Duration;

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

/// A league whose messages arrive at once. A machine's place among the others is its port, counted from [`FIRST_PORT`].
pub(crate) struct World {
    machines: Vec<Machine>,
    mail: VecDeque<(usize, Outgoing)>,
    entropy: Entropy,
    now: Timestamp,
}

const FIRST_PORT: usize = 8000;
const HOST: &str = "http://localhost:";

fn endpoint(place: usize) -> Endpoint {
    Endpoint::parse(&format!("{HOST}{}/mcp", FIRST_PORT + place)).unwrap()
}

fn place(endpoint: &Endpoint) -> usize {
    endpoint.as_str()[HOST.len()..][..4].parse::<usize>().unwrap() - FIRST_PORT
}

fn name(kind: &str, number: u32) -> DisplayName {
    DisplayName::parse(&format!("{kind} {number}")).unwrap()
}

impl World {
    /// Everyone is registered, and the league has not begun.
    pub(crate) fn new(referees: u32, capacity: u32, players: u32) -> Self {
        let settings = Settings {
            announce_lead: Duration::ZERO,
            endpoint_check: EndpointCheck::Off,
            standings_pause: Duration::from_millis(50),
            ..Settings::default()
        };
        let mut machines = vec![Machine::Manager(Box::new(Manager::new(settings)))];
        for number in 1..=referees {
            let settings = referee_settings(machines.len(), number, capacity);
            machines.push(Machine::Referee(Box::new(Referee::new(settings))));
        }
        for number in 1..=players {
            let strategy = strategy::find("random").unwrap().build();
            let settings = player_settings(machines.len(), number);
            machines.push(Machine::Player(Box::new(Player::new(settings, strategy))));
        }
        let now = Timestamp::from_micros(1_736_937_000_000_000);
        let mut world = Self { machines, mail: VecDeque::new(), entropy: Entropy::numbered(1), now };
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
        while self.deliver_next() {}
    }

    fn deliver_next(&mut self) -> bool {
        let Some((from, Outgoing { call, to, dialect, parcel, .. })) = self.mail.pop_front() else {
            return false;
        };
        let answer = self.ask(place(&to), call, parcel);
        self.hand_in(from, Input::Answer { call, dialect, answer });
        true
    }

    fn ask(&mut self, place: usize, call: CallId, parcel: Parcel) -> Answer {
        let ask = match parcel {
            Parcel::Message(message) => Ask::Message(Ok(incoming(message))),
            Parcel::Probe => Ask::Ping,
        };
        let request =
            Request { id: RequestId(call.0), ask, dialect: Dialect::Standard, local: true, objection: None };
        match self.hand_in(place, Input::Request(request)) {
            Some(Content::Message(message)) => Answer::Message(Ok(incoming(message))),
            _ => Answer::Received,
        }
    }

    fn start(&mut self) {
        let envelope = Envelope::new(Sender::Launcher, self.now, ConversationId::new("conv-start"));
        let start = Message::new(envelope, StartLeague { league_id: Settings::default().league_id });
        self.ask(0, CallId(0), Parcel::Message(start));
    }

    /// Plays until the first match is over: all others of its round are then as far as they can be without being over.
    #[allow(dead_code, reason = "not every bench that holds this module wants it")]
    pub(crate) fn play_to_first_end(mut self) -> Self {
        self.start();
        let is_end = |parcel: &Parcel| matches!(parcel, Parcel::Message(message) if message.message_type() == MessageType::GameOver);
        while self.mail.front().is_some_and(|(_, next)| !is_end(&next.parcel)) {
            self.deliver_next();
        }
        self
    }

    /// Plays every round to the end.
    #[allow(dead_code, reason = "not every bench that holds this module wants it")]
    pub(crate) fn play(mut self) -> Self {
        self.start();
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

fn referee_settings(place: usize, number: u32, capacity: u32) -> referee::Settings {
    referee::Settings {
        manager: endpoint(0),
        contact_endpoint: endpoint(place),
        display_name: name("Referee", number),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        max_concurrent_matches: capacity,
        timing: Timing::default(),
        conformance: Conformance::Strict,
    }
}

fn player_settings(place: usize, number: u32) -> player::Settings {
    player::Settings {
        manager: endpoint(0),
        contact_endpoint: endpoint(place),
        display_name: name("Agent", number),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        strategy: "random".into(),
    }
}
