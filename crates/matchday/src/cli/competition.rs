//! The course of a league as its settings say: format, rounds, groups, tie-breaks.

use super::settings::{self, Config};
use anyhow::Result;
use matchday_core::game::GAMES;
use matchday_core::league::format::Competition;
use matchday_core::league::{LeagueSettings, Score};
use matchday_core::protocol::{GameType, LeagueId};

/// What is said of a league that demands no tokens.
pub(super) const TOKENS_OPTIONAL: &str = "tokens are optional in this league: anybody on this machine can report in a referee's name, and no result is proven";

/// What a league is called that nobody named. The league of even_odd has the name of the course's documents.
pub(super) fn league_id(game: &GameType) -> LeagueId {
    let usual = LeagueSettings::default();
    if usual.game_type == *game {
        usual.league_id
    } else {
        LeagueId::new(format!("league_{game}"))
    }
}

/// `base` with what the settings say. [`check`] tells whether there can be such a league.
pub(super) fn configured(config: &Config, base: Competition) -> Result<Competition> {
    let matches_per_pairing = config.get(&settings::MATCHES_PER_PAIRING)?;
    let per_hour = if config.has(&settings::MATCHES_PER_HOUR) {
        config.get(&settings::MATCHES_PER_HOUR)?
    } else {
        None
    };
    let format = config.get(&settings::FORMAT)?.unwrap_or(base.format);
    Ok(Competition {
        format,
        rounds: config.get(&settings::ROUNDS)?.unwrap_or(base.rounds),
        matches_per_pairing: matches_per_pairing.unwrap_or(base.matches_per_pairing),
        groups: config.get(&settings::GROUPS)?.unwrap_or(base.groups),
        qualifiers: config
            .get(&settings::QUALIFIERS)?
            .unwrap_or(base.qualifiers),
        replays: config.get(&settings::REPLAYS)?.unwrap_or(base.replays),
        third_place: config
            .get(&settings::THIRD_PLACE)?
            .unwrap_or(base.third_place),
        seeding: config.get(&settings::SEEDING)?.unwrap_or(base.seeding),
        play_off: config.get(&settings::PLAY_OFF)?.unwrap_or(base.play_off),
        matches_per_hour: per_hour.or(Competition::of(format).matches_per_hour),
    })
}

/// What the table of a new league goes by.
pub(super) fn score(config: &Config, game: &GameType) -> Result<Score> {
    let chosen = config.get(&settings::SCORE)?.flatten();
    if chosen == Some(Score::Payoff)
        && matchday_core::game::find(game).is_none_or(|game| game.payoff.is_none())
    {
        let with = GAMES
            .iter()
            .filter(|game| game.payoff.is_some())
            .map(|game| game.name);
        let with = with.collect::<Vec<_>>().join(", ");
        return Err(config.wrong(
            &settings::SCORE,
            format!("{game} has no payoffs; it goes with {with}"),
        ));
    }
    Ok(chosen.unwrap_or_else(|| Score::default_of(game)))
}

/// Refuses a league that cannot be; `players` if so many will have registered when it starts.
pub(super) fn check(
    config: &Config,
    league: &LeagueSettings,
    players: Option<usize>,
) -> Result<()> {
    let checked = match players {
        Some(players) => league.competition.check_for(players),
        None => league.competition.check(),
    };
    // Errors of the core begin with the key of the setting.
    checked.map_err(|error| {
        let error = error.to_string();
        let (key, why) = error.split_once(": ").unwrap_or(("format", &error));
        let setting = settings::ALL
            .iter()
            .find(|setting| setting.id.eq_ignore_ascii_case(key));
        config.wrong(setting.unwrap_or(&&*settings::FORMAT), why)
    })
}

#[cfg(test)]
mod tests {
    use super::super::settings::ManagerFlags;
    use super::*;
    use matchday_core::league::format::Format;

    #[test]
    fn what_cannot_be_is_told_by_the_flag() {
        let said = |competition: Competition, players| {
            let settings = LeagueSettings {
                competition,
                ..LeagueSettings::default()
            };
            check(&ManagerFlags::with_variables(&[]), &settings, players)
                .unwrap_err()
                .to_string()
        };
        let rounds = Competition {
            rounds: Some(9),
            ..Competition::of(Format::Swiss)
        };
        insta::assert_snapshot!(said(rounds, Some(4)), @"--rounds: 4 players can play 1 to 3 rounds before everyone has met everyone, not 9");
        let best_of = Competition {
            matches_per_pairing: 0,
            ..Competition::default()
        };
        insta::assert_snapshot!(said(best_of, None), @"--matches-per-pairing: expected 1 to 99, got 0");
    }
}
