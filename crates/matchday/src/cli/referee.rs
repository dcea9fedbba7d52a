//! `matchday referee`: a referee that registers and runs the matches it is given.

use super::config::Flags;
use super::settings::ForReferee;
use super::{network, observing, serve};
use crate::shell;
use crate::store::Stream;
use anyhow::Result;
use matchday_core::protocol::{Token, Version};
use matchday_core::referee::{Referee, Settings};
use matchday_core::timing::Timing;
use std::process::ExitCode;
use std::sync::Arc;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday referee --listen 127.0.0.1:8002 --manager http://localhost:8000/mcp --name \"Referee B\"
  matchday referee --game-command ./examples/twenty_one.py";

pub(super) async fn execute(flags: Flags<ForReferee>) -> Result<ExitCode> {
    let stop = serve::Stop::listen()?;
    let config = flags.resolve()?;
    let mut options = serve::options(&config)?;
    options.message_bytes_max = network::message_bytes_max(&config)?;
    let timing = serve::timing(&config, Timing::default())?;
    let (manager, join_code) = serve::manager(&config)?;
    let max_concurrent_matches = config.count("max-matches")?.unwrap_or(5);
    let conformance = serve::conformance(&config)?.unwrap_or_default();
    let rules = serve::game_program(&config)?;
    let mut game_types = serve::games();
    let outside = match &rules {
        Some(rules) => Some(rules.describe().await.map_err(anyhow::Error::msg)?.game_type),
        None => None,
    };
    game_types.extend(outside.clone());
    let listener = serve::bind(&config).await?;
    let listening = listener.local_addr()?;
    let observed = observing::observed(&config, listening, &options.client)?;
    options.observed = observed.clone();
    options.client = network::guarded(&config, &options.client, listening, &[manager.raw()])?;
    let port = listening.port();
    let settings = Settings {
        manager,
        contact_endpoint: serve::contact(&config, port)?,
        display_name: serve::display_name(&config, &format!("Referee {port}"))?,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types,
        max_concurrent_matches,
        bounds: serve::timeout_bounds(&config, &timing),
        timing,
        conformance,
    };
    let (_, store) = serve::open_store(&config, format!("referee-{port}.db"))?;
    let stream = Stream("referee".into());
    let referee = match (&rules, outside) {
        (Some(rules), Some(game_type)) => Referee::with_rules_outside(settings, game_type, rules.patience()),
        _ => Referee::new(settings),
    };
    options.rules = rules.map(|rules| Arc::new(rules) as Arc<dyn shell::Rules>);
    let referee = referee.with_token(config.text("auth-token").map(Token::new));
    let referee = referee.with_join_code(join_code);
    let handle = shell::run(referee, listener, store.clone(), stream, options)?;
    let look = |referee: &Referee| referee.enrolment().clone();
    let served =
        serve::until_told(handle, store, stop, look, async |enrolment| serve::check_enrolment(enrolment));
    let served = served.await;
    observed.flush().await;
    served
}
