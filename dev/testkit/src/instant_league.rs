//! Leagues of a real manager in memory, whose referees and players do all that it asks of them at once: the events that
//! such a league leaves in its stream.

use crate::event_lines::BEGIN;
use matchday_core::agent::{Agent, Answer, Ask, Content, Input, Outgoing, Request, RequestId};
use matchday_core::entropy::Entropy;
use matchday_core::event_codec;
use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::league::{Competition, EndpointCheck, LeagueSettings, Manager, ProofRule};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, DisplayName, Endpoint, Envelope, GameType, LeagueId, MatchId,
    Message, PlayerId, RefereeId, Sender, Timestamp, Token, Version,
};
use matchday_core::signature::{PublicKey, SigningKey};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How a referee settles a match.
pub type Referee = fn(&Fixture) -> MatchResult;

pub struct Fixture {
    pub match_id: MatchId,
    pub a: PlayerId,
    pub b: PlayerId,
    pub settings: LeagueSettings,
    pub attempt: Attempt,
}

const OPERATOR: &str = "tok_operator_secret";

/// A whole league, as the lines of its stream.
pub fn played(players: u32, referee: Referee) -> Vec<String> {
    let mut league = InstantLeague::started(players, referee);
    while league.is_running() {
        league.play_one();
    }
    league.lines
}

/// A manager in memory, with referees and players who do all it asks of them at once.
pub struct InstantLeague {
    manager: Manager,
    settings: LeagueSettings,
    referee: Referee,
    now: Timestamp,
    pub lines: Vec<String>,
    outbox: Vec<Outgoing>,
    tokens: BTreeMap<Sender, Token>,
    entropy: Entropy,
    requests: u64,
}

impl InstantLeague {
    pub fn started(players: u32, referee: Referee) -> Self {
        Self::playing(Competition::default(), players, referee)
    }

    pub fn playing(competition: Competition, players: u32, referee: Referee) -> Self {
        let settings = LeagueSettings {
            competition,
            ..LeagueSettings::default()
        };
        Self::begun(settings, players, &[MATCH_TOKENS], referee, |_| None)
    }

    /// A league of players that sign, and of referees with these capabilities.
    pub fn signing(
        proof: ProofRule,
        players: u32,
        capabilities: &[&str],
        referee: Referee,
    ) -> Self {
        Self::begun(
            LeagueSettings {
                proof,
                ..LeagueSettings::default()
            },
            players,
            capabilities,
            referee,
            |number| Some(signing_key(number).public_key()),
        )
    }

    fn begun(
        settings: LeagueSettings,
        players: u32,
        capabilities: &[&str],
        referee: Referee,
        public_key: fn(u32) -> Option<PublicKey>,
    ) -> Self {
        let settings = LeagueSettings {
            announce_lead: Duration::ZERO,
            endpoint_check: EndpointCheck::Off,
            operator_token: Some(Token::new(OPERATOR).hash()),
            ..settings
        };
        let mut league = Self {
            manager: Manager::new(settings.clone()),
            settings: settings.clone(),
            referee,
            now: BEGIN,
            lines: Vec::new(),
            outbox: Vec::new(),
            tokens: BTreeMap::from([(Sender::Launcher, Token::new(OPERATOR))]),
            entropy: Entropy::numbered(1),
            requests: 0,
        };
        league.hand_in(Input::Wake);
        for number in 1..=2 {
            let capabilities = capabilities.iter().map(|name| (*name).into()).collect();
            let referee_meta = RefereeMeta {
                capabilities,
                ..referee_meta(number)
            };
            let request = RefereeRegisterRequest {
                referee_meta,
                join_code: None,
            };
            let sender = Sender::Referee(RefereeId::new(format!("agent{number}")));
            league.register(&sender, request);
        }
        for number in 1..=players {
            let player_meta = PlayerMeta {
                public_key: public_key(number),
                ..player_meta(number)
            };
            let request = LeagueRegisterRequest {
                player_meta,
                join_code: None,
            };
            league.register(
                &Sender::Player(PlayerId::new(format!("agent{number}"))),
                request,
            );
        }
        league.ask(
            &Sender::Launcher,
            StartLeague {
                league_id: settings.league_id.clone(),
            },
        );
        league
    }

