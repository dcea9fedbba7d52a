//! Built-in referees: they run in the manager's process, and register with it as any other does.

use super::{History, LeagueNet, RunningLeague};
use anyhow::Result;
use matchday_core::game::GAMES;
use matchday_core::protocol::messages::Timeouts;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Token, Version};
use matchday_core::referee::{Referee, RefereeSettings};
use matchday_runtime::{ExternalRules, Hosted, Options, Start, agent_telemetry, host, replay};
use matchday_store::Stream;
use std::sync::Arc;

/// The streams of the built-in referees, which hold their tokens and keys, and the secrets of draws to come.
pub const BUILT_IN_STREAM: &str = "referee/built-in-";

pub(super) fn referee_url(home: &str, number: usize) -> String {
    format!("{home}/referees/{number}/mcp")
}

/// What the built-in referees are called.
pub fn built_in_name(number: usize) -> String {
    format!("Built-in referee {number}")
}

impl RunningLeague {
    pub(super) fn built_in_referee(
        &self,
        net: &LeagueNet,
        number: usize,
        secret: Option<&str>,
        history: History,
    ) -> Result<Hosted<Referee>> {
        let url = referee_url(net.home(), number);
        let program = self
            .plan
            .program
            .as_ref()
            .map(|plan| plan.program())
            .transpose()?;
        let external = self
            .plan
            .league
            .external_game
            .as_ref()
            .map(|game| game.game_type.clone());
        let settings = RefereeSettings {
            manager: net.endpoint.clone(),
            contact_endpoint: Endpoint::parse(&url)?,
            display_name: DisplayName::parse(&built_in_name(number))?,
            version: Version::parse(env!("CARGO_PKG_VERSION"))?,
            game_types: GAMES
                .iter()
                .map(|game| GameType::new(game.name))
                .chain(external.clone())
                .collect(),
            max_concurrent_matches: net.matches_max,
            timing: self.plan.league.timing,
            bounds: Timeouts::default(),
            conformance: self.plan.league.conformance,
        };
        let referee = match (&program, external) {
            (Some(program), Some(game)) => {
                Referee::with_external_rules(settings, game, program.answer_timeout())
            }
            _ => Referee::new(settings),
        };
        let mut referee = match secret.map(Token::new) {
            Some(token) if !token.is_join_code() => referee.with_token(Some(token)),
            code => referee.with_join_code(code),
        };
        let rules = program.map(|program| Arc::new(program) as Arc<dyn ExternalRules>);
        let options = Options {
            rules,
            ..self.options(&format!("referee {number}"))?
        };
        let stream = Stream(format!("{BUILT_IN_STREAM}{number}").into());
        let telemetry = agent_telemetry(&referee, &options);
        let last_at = replay(
            &mut referee,
            &self.store,
            &stream,
            &telemetry,
            history.is_new,
        )?;
        let start = Start {
            address: net.address,
            url,
            wakes: true,
            last_at,
            telemetry,
        };
        Ok(host(referee, start, self.store.clone(), stream, options)?)
    }
}
