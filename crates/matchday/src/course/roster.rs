//! The students of a course, from CSV with name, section, language, mail. Pure.

use super::plan::CoursePlan;
use clap::ValueEnum;
use matchday_author::starter::Language;
use matchday_core::protocol::DisplayName;
use matchday_terminal::suggest::hint;
use std::collections::BTreeSet;

/// What `matchday course init` writes.
pub(crate) const TEMPLATE: &str = "\
name,section,language,mail
Ann Lee,monday,python,ann@example.org
Bob Roy,monday,typescript,bob@example.org
Cas Day,tuesday,rust,cas@example.org
Dee Fox,tuesday,go,dee@example.org
";

const COLUMNS: [&str; 4] = ["name", "section", "language", "mail"];
/// An order to a manager names a place with its role before it, in an id of 128 bytes.
const NAME_BYTES_MAX: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct Student {
    pub(crate) name: DisplayName,
    pub(crate) section: String,
    pub(crate) language: Language,
    pub(crate) mail: String,
}

/// Fails with the line and what is wrong in it.
pub(crate) fn parse(text: &str, plan: &CoursePlan) -> Result<Vec<Student>, String> {
    let mut rows = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let headers = rows.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| {
        headers
            .iter()
            .position(|header| header.eq_ignore_ascii_case(name))
    };
    if let Some(missing) = COLUMNS.iter().take(2).find(|name| column(name).is_none()) {
        return Err(format!(
            "line 1: there is no column {missing:?}: expected name,section,language,mail; the last two may be left out"
        ));
    }
    let [name, section, language, mail] = COLUMNS.map(column);
    let mut students = Vec::new();
    let mut seen = BTreeSet::new();
    for row in rows.records() {
        let row = row.map_err(|error| error.to_string())?;
        let line = row.position().map_or(0, csv::Position::line);
        let cell =
            |place: Option<usize>| place.and_then(|place| row.get(place)).unwrap_or_default();
        if row.iter().all(str::is_empty) {
            continue;
        }
        let wrong = |what: String| format!("line {line}: {what}");
        let student = Student {
            name: display_name(cell(name)).map_err(wrong)?,
            section: known_section(cell(section), plan).map_err(wrong)?,
            language: parse_language(cell(language)).map_err(wrong)?,
            mail: cell(mail).to_owned(),
        };
        if !seen.insert(student.name.clone()) {
            let twice = "is on the roster twice: tell them apart by their names";
            return Err(wrong(format!("{} {twice}", student.name.escaped())));
        }
        students.push(student);
    }
    if students.is_empty() {
        Err("it names nobody".to_owned())
    } else {
        Ok(students)
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
        parse(text, &plan)
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
                "line 3: Ann is on the roster twice",
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
            ("name,section\n", "it names nobody"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }
}
