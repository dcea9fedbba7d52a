//! Embeds a league manager without Matchday's runtime: one JSON-RPC request a line on standard input, one response a line on
//! standard output, and no network, disk or simulator.
//!
//! ```sh
//! cargo run -p matchday-core --no-default-features --example embed < requests.jsonl
//! ```

use matchday_core::agent::{DecodeHints, Input, Request, RequestId};
use matchday_core::driver::{Arrival, Driver};
use matchday_core::entropy::Entropy;
use matchday_core::league::{LeagueSettings, Manager};
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::decode::Reading;
use matchday_core::protocol::dialect::decode_wire;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::{Requests, read_requests};
use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::time::{SystemTime, UNIX_EPOCH};

fn now() -> Timestamp {
    Timestamp::EPOCH
        + SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    let manager = Manager::new(LeagueSettings::default());
    let (conformance, limits) = manager.reading();
    // A real manager seeds this from the system.
    let mut driver = Driver::new(manager, Entropy::numbered(1), now(), None);
    let mut log = Vec::new();
    for batch in driver.wake(now())? {
        log.extend(batch.lines);
    }
    for (number, line) in (1..).zip(stdin().lines()) {
        let line = line?;
        let Requests::One(received) = read_requests(line.as_bytes(), &limits) else {
            writeln!(
                stdout(),
                "{{\"error\":\"line {number} is no JSON-RPC request\"}}"
            )?;
            continue;
        };
        let reading = Reading {
            conformance,
            now: now(),
            limits,
            exchange: None,
            about: None,
        };
        let dialect = received.dialect;
        let reply_to = received.reply_to;
        let Some(ask) = decode_wire::ask(received.asked, &reading) else {
            writeln!(
                stdout(),
                "{{\"error\":\"line {number} names an unknown method\"}}"
            )?;
            continue;
        };
        let id = RequestId(number);
        let request = Request {
            id,
            ask,
            dialect,
            local: true,
            objection: None,
            client: None,
            join_code: None,
        };
        for batch in driver.arrive(now(), Arrival::new(now(), Input::Request(request)))? {
            // The rule: store the lines durably, and only then send.
            log.extend(batch.lines);
            for reply in batch.when_durable.replies {
                let body = HttpReply::one(write_reply(&reply_to, dialect, &reply.content)).body;
                writeln!(stdout(), "{}", String::from_utf8_lossy(&body))?;
            }
        }
    }
    writeln!(stdout(), "{} events in the log", log.len())?;
    Ok(())
}
