//! `matchday manager`: a league manager over one store. A league keeps the settings it began with; what is asked
//! otherwise when it is started again is told, and ignored.

use super::config::{Config, Flags};
use super::desk::Desk;
use super::settings::ForManager;
use super::{Usage, competition, dashboard, network, notice, observing, roster, seat, serve, tls};
use crate::shell::{self, Options, entropy_from_system};
use crate::store::checkpoint_keys::CheckpointKeys;
use crate::store::history::History;
use crate::store::{Store, Stream};
use anyhow::{Context, Result};
use matchday_core::league::{EndpointCheck, LeagueEvent, Manager, Place, Settings};
use matchday_core::log;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{GameType, LeagueId, Token};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday manager --store spring.db --lead 5 --start-when players=4,referees=2
  matchday manager --store spring.db --league-id spring_2    # the next league, once this is over
  matchday manager --seats on    # language models can play: they add this address as an MCP server";

pub(super) async fn execute(flags: Flags<ForManager>) -> Result<ExitCode> {
    let stop = serve::Stop::listen()?;
    let config = flags.resolve()?;
    let mut options = serve::options(&config)?;
    let mut settings = league_settings(&config, Settings::default())?;
    if let Some(rules) = serve::game_program(&config)? {
        let game = rules.describe().await.map_err(anyhow::Error::msg)?;
        settings.game_type = game.game_type.clone();
        settings.outside_game = Some(game);
    }
    let start_when = start_when(&config)?;
    let listener = serve::bind(&config).await?;
    let listening = listener.local_addr()?;
    let to_ourselves = tls::client_to_ourselves(&config, options.terms.tls.as_ref())?;
    let observed = observing::observed(&config, listening, &options.client)?;
    options.observed = observed.clone();
    options.client = network::guarded(&config, &options.client, listening, &[])?;
    let (path, store) = serve::open_store(&config, "matchday.db".to_owned())?;
    let mut token = config.text("operator-token").map(Token::new);
    let stream = place(&store, &path, asked_for(&config)?.as_ref())?;
    let stored = stored_settings(&store, &stream)?;
    let is_new = stored.is_none();
    if is_new {
        competition::check(&settings, start_when.as_ref().map(|wanted| wanted.players))?;
    }
    match stored {
        Some(own) => {
            tell_ignored(&config, &own, &path)?;
            roster::tell_missing(&config, &stored_roster(&store, &stream)?)?;
            settings = own;
        }
        None if token.is_none() => {
            let made = Token::issue("operator", &mut entropy_from_system()?);
            settings.operator_token = Some(made.hash());
            notice(&format!(
                "operator token, shown this once - keep it for `matchday admin`: {}",
                made.reveal()
            ));
            token = Some(made);
        }
        None => {}
    }
    if is_new {
        let contact = serve::contact(&config, listening.port())?;
        settings.roster = roster::issue(&config, &contact, listening.ip().is_loopback())?;
    }
    let league_id = settings.league_id.clone();
    let scheme = if options.terms.tls.is_some() { "https" } else { "http" };
    let own = Options { client: to_ourselves.clone(), ..options.clone() };
    let real = store.path().unwrap_or(&path).to_owned();
    let seats = seat::beside(&config, &listening, &real, &store, own)?;
    options.seats = seats.as_ref().map(|beside| Arc::clone(&beside.seats));
    let seats_path = seats.as_ref().map(|beside| beside.path.clone());
    options.dashboard = dashboard::beside(&config, listening, &real, seats_path, &options)?;
    options.checkpoint_keys = Some(CheckpointKeys::of(&store, &mut entropy_from_system()?)?);
    let handle = shell::run(Manager::new(settings), listener, store.clone(), stream, options)?;
    let mut address = handle.address();
    let local = address.ip().is_loopback();
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let desk = Desk::at(&format!("{scheme}://{address}/mcp"), to_ourselves);
    // On this machine alone the manager knows its operator without a token.
    let token = token.filter(|_| !local);
    let mut waiting = start_when;
    let look = |manager: &Manager| {
        let league = manager.league();
        let players = league.players.values().filter(|player| !player.withdrawn).count();
        (league.phase, players, league.referees.len())
    };
    let served = serve::until_told(handle, store, stop, look, async |(phase, players, referees)| {
        let Some(wanted) = &waiting else { return Ok(()) };
        if phase != Phase::Registration {
            waiting = None;
        } else if players >= wanted.players && referees >= wanted.referees {
            if let Err(error) = desk.start(&league_id, token.as_ref()).await {
                notice(&format!(
                    "the league could not be started: {error:#} - start it with `matchday start`"
                ));
            }
            waiting = None;
        }
        Ok(())
    })
    .await;
    if let Some(seats) = seats {
        seats.close()?;
    }
    observed.flush().await;
    served
}

