//! The hot paths of the core, each in a function of its own, so that `check` can have callgrind count what they cost.
//! A crate of its own, because it is built for speed and without anything that only tests need.
//!
//! Every function here is called as often as `main` prints beside its name, with the same input on every machine.

use matchday_core::agent::{Answer, Ask, Content};
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::decode::{Conformance, Limits, Reading};
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{ReplyTo, Requests, read_requests};
use matchday_core::protocol::dialect::{Dialect, seam};
use matchday_core::protocol::jsonrpc::Id;
use matchday_core::protocol::messages::{Shared, StandingRow};
use matchday_core::protocol::{Message, Timestamp};
use matchday_core::sim::START;
use matchday_core::sim::bare::BareLeague;
use std::error::Error;
use std::hint::black_box;

/// What a referee and two players say in one match, and the manager's part in it.
const OF_A_MATCH: [&str; 5] =
    ["MATCH_ASSIGNMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "MATCH_RESULT_REPORT"];

/// As many of a league of 99 as are enough to see what a result costs; callgrind takes its time.
const ROUNDS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let exchanges = exchanges()?;
    let written: Vec<_> = exchanges.iter().map(|(message, answer)| encode(message, answer)).collect();
    println!("encode {}", exchanges.len());

    for (request, answer) in &written {
        let (ask, told) = decode(request, answer);
        assert!(matches!(ask, Some(Ask::Message(Ok(_)))), "a request of our own is not understood");
        assert!(matches!(told, Answer::Message(Ok(_)) | Answer::Received), "nor an answer: {told:?}");
    }
    println!("decode {}", written.len());

    let mut league = BareLeague::gather(16, 2)?;
    println!("play {}", play(&mut league));

    let mut large = BareLeague::gather(99, 10)?;
    let registered = large.league().map(|league| league.players.len());
    assert_eq!(registered, Some(99));
    let (applied, tables) = retell(&mut large);
    println!("apply_result {applied}\nstandings {tables}");
    Ok(())
}

/// The messages of a few matches with their answers.
fn exchanges() -> Result<Vec<(Message, Content)>, Box<dyn Error>> {
    let mut exchanges = Vec::new();
    BareLeague::gather(4, 1)?.play_showing(|said| {
        if OF_A_MATCH.contains(&said.message.message_type().name()) {
            exchanges.push((said.message.clone(), said.answer.clone()));
        }
    });
    Ok(exchanges)
}

/// A request and its answer become bytes.
#[inline(never)]
fn encode(message: &Message, answer: &Content) -> (Vec<u8>, Vec<u8>) {
    let request = write_call(Dialect::Standard, 7, message);
    let reply = write_reply(&ReplyTo::Id(Id::from(7)), Dialect::Standard, answer);
    (request, HttpReply::one(reply).body)
}

/// The bytes of a request and of its answer become messages.
#[inline(never)]
fn decode(request: &[u8], answer: &[u8]) -> (Option<Ask>, Answer) {
    let limits = Limits::AGENT;
    let reading =
        Reading { conformance: Conformance::Strict, now: START, limits, exchange: None, about: None };
    let ask = match read_requests(request, &limits) {
        Requests::One(request) => seam::ask(request.asked, &reading),
        Requests::Refused(_) | Requests::Batch(_) => None,
    };
    (ask, seam::answer(read_answer(200, answer, &limits), &reading))
}

/// All three machines, with everything that they say to each other in a league. How many matches it had.
#[inline(never)]
fn play(league: &mut BareLeague) -> u32 {
    league.play()
}

/// Tells a league of 99 again from its events: how many results and tables there were.
fn retell(large: &mut BareLeague) -> (usize, usize) {
    let Some(mut league) = large.league().cloned() else { return (0, 0) };
    let (mut applied, mut tables) = (0, 0);
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
