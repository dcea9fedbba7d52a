//! A referee on the bench: driven by hand, in virtual time, with the players and the manager played by the test.

use matchday_core::agent::*;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::{Conformance, Incoming, Rejection};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::*;
use matchday_core::referee::{Referee, RefereeEvent, RefereeSettings};
use matchday_core::timing::Timing;
use matchday_testkit::schemas::assert_step_fits;
use serde_json::{Value, json};
use std::net::IpAddr;
use std::time::Duration;

pub(crate) struct Bench {
    /// What the rules outside were asked.
    pub(crate) appeals: Vec<RulesRequest>,
    pub(crate) referee: Referee,
    pub(crate) settings: RefereeSettings,
    pub(crate) now: Timestamp,
    pub(crate) entropy: Entropy,
    /// Everything stored so far.
    pub(crate) events: Vec<RefereeEvent>,
    /// Everything sent so far, and when.
    pub(crate) sent: Vec<(Timestamp, Outgoing)>,
    pub(crate) replies: Vec<Reply>,
    requests: u64,
}

pub(crate) fn start() -> Timestamp {
    Timestamp::parse("2025-01-15T10:00:00Z").unwrap().0
}

pub(crate) fn league() -> LeagueId {
    LeagueId::new("league_2025_even_odd")
}

pub(crate) fn m(text: &str) -> MatchId {
    MatchId::new(text)
}

pub(crate) fn p(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

pub(crate) fn endpoint(player: u32) -> Endpoint {
    Endpoint::parse(&format!("http://localhost:{}/mcp", 8100 + player)).unwrap()
}

pub(crate) fn own_token(player: u32) -> Token {
    Token::new(format!("tok_p{player:02}_its_own"))
}

pub(crate) fn referee_token() -> Token {
    Token::new("tok_ref01_its_own")
}

pub(crate) fn settings() -> RefereeSettings {
    RefereeSettings {
        manager: Endpoint::parse("http://localhost:8000/mcp").unwrap(),
        contact_endpoint: Endpoint::parse("http://localhost:8001/mcp").unwrap(),
        display_name: DisplayName::parse("Referee Alpha").unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: ["even_odd", "tic_tac_toe", "rock_paper_scissors"]
            .map(GameType::new)
            .to_vec(),
        max_concurrent_matches: 2,
        timing: Timing::default(),
        bounds: Timeouts::default(),
        conformance: Conformance::Strict,
    }
}

pub(crate) fn incoming(envelope: Envelope, body: impl Into<Body>) -> Incoming {
    let body = body.into();
    Incoming {
        envelope,
        message_type: body.message_type(),
        body: Ok(body),
        deviations: Vec::new(),
        strict: None,
    }
}

/// The two tokens of a player in an attempt at a match.
pub(crate) fn tokens(player: u32, match_id: &MatchId, attempt: u32) -> MatchTokens {
    let hash = own_token(player).hash();
    let token = |direction| hash.match_token(&league(), match_id, Attempt(attempt), direction);
    MatchTokens {
        to_player: token(Direction::RefereeToPlayer),
        from_player: token(Direction::PlayerToReferee),
    }
}

pub(crate) struct Announced {
    pub(crate) match_id: &'static str,
    pub(crate) players: (u32, u32),
    pub(crate) attempt: u32,
    pub(crate) game: &'static str,
    pub(crate) briefed: bool,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) forfeits: Option<ByPlayer<Cause>>,
}

pub(crate) fn even_odd(match_id: &'static str, a: u32, b: u32) -> Announced {
    Announced {
        match_id,
        players: (a, b),
        attempt: 1,
        game: "even_odd",
        briefed: true,
        timeouts: None,
        forfeits: None,
    }
}

impl Announced {
    fn written(&self) -> AnnouncedMatch {
        let (match_id, (a, b)) = (m(self.match_id), self.players);
        AnnouncedMatch {
            game_type: GameType::new(self.game),
            player_a_id: p(a),
            player_b_id: p(b),
            referee_id: Some(RefereeId::numbered(1)),
            referee_endpoint: settings().contact_endpoint,
            conversation_id: Some(ConversationId::of_match(&match_id, Attempt(self.attempt))),
            match_tokens: Some(true),
            referee_public_key: None,
            replay: None,
            briefing: self.briefed.then(|| {
                Box::new(Briefing {
                    player_a_endpoint: endpoint(a),
                    player_b_endpoint: endpoint(b),
                    player_a_record: Record {
                        wins: 2,
                        losses: 1,
                        draws: 0,
                    },
                    player_b_record: Record::default(),
                    player_a_dialect: None,
                    player_b_dialect: None,
                    player_a_tokens: Some(tokens(a, &match_id, self.attempt)),
                    player_b_tokens: Some(tokens(b, &match_id, self.attempt)),
                    timeouts: self.timeouts,
                    forfeits: self.forfeits.clone(),
                    player_a_public_key: None,
                    player_b_public_key: None,
                    conformance: None,
                })
            }),
            match_id,
        }
    }
}

