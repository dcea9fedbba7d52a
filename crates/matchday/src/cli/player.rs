//! `matchday player`: a player with a strategy that is built in, a program or a language model.

use super::daemon::Listening;
use super::dial::DialLink;
use super::settings::{self, Config, LLM_API_KEY, PlayerFlags, secret_file};
use super::{Usage, daemon, notice, plan_players, telemetry};
use anyhow::Result;
use matchday_core::event_codec;
use matchday_core::game::{GAMES, GameEntry};
use matchday_core::player::{Player, PlayerEvent, PlayerSettings};
use matchday_core::protocol::{GameType, Token, Version};
use matchday_net::client::Client;
use matchday_os::signals::Termination;
use matchday_research::experiment::players::LeaguePlayer;
use matchday_runtime::deciders::command::PREFIX;
use matchday_runtime::deciders::llm::{Key, Llm};
use matchday_runtime::deciders::llm_budget::LlmBudget;
use matchday_runtime::deciders::player_strategy::{self, ExternalDecider, LLM, PlayerStrategy};
use matchday_store::Stream;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLE: &str = "\
A program that decides (command:PROGRAM) reads the turn as a line of JSON and prints the move. It is started for each move, or
stays alive if it says \"persistent\": true (docs/programs.md). A model (llm) is asked through its server; the key, if it
needs one, is in MATCHDAY_LLM_API_KEY. When either does not decide in time, the fallback strategy does.

Example:
  matchday player --listen 127.0.0.1:8102 --manager http://localhost:8000/mcp --strategy pattern
  matchday player --strategy command:./my_program --fallback mirror --think-time 10
  matchday player --strategy llm --llm-url http://localhost:11434 --llm-model some-model
  matchday player --plan models.toml --name small
  matchday player --strategy llm --llm-url https://models.example --llm-model some-model --llm-prices 3,15 --llm-budget money=2";

/// The help, with every strategy by the games that know it.
pub(super) fn example() -> String {
    let width = GAMES.iter().map(|game| game.name.len()).max().unwrap_or(0);
    let line = |game: &GameEntry| {
        let names: Vec<_> = game.strategies().iter().map(|entry| entry.name).collect();
        format!("  {:width$}  {}\n", game.name, names.join(", "))
    };
    let lines: String = GAMES.iter().map(line).collect();
    format!(
        "Strategies: random, and by game those below; in a game that does not know the strategy, the player moves at random\n{lines}\n{EXAMPLE}"
    )
}

pub(super) async fn execute(flags: PlayerFlags) -> Result<ExitCode> {
    let stop = Termination::listen()?;
    let config = flags.resolve()?;
    let mut options = daemon::options(&config)?;
    options.message_bytes_max = config.get(&settings::MESSAGE_BYTES_MAX)?;
    let LeaguePlayer {
        strategy, budget, ..
    } = planned(&config, &options.client)?;
    let (manager, join_code) = daemon::manager(&config)?;
    let Listening {
        listener,
        address,
        contact,
        short_name,
        link,
    } = daemon::listen_or_dial(&config, &mut options, &manager, join_code.as_ref()).await?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    let settings = PlayerSettings {
        manager,
        contact_endpoint: contact,
        display_name: daemon::display_name(&config, &format!("Player {short_name}"))?,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types: games(&config),
        strategy: strategy.announced(),
    };
    options.decider = strategy.decider();
    let store = daemon::open_store(&config, format!("player-{short_name}.db"))?;
    let stream = Stream("player".into());
    let stored = store.load(&stream)?;
    let events = stored
        .iter()
        .filter_map(|stored| event_codec::decode::<PlayerEvent>(&stored.line).ok());
    if let Some(budget) = budget {
        budget.replay(events.map(|(_, event)| event).collect::<Vec<_>>().iter());
    }
    let player = strategy
        .player(settings)
        .with_token(config.text(&settings::AUTH_TOKEN).map(Token::new));
    let player = player
        .with_join_code(join_code)
        .with_matches_per_hour(config.get(&settings::MATCHES_PER_HOUR)?);
    let handle = listener.run(player, store.clone(), stream, options)?;
    let look = |player: &Player| player.registration_state().clone();
    let served = daemon::run_until_shutdown(handle, store, stop, look, async |registration| {
        link.as_ref().map_or(Ok(()), DialLink::check)?;
        daemon::check_registration(registration)
    });
    let served = served.await;
    telemetry.flush().await;
    served
}

