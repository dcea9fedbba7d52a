//! Writes the list of the dashboard's files, so that whatever lies in their folder becomes part of the program.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "assets/dashboard";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join(FOLDER);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && !name.starts_with('.') {
            files.push((name, entry.path()));
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in files {
        writeln!(
            list,
            "    ({name:?}, include_bytes!({:?})),",
            path.to_string_lossy()
        )?;
    }
    list.push(']');
    fs::write(
        Path::new(&env::var("OUT_DIR")?).join("dashboard_files.rs"),
        list,
    )?;
    Ok(())
}
