//! The pages of the protocol's description, which every installed program has in it. Pure.

struct Page {
    path: &'static str,
    text: &'static str,
}

macro_rules! pages {
    ($($name:literal),*) => {
        static PAGES: &[Page] = &[$(Page {
            path: concat!("docs/", $name),
            text: include_str!(concat!("../../../../docs/", $name)),
        }),*];
    };
}

pages![
    "protocol.md",
    "protocol-messages.md",
    "protocol-registration.md",
    "protocol-matches.md",
    "protocol-formats.md",
    "protocol-queries.md",
    "protocol-tokens.md",
    "protocol-draw.md",
    "protocol-errors.md",
    "protocol-dialects.md"
];

const ANCHOR: &str = "<a id=\"";

/// The part of a page that an anchor or a heading begins.
#[derive(Debug)]
pub(crate) struct Section {
    /// The path of its page: `docs/protocol-messages.md`.
    pub(crate) page: &'static str,
    pub(crate) text: String,
}

pub(crate) fn section(anchor: &str) -> Option<Section> {
    PAGES.iter().find_map(|page| {
        let text = part(page.text, anchor)?;
        Some(Section {
            page: page.path,
            text,
        })
    })
}

fn part(page: &str, anchor: &str) -> Option<String> {
    let mark = format!("{ANCHOR}{anchor}\"></a>");
    let lines: Vec<&str> = page.lines().collect();
    let marked = lines.iter().position(|line| line.contains(&mark));
    let is_titled = |line: &str| heading(line).is_some_and(|it| it.eq_ignore_ascii_case(anchor));
    let start = marked.or_else(|| lines.iter().position(|line| is_titled(line)))?;
    let first = lines.get(start)?;
    let is_alone = |line: &str| line.starts_with(ANCHOR) && line.ends_with("</a>");
    // An anchor of its own line is about what follows it; one within a list is about its item.
    let mut part: Vec<&str> = Vec::new();
    let is_item = marked.is_some() && !is_alone(first);
    for (number, line) in lines.iter().skip(start).enumerate() {
        let is_next = if is_item {
            line.is_empty() || line.starts_with("- ") || heading(line).is_some()
        } else {
            is_alone(line) || heading(line).is_some() && has_text(&part)
        };
        if number > 0 && is_next {
            break;
        }
        part.push(line);
    }
    let text = part.join("\n").replace(&mark, "");
    Some(text.trim().to_owned())
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len()).then(|| title.trim())
}

/// Whether a part has more than its anchor and its heading.
fn has_text(part: &[&str]) -> bool {
    let is_text =
        |line: &&&str| !line.is_empty() && !line.starts_with(ANCHOR) && heading(line).is_none();
    part.iter().any(|line| is_text(&line))
}
