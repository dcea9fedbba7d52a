//! A manager on the test bench: whatever it sends is caught, and answered only as the test says.

use matchday_core::agent::{
    Agent, Answer, Ask, Content, Failure, Input, Outgoing, Payload, Request, RequestId, Step,
};
use matchday_core::entropy::Entropy;
use matchday_core::league::{
    EndpointCheck, LeagueEvent, LeagueSettings, Manager, Proof, RegistrationRecord,
};
use matchday_core::protocol::decode::{Conformance, Incoming};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Body, ConversationId, DisplayName, Endpoint, Envelope, ErrorCode, GameType, LeagueId, MatchId,
    Message, PlayerId, RefereeId, Sender, Timestamp, Token, Version,
};
use matchday_testkit::schemas::assert_step_fits;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Desk {
    pub(crate) manager: Manager,
    pub(crate) now: Timestamp,
    pub(crate) events: Vec<(Timestamp, LeagueEvent)>,
    /// Sent, and not answered yet.
    pub(crate) outbox: Vec<Outgoing>,
    pub(crate) tokens: BTreeMap<Sender, Token>,
    /// The address that requests come from, and the join code in the path that they come to.
    pub(crate) client: Option<IpAddr>,
    pub(crate) join_code: Option<Token>,
    entropy: Entropy,
    requests: u64,
    pub(crate) settings: LeagueSettings,
}

/// A league whose rounds begin at once and whose endpoints are not checked.
pub(crate) fn quick() -> LeagueSettings {
    LeagueSettings {
        announce_lead: Duration::ZERO,
        endpoint_check: EndpointCheck::Off,
        conformance: Conformance::Strict,
        ..LeagueSettings::default()
    }
}

impl Desk {
    pub(crate) fn new(settings: LeagueSettings) -> Self {
        let mut desk = Self {
            manager: Manager::new(settings.clone()),
            now: Timestamp::from_micros(1_736_937_000_000_000),
            events: Vec::new(),
            outbox: Vec::new(),
            tokens: BTreeMap::new(),
            client: Some(Ipv4Addr::LOCALHOST.into()),
            join_code: None,
            entropy: Entropy::numbered(1),
            requests: 0,
            settings,
        };
        desk.hand_in(Input::Wake);
        desk
    }

    /// A league with everyone registered, ready to start.
    pub(crate) fn with(settings: LeagueSettings, players: u32, referees: u32) -> Self {
        let mut desk = Self::new(settings);
        for number in 1..=referees {
            desk.register_referee(number, 10);
        }
        for number in 1..=players {
            desk.register_player(number);
        }
        desk
    }

    /// The same, started, with its players told of the first round.
    pub(crate) fn started(settings: LeagueSettings, players: u32, referees: u32) -> Self {
        let mut desk = Self::with(settings, players, referees);
        desk.start();
        desk.players_hear_of_the_round();
        desk
    }

    /// Every player answers the announcement of the round, if it is on its way. What was sent can still be looked at.
    pub(crate) fn players_hear_of_the_round(&mut self) {
        let is_announcement = |call: &&Outgoing| match &call.payload {
            Payload::Message(message) => matches!(message.body, Body::RoundAnnouncement(_)),
            Payload::Probe | Payload::Connect => false,
        };
        let to_player = |call: &&Outgoing| !self.is_referee(&call.to);
        let announced = self.outbox.iter().filter(is_announcement).filter(to_player);
        for call in announced.cloned().collect::<Vec<_>>() {
            self.hand_in(Input::Answer {
                call: call.call,
                dialect: call.dialect,
                answer: Answer::Received,
            });
        }
    }

    fn is_referee(&self, endpoint: &Endpoint) -> bool {
        self.manager
            .league()
            .referees
            .values()
            .any(|known| known.meta.contact_endpoint == *endpoint)
    }

    pub(crate) fn hand_in(&mut self, input: Input) -> Vec<Content> {
        let step = self.manager.handle(self.now, &mut self.entropy, input);
        assert_step_fits(&step);
        let Step {
            events,
            outbox,
            replies,
            ..
        } = step;
        self.events
            .extend(events.into_iter().map(|event| (self.now, event)));
        self.outbox.extend(outbox);
        replies.into_iter().map(|reply| reply.content).collect()
    }

