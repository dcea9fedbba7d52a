//! A league without faults, for benchmarks: every message arrives at once, the disk takes no time, nobody fails. It
//! measures the cost of the agents alone, and shows the messages of a league of a given size.

use matchday_core::agent::{
    Agent, Answer, Ask, CallId, Content, Failure, Input, Outgoing, Payload, Request, RequestId,
    Step,
};
use matchday_core::entropy::Entropy;
use matchday_core::game;
use matchday_core::game::strategy;
use matchday_core::league::{League, LeagueEvent, LeagueSettings, Manager};
use matchday_core::player::{self, Player};
use matchday_core::protocol::Query;
use matchday_core::protocol::decode::{Conformance, Incoming};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::text::RuleBroken;
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, Message, MessageType, Sender,
    Timestamp, Version,
};
use matchday_core::referee::{self, Referee};
use matchday_core::timing::Timing;
use std::collections::VecDeque;
use std::time::Duration;
use std::vec;

/// When virtual time begins: 2026-01-01T00:00:00Z.
pub const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// The manager has the first place, referees follow, then players.
const MANAGER: usize = 0;
/// The manager's port; referees have the next ones.
const FIRST_PORT: u32 = 8000;
/// How many ports on from the manager's those of players begin.
const PLAYERS: u32 = 100;

/// One of the three machines.
#[derive(Debug)]
enum Machine {
    Manager(Box<Manager>),
    Referee(Box<Referee>),
    Player(Box<Player>),
}

/// What one step of any machine sends and answers.
type Effects = (Vec<Outgoing>, Option<Content>);

/// What the manager must not forget, if someone keeps it; else events are dropped, as if the disk took no time.
type Kept = Option<Vec<(Timestamp, LeagueEvent)>>;

