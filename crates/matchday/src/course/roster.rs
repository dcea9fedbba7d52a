//! The students of a course, from CSV with name, section, language, mail. Pure.

use super::plan::CoursePlan;
use crate::spreadsheet;
use clap::ValueEnum;
use matchday_author::starter::Language;
use matchday_core::protocol::DisplayName;
use matchday_terminal::suggest::hint;
use std::collections::BTreeMap;

/// What `matchday course init` writes.
pub(crate) const TEMPLATE: &str = "\
name,section,language,mail
Ann Lee,monday,python,ann@example.org
Bob Roy,monday,typescript,bob@example.org
Cas Day,tuesday,rust,cas@example.org
Dee Fox,tuesday,go,dee@example.org
";

/// An order to a manager names a place with its role before it, in an id of 128 bytes.
const NAME_BYTES_MAX: usize = 100;
/// The row beneath the header of what Canvas exports.
const POINTS_POSSIBLE: &str = "Points Possible";

#[derive(Debug, Clone)]
pub(crate) struct Student {
    pub(crate) name: DisplayName,
    pub(crate) section: String,
    pub(crate) language: Language,
    pub(crate) mail: String,
    /// On the learning platform.
    pub(crate) id: String,
    pub(crate) login: String,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Name,
    FirstName,
    LastName,
    Section,
    Language,
    Mail,
    Id,
    Login,
}

impl Column {
    /// By its header, as people and learning platforms write it.
    fn of(header: &str) -> Option<Self> {
        let letters = header.chars().filter(|letter| letter.is_alphanumeric());
        let plain: String = letters.flat_map(char::to_lowercase).collect();
        Some(match plain.as_str() {
            "name" | "fullname" | "student" | "studentname" => Self::Name,
            "firstname" | "givenname" => Self::FirstName,
            "lastname" | "surname" | "familyname" => Self::LastName,
            "section" | "group" => Self::Section,
            "language" => Self::Language,
            "mail" | "email" | "emailaddress" | "mailaddress" => Self::Mail,
            "id" | "studentid" | "idnumber" => Self::Id,
            "login" | "loginid" | "sisloginid" | "username" => Self::Login,
            _ => return None,
        })
    }
}

/// The students, and the headers of columns that say nothing that is known here. Fails with the line and what is wrong in it.
pub(crate) fn parse(text: &str, plan: &CoursePlan) -> Result<(Vec<Student>, Vec<String>), String> {
    let mut rows = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(spreadsheet::delimiter(text))
        .from_reader(text.as_bytes());
    let headers = rows.headers().map_err(|error| error.to_string())?.clone();
    let mut columns = BTreeMap::new();
    let mut unknown = Vec::new();
    for (place, header) in headers.iter().enumerate() {
        match Column::of(header) {
            Some(column) => drop(columns.entry(column).or_insert(place)),
            None if header.is_empty() => {}
            None => unknown.push(header.to_owned()),
        }
    }
    let only_section = Some(plan.sections().collect::<Vec<_>>())
        .filter(|sections| sections.len() == 1)
        .and_then(|sections| sections.first().copied());
    let has = |column| columns.contains_key(&column);
    let is_named = has(Column::Name) || has(Column::FirstName) && has(Column::LastName);
    let is_placed = has(Column::Section) || only_section.is_some();
    let missing = match (is_named, is_placed) {
        (false, _) => Some("name"),
        (true, false) => Some("section"),
        (true, true) => None,
    };
    if let Some(missing) = missing {
        return Err(format!(
            "line 1: there is no column {missing:?}: expected name,section,language,mail; the last two may be left out"
        ));
    }
    let mut students = Vec::new();
    let mut seen = BTreeMap::new();
    let mut mails: BTreeMap<String, (u64, DisplayName)> = BTreeMap::new();
    for row in rows.records() {
        let row = row.map_err(|error| error.to_string())?;
        let line = row.position().map_or(0, csv::Position::line);
        let cell = |column: Column| {
            let place = columns.get(&column).copied();
            place.and_then(|place| row.get(place)).unwrap_or_default()
        };
        let name = match cell(Column::Name) {
            "" => format!("{} {}", cell(Column::FirstName), cell(Column::LastName)),
            name => name.to_owned(),
        };
        let name = name.trim();
        if row.iter().all(str::is_empty) || name == POINTS_POSSIBLE {
            continue;
        }
        let wrong = |what: String| format!("line {line}: {what}");
        let section = match (columns.contains_key(&Column::Section), only_section) {
            (false, Some(only)) => only,
            _ => cell(Column::Section),
        };
        let student = Student {
            name: display_name(name).map_err(wrong)?,
            section: known_section(section, plan).map_err(wrong)?,
            language: parse_language(cell(Column::Language)).map_err(wrong)?,
            mail: cell(Column::Mail).to_owned(),
            id: cell(Column::Id).to_owned(),
            login: cell(Column::Login).to_owned(),
        };
        let who = student.name.escaped();
        if let Some(before) = seen.insert(student.name.clone(), line) {
            return Err(wrong(format!(
                "{who} is on line {before} too: tell them apart by their names"
            )));
        }
        let mail = student.mail.to_lowercase();
        if !mail.is_empty()
            && let Some((before, other)) = mails.insert(mail, (line, student.name.clone()))
        {
            return Err(wrong(format!(
                "{who} has the mail of {} on line {before}: each student needs one of their own",
                other.escaped()
            )));
        }
        students.push(student);
    }
    if students.is_empty() {
        Err("it lists nobody".to_owned())
    } else {
        Ok((students, unknown))
    }
}

