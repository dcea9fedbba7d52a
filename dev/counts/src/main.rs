//! The hot paths of the core, each in a function of its own, so that `check` can count their instructions with
//! callgrind. A separate crate, because it is an optimised build without dev-dependencies.
//!
//! `main` prints how often each function is called; the input is the same on every machine.

use matchday_benchmark_league::BenchmarkLeague;
use matchday_benchmark_league::START;
use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::decode::{Conformance, Limits, Reading};
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{ReplyTo, Requests, read_requests};
use matchday_core::protocol::dialect::{Dialect, decode_wire};
use matchday_core::protocol::jsonrpc::Id;
use matchday_core::protocol::messages::{Shared, StandingRow};
use matchday_core::protocol::{Message, Timestamp};
use std::error::Error;
use std::hint::black_box;

/// The message types of one match.
const OF_A_MATCH: [&str; 5] = [
    "MATCH_ASSIGNMENT",
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_OVER",
    "MATCH_RESULT_REPORT",
];

/// Enough rounds of a league of 99 to measure a result; callgrind is slow.
const ROUNDS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let exchanges = exchanges()?;
    let written: Vec<_> = exchanges
        .iter()
        .map(|(message, answer)| encode(message, answer))
        .collect();
    println!("encode {}", exchanges.len());

    for (request, answer) in &written {
        let (ask, told) = decode(request, answer);
        assert!(
            matches!(ask, Some(Ask::Message(Ok(_)))),
            "a request of our own is not understood"
        );
        assert!(
            matches!(told, Answer::Message(Ok(_)) | Answer::Received),
            "nor an answer: {told:?}"
        );
    }
    println!("decode {}", written.len());

    let mut league = BenchmarkLeague::gather(16, 2)?;
    println!("play {}", play(&mut league));

    let mut large = BenchmarkLeague::gather(99, 10)?;
    let registered = large.league().map(|league| league.players.len());
    assert_eq!(registered, Some(99));
    let (applied, tables) = retell(&mut large);
    println!("apply_result {applied}\nstandings {tables}");
    Ok(())
}

/// The exchanges of a few matches.
fn exchanges() -> Result<Vec<(Message, Content)>, Box<dyn Error>> {
    let mut exchanges = Vec::new();
    BenchmarkLeague::gather(4, 1)?.play_showing(|said| {
        if OF_A_MATCH.contains(&said.message.message_type().name()) {
            exchanges.push((said.message.clone(), said.answer.clone()));
        }
    });
    Ok(exchanges)
}

/// Encodes a request and its answer.
#[inline(never)]
fn encode(message: &Message, answer: &Content) -> (Vec<u8>, Vec<u8>) {
    let request = write_call(Dialect::Standard, 7, message);
    let reply = write_reply(&ReplyTo::Id(Id::from(7)), Dialect::Standard, answer);
    (request, HttpReply::one(reply).body)
}

/// Decodes a request and its answer.
#[inline(never)]
fn decode(request: &[u8], answer: &[u8]) -> (Option<Ask>, Answer) {
    let limits = Limits::AGENT;
    let reading = Reading {
        conformance: Conformance::Strict,
        now: START,
        limits,
        exchange: None,
        about: None,
    };
    let ask = match read_requests(request, &limits) {
        Requests::One(request) => decode_wire::ask(request.asked, &reading),
        Requests::Refused(_) | Requests::Batch(_) => None,
    };
    (
        ask,
        decode_wire::answer(read_answer(200, answer, &limits), &reading),
    )
}

/// All three state machines with all their messages in a league. Returns the number of matches.
#[inline(never)]
fn play(league: &mut BenchmarkLeague) -> u32 {
    league.play()
}

/// Replays the events of a league of 99. Returns the numbers of results and standings.
fn retell(large: &mut BenchmarkLeague) -> (usize, usize) {
    let Some(mut league) = large.league().cloned() else {
        return (0, 0);
    };
    let mut applied = 0;
    let mut tables = 0;
    for (at, event) in large.play_keeping(ROUNDS) {
        if matches!(event, LeagueEvent::MatchDecided { .. }) {
            apply_result(&mut league, at, &event);
            applied += 1;
        } else {
            league.apply(at, &event);
        }
        if matches!(event, LeagueEvent::RoundCompleted { .. }) {
            black_box(standings(&league));
            tables += 1;
        }
    }
    (applied, tables)
}

#[inline(never)]
fn apply_result(league: &mut League, at: Timestamp, event: &LeagueEvent) {
    league.apply(at, event);
}

#[inline(never)]
fn standings(league: &League) -> Shared<StandingRow> {
    league.rows()
}
