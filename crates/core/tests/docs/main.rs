//! The examples of the protocol's pages are the golden files, word for word, and their tables say what the program does. To write
//! the examples anew after a change: `UPDATE_DOCS=1 cargo test -p matchday-core --test docs -- --test-threads 1`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may panic"
)]

mod fields;

use matchday_core::fair;
use matchday_core::game::GAMES;
use matchday_core::league::{Format, TieBreak, checkpoint_origin};
use matchday_core::protocol::decode::{Conformance::Strict, Limits};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::request::{Requests, read_requests};
use matchday_core::protocol::error::ErrorCode;
use matchday_core::protocol::messages::{GameDetails, GameResult};
use matchday_core::protocol::methods::{Method, MethodParams, Party, Query};
use matchday_core::protocol::rights::{Right, who_may};
use matchday_core::protocol::token::{Direction, Token};
use matchday_core::protocol::{Attempt, Body, LeagueId, MatchId, MessageType, PlayerId};
use matchday_core::referee_statement::{AttemptRef, Statement, result_text};
use matchday_core::signature::SigningKey;
use matchday_core::signed_note::SignedNote;
use matchday_testkit::golden::exchanges::{self, named};
use matchday_testkit::golden::read_body;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- example: ";
const END: &str = "<!-- end -->";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// A page of the documentation.
fn read(page: &str) -> String {
    fs::read_to_string(docs().join(page)).unwrap()
}

/// The pages of the protocol.
fn pages() -> Vec<String> {
    fs::read_dir(docs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("protocol") && name.ends_with(".md"))
        .collect()
}

/// The page with every example written anew, and the examples that are on it in their order.
fn rewritten(page: &str) -> (String, Vec<String>) {
    let mut out = String::new();
    let mut shown = Vec::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").expect("a marker ends its line");
        let (_, after) = after
            .split_once(END)
            .unwrap_or_else(|| panic!("example {name} has no end"));
        shown.push(name.to_owned());
        let example = named(name);
        let id = shown.len();
        let request = example.request(id);
        let response = example.response(id);
        out.push_str(&format!(
            "{before}{BEGIN}{name} -->\n```json\n{request}```\n\n```json\n{response}```\n{END}"
        ));
        rest = after;
    }
    out.push_str(rest);
    (out, shown)
}

#[test]
fn the_pages_show_the_golden_exchanges_as_they_are() {
    for page in pages() {
        let before = read(&page);
        let (after, _) = rewritten(&before);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(docs().join(page), after).unwrap();
            continue;
        }
        let stale = before
            .lines()
            .zip(after.lines())
            .find(|(old, new)| old != new);
        assert!(
            before == after,
            "docs/{page} is stale, at {stale:?}: UPDATE_DOCS=1 cargo test -p matchday-core --test docs"
        );
    }
}

#[test]
fn every_golden_exchange_is_on_the_pages_once() {
    let mut shown: Vec<_> = pages()
        .iter()
        .flat_map(|page| rewritten(&read(page)).1)
        .collect();
    shown.sort();
    let all: Vec<_> = exchanges::all()
        .into_iter()
        .map(|exchanged| exchanged.name)
        .collect();
    assert_eq!(shown, all);
}

#[test]
fn the_page_shows_every_message() {
    let kind = |value: &Value| value["message_type"].as_str().and_then(MessageType::parse);
    let shown: BTreeSet<_> = exchanges::all()
        .iter()
        .map(|exchanged| exchanged.parsed(1))
        .flat_map(|(request, response)| [kind(&request["params"]), kind(&response["result"])])
        .flatten()
        .collect();
    let all: BTreeSet<_> = MessageType::ALL.iter().copied().collect();
    assert_eq!(shown, all);
}

#[test]
fn every_shown_message_is_strictly_right_but_the_one_that_is_refused() {
    for exchanged in exchanges::all() {
        let (request, response) = exchanged.parsed(1);
        for message in [&request["params"], &response["result"]] {
            if message.get("message_type").is_none() {
                continue;
            }
            let read = read_body(message, Strict);
            if exchanged.name == "register_player-refused" && message == &request["params"] {
                assert_eq!(read.unwrap_err().code, ErrorCode::MissingField);
            } else {
                read.unwrap_or_else(|error| panic!("{}: {error}", exchanged.name));
            }
        }
    }
}

