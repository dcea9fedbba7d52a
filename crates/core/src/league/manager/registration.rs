//! Registration of agents.

use super::{Ctx, Manager, is_sign_of_life};
use crate::agent::{Agent, Answer};
use crate::league::deliveries::{Purpose, probe};
use crate::league::event::{RegistrationRecord, RenewedBy};
use crate::league::invitation::{Invitation, Place};
use crate::league::registrar::{Applicant, NewMember, PendingRegistration, Recognition, requested};
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::settings::EndpointCheck;
use crate::league::state::League;
use crate::outbox::{Delivery, Tries};
use crate::protocol::decode::{Conformance, Deviation, DeviationKind};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::messages::{
    AgentRole, LeagueRegisterRequest, LeagueRegisterResponse, Phase, RefereeRegisterRequest,
    RefereeRegisterResponse, RegisterAnswer, RegisterStatus,
};
use crate::protocol::{Sender, Token};
use serde_json::json;

/// The supported versions of league.v2.
const VERSIONS: &str = ">=2.0.0, <2.2.0";

/// Whether a version is supported; `2.1` means `2.1.0`.
fn is_supported(version: &str) -> bool {
    let parsed = semver::Version::parse(version)
        .or_else(|_| semver::Version::parse(&format!("{version}.0")));
    match (semver::VersionReq::parse(VERSIONS), parsed) {
        (Ok(supported), Ok(version)) => supported.matches(&version),
        _ => false,
    }
}

/// Checks the protocol version, the game, and whether the endpoint may be called.
fn check_fitness(
    league: &League,
    received: &ReceivedMessage,
    applicant: &Applicant,
) -> Result<(), RequestError> {
    let meta = applicant.meta();
    let path = |field: &str| format!("{}_meta.{field}", applicant.role().name());
    if let Some(version) = meta
        .protocol_version()
        .filter(|version| !is_supported(version))
    {
        return Err(
            RequestError::new(ErrorCode::VersionMismatch, "Protocol version mismatch")
                .with("path", path("protocol_version"))
                .with("provided", version)
                .with("supported", VERSIONS),
        );
    }
    let game = &league.settings.game_type;
    if !meta.game_types().contains(game) {
        return Err(
            RequestError::new(ErrorCode::InvalidFormat, "Unsupported game type")
                .with("path", path("game_types"))
                .with("expected", format!("a list with \"{game}\" in it"))
                .with("came", json!(meta.game_types())),
        );
    }
    if let Some(objection) = &received.objection {
        let reason = format!("Contact endpoint not allowed - {objection}");
        return Err(RequestError::new(ErrorCode::InvalidFormat, reason)
            .with("path", path("contact_endpoint"))
            .with("expected", "an endpoint that this league may call")
            .with("came", meta.contact_endpoint().raw()));
    }
    Ok(())
}

/// The words of the sources: each role has its own.
fn unreachable(role: AgentRole) -> &'static str {
    match role {
        AgentRole::Player => "Contact endpoint unreachable",
        AgentRole::Referee => "Endpoint unreachable",
    }
}

/// The id of a new member: the one that it calls itself by, if it may have that, else the next free one.
fn new_id(league: &League, role: AgentRole, sender: &Sender) -> Sender {
    if let Some(own) = own_id(league, role, sender) {
        return own;
    }
    let numbers = |taken: &dyn Fn(u32) -> bool| (1..).find(|number| !taken(*number)).unwrap_or(1);
    match role {
        AgentRole::Player => {
            // Those of a season are the ids of people, also of those that do not take part this time.
            let carried = league.is_of_season.then(|| league.players.keys());
            let highest = carried.and_then(|ids| ids.filter_map(PlayerId::number).max());
            let is_taken = |number: u32| {
                Some(number) <= highest || league.players.contains_key(&PlayerId::numbered(number))
            };
            Sender::Player(PlayerId::numbered(numbers(&is_taken)))
        }
        AgentRole::Referee => {
            let is_taken = |number: u32| league.referees.contains_key(&RefereeId::numbered(number));
            Sender::Referee(RefereeId::numbered(numbers(&is_taken)))
        }
    }
}

/// Agents that are written for a fixed id ask for it by their name. In a lenient league they have it, if it is one that the
/// league gives out, free and reserved for nobody.
fn own_id(league: &League, role: AgentRole, sender: &Sender) -> Option<Sender> {
    let settings = &league.settings;
    let is_named = |place: &Place| {
        let Invitation {
            role: invited,
            name,
            ..
        } = &place.invitation;
        *invited == role && name.is_some()
    };
    let is_reserved = league.is_of_season || league.roster.iter().any(is_named);
    if settings.conformance == Conformance::Strict || is_reserved {
        return None;
    }
    let (number, most) = match (sender, role) {
        (Sender::Player(id), AgentRole::Player) => (id.number()?, settings.players_max),
        (Sender::Referee(id), AgentRole::Referee) => (id.number()?, settings.referees_max),
        _ => return None,
    };
    let canonical = match role {
        AgentRole::Player => Sender::Player(PlayerId::numbered(number)),
        AgentRole::Referee => Sender::Referee(RefereeId::numbered(number)),
    };
    let fits = (1..=most).contains(&number) && canonical == *sender;
    (fits && league.member(sender).is_none()).then_some(canonical)
}