    /// Asks, and gives back the message that answers.
    pub(crate) fn ask(&mut self, message: Message) -> Message {
        match self
            .ask_any(Ask::Message(Ok(incoming(message))), true)
            .pop()
        {
            Some(Content::Message(answer)) => answer,
            other => panic!("expected a message, got {other:?}"),
        }
    }

    pub(crate) fn ask_any(&mut self, ask: Ask, local: bool) -> Vec<Content> {
        self.ask_despite(ask, local, None)
    }

    /// Asks what the driver has something against.
    pub(crate) fn ask_despite(
        &mut self,
        ask: Ask,
        local: bool,
        objection: Option<&str>,
    ) -> Vec<Content> {
        self.requests += 1;
        let id = RequestId(self.requests);
        let dialect = Dialect::Standard;
        let client = self.client;
        let join_code = self.join_code.clone();
        let objection = objection.map(str::to_owned);
        let request = Request {
            id,
            ask,
            dialect,
            local,
            objection,
            client,
            join_code,
        };
        self.hand_in(Input::Request(request))
    }

    pub(crate) fn message(&self, sender: &Sender, body: impl Into<Body>) -> Message {
        let envelope = Envelope::new(sender.clone(), self.now, ConversationId::new("conv-test"));
        Message::new(envelope.with_token(self.tokens.get(sender).cloned()), body)
    }

    /// Asks as `sender`, with the token it was given.
    pub(crate) fn ask_as(&mut self, sender: &Sender, body: impl Into<Body>) -> Body {
        let message = self.message(sender, body);
        self.ask(message).body
    }

    /// Says something as `sender` that need not be answered by a message.
    pub(crate) fn ask_any_as(&mut self, sender: &Sender, body: impl Into<Body>) -> Vec<Content> {
        let message = self.message(sender, body);
        self.ask_any(Ask::Message(Ok(incoming(message))), false)
    }

    pub(crate) fn register_player(&mut self, number: u32) -> Sender {
        let request = LeagueRegisterRequest {
            player_meta: player_meta(number),
            join_code: None,
        };
        let answer = self.ask_as(
            &Sender::Player(PlayerId::new(format!("agent{number}"))),
            request,
        );
        answer_id(&answer)
    }

    /// Registers a player that shows its token from now on.
    pub(crate) fn register_player_with_token(&mut self, number: u32) {
        let request = LeagueRegisterRequest {
            player_meta: player_meta(number),
            join_code: None,
        };
        let request = self.message(&player(number), request);
        let token = self.ask(request).envelope.auth_token.unwrap();
        self.tokens.insert(player(number), token);
    }

    pub(crate) fn register_referee(&mut self, number: u32, capacity: u32) -> Sender {
        let request = RefereeRegisterRequest {
            referee_meta: referee_meta(number, capacity),
            join_code: None,
        };
        let message = self.message(
            &Sender::Referee(RefereeId::new(format!("agent{number}"))),
            request,
        );
        let answer = self.ask(message);
        let sender = answer_id(&answer.body);
        self.tokens
            .insert(sender.clone(), answer.envelope.auth_token.unwrap());
        sender
    }

    pub(crate) fn start(&mut self) -> LeagueStatus {
        let league_id = self.settings.league_id.clone();
        match self.ask_as(&Sender::Launcher, StartLeague { league_id }) {
            Body::LeagueStatus(status) => Arc::unwrap_or_clone(status),
            other => panic!("expected LEAGUE_STATUS, got {other:?}"),
        }
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(deadline) = self
            .manager
            .deadline()
            .filter(|deadline| *deadline <= until)
        {
            self.now = self.now.max(deadline);
            self.hand_in(Input::Tick);
        }
        self.now = until;
    }

    /// Ends every call that is open as `answer` says, until no new ones come.
    pub(crate) fn answer_calls(&mut self, mut answer: impl FnMut(&Outgoing) -> Answer) {
        while let Some(call) = self.outbox.pop() {
            let answer = answer(&call);
            self.hand_in(Input::Answer {
                call: call.call,
                dialect: call.dialect,
                answer,
            });
        }
    }

    pub(crate) fn settle_received(&mut self) {
        self.answer_calls(|_| Answer::Received);
    }

