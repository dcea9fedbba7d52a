//! Who plays in `matchday run`: strategies by their names, or the players of a plan. Reads the store for what was used before.

use super::games;
use super::plan_players;
use super::settings::{self, Config, Declared};
use anyhow::Result;
use matchday_core::event_codec;
use matchday_core::game::strategy;
use matchday_core::player::PlayerEvent;
use matchday_net::client::Client;
use matchday_research::experiment::players::LeaguePlayer;
use matchday_runtime::deciders::player_strategy::{self, PlayerStrategy};
use matchday_server::local::ports::Ports;
use matchday_server::local::{self, PlayerPlan};
use matchday_store::Store;

/// Those of the plan that know the game; none without a plan.
pub(super) fn of_plan(config: &Config) -> Result<Vec<LeaguePlayer>> {
    let mut players = plan_players::all(config, &Client::new())?.unwrap_or_default();
    players.retain(|player| is_played_by(config, &player.strategy));
    Ok(players)
}

/// A plan may name strategies of other games.
fn is_played_by(config: &Config, strategy: &PlayerStrategy) -> bool {
    match strategy {
        PlayerStrategy::External(_) => true,
        PlayerStrategy::BuiltIn(entry) => {
            let game = config.need(&settings::GAME);
            config.text(&settings::GAME_COMMAND).is_some()
                || game.is_ok_and(|game| games::knows(game, entry.name).is_ok())
        }
    }
}

/// Who plays.
pub(super) fn player_plans(config: &Config, of_plan: &[LeaguePlayer]) -> Result<Vec<PlayerPlan>> {
    if !of_plan.is_empty() {
        let beside: [&Declared; 2] = [&settings::PLAYERS, &settings::STRATEGIES];
        plan_players::refuse_beside_plan(config, &beside)?;
        let plans = of_plan.iter().map(|player| PlayerPlan {
            name: player.name.clone(),
            strategy: player.strategy.clone(),
            reached_at: None,
        });
        return Ok(plans.collect());
    }
    let game = config.need(&settings::GAME)?;
    let known: Vec<PlayerStrategy> = match configured_strategies(config)? {
        named if !named.is_empty() => named,
        _ if config.text(&settings::GAME_COMMAND).is_some() => {
            vec![PlayerStrategy::BuiltIn(&strategy::RANDOM)]
        }
        _ => strategy::of(game).map(PlayerStrategy::BuiltIn).collect(),
    };
    let strategies = (1..=config.need(&settings::PLAYERS)?).zip(known.into_iter().cycle());
    Ok(strategies
        .map(|(number, strategy)| numbered(number, strategy))
        .collect())
}

/// The strategies that were named. One that means nothing in the game would only play at random.
fn configured_strategies(config: &Config) -> Result<Vec<PlayerStrategy>> {
    let Some(names) = config.text(&settings::STRATEGIES) else {
        return Ok(Vec::new());
    };
    let game = config.need(&settings::GAME)?;
    let own_rules = config.text(&settings::GAME_COMMAND).is_some();
    let strategy = |name: &str| {
        let is_built_in = !name.contains(':') && name != player_strategy::LLM;
        if is_built_in && !own_rules {
            games::knows(game, name)?;
        }
        player_strategy::named(name)
    };
    let strategies: Result<_, String> = names.split(',').map(strategy).collect();
    strategies.map_err(|why| config.wrong(&settings::STRATEGIES, why))
}

/// Budgets hold for a league, however often it is gone on with.
pub(super) fn count_usage(store: &Store, ports: &Ports, players: &[LeaguePlayer]) -> Result<()> {
    for (player, listener) in players.iter().zip(&ports.listeners.players) {
        let Some(budget) = &player.budget else {
            continue;
        };
        let stored = store.load(&local::agent_stream(
            "player",
            listener.local_addr()?.port(),
        ))?;
        let events = stored
            .iter()
            .filter_map(|stored| event_codec::decode::<PlayerEvent>(&stored.line).ok());
        budget.replay(events.map(|(_, event)| event).collect::<Vec<_>>().iter());
    }
    Ok(())
}

/// The names of players that are not given any.
const PEOPLE: [&str; 26] = [
    "Ada",
    "Blaise",
    "Carl",
    "Dorothy",
    "Emmy",
    "Frances",
    "Grace",
    "Hedy",
    "Isaac",
    "Joan",
    "Katherine",
    "Leonhard",
    "Maryam",
    "Niels",
    "Olga",
    "Pierre",
    "Quirin",
    "Rosa",
    "Sofia",
    "Tim",
    "Ursula",
    "Vera",
    "Wanda",
    "Xenia",
    "Yuri",
    "Zeno",
];

/// `Ada`, and once all names are taken `Ada 2`.
fn name_of(number: u16) -> String {
    let place = usize::from(number).saturating_sub(1);
    let name = PEOPLE
        .get(place % PEOPLE.len())
        .copied()
        .unwrap_or_default();
    match place / PEOPLE.len() {
        0 => name.to_owned(),
        earlier => format!("{name} {}", earlier + 1),
    }
}

pub(super) fn numbered(number: u16, strategy: PlayerStrategy) -> PlayerPlan {
    PlayerPlan {
        name: name_of(number),
        strategy,
        reached_at: None,
    }
}
