//! Registration of agents. Recognition of agents that are registered already is in `re_registration`.

use super::applicant::{Applicant, NewMember, VERSIONS, speaks};
use super::event::{LeagueEvent, RenewedBy, Requested};
use super::manager::{Ctx, Manager, Purpose};
use super::re_registration::{self, Recognition};
use super::request::{ReceivedMessage, RequestError};
use super::settings::EndpointCheck;
use crate::agent::{Agent, Answer, Content, Parcel};
use crate::outbox::{Delivery, Tries};
use crate::protocol::decode::{Deviation, DeviationKind};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::messages::{
    LeagueRegisterRequest, LeagueRegisterResponse, Phase, RefereeRegisterRequest, RefereeRegisterResponse,
    RegisterAnswer, RegisterStatus,
};
use crate::protocol::token::TokenIssuer;
use crate::protocol::{Message, Sender, Token};
use serde_json::json;

/// A registration that waits for the probe of its endpoint.
#[derive(Debug)]
pub(super) struct PendingRegistration {
    received: ReceivedMessage,
    applicant: Applicant,
}

impl Manager {
    pub(super) fn register_player(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        request: LeagueRegisterRequest,
    ) -> Result<Option<Sender>, RequestError> {
        let received = received.with_code(request.join_code);
        Ok(self.register(ctx, &received, Applicant::Player(request.player_meta)))
    }

    pub(super) fn register_referee(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        request: RefereeRegisterRequest,
    ) -> Result<Option<Sender>, RequestError> {
        let received = received.with_code(request.join_code);
        Ok(self.register(ctx, &received, Applicant::Referee(request.referee_meta)))
    }

    fn register(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        applicant: Applicant,
    ) -> Option<Sender> {
        let applicant = self.named_by_code(received, applicant);
        if let Err(error) = self.check_fitness(received, &applicant) {
            self.reject(ctx, received, &applicant, error);
            return None;
        }
        let new_member = match self.greet(ctx, received, applicant) {
            Ok(member) => return member,
            Err(new_member) => new_member,
        };
        if let Err(error) = self.check_room(received, &new_member) {
            self.reject(ctx, received, &new_member.applicant, error);
            return None;
        }
        if self.league.settings.endpoint_check == EndpointCheck::AtRegistration {
            self.probe_before_registration(ctx, received, new_member.applicant);
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
        let error = match self.recognise(ctx.now, received, &applicant) {
            Recognition::Not => return Err(NewMember { applicant, renews: None }),
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
                "Token taken away - show the one that the operator has given out since, or ask for it",
            )
            .with("id", member.id()),
            Recognition::Outdated { in_force } => {
                RequestError::new(ErrorCode::InvalidState, "Registration outdated - a later one is in force")
                    .with("timestamp", received.envelope.timestamp.to_string())
                    .with("in_force", in_force.to_string())
            }
        };
        self.reject(ctx, received, &applicant, error);
        Ok(None)
    }

    /// Checks the protocol version, the game, and whether the endpoint may be called.
    fn check_fitness(&self, received: &ReceivedMessage, applicant: &Applicant) -> Result<(), RequestError> {
        if let Some(version) = applicant.protocol_version()
            && !speaks(version)
        {
            return Err(RequestError::new(ErrorCode::VersionMismatch, "Protocol version mismatch")
                .with("path", format!("{}.protocol_version", applicant.meta_field()))
                .with("provided", version)
                .with("supported", VERSIONS));
        }
        let game = &self.league.settings.game_type;
        if !applicant.games().contains(game) {
            return Err(RequestError::new(ErrorCode::InvalidFormat, "Unsupported game type")
                .with("path", format!("{}.game_types", applicant.meta_field()))
                .with("expected", format!("a list with \"{game}\" in it"))
                .with("came", json!(applicant.games())));
        }
        if let Some(objection) = &received.objection {
            let reason = format!("Contact endpoint not allowed - {objection}");
            return Err(RequestError::new(ErrorCode::InvalidFormat, reason)
                .with("path", format!("{}.contact_endpoint", applicant.meta_field()))
                .with("expected", "an endpoint that this league may call")
                .with("came", applicant.endpoint().raw()));
        }
        Ok(())
    }

    fn next_id(&self, applicant: &Applicant) -> Sender {
        let next = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
        match applicant {
            Applicant::Player(_) => {
                // Players that were carried over keep their ids, with gaps between them.
                let highest = self.league.players.keys().filter_map(PlayerId::number).max().unwrap_or(0);
                let number = next(self.league.players.len()).max(highest.saturating_add(1));
                Sender::Player(PlayerId::numbered(number))
            }
            Applicant::Referee(_) => Sender::Referee(RefereeId::numbered(next(self.league.referees.len()))),
        }
    }

