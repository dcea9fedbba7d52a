//! Seats in a league for those who cannot be called: clients of the Model Context Protocol, and so language models. Each
//! seat is a player of ours that accepts invitations by itself and asks whoever holds the seat for every choice.
//!
//! A seat has no socket of its own. All are called at one address, under `/seats/NUMBER/mcp`; whoever holds one proves it
//! by its key, which is told once and kept only as a hash.
//!
//! - `tools`, `words`: what a client can call, and what it is told; `guest`: one client, and the seats it holds
//! - `one`: a seat; `turns`: the choices it owes; `waiting`: what there is to tell; `table`: what the manager knows
//! - `book`: which seats there are, on disk; `server`, `hall`, `prompt`: a process that has nothing but seats

mod book;
mod guest;
mod hall;
mod one;
mod prompt;
mod server;
mod table;
mod tools;
mod turns;
mod waiting;
mod words;

pub(crate) use guest::Guest;
pub use hall::{Hall, serve};
pub(crate) use prompt::HOW_TO_PLAY;

use crate::net::address_group;
use crate::net::answer::bare;
use crate::net::server::Answer;
use crate::shell::{NoEntropy, Options, StartError, entropy_from_system};
use crate::store::Store;
use book::{Book, Kept, SeatEvent};
use guest::Trouble;
use hyper::body::Incoming;
use hyper::{Request, StatusCode, Uri};
use matchday_core::entropy::Entropy;
use matchday_core::player::strategy::StrategyEntry;
use matchday_core::protocol::{DisplayName, Endpoint, ErrorCode, Token};
use one::{Seat, Seating};
use sha2::{Digest, Sha256};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Under which the seats are called.
const SEATS: &str = "/seats/";

#[derive(Debug, Clone)]
pub struct Settings {
    pub manager: Endpoint,
    /// Where the address that the seats share is reached: `http://localhost:8201/mcp`.
    pub home: Endpoint,
    /// How many seats there may be.
    pub seats_max: usize,
    /// How many of them may be opened from one address. `None`: a quarter of them, and any number from this machine itself.
    pub seats_per_address: Option<usize>,
    /// What chooses when whoever holds a seat does not, in time. Without it the match is forfeited.
    pub fallback: Option<&'static StrategyEntry>,
}

/// All seats at one address.
#[derive(Debug)]
pub struct Seats {
    settings: Settings,
    address: SocketAddr,
    options: Options,
    book: Book,
    open: Mutex<BTreeMap<u32, Arc<Seat>>>,
    /// The number of the next seat. Seats are opened one by one, so that there are never too many.
    next: tokio::sync::Mutex<u32>,
    entropy: Mutex<Entropy>,
    closing: watch::Sender<bool>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
    #[error("{0:?} is not what a seat can go by: check --advertise")]
    Unfit(String),
}

impl Seats {
    /// All seats that the store knows, taken up where they were left. `address` is that of the socket whose requests
    /// will be handed to [`Seats::answer`].
    pub fn open(
        settings: Settings,
        address: SocketAddr,
        store: Store,
        options: Options,
    ) -> Result<Arc<Self>, OpenError> {
        let (book, kept, next) = Book::read(store, options.clock)?;
        let seats = Self {
            settings,
            address,
            options,
            book,
            open: Mutex::default(),
            next: tokio::sync::Mutex::new(next),
            entropy: Mutex::new(entropy_from_system()?),
            closing: watch::Sender::new(false),
        };
        for kept in kept {
            let number = kept.number;
            let seat = Arc::new(seats.take_up(kept, None)?);
            seats.all().insert(number, seat);
        }
        Ok(Arc::new(seats))
    }

    fn take_up(&self, kept: Kept, join_code: Option<Token>) -> Result<Seat, OpenError> {
        // As it was taken: an earlier version took more characters.
        let name = DisplayName::try_from(SmolStr::new(&kept.name))
            .map_err(|_| OpenError::Unfit(kept.name.clone()))?;
        let options = Options { entropy: entropy_from_system()?, ..self.options.clone() };
        let seat = Seating { name, kept, join_code };
        Seat::take_up(&self.settings, self.address, seat, self.book.store(), options)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Arc<Seat>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, number: u32) -> Option<Arc<Seat>> {
        self.all().get(&number).cloned()
    }

    fn by_key(&self, key: &str) -> Option<Arc<Seat>> {
        let hash = hash(key);
        self.all().values().find(|seat| seat.hash == hash).cloned()
    }

    fn named(&self, name: &DisplayName) -> Option<Arc<Seat>> {
        let same = |seat: &&Arc<Seat>| seat.name.raw().eq_ignore_ascii_case(name.raw());
        self.all().values().find(same).cloned()
    }

