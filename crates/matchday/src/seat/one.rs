//! One seat: its player, which is called through a door of its own, and the turns it owes.

use super::book::Kept;
use super::turns::{Holder, Turns};
use super::words::Game;
use super::{OpenError, Settings, contact};
use crate::shell::{self, Door, Handle, Hosted, Options, Start};
use crate::store::{Store, Stream};
use matchday_core::enrol::{Enrolment, Identity};
use matchday_core::entropy::Entropy;
use matchday_core::game::GAMES;
use matchday_core::player::{self, Player, Strategy, Turn};
use matchday_core::protocol::messages::{Record, Role};
use matchday_core::protocol::{DisplayName, Endpoint, GameType, MatchId, PlayerId, RoundId, Token, Version};
use serde_json::Value;
use smol_str::SmolStr;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{RwLock, watch};

/// The referee's own deadline is what ends a thought; this only keeps it from being endless.
const THINK_TIME: Duration = Duration::from_secs(60 * 60);
/// How many results are told at once.
const GAMES_TOLD_MAX: usize = 100;

pub(super) struct Seat {
    pub(super) number: u32,
    pub(super) name: DisplayName,
    /// Of its key.
    pub(super) hash: String,
    /// The address that it was opened from, if that is known.
    pub(super) from: Option<IpAddr>,
    pub(super) door: Arc<Door>,
    pub(super) changes: watch::Receiver<u64>,
    pub(super) turns: Arc<Turns>,
    pub(super) told: Mutex<Told>,
    /// `None` once it is closed.
    player: RwLock<Option<Handle<Player>>>,
}

/// Who takes a seat.
pub(super) struct Seating {
    pub(super) name: DisplayName,
    pub(super) kept: Kept,
    /// What it registers with. It is not kept: once registered, the seat has a token.
    pub(super) join_code: Option<Token>,
}

/// How much of what has happened its holder knows.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) games: u32,
    pub(super) invitation: Option<MatchId>,
}

/// A player as it stands.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) identity: Option<Identity<PlayerId>>,
    pub(super) enrolment: Enrolment,
    pub(super) is_over: bool,
    /// How many games there have been altogether.
    pub(super) played: u32,
    pub(super) record: Record,
    /// How often the fallback chose.
    pub(super) fallbacks: u32,
    /// The last games, oldest first.
    pub(super) games: Vec<Game>,
    pub(super) invited: Vec<Invited>,
}

/// A match that we have accepted, and that is not over.
#[derive(Debug, Clone)]
pub(super) struct Invited {
    pub(super) match_id: MatchId,
    pub(super) round_id: Option<RoundId>,
    pub(super) game_type: Option<GameType>,
    pub(super) opponent_id: Option<PlayerId>,
    pub(super) role: Option<Role>,
}

impl Seat {
    pub(super) fn take_up(
        settings: &Settings,
        address: SocketAddr,
        seating: Seating,
        store: &Store,
        options: Options,
    ) -> Result<Self, OpenError> {
        let Seating { name, kept, join_code } = seating;
        let turns = Turns::new();
        let home = contact(&settings.home, kept.number);
        let mut player = player(settings, &name, &home)?.with_join_code(join_code);
        let stream = Stream(format!("player/seat-{}", kept.number).into());
        let watch = shell::watch(&player, &options);
        shell::replay(&mut player, store, &stream, &watch)?;
        // Whoever has played a league to its end does not enter the next one unasked.
        let start = Start { address, home, wakes: !player.durable().league_closed(), watch };
        let options = Options { mind: Some(Arc::new(Holder(Arc::clone(&turns)))), ..options };
        let Hosted { handle, door, changes } = shell::host(player, start, store.clone(), stream, options);
        Ok(Self {
            number: kept.number,
            name,
            hash: kept.key,
            from: kept.from,
            door,
            changes,
            turns,
            told: Mutex::new(Told { games: kept.told, invitation: None }),
            player: RwLock::new(Some(handle)),
        })
    }

    /// The player as it stands, with the games after the first `after`; `None` if it has stopped.
    pub(super) async fn view(&self, after: u32) -> Option<View> {
        self.player.read().await.as_ref()?.inspect(move |player| view(player, after)).await
    }

    pub(super) async fn is_over(&self) -> bool {
        let player = self.player.read().await;
        let Some(player) = &*player else { return true };
        player.inspect(|player| player.durable().league_closed()).await.unwrap_or(true)
    }

    pub(super) async fn close(&self) {
        if let Some(player) = self.player.write().await.take() {
            // If it has failed, its journal has said so.
            let _ = player.shutdown().await;
        }
    }
}

fn player(settings: &Settings, name: &DisplayName, home: &str) -> Result<Player, OpenError> {
    let unfit = |what: &str| OpenError::Unfit(what.to_owned());
    let own = player::Settings {
        manager: settings.manager.clone(),
        contact_endpoint: Endpoint::parse(home).map_err(|_| unfit(home))?,
        display_name: name.clone(),
        version: Version::parse(env!("CARGO_PKG_VERSION")).map_err(|_| unfit("the version"))?,
        game_types: GAMES.iter().map(|game| GameType::new(game.name)).collect(),
        strategy: SmolStr::new_static("seat"),
    };
    Ok(match settings.fallback {
        Some(entry) => Player::with_outside_mind(own, entry.build(), THINK_TIME),
        None => Player::with_outside_mind(own, Box::new(Nobody), THINK_TIME).without_fallback(),
    })
}

/// Stands where a strategy must, for a player that has none to fall back on.
#[derive(Debug)]
struct Nobody;

impl Strategy for Nobody {
    fn choose(&self, _turn: &Turn<'_>, _entropy: &mut Entropy) -> Value {
        Value::Null
    }
}

fn view(player: &Player, after: u32) -> View {
    let durable = player.durable();
    let overall = player.history().overall();
    let wanted = usize::try_from(overall.played().saturating_sub(after)).unwrap_or(usize::MAX);
    let skipped = overall.games().len().saturating_sub(wanted.min(GAMES_TOLD_MAX));
    let fallbacks = durable.fallbacks();
    let games = overall.games().skip(skipped);
    let open = durable.matches().filter(|(_, known)| !known.finished && !known.invitations.is_empty());
    View {
        identity: player.identity().cloned(),
        enrolment: player.enrolment().clone(),
        is_over: durable.league_closed(),
        played: overall.played(),
        record: overall.record(),
        fallbacks: fallbacks.count,
        games: games.map(|game| Game::of(game, fallbacks.in_match.get(&game.match_id))).collect(),
        invited: open
            .map(|(match_id, known)| Invited {
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
        f.debug_struct("Seat").field("number", &self.number).field("name", &self.name).finish_non_exhaustive()
    }
}
