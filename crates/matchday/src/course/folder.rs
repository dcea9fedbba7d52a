//! The folder of a course: `course.toml`, `roster.csv`, and what was issued: `codes.csv` and `seasons.csv`, for their owner's
//! eyes only. Both are written before the service is called, so that no secret is lost in a crash.

use super::plan::{self, CoursePlan};
use super::roster::{self, Student};
use crate::spreadsheet;
use anyhow::{Context, Result, bail};
use matchday_audit::csv_rows::csv;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::{Timestamp, Token};
use matchday_os::file::create_private;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) const PLAN: &str = "course.toml";
pub(crate) const ROSTER: &str = "roster.csv";
const CODES: &str = "codes.csv";
const SEASONS: &str = "seasons.csv";
/// How many nights the plan of a new course has.
const NIGHTS: u64 = 5;

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) plan: CoursePlan,
    pub(crate) students: Vec<Student>,
    codes: Vec<StudentCode>,
    pub(crate) seasons: Vec<CourseSeason>,
    /// What was noticed when the roster was read.
    pub(crate) remarks: Vec<String>,
}

/// The join code of a student, for the whole course.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StudentCode {
    name: String,
    section: String,
    join_code: String,
    /// The section in whose open league the code holds no more, because the student is not on its roster.
    #[serde(default)]
    taken_out_of: String,
}

/// The season of a section, which was created or is about to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CourseSeason {
    pub(crate) section: String,
    pub(crate) operator_token: String,
}

impl Folder {
    /// Writes the templates of a course that begins tomorrow.
    pub(crate) fn init(path: &Path, now: Timestamp) -> Result<()> {
        fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))?;
        let day = Duration::from_secs(24 * 60 * 60);
        let mut nights = Vec::new();
        let mut at = now;
        for _ in 0..NIGHTS {
            at = at + day;
            let date = at.to_string();
            nights.push(format!("{:?}", date.split('T').next().unwrap_or_default()));
        }
        let plan = plan::TEMPLATE.replace("{nights}", &nights.join(", "));
        for (name, text) in [(PLAN, plan.as_str()), (ROSTER, roster::TEMPLATE)] {
            let file = path.join(name);
            if file.exists() {
                bail!(
                    "{} is there already: name another folder, or edit it",
                    file.display()
                );
            }
            fs::write(&file, text)
                .with_context(|| format!("{} cannot be written", file.display()))?;
        }
        Ok(())
    }

    /// Fails with the file, the line and what is wrong in it.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let mut remarks = Vec::new();
        let mut text = |name: &str| {
            let file = path.join(name);
            let hint = "`matchday course init` makes the folder of a course";
            let bytes = fs::read(&file)
                .with_context(|| format!("{} cannot be read: {hint}", file.display()))?;
            let (text, is_guessed) = spreadsheet::decode(&bytes);
            if is_guessed {
                remarks.push(format!(
                    "{} is not in UTF-8: read as Windows-1252, as Excel saves it - see whether the names are right",
                    file.display()
                ));
            }
            anyhow::Ok(text)
        };
        let (plan_text, roster_text) = (text(PLAN)?, text(ROSTER)?);
        let wrong =
            |name: &str, why: String| anyhow::anyhow!("{}: {why}", path.join(name).display());
        let plan = CoursePlan::parse(&plan_text).map_err(|why| wrong(PLAN, why))?;
        let (students, unknown) =
            roster::parse(&roster_text, &plan).map_err(|why| wrong(ROSTER, why))?;
        if !unknown.is_empty() {
            remarks.push(format!(
                "{}: these columns are not used: {}",
                path.join(ROSTER).display(),
                unknown.join(", ")
            ));
        }
        Ok(Self {
            codes: read_rows(&path.join(CODES))?,
            seasons: read_rows(&path.join(SEASONS))?,
            path: path.to_owned(),
            plan,
            students,
            remarks,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn code_of(&self, student: &Student) -> Option<&str> {
        let found = self
            .codes
            .iter()
            .find(|code| code.name == student.name.raw());
        found.map(|code| code.join_code.as_str())
    }

    /// Makes codes for the students who have none; returns how many.
    pub(crate) fn issue_codes(&mut self, entropy: &mut Entropy) -> Result<usize> {
        let new: Vec<StudentCode> = self
            .students
            .iter()
            .filter(|student| self.code_of(student).is_none())
            .map(|student| StudentCode {
                name: student.name.raw().to_owned(),
                section: student.section.clone(),
                join_code: Token::new_join_code(entropy).reveal().to_owned(),
                taken_out_of: String::new(),
            })
            .collect();
        let count = new.len();
        if count > 0 {
            self.codes.extend(new);
            write_rows(&self.path.join(CODES), &self.codes)?;
        }
        Ok(count)
    }

    pub(crate) fn is_taken_out(&self, name: &str, section: &str) -> bool {
        let mut codes = self.codes.iter();
        codes.any(|code| code.name == name && code.taken_out_of == section)
    }

    pub(crate) fn note_taken_out(&mut self, name: &str, section: &str, out: bool) -> Result<()> {
        let mut of_name = self.codes.iter_mut().filter(|code| code.name == name);
        if let Some(code) = of_name.next() {
            code.taken_out_of = if out { section } else { "" }.to_owned();
            write_rows(&self.path.join(CODES), &self.codes)?;
        }
        Ok(())
    }

    pub(crate) fn students_of<'a>(&'a self, section: &'a str) -> impl Iterator<Item = &'a Student> {
        self.students
            .iter()
            .filter(move |student| student.section == section)
    }

    /// The season of each section with students, with whether it is new. Those that are get an operator token.
    pub(crate) fn issue_seasons(
        &mut self,
        entropy: &mut Entropy,
    ) -> Result<Vec<(CourseSeason, bool)>> {
        let sections = self.plan.sections();
        let sections: Vec<String> = sections
            .filter(|section| self.students_of(section).next().is_some())
            .map(str::to_owned)
            .collect();
        let known = self.seasons.len();
        for section in &sections {
            if !self.seasons.iter().any(|season| season.section == *section) {
                self.seasons.push(CourseSeason {
                    section: section.clone(),
                    operator_token: Token::issue("operator", entropy).reveal().to_owned(),
                });
            }
        }
        if self.seasons.len() > known {
            write_rows(&self.path.join(SEASONS), &self.seasons)?;
        }
        let numbered = self.seasons.iter().enumerate();
        let of_sections = numbered.filter(|(_, season)| sections.contains(&season.section));
        Ok(of_sections
            .map(|(number, season)| (season.clone(), number >= known))
            .collect())
    }

    /// The roster of a section as the service reads it: name, role, mail, join code.
    pub(crate) fn league_roster(&self, section: &str) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            name: &'a str,
            role: &'static str,
            mail: &'a str,
            join_code: &'a str,
        }
        let rows = self.students_of(section).filter_map(|student| {
            let join_code = self.code_of(student)?;
            Some(Row {
                name: student.name.raw(),
                role: "player",
                mail: &student.mail,
                join_code,
            })
        });
        Ok(csv(rows)?)
    }
}

fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let rows: Result<Vec<T>, csv::Error> = csv::Reader::from_reader(text.as_bytes())
        .into_deserialize()
        .collect();
    rows.with_context(|| {
        format!(
            "{} is not as `matchday course` wrote it: put a copy in its place",
            path.display()
        )
    })
}

/// Replaces the file in one step.
fn write_rows<T: Serialize>(path: &Path, rows: &[T]) -> Result<()> {
    let text = csv(rows)?;
    let new = path.with_extension("csv.new");
    let write = || -> std::io::Result<()> {
        if new.exists() {
            fs::remove_file(&new)?;
        }
        let mut file = create_private(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> (tempfile::TempDir, Folder) {
        let folder = tempfile::tempdir().unwrap();
        Folder::init(
            folder.path(),
            Timestamp::parse("2026-03-01T12:00:00Z").unwrap().0,
        )
        .unwrap();
        let course = Folder::read(folder.path()).unwrap();
        (folder, course)
    }

    #[test]
    fn a_new_course_begins_tomorrow_and_is_never_written_over() {
        let (folder, course) = course();
        assert_eq!(course.plan.season.nights.first().unwrap(), "2026-03-02");
        let again = Folder::init(folder.path(), Timestamp::from_micros(0))
            .unwrap_err()
            .to_string();
        assert!(again.contains("course.toml is there already"), "{again}");
    }

    #[cfg(unix)]
    #[test]
    fn codes_and_tokens_are_kept_for_the_owner_alone_and_issued_once() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, mut course) = course();
        let mut entropy = Entropy::numbered(1);
        assert_eq!(course.issue_codes(&mut entropy).unwrap(), 4);
        let seasons = course.issue_seasons(&mut entropy).unwrap();
        assert_eq!(seasons.len(), 2);
        for name in [CODES, SEASONS] {
            let mode = fs::metadata(folder.path().join(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let mut again = Folder::read(folder.path()).unwrap();
        assert_eq!(again.issue_codes(&mut entropy).unwrap(), 0);
        assert_eq!(
            again.code_of(&again.students[0]),
            course.code_of(&course.students[0])
        );
        for ((before, is_new), (after, is_known)) in seasons
            .iter()
            .zip(&again.issue_seasons(&mut entropy).unwrap())
        {
            assert_eq!(before.operator_token, after.operator_token);
            assert!(*is_new && !*is_known);
        }
    }

    #[test]
    fn a_roster_that_excel_saved_is_read_and_what_was_guessed_is_said() {
        let (folder, _) = course();
        let roster = b"Name;Section;E-Mail;Seat\r\nJos\xe9 Roy;monday;jose@example.org;3\r\nAnn;munday;;\r\n";
        fs::write(folder.path().join(ROSTER), roster).unwrap();
        let error = Folder::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("roster.csv: line 3: section:"), "{error}");
        fs::write(folder.path().join(ROSTER), &roster[..60]).unwrap();
        let course = Folder::read(folder.path()).unwrap();
        assert_eq!(course.students[0].name.raw(), "José Roy");
        assert_eq!(course.students[0].mail, "jose@example.org");
        let remarks = course.remarks.join("\n");
        assert!(
            remarks.contains("read as Windows-1252") && remarks.contains("not used: Seat"),
            "{remarks}"
        );
    }

    #[test]
    fn who_joins_the_course_late_gets_a_code_and_nobody_elses_changes() {
        let (folder, mut course) = course();
        let mut entropy = Entropy::numbered(1);
        course.issue_codes(&mut entropy).unwrap();
        let before = course.league_roster("monday").unwrap();
        fs::write(
            folder.path().join(ROSTER),
            format!("{}Eve Ash,monday,go,\n", roster::TEMPLATE),
        )
        .unwrap();
        let mut course = Folder::read(folder.path()).unwrap();
        assert_eq!(course.issue_codes(&mut entropy).unwrap(), 1);
        let after = course.league_roster("monday").unwrap();
        assert!(
            after.starts_with(&before) && after.contains("Eve Ash,player,,tok_join_"),
            "{after}"
        );
    }
}
