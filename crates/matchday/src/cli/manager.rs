//! `matchday manager`: a league manager over one store. A league keeps the settings it began with: others that are
//! given when it is started again are ignored, with a warning.

use super::settings::{self, Config, ManagerFlags};
use super::{
    competition, daemon, dashboard, network, notice, relay, roster, seat, status, telemetry,
};
use anyhow::{Context, Result};
use matchday_audit::league_log::LeagueLog;
use matchday_core::event_codec;
use matchday_core::league::{LeagueEvent, LeagueSettings, Manager, Place};
use matchday_core::protocol::messages::{AgentRole, Phase};
use matchday_core::protocol::{GameType, LeagueId, Token};
use matchday_os::signals::Termination;
use matchday_runtime::{Options, entropy_from_system};
use matchday_server::league::{LeagueNet, LeaguePlan, LeagueStore, RunningLeague, StartCounts};
use matchday_store::leagues::NO_LEAGUE;
use matchday_store::{Store, StoreUrl, Stream};
use std::net::SocketAddr;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday manager --store spring.db --lead 5 --start-when players=4,referees=2
  matchday manager --store spring.db --league-id spring_2    # the next league, once this is over
  matchday manager --seats on    # language models can play: they add this address as an MCP server";

pub(super) async fn execute(flags: ManagerFlags) -> Result<ExitCode> {
    let stop = Termination::listen()?;
    let config = flags.resolve()?;
    let mut options = daemon::options(&config)?;
    let mut wanted = league_settings(&config, LeagueSettings::default())?;
    if let Some(rules) = daemon::game_program(&config)? {
        let game = rules.describe().await.map_err(anyhow::Error::msg)?;
        wanted.game_type = game.game_type.clone();
        wanted.external_game = Some(game);
    }
    wanted.league_id = config
        .get(&settings::LEAGUE_ID)?
        .unwrap_or_else(|| competition::league_id(&wanted.game_type));
    let start_when = start_when(&config)?;
    let listener = daemon::bind(&config).await?;
    let address = listener.local_addr()?;
    let telemetry = telemetry::from_config(&config, address.ip(), &options.client)?;
    options.telemetry = telemetry.clone();
    options.client = network::guarded(&config, &options.client, address)?;
    let store = daemon::open_store(&config, "matchday.db".to_owned())?;
    let (number, stream) = place(&store, asked_for(&config)?.as_ref())?;
    let store = store.in_league(number);
    let league = match stored_settings(&store, &stream)? {
        Some(own) => {
            // Who is let in from now on is up to this start.
            let given = league_settings(&config, own.clone())?;
            let own = own.with_admission_of(&given);
            tell_ignored(&config, &own, store.name())?;
            roster::tell_missing(&config, &stored_roster(&store, &stream)?)?;
            own
        }
        None => new_league(&config, wanted, start_when, address)?,
    };
    check_tokens(&config, &league, address)?;
    let plan = plan(&config, league, start_when, address, &options)?;
    let seats_url = plan.seats.as_ref().map(|_| store.url().of_seats());
    let seats = seats_url.clone().map(Store::open).transpose()?;
    let scheme = if options.server.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let source = dashboard::source_of_manager(&config, address, store.url(), seats_url, scheme)?;
    let net = LeagueNet {
        address,
        listener: Some(listener),
        endpoint: daemon::contact(&config, address.port())?,
        options,
        relay_home: None,
        relay_limits: relay::limits(&config)?,
        viewers_max: config.need(&settings::VIEWERS_MAX)?,
        matches_max: 0,
        players_are_own: false,
        seed: None,
    };
    let stores = LeagueStore {
        seats: seats.clone(),
        ..LeagueStore::alone(store.clone(), &store, stream, source)?
    };
    let mut running = RunningLeague::open(plan, stores, net)?;
    running.start_when_complete(|why| {
        notice(&format!(
            "the league could not be started: {why} - start it with `matchday start`"
        ));
    });
    let supervised = supervise(&running, stop).await;
    let closed = running.shutdown().await;
    telemetry.flush().await;
    closed?;
    store.close()?;
    if let Some(seats) = seats {
        seats.close()?;
    }
    supervised.map(|()| ExitCode::SUCCESS)
}

