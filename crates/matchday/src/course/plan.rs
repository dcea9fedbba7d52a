//! `course.toml`: sections, the nights of the season and when they start, settings of the leagues, the grading scale. Pure.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use matchday_core::protocol::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What `matchday course init` writes. `{nights}` are the coming nights.
pub(crate) const TEMPLATE: &str = include_str!("template.toml");

/// Settings that the course itself gives to each league.
const OWN_SETTINGS: [&str; 4] = ["roster", "operator-token", "start-when", "league-id"];
/// With `_` and a number it is the id of a league, which has 64 characters at most.
const SECTION_LENGTH_MAX: usize = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoursePlan {
    pub(crate) name: String,
    /// Where students and staff reach the service.
    pub(crate) service: String,
    /// Where students get the program: a page or a folder.
    pub(crate) program: Option<String>,
    pub(crate) season: Season,
    /// Settings of every league, as in the section `[league]` of a configuration file.
    #[serde(default)]
    league: toml::Table,
    /// By section: settings that differ there.
    sections: BTreeMap<String, toml::Table>,
    pub(crate) grading: Grading,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Season {
    /// Dates, as in 2026-03-02. Each section plays one league a night.
    pub(crate) nights: Vec<String>,
    /// When a night's league starts: a time of day where the course is, as in 20:00.
    pub(crate) start: String,
    /// Where that is, as in Europe/Berlin.
    pub(crate) time_zone: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grading {
    /// How many nights count, the best first; all if it is absent.
    pub(crate) best_nights: Option<usize>,
    /// The least score, of a hundred, for each grade.
    pub(crate) scale: BTreeMap<String, f64>,
}

impl CoursePlan {
    /// Fails with what is wrong and where.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut plan: Self = toml::from_str(text).map_err(|error| toml_error(text, &error))?;
        plan.service = plan
            .service
            .trim_end_matches('/')
            .trim_end_matches("/mcp")
            .to_owned();
        if !plan.service.starts_with("http://") && !plan.service.starts_with("https://") {
            return Err(format!(
                "service: expected a URL, such as http://localhost:8000, got {:?}",
                plan.service
            ));
        }
        plan.check_season()?;
        plan.check_sections()?;
        plan.check_grading()?;
        Ok(plan)
    }

    fn check_season(&self) -> Result<(), String> {
        let Season { nights, start, .. } = &self.season;
        if nights.is_empty() {
            return Err(
                "season.nights: expected at least one date, such as \"2026-03-02\"".to_owned(),
            );
        }
        self.zone()?;
        let mut before = "";
        for night in nights {
            if night.len() != 10 || start.len() != 5 || self.time_of(night).is_none() {
                return Err(format!(
                    "season: expected nights such as \"2026-03-02\" and a start such as \"20:00\", got {night:?} and {start:?}"
                ));
            }
            if before >= night.as_str() {
                return Err(format!(
                    "season.nights: {night} stands after {before}: put them in order, each once"
                ));
            }
            before = night;
        }
        Ok(())
    }

    fn check_sections(&self) -> Result<(), String> {
        if self.sections.is_empty() {
            return Err("sections: expected at least one, such as [sections.monday]".to_owned());
        }
        for section in self.sections.keys() {
            let plain =
                |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
            if section.is_empty()
                || section.len() > SECTION_LENGTH_MAX
                || !section.chars().all(plain)
            {
                return Err(format!(
                    "sections.{section}: expected 1 to {SECTION_LENGTH_MAX} letters, digits, - and _: it is part of the \
                     league's id"
                ));
            }
            self.league_settings(section)?;
        }
        Ok(())
    }

    fn check_grading(&self) -> Result<(), String> {
        let Grading { best_nights, scale } = &self.grading;
        if *best_nights == Some(0) {
            return Err(
                "grading.best_nights: expected 1 or more; leave it out to count every night"
                    .to_owned(),
            );
        }
        let mut bounds = BTreeSet::new();
        for (grade, bound) in scale {
            if !(0.0..=100.0).contains(bound) {
                return Err(format!(
                    "grading.scale.{grade}: expected 0 to 100, got {bound}"
                ));
            }
            if !bounds.insert(bound.to_bits()) {
                return Err(format!(
                    "grading.scale.{grade}: another grade begins at {bound} too"
                ));
            }
        }
        if scale.is_empty() {
            Err("grading.scale: expected at least one grade, such as A = 85".to_owned())
        } else {
            Ok(())
        }
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = &str> {
        self.sections.keys().map(String::as_str)
    }

    /// Where the course is.
    pub(crate) fn zone(&self) -> Result<TimeZone, String> {
        let name = &self.season.time_zone;
        TimeZone::get(name).map_err(|_| {
            format!("season.time_zone: there is no {name:?}: expected a name such as Europe/Berlin or UTC")
        })
    }

    fn time_of(&self, night: &str) -> Option<DateTime> {
        format!("{night}T{}", self.season.start).parse().ok()
    }

    /// Whether students on other machines cannot reach the service by the address that they are told.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        let host = self.service.split("://").nth(1).unwrap_or_default();
        ["localhost", "127.", "[::1]", "0.0.0.0"]
            .iter()
            .any(|own| host.starts_with(own))
    }

    /// When the leagues start, as a service takes it.
    pub(crate) fn schedule(&self) -> String {
        let times = self.season.nights.iter();
        let times = times.map(|night| format!("{night}T{}", self.season.start));
        times.collect::<Vec<_>>().join(" ")
    }

    /// The settings of the leagues of a section, by their keys.
    pub(crate) fn league_settings(
        &self,
        section: &str,
    ) -> Result<BTreeMap<String, String>, String> {
        let differing = self.sections.get(section).into_iter().flatten();
        let tables = self.league.iter().map(|entry| ("league".to_owned(), entry));
        let tables = tables.chain(differing.map(|entry| (format!("sections.{section}"), entry)));
        let mut settings = BTreeMap::new();
        for (table, (key, value)) in tables {
            let key = key.replace('_', "-");
            if OWN_SETTINGS.contains(&key.as_str()) {
                return Err(format!(
                    "{table}.{key}: this is set by the course: leave it out"
                ));
            }
            let text = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Float(number) => number.to_string(),
                toml::Value::Boolean(truth) => truth.to_string(),
                _ => {
                    return Err(format!(
                        "{table}.{key}: expected a text, a number, true or false"
                    ));
                }
            };
            settings.insert(key, text);
        }
        Ok(settings)
    }

    pub(crate) fn game(&self, section: &str) -> String {
        let settings = self.league_settings(section).unwrap_or_default();
        settings
            .get("game")
            .cloned()
            .unwrap_or_else(|| "even_odd".to_owned())
    }

    /// The grade of a score; `-` below the whole scale.
    pub(crate) fn grade(&self, score: f64) -> &str {
        let reached = self
            .grading
            .scale
            .iter()
            .filter(|(_, bound)| score >= **bound);
        reached
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map_or("-", |(grade, _)| grade)
    }
}