#[test]
fn every_shown_request_is_in_the_standard_dialect() {
    for exchanged in exchanges::all() {
        let body = exchanged.request(1);
        let requests = read_requests(body.as_bytes(), &Limits::AGENT);
        let Requests::One(request) = requests else {
            panic!("{}: {requests:?}", exchanged.name)
        };
        assert_eq!(request.dialect, Dialect::Standard, "{}", exchanged.name);
        let (request, _) = exchanged.parsed(1);
        if let Some(kind) = request["params"]["message_type"].as_str() {
            assert_eq!(
                MessageType::parse(kind).unwrap().method(),
                exchanged.method().name
            );
        }
    }
}

/// Holds a table against the page that has it between two comments, or writes it there.
fn assert_table(page: &str, mark: &str, table: &str) {
    let page_before = read(page);
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end {mark} -->"));
    let (before, rest) = page_before
        .split_once(&begin)
        .expect("the page has a place for the table");
    let (_, after) = rest.split_once(&end).expect("which has an end");
    let page_after = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(docs().join(page), page_after).unwrap();
        return;
    }
    assert!(
        page_before == page_after,
        "docs/{page} is stale: UPDATE_DOCS=1 cargo test -p matchday-core --test docs"
    );
}

/// Every message that some agent takes, with whom each agent takes it from.
fn table_of_rights() -> String {
    let mut table = String::from(
        "| Message | at the manager | at a referee | at a player |\n| --- | --- | --- | --- |\n",
    );
    for message in MessageType::ALL {
        let rights = Party::ALL.map(|party| who_may(party, *message));
        if rights.iter().any(|right| *right != Right::Nobody) {
            table.push_str(&format!(
                "| {message} | {} |\n",
                rights.map(Right::words).join(" | ")
            ));
        }
    }
    table.replace("|  |", "| |").replace("|  |", "| |")
}

#[test]
fn the_page_shows_who_may_send_what() {
    assert_table("protocol-tokens.md", "rights", &table_of_rights());
}

#[test]
fn the_page_has_every_error_code() {
    let mut table = String::from("| Code | Name | Again | Meaning |\n| --- | --- | --- | --- |\n");
    for code in ErrorCode::ALL {
        let again = if code.retryable() { "yes" } else { "no" };
        table.push_str(&format!(
            "| {} | {} | {again} | {} |\n",
            code.code(),
            code.name(),
            code.prose()
        ));
    }
    assert_table("protocol-errors.md", "codes", &table);
}

#[test]
fn the_page_names_every_method_and_who_serves_it() {
    let page = read("protocol.md");
    for method in Method::all() {
        let name = format!("`{}`", method.name);
        assert!(page.contains(&name), "{name}");
        let MethodParams::Message(_) = method.params else {
            continue;
        };
        let row = page
            .lines()
            .find(|line| line.starts_with("| ") && line.contains(&name));
        let row = row.unwrap_or_else(|| panic!("no row for {name}"));
        for party in Party::ALL {
            let told = row.rsplit('|').nth(1).unwrap().contains(party.name());
            assert_eq!(told, method.is_served_by(party), "{row}");
        }
        assert!(
            method
                .also
                .iter()
                .all(|other| page.contains(&format!("`{other}`"))),
            "{row}"
        );
    }
}