/// Without tokens anybody who reaches the manager can speak in every agent's name.
fn check_tokens(config: &Config, league: &LeagueSettings, address: SocketAddr) -> Result<()> {
    if league.tokens.is_required() {
        return Ok(());
    }
    let has_relay = config.need(&settings::RELAY)?;
    if has_relay || !daemon::is_for_this_machine_alone(config, address.ip())? {
        let why = "tokens can be optional only if other machines cannot reach the manager: listen on 127.0.0.1, without \
                   a relay, a proxy or another --advertise";
        return Err(config.wrong(&settings::TOKENS, why));
    }
    notice(competition::TOKENS_OPTIONAL);
    Ok(())
}

/// Says when matches begin to wait for a prover, until the process is to end.
async fn supervise(running: &RunningLeague, stop: Termination) -> Result<()> {
    let mut stands_still = false;
    let look = |manager: &Manager| manager.league().matches_awaiting_prover();
    daemon::supervise(&running.manager.handle, stop, look, async |awaiting| {
        if awaiting > 0 && !stands_still {
            notice(&status::awaiting_prover(awaiting.into()));
        }
        stands_still = awaiting > 0;
        Ok(())
    })
    .await
}

/// The settings of a league that begins here. What is made for its operator and its agents is shown.
fn new_league(
    config: &Config,
    mut league: LeagueSettings,
    start_when: Option<StartCounts>,
    address: SocketAddr,
) -> Result<LeagueSettings> {
    competition::check(config, &league, start_when.map(|wanted| wanted.players))?;
    if league.operator_token.is_none() {
        let made = Token::issue("operator", &mut entropy_from_system()?);
        league.operator_token = Some(made.hash());
        notice(&format!(
            "operator token, shown only once - keep it for `matchday admin`: {}",
            made.reveal()
        ));
    }
    let contact = daemon::contact(config, address.port())?;
    let only_this_machine = daemon::is_for_this_machine_alone(config, address.ip())?;
    league.roster = roster::issue(config, &contact, only_this_machine)?;
    Ok(league)
}

fn plan(
    config: &Config,
    league: LeagueSettings,
    start_when: Option<StartCounts>,
    address: SocketAddr,
    options: &Options,
) -> Result<LeaguePlan> {
    let has_roster = league
        .roster
        .iter()
        .any(|invited| invited.role == AgentRole::Player);
    let only_this_machine = daemon::is_for_this_machine_alone(config, address.ip())?;
    let (seats, made) = seat::plan(config, only_this_machine, has_roster)?.unzip();
    seat::show_code(made.flatten());
    Ok(LeaguePlan {
        start_when,
        seats,
        dashboard: true,
        exchanges: options.record_exchanges,
        exchanges_bytes_max: options.exchanges_bytes_max,
        ..LeaguePlan::of(league)
    })
}

