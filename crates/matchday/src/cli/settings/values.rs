//! Parsers of values that are more than a text, a number or a choice.

use crate::manager_client::manager_url;
use matchday_core::game;
use matchday_core::league::TieBreak;
use matchday_core::protocol::{Endpoint, Token};
use matchday_server::league::StartCounts;

pub(super) fn games() -> String {
    game::GAMES
        .iter()
        .map(|game| game.name)
        .collect::<Vec<_>>()
        .join(" or ")
}

pub(super) fn endpoint(text: &str) -> Option<Endpoint> {
    Endpoint::parse(text).ok()
}

/// The manager, as people give its address.
pub(super) fn manager(text: &str) -> Option<Endpoint> {
    endpoint(&manager_url(text))
}

pub(super) fn url(text: &str) -> Option<String> {
    endpoint(text.trim()).map(|_| text.trim().to_owned())
}

/// How many referees a service runs for a league.
pub(super) fn built_in_referees(text: &str) -> Option<u16> {
    match text.trim() {
        "built-in" => Some(1),
        "none" => Some(0),
        number => number
            .parse()
            .ok()
            .filter(|number| (1..=9).contains(number)),
    }
}

pub(super) fn each<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(',').map(|part| parse(part.trim())).collect()
}

/// A shorter token could be guessed, whatever it is made of.
const TOKEN_CHARS_MIN: usize = 16;

pub(super) fn expected_token() -> String {
    format!(
        "at least {TOKEN_CHARS_MIN} characters that nobody can guess, without spaces, such as `openssl rand -hex 32` prints (it is \
         not shown here)"
    )
}

/// A token that the operator makes up.
pub(super) fn token(text: &str) -> Option<Token> {
    let text = text.trim();
    let is_part = |c: char| !c.is_whitespace() && !c.is_control();
    (text.chars().count() >= TOKEN_CHARS_MIN && text.chars().all(is_part)).then(|| Token::new(text))
}

/// The name of an environment variable.
pub(super) fn variable(text: &str) -> Option<String> {
    let is_letter = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '=' | '*');
    (!text.is_empty() && text.chars().all(is_letter)).then(|| text.to_owned())
}

const RULES: [(&str, TieBreak); 7] = [
    ("head_to_head", TieBreak::HeadToHead),
    ("win_percentage", TieBreak::WinPercentage),
    ("wins", TieBreak::Wins),
    ("fewer_draws", TieBreak::FewerDraws),
    ("sonneborn_berger", TieBreak::SonnebornBerger),
    ("buchholz", TieBreak::Buchholz),
    ("lots", TieBreak::Lots),
];

pub(super) fn expected_tie_breaks() -> String {
    format!(
        "some of {}, none of them twice",
        RULES.map(|(name, _)| name).join(",")
    )
}

/// Rules with commas between them. Points may be named first, where they count anyway.
pub(super) fn tie_breaks(text: &str) -> Option<Vec<TieBreak>> {
    let mut rules = Vec::new();
    for (place, part) in text.split(',').enumerate() {
        let name = part.trim().replace('-', "_");
        if place == 0 && name == "points" {
            continue;
        }
        let (_, rule) = RULES.into_iter().find(|(known, _)| *known == name)?;
        if rules.contains(&rule) {
            return None;
        }
        rules.push(rule);
    }
    Some(rules)
}

/// How many must have registered before the league starts by itself.
pub(super) fn start_counts(text: &str) -> Option<StartCounts> {
    let mut wanted = StartCounts {
        players: 2,
        referees: 1,
    };
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_the_operator_is_too_long_to_be_guessed() {
        for (text, is_taken) in [
            ("x", false),
            ("a-long-secret-1", false),
            ("sixteen characte", false),
            ("a-long-secret-16", true),
            (" 5f2b1c9a7e3d4468 ", true),
        ] {
            assert_eq!(token(text).is_some(), is_taken, "{text}");
        }
    }

    #[test]
    fn every_rule_has_a_name_and_points_may_come_first() {
        let all = RULES.map(|(name, _)| name).join(",");
        assert_eq!(tie_breaks(&all).unwrap().len(), TieBreak::ALL.len());
        let read = tie_breaks("points, buchholz, sonneborn-berger").unwrap();
        assert_eq!(read, [TieBreak::Buchholz, TieBreak::SonnebornBerger]);
        assert!(tie_breaks("wins,points").is_none());
        assert!(tie_breaks("wins,wins").is_none());
    }
}