/// The names of values as they are written on the wire.
fn names<T: serde::Serialize>(values: &[T]) -> Vec<String> {
    let name = |value| serde_json::to_value(value).unwrap();
    values
        .iter()
        .map(|value| name(value).as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_pages_have_a_row_for_each_dialect_format_rule_query_and_game() {
    let queries = Query::types().map(|(_, name)| name.to_owned()).collect();
    let games = GAMES.iter().map(|game| game.name.to_owned()).collect();
    let lists: [(&str, Vec<String>); 5] = [
        ("protocol-dialects.md", names(&Dialect::ALL)),
        ("protocol-formats.md", names(&Format::ALL)),
        ("protocol-formats.md", names(&TieBreak::ALL)),
        ("protocol-queries.md", queries),
        ("protocol-messages.md", games),
    ];
    for (page, names) in lists {
        let text = read(page);
        for name in names {
            let row = format!("\n| `{name}`");
            assert!(text.contains(&row), "docs/{page} has no row for {name}");
        }
    }
}

/// What the page says one can recompute from the two league tokens that it gives away.
#[test]
fn the_tokens_and_the_draw_of_the_examples_are_real() {
    let league = LeagueId::new("league_2025_even_odd");
    let match_id = MatchId::new("R1M1");
    let owners = [("A", "p01", "0"), ("B", "p02", "1")].map(|(side, owner, digit)| {
        (
            side,
            Token::new(format!("tok_{owner}_{}", digit.repeat(64))).hash(),
        )
    });
    let told = named("notify_round-player").parsed(1).0;
    assert_eq!(
        told["params"]["auth_token"],
        owners[0].1.notice_token(&league).reveal()
    );
    let briefing = &named("notify_round-referee").parsed(1).0["params"]["matches"][0];
    for (side, hash) in &owners {
        for (key, direction) in [
            ("to_player", Direction::RefereeToPlayer),
            ("from_player", Direction::PlayerToReferee),
        ] {
            let token = hash.match_token(&league, &match_id, Attempt::FIRST, direction);
            assert_eq!(
                briefing[format!("player_{side}_tokens")][key],
                token.reveal(),
                "{side} {key}"
            );
        }
    }
    let over = read_body(&named("notify_match_result").parsed(1).0["params"], Strict).unwrap();
    let Body::GameOver(over) = over else {
        panic!("{over:?}")
    };
    let GameResult {
        fairness, details, ..
    } = over.game_result.clone();
    let a = PlayerId::new("P01");
    let b = PlayerId::new("P02");
    let reveal = fairness.unwrap();
    let mut dice = fair::verify(&reveal, &league, &match_id, Attempt::FIRST, &a, &b).unwrap();
    let GameDetails::Parity(details) = details else {
        panic!()
    };
    assert_eq!(
        details.drawn_number.map(u32::from),
        Some(dice.uniform(1..=10))
    );
}

#[test]
fn what_referee_and_manager_have_signed_in_the_examples_is_real() {
    let league_id = LeagueId::new("league_2025_even_odd");
    let match_id = MatchId::new("R1M1");
    let [referee, manager] = [3, 4].map(|byte| SigningKey::from_seed([byte; 32]).public_key());
    let shown = |name: &str, path: &str| {
        named(name).parsed(1).0["params"]
            .pointer(path)
            .cloned()
            .unwrap()
    };
    assert_eq!(
        shown("register_referee", "/referee_meta/public_key"),
        referee.to_string()
    );
    assert_eq!(
        shown("notify_round-player", "/matches/0/referee_public_key"),
        referee.to_string()
    );
    assert_eq!(
        named("register_player").parsed(1).1["result"]["manager_public_key"],
        manager.to_string()
    );
    let about = AttemptRef {
        league_id: &league_id,
        match_id: &match_id,
        attempt: Attempt::FIRST,
    };
    let body = |name: &str| read_body(&named(name).parsed(1).0["params"], Strict).unwrap();
    let (Body::GameInvitation(invitation), Body::GameOver(over)) =
        (body("handle_game_invitation"), body("notify_match_result"))
    else {
        panic!("these are their examples")
    };
    let commitment = Statement::Commitment(invitation.draw_commitment.as_ref().unwrap());
    assert!(about.is_signed(
        &referee,
        commitment,
        &invitation.commitment_signature.unwrap()
    ));
    let text = result_text(&over.game_result);
    assert!(about.is_signed(&referee, Statement::Result(&text), &over.signature.unwrap()));
    for name in ["notify_round_completed", "notify_league_completed"] {
        let note = SignedNote::parse(shown(name, "/checkpoint").as_str().unwrap()).unwrap();
        assert!(
            note.is_signed_by(&checkpoint_origin(&league_id), &manager),
            "{name}"
        );
    }
}
