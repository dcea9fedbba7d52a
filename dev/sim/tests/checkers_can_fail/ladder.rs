//! Ladders that pair whom they should not.

use super::player;
use matchday_core::entropy::Entropy;
use matchday_core::league::format::{Competition, DrawnRound, Format};
use matchday_core::league::{LeagueEvent, LeagueSettings, Proof, RegistrationRecord};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::PlayerMeta;
use matchday_core::protocol::token::Token;
use matchday_core::protocol::{
    DisplayName, Endpoint, GameType, PlayerId, RoundId, Timestamp, Version,
};
use matchday_sim::check::ladder::LadderRules;
use matchday_sim::{Checker, START};
use std::time::Duration;

fn created(per_hour: Option<u32>) -> LeagueEvent {
    let competition = Competition {
        matches_per_pairing: 3,
        matches_per_hour: per_hour,
        ..Competition::of(Format::Ladder)
    };
    LeagueEvent::LeagueCreated {
        settings: LeagueSettings {
            competition,
            ..LeagueSettings::default()
        },
    }
}

fn joined(number: u32) -> LeagueEvent {
    let meta = PlayerMeta {
        display_name: DisplayName::parse("Ada").expect("valid"),
        version: Version::parse("1.0.0").expect("valid"),
        game_types: vec![GameType::new("nim")],
        contact_endpoint: Endpoint::parse("http://localhost:8101/mcp").expect("valid"),
        protocol_version: None,
        public_key: None,
        strategy: None,
        capabilities: Vec::new(),
        max_matches_per_hour: None,
    };
    let token = Token::issue("P01", &mut Entropy::numbered(1)).hash();
    let dialect = Dialect::Standard;
    let request = RegistrationRecord {
        proof: Proof::Conversation(token),
        sent_at: START,
        client: None,
        renewed_by: None,
    };
    LeagueEvent::PlayerRegistered {
        player_id: player(number),
        meta,
        token,
        dialect,
        request,
    }
}

fn drawn(round: u32, stage: u32, leg: u32, pairs: &[(u32, u32)], byes: &[u32]) -> LeagueEvent {
    let pairs = pairs
        .iter()
        .map(|(a, b)| (player(*a), player(*b)))
        .collect();
    let byes: Vec<PlayerId> = byes.iter().map(|number| player(*number)).collect();
    let drawn = DrawnRound {
        title: String::new(),
        stage,
        leg,
        pairs,
        byes,
        fixed: false,
        play_off: false,
    };
    LeagueEvent::RoundDrawn {
        round_id: RoundId(round),
        drawn: drawn.into(),
    }
}

/// Four players in two rounds, with each event a minute after the one before it.
fn ladder(per_hour: Option<u32>) -> Vec<LeagueEvent> {
    let mut events = vec![created(per_hour)];
    events.extend((1..=4).map(joined));
    events.extend([
        drawn(1, 1, 1, &[(1, 2), (3, 4)], &[]),
        drawn(2, 2, 1, &[(1, 3), (2, 4)], &[]),
    ]);
    events
}

fn judge(events: &[LeagueEvent]) -> Option<Checker> {
    let mut rules = LadderRules::default();
    let at = |place: u64| -> Timestamp { START + Duration::from_secs(60 * place) };
    (0..)
        .zip(events)
        .find_map(|(place, event)| rules.take(at(place), event).err())
        .map(|fault| fault.checker)
}

fn with(events: &[LeagueEvent]) -> Option<Checker> {
    judge(&[ladder(None), events.to_vec()].concat())
}

const BROKEN: Option<Checker> = Some(Checker::LadderIsFollowed);

#[test]
fn a_ladder_that_pairs_whom_it_should_not_is_noticed() {
    assert_eq!(judge(&ladder(None)), None);
    assert_eq!(with(&[drawn(3, 3, 1, &[(1, 4), (2, 3)], &[])]), None);
    assert_eq!(
        with(&[drawn(3, 3, 1, &[(1, 3), (2, 4)], &[])]),
        BROKEN,
        "a rematch that could be avoided"
    );
    assert_eq!(
        with(&[drawn(3, 3, 1, &[(1, 4)], &[])]),
        BROKEN,
        "two are forgotten"
    );
    assert_eq!(
        with(&[drawn(3, 3, 1, &[(1, 4), (1, 3)], &[2])]),
        BROKEN,
        "two places"
    );
    assert_eq!(
        with(&[drawn(3, 3, 1, &[(1, 4)], &[2, 3])]),
        BROKEN,
        "two sit out who could meet"
    );
    let left = LeagueEvent::PlayerLeft {
        player_id: player(4),
    };
    assert_eq!(
        with(&[left.clone(), drawn(3, 3, 1, &[(1, 4), (2, 3)], &[])]),
        BROKEN,
        "it has left"
    );
    assert_eq!(with(&[left.clone(), drawn(3, 3, 1, &[(2, 3)], &[1])]), None);
    assert_eq!(
        with(&[left, joined(4), drawn(3, 3, 1, &[(1, 4), (2, 3)], &[])]),
        None,
        "and is back"
    );
    let over = LeagueEvent::LeagueCompleted {
        champion: player(1),
        by_order: false,
    };
    assert_eq!(with(&[over]), BROKEN, "it has no end");
}

#[test]
fn a_ladder_that_asks_for_more_matches_than_are_allowed_is_noticed() {
    assert_eq!(judge(&ladder(Some(4))), None);
    assert_eq!(judge(&ladder(Some(3))), BROKEN);
}

#[test]
fn another_game_of_a_pair_that_is_decided_or_not_paired_is_noticed() {
    assert_eq!(
        with(&[drawn(3, 2, 2, &[(3, 1)], &[])]),
        BROKEN,
        "its first game has no result"
    );
    assert_eq!(
        with(&[drawn(3, 2, 2, &[(1, 2)], &[])]),
        BROKEN,
        "they are not paired"
    );
}