    pub fn is_running(&self) -> bool {
        self.manager.league().phase == Phase::Running
    }

    pub fn token(&self, agent: &Sender) -> Token {
        self.tokens[agent].clone()
    }

    pub fn league_id(&self) -> LeagueId {
        self.settings.league_id.clone()
    }

    /// The operator steps in.
    pub fn order(&mut self, order: Order, player: Option<&str>, match_id: Option<&str>) {
        let league_id = self.settings.league_id.clone();
        let player_id = player.map(PlayerId::new);
        let match_id = match_id.map(MatchId::new);
        let answer = self.ask(
            &Sender::Launcher,
            LeagueOrder {
                league_id,
                order,
                player_id,
                match_id,
                agent_id: None,
                join_code: None,
            },
        );
        assert!(matches!(answer.body, Body::LeagueStatus(_)), "{answer:?}");
    }

    fn hand_in(&mut self, input: Input) -> Vec<Content> {
        let step = self.manager.handle(self.now, &mut self.entropy, input);
        self.lines.extend(
            step.events
                .iter()
                .map(|event| event_codec::encode(self.now, event).unwrap()),
        );
        self.outbox.extend(step.outbox);
        step.replies
            .into_iter()
            .map(|reply| reply.content)
            .collect()
    }

    fn ask(&mut self, sender: &Sender, body: impl Into<Body>) -> Message {
        self.requests += 1;
        self.now = self.now + Duration::from_millis(7);
        let envelope = Envelope::new(sender.clone(), self.now, ConversationId::new("conv-test"));
        let message = Message::new(envelope.with_token(self.tokens.get(sender).cloned()), body);
        let ask = Ask::Message(Ok(message.into()));
        let id = RequestId(self.requests);
        let request = Request {
            id,
            ask,
            dialect: Dialect::Standard,
            local: true,
            objection: None,
            client: Some(std::net::Ipv4Addr::LOCALHOST.into()),
            join_code: None,
        };
        match self.hand_in(Input::Request(request)).pop() {
            Some(Content::Message(answer)) => answer,
            other => panic!("expected a message, got {other:?}"),
        }
    }

    fn register(&mut self, sender: &Sender, body: impl Into<Body>) {
        let answer = self.ask(sender, body);
        let id = match &answer.body {
            Body::LeagueRegisterResponse(response) => {
                Sender::Player(response.player_id.clone().unwrap())
            }
            Body::RefereeRegisterResponse(response) => {
                Sender::Referee(response.referee_id.clone().unwrap())
            }
            other => panic!("expected a registration response, got {other:?}"),
        };
        self.tokens.insert(id, answer.envelope.auth_token.unwrap());
    }

    /// Plays a match that is open.
    pub fn play_one(&mut self) {
        let settings = self.settings.clone();
        while let Some(call) = self.outbox.pop() {
            self.hand_in(Input::Answer {
                call: call.call,
                dialect: call.dialect,
                answer: Answer::Received,
            });
        }
        let matches = &self.manager.league().matches;
        let (id, game) = matches
            .iter()
            .find(|(_, game)| game.in_play)
            .expect("something is open");
        let by = Sender::Referee(game.referee().unwrap().clone());
        let attempt = game.attempt().unwrap();
        let fixture = Fixture {
            match_id: id.clone(),
            a: game.a.clone(),
            b: game.b.clone(),
            settings: settings.clone(),
            attempt,
        };
        let report = MatchResultReport {
            league_id: settings.league_id.clone(),
            round_id: game.round_id,
            match_id: id.clone(),
            game_type: settings.game_type.clone(),
            result: Arc::new((self.referee)(&fixture)),
        };
        self.now = self.now + Duration::from_millis(40);
        let answer = self.ask(&by, report);
        assert!(matches!(answer.body, Body::MatchResultAck(_)), "{answer:?}");
    }
}