    /// The bodies sent to one endpoint and not answered yet, in order.
    pub(crate) fn sent_to(&self, endpoint: &Endpoint) -> Vec<Body> {
        let calls = self.outbox.iter().filter(|call| call.to == *endpoint);
        calls
            .filter_map(|call| match &call.payload {
                Payload::Message(message) => Some(message.body.clone()),
                Payload::Probe | Payload::Connect => None,
            })
            .collect()
    }

    /// Answers one endpoint's calls as they come, and gives the types of all it was told.
    pub(crate) fn listen(&mut self, endpoint: &Endpoint) -> Vec<&'static str> {
        let mut heard = Vec::new();
        while let Some(place) = self.outbox.iter().position(|call| call.to == *endpoint) {
            let call = self.outbox.remove(place);
            if let Payload::Message(message) = &call.payload {
                heard.push(message.message_type().name());
            }
            self.hand_in(Input::Answer {
                call: call.call,
                dialect: call.dialect,
                answer: Answer::Received,
            });
        }
        heard
    }

    /// The open matches that were given to a referee.
    pub(crate) fn open_matches(&self) -> Vec<(MatchId, PlayerId, PlayerId, RefereeId)> {
        let matches = self
            .manager
            .league()
            .matches
            .iter()
            .filter(|(_, game)| game.in_play);
        matches
            .map(|(id, g)| {
                (
                    id.clone(),
                    g.a.clone(),
                    g.b.clone(),
                    g.referee().unwrap().clone(),
                )
            })
            .collect()
    }

    pub(crate) fn report(&mut self, match_id: &str, score: (u32, u32)) -> Body {
        self.players_hear_of_the_round();
        let (_, _, _, referee) = self.open_match(match_id);
        let report = self
            .without_play(match_id)
            .unwrap_or_else(|| self.report_of(match_id, score));
        self.ask_as(&Sender::Referee(referee), report)
    }

    /// The report of a match that was given out to be decided without play, if it was.
    pub(crate) fn without_play(&self, match_id: &str) -> Option<MatchResultReport> {
        let game = &self.manager.league().matches[&MatchId::new(match_id)];
        let loses = |player: &PlayerId| game.forfeits.iter().any(|(id, _)| id == player);
        let score = match (loses(&game.a), loses(&game.b)) {
            (false, false) => return None,
            (true, false) => (0, 3),
            (false, true) => (3, 0),
            (true, true) => (0, 0),
        };
        let mut report = self.report_of(match_id, score);
        let result = Arc::make_mut(&mut report.result);
        result.status = Some(GameStatus::TechnicalLoss);
        let blame = game
            .forfeits
            .iter()
            .map(|(id, cause)| (id.clone(), Blame::on_player(*cause)));
        let choices = ByPlayer::pair((game.a.clone(), None), (game.b.clone(), None));
        let details = ParityDetails {
            drawn_number: None,
            number_parity: None,
            choices,
        };
        result.details = ResultDetails {
            blame: Some(Box::new(blame.collect())),
            ..ResultDetails::of(GameDetails::Parity(details))
        };
        Some(report)
    }

    fn open_match(&self, match_id: &str) -> (MatchId, PlayerId, PlayerId, RefereeId) {
        self.open_matches()
            .into_iter()
            .find(|(id, ..)| id.as_str() == match_id)
            .expect("the match is open")
    }

    /// A report whose winner and status follow from the score.
    pub(crate) fn report_of(&self, match_id: &str, score: (u32, u32)) -> MatchResultReport {
        let league = self.manager.league();
        let (id, game) = league
            .matches
            .get_key_value(&MatchId::new(match_id))
            .unwrap();
        let (winner, status) = match score {
            (3, 0) => (Some(game.a.clone()), GameStatus::Win),
            (0, 3) => (Some(game.b.clone()), GameStatus::Win),
            (0, 0) => (None, GameStatus::TechnicalLoss),
            _ => (None, GameStatus::Draw),
        };
        let choice_b = if score == (1, 1) {
            Parity::Even
        } else {
            Parity::Odd
        };
        let drawn_number = if score == (0, 3) { 7 } else { 8 };
        let choices = ByPlayer::pair(
            (game.a.clone(), Some(Parity::Even)),
            (game.b.clone(), Some(choice_b)),
        );
        let number_parity = Some(Parity::of(drawn_number));
        let details = ParityDetails {
            drawn_number: Some(drawn_number),
            number_parity,
            choices,
        };
        MatchResultReport {
            league_id: league.settings.league_id.clone(),
            round_id: game.round_id,
            match_id: id.clone(),
            game_type: GameType::new("even_odd"),
            result: Arc::new(MatchResult {
                winner,
                score: ByPlayer::pair((game.a.clone(), score.0), (game.b.clone(), score.1)),
                details: ResultDetails {
                    answer_ms: Some(ByPlayer::pair(
                        (game.a.clone(), Some(20)),
                        (game.b.clone(), Some(40)),
                    )),
                    ..ResultDetails::of(GameDetails::Parity(details))
                },
                status: Some(status),
                reason: Some("because".into()),
            }),
        }
    }

    /// Reports every open match as won by A, round after round, until the league is over.
    pub(crate) fn play_out(&mut self) {
        while self.manager.league().phase == Phase::Running {
            self.settle_received();
            let Some((match_id, ..)) = self.open_matches().first().cloned() else {
                panic!("the league is running, and nothing is open");
            };
            self.report(match_id.as_str(), (3, 0));
        }
    }

    /// Kills the manager and starts another from its events.
    pub(crate) fn crash(&mut self) {
        self.manager = Manager::new(self.settings.clone());
        for (at, event) in &self.events {
            self.manager.apply(*at, event);
        }
        self.outbox.clear();
        self.hand_in(Input::Wake);
    }
}

