//! Players that answer at chosen moments around their deadline, and what can be known for certain of each answer: whether
//! it was there in good time, or cannot have been. They live in a thread of their own, so that the agents' work does
//! not delay them.

use crate::wire::{WireRequest, as_response, json_response, next_request, right_result};
use matchday_core::protocol::{MatchId, PlayerId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep_until};

/// An answer that is there this long before its deadline must count.
pub(crate) const GOOD_TIME: Duration = Duration::from_millis(50);

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
    /// `delay` is how long the machine has kept bytes from their reader in this run.
    pub(crate) fn surely_in_good_time(&self, delay: Duration) -> bool {
        self.written + GOOD_TIME + delay <= self.both_joined + self.choice
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
    /// How long the players allow for the writing itself.
    for_writing: Duration,
    tokens: Mutex<BTreeMap<PlayerId, String>>,
    /// When the later of the two players of a match was about to join it.
    joined: Mutex<BTreeMap<MatchId, Instant>>,
    answers: Mutex<BTreeMap<PlayerId, Answered>>,
    questions: AtomicUsize,
    /// The longest delay that [`watch_loopback`] has seen.
    delay_max_micros: AtomicU64,
    /// Where answers go by a request of their own, if not in the exchange that asks for them.
    apart: Mutex<Option<SocketAddr>>,
}

/// The players of one league.
pub(crate) struct Players {
    pub(crate) address: SocketAddr,
    script: Arc<Script>,
    runtime: Option<Runtime>,
}

