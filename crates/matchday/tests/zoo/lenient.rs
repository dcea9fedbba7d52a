//! The whole zoo in one lenient league.

use crate::league::{
    ZooLeague, id_of, patient, start_agents, technical_losses, until_completed, until_members,
};
use matchday_core::fair;
use matchday_core::league::League;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::GameDetails;
use matchday_testkit::tools;
use serde_json::json;
use std::collections::BTreeSet;

/// Every agent of the zoo that answers correctly by its own lights, and the kinds of deviation that it is to be counted for.
const ZOO: &[(&str, &[&str])] = &[
    ("standard", &[]),
    ("type_as_method", &[]),
    ("lower_type_as_method", &[]),
    ("handle_message", &[]),
    ("bare", &[]),
    ("answers_with_request", &[]),
    ("answers_apart", &[]),
    ("error_null", &[]),
    ("refuses_string_ids", &[]),
    ("refuses_fractions", &[]),
    ("registers_too_early", &[]),
    (
        "no_envelope",
        &[
            "missing protocol",
            "missing sender",
            "missing timestamp",
            "missing conversation_id",
        ],
    ),
    (
        "forgets_envelope",
        &[
            "missing protocol",
            "missing sender",
            "missing timestamp",
            "missing conversation_id",
        ],
    ),
    ("choice", &["alias choice"]),
    ("own_id", &["own name sender", "own name player_id"]),
    ("fails_on_unknown", &[]),
    ("leaves_at_the_end", &[]),
    ("needs_id_and_token", &[]),
    ("single_threaded", &[]),
    (
        "isoformat",
        &[
            "timestamp form timestamp",
            "timestamp form arrival_timestamp",
        ],
    ),
    ("no_token", &["missing auth_token"]),
    (
        "status_accepted",
        &[
            "alias status",
            "missing player_id",
            "missing arrival_timestamp",
        ],
    ),
    ("two_tongues", &[]),
    (
        "compact_times",
        &[
            "timestamp form timestamp",
            "timestamp form arrival_timestamp",
        ],
    ),
    (
        "names_protocol",
        &[
            "alias player_meta.protocol_version",
            "missing player_meta.version",
        ],
    ),
    // It is given the number that it calls itself by.
    ("own_number", &[]),
    ("acknowledges", &[]),
];

/// What a player has chosen and what was drawn decide, and nothing else.
fn assert_nobody_won_by_form(league: &League) {
    for (match_id, game) in &league.matches {
        let decision = game.decision.as_ref().expect("decided");
        let result = &decision.result;
        let reveal = result.details.fairness.as_ref().expect("revealed");
        let league_id = &league.settings.league_id;
        let mut dice = fair::verify(
            reveal,
            league_id,
            match_id,
            decision.attempt,
            &game.a,
            &game.b,
        )
        .expect("fair");
        let GameDetails::Parity(details) = &result.details.game else {
            panic!("a game of parity")
        };
        let drawn = dice.uniform(1..=10);
        assert_eq!(
            details.drawn_number.map(u32::from),
            Some(drawn),
            "{match_id}"
        );
        let parity = if drawn.is_multiple_of(2) {
            "even"
        } else {
            "odd"
        };
        let right = |player| {
            details
                .choices
                .get(player)
                .copied()
                .flatten()
                .unwrap()
                .as_str()
                == parity
        };
        let winner = match (right(&game.a), right(&game.b)) {
            (true, false) => Some(&game.a),
            (false, true) => Some(&game.b),
            _ => None,
        };
        assert_eq!(result.winner.as_ref(), winner, "{match_id}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lenient_league_of_the_whole_zoo_ends_and_nobody_loses_by_its_form() {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Lenient, patient());
    let manager = zoo_league.manager().await;
    let at = format!("http://{}/mcp", manager.address());
    let referees = [
        zoo_league.referee(1, &at).await,
        zoo_league.referee(2, &at).await,
    ];
    let names: Vec<_> = ZOO.iter().map(|(name, _)| *name).collect();
    let mut zoo = start_agents("players", &names, manager.address());
    until_members(&manager, ZOO.len(), 2).await;
    let early = zoo
        .iter()
        .find(|guest| guest.name == "registers_too_early")
        .unwrap();
    early.until("listening").await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;

    for guest in &zoo {
        let complaints = guest.told("complaint");
        assert_eq!(
            complaints,
            Vec::<serde_json::Value>::new(),
            "{} was sent what it cannot read",
            guest.name
        );
        let lost = technical_losses(&league, &id_of(&league, &guest.name));
        assert_eq!(lost, 0, "{} lost by its form", guest.name);
    }
    assert_nobody_won_by_form(&league);
    for (name, kinds) in ZOO {
        let player = id_of(&league, name);
        let answer = zoo_league
            .ask(
                manager.address(),
                "get_player_stats",
                json!({"player_id": player}),
            )
            .await;
        let counted = answer["data"]["stats"]["deviations"]
            .as_object()
            .unwrap()
            .clone();
        let found: BTreeSet<_> = counted.keys().map(String::as_str).collect();
        assert_eq!(
            found,
            kinds.iter().copied().collect(),
            "{name}: {counted:?}"
        );
    }
    let leaver = zoo
        .iter_mut()
        .find(|guest| guest.name == "leaves_at_the_end")
        .unwrap();
    leaver.until_gone().await;
    for referee in referees {
        referee.shutdown().await.unwrap();
    }
    manager.shutdown().await.unwrap();
}
