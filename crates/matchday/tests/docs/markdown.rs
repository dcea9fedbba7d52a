//! What the tests need to know of Markdown: fenced blocks, links, anchors.

/// A fenced block, with the comment on the line before it.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    /// `sh`, `powershell`, `python`, ...
    pub(crate) language: &'a str,
    pub(crate) line: usize,
    /// What is in `<!-- ... -->` before it.
    pub(crate) marker: Option<&'a str>,
    pub(crate) text: String,
}

pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(page.lines());
    let mut before = "";
    while let Some((line, text)) = lines.next() {
        if let Some(language) = text.strip_prefix("```") {
            let inside = lines
                .by_ref()
                .map(|(_, text)| text)
                .take_while(|text| *text != "```");
            let text = inside.collect::<Vec<_>>().join("\n");
            blocks.push(Block {
                language,
                line,
                marker: comment(before),
                text,
            });
            before = "";
        } else {
            before = text;
        }
    }
    blocks
}

/// Comments of this kind that stand on a line of their own: `<!-- KIND: TEXT -->`.
pub(crate) fn comment(line: &str) -> Option<&str> {
    Some(line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.trim())
}

/// The page without its fenced blocks.
fn prose(page: &str) -> String {
    let mut inside = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.starts_with("```") {
            inside = !inside;
        } else if !inside {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The targets of all links and pictures.
pub(crate) fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let mut links = Vec::new();
    for (place, _) in prose.match_indices("](") {
        let target = &prose[place + 2..];
        if let Some(end) = target.find(')') {
            links.push(
                target[..end]
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
    }
    links
}

/// What a link of this page can lead to behind `#`.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for line in prose(page).lines() {
        for (place, _) in line.match_indices("<a id=\"") {
            let id = &line[place + 7..];
            anchors.push(id[..id.find('"').unwrap()].to_owned());
        }
        if line.starts_with('#') {
            let slug = slug(line.trim_start_matches('#'));
            let twice = anchors.iter().filter(|anchor| **anchor == slug).count();
            anchors.push(if twice == 0 {
                slug
            } else {
                format!("{slug}-{twice}")
            });
        }
    }
    anchors
}

/// As GitHub and mdBook make it of a heading.
fn slug(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter(kept)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[test]
fn markdown_is_read_as_it_is_meant() {
    let page = "# Two words\n<!-- not run: why -->\n```sh\nls\n```\n[a](b.md#c) ![d](e.png)\n<a id=\"x\"></a>\n";
    let blocks = blocks(page);
    assert_eq!(
        (
            blocks[0].language,
            blocks[0].line,
            blocks[0].marker,
            blocks[0].text.as_str()
        ),
        ("sh", 3, Some("not run: why"), "ls")
    );
    assert_eq!(links(page), ["b.md#c", "e.png"]);
    assert_eq!(anchors(page), ["two-words", "x"]);
}
