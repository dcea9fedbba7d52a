//! One seat: its player, which is called at the seat's own path, and its open turns.

use super::dial::DialledMailbox;
use super::log::SeatRecord;
use super::open_turns::{OpenTurns, SeatDecider};
use super::{OpenError, SeatSettings, contact};
use matchday_core::entropy::Entropy;
use matchday_core::game::GAMES;
use matchday_core::game::observation::GameReport;
use matchday_core::game::strategy::{Strategy, Turn};
use matchday_core::player::{self, Player};
use matchday_core::protocol::messages::{Record, Role};
use matchday_core::protocol::{
    DisplayName, Endpoint, GameType, MatchId, PlayerId, RoundId, Token, Version,
};
use matchday_core::registration::{Identity, RegistrationState};
use matchday_runtime::{Handle, Hosted, HttpService, Options, Start};
use matchday_store::{Store, Stream};
use serde_json::Value;
use smol_str::SmolStr;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{RwLock, watch};
use tokio::task::JoinSet;

/// The referee's deadline ends a decision; this is only an upper limit.
const THINK_TIME: Duration = Duration::from_secs(60 * 60);
/// How many results are shown at once.
const GAMES_SHOWN_MAX: usize = 100;

pub(super) struct Seat {
    pub(super) number: u32,
    pub(super) name: DisplayName,
    /// Of its key.
    pub(super) hash: String,
    /// The address that it was opened from, if that is known.
    pub(super) from: Option<IpAddr>,
    pub(super) service: Arc<HttpService>,
    pub(super) changes: watch::Receiver<u64>,
    pub(super) turns: Arc<OpenTurns>,
    delivered: Mutex<Delivered>,
    /// `None` once it is closed.
    player: RwLock<Option<Handle<Player>>>,
    /// The connection to the relay, if it dials out.
    dialled: Mutex<JoinSet<()>>,
}

/// A seat before its player runs.
pub(super) struct NewSeat {
    pub(super) name: DisplayName,
    pub(super) record: SeatRecord,
    /// What it registers with. It is not stored: once registered, the seat has a token.
    pub(super) join_code: Option<Token>,
    /// Where it is called if it has no socket.
    pub(super) mailbox: Option<DialledMailbox>,
}

/// What the client of a seat has been told.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    /// The results that replies have told: each was written to a connection, and may still have been lost with it.
    pub(super) games: u32,
    /// The results that the client has read, since it made a move that a later reply asked for.
    pub(super) confirmed: u32,
    pub(super) invitation: Option<MatchId>,
    /// The turn that was told last, and how many results its first reply told or repeated.
    pub(super) turn: Option<(SmolStr, u32)>,
    /// Of which game the rules have been told, and with which turn if not on joining.
    rules: Option<(GameType, Option<SmolStr>)>,
}

impl Delivered {
    /// The rules were told on joining.
    pub(super) fn rules_told(&mut self, game: GameType) {
        self.rules = Some((game, None));
    }

    /// Whether the rules belong to this turn: they are told once, and again with the same turn, whose reply may be lost.
    pub(super) fn needs_rules(&mut self, game: &GameType, turn: &SmolStr) -> bool {
        match &self.rules {
            Some((known, with)) if known == game => with.as_ref() == Some(turn),
            _ => {
                self.rules = Some((game.clone(), Some(turn.clone())));
                true
            }
        }
    }
}

/// The state of a seat's player.
#[derive(Debug, Clone)]
pub(super) struct PlayerState {
    pub(super) identity: Option<Identity<PlayerId>>,
    pub(super) registration: RegistrationState,
    pub(super) is_over: bool,
    /// How many games there have been altogether.
    pub(super) played: u32,
    pub(super) record: Record,
    /// How often the fallback chose.
    pub(super) fallbacks: u32,
    /// The last games, oldest first.
    pub(super) games: Vec<GameReport>,
    pub(super) invited: Vec<OpenMatch>,
}

/// A match that the player has accepted and that is not over.
#[derive(Debug, Clone)]
pub(super) struct OpenMatch {
    pub(super) match_id: MatchId,
    pub(super) round_id: Option<RoundId>,
    pub(super) game_type: Option<GameType>,
    pub(super) opponent_id: Option<PlayerId>,
    pub(super) role: Option<Role>,
}