/// `base` with what the settings say.
fn league_settings(config: &Config, base: Settings) -> Result<Settings> {
    let games = serve::games();
    let names = games.iter().map(GameType::as_str).collect::<Vec<_>>().join(" or ");
    let game =
        config.read("game", &names, |text| games.iter().find(|game| game.as_str() == text).cloned())?;
    let league_id = config.read("league-id", "a name of 1 to 64 characters", |text| {
        (1..=64).contains(&text.chars().count()).then(|| LeagueId::new(text))
    })?;
    let token = config.text("operator-token").map(|text| Token::new(text).hash());
    Ok(Settings {
        league_id: league_id.unwrap_or(base.league_id),
        game_type: game.unwrap_or(base.game_type),
        conformance: serve::conformance(config)?.unwrap_or(base.conformance),
        announce_lead: config.seconds("lead")?.unwrap_or(base.announce_lead),
        players_max: config.count("players-max")?.unwrap_or(base.players_max),
        referees_max: config.count("referees-max")?.unwrap_or(base.referees_max),
        public_reads: config.switch("public-reads")?.unwrap_or(base.public_reads),
        suspend_after: config.count("suspend-after")?.unwrap_or(base.suspend_after),
        endpoint_check: config.choice("endpoint-check", ENDPOINT_CHECKS)?.unwrap_or(base.endpoint_check),
        probe_timeout: config.seconds_above_zero("probe-timeout")?.unwrap_or(base.probe_timeout),
        probe_every: config.seconds_above_zero("probe-every")?.unwrap_or(base.probe_every),
        tie_breaks: competition::tie_breaks(config)?.unwrap_or(base.tie_breaks),
        standings_pause: config.seconds("standings-pause")?.unwrap_or(base.standings_pause),
        message_bytes_max: message_bytes_max(config)?.unwrap_or(base.message_bytes_max),
        timing: serve::timing(config, base.timing)?,
        operator_token: token.or(base.operator_token),
        token_guesses_max: config.count("token-guesses-max")?.unwrap_or(base.token_guesses_max),
        requests_per_second: config.count("agent-rate")?.unwrap_or(base.requests_per_second),
        registrations_per_address: config
            .count("registrations-per-address")?
            .unwrap_or(base.registrations_per_address),
        roster: base.roster,
        competition: competition::configured(config, base.competition)?,
        fixtures: base.fixtures,
        outside_game: base.outside_game,
    })
}

const ENDPOINT_CHECKS: &[(&str, EndpointCheck)] = &[
    ("off", EndpointCheck::Off),
    ("at_start", EndpointCheck::AtStart),
    ("at_registration", EndpointCheck::AtRegistration),
];

/// No registration fits into less than the least; the most keeps one request from taking the memory of many.
fn message_bytes_max(config: &Config) -> Result<Option<usize>> {
    config.read("message-bytes-max", "a whole number of bytes from 1024 to 16777216", |text| {
        text.trim().parse().ok().filter(|bytes| (1024..=16 << 20).contains(bytes))
    })
}

/// The league that somebody asked for by its id, if anybody did.
fn asked_for(config: &Config) -> Result<Option<LeagueId>> {
    let chosen = config.chosen().find(|value| value.setting.name == "league-id");
    Ok(chosen
        .map(|value| league_settings(&Config::only(value), Settings::default()))
        .transpose()?
        .map(|it| it.league_id))
}

/// Which of a store's leagues is played: the latest, or after one that is over another, if another was asked for.
fn place(store: &Store, path: &Path, wanted: Option<&LeagueId>) -> Result<Stream> {
    let mut known = Vec::new();
    for stream in store.leagues()? {
        let league = History::read(&store.load(&stream)?)
            .context("a league of the store cannot be understood")?
            .league;
        known.push((stream, league));
    }
    let Some((stream, latest)) = known.last() else { return Ok(Stream::league()) };
    let own = &latest.settings.league_id;
    let Some(wanted) = wanted.filter(|wanted| *wanted != own) else { return Ok(stream.clone()) };
    let file = path.display();
    if latest.phase != Phase::Completed {
        anyhow::bail!(
            "{file} holds {own}, which is not over: let it end, or end it with `matchday admin end`, before {wanted} \
             begins in this file, or name another file with --store"
        );
    }
    if known.iter().any(|(_, league)| league.settings.league_id == *wanted) {
        anyhow::bail!("{file} holds {wanted}, and leagues after it: a new league needs another --league-id");
    }
    let number = stream.league_number().unwrap_or(1).saturating_add(1);
    notice(&format!("{own} is over: {wanted} begins in {file} as its league number {number}"));
    Ok(Stream::of_league(number))
}