impl Bench {
    /// Awake, and not yet registered.
    pub(crate) fn fresh(settings: RefereeSettings) -> Self {
        Self::of(Referee::new(settings.clone()), settings)
    }

    pub(crate) fn of(referee: Referee, settings: RefereeSettings) -> Self {
        let mut bench = Self {
            referee,
            settings,
            appeals: Vec::new(),
            now: start(),
            entropy: Entropy::numbered(1),
            events: Vec::new(),
            sent: Vec::new(),
            replies: Vec::new(),
            requests: 0,
        };
        bench.input(Input::Wake);
        bench
    }

    pub(crate) fn with(settings: RefereeSettings) -> Self {
        let mut bench = Self::fresh(settings);
        bench.register(true);
        bench
    }

    pub(crate) fn new() -> Self {
        Self::with(settings())
    }

    pub(crate) fn register(&mut self, match_tokens: bool) {
        self.register_with(match_tokens, Some(referee_token()));
    }

    /// With a manager that gives out no tokens.
    pub(crate) fn register_without_token(&mut self) {
        self.register_with(false, None);
    }

    fn register_with(&mut self, match_tokens: bool, token: Option<Token>) {
        let call = self.last(MessageType::RefereeRegisterRequest).call;
        let response = RefereeRegisterResponse {
            referee_id: Some(RefereeId::numbered(1)),
            answer: RegisterAnswer {
                status: RegisterStatus::Accepted,
                reason: None,
                league_id: Some(league()),
                match_tokens: Some(match_tokens),
                manager_public_key: None,
                error_code: None,
                error_name: None,
                context: None,
            },
        };
        let envelope = self.manager_envelope().with_token(token);
        self.answer(call, Answer::Message(Ok(incoming(envelope, response))));
    }

    pub(crate) fn manager_envelope(&self) -> Envelope {
        Envelope::new(
            Sender::LeagueManager,
            self.now,
            ConversationId::new("conv-manager"),
        )
        .with_token(Some(referee_token().hash().notice_token(&league())))
    }

    /// The key that its registration key leads to.
    pub(crate) fn key(&self) -> String {
        let applied = self.referee.durable().applied().unwrap();
        applied.signing_key().public_key().to_string()
    }

    /// The only way anything happens: also checks that the events alone would have led to the same lasting state.
    pub(crate) fn input(&mut self, input: Input) {
        let step = self.referee.handle(self.now, &mut self.entropy, input);
        assert_step_fits(&step);
        for event in &step.events {
            let stored = serde_json::to_string(event).unwrap();
            assert_eq!(
                &serde_json::from_str::<RefereeEvent>(&stored).unwrap(),
                event,
                "{stored}"
            );
        }
        self.events.extend(step.events);
        self.sent
            .extend(step.outbox.into_iter().map(|outgoing| (self.now, outgoing)));
        self.replies.extend(step.replies);
        self.appeals.extend(step.rules_requests);
        assert_eq!(self.replayed().durable(), self.referee.durable());
        assert!(
            self.referee.deadline().is_none_or(|due| due > self.now),
            "left something undone"
        );
    }

    fn replayed(&self) -> Referee {
        let mut replayed = Referee::new(self.settings.clone());
        self.events
            .iter()
            .for_each(|event| replayed.apply(self.now, event));
        replayed
    }

    /// Everything volatile is lost.
    pub(crate) fn crash(&mut self) {
        self.referee = self.replayed();
        self.input(Input::Wake);
    }

    pub(crate) fn at(&self, seconds: f64) -> Timestamp {
        start() + Duration::from_secs_f64(seconds)
    }

    /// Lets time pass until so many seconds after the start, with a tick whenever one is due.
    pub(crate) fn until(&mut self, seconds: f64) {
        let end = self.at(seconds);
        while let Some(due) = self.referee.deadline().filter(|due| *due <= end) {
            self.now = due;
            self.input(Input::Tick);
        }
        self.now = end;
    }

    pub(crate) fn answer(&mut self, call: CallId, answer: Answer) {
        let dialect = Dialect::Standard;
        self.input(Input::Answer {
            call,
            dialect,
            answer,
        });
    }

    pub(crate) fn request(&mut self, ask: Ask) -> Content {
        self.request_by(None, ask)
    }

