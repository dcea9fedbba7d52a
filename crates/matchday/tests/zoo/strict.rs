//! The whole zoo in one strict league: an agent that breaks a rule of the message catalogue loses by it, and no other.

use crate::league::{
    ZooLeague, game_errors, id_of, patient, start_agents, technical_losses, until_completed,
    until_members,
};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::timing::Timing;
use matchday_testkit::tools;
use std::collections::BTreeSet;
use std::time::Duration;

/// Those who break no rule, whatever their dialect or their habits.
const GOOD: &[&str] = &[
    "standard",
    "type_as_method",
    "lower_type_as_method",
    "handle_message",
    "bare",
    "answers_with_request",
    "answers_apart",
    "acknowledges",
    "error_null",
    "refuses_string_ids",
    "refuses_fractions",
    "registers_too_early",
    "fails_on_unknown",
    "leaves_at_the_end",
    "needs_id_and_token",
    "single_threaded",
    "two_tongues",
];

/// Those who break a rule in their answers, and the code that they are told each time.
const LOSERS: &[(&str, &str)] = &[
    ("forgets_envelope", "E003"),
    ("choice", "E003"),
    ("status_accepted", "E003"),
    ("capital_choice", "E004"),
    ("no_token", "E011"),
    ("own_id", "E012"),
    ("own_number", "E012"),
];

/// Those who break a rule when they register, so that they are not let in at all.
const REFUSED: &[(&str, &str)] = &[
    ("no_envelope", "E003"),
    ("isoformat", "E021"),
    ("compact_times", "E021"),
    ("names_protocol", "E003"),
];

/// Wrong answers cost a whole window, silence does not lose a match before the fourth.
fn brief() -> Timing {
    let window = Duration::from_millis(600);
    Timing {
        join: window,
        choice: window,
        ..patient()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_strict_league_exactly_those_who_break_a_rule_lose_and_are_told_which() {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Strict, brief());
    let manager = zoo_league.manager().await;
    let at = format!("http://{}/mcp", manager.address());
    let referees = [
        zoo_league.referee(1, &at).await,
        zoo_league.referee(2, &at).await,
    ];
    let names =
        |table: &[(&'static str, &str)]| table.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let turned_away = start_agents("players", &names(REFUSED), manager.address());
    for (guest, (_, code)) in turned_away.iter().zip(REFUSED) {
        assert_eq!(guest.until("refused").await, *code, "{}", guest.name);
    }
    let good = start_agents("players", GOOD, manager.address());
    let bad = start_agents("players", &names(LOSERS), manager.address());
    until_members(&manager, good.len() + bad.len(), 2).await;
    good.iter()
        .find(|guest| guest.name == "registers_too_early")
        .unwrap()
        .until("listening")
        .await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;
    for referee in referees {
        referee.shutdown().await.unwrap();
    }
    manager.shutdown().await.unwrap();
    let exchanges = zoo_league.exchanges();

    for name in GOOD {
        assert_eq!(
            technical_losses(&league, &id_of(&league, name)),
            0,
            "{name} broke no rule"
        );
    }
    let losers: Vec<_> = LOSERS
        .iter()
        .map(|(name, _)| id_of(&league, name))
        .collect();
    for ((name, code), player) in LOSERS.iter().zip(&losers) {
        for (match_id, game) in league.matches.iter().filter(|(_, game)| game.has(player)) {
            let decision = game.decision.as_ref().unwrap();
            assert_eq!(
                decision.status,
                GameStatus::TechnicalLoss,
                "{name} in {match_id}"
            );
            // Of two who break a rule one may have broken it before the other could.
            let won = decision.result.winner.as_ref() == Some(player);
            assert!(
                !won || losers.contains(game.opponent(player)),
                "{name} in {match_id}"
            );
        }
        let told = game_errors(&exchanges, &league.players[player].meta.contact_endpoint);
        // On a busy machine an answer may also be late now and then.
        let codes: BTreeSet<_> = told
            .iter()
            .map(String::as_str)
            .filter(|code| *code != "E001")
            .collect();
        assert_eq!(codes, BTreeSet::from([*code]), "{name}");
    }
}