/// The settings of the league in the store, if there is one.
fn stored_settings(store: &Store, stream: &Stream) -> Result<Option<Settings>> {
    let events = store.load(stream)?;
    let Some(first) = events.first() else { return Ok(None) };
    let mut settings =
        match log::read(&first.line).context("the league's first event cannot be understood")? {
            (_, LeagueEvent::LeagueCreated { settings }) => settings,
            _ => anyhow::bail!("the league's log does not begin with its settings - run `matchday verify`"),
        };
    // The one of them that the operator can change.
    let rotated = events.iter().rfind(|event| event.line.contains("operator_token_rotated"));
    if let Some((_, LeagueEvent::OperatorTokenRotated { token })) =
        rotated.map(|event| log::read(&event.line)).transpose()?
    {
        settings.operator_token = Some(token);
    }
    Ok(Some(settings))
}

/// Who may register in the league in the store.
fn stored_roster(store: &Store, stream: &Stream) -> Result<Vec<Place>> {
    let history =
        History::read(&store.load(stream)?).context("the league in the store cannot be understood")?;
    Ok(history.league.roster)
}

/// Says which settings were asked for and are not the league's own.
fn tell_ignored(config: &Config, own: &Settings, path: &Path) -> Result<()> {
    let mut ignored = Vec::new();
    for value in config.chosen() {
        if league_settings(&Config::only(value), own.clone())? != *own {
            ignored.push(format!("{value} of {}", value.source()));
        }
    }
    if !ignored.is_empty() {
        let ignored = ignored.join(", ");
        notice(&format!(
            "the league in {} keeps the settings it began with - ignored: {ignored}",
            path.display()
        ));
    }
    Ok(())
}

/// How many must have registered before the league starts by itself.
#[derive(Debug, PartialEq, Eq)]
struct StartWhen {
    players: usize,
    referees: usize,
}

fn start_when(config: &Config) -> Result<Option<StartWhen>> {
    let expected = "players=N,referees=N with at least 2 players and 1 referee";
    let wanted = config.read("start-when", expected, |text| {
        let mut wanted = StartWhen { players: 2, referees: 1 };
        for part in text.split(',') {
            let (name, count) = part.trim().split_once('=')?;
            let count = count.trim().parse().ok()?;
            match name.trim() {
                "players" => wanted.players = count,
                "referees" => wanted.referees = count,
                _ => return None,
            }
        }
        (wanted.players >= 2 && wanted.referees >= 1).then_some(wanted)
    })?;
    let most = (config.count("players-max")?, config.count("referees-max")?);
    if let (Some(wanted), (Some(players), Some(referees))) = (&wanted, most)
        && (wanted.players > players as usize || wanted.referees > referees as usize)
    {
        let most = format!("no more than {players} players and {referees} referees may register");
        return Err(Usage(format!("--start-when: {most} - raise --players-max or --referees-max")).into());
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::super::config_file::ConfigFile;
    use super::*;

    fn config(variable: &str, text: &str) -> Config {
        let find = |name: &str| (name == variable).then(|| text.to_owned());
        Flags::<ForManager>::default().resolve_with(&ConfigFile::default(), find).unwrap()
    }

    #[test]
    fn the_defaults_shown_are_the_defaults_of_a_league() {
        assert_eq!(league_settings(&config("", ""), Settings::default()).unwrap(), Settings::default());
        let other = Settings { league_id: LeagueId::new("other"), players_max: 1, ..Settings::default() };
        assert_eq!(league_settings(&config("", ""), other).unwrap(), Settings::default());
    }

    #[test]
    fn what_a_league_began_with_is_no_change_to_it() {
        let variables = [("MATCHDAY_RETRY", "exponential"), ("MATCHDAY_RETRY_DELAY", "0.5")];
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        };
        let both = Flags::<ForManager>::default().resolve_with(&ConfigFile::default(), find).unwrap();
        let own = league_settings(&both, Settings::default()).unwrap();
        assert_ne!(own, Settings::default());
        assert_eq!(both.chosen().count(), 2);
        for value in both.chosen() {
            assert_eq!(league_settings(&Config::only(value), own.clone()).unwrap(), own, "{value:?}");
        }
    }

    #[test]
    fn tie_breaks_are_kept_in_their_order() {
        let read = |text: &str| competition::tie_breaks(&config("MATCHDAY_TIE_BREAKS", text));
        use matchday_core::league::TieBreak;
        assert_eq!(read("wins, head_to_head").unwrap(), Some(vec![TieBreak::Wins, TieBreak::HeadToHead]));
        for bad in ["wins,wins", "wins,", "luck"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn start_when_counts_players_and_referees() {
        let read = |text: &str| start_when(&config("MATCHDAY_START_WHEN", text));
        assert_eq!(read("players=4,referees=2").unwrap(), Some(StartWhen { players: 4, referees: 2 }));
        assert_eq!(read("players=3").unwrap(), Some(StartWhen { players: 3, referees: 1 }));
        assert_eq!(read("").unwrap(), None);
        for bad in ["4", "players=1", "referees=0", "players=four", "teams=3", "players=100"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
