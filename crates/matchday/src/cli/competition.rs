//! The course of a league as it is asked for: format, rounds, groups, tie-breaks. From settings and flags to values.

use super::Usage;
use super::config::Config;
use super::settings::{Setting, setting};
use anyhow::Result;
use clap::Args;
use matchday_core::league::format::{Competition, Format, Seeding};
use matchday_core::league::{Settings, TieBreak};

pub(super) const FORMAT: Setting = setting(
    "format",
    "NAME",
    "round_robin",
    "Who meets whom: round_robin, double_round_robin, swiss, knockout or groups_knockout",
);
pub(super) const ROUNDS: Setting = setting(
    "rounds",
    "N|auto",
    "auto",
    "How many rounds a swiss league has; auto for what its size asks for",
);
pub(super) const MATCHES_PER_PAIRING: Setting = setting(
    "matches-per-pairing",
    "N",
    "1",
    "How many matches two who are paired play, sides alternating; in a knockout, the best of so many",
);
pub(super) const GROUPS: Setting = setting(
    "groups",
    "N|auto",
    "auto",
    "How many groups groups_knockout has; auto for about four players each",
);
pub(super) const QUALIFIERS: Setting =
    setting("qualifiers", "N|auto", "auto", "How many of each group reach the knockout; auto for two");
pub(super) const REPLAYS: Setting = setting(
    "replays",
    "N",
    "3",
    "How often a level tie of a knockout is played again before the lot decides",
);
pub(super) const THIRD_PLACE: Setting =
    setting("third-place", "on|off", "off", "Whether the beaten semifinalists play for the third place");
pub(super) const SEEDING: Setting = setting(
    "seeding",
    "registration|lots",
    "registration",
    "Who counts as the stronger before the first match: who registered earlier, or by lot",
);
pub(super) const TIE_BREAKS: Setting = setting(
    "tie-breaks",
    "RULES",
    "head_to_head,win_percentage,wins,fewer_draws",
    "What tells players with equal points apart, the first rule first; also sonneborn_berger, buchholz, lots",
);

const SEEDINGS: &[(&str, Seeding)] = &[("registration", Seeding::Registration), ("lots", Seeding::Lots)];

const RULES: [(&str, TieBreak); 7] = [
    ("head_to_head", TieBreak::HeadToHead),
    ("win_percentage", TieBreak::WinPercentage),
    ("wins", TieBreak::Wins),
    ("fewer_draws", TieBreak::FewerDraws),
    ("sonneborn_berger", TieBreak::SonnebornBerger),
    ("buchholz", TieBreak::Buchholz),
    ("lots", TieBreak::Lots),
];

/// `base` with what the settings of a manager say. Whether it can be is another question.
pub(super) fn configured(config: &Config, base: Competition) -> Result<Competition> {
    let names = Format::ALL.map(Format::name).join(" or ");
    Ok(Competition {
        format: config.read("format", &names, Format::find)?.unwrap_or(base.format),
        rounds: number_or_auto(config, "rounds")?.unwrap_or(base.rounds),
        matches_per_pairing: config.count("matches-per-pairing")?.unwrap_or(base.matches_per_pairing),
        groups: number_or_auto(config, "groups")?.unwrap_or(base.groups),
        qualifiers: number_or_auto(config, "qualifiers")?.unwrap_or(base.qualifiers),
        replays: config.count("replays")?.unwrap_or(base.replays),
        third_place: config.switch("third-place")?.unwrap_or(base.third_place),
        seeding: config.choice("seeding", SEEDINGS)?.unwrap_or(base.seeding),
    })
}

/// Nothing if the setting is not there; no number if it says `auto`.
fn number_or_auto(config: &Config, name: &str) -> Result<Option<Option<u32>>> {
    config.read(name, "a whole number or auto", |text| match text.trim() {
        "auto" => Some(None),
        number => number.parse().ok().map(Some),
    })
}

pub(super) fn tie_breaks(config: &Config) -> Result<Option<Vec<TieBreak>>> {
    config.read("tie-breaks", &expected(), |text| rules(text).ok())
}

/// What a league cannot be, before anyone has registered; `players` if so many will have when it starts.
pub(super) fn check(settings: &Settings, players: Option<usize>) -> Result<(), Usage> {
    let competition = &settings.competition;
    let checked = match players {
        Some(players) => competition.check_for(players),
        None => competition.check(),
    };
    checked.map_err(|error| Usage(format!("--{}", dashed(&error.to_string()))))
}

/// Errors of the core name a setting by its key; on the command line it has dashes.
fn dashed(error: &str) -> String {
    match error.split_once(": ") {
        Some((setting, rest)) => format!("{}: {rest}", setting.replace('_', "-")),
        None => format!("format: {error}"),
    }
}

