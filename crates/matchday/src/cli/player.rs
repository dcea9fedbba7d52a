//! `matchday player`: a player with a strategy that is built in, a program or a language model.

use super::config::{Config, Flags};
use super::settings::ForPlayer;
use super::{Usage, network, notice, observing, serve};
use crate::mind::chooser::{self, Chooser, LLM, Outside};
use crate::mind::command::PREFIX;
use crate::mind::llm::{Api, Key, Llm};
use crate::net::client::Client;
use crate::shell;
use crate::store::Stream;
use anyhow::Result;
use matchday_core::game::{GAMES, GameEntry};
use matchday_core::player::{Player, Settings, THINK_TIME, strategy};
use matchday_core::protocol::{Endpoint, GameType, Token, Version};
use smol_str::format_smolstr;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLE: &str = "\
A program that decides (command:PROGRAM) is started for each move: it reads the turn as JSON and prints the move. A model
(llm) is asked through its server; the key, if it needs one, is in MATCHDAY_LLM_API_KEY. When either does not decide in
time, the fallback strategy does.

Example:
  matchday player --listen 127.0.0.1:8102 --manager http://localhost:8000/mcp --strategy pattern
  matchday player --strategy command:./my_program --fallback mirror --think-time 10
  matchday player --strategy llm --llm-url http://localhost:11434 --llm-model some-model";

/// The help, with every strategy by the games that know it.
pub(super) fn example() -> String {
    let width = GAMES.iter().map(|game| game.name.len()).max().unwrap_or(0);
    let line = |game: &GameEntry| {
        let names: Vec<_> = game.strategies.iter().map(|entry| entry.name).collect();
        format!("  {:width$}  {}\n", game.name, names.join(", "))
    };
    let lines: String = GAMES.iter().map(line).collect();
    format!(
        "Strategies: random, and by game those below; a game that does not know one plays it as random\n{lines}\n{EXAMPLE}"
    )
}

/// Where the key of a model's server comes from. It is no setting: it must stand neither in arguments, which everyone
/// on the machine can read, nor in a file that is shared.
const KEY_VARIABLE: &str = "MATCHDAY_LLM_API_KEY";

pub(super) async fn execute(flags: Flags<ForPlayer>) -> Result<ExitCode> {
    let stop = serve::Stop::listen()?;
    let config = flags.resolve()?;
    let mut options = serve::options(&config)?;
    options.message_bytes_max = network::message_bytes_max(&config)?;
    let chooser = chooser(&config, &options.client)?;
    let (manager, join_code) = serve::manager(&config)?;
    let listener = serve::bind(&config).await?;
    let listening = listener.local_addr()?;
    let port = listening.port();
    let observed = observing::observed(&config, listening, &options.client)?;
    options.observed = observed.clone();
    let settings = Settings {
        manager,
        contact_endpoint: serve::contact(&config, port)?,
        display_name: serve::display_name(&config, &format!("Player {port}"))?,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types: games(&config),
        strategy: chooser.name(),
    };
    options.mind = chooser.mind();
    let (_, store) = serve::open_store(&config, format!("player-{port}.db"))?;
    let stream = Stream("player".into());
    let player = chooser.player(settings).with_token(config.text("auth-token").map(Token::new));
    let player = player.with_join_code(join_code);
    let handle = shell::run(player, listener, store.clone(), stream, options)?;
    let look = |player: &Player| player.enrolment().clone();
    let served =
        serve::until_told(handle, store, stop, look, async |enrolment| serve::check_enrolment(enrolment));
    let served = served.await;
    observed.flush().await;
    served
}

/// Every game that it may be invited to.
fn games(config: &Config) -> Vec<GameType> {
    let further = config.text("games").unwrap_or_default().split(',').map(str::trim);
    let further = further.filter(|name| !name.is_empty()).map(GameType::new);
    serve::games().into_iter().chain(further).collect()
}

/// How the player chooses.
fn chooser(config: &Config, client: &Client) -> Result<Chooser> {
    let name = config.text("strategy").unwrap_or("random");
    let fallback = config.text("fallback").unwrap_or("random");
    let fallback = strategy::named(fallback).map_err(|error| Usage(format!("--fallback: {error}")))?;
    let think_time = config.seconds_above_zero("think-time")?.unwrap_or(THINK_TIME);
    if let Some(program) = name.strip_prefix(PREFIX) {
        let outside = Outside::program(program, fallback, think_time);
        return Ok(Chooser::Outside(outside.map_err(|error| Usage(format!("--strategy: {error}")))?));
    }
    if name == LLM {
        let llm = llm(config, client)?;
        let name = format_smolstr!("{LLM}:{}", config.text("llm-model").unwrap_or_default());
        return Ok(Chooser::Outside(Outside { name, mind: Arc::new(llm), fallback, think_time }));
    }
    Ok(chooser::named(name).map_err(|error| Usage(format!("{error}, or {LLM}")))?)
}

fn llm(config: &Config, client: &Client) -> Result<Llm> {
    let missing = |flag: &str, what: &str| Usage(format!("--strategy {LLM} needs {flag}: {what}"));
    let url = config.read("llm-url", "a URL, such as http://localhost:11434", |text| {
        Endpoint::parse(text).is_ok().then(|| text.to_owned())
    })?;
    let url = url.ok_or_else(|| missing("--llm-url", "the address of the model's server"))?;
    let model = config.text("llm-model").ok_or_else(|| missing("--llm-model", "the name of the model"))?;
    let api = config.choice("llm-api", &[("openai", Api::OpenAi), ("anthropic", Api::Anthropic)])?;
    let key = std::env::var(KEY_VARIABLE).ok().filter(|key| !key.trim().is_empty());
    if key.is_some() && goes_open(&url) {
        notice(&format!("the key for {url} travels unencrypted: use https if that is not this very network"));
    }
    let key = key.map(|key| Key::new(key.trim()));
    Ok(Llm::new(client.clone(), &url, model, api.unwrap_or(Api::OpenAi), key))
}

/// Whether others could read what is sent there.
fn goes_open(url: &str) -> bool {
    let rest = url.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")).and(url.get(7..));
    rest.is_some_and(|rest| {
        let local = ["localhost", "127.", "[::1]"];
        !local.iter().any(|host| rest.get(..host.len()).is_some_and(|head| head.eq_ignore_ascii_case(host)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_strategy() {
        let help = example();
        for entry in strategy::all() {
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
