//! How agents enter the league, come back to it, and are turned away. Which agents are known already is for `returning` to say.

use super::event::{LeagueEvent, RenewedBy, Requested};
use super::manager::{Act, Asked, Manager, Purpose, Refusal};
use super::returning::{self, Known};
use super::settings::EndpointCheck;
use crate::agent::{Answer, Content, Parcel, Reply};
use crate::post::{Errand, Tries};
use crate::protocol::decode::{Deviation, DeviationKind};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, PlayerId, RefereeId};
use crate::protocol::messages::{
    AgentRole, LeagueRegisterRequest, LeagueRegisterResponse, Phase, PlayerMeta, RefereeMeta,
    RefereeRegisterRequest, RefereeRegisterResponse, RegisterAnswer, RegisterStatus,
};
use crate::protocol::text::{DisplayName, Endpoint};
use crate::protocol::token::Mint;
use crate::protocol::{Message, Sender, Token};
use serde_json::json;

/// A registration that waits for its endpoint to answer.
#[derive(Debug)]
pub(super) struct Probation {
    asked: Asked,
    applicant: Applicant,
}

/// An applicant that is to be taken on: as a new member, or anew as one that it has been.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) applicant: Applicant,
    pub(super) renews: Option<(Sender, RenewedBy)>,
}

/// Who wants in, with what it says of itself.
#[derive(Debug, Clone)]
pub(super) enum Applicant {
    Player(PlayerMeta),
    Referee(RefereeMeta),
}

impl Applicant {
    pub(super) fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Player(meta) => &meta.contact_endpoint,
            Self::Referee(meta) => &meta.contact_endpoint,
        }
    }

    pub(super) fn name(&self) -> &DisplayName {
        match self {
            Self::Player(meta) => &meta.display_name,
            Self::Referee(meta) => &meta.display_name,
        }
    }

    pub(super) fn role(&self) -> AgentRole {
        match self {
            Self::Player(_) => AgentRole::Player,
            Self::Referee(_) => AgentRole::Referee,
        }
    }

    /// Under another name, if there is one for it.
    pub(super) fn renamed(mut self, name: Option<&DisplayName>) -> Self {
        let own = match &mut self {
            Self::Player(meta) => &mut meta.display_name,
            Self::Referee(meta) => &mut meta.display_name,
        };
        if let Some(name) = name {
            *own = name.clone();
        }
        self
    }

    fn games(&self) -> &[GameType] {
        match self {
            Self::Player(meta) => &meta.game_types,
            Self::Referee(meta) => &meta.game_types,
        }
    }

    fn protocol_version(&self) -> Option<&str> {
        match self {
            Self::Player(meta) => meta.protocol_version.as_deref(),
            Self::Referee(meta) => meta.protocol_version.as_deref(),
        }
    }

    fn meta_field(&self) -> &'static str {
        match self {
            Self::Player(_) => "player_meta",
            Self::Referee(_) => "referee_meta",
        }
    }
}

/// The versions of league.v2 that are spoken here.
const VERSIONS: &str = ">=2.0.0, <2.2.0";

/// Whether a version is spoken here; `2.1` is taken for `2.1.0`.
fn speaks(version: &str) -> bool {
    let parsed = semver::Version::parse(version).or_else(|_| semver::Version::parse(&format!("{version}.0")));
    match (semver::VersionReq::parse(VERSIONS), parsed) {
        (Ok(spoken), Ok(version)) => spoken.matches(&version),
        _ => false,
    }
}

impl Manager {
    pub(super) fn register_player(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        request: LeagueRegisterRequest,
    ) -> Result<Option<Sender>, Refusal> {
        let asked = asked.with_code(request.join_code);
        Ok(self.register(act, &asked, Applicant::Player(request.player_meta)))
    }

    pub(super) fn register_referee(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        request: RefereeRegisterRequest,
    ) -> Result<Option<Sender>, Refusal> {
        let asked = asked.with_code(request.join_code);
        Ok(self.register(act, &asked, Applicant::Referee(request.referee_meta)))
    }

    fn register(&mut self, act: &mut Act<'_>, asked: &Asked, applicant: Applicant) -> Option<Sender> {
        let applicant = self.named_by_code(asked, applicant);
        if let Err(refusal) = self.check_fitness(asked, &applicant) {
            self.reject(act, asked, &applicant, refusal);
            return None;
        }
        let newcomer = match self.greet(act, asked, applicant) {
            Ok(member) => return member,
            Err(newcomer) => newcomer,
        };
        if let Err(refusal) = self.check_room(asked, &newcomer) {
            self.reject(act, asked, &newcomer.applicant, refusal);
            return None;
        }
        if self.league.settings.endpoint_check == EndpointCheck::AtRegistration {
            self.put_on_probation(act, asked, newcomer.applicant);
            return None;
        }
        Some(self.enter(act, asked, newcomer))
    }