    /// A request that comes from this address.
    pub(crate) fn request_from(&mut self, client: &str, ask: Ask) -> Content {
        self.request_by(Some(client.parse().unwrap()), ask)
    }

    fn request_by(&mut self, client: Option<IpAddr>, ask: Ask) -> Content {
        self.requests += 1;
        let id = RequestId(self.requests);
        let dialect = Dialect::Standard;
        self.input(Input::Request(Request {
            id,
            ask,
            dialect,
            local: false,
            objection: None,
            client,
            join_code: None,
        }));
        let reply = self.replies.last().expect("every request has its reply");
        assert_eq!(reply.to, id);
        reply.content.clone()
    }

    pub(crate) fn told(&mut self, envelope: Envelope, body: impl Into<Body>) -> Content {
        self.request(Ask::Message(Ok(incoming(envelope, body))))
    }

    pub(crate) fn round(&self, matches: &[Announced], lead: u64) -> RoundAnnouncement {
        RoundAnnouncement {
            league_id: league(),
            round_id: RoundId(1),
            matches: matches
                .iter()
                .map(Announced::written)
                .collect::<Vec<_>>()
                .into(),
            starts_at: Some(self.now + Duration::from_secs(lead)),
            remark: None,
        }
    }

    pub(crate) fn announce(&mut self, matches: &[Announced]) -> Content {
        let envelope = self.manager_envelope();
        let round = self.round(matches, 0);
        self.told(envelope, round)
    }

    /// Everything of one type that was sent.
    pub(crate) fn all(&self, wanted: MessageType) -> Vec<(Timestamp, Outgoing)> {
        let is_wanted = |outgoing: &Outgoing| body(outgoing).message_type() == wanted;
        self.sent
            .iter()
            .filter(|(_, outgoing)| is_wanted(outgoing))
            .cloned()
            .collect()
    }

    pub(crate) fn last(&self, wanted: MessageType) -> Outgoing {
        self.all(wanted)
            .pop()
            .unwrap_or_else(|| panic!("no {wanted} was sent"))
            .1
    }

    /// Everything of one type that was sent to one player.
    pub(crate) fn all_to(&self, player: u32, wanted: MessageType) -> Vec<(Timestamp, Outgoing)> {
        let mut all = self.all(wanted);
        all.retain(|(_, outgoing)| outgoing.to == endpoint(player));
        all
    }

    pub(crate) fn last_to(&self, player: u32, wanted: MessageType) -> Outgoing {
        let last = self.all_to(player, wanted).pop();
        last.unwrap_or_else(|| panic!("no {wanted} was sent to {}", p(player)))
            .1
    }

    /// When messages of one type were sent to one player, in seconds after the start.
    pub(crate) fn times(&self, player: u32, wanted: MessageType) -> Vec<f64> {
        let sent = self.all_to(player, wanted);
        sent.iter()
            .map(|(at, _)| at.since(start()).as_secs_f64())
            .collect()
    }

    pub(crate) fn player_envelope(&self, player: u32, match_id: &MatchId) -> Envelope {
        let conversation = ConversationId::of_match(match_id, Attempt(1));
        Envelope::new(Sender::Player(p(player)), self.now, conversation)
            .with_token(Some(tokens(player, match_id, 1).from_player))
    }

    pub(crate) fn join_ack(&self, player: u32, match_id: &str, accept: bool) -> Incoming {
        let ack = GameJoinAck {
            match_id: m(match_id),
            player_id: p(player),
            arrival_timestamp: self.now,
            accept,
            nonce_commitment: None,
        };
        incoming(self.player_envelope(player, &m(match_id)), ack)
    }

    pub(crate) fn choice(&self, player: u32, match_id: &str, parity: Parity) -> Incoming {
        let choice = ChooseParityResponse {
            match_id: m(match_id),
            player_id: p(player),
            parity_choice: parity,
            choice: None,
            nonce: Some(Nonce(format!("nonce of {player}").into())),
            signature: None,
        };
        incoming(self.player_envelope(player, &m(match_id)), choice)
    }

    /// In the exchange of the last call of that type.
    pub(crate) fn answers(&mut self, player: u32, to: MessageType, answer: Answer) {
        let call = self.last_to(player, to).call;
        self.answer(call, answer);
    }

    pub(crate) fn joins(&mut self, player: u32, match_id: &str) {
        let ack = self.join_ack(player, match_id, true);
        self.answers(
            player,
            MessageType::GameInvitation,
            Answer::Message(Ok(ack)),
        );
    }