/// `base` with what the settings say, but for its name.
pub(super) fn league_settings(config: &Config, base: LeagueSettings) -> Result<LeagueSettings> {
    let token = config
        .get(&settings::OPERATOR_TOKEN)?
        .map(|token| token.hash());
    let game_type = config
        .get(&settings::GAME)?
        .map_or(base.game_type, |game| GameType::new(game.name));
    Ok(LeagueSettings {
        league_id: base.league_id,
        score: competition::score(config, &game_type)?,
        game_type,
        conformance: config
            .get(&settings::CONFORMANCE)?
            .unwrap_or(base.conformance),
        announce_lead: config.get(&settings::LEAD)?.unwrap_or(base.announce_lead),
        players_max: config
            .get(&settings::PLAYERS_MAX)?
            .unwrap_or(base.players_max),
        referees_max: base.referees_max,
        public_reads: config
            .get(&settings::PUBLIC_READS)?
            .unwrap_or(base.public_reads),
        suspend_after: config
            .get(&settings::SUSPEND_AFTER)?
            .unwrap_or(base.suspend_after),
        endpoint_check: config
            .get(&settings::ENDPOINT_CHECK)?
            .unwrap_or(base.endpoint_check),
        probe_timeout: base.probe_timeout,
        probe_every: base.probe_every,
        tie_breaks: config
            .get(&settings::TIE_BREAKS)?
            .unwrap_or(base.tie_breaks),
        proof: config.get(&settings::PROOF)?.unwrap_or(base.proof),
        tokens: if config.has(&settings::TOKENS) {
            config.get(&settings::TOKENS)?.unwrap_or(base.tokens)
        } else {
            base.tokens
        },
        standings_pause: base.standings_pause,
        message_bytes_max: config
            .get(&settings::MESSAGE_BYTES_MAX)?
            .unwrap_or(base.message_bytes_max),
        timing: daemon::timing(config, base.timing)?,
        operator_token: token.or(base.operator_token),
        token_guesses_max: base.token_guesses_max,
        requests_per_second: base.requests_per_second,
        registrations_per_address: config
            .get(&settings::AGENTS_PER_ADDRESS)?
            .unwrap_or(base.registrations_per_address),
        registration: config
            .get(&settings::REGISTRATION)?
            .unwrap_or(base.registration),
        roster: base.roster,
        competition: competition::configured(config, base.competition)?,
        fixtures: base.fixtures,
        external_game: base.external_game,
    })
}

/// The league that the settings name, if they do.
fn asked_for(config: &Config) -> Result<Option<LeagueId>> {
    if config.is_given(&settings::LEAGUE_ID) {
        config.get(&settings::LEAGUE_ID)
    } else {
        Ok(None)
    }
}

/// Which of a store's leagues is played: the latest, or after one that is over another, if another was asked for.
fn place(store: &Store, wanted: Option<&LeagueId>) -> Result<(u32, Stream)> {
    let file = store.name();
    if !store
        .in_league(NO_LEAGUE)
        .load(&Stream::service())?
        .is_empty()
    {
        anyhow::bail!(
            "{file} is the store of a service: start it with `matchday serve --store {file}`"
        );
    }
    let mut known = Vec::new();
    for (number, stream) in store.leagues()? {
        let league = LeagueLog::decode(&store.in_league(number).load(&stream)?)
            .context("a league of the store cannot be read")?
            .league;
        known.push((number, stream, league));
    }
    let Some((number, stream, latest)) = known.last() else {
        return Ok((1, Stream::league()));
    };
    let own = &latest.settings.league_id;
    let Some(wanted) = wanted.filter(|wanted| *wanted != own) else {
        return Ok((*number, stream.clone()));
    };
    if latest.phase != Phase::Completed {
        anyhow::bail!(
            "{file} holds {own}, which is not over: let it end, or end it with `matchday admin end`, before {wanted} \
             begins in this file, or name another file with --store"
        );
    }
    if known
        .iter()
        .any(|(_, _, league)| league.settings.league_id == *wanted)
    {
        anyhow::bail!(
            "{file} holds {wanted}, and leagues after it: a new league needs another --league-id"
        );
    }
    let number = number.saturating_add(1);
    notice(&format!(
        "{own} is over: {wanted} begins in {file} as its league number {number}"
    ));
    Ok((number, Stream::of_league(number)))
}

/// The settings of the league in the store, if there is one.
fn stored_settings(store: &Store, stream: &Stream) -> Result<Option<LeagueSettings>> {
    let events = store.load(stream)?;
    let Some(first) = events.first() else {
        return Ok(None);
    };
    let mut settings = match event_codec::decode(&first.line)
        .context("the league's first event cannot be read")?
    {
        (_, LeagueEvent::LeagueCreated { settings }) => settings,
        _ => anyhow::bail!(
            "the league's log does not begin with its settings - run `matchday verify`"
        ),
    };
    // The one of them that the operator can change.
    let rotated = events
        .iter()
        .rfind(|event| event.line.contains("operator_token_rotated"));
    if let Some((_, LeagueEvent::OperatorTokenRotated { token })) = rotated
        .map(|event| event_codec::decode(&event.line))
        .transpose()?
    {
        settings.operator_token = Some(token);
    }
    Ok(Some(settings))
}