    /// Deals with one that is known already; gives back one that is still to be taken on.
    fn greet(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        applicant: Applicant,
    ) -> Result<Option<Sender>, Newcomer> {
        let refusal = match self.recognise(act.now, asked, &applicant) {
            Known::Not => return Err(Newcomer { applicant, renews: None }),
            Known::Renews(member, by) => {
                let newcomer = Newcomer { applicant, renews: Some((member.clone(), by)) };
                if self.league.phase == Phase::Registration {
                    return Err(newcomer);
                }
                self.enter(act, asked, newcomer);
                self.on_rejoined(act, &member);
                return Ok(Some(member));
            }
            Known::Returns(member, token, by) => {
                let applicant = applicant.renamed(self.league.name_on_roster(&member));
                self.rejoin(act, asked, &member, applicant, token, by);
                return Ok(Some(member));
            }
            Known::Repeats(member, token) => {
                self.accept(act, asked, &member, token);
                return Ok(Some(member));
            }
            Known::Refused(refusal) => refusal,
            Known::Unproven(member) => Refusal::new(
                ErrorCode::TokenInvalid,
                "Already registered - show the registration key or the token of that registration as auth_token, or \
                 ask the operator for a new token",
            )
            .with("id", member.id()),
            Known::Barred(member) => Refusal::new(
                ErrorCode::TokenInvalid,
                "Token taken away - show the one that the operator has given out since, or ask for it",
            )
            .with("id", member.id()),
            Known::Outdated { in_force } => {
                Refusal::new(ErrorCode::InvalidState, "Registration outdated - a later one is in force")
                    .with("timestamp", asked.envelope.timestamp.to_string())
                    .with("in_force", in_force.to_string())
            }
        };
        self.reject(act, asked, &applicant, refusal);
        Ok(None)
    }

    /// Whether it speaks our protocol and plays our game, where we may call it.
    fn check_fitness(&self, asked: &Asked, applicant: &Applicant) -> Result<(), Refusal> {
        if let Some(version) = applicant.protocol_version()
            && !speaks(version)
        {
            return Err(Refusal::new(ErrorCode::VersionMismatch, "Protocol version mismatch")
                .with("path", format!("{}.protocol_version", applicant.meta_field()))
                .with("provided", version)
                .with("supported", VERSIONS));
        }
        let game = &self.league.settings.game_type;
        if !applicant.games().contains(game) {
            return Err(Refusal::new(ErrorCode::InvalidFormat, "Unsupported game type")
                .with("path", format!("{}.game_types", applicant.meta_field()))
                .with("expected", format!("a list with \"{game}\" in it"))
                .with("came", json!(applicant.games())));
        }
        if let Some(objection) = &asked.objection {
            let reason = format!("Contact endpoint not allowed - {objection}");
            return Err(Refusal::new(ErrorCode::InvalidFormat, reason)
                .with("path", format!("{}.contact_endpoint", applicant.meta_field()))
                .with("expected", "an endpoint that this league may call")
                .with("came", applicant.endpoint().raw()));
        }
        Ok(())
    }

    fn next_id(&self, applicant: &Applicant) -> Sender {
        let next = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
        match applicant {
            Applicant::Player(_) => Sender::Player(PlayerId::numbered(next(self.league.players.len()))),
            Applicant::Referee(_) => Sender::Referee(RefereeId::numbered(next(self.league.referees.len()))),
        }
    }

    /// Takes an applicant on, with a fresh token; one that renews its registration keeps its id, and its old token dies.
    fn enter(&mut self, act: &mut Act<'_>, asked: &Asked, newcomer: Newcomer) -> Sender {
        let Newcomer { applicant, renews } = newcomer;
        let (member, renewed_by) = match renews {
            Some((member, by)) => (member, Some(by)),
            None => (self.next_id(&applicant), None),
        };
        let token = match returning::key(asked) {
            Some(key) => key.league_token(&self.league.settings.league_id, member.id()),
            None => {
                let mint = self.mint.get_or_insert_with(|| Mint::new(act.entropy));
                mint.issue(member.id(), &asked.envelope.conversation_id)
            }
        };
        let request = Some(Requested { renewed_by, ..returning::requested(act.now, asked) });
        let (hash, dialect) = (token.hash(), asked.dialect);
        let event = match (&member, applicant.clone()) {
            (Sender::Player(id), Applicant::Player(meta)) => {
                LeagueEvent::PlayerRegistered { player_id: id.clone(), meta, token: hash, dialect, request }
            }
            (Sender::Referee(id), Applicant::Referee(meta)) => {
                LeagueEvent::RefereeRegistered { referee_id: id.clone(), meta, token: hash, dialect, request }
            }
            _ => return member, // An applicant's id is always of its own kind.
        };
        self.record(act, event);
        self.note_clock(act, asked, &member);
        self.accept(act, asked, &member, token);
        if self.league.settings.endpoint_check == EndpointCheck::AtStart {
            self.probe(act, &member, applicant.endpoint().clone(), dialect);
        }
        member
    }