impl Manager {
    pub(super) fn register_player(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        request: LeagueRegisterRequest,
    ) -> Option<Sender> {
        let received = received.with_code(request.join_code);
        self.register(ctx, &received, Applicant::Player(request.player_meta))
    }

    pub(super) fn register_referee(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        request: RefereeRegisterRequest,
    ) -> Option<Sender> {
        let received = received.with_code(request.join_code);
        self.register(ctx, &received, Applicant::Referee(request.referee_meta))
    }

    fn register(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        applicant: Applicant,
    ) -> Option<Sender> {
        let name = self.league.name_by_code(received, applicant.role());
        let applicant = applicant.renamed(name);
        if let Err(error) = check_fitness(&self.league, received, &applicant) {
            self.reject(ctx, received, applicant.role(), error);
            return None;
        }
        let new_member = match self.greet(ctx, received, applicant) {
            Ok(member) => return member,
            Err(new_member) => new_member,
        };
        if self.league.settings.endpoint_check == EndpointCheck::AtRegistration {
            match self.check_room(received, &new_member) {
                Ok(()) => self.probe_before_registration(ctx, received, new_member.applicant),
                Err(error) => self.reject(ctx, received, new_member.applicant.role(), error),
            }
            return None;
        }
        self.admit(ctx, received, new_member)
    }

    /// One that renews its registration counts already.
    fn check_room(
        &self,
        received: &ReceivedMessage,
        new_member: &NewMember,
    ) -> Result<(), RequestError> {
        match new_member.renews {
            Some(_) => Ok(()),
            None => self
                .league
                .check_room(received, new_member.applicant.role(), self.admission),
        }
    }

    /// Registers an applicant, if there is room for it.
    fn admit(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        new_member: NewMember,
    ) -> Option<Sender> {
        if let Err(error) = self.check_room(received, &new_member) {
            self.reject(ctx, received, new_member.applicant.role(), error);
            return None;
        }
        let member = self.enter(ctx, received, new_member);
        self.pair_newcomer(ctx);
        Some(member)
    }

    /// A ladder that lacked players may go on.
    fn pair_newcomer(&mut self, ctx: &mut Ctx<'_>) {
        if self.league.is_ladder() {
            self.advance(ctx);
        }
    }

    /// Handles an agent that is registered already; returns one that is not.
    fn greet(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        applicant: Applicant,
    ) -> Result<Option<Sender>, NewMember> {
        let error = match self.registrar.recognise(&self.league, ctx.now, received, &applicant) {
            Recognition::Unknown => return Err(NewMember { applicant, renews: None }),
            Recognition::Renews(member, by) => {
                let new_member = NewMember { applicant, renews: Some((member.clone(), by)) };
                if self.league.phase == Phase::Registration {
                    return Err(new_member);
                }
                self.enter(ctx, received, new_member);
                self.on_rejoined(ctx, &member);
                self.pair_newcomer(ctx);
                return Ok(Some(member));
            }
            Recognition::Returns(member, token, by) => {
                let applicant = applicant.renamed(self.league.name_on_roster(&member));
                self.rejoin(ctx, received, &member, applicant, token, by);
                return Ok(Some(member));
            }
            Recognition::Repeats(member, token) => {
                self.accept(ctx, received, &member, token);
                return Ok(Some(member));
            }
            Recognition::Refused(error) => error,
            Recognition::Unproven(member) => RequestError::new(
                ErrorCode::TokenInvalid,
                "Already registered - show the registration key or the token of that registration as auth_token, or \
                 ask the operator for a new token",
            )
            .with("id", member.id()),
            Recognition::Barred(member) => RequestError::new(
                ErrorCode::TokenInvalid,
                "Token revoked - show the new one from the operator, or ask for one",
            )
            .with("id", member.id()),
            Recognition::Outdated { in_force } => {
                RequestError::new(ErrorCode::InvalidState, "Registration outdated - a later one is valid")
                    .with("timestamp", received.envelope.timestamp.to_string())
                    .with("in_force", in_force.to_string())
            }
        };
        self.reject(ctx, received, applicant.role(), error);
        Ok(None)
    }

    /// Registers an applicant with a new token; one that renews its registration keeps its id, and its old token
    /// becomes invalid.
    fn enter(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        new_member: NewMember,
    ) -> Sender {
        let NewMember { applicant, renews } = new_member;
        let (member, renewed_by) = match renews {
            Some((member, by)) => (member, Some(by)),
            None => {
                let sender = &received.envelope.sender;
                (new_id(&self.league, applicant.role(), sender), None)
            }
        };
        let token = self
            .registrar
            .issue(&self.league, ctx.entropy, received, &member);
        let request = RegistrationRecord {
            renewed_by,
            ..requested(ctx.now, received)
        };
        self.record(
            ctx,
            applicant.registered(member.id(), token.hash(), received.dialect, request),
        );
        self.record_clock(ctx, received, &member);
        self.accept(ctx, received, &member, token);
        if self.league.settings.endpoint_check == EndpointCheck::AtStart {
            let probe = probe(&self.league, &member, Purpose::Probe, Tries::Once);
            self.send(ctx, probe);
        }
        member
    }

