//! Sentences wrapped at the width of a terminal, between words only: an address can be copied as one. Pure.

use super::screen::width;

/// Wraps every line that is a sentence, or a label and a sentence. The rows of tables stay as they are.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| wrapped_line(line, columns))
        .collect();
    lines.join("\n")
}

fn wrapped_line(line: &str, columns: usize) -> String {
    let indent = sentence(line).filter(|indent| width(line) > columns && *indent < columns / 2);
    let Some(indent) = indent else {
        return line.to_owned();
    };
    let mut text = String::new();
    let mut filled = 0;
    let label = line.len() - line.trim_start().len();
    for (number, word) in line.split(' ').enumerate() {
        let room = usize::from(number > 0);
        if filled + room + width(word) > columns && filled > indent.max(label) {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            filled = indent;
        } else if number > 0 {
            text.push(' ');
            filled += 1;
        }
        text.push_str(word);
        filled += width(word);
    }
    text
}

/// How far the lines after the first are indented: as the text is, or its label is long. `None` for a row of a table.
fn sentence(line: &str) -> Option<usize> {
    let words = line.trim_start();
    let indent = line.len() - words.len();
    match words.find("  ") {
        None => Some(indent),
        Some(end) => {
            let rest = words.get(end..)?.trim_start();
            let is_label = !words.get(..end)?.contains(' ') && !rest.contains("  ");
            is_label.then(|| width(line) - width(rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_between_words_and_under_their_label() {
        let text = "Luck      a table that chance alone makes in one of three leagues\nshort";
        insta::assert_snapshot!(wrapped(text, 40), @r"
        Luck      a table that chance alone
                  makes in one of three leagues
        short
        ");
    }

    #[test]
    fn an_address_is_never_broken() {
        let address = "http://127.0.0.1:8000/leagues/spring_2027/matches/R12M49";
        let shown = wrapped(
            &format!("the league can be seen at {address} until Ctrl-C"),
            30,
        );
        assert!(shown.lines().any(|line| line == address), "{shown}");
    }

    #[test]
    fn rows_of_tables_stay_as_they_are() {
        let row = "1  P01  a long name of a player  12  3  ahead of P02 on points";
        assert_eq!(wrapped(row, 20), row);
    }
}
