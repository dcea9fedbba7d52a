//! What the words on pages mean, from docs/glossary.md: for tooltips. Pure.

use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../docs/glossary.md");

/// Each word in lower case, and what it means. A row may explain several words, with commas between them.
fn meanings() -> BTreeMap<String, String> {
    let plain = |text: &str| text.trim().replace(['`', '*'], "");
    let rows = PAGE.lines().skip_while(|line| !line.starts_with("| ---"));
    let rows = rows.skip(1).filter_map(|line| {
        let (words, meaning) = line.strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
        Some((plain(words).to_lowercase(), plain(meaning)))
    });
    rows.flat_map(|(words, meaning)| {
        let words: Vec<_> = words.split(", ").map(str::to_owned).collect();
        words.into_iter().map(move |word| (word, meaning.clone()))
    })
    .collect()
}

/// What the heading of a column means. What stands in brackets does not count.
pub fn meaning(heading: &str) -> Option<String> {
    let heading = heading.to_lowercase().replace('_', " ");
    let word = heading.split(" (").next().unwrap_or_default();
    let meanings = meanings();
    let one = word.strip_suffix("es").or_else(|| word.strip_suffix('s'));
    let found = meanings.get(word);
    found.or_else(|| meanings.get(one?)).cloned()
}

/// The words that live pages explain: a page is to be light, and those of operators and of the wire are not on it.
const ON_PAGES: [&str; 30] = [
    "answer time",
    "as good by chance",
    "buchholz",
    "bye",
    "deviation",
    "draw",
    "interval",
    "ladder",
    "lenient",
    "luck meter",
    "match",
    "move",
    "number",
    "pairing rating",
    "payoff",
    "proven",
    "rating",
    "referee",
    "round",
    "season",
    "seat",
    "sonneborn-berger",
    "standings",
    "strategy",
    "strict",
    "technical loss",
    "tie-break",
    "unavailable",
    "unproven",
    "void",
];

/// The same for the scripts of pages, where `meaning` of `parts.js` looks words up.
pub fn script() -> String {
    let mut meanings = meanings();
    meanings.retain(|word, _| ON_PAGES.contains(&word.as_str()));
    let meanings = serde_json::to_string(&meanings).unwrap_or_default();
    format!("// Made from docs/glossary.md.\nexport const MEANINGS = {meanings};\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_in_the_glossary() {
        for heading in [
            "Rating (95 %)",
            "technical_losses",
            "Buchholz",
            "lenient",
            "strict",
        ] {
            assert!(meaning(heading).is_some(), "{heading}");
        }
        assert_eq!(meaning("Name"), None);
    }

    #[test]
    fn pages_explain_each_of_their_words() {
        let script = script();
        for word in ON_PAGES {
            assert!(script.contains(&format!("\"{word}\":")), "{word}");
        }
    }
}
