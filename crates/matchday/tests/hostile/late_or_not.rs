//! Players that answer at chosen moments around their deadline, and what can be known for certain of each answer: whether
//! it was there in good time, or cannot have been. They live in a thread of their own, so that the agents' work does
//! not delay them.

use crate::wire::{Asked, as_response, json_response, next_request, right_result};
use matchday_core::protocol::{MatchId, PlayerId};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep_until};

/// An answer that is there this long before its deadline must count.
pub(crate) const GOOD_TIME: Duration = Duration::from_millis(50);
/// How long the players allow for the writing itself.
const FOR_WRITING: Duration = Duration::from_millis(5);

/// When a player answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    AtOnce,
    JustInTime,
    Late,
}

impl Plan {
    fn of(player: &PlayerId) -> Self {
        let number: usize = player.as_str().trim_start_matches('P').parse().unwrap();
        match number % 4 {
            0 => Self::AtOnce,
            2 => Self::Late,
            _ => Self::JustInTime,
        }
    }
}

/// What is known of an answer to CHOOSE_PARITY_CALL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered {
    /// The referee cannot have asked before both had sent what made it ask: so its deadline is not earlier than this
    /// and the time to choose. Nor later than the time to choose after its question was here.
    both_joined: Instant,
    question_here: Instant,
    begun: Instant,
    written: Instant,
    choice: Duration,
}

impl Answered {
    pub(crate) fn surely_in_good_time(&self) -> bool {
        self.written + GOOD_TIME <= self.both_joined + self.choice
    }

    pub(crate) fn surely_late(&self) -> bool {
        self.begun >= self.question_here + self.choice
    }

    /// How exactly the deadline is known.
    pub(crate) fn doubt(&self) -> Duration {
        self.question_here - self.both_joined
    }
}

#[derive(Debug)]
struct Script {
    choice: Duration,
    tokens: Mutex<BTreeMap<PlayerId, String>>,
    /// When the later of the two players of a match was about to join it.
    joined: Mutex<BTreeMap<MatchId, Instant>>,
    answers: Mutex<BTreeMap<PlayerId, Answered>>,
}

/// The players of one league.
pub(crate) struct Players {
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
    runtime: Option<Runtime>,
}

impl Players {
    /// Players that know that they have `choice` to choose.
    pub(crate) fn wait(choice: Duration) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        let script = Arc::new(Script {
            choice,
            tokens: Mutex::default(),
            joined: Mutex::default(),
            answers: Mutex::default(),
        });
        let playing = Arc::clone(&script);
        runtime.spawn(async move {
            let listener = TcpListener::from_std(socket).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(Arc::clone(&playing).converse(stream));
            }
        });
        Self { address, script, runtime: Some(runtime) }
    }

    pub(crate) fn know(&self, player: PlayerId, token: String) {
        self.script.tokens.lock().unwrap().insert(player, token);
    }

    pub(crate) fn answers(&self) -> BTreeMap<PlayerId, Answered> {
        self.script.answers.lock().unwrap().clone()
    }
}

impl Drop for Players {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Script {
    async fn converse(self: Arc<Self>, mut stream: TcpStream) {
        while let Some(asked) = next_request(&mut stream).await {
            let question_here = Instant::now();
            let player = PlayerId::new(asked.text("player_id"));
            let token = self.tokens.lock().unwrap().get(&player).cloned().unwrap_or_default();
            let answer = json_response(&as_response(&asked, &right_result(&asked, &token)).to_string());
            if asked.is("CHOOSE_PARITY_CALL") {
                self.choose(&mut stream, &asked, player, question_here, &answer).await;
                continue;
            }
            if asked.is("GAME_INVITATION") {
                let mut joined = self.joined.lock().unwrap();
                joined.insert(MatchId::new(asked.text("match_id")), Instant::now());
            }
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    async fn choose(
        &self,
        stream: &mut TcpStream,
        asked: &Asked,
        player: PlayerId,
        question_here: Instant,
        answer: &[u8],
    ) {
        let both_joined = self.joined.lock().unwrap()[&MatchId::new(asked.text("match_id"))];
        match Plan::of(&player) {
            Plan::AtOnce => {}
            Plan::JustInTime => sleep_until(both_joined + self.choice - GOOD_TIME - FOR_WRITING).await,
            Plan::Late => sleep_until(question_here + self.choice).await,
        }
        let begun = Instant::now();
        // Nobody may be listening any more.
        let _ = stream.write_all(answer).await;
        let written = Instant::now();
        let answered = Answered { both_joined, question_here, begun, written, choice: self.choice };
        self.answers.lock().unwrap().insert(player, answered);
    }
}