impl Players {
    /// Players that know that they have `choice` to choose, and allow so much for writing.
    pub(crate) fn wait(choice: Duration, for_writing: Duration) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        let script = Arc::new(Script {
            choice,
            for_writing,
            tokens: Mutex::default(),
            joined: Mutex::default(),
            answers: Mutex::default(),
            questions: AtomicUsize::new(0),
            delay_max_micros: AtomicU64::new(0),
            apart: Mutex::default(),
        });
        let watched = Arc::downgrade(&script);
        std::thread::spawn(move || watch_loopback(&watched));
        let playing = Arc::clone(&script);
        runtime.spawn(async move {
            let listener = TcpListener::from_std(socket).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(Arc::clone(&playing).converse(stream));
            }
        });
        Self {
            address,
            script,
            runtime: Some(runtime),
        }
    }

    pub(crate) fn know(&self, player: PlayerId, token: String) {
        self.script.tokens.lock().unwrap().insert(player, token);
    }

    /// From here on choices are sent to this referee, each by a request of its own.
    pub(crate) fn answer_apart(&self, referee: SocketAddr) {
        *self.script.apart.lock().unwrap() = Some(referee);
    }

    /// A player dials out: it reads this mailbox at the relay, and posts its answers there.
    pub(crate) fn dial_out(&self, relay: SocketAddr, mailbox: String, token: String) {
        let script = Arc::clone(&self.script);
        self.runtime
            .as_ref()
            .unwrap()
            .spawn(script.converse_dialled(relay, mailbox, token));
    }

    /// How many players have been asked for their choice.
    pub(crate) fn questions(&self) -> usize {
        self.script.questions.load(Ordering::SeqCst)
    }

    pub(crate) async fn until_all_have_answered(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.answers().len() < self.questions() {
            assert!(
                Instant::now() < deadline,
                "{} of {}",
                self.answers().len(),
                self.questions()
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub(crate) fn delay_max(&self) -> Duration {
        self.script.delay_max()
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

/// Measures how long a byte takes over the loopback and a thread takes to wake up, until the players are gone. On a busy
/// machine the kernel delivers an answer that was written in good time as late as that, which is not the program's fault.
fn watch_loopback(script: &Weak<Script>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut writer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut reader, _) = listener.accept().unwrap();
    let pause = Duration::from_millis(1);
    while let Some(script) = script.upgrade() {
        let began = Instant::now();
        std::thread::sleep(pause);
        writer.write_all(b".").unwrap();
        reader.read_exact(&mut [0]).unwrap();
        let delay = u64::try_from((began.elapsed() - pause).as_micros()).unwrap();
        script.delay_max_micros.fetch_max(delay, Ordering::SeqCst);
    }
}

/// A choice as a request of its own.
fn request(choice: &Value) -> Vec<u8> {
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "choose_parity_response", "params": choice});
    post(
        "/mcp",
        "content-type: application/json\r\n",
        &call.to_string(),
    )
}

fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

impl Script {
    fn delay_max(&self) -> Duration {
        Duration::from_micros(self.delay_max_micros.load(Ordering::SeqCst))
    }

    async fn converse(self: Arc<Self>, mut stream: TcpStream) {
        while let Some(asked) = next_request(&mut stream).await {
            let question_here = Instant::now();
            let player = PlayerId::new(asked.text("player_id"));
            let token = self
                .tokens
                .lock()
                .unwrap()
                .get(&player)
                .cloned()
                .unwrap_or_default();
            let result = right_result(&asked, &token);
            let answer = json_response(&as_response(&asked, &result).to_string());
            if asked.is("CHOOSE_PARITY_CALL") {
                let apart = *self.apart.lock().unwrap();
                match apart {
                    None => {
                        self.choose(&mut stream, &asked, player, question_here, &answer)
                            .await
                    }
                    Some(referee) => {
                        let received =
                            as_response(&asked, &json!({"status": "received"})).to_string();
                        let _ = stream.write_all(&json_response(&received)).await;
                        let mut line = TcpStream::connect(referee).await.unwrap();
                        self.choose(&mut line, &asked, player, question_here, &request(&result))
                            .await;
                    }
                }
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

    /// The same over a mailbox. Each answer goes over a connection that stands before it is due.
    async fn converse_dialled(self: Arc<Self>, relay: SocketAddr, mailbox: String, token: String) {
        let bearer = format!("authorization: Bearer {token}\r\n");
        let mut lines = BufReader::new(TcpStream::connect(relay).await.unwrap());
        let get = format!(
            "GET /relay/{mailbox}/stream?client=a HTTP/1.1\r\nhost: localhost\r\n{bearer}\r\n"
        );
        lines.write_all(get.as_bytes()).await.unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n")
            && lines
                .read_line(&mut head)
                .await
                .is_ok_and(|bytes| bytes > 0)
        {}
        let mut unread = Vec::new();
        while let Some(call) = next_call(&mut lines, &mut unread).await {
            let question_here = Instant::now();
            let call: Value = serde_json::from_str(&call).unwrap();
            let body: Value = serde_json::from_str(call["body"].as_str().unwrap()).unwrap();
            let asked = WireRequest {
                id: body["id"].clone(),
                message: body["params"].clone(),
            };
            let script = Arc::clone(&self);
            let bearer = bearer.clone();
            let path = format!("/relay/{mailbox}/answers/{}", call["id"]);
            tokio::spawn(async move {
                let mut line = TcpStream::connect(relay).await.unwrap();
                let player = PlayerId::new(asked.text("player_id"));
                let token = script
                    .tokens
                    .lock()
                    .unwrap()
                    .get(&player)
                    .cloned()
                    .unwrap_or_default();
                let result = right_result(&asked, &token);
                let answer = post(&path, &bearer, &as_response(&asked, &result).to_string());
                if asked.is("CHOOSE_PARITY_CALL") {
                    script
                        .choose(&mut line, &asked, player, question_here, &answer)
                        .await;
                } else {
                    if asked.is("GAME_INVITATION") {
                        let mut joined = script.joined.lock().unwrap();
                        joined.insert(MatchId::new(asked.text("match_id")), Instant::now());
                    }
                    line.write_all(&answer).await.unwrap();
                }
                // The relay answers; closed before that, the connection would be reset and the request with it.
                let _ = line.read(&mut [0; 256]).await;
            });
        }
    }

    async fn choose(
        &self,
        stream: &mut TcpStream,
        asked: &WireRequest,
        player: PlayerId,
        question_here: Instant,
        answer: &[u8],
    ) {
        self.questions.fetch_add(1, Ordering::SeqCst);
        let both_joined = self.joined.lock().unwrap()[&MatchId::new(asked.text("match_id"))];
        match Plan::of(&player) {
            Plan::AtOnce => {}
            Plan::JustInTime => {
                // The delay may still grow until the deadline.
                let early = GOOD_TIME + self.for_writing + 2 * self.delay_max();
                sleep_until(both_joined + self.choice - early).await;
            }
            Plan::Late => sleep_until(question_here + self.choice).await,
        }
        let begun = Instant::now();
        // Nobody may be listening any more.
        let _ = stream.write_all(answer).await;
        let written = Instant::now();
        let answered = Answered {
            both_joined,
            question_here,
            begun,
            written,
            choice: self.choice,
        };
        self.answers.lock().unwrap().insert(player, answered);
    }
}

/// The next line of a stream that is not empty. It may come in several chunks.
async fn next_call(stream: &mut BufReader<TcpStream>, unread: &mut Vec<u8>) -> Option<String> {
    loop {
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            if line.len() > 1 {
                return Some(String::from_utf8(line).unwrap());
            }
        }
        let mut size = String::new();
        stream.read_line(&mut size).await.ok()?;
        let size = usize::from_str_radix(size.trim(), 16)
            .ok()
            .filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).await.ok()?;
        unread.extend_from_slice(&chunk[..size]);
    }
}
