//! Each animal alone among honest players.

use crate::animals::{Animal, ZOO};
use crate::habitat::{Habitat, round};
use tokio::task::JoinSet;

/// How many leagues are played at the same time.
const AT_ONCE: usize = 9;

async fn play_with(animal: Animal) {
    let habitat = Habitat::open(3, &[animal], 1, vec![round([(1, 2), (3, 4)])]).await;
    let played = habitat.play().await;
    played.assert_fates();
    played.assert_forgers_refused();
    played.assert_rounds_in_time();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_hostile_player_loses_its_own_matches_and_no_others() {
    let mut failed = Vec::new();
    for animals in ZOO.chunks(AT_ONCE) {
        let mut leagues = JoinSet::new();
        for animal in animals {
            let animal = *animal;
            leagues.spawn(async move { (animal.name, tokio::spawn(play_with(animal)).await) });
        }
        for (name, outcome) in leagues.join_all().await {
            if let Err(error) = outcome {
                let why = error.into_panic();
                let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                failed.push(format!("{name}: {why}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
