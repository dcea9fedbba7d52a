//! The event log: whatever its lines say, an agent that is started on those it can read neither panics nor hangs, and each
//! of them is written again as it was read.

use bolero::check;
use matchday_core::agent::{Agent, Input};
use matchday_core::entropy::Entropy;
use matchday_core::event_codec;
use matchday_core::game::strategy;
use matchday_core::league::{self, Manager};
use matchday_core::player::{self, Player};
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Timestamp, Version};
use matchday_core::referee::{self, Referee};
use matchday_testkit::mutation::mutated;
use std::time::Duration;

/// Each takes in a whole log.
const RUNS: usize = crate::RUNS / 20;

/// A league of two, as its manager, its referee and a player of it kept it.
const LEAGUE: &str = include_str!("league.jsonl");
const REFEREE: &str = include_str!("referee.jsonl");
const PLAYER: &str = include_str!("player.jsonl");
/// A league with every kind of event.
const WHOLE_LEAGUE: &str = include_str!("../manager/league_v1.jsonl");

/// When the agents are started again: 2026-12-01, after all that the logs tell.
const LATER: Timestamp = Timestamp::from_micros(1_796_083_200_000_000);

/// The log with lines of it spoiled, dropped, told twice or exchanged: the first byte says where, the second what, the rest
/// how.
fn lines_of(good: &[&str], input: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = good.iter().map(|&line| line.to_owned()).collect();
    let [place, kind, rest @ ..] = input else {
        return lines;
    };
    let at = usize::from(*place) % lines.len();
    match kind % 8 {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.swap(
            at,
            rest.first().map_or(0, |&other| usize::from(other)) % good.len(),
        ),
        3 => lines.truncate(at),
        _ => lines[at] = String::from_utf8_lossy(&mutated(&good[at..=at], rest)).into_owned(),
    }
    lines
}

/// Starts the agent on what can be read of the log, and lets some time pass.
fn restarted<A: Agent>(mut agent: A, lines: &[String]) -> A {
    for line in lines {
        let Ok((at, event)) = event_codec::decode::<A::Event>(line) else {
            continue;
        };
        let written = event_codec::encode(at, &event).unwrap();
        let (at_again, again) =
            event_codec::decode::<A::Event>(&written).expect("what we write, we read");
        assert!(at_again == at && again == event, "{line}\n{written}");
        agent.apply(at, &event);
    }
    let mut entropy = Entropy::numbered(7);
    let mut now = LATER;
    let _ = agent.handle(now, &mut entropy, Input::Wake);
    for _ in 0..4 {
        let Some(deadline) = agent.deadline() else {
            break;
        };
        now = now.max(deadline).min(now + Duration::from_secs(3600));
        let _ = agent.handle(now, &mut entropy, Input::Tick);
    }
    agent
}

fn endpoint(port: u16) -> Endpoint {
    Endpoint::parse(&format!("http://localhost:{port}/mcp")).unwrap()
}

/// Otherwise a log that nobody can read would be fuzzed.
#[test]
fn every_line_of_the_logs_is_read() {
    let is_read = |line: &str| event_codec::decode::<league::LeagueEvent>(line).is_ok();
    assert!(LEAGUE.lines().chain(WHOLE_LEAGUE.lines()).all(is_read));
    assert!(
        REFEREE
            .lines()
            .all(|line| event_codec::decode::<referee::RefereeEvent>(line).is_ok())
    );
    assert!(
        PLAYER
            .lines()
            .all(|line| event_codec::decode::<player::PlayerEvent>(line).is_ok())
    );
}

#[test]
fn a_managers_log() {
    let good: Vec<&str> = LEAGUE.lines().collect();
    let whole: Vec<&str> = WHOLE_LEAGUE.lines().collect();
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let is_whole = input.last().is_some_and(|last| last % 4 == 3);
        let lines = lines_of(if is_whole { &whole } else { &good }, input);
        let manager = restarted(Manager::new(league::LeagueSettings::default()), &lines);
        let _ = manager.league().standings();
    });
}

#[test]
fn a_referees_log() {
    let good: Vec<&str> = REFEREE.lines().collect();
    let settings = referee::RefereeSettings {
        manager: endpoint(8000),
        contact_endpoint: endpoint(8001),
        display_name: DisplayName::parse("Referee 1").unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        max_concurrent_matches: 10,
        timing: Default::default(),
        bounds: matchday_core::protocol::messages::Timeouts::default(),
        conformance: Default::default(),
    };
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        drop(restarted(
            Referee::new(settings.clone()),
            &lines_of(&good, input),
        ))
    });
}

#[test]
fn a_players_log() {
    let good: Vec<&str> = PLAYER.lines().collect();
    let settings = player::PlayerSettings {
        manager: endpoint(8000),
        contact_endpoint: endpoint(8101),
        display_name: DisplayName::parse("Player 1").unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![GameType::new("even_odd")],
        strategy: None,
    };
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let player = Player::new(settings.clone(), strategy::find("pattern").unwrap().build());
        restarted(player, &lines_of(&good, input));
    });
}
