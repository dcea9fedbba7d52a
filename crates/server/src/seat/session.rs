//! One MCP session and the seats that it holds; in the newer revisions one request. Runs the tools.

use super::arguments::Arguments;
use super::brief::Brief;
use super::one_seat::Seat;
use super::open_turns::Accepted;
use super::prompt::HOW_TO_PLAY;
use super::tool_error::ToolError;
use super::tools;
use super::transcript::ToolCall;
use super::types::{HistoryReply, JoinReply, MoveReply, StandingsReply};
use super::wait_for_turn::Delivery;
use super::{Seats, manager_query};
use crate::mcp::{Calling, ExtraTools, peer, when_sent};
use hyper::http::request::Parts;
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{DisplayName, ErrorCode, Token};
use matchday_core::registration::RegistrationState;
use matchday_net::server::HttpResponse;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ProgressNotificationParam, Tool};
use rmcp::service::RequestContext;
use serde::Serialize;
use std::convert::Infallible;
use std::future::pending;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long `join_league` waits for the manager.
const REGISTRATION_MAX: Duration = Duration::from_secs(8);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often a client that wants to know hears that a wait goes on.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct SeatSession {
    seats: Arc<Seats>,
    /// The numbers of the seats that were taken in this session.
    held: Mutex<Vec<u32>>,
}

impl SeatSession {
    pub(crate) fn new(seats: Arc<Seats>) -> Self {
        Self {
            seats,
            held: Mutex::default(),
        }
    }

    pub(super) fn brief(&self) -> Brief {
        self.seats.brief()
    }

    async fn call_tool(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResult> {
        let arguments = Arguments::new(request.arguments.as_ref());
        let at = self.seats.options.clock.now();
        let outcome = match &*request.name {
            name if !tools::NAMES.contains(&name) => return None,
            _ if let Err(error) = self.check_league(&arguments) => Err(error),
            tools::JOIN_LEAGUE => {
                let from = peer(&context.extensions).ip();
                answer(self.join(&arguments, from, self.join_code(context)).await)
            }
            tools::WAIT_FOR_TURN => tokio::select! {
                outcome = self.wait(&arguments, context) => answer(outcome),
                // The client does not read the reply of a cancelled request.
                () = context.ct.cancelled() => Err(ToolError::new(ErrorCode::Timeout, "the wait was cancelled")),
                never = report_progress(context) => match never {},
            },
            tools::MAKE_MOVE => answer(self.play(&arguments)),
            tools::STANDINGS => answer(self.standings(&arguments).await),
            _ => answer(self.history(&arguments).await),
        };
        let result = outcome.unwrap_or_else(|error| self.refused(&request.name, error));
        let given = result
            .structured_content
            .as_ref()
            .and_then(|reply| reply.get("seat")?.as_str());
        if let Ok(seat) = self.seat(arguments.text("seat").ok().flatten().or(given)) {
            let call = ToolCall {
                tool: &request.name,
                arguments: request.arguments.as_ref(),
                reply: result.structured_content.as_ref(),
                at,
            };
            self.seats.record(&seat, call).await;
        }
        Some(result)
    }

    /// A call may name the league that it means.
    fn check_league(&self, arguments: &Arguments) -> Result<(), ToolError> {
        match (arguments.text("league_id")?, self.seats.brief().league_id) {
            (Some(named), Some(league_id)) if league_id.as_str() != named => {
                let why = format!("league_id: expected {league_id} or nothing, got {named:?}");
                Err(ToolError::new(ErrorCode::LeagueNotFound, why))
            }
            _ => Ok(()),
        }
    }

    /// An error in the form that every agent uses.
    fn refused(&self, tool: &str, error: ToolError) -> CallToolResult {
        let error = LeagueError {
            retryable: Some(error.retryable),
            ..LeagueError::new(error.code, error.message, Some(tool.into()), None)
        };
        CallToolResult::structured_error(serde_json::to_value(&error).unwrap_or_default())
    }

    fn held(&self) -> Vec<Arc<Seat>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter()
            .filter_map(|number| self.seats.get(*number))
            .collect()
    }