    /// Registers an applicant with a new token; one that renews its registration keeps its id, and its old token
    /// becomes invalid.
    fn enter(&mut self, ctx: &mut Ctx<'_>, received: &ReceivedMessage, new_member: NewMember) -> Sender {
        let NewMember { applicant, renews } = new_member;
        let (member, renewed_by) = match renews {
            Some((member, by)) => (member, Some(by)),
            None => (self.next_id(&applicant), None),
        };
        let token = match re_registration::key(received) {
            Some(key) => key.league_token(&self.league.settings.league_id, member.id()),
            None => {
                let token_issuer = self.token_issuer.get_or_insert_with(|| TokenIssuer::new(ctx.entropy));
                token_issuer.issue(member.id(), &received.envelope.conversation_id)
            }
        };
        let request = Requested { renewed_by, ..re_registration::requested(ctx.now, received) };
        let (hash, dialect) = (token.hash(), received.dialect);
        let event = match (&member, applicant) {
            (Sender::Player(id), Applicant::Player(meta)) => {
                LeagueEvent::PlayerRegistered { player_id: id.clone(), meta, token: hash, dialect, request }
            }
            (Sender::Referee(id), Applicant::Referee(meta)) => {
                LeagueEvent::RefereeRegistered { referee_id: id.clone(), meta, token: hash, dialect, request }
            }
            _ => return member, // An applicant's id is always of its own kind.
        };
        self.record(ctx, event);
        self.note_clock(ctx, received, &member);
        self.accept(ctx, received, &member, token);
        if self.league.settings.endpoint_check == EndpointCheck::AtStart {
            self.probe(ctx, &member, Tries::Once);
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
        let (dialect, request) = (received.dialect, self.renewed(ctx.now, received, member, by));
        let event = match (member, applicant) {
            (Sender::Player(id), Applicant::Player(meta)) => {
                LeagueEvent::PlayerRejoined { player_id: id.clone(), meta, dialect, request }
            }
            (Sender::Referee(id), Applicant::Referee(meta)) => {
                LeagueEvent::RefereeRejoined { referee_id: id.clone(), meta, dialect, request }
            }
            _ => return, // A holder is always of the applicant's kind.
        };
        self.record(ctx, event);
        self.note_clock(ctx, received, member);
        self.accept(ctx, received, member, token);
        self.redirect_probes(member);
        self.on_rejoined(ctx, member);
        self.pair_newcomer(ctx);
    }

    /// Agents that write local time as UTC are common: this is recorded as a deviation only.
    fn note_clock(&mut self, ctx: &mut Ctx<'_>, received: &ReceivedMessage, member: &Sender) {
        if received.envelope.timestamp > ctx.now {
            let deviation = Deviation { kind: DeviationKind::Future, path: "timestamp".into() };
            self.note_deviations(ctx, member, &[deviation]);
        }
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
        let envelope =
            self.envelope(ctx.now, received.envelope.conversation_id.as_str()).with_token(Some(token));
        let message = match member {
            Sender::Referee(id) => {
                Message::new(envelope, RefereeRegisterResponse { referee_id: Some(id.clone()), answer })
            }
            Sender::Player(id) => {
                Message::new(envelope, LeagueRegisterResponse { player_id: Some(id.clone()), answer })
            }
            Sender::LeagueManager | Sender::Launcher => return,
        };
        ctx.reply(received.request, Content::Message(message));
    }

    /// Rejects a registration; the answer is still a registration response.
    fn reject(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        applicant: &Applicant,
        error: RequestError,
    ) {
        let (error, late) = self.limit_wrong_tokens(ctx.now, received, error);
        let answer = RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some(error.message.into()),
            league_id: None,
            match_tokens: None,
            manager_public_key: None,
            error_name: Some(error.code.name().into()),
            error_code: Some(error.code),
            context: error.context,
        };
        match applicant {
            Applicant::Player(_) => {
                self.reply(ctx, received, LeagueRegisterResponse { player_id: None, answer })
            }
            Applicant::Referee(_) => {
                self.reply(ctx, received, RefereeRegisterResponse { referee_id: None, answer })
            }
        }
        if late {
            self.delay_reply(ctx);
        }
    }

    fn probe_before_registration(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        applicant: Applicant,
    ) {
        let delivery = Delivery {
            to: applicant.endpoint().clone(),
            dialect: received.dialect,
            parcel: Parcel::Probe,
            purpose: Purpose::Registration,
            timeout: self.league.settings.probe_timeout,
            tries: Tries::Once,
        };
        let call = self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
        self.pending_registrations
            .insert(call, PendingRegistration { received: received.clone(), applicant });
    }

    pub(super) fn finish_registration(
        &mut self,
        ctx: &mut Ctx<'_>,
        pending: PendingRegistration,
        answer: &Answer,
    ) {
        let PendingRegistration { received, applicant } = pending;
        if matches!(answer, Answer::Undelivered(_)) {
            let error = RequestError::new(ErrorCode::Connection, "Contact endpoint unreachable")
                .with("contact_endpoint", applicant.endpoint().raw());
            return self.reject(ctx, &received, &applicant, error);
        }
        // A copy of this registration may have been accepted meanwhile, and the league may have started.
        let member = match self.greet(ctx, &received, applicant) {
            Ok(member) => member,
            Err(new_member) => match self.check_room(&received, &new_member) {
                Ok(()) => {
                    let member = self.enter(ctx, &received, new_member);
                    self.pair_newcomer(ctx);
                    Some(member)
                }
                Err(error) => return self.reject(ctx, &received, &new_member.applicant, error),
            },
        };
        if let Some(member) = member {
            self.note_answered(&member);
        }
    }

    /// Sends a liveness probe.
    pub(super) fn probe(&mut self, ctx: &mut Ctx<'_>, agent: &Sender, tries: Tries) {
        let Some((to, dialect)) = self.address(agent) else { return };
        let delivery = Delivery {
            to,
            dialect,
            parcel: Parcel::Probe,
            purpose: Purpose::Probe(agent.clone()),
            timeout: self.league.settings.probe_timeout,
            tries,
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }
}