impl Machine {
    fn handle(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        input: Input,
        kept: &mut Kept,
    ) -> Effects {
        fn effects<E>(mut step: Step<E>) -> Effects {
            (step.outbox, step.replies.pop().map(|reply| reply.content))
        }
        match self {
            Self::Manager(agent) => {
                let step = agent.handle(now, entropy, input);
                if let Some(kept) = kept {
                    kept.extend(step.events.iter().map(|event| (now, event.clone())));
                }
                effects(step)
            }
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

/// Who is shown every message, if anyone is.
type Show<'a> = Option<&'a mut dyn FnMut(&Exchange<'_>)>;

/// A message, and what it was answered with.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The index of the agent that was called: 0 is the manager's, the referees' follow, then the players'.
    pub to: usize,
    /// As it was sent.
    pub message: &'a Message,
    /// As the agent replied.
    pub answer: &'a Content,
}

/// A league whose members have registered.
#[derive(Debug)]
pub struct BenchmarkLeague {
    machines: Vec<Machine>,
    referees: usize,
    /// What each step has sent, and whose it was.
    mail: VecDeque<(usize, vec::IntoIter<Outgoing>)>,
    entropy: Entropy,
    now: Timestamp,
    events: Kept,
    /// How many are to be played.
    rounds: u32,
}

impl BenchmarkLeague {
    /// Default settings, but that rounds begin when they are announced. A round can be played at once if referees can
    /// hold ten matches each.
    pub fn gather(players: u32, referees: u32) -> Result<Self, RuleBroken> {
        Self::gather_and(players, referees, &mut None)
    }

    /// The same, showing every registration on the way.
    pub fn gather_showing(
        players: u32,
        referees: u32,
        mut show: impl FnMut(&Exchange<'_>),
    ) -> Result<Self, RuleBroken> {
        Self::gather_and(players, referees, &mut Some(&mut show))
    }

    fn gather_and(players: u32, referees: u32, show: &mut Show<'_>) -> Result<Self, RuleBroken> {
        let settings = LeagueSettings {
            announce_lead: Duration::ZERO,
            ..LeagueSettings::default()
        };
        let mut league = Self {
            machines: vec![Machine::Manager(Box::new(Manager::new(settings)))],
            referees: referees as usize,
            mail: VecDeque::new(),
            entropy: Entropy::numbered(1),
            now: START,
            events: None,
            rounds: u32::MAX,
        };
        for number in 1..=referees {
            let referee = Referee::new(referee_settings(number, players, referees)?);
            league.machines.push(Machine::Referee(Box::new(referee)));
        }
        let game_type = GameType::new("even_odd");
        let strategies: Vec<_> = game::find(&game_type)
            .into_iter()
            .flat_map(strategy::of)
            .collect();
        for number in 1..=players {
            if let Some(strategy) = strategies.get(number as usize % strategies.len().max(1)) {
                let player = Player::new(player_settings(number)?, strategy.build());
                league.machines.push(Machine::Player(Box::new(player)));
            }
        }
        for place in 0..league.machines.len() {
            league.hand_in(place, Input::Wake);
            league.deliver(show);
        }
        Ok(league)
    }

    /// Plays to the end. How many matches were decided.
    pub fn play(&mut self) -> u32 {
        self.play_on(u32::MAX, None)
    }

    /// The same, showing every message on the way.
    pub fn play_showing(&mut self, mut show: impl FnMut(&Exchange<'_>)) -> u32 {
        self.play_on(u32::MAX, Some(&mut show))
    }

    /// Plays as many rounds. What the manager stored on the way.
    pub fn play_keeping(&mut self, rounds: u32) -> Vec<(Timestamp, LeagueEvent)> {
        self.events = Some(Vec::new());
        self.play_on(rounds, None);
        self.events.take().unwrap_or_default()
    }

    /// Goes on with a league that has begun, until the next message to arrive is of this kind.
    pub fn play_until(&mut self, kind: MessageType) {
        self.rounds = u32::MAX;
        let is_wanted = |payload: &Payload| matches!(payload, Payload::Message(message) if message.message_type() == kind);
        let next = |mail: &VecDeque<(usize, vec::IntoIter<Outgoing>)>| {
            mail.iter()
                .flat_map(|(_, sent)| sent.as_slice())
                .next()
                .is_some_and(|next| !is_wanted(&next.payload))
        };
        while next(&self.mail) {
            self.deliver_next(&mut None);
        }
    }

    fn play_on(&mut self, rounds: u32, mut show: Show<'_>) -> u32 {
        self.rounds = rounds;
        let league_id = LeagueSettings::default().league_id;
        let envelope = Envelope::new(
            Sender::Launcher,
            self.now,
            ConversationId::new("conv-start"),
        );
        let start = Message::new(envelope, StartLeague { league_id });
        self.ask(MANAGER, CallId(0), Payload::Message(start), &mut show);
        self.deliver(&mut show);
        while !self.is_enough()
            && self
                .league()
                .is_some_and(|league| league.phase != Phase::Completed)
        {
            let due = self.machines.iter().map(Machine::deadline).enumerate();
            let first = due
                .filter_map(|(place, at)| Some((place, at?)))
                .min_by_key(|(_, at)| *at);
            let Some((place, at)) = first else { break };
            self.now = self.now.max(at);
            self.hand_in(place, Input::Tick);
            self.deliver(&mut show);
        }
        self.league().map_or(0, |league| league.matches_decided)
    }

    /// Whether the rounds that were asked for are over.
    fn is_enough(&self) -> bool {
        self.league()
            .is_none_or(|league| league.current_round > self.rounds)
    }

    /// The manager's state. `None` only if there is no manager.
    pub fn league(&self) -> Option<&League> {
        match self.machines.first() {
            Some(Machine::Manager(manager)) => Some(manager.league()),
            _ => None,
        }
    }

    fn hand_in(&mut self, place: usize, input: Input) -> Option<Content> {
        let machine = self.machines.get_mut(place)?;
        let (outbox, reply) = machine.handle(self.now, &mut self.entropy, input, &mut self.events);
        if !outbox.is_empty() {
            self.mail.push_back((place, outbox.into_iter()));
        }
        reply
    }

    fn deliver(&mut self, show: &mut Show<'_>) {
        // Nothing here takes time, so one round leads to the next within this loop.
        while self.deliver_next(show) && !self.is_enough() {}
    }

    fn deliver_next(&mut self, show: &mut Show<'_>) -> bool {
        let Some((
            from,
            Outgoing {
                call,
                to,
                dialect,
                payload,
                ..
            },
        )) = self.next_letter()
        else {
            return false;
        };
        let answer = match self.place(&to) {
            None => Answer::Undelivered(Failure::NoConnection),
            Some(place) => self.ask(place, call, payload, show),
        };
        self.hand_in(
            from,
            Input::Answer {
                call,
                dialect,
                answer,
            },
        );
        true
    }

    fn next_letter(&mut self) -> Option<(usize, Outgoing)> {
        loop {
            let (from, sent) = self.mail.front_mut()?;
            if let Some(outgoing) = sent.next() {
                return Some((*from, outgoing));
            }
            self.mail.pop_front();
        }
    }

    /// Whose endpoint this is.
    fn place(&self, endpoint: &Endpoint) -> Option<usize> {
        let port = endpoint
            .raw()
            .strip_prefix("http://127.0.0.1:")?
            .strip_suffix("/mcp")?;
        let number = port
            .parse::<usize>()
            .ok()?
            .checked_sub(FIRST_PORT as usize)?;
        let player = number
            .checked_sub(PLAYERS as usize)
            .filter(|player| *player > 0);
        Some(player.map_or(number, |player| self.referees + player))
    }

    fn ask(&mut self, to: usize, call: CallId, payload: Payload, show: &mut Show<'_>) -> Answer {
        // A copy costs, and is made only if there is an observer.
        let said = match &payload {
            Payload::Message(message) => show.as_ref().map(|_| message.clone()),
            Payload::Probe | Payload::Connect => None,
        };
        let ask = match payload {
            Payload::Message(message) => Ask::Message(Ok(incoming(message))),
            Payload::Probe | Payload::Connect => Ask::Query(Query::Ping.into()),
        };
        let id = RequestId(call.0);
        let request = Request {
            id,
            ask,
            dialect: Dialect::Standard,
            local: true,
            objection: None,
            client: None,
            join_code: None,
        };
        let reply = self.hand_in(to, Input::Request(request));
        if let (Some(show), Some(message), Some(answer)) = (show, &said, &reply) {
            show(&Exchange {
                to,
                message,
                answer,
            });
        }
        match reply {
            Some(Content::Message(message)) => Answer::Message(Ok(incoming(message))),
            _ => Answer::Received,
        }
    }
}

fn incoming(message: Message) -> Incoming {
    let message_type = message.message_type();
    Incoming {
        envelope: message.envelope,
        message_type,
        body: Ok(message.body),
        deviations: Vec::new(),
        strict: None,
    }
}

fn endpoint(number: u32) -> Result<Endpoint, RuleBroken> {
    Endpoint::parse(&format!("http://127.0.0.1:{}/mcp", FIRST_PORT + number))
}

fn referee_settings(
    number: u32,
    players: u32,
    referees: u32,
) -> Result<referee::RefereeSettings, RuleBroken> {
    Ok(referee::RefereeSettings {
        manager: endpoint(0)?,
        contact_endpoint: endpoint(number)?,
        display_name: DisplayName::parse(&format!("Referee {number}"))?,
        version: Version::parse("1.0.0")?,
        game_types: vec![GameType::new("even_odd")],
        max_concurrent_matches: (players / 2).div_ceil(referees.max(1)).clamp(1, 10),
        timing: Timing::default(),
        bounds: matchday_core::protocol::messages::Timeouts::default(),
        conformance: Conformance::Strict,
    })
}

fn player_settings(number: u32) -> Result<player::PlayerSettings, RuleBroken> {
    Ok(player::PlayerSettings {
        manager: endpoint(0)?,
        contact_endpoint: endpoint(PLAYERS + number)?,
        display_name: DisplayName::parse(&format!("Player {number}"))?,
        version: Version::parse("1.0.0")?,
        game_types: vec![GameType::new("even_odd")],
        strategy: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_league_without_trouble_plays_every_match_once() {
        let mut league = BenchmarkLeague::gather(6, 2).unwrap();
        assert_eq!(league.play(), 15);
        let league = league.league().unwrap();
        assert_eq!((league.phase, league.matches.len()), (Phase::Completed, 15));
    }

    #[test]
    fn an_observer_sees_seven_exchanges_a_match_and_what_is_told_to_all() {
        let mut seen: BTreeMap<MessageType, usize> = BTreeMap::new();
        BenchmarkLeague::gather(4, 1).unwrap().play_showing(|said| {
            *seen.entry(said.message.message_type()).or_default() += 1;
        });
        let of = |kind| seen.get(&kind).copied().unwrap_or_default();
        assert_eq!(of(MessageType::GameInvitation), 12);
        assert_eq!(of(MessageType::ChooseParityCall), 12);
        assert_eq!(of(MessageType::GameOver), 12);
        assert_eq!(of(MessageType::MatchResultReport), 6);
        assert!(
            of(MessageType::LeagueStandingsUpdate) >= 12
                && of(MessageType::RoundAnnouncement) >= 12
        );
    }

    #[test]
    fn what_the_manager_stored_leads_to_the_same_table() {
        let mut league = BenchmarkLeague::gather(5, 2).unwrap();
        let mut retold = league.league().unwrap().clone();
        let events = league.play_keeping(3);
        assert_eq!(
            events
                .iter()
                .filter(|(_, event)| is_end_of_round(event))
                .count(),
            3
        );
        for (at, event) in events {
            retold.apply(at, &event);
        }
        assert_eq!(Some(&retold), league.league());
    }

    #[test]
    fn a_league_can_be_stopped_where_every_match_of_a_round_is_under_way() {
        let mut league = BenchmarkLeague::gather(6, 2).unwrap();
        league.play_keeping(1);
        league.play_until(MessageType::GameOver);
        let league = league.league().unwrap();
        assert_eq!(
            (
                league.current_round,
                league.matches_decided,
                league.undecided.len()
            ),
            (2, 3, 3)
        );
    }

    fn is_end_of_round(event: &LeagueEvent) -> bool {
        matches!(event, LeagueEvent::RoundCompleted { .. })
    }
}
