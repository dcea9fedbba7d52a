//! The grade sheet of a course, by section: scores of nights, the grade by the scale, progress by version, replacements; and as
//! Moodle and Canvas import it. Pure.

use super::night_results::{Night, Performance};
use super::plan::CoursePlan;
use super::roster::Student;
use matchday_audit::csv_rows::csv;
use matchday_terminal::table;
use serde::Serialize;

/// A student's line of the grade sheet.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    section: String,
    name: String,
    mail: String,
    score: f64,
    grade: String,
    nights_played: usize,
    nights: usize,
    first_night_score: Option<f64>,
    last_night_score: Option<f64>,
    /// The last night's score less the first one's.
    improvement: Option<f64>,
    /// In the order in which they played.
    versions: String,
    replacements: u32,
    technical_losses: u32,
}

/// One night of one student.
#[derive(Debug, Serialize)]
struct NightLine<'a> {
    section: &'a str,
    name: &'a str,
    night: &'a str,
    league: &'a str,
    registered_at: Option<String>,
    versions: String,
    replacements: u32,
    won: u32,
    drawn: u32,
    lost: u32,
    technical_losses: u32,
    score: f64,
    league_completed: bool,
}

#[derive(Debug)]
pub(crate) struct GradeSheet<'a> {
    plan: &'a CoursePlan,
    students: &'a [Student],
    /// By section, and in the order in which they began.
    nights: Vec<Night>,
    pub(crate) lines: Vec<Line>,
}

impl<'a> GradeSheet<'a> {
    pub(crate) fn new(
        plan: &'a CoursePlan,
        students: &'a [Student],
        mut nights: Vec<Night>,
    ) -> Self {
        nights.sort_by(|a, b| (&a.section, a.began).cmp(&(&b.section, b.began)));
        let mut lines: Vec<Line> = students
            .iter()
            .map(|student| line(plan, student, &nights))
            .collect();
        lines.sort_by(|a, b| {
            a.section
                .cmp(&b.section)
                .then(b.score.total_cmp(&a.score))
                .then_with(|| a.name.cmp(&b.name))
        });
        Self {
            plan,
            students,
            nights,
            lines,
        }
    }

    /// A row for each student.
    pub(crate) fn csv(&self) -> Result<String, csv::Error> {
        csv(&self.lines)
    }

    /// A row for each student and night.
    pub(crate) fn nights_csv(&self) -> Result<String, csv::Error> {
        let absent = Performance::default();
        let rows = self.students.iter().flat_map(|student| {
            let own = self
                .nights
                .iter()
                .filter(|night| night.section == student.section);
            own.map(|night| {
                let name = student.name.raw();
                night_line(name, night, night.players.get(name).unwrap_or(&absent))
            })
        });
        csv(rows)
    }

    /// For Moodle, which finds people by their mail: those without one are left out, since one that is not found ends the import.
    pub(crate) fn moodle_csv(&self) -> Result<String, csv::Error> {
        let name = &self.plan.name;
        let mut head = ["Email address", "ID number", "Full name", "Group"]
            .map(str::to_owned)
            .to_vec();
        head.extend([name.clone(), format!("{name} (feedback)")]);
        let rows = self
            .of_students()
            .filter(|(_, student)| !student.mail.is_empty());
        let rows = rows.map(|(line, student)| {
            vec![
                line.mail.clone(),
                student.id.clone(),
                line.name.clone(),
                line.section.clone(),
                line.score.to_string(),
                feedback(line),
            ]
        });
        csv([head].into_iter().chain(rows))
    }

    /// For Canvas, which finds people by its own number or by their login, and takes a row of the points possible first.
    pub(crate) fn canvas_csv(&self) -> Result<String, csv::Error> {
        let [name, id, sis_id, login, section] =
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"].map(str::to_owned);
        let head = vec![name, id, sis_id, login, section, self.plan.name.clone()];
        let mut possible = vec![String::new(); head.len()];
        if let [name, .., points] = possible.as_mut_slice() {
            (*name, *points) = ("    Points Possible".to_owned(), "100".to_owned());
        }
        let rows = self.of_students().map(|(line, student)| {
            let login = [&student.login, &student.mail];
            let login = login.into_iter().find(|login| !login.is_empty());
            vec![
                line.name.clone(),
                student.id.clone(),
                String::new(),
                login.cloned().unwrap_or_default(),
                line.section.clone(),
                line.score.to_string(),
            ]
        });
        csv([head, possible].into_iter().chain(rows))
    }

    /// Whom neither platform could find.
    pub(crate) fn unknown_to_platforms(&self) -> impl Iterator<Item = &str> {
        let unknown = self
            .of_students()
            .filter(|(_, student)| student.mail.is_empty());
        unknown.map(|(line, _)| line.name.as_str())
    }