/// A time as clocks show it in this zone.
pub(crate) fn local(at: Timestamp, zone: &TimeZone) -> DateTime {
    let at = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default();
    zone.to_datetime(at)
}

fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let before = error
        .span()
        .and_then(|span| text.get(..span.start))
        .unwrap_or_default();
    format!(
        "line {}: {}",
        before.matches('\n').count() + 1,
        in_plain_words(error.message())
    )
}

/// What serde says of a value of the wrong type, without the names of Rust's types.
fn in_plain_words(message: &str) -> String {
    let Some(("", types)) = message.split_once("invalid type: ") else {
        return message.to_owned();
    };
    let Some((found, expected)) = types.split_once(", expected ") else {
        return message.to_owned();
    };
    let found = match found.split(' ').next().unwrap_or_default() {
        "sequence" => "a list",
        "map" => "a table",
        "string" => "a text",
        "integer" => "a whole number",
        "floating" => "a number",
        "boolean" => "true or false",
        _ => found,
    };
    let expected = match expected {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        "a boolean" => "true or false",
        other => other,
    };
    format!("expected {expected}, got {found}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> String {
        TEMPLATE.replace("{nights}", "\"2026-03-02\", \"2026-03-03\"")
    }

    #[test]
    fn the_template_is_a_plan() {
        let plan = CoursePlan::parse(&template()).unwrap();
        assert_eq!(plan.sections().collect::<Vec<_>>(), ["monday", "tuesday"]);
        assert_eq!(plan.schedule(), "2026-03-02T20:00 2026-03-03T20:00");
        assert_eq!(
            (
                plan.grade(100.0),
                plan.grade(85.0),
                plan.grade(84.9),
                plan.grade(1.0)
            ),
            ("A", "A", "B", "F")
        );
    }

    #[test]
    fn a_section_differs_where_it_says_so() {
        let text = template().replace("[sections.tuesday]", "[sections.tuesday]\ngame = \"nim\"");
        let plan = CoursePlan::parse(&text).unwrap();
        assert_eq!(
            (plan.game("monday"), plan.game("tuesday")),
            ("even_odd".to_owned(), "nim".to_owned())
        );
    }

    #[test]
    fn a_time_is_that_of_the_course() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = Timestamp::parse("2026-03-29T22:30:00Z").unwrap().0;
        assert_eq!(local(at, &zone).to_string(), "2026-03-30T00:30:00");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_to_do() {
        for (from, to, what) in [
            (
                "start = \"20:00\"",
                "start = \"8 pm\"",
                "a start such as \"20:00\"",
            ),
            (
                "time_zone = \"UTC\"",
                "time_zone = \"Berlin\"",
                "expected a name such as Europe/Berlin",
            ),
            (
                "\"2026-03-02\", \"2026-03-03\"",
                "\"2026-03-03\", \"2026-03-02\"",
                "put them in order",
            ),
            (
                "[sections.monday]",
                "[sections.\"mon day\"]",
                "it is part of the league's id",
            ),
            (
                "[sections.monday]",
                "[sections.monday]\nroster = \"x.csv\"",
                "sections.monday.roster: this is set by the course",
            ),
            (
                "best_nights = 4",
                "best_nights = 0",
                "leave it out to count every night",
            ),
            ("A = 85", "A = 185", "grading.scale.A: expected 0 to 100"),
            ("service = \"http", "service = \"ftp", "expected a URL"),
            (
                "best_nights = 4",
                "best_nights = [4]",
                "expected a whole number, got a list",
            ),
            (
                "start = \"20:00\"",
                "start = 20",
                "expected a text in quotes, got a whole number",
            ),
            (
                "best_nights",
                "best_knights",
                "unknown field `best_knights`",
            ),
        ] {
            let text = template();
            assert!(text.contains(from), "{from}");
            let error = CoursePlan::parse(&text.replace(from, to)).unwrap_err();
            assert!(error.contains(what), "{from} -> {to}: {error}");
        }
    }
}