    pub(crate) fn chooses(&mut self, player: u32, match_id: &str, parity: Parity) {
        let choice = self.choice(player, match_id, parity);
        self.answers(
            player,
            MessageType::ChooseParityCall,
            Answer::Message(Ok(choice)),
        );
    }

    /// One match of players 1 and 2, announced and begun.
    pub(crate) fn invited() -> Self {
        let mut bench = Self::new();
        bench.announce(&[even_odd("R1M1", 1, 2)]);
        bench
    }

    /// The same with both players joined.
    pub(crate) fn joined() -> Self {
        let mut bench = Self::invited();
        bench.joins(1, "R1M1");
        bench.joins(2, "R1M1");
        bench
    }

    pub(crate) fn report(&self) -> MatchResult {
        match body(&self.last(MessageType::MatchResultReport)) {
            Body::MatchResultReport(report) => MatchResult::clone(&report.result),
            _ => unreachable!(),
        }
    }

    pub(crate) fn acknowledge(&mut self) {
        let sent = self.last(MessageType::MatchResultReport);
        let Body::MatchResultReport(report) = body(&sent) else {
            unreachable!()
        };
        let ack = MatchResultAck {
            match_id: report.match_id.clone(),
            status: AckStatus::Recorded,
            duplicate: None,
        };
        let answer = Answer::Message(Ok(incoming(self.manager_envelope(), ack)));
        self.answer(sent.call, answer);
    }

    pub(crate) fn league_completes(&mut self) {
        let completed = LeagueCompleted {
            league_id: league(),
            total_rounds: 1,
            total_matches: 1,
            champion: Champion {
                player_id: p(1),
                display_name: DisplayName::parse("One").unwrap(),
                points: 3,
            },
            champions: Vec::new(),
            final_standings: Vec::new().into(),
            checkpoint: None,
        };
        let envelope = self.manager_envelope();
        self.told(envelope, completed);
    }

    pub(crate) fn decisions(&self) -> usize {
        self.events
            .iter()
            .filter(|event| matches!(event, RefereeEvent::Decided { .. }))
            .count()
    }

    /// Winner, status and the two points, as a short line: `P01 WIN 3-0`.
    pub(crate) fn verdict(&self) -> String {
        assert_eq!(self.decisions(), 1);
        let result = self.report();
        let winner = result
            .winner
            .map_or("nobody".into(), |winner| winner.to_string());
        let score: Vec<_> = result
            .score
            .iter()
            .map(|(_, points)| points.to_string())
            .collect();
        let status = json!(result.status.unwrap());
        format!("{winner} {} {}", status.as_str().unwrap(), score.join("-"))
    }

    pub(crate) fn reason(&self) -> String {
        self.report().reason.unwrap().raw().to_owned()
    }
}

pub(crate) fn body(outgoing: &Outgoing) -> &Body {
    match &outgoing.payload {
        Payload::Message(message) => &message.body,
        Payload::Probe | Payload::Connect => panic!("a probe has no body"),
    }
}

pub(crate) fn envelope(outgoing: &Outgoing) -> &Envelope {
    match &outgoing.payload {
        Payload::Message(message) => &message.envelope,
        Payload::Probe | Payload::Connect => panic!("a probe has no envelope"),
    }
}

/// A message as it goes over the wire.
pub(crate) fn written(outgoing: &Outgoing) -> Value {
    match &outgoing.payload {
        Payload::Message(message) => serde_json::to_value(message).unwrap(),
        Payload::Probe | Payload::Connect => Value::Null,
    }
}

/// The code of a refusal.
pub(crate) fn refused(content: &Content) -> String {
    match content {
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }) => error.error_code.code().to_owned(),
        other => panic!("no refusal: {other:?}"),
    }
}

pub(crate) fn invalid_choice(came: &str) -> Rejection {
    Rejection {
        code: ErrorCode::InvalidParityChoice,
        path: "parity_choice".into(),
        expected: "\"even\" or \"odd\"".into(),
        came: came.into(),
        message_type: Some("CHOOSE_PARITY_RESPONSE".into()),
        conversation_id: None,
    }
}

pub(crate) fn no_connection() -> Answer {
    Answer::Undelivered(Failure::NoConnection)
}

pub(crate) fn league_error(code: ErrorCode, match_id: &str) -> LeagueError {
    let context = json!({"match_id": match_id}).as_object().cloned();
    LeagueError::new(code, "no", Some("MATCH_RESULT_REPORT".into()), context)
}

/// `get_match_state`, of one match or of all.
pub(crate) fn match_state(match_id: Option<MatchId>) -> Ask {
    Ask::Query(QueryRequest::new(
        Query::MatchState,
        QueryParams {
            match_id,
            ..QueryParams::default()
        },
    ))
}
