//! `matchday help TOPIC`: the pages of docs/, which `build.rs` packs into the program, as text for a terminal.

use super::notice;
use matchday_terminal::screen::{Size, width};
use matchday_terminal::suggest::nearest;
use matchday_terminal::{Paint, say, table};
use miniz_oxide::inflate::decompress_to_vec;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::process::{Command, ExitCode, Stdio};

/// A page of docs/SUMMARY.md.
struct Page {
    chapter: &'static str,
    name: &'static str,
    /// In the text of all pages.
    place: Range<usize>,
}

static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/manual.rs"));
static TEXT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/manual.deflate"));

/// The width of tables where there is no terminal.
const COLUMNS: usize = 100;

impl Page {
    /// What to type for it: a command of the same name has its own help.
    fn topic(&self, commands: &[&str]) -> String {
        let suffix = if commands.contains(&self.name) {
            ".md"
        } else {
            ""
        };
        format!("{}{suffix}", self.name)
    }

    fn markdown(&self) -> String {
        let all = decompress_to_vec(TEXT).unwrap_or_default();
        let page = all.get(self.place.clone()).unwrap_or_default();
        String::from_utf8_lossy(page).into_owned()
    }
}

/// The topics by chapter.
pub(super) fn topics(commands: &[&str]) -> Vec<(&'static str, Vec<String>)> {
    let mut chapters: Vec<(&str, Vec<String>)> = Vec::new();
    for page in PAGES {
        let topic = page.topic(commands);
        match chapters.last_mut() {
            Some((chapter, topics)) if *chapter == page.chapter => topics.push(topic),
            _ => chapters.push((page.chapter, vec![topic])),
        }
    }
    chapters
}

/// Shows the page of a topic.
pub(super) fn show(topic: &str, commands: &[&str]) -> ExitCode {
    let name = topic.strip_suffix(".md").unwrap_or(topic);
    let Some(page) = PAGES.iter().find(|page| page.name == name) else {
        let known = PAGES.iter().map(|page| page.name);
        let hint = match nearest(topic, known.chain(commands.iter().copied())) {
            Some(name) => format!("did you mean {name:?}?"),
            None => "`matchday help` lists the topics".to_owned(),
        };
        notice(&format!("there is no command or topic {topic:?} - {hint}"));
        return ExitCode::from(2);
    };
    let columns = Size::of_terminal().map_or(COLUMNS, |size| size.columns);
    if !is_paged(&rendered(&page.markdown(), columns, Paint::Plain)) {
        say(rendered(&page.markdown(), columns, Paint::of_stdout()).trim_end());
    }
    ExitCode::SUCCESS
}

/// Whether the reader's own pager has shown the text.
fn is_paged(text: &str) -> bool {
    let pager = std::env::var("PAGER").unwrap_or_default();
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|_| std::io::stdout().is_terminal()) else {
        return false;
    };
    let Ok(mut child) = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .spawn()
    else {
        return false;
    };
    if let Some(mut to) = child.stdin.take() {
        // A reader who leaves the pager early closes it.
        let _ = to.write_all(text.as_bytes());
    }
    child.wait().is_ok()
}

/// Markdown as text: paragraphs on one line, tables aligned, code as it is.
fn rendered(markdown: &str, columns: usize, paint: Paint) -> String {
    let mut text = String::new();
    let mut paragraph = String::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut is_code = false;
    let mut is_comment = false;
    for line in markdown.lines().chain([""]) {
        if is_comment || (!is_code && line.trim_start().starts_with("<!--")) {
            is_comment = !line.contains("-->");
            continue;
        }
        let is_fence = line.trim_start().starts_with("```");
        if !rows.is_empty() && !line.starts_with('|') {
            text.push_str(&table_text(&std::mem::take(&mut rows), columns));
        }
        let begins = is_fence || is_code || line.is_empty() || line.starts_with(['#', '|', '>']);
        if (begins || is_item(line)) && !paragraph.is_empty() {
            text.push_str(&inline(&std::mem::take(&mut paragraph)));
            text.push('\n');
        }
        if is_fence {
            is_code = !is_code;
        } else if is_code {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        } else if let Some(row) = line.strip_prefix('|') {
            let cells = row.trim_end().trim_end_matches('|').replace("\\|", "\u{0}");
            let cells = cells
                .split('|')
                .map(|cell| inline(cell.trim()).replace('\u{0}', "|"));
            rows.push(cells.collect());
        } else if line.starts_with('#') {
            let title = inline(line.trim_start_matches('#').trim());
            text.push_str(&format!("{}\n", paint.bold(&title)));
        } else if line.is_empty() {
            text.push('\n');
        } else {
            if paragraph.is_empty() {
                paragraph.push_str(line);
            } else {
                paragraph.push(' ');
                paragraph.push_str(line.trim());
            }
        }
    }
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || (number.len() < line.len() && number.starts_with(". "))
}