    fn hold(&self, seat: &Seat) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.contains(&seat.number) {
            held.push(seat.number);
        }
    }

    /// The seat with this key, or the only seat of the session.
    fn seat(&self, key: Option<&str>) -> Result<Arc<Seat>, ToolError> {
        if let Some(key) = key {
            let why = "no seat has this key: pass \"seat\" exactly as join_league gave it, or call join_league for a \
                       new one";
            return self
                .seats
                .by_key(key.trim())
                .ok_or_else(|| ToolError::new(ErrorCode::TokenInvalid, why));
        }
        let held = self.held();
        match held.as_slice() {
            [only] => Ok(Arc::clone(only)),
            [] => {
                let why = "whose turn? pass the \"seat\" that join_league gave you, or call join_league first";
                Err(ToolError::new(ErrorCode::TokenMissing, why))
            }
            several => {
                let count = several.len();
                let why = format!(
                    "you hold {count} seats: pass the \"seat\" that you mean, as join_league gave it"
                );
                Err(ToolError::new(ErrorCode::TokenMissing, why))
            }
        }
    }

    /// The join code of a request: in its path, or as its bearer token.
    fn join_code(&self, context: &RequestContext<RoleServer>) -> Option<Token> {
        let head = context.extensions.get::<Parts>()?;
        self.seats.settings.authorization.join_code(head)
    }

    /// `shown`: the join code that the client shows with its request.
    async fn join(
        &self,
        arguments: &Arguments,
        from: IpAddr,
        shown: Option<Token>,
    ) -> Result<JoinReply, ToolError> {
        let join_code = arguments
            .text("join_code")?
            .filter(|code| !code.is_empty())
            .map(Token::new)
            .or(shown);
        let join_code = join_code.or_else(|| self.seats.settings.join_code.clone());
        if let Some(key) = arguments.text("seat")? {
            let seat = self.seat(Some(key))?;
            self.hold(&seat);
            return self.registered(&seat, None).await;
        }
        let name = arguments.text("name")?.unwrap_or_default().trim();
        let name = DisplayName::parse(name).map_err(|_| {
            let why = "name: expected what you want to be called, in 1 to 50 characters, none of them a control or invisible";
            ToolError::new(ErrorCode::InvalidFormat, why)
        })?;
        let same = |seat: &&Arc<Seat>| seat.name.raw().eq_ignore_ascii_case(name.raw());
        if let Some(own) = self.held().iter().find(same)
            && !own.is_over().await
        {
            return self.registered(own, None).await;
        }
        let (seat, key) = self.seats.new_seat(name, from, join_code).await?;
        self.hold(&seat);
        self.registered(&seat, Some(key)).await
    }

    /// Waits until the manager has answered the registration, at most [`REGISTRATION_MAX`].
    async fn registered(&self, seat: &Seat, key: Option<String>) -> Result<JoinReply, ToolError> {
        let until = Instant::now() + REGISTRATION_MAX;
        let identity = loop {
            let state = seat.state(u32::MAX).await.ok_or_else(ToolError::stopped)?;
            match (state.identity, state.registration) {
                (Some(identity), _) => break Some(identity),
                (None, RegistrationState::Refused { reason, .. }) => {
                    self.seats.remove(seat).await?;
                    let why = format!(
                        "the manager of the league refuses you: {} - fix that and join again, or wait for \
                         another league",
                        reason.escaped()
                    );
                    return Err(ToolError::new(ErrorCode::InvalidState, why));
                }
                _ if Instant::now() >= until => break None,
                _ => sleep(LOOK_EVERY).await,
            }
        };
        // The manager may play another league than when it was last asked.
        if identity.is_some() {
            let _as_before = self.seats.learn_brief().await;
        }
        let next = match &identity {
            Some(_) => {
                "You are in. Call wait_for_turn now, with your seat, and again and again until it tells league_over."
            }
            None => {
                "The manager of the league has not answered yet, and is asked again and again. Your seat is kept: \
                 call wait_for_turn with it."
            }
        };
        let games = self.seats.brief().games;
        for game in &games {
            seat.delivered().rules_told(game.game_type.clone());
        }
        Ok(JoinReply {
            seat: key,
            league_id: identity
                .as_ref()
                .and_then(|identity| identity.league_id.clone()),
            player_id: identity.map(|identity| identity.id),
            display_name: seat.name.raw().into(),
            games,
            observation: self.seats.settings.observation,
            if_you_do_not_move: self.otherwise(),
            next: next.to_owned(),
        })
    }

    fn otherwise(&self) -> String {
        match self.seats.settings.fallback {
            Some(entry) => format!(
                "The strategy {:?} ({}) chooses for you shortly before the referee's time is up, and the result says \
                 so.",
                entry.name, entry.about
            ),
            None => "The referee asks again, if its settings say so; if you still do not choose, the match is lost by \
                     forfeit."
                .to_owned(),
        }
    }

    async fn wait(
        &self,
        arguments: &Arguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<super::types::WaitReply, ToolError> {
        let seat = self.seat(arguments.text("seat")?)?;
        let wait_max = arguments.whole("wait_seconds", u32::MAX)?;
        let wait_max = wait_max
            .unwrap_or(tools::WAIT_SECONDS)
            .min(tools::WAIT_SECONDS_MAX);
        let (reply, told) = self
            .seats
            .wait_for_turn(&seat, Duration::from_secs(wait_max.into()))
            .await?;
        self.mark_when_sent(context, seat, told);
        Ok(reply)
    }

    fn mark_when_sent(
        &self,
        context: &RequestContext<RoleServer>,
        seat: Arc<Seat>,
        told: Delivery,
    ) {
        let seats = Arc::clone(&self.seats);
        when_sent(&context.extensions, move || seats.mark_told(&seat, told));
    }

    fn play(&self, arguments: &Arguments) -> Result<MoveReply, ToolError> {
        let choice = arguments.choice()?;
        let turn = arguments.text("turn")?;
        let seat = self.seat(arguments.text("seat")?)?;
        let next =
            "Call wait_for_turn again: it tells how the match ends, and your next turn.".to_owned();
        // Kept with the call.
        arguments.text("reasoning")?;
        let (turn, choice, already_made) = match seat.turns.play(turn, choice) {
            Ok(Accepted::Made { turn, choice }) => (turn, choice, false),
            Ok(Accepted::Repeated { turn, choice }) => (turn, choice, true),
            Err(error) => return Err(ToolError::of_move(error, self.seats.settings.fallback)),
        };
        self.seats.confirm(&seat, &turn);
        Ok(MoveReply {
            turn,
            choice,
            already_made,
            next,
        })
    }

    async fn standings(&self, arguments: &Arguments) -> Result<StandingsReply, ToolError> {
        let seat = self.seat(arguments.text("seat")?)?;
        let state = seat.state(u32::MAX).await.ok_or_else(ToolError::stopped)?;
        let Some(own) = state.identity else {
            let why =
                "the manager has not answered your registration yet: call wait_for_turn first";
            return Err(ToolError::new(ErrorCode::InvalidState, why));
        };
        let manager = &self.seats.settings.manager;
        let standings = manager_query::standings(&self.seats.options, manager, &own).await;
        let standings = standings.map_err(|why| {
            ToolError::new(
                ErrorCode::Connection,
                format!("{why} - go on with wait_for_turn, and ask again later"),
            )
        })?;
        Ok(StandingsReply {
            player_id: Some(own.id),
            standings,
        })
    }

    async fn history(&self, arguments: &Arguments) -> Result<HistoryReply, ToolError> {
        let seat = self.seat(arguments.text("seat")?)?;
        Ok(seat.state(0).await.ok_or_else(ToolError::stopped)?.into())
    }
}

