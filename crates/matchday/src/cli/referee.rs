//! `matchday referee`: a referee that registers and runs the matches it is given.

use super::daemon::Listening;
use super::dial::DialLink;
use super::settings::{self, RefereeFlags};
use super::{daemon, network, notice, telemetry};
use anyhow::Result;
use matchday_core::protocol::{Token, Version};
use matchday_core::referee::{Referee, RefereeSettings};
use matchday_core::timing::Timing;
use matchday_os::signals::Termination;
use matchday_store::Stream;
use std::process::ExitCode;
use std::sync::Arc;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday referee --listen 127.0.0.1:8002 --manager http://localhost:8000/mcp --name \"Referee B\"
  matchday referee --game-command ./examples/twenty_one.py";

pub(super) async fn execute(flags: RefereeFlags) -> Result<ExitCode> {
    let stop = Termination::listen()?;
    let config = flags.resolve()?;
    let mut options = daemon::options(&config)?;
    options.message_bytes_max = config.get(&settings::MESSAGE_BYTES_MAX)?;
    let timing = daemon::timing(&config, Timing::default())?;
    let (manager, join_code) = daemon::manager(&config)?;
    let max_concurrent_matches = config.need(&settings::MAX_MATCHES)?;
    let conformance = config.need(&settings::CONFORMANCE)?;
    let rules = daemon::game_program(&config)?;
    let mut game_types = daemon::games();
    let external_game = match &rules {
        Some(rules) => Some(
            rules
                .describe()
                .await
                .map_err(anyhow::Error::msg)?
                .game_type,
        ),
        None => None,
    };
    game_types.extend(external_game.clone());
    let Listening {
        listener,
        address,
        contact,
        short_name,
        link,
    } = daemon::listen_or_dial(&config, &mut options, &manager, join_code.as_ref()).await?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    options.client = network::guarded_but(&config, &options.client, address, &[manager.raw()])?;
    let settings = RefereeSettings {
        manager,
        contact_endpoint: contact,
        display_name: daemon::display_name(&config, &format!("Referee {short_name}"))?,
        version: Version::parse(env!("CARGO_PKG_VERSION"))?,
        game_types,
        max_concurrent_matches,
        bounds: daemon::timeout_bounds(&config, &timing),
        timing,
        conformance,
    };
    let store = daemon::open_store(&config, format!("referee-{short_name}.db"))?;
    let stream = Stream("referee".into());
    let referee = match (&rules, external_game) {
        (Some(rules), Some(game_type)) => {
            Referee::with_external_rules(settings, game_type, rules.answer_timeout())
        }
        _ => Referee::new(settings),
    };
    options.rules = rules.map(|rules| Arc::new(rules) as Arc<dyn matchday_runtime::ExternalRules>);
    let referee = referee.with_token(config.text(&settings::AUTH_TOKEN).map(Token::new));
    let referee = referee.with_join_code(join_code);
    let handle = listener.run(referee, store.clone(), stream, options)?;
    let look = |referee: &Referee| {
        let lacks = referee.lacks_endpoints();
        (referee.registration_state().clone(), lacks)
    };
    let mut told = None;
    let served = daemon::run_until_shutdown(handle, store, stop, look, async |(state, lacks)| {
        link.as_ref().map_or(Ok(()), DialLink::check)?;
        if let Some(lacks) = lacks.as_ref().filter(|lacks| told.as_ref() != Some(*lacks)) {
            notice(&format!("no match can begin: {lacks}"));
        }
        told = lacks.or(told.take());
        daemon::check_registration(state)
    });
    let served = served.await;
    telemetry.flush().await;
    served
}