    fn rejoin(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        member: &Sender,
        applicant: Applicant,
        token: Token,
        by: RenewedBy,
    ) {
        let request = requested(ctx.now, received);
        // The proof that its token was issued for stays.
        let known = self.league.member(member).and_then(|known| known.request);
        let proof = known.map_or(request.proof, |known| known.proof);
        let request = RegistrationRecord {
            proof,
            renewed_by: Some(by),
            ..request
        };
        self.record(
            ctx,
            applicant.rejoined(member.id(), received.dialect, request),
        );
        self.record_clock(ctx, received, member);
        self.accept(ctx, received, member, token);
        self.redirect_probes(member);
        self.on_rejoined(ctx, member);
        self.pair_newcomer(ctx);
    }

    /// Agents that write local time as UTC are common: this is recorded as a deviation only.
    fn record_clock(&mut self, ctx: &mut Ctx<'_>, received: &ReceivedMessage, member: &Sender) {
        if received.envelope.timestamp > ctx.now {
            let deviation = Deviation {
                kind: DeviationKind::Future,
                path: "timestamp".into(),
            };
            self.record_deviations(ctx, member, &[deviation]);
        }
    }

    /// Enters the players of the season's previous league. The empty standings tell them of this one: our players register
    /// again at it, to learn its id, and third-party players need not.
    pub(super) fn enter_carried_over(&mut self, ctx: &mut Ctx<'_>) {
        let players = self.registrar.take_carried_over();
        if players.is_empty() {
            return;
        }
        for player in players {
            self.record(ctx, player.into());
        }
        self.tell_standings(ctx);
    }

    fn accept(&self, ctx: &mut Ctx<'_>, received: &ReceivedMessage, member: &Sender, token: Token) {
        let answer = RegisterAnswer {
            status: RegisterStatus::Accepted,
            reason: None,
            league_id: Some(self.league.settings.league_id.clone()),
            match_tokens: Some(true),
            manager_public_key: self.league.checkpoints.key,
            error_code: None,
            error_name: None,
            context: None,
        };
        match member {
            Sender::Referee(id) => {
                let response = RefereeRegisterResponse {
                    referee_id: Some(id.clone()),
                    answer,
                };
                self.reply_with_token(ctx, received, response, Some(token));
            }
            Sender::Player(id) => {
                let response = LeagueRegisterResponse {
                    player_id: Some(id.clone()),
                    answer,
                };
                self.reply_with_token(ctx, received, response, Some(token));
            }
            Sender::LeagueManager | Sender::Launcher => {}
        }
    }

    /// Rejects a registration; the answer is still a registration response.
    fn reject(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        role: AgentRole,
        error: RequestError,
    ) {
        let settings = &self.league.settings;
        let (error, late) = self
            .registrar
            .limit_wrong_tokens(settings, ctx.now, received, error);
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some(error.message.into()),
            league_id: None,
            // By this an agent of ours knows that nothing it says is beyond this manager.
            match_tokens: Some(true),
            manager_public_key: None,
            error_name: Some(error.code.name().into()),
            error_code: Some(error.code),
            context: error.context,
        };
        match role {
            AgentRole::Player => {
                self.reply(
                    ctx,
                    received,
                    LeagueRegisterResponse {
                        player_id: None,
                        answer,
                    },
                );
            }
            AgentRole::Referee => {
                self.reply(
                    ctx,
                    received,
                    RefereeRegisterResponse {
                        referee_id: None,
                        answer,
                    },
                );
            }
        }
        if late {
            self.registrar.delay_last(ctx.now, &mut ctx.step.replies);
        }
    }

    fn probe_before_registration(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        applicant: Applicant,
    ) {
        let delivery = Delivery {
            to: applicant.meta().contact_endpoint().clone(),
            dialect: received.dialect,
            payload: applicant.meta().probe(),
            purpose: Purpose::Registration,
            timeout: self.league.settings.probe_timeout,
            tries: Tries::Once,
        };
        let call = self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
        self.registrar.hold(
            call,
            PendingRegistration {
                received: received.clone(),
                applicant,
            },
        );
    }

    pub(super) fn finish_registration(
        &mut self,
        ctx: &mut Ctx<'_>,
        pending: PendingRegistration,
        answer: &Answer,
    ) {
        let PendingRegistration {
            received,
            applicant,
        } = pending;
        if !is_sign_of_life(answer) {
            let error = RequestError::new(ErrorCode::Connection, unreachable(applicant.role()))
                .with(
                    "contact_endpoint",
                    applicant.meta().contact_endpoint().raw(),
                );
            return self.reject(ctx, &received, applicant.role(), error);
        }
        // A copy of this registration may have been accepted meanwhile, and the league may have started.
        let member = match self.greet(ctx, &received, applicant) {
            Ok(member) => member,
            Err(new_member) => self.admit(ctx, &received, new_member),
        };
        if let Some(member) = member {
            self.liveness.record_answer(&member);
        }
    }
}
