//! Which parts of a table are coloured: the counts under won, drawn, lost and technical, and the outcomes under result.
//! Found by the headers, so that every table of the program has the same colours. Pure.

use super::{Colour, Paint};
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// A part of a line, by bytes.
pub type Part = (Range<usize>, Colour);

/// The coloured parts of each line of a table whose first line is its headers.
pub fn parts(table: &str) -> Vec<Vec<Part>> {
    let mut lines = table.lines();
    let headers = lines.next().map(headers).unwrap_or_default();
    let of_line = |line| headers.iter().filter_map(|header| header.part(line)).collect();
    std::iter::once(Vec::new()).chain(lines.map(of_line)).collect()
}

/// The table as a terminal shows it.
pub fn painted(table: &str, paint: Paint) -> String {
    if paint == Paint::Plain {
        return table.to_owned();
    }
    let lines = table.lines().zip(parts(table)).map(|(line, parts)| {
        let mut shown = String::new();
        let mut rest = 0;
        for (Range { start, end }, colour) in parts {
            shown.push_str(line.get(rest..start).unwrap_or_default());
            shown.push_str(&paint.colour(colour, line.get(start..end).unwrap_or_default()));
            rest = end;
        }
        shown + line.get(rest..).unwrap_or_default()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A column that has colours, with the columns of the terminal that its header takes.
struct Header {
    kind: Kind,
    from: usize,
    to: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Count(Colour),
    Result,
}

fn headers(line: &str) -> Vec<Header> {
    let words = line.split("  ").map(str::trim).filter(|word| !word.is_empty());
    let coloured = words.filter_map(|word| {
        let kind = match word.to_ascii_lowercase().as_str() {
            "won" => Kind::Count(Colour::Green),
            "drawn" => Kind::Count(Colour::Yellow),
            "lost" => Kind::Count(Colour::Red),
            "technical" => Kind::Count(Colour::Magenta),
            "result" => Kind::Result,
            _ => return None,
        };
        let from = columns(line.get(..line.find(word)?)?);
        Some(Header { kind, from, to: from + word.len() })
    });
    coloured.collect()
}

fn columns(text: &str) -> usize {
    text.chars().filter_map(char::width).sum()
}

impl Header {
    fn part(&self, line: &str) -> Option<Part> {
        match self.kind {
            Kind::Count(colour) => {
                let end = byte_at(line, self.to)?;
                let cell = line.get(..end)?;
                let start = cell.rfind(' ').map_or(0, |space| space + 1);
                let count: u32 = cell.get(start..)?.parse().ok()?;
                (count > 0).then_some((start..end, colour))
            }
            Kind::Result => {
                let start = byte_at(line, self.from)?;
                let cell = line.get(start..)?;
                let cell = cell.split("  ").next().unwrap_or(cell);
                let colour = match cell {
                    cell if cell.ends_with("(technical)") => Colour::Magenta,
                    cell if cell.ends_with(" won") => Colour::Green,
                    "draw" => Colour::Yellow,
                    _ => return None,
                };
                Some((start..start + cell.len(), colour))
            }
        }
    }
}

/// Where a column of the terminal begins in the line; its end if that is there.
fn byte_at(line: &str, column: usize) -> Option<usize> {
    let mut passed = 0;
    for (at, c) in line.char_indices() {
        if passed >= column {
            return Some(at);
        }
        passed += c.width().unwrap_or(0);
    }
    (passed == column).then_some(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn counts_above_zero_have_the_colour_of_their_column() {
        let rows = rows(&[&["P01", "日本の選手", "12", "0", "3", "1"], &["P02", "Ada", "0", "7", "0", "0"]]);
        let table = table(&["player", "name", "won", "drawn", "lost", "technical"], &rows);
        assert_eq!(painted(&table, Paint::Plain), table);
        let shown = painted(&table, Paint::Colours).replace('\u{1b}', "ESC");
        insta::assert_snapshot!(shown, @r"
        player  name        won  drawn  lost  technical
        P01     日本の選手   ESC[32m12ESC[0m      0     ESC[31m3ESC[0m          ESC[35m1ESC[0m
        P02     Ada           0      ESC[33m7ESC[0m     0          0
        ");
    }

    #[test]
    fn results_have_colours_and_reasons_have_none() {
        let rows = rows(&[
            &["R1M1", "P01 won", "P02 lost"],
            &["R1M2", "draw", "3 draw"],
            &["R1M3", "P05 won (technical)", ""],
            &["R1M4", "to come", ""],
        ]);
        let table = table(&["MATCH", "RESULT", "WHY"], &rows);
        let shown = painted(&table, Paint::Colours).replace('\u{1b}', "ESC");
        insta::assert_snapshot!(shown, @r"
        MATCH  RESULT               WHY
        R1M1   ESC[32mP01 wonESC[0m              P02 lost
        R1M2   ESC[33mdrawESC[0m                 3 draw
        R1M3   ESC[35mP05 won (technical)ESC[0m
        R1M4   to come
        ");
    }
}