/// Every game that it may be invited to.
fn games(config: &Config) -> Vec<GameType> {
    let further = config
        .text(&settings::GAMES)
        .unwrap_or_default()
        .split(',')
        .map(str::trim);
    let further = further.filter(|name| !name.is_empty()).map(GameType::new);
    daemon::games().into_iter().chain(further).collect()
}

/// How the player chooses: by a plan, or by its own settings.
fn planned(config: &Config, client: &Client) -> Result<LeaguePlayer> {
    if config.is_given(&settings::PLAN) {
        return plan_players::the_one(config, client);
    }
    let budget = Arc::new(llm_budget(config)?);
    Ok(LeaguePlayer {
        name: String::new(),
        strategy: player_strategy(config, client, &budget)?,
        budget: Some(budget),
    })
}

fn player_strategy(
    config: &Config,
    client: &Client,
    budget: &Arc<LlmBudget>,
) -> Result<PlayerStrategy> {
    let name = config.need(&settings::STRATEGY)?;
    let fallback = player_strategy::fallback(&config.need(&settings::FALLBACK)?)
        .map_err(|error| config.wrong(&settings::FALLBACK, error))?;
    let think_time = config.need(&settings::THINK_TIME)?;
    if let Some(program) = name.strip_prefix(PREFIX) {
        let external = ExternalDecider::program(program, fallback, think_time);
        return Ok(PlayerStrategy::External(
            external.map_err(|error| config.wrong(&settings::STRATEGY, error))?,
        ));
    }
    if name == LLM {
        let llm = llm(config, client, budget)?;
        let model = config.text(&settings::LLM_MODEL).unwrap_or_default();
        let external = ExternalDecider::model(model, llm, fallback, think_time);
        return Ok(PlayerStrategy::External(external));
    }
    player_strategy::named(&name)
        .map_err(|error| config.wrong(&settings::STRATEGY, format!("{error}, or {LLM}")))
}

fn llm(config: &Config, client: &Client, budget: &Arc<LlmBudget>) -> Result<Llm> {
    let missing = |flag: &str, what: &str| Usage(format!("--strategy {LLM} needs {flag}: {what}"));
    let url = config
        .get(&settings::LLM_URL)?
        .ok_or_else(|| missing("--llm-url", "the address of the model's server"))?;
    let model = config
        .text(&settings::LLM_MODEL)
        .ok_or_else(|| missing("--llm-model", "the name of the model"))?;
    let api = config.need(&settings::LLM_API)?;
    let key = std::env::var(LLM_API_KEY)
        .ok()
        .filter(|key| !key.trim().is_empty());
    let key = key.map_or_else(
        || secret_file::of_variable(LLM_API_KEY),
        |key| Ok(Some(key)),
    )?;
    if key.is_some() && goes_open(&url) {
        notice(&format!(
            "the key for {url} travels unencrypted: use https if that is not this very network"
        ));
    }
    let key = key.map(|key| Key::new(key.trim()));
    Ok(Llm::new(client.clone(), &url, model, api, key)
        .with_retries(config.need(&settings::LLM_RETRIES)?)
        .with_observation(config.need(&settings::OBSERVATION)?)
        .with_budget(Arc::clone(budget)))
}

/// What the model may use.
fn llm_budget(config: &Config) -> Result<LlmBudget> {
    let limits = config.get(&settings::LLM_BUDGET)?.unwrap_or_default();
    let prices = config.get(&settings::LLM_PRICES)?;
    if limits.cost_micros.is_some() && prices.is_none() {
        return Err(Usage(
            "a budget in money needs --llm-prices IN,OUT: what a million tokens cost".to_owned(),
        )
        .into());
    }
    Ok(LlmBudget::new(limits, prices.unwrap_or_default()))
}

/// Whether others could read what is sent there.
fn goes_open(url: &str) -> bool {
    let rest = url
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("http://"))
        .and(url.get(7..));
    rest.is_some_and(|rest| {
        let local = ["localhost", "127.", "[::1]"];
        !local.iter().any(|host| {
            rest.get(..host.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(host))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_strategy() {
        let help = example();
        for entry in matchday_core::game::strategy::all() {
            assert!(help.contains(entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn a_key_is_safe_over_https_and_on_this_machine_only() {
        for (url, open) in [
            ("https://api.example.com", false),
            ("http://localhost:11434", false),
            ("http://127.0.0.1:1/v1", false),
            ("http://10.0.0.3:8080", true),
            ("HTTP://models.example.com", true),
        ] {
            assert_eq!(goes_open(url), open, "{url}");
        }
    }
}