/// Who may register in the league in the store.
fn stored_roster(store: &Store, stream: &Stream) -> Result<Vec<Place>> {
    let history = LeagueLog::decode(&store.load(stream)?)
        .context("the league in the store cannot be read")?;
    Ok(history.league.roster)
}

/// Says which settings were asked for and are not the league's own.
fn tell_ignored(config: &Config, own: &LeagueSettings, store: &StoreUrl) -> Result<()> {
    let mut ignored = Vec::new();
    for value in config.given() {
        if league_settings(&config.only(value), own.clone())? != *own {
            ignored.push(format!("{value} of {}", value.source()));
        }
    }
    if !ignored.is_empty() {
        let ignored = ignored.join(", ");
        notice(&format!(
            "the league in {store} keeps the settings it began with - ignored: {ignored}"
        ));
    }
    Ok(())
}

pub(super) fn start_when(config: &Config) -> Result<Option<StartCounts>> {
    let Some(wanted) = config.get(&settings::START_WHEN)? else {
        return Ok(None);
    };
    let players = config.need(&settings::PLAYERS_MAX)?;
    let referees = LeagueSettings::default().referees_max;
    if wanted.players > players as usize || wanted.referees > referees as usize {
        let why = format!(
            "no more than {players} players and {referees} referees may register - --players-max raises the first"
        );
        return Err(config.wrong(&settings::START_WHEN, why));
    }
    Ok(Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variable: &str, text: &str) -> Config {
        ManagerFlags::with_variables(&[(variable, text)])
    }

    #[test]
    fn the_defaults_shown_are_the_defaults_of_a_league() {
        assert_eq!(
            league_settings(&config("", ""), LeagueSettings::default()).unwrap(),
            LeagueSettings::default()
        );
        let other = LeagueSettings {
            players_max: 1,
            ..LeagueSettings::default()
        };
        assert_eq!(
            league_settings(&config("", ""), other).unwrap(),
            LeagueSettings::default()
        );
    }

    #[test]
    fn what_a_league_began_with_is_no_change_to_it() {
        let variables = [
            ("MATCHDAY_RETRY", "exponential"),
            ("MATCHDAY_RETRY_DELAY", "0.5"),
        ];
        let both = ManagerFlags::with_variables(&variables);
        let own = league_settings(&both, LeagueSettings::default()).unwrap();
        assert_ne!(own, LeagueSettings::default());
        assert_eq!(both.given().count(), 2);
        for value in both.given() {
            assert_eq!(
                league_settings(&both.only(value), own.clone()).unwrap(),
                own,
                "{value:?}"
            );
        }
    }

    #[test]
    fn tie_breaks_are_kept_in_their_order() {
        let read = |text: &str| config("MATCHDAY_TIE_BREAKS", text).get(&settings::TIE_BREAKS);
        use matchday_core::league::TieBreak;
        assert_eq!(
            read("wins, head_to_head").unwrap(),
            Some(vec![TieBreak::Wins, TieBreak::HeadToHead])
        );
        for bad in ["wins,wins", "wins,", "luck"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn start_when_counts_players_and_referees() {
        let read = |text: &str| start_when(&config("MATCHDAY_START_WHEN", text));
        assert_eq!(
            read("players=4,referees=2").unwrap(),
            Some(StartCounts {
                players: 4,
                referees: 2
            })
        );
        assert_eq!(
            read("players=3").unwrap(),
            Some(StartCounts {
                players: 3,
                referees: 1
            })
        );
        assert_eq!(read("").unwrap(), None);
        for bad in [
            "4",
            "players=1",
            "referees=0",
            "players=four",
            "teams=3",
            "players=100",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