impl Seat {
    pub(super) fn restore(
        settings: &SeatSettings,
        address: SocketAddr,
        seating: NewSeat,
        store: &Store,
        options: Options,
    ) -> Result<Self, OpenError> {
        let NewSeat {
            name,
            record,
            join_code,
            mailbox,
        } = seating;
        let turns = OpenTurns::new();
        let home = match &mailbox {
            Some(mailbox) => mailbox.contact.clone(),
            None => contact(&settings.home, record.number),
        };
        let mut player = player(settings, &name, &home)?.with_join_code(join_code);
        let stream = Stream(format!("player/seat-{}", record.number).into());
        let telemetry = matchday_runtime::agent_telemetry(&player, &options);
        let last_at = matchday_runtime::replay(&mut player, store, &stream, &telemetry, true)?;
        // A player that has played a league to its end enters the next one only when its client asks.
        let start = Start {
            address,
            url: home,
            wakes: !player.durable().league_closed(),
            last_at,
            telemetry,
        };
        let options = Options {
            decider: Some(Arc::new(SeatDecider(Arc::clone(&turns)))),
            ..options
        };
        let Hosted {
            handle,
            service,
            changes,
        } = matchday_runtime::host(player, start, store.clone(), stream, options)?;
        let dialled = match mailbox {
            Some(DialledMailbox { agent, tasks, .. }) => {
                let _ = agent.set(Arc::clone(&service));
                tasks
            }
            None => JoinSet::new(),
        };
        Ok(Self {
            number: record.number,
            name,
            hash: record.key,
            from: record.from,
            service,
            changes,
            turns,
            delivered: Mutex::new(Delivered {
                games: record.games_delivered,
                confirmed: record.games_confirmed,
                ..Delivered::default()
            }),
            player: RwLock::new(Some(handle)),
            dialled: Mutex::new(dialled),
        })
    }

    pub(super) fn delivered(&self) -> MutexGuard<'_, Delivered> {
        self.delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The player's state, with the games after the first `after`; `None` if it has stopped.
    pub(super) async fn state(&self, after: u32) -> Option<PlayerState> {
        self.player
            .read()
            .await
            .as_ref()?
            .inspect(move |player| player_state(player, after))
            .await
    }

    pub(super) async fn is_over(&self) -> bool {
        let player = self.player.read().await;
        let Some(player) = &*player else { return true };
        player
            .inspect(|player| player.durable().league_closed())
            .await
            .unwrap_or(true)
    }

    pub(super) async fn close(&self) {
        if let Some(player) = self.player.write().await.take() {
            // A failure is in its log already.
            let _ = player.shutdown().await;
        }
        self.dialled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .abort_all();
    }
}

fn player(settings: &SeatSettings, name: &DisplayName, home: &str) -> Result<Player, OpenError> {
    let unfit = |what: &str| OpenError::Unfit(what.to_owned());
    let own = player::PlayerSettings {
        manager: settings.manager.clone(),
        contact_endpoint: Endpoint::parse(home).map_err(|_| unfit(home))?,
        display_name: name.clone(),
        version: Version::parse(env!("CARGO_PKG_VERSION")).map_err(|_| unfit("the version"))?,
        game_types: GAMES.iter().map(|game| GameType::new(game.name)).collect(),
        strategy: None,
    };
    Ok(match settings.fallback {
        Some(entry) => Player::with_external_decider(own, entry.build(), THINK_TIME),
        None => {
            Player::with_external_decider(own, Box::new(NoStrategy), THINK_TIME).without_fallback()
        }
    })
}

/// The strategy of a player without a fallback; it is never asked.
#[derive(Debug)]
struct NoStrategy;

impl Strategy for NoStrategy {
    fn choose(&self, _turn: &Turn<'_>, _entropy: &mut Entropy) -> Value {
        Value::Null
    }
}

fn player_state(player: &Player, after: u32) -> PlayerState {
    let durable = player.durable();
    let overall = player.history().overall();
    let wanted = usize::try_from(overall.played().saturating_sub(after)).unwrap_or(usize::MAX);
    let skipped = overall
        .games()
        .len()
        .saturating_sub(wanted.min(GAMES_SHOWN_MAX));
    let fallbacks = durable.fallbacks();
    let games = overall.games().skip(skipped);
    let open = durable
        .matches()
        .filter(|(_, known)| !known.finished && !known.invitations.is_empty());
    PlayerState {
        identity: player.identity().cloned(),
        registration: player.registration_state().clone(),
        is_over: durable.league_closed(),
        played: overall.played(),
        record: overall.record(),
        fallbacks: fallbacks.count,
        games: games
            .map(|game| GameReport::of(game, fallbacks.in_match.get(&game.match_id)))
            .collect(),
        invited: open
            .map(|(match_id, known)| OpenMatch {
                match_id: match_id.clone(),
                round_id: known.round_id,
                game_type: known.game_type.clone(),
                opponent_id: known.opponent_id.clone(),
                role: known.role,
            })
            .collect(),
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat")
            .field("number", &self.number)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