impl ExtraTools for SeatSession {
    fn new_session(&self) -> Box<dyn ExtraTools> {
        Box::new(Self::new(Arc::clone(&self.seats)))
    }

    fn tools(&self) -> &'static [Tool] {
        tools::list()
    }

    fn refusal(&self, tool: &str, head: &Parts) -> Option<HttpResponse> {
        tools::NAMES
            .contains(&tool)
            .then(|| self.seats.refusal(&head.headers, &head.extensions))?
    }

    fn instructions(&self) -> String {
        self.seats.brief().instructions()
    }

    fn how_to_play(&self) -> (&'static str, String) {
        (HOW_TO_PLAY, self.seats.brief().rules())
    }

    fn call<'a>(
        &'a self,
        request: &'a CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> Calling<'a> {
        Box::pin(self.call_tool(request, context))
    }
}

/// Tells a client that asked for it that a wait goes on. Does not end by itself.
async fn report_progress(context: &RequestContext<RoleServer>) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return pending().await;
    };
    let began = Instant::now();
    loop {
        sleep(PROGRESS_EVERY).await;
        let waited = began.elapsed().as_secs();
        let progress = ProgressNotificationParam::new(token.clone(), waited as f64)
            .with_message(format!("no turn yet, {waited} seconds waited"));
        // A client that has gone ends the wait by itself.
        let _ = context.peer.notify_progress(progress).await;
    }
}

fn answer<T: Serialize>(outcome: Result<T, ToolError>) -> Result<CallToolResult, ToolError> {
    let given = outcome?;
    let value =
        serde_json::to_value(given).map_err(|error| ToolError::internal(error.to_string()))?;
    Ok(CallToolResult::structured(value))
}
