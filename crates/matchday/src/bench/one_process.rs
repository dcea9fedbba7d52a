//! A whole league in one process: `matchday run`, as anyone runs it, watched from outside.

use super::figures::Memory;
use super::program::Program;
use super::size::Size;
use super::story::Story;
use super::usage::{self, Course, Watch};
use anyhow::Result;
use matchday_core::protocol::Timestamp;
use std::path::Path;
use std::time::Duration;

/// A league that was played, and what it took.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) story: Story,
    /// Used between the league's start and its end.
    pub(super) cpu: Option<Duration>,
    pub(super) memory: Option<Memory>,
    /// From the moment the process was started, if it was one.
    pub(super) to_first_match: Option<Duration>,
}

pub(super) async fn play(size: Size, folder: &Path) -> Result<Played> {
    let store = folder.join("league.db");
    let (players, referees) = (size.players.to_string(), size.referees.to_string());
    let file = store.to_string_lossy();
    let sized = ["--players", &players, "--referees", &referees, "--store", &file];
    let args = [&["run", "--json", "--port-base", "0"], &sized[..]].concat();
    let started_at = usage::now();
    let program = Program::start(folder, "league", &args)?;
    let watch = Watch::begin(program.pid()?);
    let finished = program.finish().await;
    let course = watch.end();
    finished?;
    let story = Story::read(&[store])?;
    Ok(Played {
        cpu: course.cpu(story.began, story.ended),
        memory: memory(&course, &story),
        to_first_match: Some(story.first_match.since(started_at)),
        story,
    })
}

fn memory(course: &Course, story: &Story) -> Option<Memory> {
    let quarter = |number: u32| -> Timestamp { story.began + story.took() * number / 4 };
    Some(Memory {
        start_bytes: course.rss_bytes(story.began)?,
        quarters_bytes: (1..=4).map(|number| course.rss_bytes(quarter(number))).collect::<Option<_>>()?,
        most_bytes: course.rss_bytes_max(story.began, story.ended).or(course.rss_bytes(story.ended))?,
    })
}