/// The first row holds the headers, the second the dashes below them. A table that is too wide has a paragraph for each row.
fn table_text(rows: &[Vec<String>], columns: usize) -> String {
    let (Some(headers), Some(body)) = (rows.first(), rows.get(2..)) else {
        return String::new();
    };
    let names: Vec<&str> = headers.iter().map(String::as_str).collect();
    let aligned = table(&names, body);
    if aligned.lines().all(|line| width(line) <= columns) {
        return format!("{aligned}\n");
    }
    let mut text = String::new();
    for row in body {
        let mut cells = row.iter().zip(&names);
        if let Some((first, _)) = cells.next() {
            text.push_str(&format!("  {first}\n"));
        }
        for (cell, name) in cells.filter(|(cell, _)| !cell.is_empty()) {
            let label = if names.len() > 2 {
                format!("{name}: ")
            } else {
                String::new()
            };
            text.push_str(&format!("      {label}{cell}\n"));
        }
    }
    text
}

/// Without the marks of links, bold and italic text; a link to a page of the web keeps its address.
fn inline(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(shown, target)| {
            let (target, behind) = target.split_once(')')?;
            (!shown.contains('[')).then_some((shown, target, behind))
        });
        let Some((shown, target, behind)) = link else {
            plain.push_str(before);
            plain.push('[');
            rest = after;
            continue;
        };
        plain.push_str(before.strip_suffix('!').unwrap_or(before));
        plain.push_str(shown);
        if target.starts_with("http") && target != shown {
            plain.push_str(&format!(" ({target})"));
        }
        rest = behind;
    }
    plain.push_str(rest);
    // Places that links lead to.
    while let Some((before, (_, after))) = plain
        .split_once("<a id=")
        .and_then(|(before, rest)| Some((before, rest.split_once("</a>")?)))
    {
        plain = format!("{}{}", before, after.trim_start());
    }
    plain.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_summary_can_be_read() {
        let summary = include_str!("../../../../docs/SUMMARY.md");
        let listed = summary
            .lines()
            .filter(|line| line.trim_start().starts_with("- ["))
            .count();
        // One page is left out.
        assert_eq!(PAGES.len() + 1, listed);
        for page in PAGES {
            let markdown = page.markdown();
            assert!(markdown.starts_with("# "), "{}", page.name);
            let text = rendered(&markdown, 100, Paint::Plain);
            assert!(!text.contains("]("), "{}: {text}", page.name);
        }
    }

    #[test]
    fn a_page_is_text_for_a_terminal() {
        let markdown = "# A title\nA paragraph\nin [two](other.md#here) **lines**.\n\n<!-- setup -->\n```sh\nmatchday run\n```\n\
                        - an item\n  that goes on\n- another\n\n| Word | Meaning |\n| --- | --- |\n| a | `b\\|c` |\n\n\
                        | Word | Meaning |\n| --- | --- |\n| a long one | that does not fit into forty columns |\n";
        insta::assert_snapshot!(rendered(markdown, 40, Paint::Plain), @r"
        A title
        A paragraph in two lines.

            matchday run
        - an item that goes on
        - another

        Word  Meaning
        a     `b|c`

          a long one
              that does not fit into forty columns
        ");
    }

    #[test]
    fn a_page_with_the_name_of_a_command_is_named_by_its_file() {
        let first = PAGES.first().unwrap();
        assert_eq!(first.topic(&[first.name]), format!("{}.md", first.name));
        assert_eq!(first.topic(&["run"]), first.name);
    }
}
