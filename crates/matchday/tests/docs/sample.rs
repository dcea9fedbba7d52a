//! The sample of a league in the tutorial is what the program prints. To write it anew:
//! `UPDATE_DOCS=1 cargo test -p matchday --test docs sample`

use crate::{MATCHDAY, read, root};
use matchday_testkit::cli::Cli;

const BEGIN: &str = "<!-- sample of matchday run -->\n```\n";
const END: &str = "\n```\n<!-- end of sample -->";

/// A league and the story of one match, with a seed so that they come out the same each time.
fn generated() -> String {
    let cli = Cli::new(MATCHDAY);
    let played = cli.run(&[
        "run",
        "--seed",
        "3",
        "--store",
        "first.db",
        "--port-base",
        "0",
    ]);
    let told = cli.run(&["replay", "first.db", "--match", "R1M1"]);
    assert_eq!((played.code, told.code), (0, 0), "{played:?} {told:?}");
    // The port is another one each time.
    let port = played
        .out
        .split("http://127.0.0.1:")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let played = played
        .out
        .replace(&format!("127.0.0.1:{port}"), "127.0.0.1:8000");
    format!(
        "$ matchday run --store first.db\n{}\n\n$ matchday replay first.db --match R1M1\n{}",
        played.trim_end(),
        told.out.trim_end()
    )
}

/// Without figures that differ from run to run: numbers, hashes, and the space that they take; the lines of messages in any order.
fn skeleton(sample: &str) -> Vec<String> {
    let word = |word: &str| match word.contains(|letter: char| letter.is_ascii_digit()) {
        true if word.len() >= 32 => "HASH".to_owned(),
        true => word
            .chars()
            .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
            .collect::<String>(),
        false => word.to_owned(),
    };
    // Who wins and who is level, and so what is said of it, may differ between two runs on a busy machine.
    let fixed = |line: &str| {
        let line = line.replace("drew with", "beat");
        let line = line.strip_suffix("WHY").unwrap_or(&line);
        let end = [" ahead of P", " level with P"]
            .iter()
            .find_map(|why| line.find(why));
        let line = line.get(..end.unwrap_or(line.len())).unwrap_or(line);
        match line.split_once("Luck ") {
            Some(("", _)) => "Luck".to_owned(),
            _ => line.to_owned(),
        }
    };
    let line = |line: &str| {
        let words = fixed(line)
            .split_whitespace()
            .map(&word)
            .collect::<Vec<_>>()
            .join(" ");
        let mut squeezed = String::new();
        for letter in words.chars() {
            if letter != '0' || !squeezed.ends_with('0') {
                squeezed.push(letter);
            }
        }
        squeezed
    };
    let mut lines: Vec<String> = sample.lines().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn the_sample_of_the_tutorial_is_what_the_program_prints() {
    let tutorial = read("docs/tutorial.md");
    let (before, rest) = tutorial
        .split_once(BEGIN)
        .expect("the sample of the tutorial");
    let (shown, after) = rest.split_once(END).unwrap();
    let fresh = generated();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(
            root().join("docs/tutorial.md"),
            format!("{before}{BEGIN}{fresh}{END}{after}"),
        )
        .unwrap();
        return;
    }
    assert_eq!(
        skeleton(shown),
        skeleton(&fresh),
        "UPDATE_DOCS=1 cargo test -p matchday --test docs sample"
    );
}

#[test]
fn a_changed_word_is_seen_and_a_changed_figure_is_not() {
    assert_eq!(
        skeleton("P01  3 points, 0.2 ms"),
        skeleton("P01 12 points, 15.7 ms")
    );
    assert_ne!(skeleton("P01 3 points"), skeleton("P01 3 goals"));
}