pub(crate) fn incoming(message: Message) -> Incoming {
    let message_type = message.message_type();
    Incoming {
        envelope: message.envelope,
        message_type,
        body: Ok(message.body),
        deviations: Vec::new(),
        strict: None,
    }
}

pub(crate) fn answer_id(body: &Body) -> Sender {
    match body {
        Body::LeagueRegisterResponse(response) => {
            Sender::Player(response.player_id.clone().unwrap())
        }
        Body::RefereeRegisterResponse(response) => {
            Sender::Referee(response.referee_id.clone().unwrap())
        }
        other => panic!("expected a registration response, got {other:?}"),
    }
}

pub(crate) fn error_code(body: &Body) -> ErrorCode {
    match body {
        Body::LeagueError(error) => error.error_code.clone(),
        other => panic!("expected LEAGUE_ERROR, got {other:?}"),
    }
}

pub(crate) fn endpoint(port: u32) -> Endpoint {
    Endpoint::parse(&format!("http://localhost:{port}/mcp")).unwrap()
}

pub(crate) fn player_endpoint(number: u32) -> Endpoint {
    endpoint(8100 + number)
}

pub(crate) fn referee_endpoint(number: u32) -> Endpoint {
    endpoint(8000 + number)
}

pub(crate) fn player_meta(number: u32) -> PlayerMeta {
    PlayerMeta {
        display_name: DisplayName::parse(&format!("Agent {number}")).unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        contact_endpoint: player_endpoint(number),
        protocol_version: None,
        public_key: None,
        strategy: None,
        capabilities: vec![PING.into()],
        max_matches_per_hour: None,
    }
}

/// As an event records a registration without a key.
pub(crate) fn requested(sent_at: Timestamp) -> RegistrationRecord {
    let proof = Proof::Conversation(Token::new("conv-1").hash());
    RegistrationRecord {
        proof,
        sent_at,
        client: None,
        renewed_by: None,
    }
}

pub(crate) fn referee_meta(number: u32, capacity: u32) -> RefereeMeta {
    RefereeMeta {
        display_name: DisplayName::parse(&format!("Referee {number}")).unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        contact_endpoint: referee_endpoint(number),
        max_concurrent_matches: capacity,
        protocol_version: None,
        capabilities: vec![MATCH_TOKENS.into(), BRIEFING.into(), PING.into()],
        timeouts: None,
        public_key: None,
    }
}

pub(crate) fn player(number: u32) -> Sender {
    Sender::Player(PlayerId::numbered(number))
}

pub(crate) fn referee(number: u32) -> Sender {
    Sender::Referee(RefereeId::numbered(number))
}

pub(crate) fn league_id() -> LeagueId {
    LeagueSettings::default().league_id
}

pub(crate) const UNREACHABLE: Answer = Answer::Undelivered(Failure::NoConnection);
