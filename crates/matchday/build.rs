//! Packs the pages that docs/SUMMARY.md lists into the program, for `matchday help TOPIC`. New pages are picked up by their line there.

use miniz_oxide::deflate::compress_to_vec;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Only of interest to an auditor, and half as long as all others together.
const LEFT_OUT: &str = "sources";

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../docs");
    let read = |file: &str| {
        let path = docs.join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut text = String::new();
    let mut table = String::from("&[\n");
    let mut chapter = "";
    let summary = read("SUMMARY.md")?;
    for line in summary.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix("# ") {
            chapter = title;
        }
        let entry = line
            .strip_prefix("- [")
            .and_then(|entry| entry.strip_suffix(".md)"))
            .and_then(|entry| entry.split_once("]("));
        let Some((_, name)) = entry.filter(|(_, name)| *name != LEFT_OUT) else {
            continue;
        };
        let start = text.len();
        text.push_str(&read(&format!("{name}.md"))?);
        let end = text.len();
        writeln!(
            table,
            "    Page {{ chapter: {chapter:?}, name: {name:?}, place: {start}..{end} }},"
        )?;
    }
    table.push(']');
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    fs::write(out.join("manual.rs"), table)?;
    fs::write(
        out.join("manual.deflate"),
        compress_to_vec(text.as_bytes(), 9),
    )?;
    Ok(())
}