/// Everyone calls what its number is; the number is drawn as the scheme says.
pub fn fair_referee(fixture: &Fixture) -> MatchResult {
    let Fixture {
        match_id,
        a,
        b,
        settings,
        attempt,
    } = fixture;
    let mut bytes = [7; 32];
    bytes[..match_id.as_str().len()].copy_from_slice(match_id.as_str().as_bytes());
    let secret = Secret::from_bytes(bytes);
    let nonces = ByPlayer::pair(
        (a.clone(), Nonce("salt".into())),
        (b.clone(), Nonce::absent(b)),
    );
    let both = [nonces.get(a).unwrap(), nonces.get(b).unwrap()];
    let league_id = &settings.league_id;
    let draw = MatchDraw {
        league_id,
        match_id,
        attempt: *attempt,
    };
    let number = draw.dice(&secret, both).uniform(1..=10) as u8;
    let reveal = draw.reveal(&secret, nonces);
    let mut result = result(a, b, number, [choice(a), choice(b)]);
    result.details.fairness = Some(reveal);
    result
}

/// The same, but the number is what it is and no proof is offered.
pub fn plain_referee(fixture: &Fixture) -> MatchResult {
    result(
        &fixture.a,
        &fixture.b,
        8,
        [choice(&fixture.a), choice(&fixture.b)],
    )
}

/// P01 never answers.
pub fn referee_of_the_absent(fixture: &Fixture) -> MatchResult {
    let mut result = plain_referee(fixture);
    let a = &fixture.a;
    let b = &fixture.b;
    if [a, b].iter().any(|player| player.as_str() == "P01") {
        let winner = if a.as_str() == "P01" { b } else { a };
        let points = |player| if player == winner { 3 } else { 0 };
        result.score = ByPlayer::pair((a.clone(), points(a)), (b.clone(), points(b)));
        result.winner = Some(winner.clone());
        result.status = Some(GameStatus::TechnicalLoss);
        result.reason = Some(format!("P01 did not answer - {winner} wins by default").into());
    }
    result
}

pub(crate) fn choice(player: &PlayerId) -> Parity {
    let number: u8 = player.as_str()[1..].parse().unwrap();
    Parity::of(number)
}

pub(crate) fn result(a: &PlayerId, b: &PlayerId, number: u8, choices: [Parity; 2]) -> MatchResult {
    let drawn = Parity::of(number);
    let (winner, status, points) = match choices.map(|choice| choice == drawn) {
        [true, false] => (Some(a.clone()), GameStatus::Win, (3, 0)),
        [false, true] => (Some(b.clone()), GameStatus::Win, (0, 3)),
        _ => (None, GameStatus::Draw, (1, 1)),
    };
    let details = ParityDetails {
        drawn_number: Some(number),
        number_parity: Some(drawn),
        choices: ByPlayer::pair((a.clone(), Some(choices[0])), (b.clone(), Some(choices[1]))),
    };
    MatchResult {
        winner,
        score: ByPlayer::pair((a.clone(), points.0), (b.clone(), points.1)),
        details: ResultDetails {
            answer_ms: Some(ByPlayer::pair((a.clone(), Some(20)), (b.clone(), None))),
            ..ResultDetails::of(GameDetails::Parity(details))
        },
        status: Some(status),
        reason: Some(format!("number was {number} ({drawn})").into()),
    }
}

/// The key of a player, by its number.
pub(crate) fn signing_key(player: u32) -> SigningKey {
    SigningKey::from_seed([u8::try_from(player).unwrap(); 32])
}

fn player_meta(number: u32) -> PlayerMeta {
    PlayerMeta {
        display_name: DisplayName::parse(&format!("Agent \"{number}\", the quick")).unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        contact_endpoint: Endpoint::parse(&format!("http://localhost:{}/mcp", 8100 + number))
            .unwrap(),
        protocol_version: None,
        public_key: None,
        capabilities: Vec::new(),
        strategy: None,
        max_matches_per_hour: None,
    }
}

fn referee_meta(number: u32) -> RefereeMeta {
    RefereeMeta {
        display_name: DisplayName::parse(&format!("Referee {number}")).unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        contact_endpoint: Endpoint::parse(&format!("http://localhost:{}/mcp", 8000 + number))
            .unwrap(),
        max_concurrent_matches: 10,
        protocol_version: None,
        capabilities: Vec::new(),
        timeouts: None,
        public_key: None,
    }
}