    fn of_students(&self) -> impl Iterator<Item = (&Line, &Student)> {
        self.lines.iter().filter_map(|line| {
            let mut students = self.students.iter();
            Some((
                line,
                students.find(|student| student.name.raw() == line.name)?,
            ))
        })
    }

    /// A table for each section.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for section in self.plan.sections() {
            let lines: Vec<&Line> = self
                .lines
                .iter()
                .filter(|line| line.section == section)
                .collect();
            let nights = self
                .nights
                .iter()
                .filter(|night| night.section == section)
                .count();
            text.push_str(&format!(
                "Section {section} (students: {}, nights: {nights})\n",
                lines.len()
            ));
            if !lines.is_empty() {
                text.push_str(&section_table(&lines));
                text.push('\n');
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}

fn section_table(lines: &[&Line]) -> String {
    let headers = [
        "NAME",
        "SCORE",
        "GRADE",
        "PLAYED",
        "FIRST",
        "LAST",
        "IMPROVED",
        "VERSIONS",
        "REPLACED",
        "TECHNICAL",
    ];
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    let row = |line: &&Line| {
        vec![
            line.name.clone(),
            format!("{:.1}", line.score),
            line.grade.clone(),
            format!("{}/{}", line.nights_played, line.nights),
            number(line.first_night_score),
            number(line.last_night_score),
            line.improvement
                .map_or_else(|| "-".to_owned(), |value| format!("{value:+.1}")),
            line.versions.clone(),
            line.replacements.to_string(),
            line.technical_losses.to_string(),
        ]
    };
    table(&headers, &lines.iter().map(row).collect::<Vec<_>>())
}

fn rounded(score: f64) -> f64 {
    (score * 10.0).round() / 10.0
}

fn line(plan: &CoursePlan, student: &Student, nights: &[Night]) -> Line {
    let name = student.name.raw();
    let own: Vec<&Night> = nights
        .iter()
        .filter(|night| night.section == student.section)
        .collect();
    let played: Vec<(&Night, &Performance)> = own
        .iter()
        .filter_map(|night| Some((*night, night.players.get(name)?)))
        .collect();
    let scores: Vec<f64> = played.iter().map(|(_, one)| one.score()).collect();
    let mut best = scores.clone();
    best.sort_by(|a, b| b.total_cmp(a));
    let counted = plan.grading.best_nights.unwrap_or(own.len()).min(own.len());
    // A night without the student is a zero among those that count.
    let score = match counted {
        0 => 0.0,
        counted => rounded(
            best.iter()
                .take(counted)
                .fold(0.0, |sum, score| sum + score)
                / f64::from(u32::try_from(counted).unwrap_or(u32::MAX)),
        ),
    };
    let first = scores.first().copied().map(rounded);
    let last = scores.last().copied().map(rounded);
    let improvement = first
        .zip(last)
        .filter(|_| scores.len() > 1)
        .map(|(first, last)| rounded(last - first));
    let mut versions: Vec<&str> = Vec::new();
    for version in played.iter().flat_map(|(_, one)| &one.versions) {
        if versions.last() != Some(&version.as_str()) {
            versions.push(version);
        }
    }
    Line {
        section: student.section.clone(),
        name: name.to_owned(),
        mail: student.mail.clone(),
        score,
        grade: if counted == 0 { "-" } else { plan.grade(score) }.to_owned(),
        nights_played: played.iter().filter(|(_, one)| one.took_part()).count(),
        nights: own.len(),
        first_night_score: first,
        last_night_score: last,
        improvement,
        versions: versions.join(" > "),
        replacements: played.iter().map(|(_, one)| one.replacements).sum(),
        technical_losses: played.iter().map(|(_, one)| one.technical_losses).sum(),
    }
}

fn night_line<'a>(name: &'a str, night: &'a Night, one: &Performance) -> NightLine<'a> {
    NightLine {
        section: &night.section,
        name,
        night: &night.date,
        league: &night.league_id,
        registered_at: one.registered_at.map(|at| at.to_string()),
        versions: one.versions.join(" > "),
        replacements: one.replacements,
        won: one.wins,
        drawn: one.draws,
        lost: one.losses,
        technical_losses: one.technical_losses,
        score: rounded(one.score()),
        league_completed: night.completed,
    }
}

fn feedback(line: &Line) -> String {
    let mut parts = Vec::new();
    parts.extend((line.nights > 0).then(|| line.grade.clone()));
    parts.push(format!(
        "{} of {} nights played",
        line.nights_played, line.nights
    ));
    parts.extend(
        line.improvement
            .map(|by| format!("{by:+.1} from the first night to the last")),
    );
    let technical = line.technical_losses;
    parts.extend((technical > 0).then(|| format!("technical losses: {technical}")));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::{plan, roster};
    use super::*;
    use matchday_core::protocol::Timestamp;
    use std::collections::BTreeMap;

    const DATES: [&str; 3] = ["2026-03-02", "2026-03-03", "2026-03-04"];

    fn course() -> (CoursePlan, Vec<Student>) {
        let nights = DATES.map(|date| format!("{date:?}")).join(", ");
        let text = plan::TEMPLATE
            .replace("{nights}", &nights)
            .replace("best_nights = 4", "best_nights = 2");
        let plan = CoursePlan::parse(&text).unwrap();
        let (students, _) = roster::parse(roster::TEMPLATE, &plan).unwrap();
        (plan, students)
    }

    fn performance(at: &str, version: &str, [wins, draws, losses]: [u32; 3]) -> Performance {
        Performance {
            registered_at: Some(Timestamp::parse(at).unwrap().0),
            versions: vec![version.to_owned()],
            wins,
            draws,
            losses,
            ..Performance::default()
        }
    }

    fn night(date: &str, players: &[(&str, Performance)]) -> Night {
        Night {
            section: "monday".to_owned(),
            league_id: format!("monday_{}", &date[9..]),
            date: date.to_owned(),
            began: Timestamp::parse(&format!("{date}T20:00:00Z")).unwrap().0,
            completed: true,
            players: players
                .iter()
                .map(|(name, one)| ((*name).to_owned(), one.clone()))
                .collect::<BTreeMap<_, _>>(),
        }
    }

    /// Ann improves from night to night; Bob forfeits, and stays away once.
    fn season() -> Vec<Night> {
        let replaced = Performance {
            versions: vec!["1.1.0".to_owned(), "1.2.0".to_owned()],
            replacements: 1,
            ..performance("2026-03-04T19:00:00Z", "", [9, 1, 0])
        };
        let forfeits = Performance {
            technical_losses: 3,
            ..performance("2026-03-03T18:00:00Z", "1.0.0", [4, 0, 6])
        };
        vec![
            night(
                DATES[0],
                &[
                    (
                        "Ann Lee",
                        performance("2026-03-02T18:00:00Z", "1.0.0", [3, 0, 7]),
                    ),
                    (
                        "Bob Roy",
                        performance("2026-03-02T18:00:00Z", "1.0.0", [7, 0, 3]),
                    ),
                ],
            ),
            night(
                DATES[1],
                &[
                    (
                        "Ann Lee",
                        performance("2026-03-03T18:00:00Z", "1.1.0", [6, 0, 4]),
                    ),
                    ("Bob Roy", forfeits),
                ],
            ),
            night(DATES[2], &[("Ann Lee", replaced)]),
        ]
    }

    #[test]
    fn a_grade_sheet_by_section() {
        let (plan, students) = course();
        let sheet = GradeSheet::new(&plan, &students, season());
        insta::assert_snapshot!(sheet.text());
        insta::assert_snapshot!("nights", sheet.nights_csv().unwrap());
        insta::assert_snapshot!("moodle", sheet.moodle_csv().unwrap());
        insta::assert_snapshot!("canvas", sheet.canvas_csv().unwrap());
    }

    #[test]
    fn who_never_came_has_nothing_and_no_sign_before_it() {
        let (plan, students) = course();
        let sheet = GradeSheet::new(&plan, &students, vec![night(DATES[0], &[])]);
        let text = [
            sheet.text(),
            sheet.csv().unwrap(),
            sheet.canvas_csv().unwrap(),
        ]
        .concat();
        assert!(text.contains("0.0") && !text.contains("-0"), "{text}");
    }

    #[test]
    fn a_night_of_nothing_but_technical_losses_was_not_played() {
        let (plan, students) = course();
        let dead = Performance {
            technical_losses: 10,
            ..performance("2026-03-02T18:00:00Z", "1.0.0", [0, 0, 10])
        };
        let sheet = GradeSheet::new(
            &plan,
            &students,
            vec![night(DATES[0], &[("Ann Lee", dead)])],
        );
        let ann = sheet.lines.iter().find(|line| line.name == "Ann Lee");
        assert_eq!(ann.unwrap().nights_played, 0);
    }

    #[test]
    fn a_night_missed_is_a_zero_among_those_that_count() {
        let (plan, students) = course();
        let only = night(
            DATES[0],
            &[(
                "Ann Lee",
                performance("2026-03-02T18:00:00Z", "1.0.0", [1, 0, 0]),
            )],
        );
        let sheet = GradeSheet::new(&plan, &students, vec![only, night(DATES[1], &[])]);
        let ann = sheet
            .lines
            .iter()
            .find(|line| line.name == "Ann Lee")
            .unwrap();
        assert_eq!(
            (ann.score, ann.grade.as_str(), ann.improvement),
            (50.0, "D", None)
        );
    }
}
