//! The board of a turn, in games that have one. Use it in `strategy.rs`.
#![allow(dead_code)]

use serde_json::{Map, Value};

/// The cells from the top, row by row; empty text for an empty cell. No rows if the game has no board.
pub fn rows(context: &Map<String, Value>) -> Vec<Vec<String>> {
    let text = |cell: &Value| match cell {
        Value::Null => String::new(),
        Value::String(text) if text == "." => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (cells, columns) = cells(context);
    let texts: Vec<String> = cells.iter().map(text).collect();
    texts.chunks(columns.max(1)).map(<[_]>::to_vec).collect()
}

fn cells(context: &Map<String, Value>) -> (Vec<Value>, usize) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if let Some(view) = context.get("view").filter(|view| view["kind"] == "grid") {
        let columns = view["columns"].as_u64().unwrap_or(1) as usize;
        return (list(&view["cells"]), columns);
    }
    let board = context.get("board").map(list).unwrap_or_default();
    let width = |row: &Value| row.as_str().map_or(0, |row| row.chars().count());
    match board.first().map(width) {
        Some(columns) if columns > 1 => {
            let letters = board.iter().flat_map(|row| row.as_str().unwrap_or_default().chars());
            (letters.map(|letter| Value::from(letter.to_string())).collect(), columns)
        }
        _ => {
            let columns = (board.len() as f64).sqrt() as usize;
            (board, columns)
        }
    }
}

/// The rows as text.
pub fn show(rows: &[Vec<String>]) -> String {
    let cell = |cell: &String| if cell.is_empty() { "." } else { cell }.to_owned();
    let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(" ");
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