    /// Opens a seat, and gives back its key with it.
    async fn new_seat(
        &self,
        name: DisplayName,
        peer: IpAddr,
        join_code: Option<Token>,
    ) -> Result<(Arc<Seat>, String), Trouble> {
        let from = address_group(peer);
        let mut next = self.next.lock().await;
        if *self.closing.borrow() {
            return Err(Trouble::stopping());
        }
        // Of two with one name nobody could say who is who; one that has played its league is in nobody's way.
        if let Some(other) = self.named(&name) {
            if !other.is_over().await {
                let why = format!(
                    "a seat of the name {:?} is taken here: if it is yours, call join_league with its \"seat\"; \
                     if not, choose another name",
                    name.escaped()
                );
                return Err(Trouble::new(ErrorCode::InvalidState, why));
            }
            self.give_up(&other).await?;
        }
        self.check_address(from).await?;
        self.make_room().await?;
        let bits = self.entropy.lock().unwrap_or_else(PoisonError::into_inner).bytes::<16>();
        let key = format!("seat_{}", hex::encode(bits));
        let kept =
            Kept { number: *next, name: name.raw().to_owned(), key: hash(&key), told: 0, from: Some(from) };
        let (name, key_hash) = (kept.name.clone(), kept.key.clone());
        let opened = SeatEvent::Opened { number: *next, name, key: key_hash, from: kept.from };
        self.book.write(&opened).await.map_err(Trouble::internal)?;
        *next += 1;
        let number = kept.number;
        let seat =
            Arc::new(self.take_up(kept, join_code).map_err(|error| Trouble::internal(error.to_string()))?);
        self.all().insert(number, Arc::clone(&seat));
        Ok((seat, key))
    }

    /// One address does not take all seats. Those whose league is over do not count.
    async fn check_address(&self, from: IpAddr) -> Result<(), Trouble> {
        let most = match self.settings.seats_per_address {
            None if from.is_loopback() => return Ok(()),
            most => most.unwrap_or(self.settings.seats_max / 4).max(1),
        };
        let all: Vec<_> = self.all().values().filter(|seat| seat.from == Some(from)).cloned().collect();
        let mut open = 0;
        for seat in all {
            open += usize::from(!seat.is_over().await);
        }
        if open < most {
            return Ok(());
        }
        let why = format!(
            "{open} seats were opened from your address, and one address may have {most}: go on in one of those, by its \
             \"seat\", or ask the operator to raise --seats-per-address"
        );
        Err(Trouble::new(ErrorCode::RateLimited, why))
    }

    /// When all seats are taken, one whose league is over makes room.
    async fn make_room(&self) -> Result<(), Trouble> {
        let all: Vec<_> = self.all().values().cloned().collect();
        if all.len() < self.settings.seats_max {
            return Ok(());
        }
        for seat in all {
            if seat.is_over().await {
                return self.give_up(&seat).await;
            }
        }
        let most = self.settings.seats_max;
        let why = format!(
            "all {most} seats are taken: try again when a league is over, or ask the operator to raise --max-seats"
        );
        Err(Trouble::new(ErrorCode::RateLimited, why))
    }

    /// Nobody sits here any more.
    async fn give_up(&self, seat: &Seat) -> Result<(), Trouble> {
        self.book.write(&SeatEvent::Closed { number: seat.number }).await.map_err(Trouble::internal)?;
        self.all().remove(&seat.number);
        seat.close().await;
        Ok(())
    }

    /// Why nobody can take a seat, in words for people.
    fn lacks(&self) -> Option<String> {
        let stopping = self.closing.borrow().then(|| "the seats are being closed".to_owned());
        self.book.store().trouble().or(stopping)
    }

    /// Whether this is for one of the seats.
    pub(crate) fn is_seats(uri: &Uri) -> bool {
        uri.path().starts_with(SEATS)
    }

    /// What referees and the manager ask of the player in a seat.
    pub(crate) async fn answer(&self, mut request: Request<Incoming>, peer: SocketAddr) -> Answer {
        let rest = request.uri().path().strip_prefix(SEATS).and_then(|rest| rest.split_once('/'));
        let target = rest.and_then(|(number, path)| {
            let seat = self.get(number.parse().ok()?)?;
            let path = format!("/{path}").parse::<Uri>().ok()?;
            Some((seat, path))
        });
        let Some((seat, path)) = target else {
            return bare(StatusCode::NOT_FOUND);
        };
        *request.uri_mut() = path;
        Arc::clone(&seat.door).answer(request, peer).await
    }

    /// Ends every wait, and shuts every player down.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let _nobody_opens = self.next.lock().await;
        let all: Vec<_> = self.all().values().cloned().collect();
        for seat in all {
            seat.close().await;
        }
    }
}

/// As which a key is kept.
fn hash(key: &str) -> String {
    hex::encode(Sha256::digest(key))
}

/// Where the player of a seat is called.
fn contact(home: &Endpoint, number: u32) -> String {
    let home = home.raw();
    let base = home.strip_suffix("/mcp").unwrap_or(home).trim_end_matches('/');
    format!("{base}{SEATS}{number}/mcp")
}
