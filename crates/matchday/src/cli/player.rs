//! `matchday player`: a player with one of the built-in strategies.

use super::Usage;
use super::config::Flags;
use super::serve;
use super::settings::ForPlayer;
use crate::shell;
use crate::store::Stream;
use anyhow::{Context, Result};
use matchday_core::player::{Player, Settings, strategy};
use matchday_core::protocol::Version;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Strategies: random, always_even, always_odd, alternating, frequency, pattern, mirror, win_stay_lose_shift

Example:
  matchday player --listen 127.0.0.1:8102 --manager http://localhost:8000/mcp --strategy pattern";

pub(super) async fn execute(flags: Flags<ForPlayer>) -> Result<ExitCode> {
    let stop = serve::Stop::listen()?;
    let config = flags.resolve()?;
    let options = serve::options(&config)?;
    let strategy = strategy::named(config.text("strategy").unwrap_or("random"))
        .map_err(|error| Usage(error.to_string()))?;
    let manager = serve::endpoint(&config, "manager")?.context("name the manager with --manager URL")?;
    let listener = serve::bind(&config).await?;
    let port = listener.local_addr()?.port();
    let settings = Settings {
        manager,
        contact_endpoint: serve::contact(&config, port)?,
        display_name: serve::display_name(&config, &format!("Player {port}"))?,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types: serve::games(),
        strategy: strategy.name.into(),
    };
    let (_, store) = serve::open_store(&config, format!("player-{port}.db"))?;
    let stream = Stream("player".into());
    let handle =
        shell::run(Player::new(settings, strategy.build()), listener, store.clone(), stream, options)?;
    let look = |player: &Player| player.enrolment().clone();
    serve::until_told(handle, store, stop, look, async |enrolment| serve::check_enrolment(enrolment)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_strategy() {
        let names: Vec<_> = strategy::ALL.iter().map(|entry| entry.name).collect();
        assert!(EXAMPLE.contains(&format!("Strategies: {}\n", names.join(", "))), "{names:?}");
    }
}
