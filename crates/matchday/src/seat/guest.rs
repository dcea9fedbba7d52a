//! One client of the seats, and the seats that it holds; in the newer revisions one request. Calls the tools.

use super::one::Seat;
use super::tools::{self, JoinLeague, MakeMove, OnlySeat, WaitForTurn};
use super::turns::{self, NoMove};
use super::words::{GameRules, Joined, Moved, Played, Table};
use super::{Seats, table};
use crate::mcp::peer;
use crate::shell::JoinCode;
use hyper::http::request::Parts;
use matchday_core::enrol::Enrolment;
use matchday_core::game::GAMES;
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{DisplayName, ErrorCode, Token};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, Tool};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use smol_str::{SmolStr, format_smolstr};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the manager is waited for when someone joins.
const REGISTRATION_MAX: Duration = Duration::from_secs(8);
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Guest {
    seats: Arc<Seats>,
    /// The numbers of the seats that were taken in this session.
    held: Mutex<Vec<u32>>,
}

/// Why a call failed, and what to do.
#[derive(Debug)]
pub(super) struct Trouble {
    code: ErrorCode,
    message: String,
}

impl Trouble {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn internal(why: String) -> Self {
        Self::new(ErrorCode::Internal, format!("{why} - tell the operator of this server"))
    }

    pub(super) fn stopping() -> Self {
        Self::new(
            ErrorCode::Connection,
            "this server is stopping: call again when it is back; seats are kept",
        )
    }

    pub(super) fn stopped() -> Self {
        let why = "the player in this seat has stopped: call again in a moment, and if this goes on tell the operator";
        Self::new(ErrorCode::Connection, why)
    }
}

type Arguments = Map<String, Value>;

impl Guest {
    pub(crate) fn new(seats: Arc<Seats>) -> Self {
        Self { seats, held: Mutex::default() }
    }

    pub(crate) fn of_the_same(&self) -> Self {
        Self::new(Arc::clone(&self.seats))
    }