    fn rejoin(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        member: &Sender,
        applicant: Applicant,
        token: Token,
        by: RenewedBy,
    ) {
        let (dialect, request) = (asked.dialect, Some(self.renewed(act.now, asked, member, by)));
        let event = match (member, applicant) {
            (Sender::Player(id), Applicant::Player(meta)) => {
                LeagueEvent::PlayerRejoined { player_id: id.clone(), meta, dialect, request }
            }
            (Sender::Referee(id), Applicant::Referee(meta)) => {
                LeagueEvent::RefereeRejoined { referee_id: id.clone(), meta, dialect, request }
            }
            _ => return, // A holder is always of the applicant's kind.
        };
        self.record(act, event);
        self.note_clock(act, asked, member);
        self.accept(act, asked, member, token);
        self.on_rejoined(act, member);
    }

    /// Agents that write local time as if it were UTC are common: they are told of it, and nothing else.
    fn note_clock(&mut self, act: &mut Act<'_>, asked: &Asked, member: &Sender) {
        if asked.envelope.timestamp > act.now {
            let deviation = Deviation { kind: DeviationKind::Future, path: "timestamp".into() };
            self.note_deviations(act, member, &[deviation]);
        }
    }

    fn accept(&self, act: &mut Act<'_>, asked: &Asked, member: &Sender, token: Token) {
        let answer = RegisterAnswer {
            status: RegisterStatus::Accepted,
            reason: None,
            league_id: Some(self.league.settings.league_id.clone()),
            match_tokens: Some(true),
            error_code: None,
            error_name: None,
            context: None,
        };
        let envelope =
            self.envelope(act.now, asked.envelope.conversation_id.as_str()).with_token(Some(token));
        let message = match member {
            Sender::Referee(id) => {
                Message::new(envelope, RefereeRegisterResponse { referee_id: Some(id.clone()), answer })
            }
            Sender::Player(id) => {
                Message::new(envelope, LeagueRegisterResponse { player_id: Some(id.clone()), answer })
            }
            Sender::LeagueManager | Sender::Launcher => return,
        };
        act.step.replies.push(Reply { to: asked.request, content: Content::Message(message) });
    }

    /// A policy speaks against it: the answer is still a registration response.
    fn reject(&mut self, act: &mut Act<'_>, asked: &Asked, applicant: &Applicant, refusal: Refusal) {
        let (refusal, late) = self.slowed(act.now, asked, refusal);
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some(refusal.message.into()),
            league_id: None,
            match_tokens: None,
            error_name: Some(refusal.code.name().into()),
            error_code: Some(refusal.code),
            context: refusal.context,
        };
        match applicant {
            Applicant::Player(_) => {
                self.reply(act, asked, LeagueRegisterResponse { player_id: None, answer })
            }
            Applicant::Referee(_) => {
                self.reply(act, asked, RefereeRegisterResponse { referee_id: None, answer })
            }
        }
        if late {
            self.hold_back(act);
        }
    }

    fn put_on_probation(&mut self, act: &mut Act<'_>, asked: &Asked, applicant: Applicant) {
        let errand = Errand {
            to: applicant.endpoint().clone(),
            dialect: asked.dialect,
            parcel: Parcel::Probe,
            purpose: Purpose::Probation,
            timeout: self.league.settings.probe_timeout,
            tries: Tries::Once,
        };
        let call = self.post.send(act.now, errand, &mut act.step.outbox);
        self.on_probation.insert(call, Probation { asked: asked.clone(), applicant });
    }

    pub(super) fn end_probation(&mut self, act: &mut Act<'_>, probation: Probation, answer: &Answer) {
        let Probation { asked, applicant } = probation;
        if matches!(answer, Answer::Undelivered(_)) {
            let refusal = Refusal::new(ErrorCode::Connection, "Contact endpoint unreachable")
                .with("contact_endpoint", applicant.endpoint().raw());
            return self.reject(act, &asked, &applicant, refusal);
        }
        // A copy of this registration may have got in meanwhile, and the league may have started.
        let member = match self.greet(act, &asked, applicant) {
            Ok(member) => member,
            Err(newcomer) => match self.check_room(&asked, &newcomer) {
                Ok(()) => Some(self.enter(act, &asked, newcomer)),
                Err(refusal) => return self.reject(act, &asked, &newcomer.applicant, refusal),
            },
        };
        if let Some(member) = member {
            self.note_heard(&member);
        }
    }

    /// Looks whether anyone is there.
    pub(super) fn probe(&mut self, act: &mut Act<'_>, agent: &Sender, to: Endpoint, dialect: Dialect) {
        let errand = Errand {
            to,
            dialect,
            parcel: Parcel::Probe,
            purpose: Purpose::Probe(agent.clone()),
            timeout: self.league.settings.probe_timeout,
            tries: Tries::Once,
        };
        self.post.send(act.now, errand, &mut act.step.outbox);
    }
}