fn expected() -> String {
    format!("some of {}, none of them twice", RULES.map(|(name, _)| name).join(","))
}

/// Points may be named, in the first place, where they stand anyway.
fn rules(text: &str) -> Result<Vec<TieBreak>, String> {
    let mut rules = Vec::new();
    for (place, part) in text.split(',').enumerate() {
        let name = part.trim().replace('-', "_");
        if place == 0 && name == "points" {
            continue;
        }
        let known = RULES.into_iter().find(|(known, _)| *known == name);
        match known.filter(|(_, rule)| !rules.contains(rule)) {
            Some((_, rule)) => rules.push(rule),
            None => return Err(format!("expected {}", expected())),
        }
    }
    Ok(rules)
}

/// The flags of `matchday run` for all that.
#[derive(Debug, Clone, Args)]
pub(super) struct CompetitionArgs {
    /// Who meets whom: round_robin, double_round_robin, swiss, knockout or groups_knockout
    #[arg(long, default_value = "round_robin", value_name = "NAME", value_parser = named)]
    format: Format,
    /// How many rounds a swiss league has [default: what its size asks for]
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// How many matches two who are paired play, sides alternating; in a knockout, the best of so many
    #[arg(long, default_value_t = 1, value_name = "N")]
    matches_per_pairing: u32,
    /// How many groups groups_knockout has [default: such that each has about four]
    #[arg(long, value_name = "N")]
    groups: Option<u32>,
    /// How many of each group reach the knockout [default: 2]
    #[arg(long, value_name = "N")]
    qualifiers: Option<u32>,
    /// How often a level tie of a knockout is played again before the lot decides
    #[arg(long, default_value_t = 3, value_name = "N")]
    replays: u32,
    /// Let the beaten semifinalists play for the third place
    #[arg(long)]
    third_place: bool,
    /// Who counts as the stronger before the first match: registration (the lower number) or lots
    #[arg(long, default_value = "registration", value_name = "HOW", value_parser = seeding)]
    seeding: Seeding,
    /// What tells players with equal points apart, the first rule first: head_to_head, win_percentage, wins, fewer_draws,
    /// sonneborn_berger, buchholz, lots [default: the first four]
    #[arg(long, value_name = "RULES", value_parser = chain)]
    tie_breaks: Option<Chain>,
}

/// Rules in their order; a type of its own, so that one flag gives them all.
#[derive(Debug, Clone)]
pub(super) struct Chain(Vec<TieBreak>);

fn named(text: &str) -> Result<Format, String> {
    let names = || Format::ALL.map(Format::name).join(", ");
    Format::find(&text.replace('-', "_")).ok_or_else(|| format!("expected one of {}", names()))
}

fn seeding(text: &str) -> Result<Seeding, String> {
    let found = SEEDINGS.iter().find(|(name, _)| *name == text);
    found.map(|(_, seeding)| *seeding).ok_or_else(|| "expected registration or lots".to_owned())
}

fn chain(text: &str) -> Result<Chain, String> {
    rules(text).map(Chain)
}

impl CompetitionArgs {
    pub(super) fn competition(&self) -> Competition {
        Competition {
            format: self.format,
            rounds: self.rounds,
            matches_per_pairing: self.matches_per_pairing,
            groups: self.groups,
            qualifiers: self.qualifiers,
            replays: self.replays,
            third_place: self.third_place,
            seeding: self.seeding,
        }
    }

    pub(super) fn tie_breaks(&self) -> Vec<TieBreak> {
        self.tie_breaks.as_ref().map_or_else(|| TieBreak::DEFAULT.to_vec(), |Chain(rules)| rules.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_and_points_may_come_first() {
        let all = RULES.map(|(name, _)| name).join(",");
        assert_eq!(rules(&all).unwrap().len(), TieBreak::ALL.len());
        let read = rules("points, buchholz, sonneborn-berger").unwrap();
        assert_eq!(read, [TieBreak::Buchholz, TieBreak::SonnebornBerger]);
        assert!(rules("wins,points").is_err());
        assert!(rules("wins,wins").is_err());
    }

    #[test]
    fn what_cannot_be_is_told_by_the_flag() {
        let said = |competition: Competition, players| {
            let settings = Settings { competition, ..Settings::default() };
            check(&settings, players).unwrap_err().to_string()
        };
        let rounds = Competition { rounds: Some(9), ..Competition::of(Format::Swiss) };
        insta::assert_snapshot!(said(rounds, Some(4)), @"--rounds: 4 players can play 1 to 3 rounds before everyone has met everyone, not 9");
        let best_of = Competition { matches_per_pairing: 0, ..Competition::default() };
        insta::assert_snapshot!(said(best_of, None), @"--matches-per-pairing: expected 1 to 99, got 0");
    }
}