    pub(crate) fn tools() -> &'static [Tool] {
        tools::list()
    }

    /// `None` if no tool of a seat goes by this name.
    pub(crate) async fn call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResult> {
        let arguments = request.arguments.clone().unwrap_or_default();
        let outcome = match &*request.name {
            tools::JOIN_LEAGUE => {
                let from = peer(&context.extensions).ip();
                answer(self.join(arguments, from, join_code(context)).await)
            }
            tools::WAIT_FOR_TURN => tokio::select! {
                outcome = self.wait(arguments) => answer(outcome),
                // Nobody would hear what is told.
                () = context.ct.cancelled() => Err(Trouble::new(ErrorCode::Timeout, "the wait was cancelled")),
            },
            tools::MAKE_MOVE => answer(self.play(arguments)),
            tools::STANDINGS => answer(self.standings(arguments).await),
            tools::MY_HISTORY => answer(self.history(arguments).await),
            _ => return None,
        };
        Some(outcome.unwrap_or_else(|trouble| self.refused(&request.name, trouble)))
    }

    /// In the form in which every agent refuses.
    fn refused(&self, tool: &str, trouble: Trouble) -> CallToolResult {
        let error = LeagueError::new(trouble.code, trouble.message, Some(tool.into()), None);
        CallToolResult::structured_error(serde_json::to_value(&error).unwrap_or_default())
    }

    fn held(&self) -> Vec<Arc<Seat>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter().filter_map(|number| self.seats.get(*number)).collect()
    }

    fn hold(&self, seat: &Seat) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.contains(&seat.number) {
            held.push(seat.number);
        }
    }

    /// The seat that is meant: by its key, or because the session has no other.
    fn seat(&self, key: Option<&str>) -> Result<Arc<Seat>, Trouble> {
        if let Some(key) = key {
            let why = "no seat has this key: pass \"seat\" exactly as join_league gave it, or call join_league for a \
                       new one";
            return self.seats.by_key(key.trim()).ok_or_else(|| Trouble::new(ErrorCode::TokenInvalid, why));
        }
        let held = self.held();
        match held.as_slice() {
            [only] => Ok(Arc::clone(only)),
            [] => {
                let why =
                    "whose turn? pass the \"seat\" that join_league gave you, or call join_league first";
                Err(Trouble::new(ErrorCode::TokenMissing, why))
            }
            several => {
                let count = several.len();
                let why = format!(
                    "you hold {count} seats: pass the \"seat\" that you mean, as join_league gave it"
                );
                Err(Trouble::new(ErrorCode::TokenMissing, why))
            }
        }
    }

    /// `in_path`: the join code of the path that the client calls.
    async fn join(
        &self,
        arguments: Arguments,
        from: IpAddr,
        in_path: Option<Token>,
    ) -> Result<Joined, Trouble> {
        let JoinLeague { name, seat, join_code } = read(arguments)?;
        let join_code = join_code.filter(|code| !code.is_empty()).map(Token::new).or(in_path);
        if seat.is_some() {
            let seat = self.seat(seat.as_deref())?;
            self.hold(&seat);
            return self.registered(&seat, None).await;
        }
        let name = name.map(|name| name.trim().to_owned()).unwrap_or_default();
        let name = DisplayName::parse(&name).map_err(|_| {
            let why = "name: expected what you want to be called, in 1 to 50 characters, none of them a control or invisible";
            Trouble::new(ErrorCode::InvalidFormat, why)
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

    /// Waits for the manager's word, but not for ever.
    async fn registered(&self, seat: &Seat, key: Option<String>) -> Result<Joined, Trouble> {
        let until = Instant::now() + REGISTRATION_MAX;
        let identity = loop {
            let view = seat.view(u32::MAX).await.ok_or_else(Trouble::stopped)?;
            match (view.identity, view.enrolment) {
                (Some(identity), _) => break Some(identity),
                (None, Enrolment::Refused { reason, .. }) => {
                    self.seats.give_up(seat).await?;
                    let why = format!(
                        "the manager of the league refuses you: {} - mend that and join again, or wait for \
                         another league",
                        reason.escaped()
                    );
                    return Err(Trouble::new(ErrorCode::InvalidState, why));
                }
                _ if Instant::now() >= until => break None,
                _ => sleep(LOOK_EVERY).await,
            }
        };
        let next = match &identity {
            Some(_) => {
                "You are in. Call wait_for_turn now, with your seat, and again and again until it tells league_over."
            }
            None => {
                "The manager of the league has not answered yet, and is asked again and again. Your seat is kept: \
                 call wait_for_turn with it."
            }
        };
        Ok(Joined {
            seat: key,
            league_id: identity.as_ref().and_then(|identity| identity.league_id.clone()),
            player_id: identity.map(|identity| identity.id),
            display_name: seat.name.raw().into(),
            games: rules(),
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
            None => "The referee may ask again; if you still do not choose, you lose the match.".to_owned(),
        }
    }

    async fn wait(&self, arguments: Arguments) -> Result<super::words::News, Trouble> {
        let WaitForTurn { seat, wait_seconds } = read(arguments)?;
        let seat = self.seat(seat.as_deref())?;
        let patience = wait_seconds.unwrap_or(tools::WAIT_SECONDS).min(tools::WAIT_SECONDS_MAX);
        self.seats.wait(&seat, Duration::from_secs(patience.into())).await
    }

    fn play(&self, arguments: Arguments) -> Result<Moved, Trouble> {
        let MakeMove { seat, turn, choice } = read(arguments)?;
        let seat = self.seat(seat.as_deref())?;
        let next = "Call wait_for_turn again: it tells how the match ends, and your next turn.".to_owned();
        match seat.turns.play(turn.as_deref(), &choice) {
            Ok(turns::Played::Made { turn, choice }) => Ok(Moved { turn, choice, already_made: false, next }),
            Ok(turns::Played::Already { turn, choice }) => {
                Ok(Moved { turn, choice, already_made: true, next })
            }
            Err(no) => Err(self.no_move(no)),
        }
    }

    fn no_move(&self, no: NoMove) -> Trouble {
        let shown = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        match no {
            NoMove::NothingOpen => Trouble::new(
                ErrorCode::InvalidState,
                "there is nothing to choose now: call wait_for_turn, and move when it tells your_turn",
            ),
            NoMove::Which(open) => {
                let open = open.iter().map(|id| format_smolstr!("{id:?}")).collect::<Vec<_>>().join(", ");
                Trouble::new(
                    ErrorCode::MissingField,
                    format!("turn: expected one of {open}, since several are open"),
                )
            }
            NoMove::Unknown => Trouble::new(
                ErrorCode::MatchIdMismatch,
                "this turn is not open: call wait_for_turn, and pass its \"turn\" exactly as it stands there",
            ),
            NoMove::TooLate => {
                let why = match self.seats.settings.fallback {
                    Some(entry) => format!(
                        "too late: the time for this turn was over, and the strategy {:?} has chosen for you - call \
                         wait_for_turn, and move sooner next time",
                        entry.name
                    ),
                    None => "too late: the time for this turn was over - call wait_for_turn at once, since the referee \
                             may ask again"
                        .to_owned(),
                };
                Trouble::new(ErrorCode::Timeout, why)
            }
            NoMove::Chosen(made) => {
                let why = format!(
                    "you chose {made} in this turn, and a move cannot be taken back: call wait_for_turn"
                );
                Trouble::new(ErrorCode::InvalidMove, why)
            }
            NoMove::NotAnOption(options) => {
                let why = format!(
                    "choice: expected one of {} - the turn is still open: move again",
                    shown(&options)
                );
                Trouble::new(ErrorCode::InvalidMove, why)
            }
        }
    }

    async fn standings(&self, arguments: Arguments) -> Result<Table, Trouble> {
        let OnlySeat { seat } = read(arguments)?;
        let seat = self.seat(seat.as_deref())?;
        let view = seat.view(u32::MAX).await.ok_or_else(Trouble::stopped)?;
        let Some(own) = view.identity else {
            let why = "the manager has not answered your registration yet: call wait_for_turn first";
            return Err(Trouble::new(ErrorCode::InvalidState, why));
        };
        let manager = &self.seats.settings.manager;
        let standings = table::standings(&self.seats.options, manager, &own).await;
        let standings = standings.map_err(|why| {
            Trouble::new(
                ErrorCode::Connection,
                format!("{why} - go on with wait_for_turn, and ask again later"),
            )
        })?;
        Ok(Table { player_id: Some(own.id), standings })
    }

    async fn history(&self, arguments: Arguments) -> Result<Played, Trouble> {
        let OnlySeat { seat } = read(arguments)?;
        let seat = self.seat(seat.as_deref())?;
        Ok(seat.view(0).await.ok_or_else(Trouble::stopped)?.into())
    }
}

fn join_code(context: &RequestContext<RoleServer>) -> Option<Token> {
    JoinCode::of(&context.extensions.get::<Parts>()?.extensions)
}

fn rules() -> Vec<GameRules> {
    let of = |game: &matchday_core::game::GameEntry| GameRules {
        game_type: SmolStr::new_static(game.name),
        rules: game.rules.to_owned(),
    };
    GAMES.iter().map(of).collect()
}

fn read<T: DeserializeOwned>(mut arguments: Arguments) -> Result<T, Trouble> {
    arguments.retain(|name, value| name == "choice" || !value.is_null());
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        Trouble::new(ErrorCode::InvalidFormat, format!("the arguments do not fit the tool: {error}"))
    })
}

fn answer<T: Serialize>(outcome: Result<T, Trouble>) -> Result<CallToolResult, Trouble> {
    let given = outcome?;
    let value = serde_json::to_value(given).map_err(|error| Trouble::internal(error.to_string()))?;
    Ok(CallToolResult::structured(value))
}