fn display_name(text: &str) -> Result<DisplayName, String> {
    // Such a name would not be read back as it was written: every CSV of ours is safe to open in a spreadsheet.
    if text.starts_with(['=', '+', '-', '@']) {
        return Err(format!(
            "name: a spreadsheet would take {text:?} for a formula: write it otherwise"
        ));
    }
    let name = DisplayName::parse(text)
        .ok()
        .filter(|name| name.raw().len() <= NAME_BYTES_MAX);
    name.ok_or_else(|| {
        format!(
            "name: expected 1 to 50 characters and at most {NAME_BYTES_MAX} bytes, got {text:?}"
        )
    })
}

fn known_section(text: &str, plan: &CoursePlan) -> Result<String, String> {
    match plan.sections().find(|section| *section == text) {
        Some(section) => Ok(section.to_owned()),
        None => {
            let known: Vec<&str> = plan.sections().collect();
            Err(format!(
                "section: course.toml has no {text:?}{}",
                hint(text, known.into_iter())
            ))
        }
    }
}

fn parse_language(text: &str) -> Result<Language, String> {
    match text {
        "" => Ok(Language::Python),
        text => Language::from_str(text, true).map_err(|_| {
            format!("language: expected python, typescript, rust or go, got {text:?}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;

    fn read(text: &str) -> Result<Vec<Student>, String> {
        let plan =
            CoursePlan::parse(&plan::TEMPLATE.replace("{nights}", "\"2026-03-02\"")).unwrap();
        parse(text, &plan).map(|(students, _)| students)
    }

    #[test]
    fn what_a_learning_platform_exports_is_a_roster() {
        let canvas = "Student,ID,SIS User ID,SIS Login ID,Section,Quiz 1\n    Points Possible,,,,,10\n\"Lee, Ann\",17,,alee,monday,3\n";
        let plan =
            CoursePlan::parse(&plan::TEMPLATE.replace("{nights}", "\"2026-03-02\"")).unwrap();
        let (students, unknown) = parse(canvas, &plan).unwrap();
        let ann = &students[0];
        assert_eq!(
            (ann.name.raw(), &*ann.id, &*ann.login, students.len()),
            ("Lee, Ann", "17", "alee", 1)
        );
        assert_eq!(unknown, ["SIS User ID", "Quiz 1"]);
        let moodle = "First name;Surname;E-mail address;Group\nAnn;Lee;ann@example.org;monday\n";
        let ann = &read(moodle).unwrap()[0];
        assert_eq!((ann.name.raw(), &*ann.mail), ("Ann Lee", "ann@example.org"));
    }

    #[test]
    fn with_one_section_no_column_says_which() {
        let text = plan::TEMPLATE.replace("{nights}", "\"2026-03-02\"");
        let plan = CoursePlan::parse(&text.replace("[sections.tuesday]", "")).unwrap();
        let (students, _) = parse("name\nAnn\n", &plan).unwrap();
        assert_eq!(students[0].section, "monday");
    }

    #[test]
    fn the_template_is_a_roster_of_the_template() {
        let students = read(TEMPLATE).unwrap();
        assert_eq!(students.len(), 4);
        assert_eq!(
            (students[3].name.raw(), students[3].language),
            ("Dee Fox", Language::Go)
        );
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let students = read("Section,Name\nmonday,Ann\n\n").unwrap();
        assert_eq!(
            (students[0].name.raw(), students[0].language),
            ("Ann", Language::Python)
        );
    }

    #[test]
    fn a_line_that_cannot_be_meant_is_named() {
        for (text, what) in [
            (
                "name,section\nAnn,munday\n",
                "line 2: section: course.toml has no \"munday\" - did you mean \"monday\"?",
            ),
            (
                "name,section\nAnn,monday\nAnn,tuesday\n",
                "line 3: Ann is on line 2 too: tell them apart",
            ),
            (
                "name,section,language\nAnn,monday,cobol\n",
                "line 2: language: expected python",
            ),
            (
                "name,section\n=1+1,monday\n",
                "line 2: name: a spreadsheet would take",
            ),
            (
                "name,mail\nAnn,a@example.org\n",
                "line 1: there is no column \"section\"",
            ),
            (
                "name,section,E-mail\nAnn,monday,a@example.org\nBob,monday,A@example.org\n",
                "line 3: Bob has the mail of Ann on line 2",
            ),
            ("name,section\n", "it lists nobody"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }
}
