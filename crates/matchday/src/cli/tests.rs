//! Every `matchday ...` line in the documentation is a command that the program takes: its subcommands, flags and values exist.

use super::Cli;
use clap::Parser;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    [root.join("README.md")].into_iter().chain(pages).collect()
}

const POWERSHELL: &str = "```powershell";

/// Lines of PowerShell blocks that only a POSIX shell takes. There is no PowerShell here to run them with.
fn posix_lines(page: &str) -> Vec<&str> {
    let is_posix = |line: &&str| {
        let assigns = |word: &str| {
            word.split_once('=')
                .is_some_and(|(name, _)| !name.starts_with(['-', '$']))
        };
        line.ends_with('\\')
            || ["export ", " && ", "/dev/null", "$("]
                .iter()
                .any(|posix| line.contains(posix))
            || line.split(' ').next().is_some_and(assigns)
    };
    let mut lines = page.lines();
    let mut found = Vec::new();
    while lines.by_ref().any(|line| line == POWERSHELL) {
        found.extend(
            lines
                .by_ref()
                .take_while(|line| *line != "```")
                .filter(is_posix),
        );
    }
    found
}

/// The commands of a block of a shell, split into words as the shell would, as far as the documentation needs it.
fn commands(block: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    let text = block.replace("\\\n", " ").replace("`\n", " ");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (end, Some(open)) if end == open => quote = None,
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            ('\n' | ';' | '|' | '&' | '>' | '<', None) => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
                // What stands behind > or < is a file.
                if matches!(letter, '>' | '<') {
                    while letters
                        .next_if(|letter| !matches!(letter, '\n' | ';' | '|' | '&'))
                        .is_some()
                    {}
                }
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    commands.push(words);
    let without_variables = |words: Vec<String>| {
        words
            .into_iter()
            .skip_while(|word| {
                word.split_once('=')
                    .is_some_and(|(name, _)| !name.starts_with('-'))
            })
            .collect()
    };
    commands
        .into_iter()
        .map(without_variables)
        .filter(|words: &Vec<String>| !words.is_empty())
        .collect()
}

/// The blocks of shells on a page, each with its line.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(page.lines());
    while let Some((line, text)) = lines.next() {
        if matches!(text, "```sh" | POWERSHELL | "```bash") {
            let inside: Vec<&str> = lines
                .by_ref()
                .map(|(_, text)| text)
                .take_while(|text| *text != "```")
                .collect();
            blocks.push((line, inside.join("\n")));
        }
    }
    blocks
}

/// Why the program would not take these words; `None` if they are not a command of ours, or are taken.
fn refusal(words: &[String]) -> Option<String> {
    let ours = match words {
        [program, ..] if program == "matchday" => words.to_vec(),
        [cargo, run, release, dashes, rest @ ..]
            if [cargo.as_str(), run, release, dashes] == ["cargo", "run", "--release", "--"] =>
        {
            [&["matchday".to_owned()], rest].concat()
        }
        _ => return None,
    };
    match Cli::try_parse_from(&ours) {
        Ok(_) => None,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            None
        }
        Err(error) => Some(format!(
            "{}: {}",
            ours.join(" "),
            error.to_string().lines().next().unwrap_or_default()
        )),
    }
}

#[test]
fn the_program_takes_every_command_of_the_documentation() {
    let mut refused = Vec::new();
    let mut taken = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for (line, block) in blocks(&page) {
            for words in commands(&block) {
                match refusal(&words) {
                    Some(why) => refused.push(format!("{}:{line}: {why}", path.display())),
                    None => {
                        taken += usize::from(words.first().is_some_and(|word| word == "matchday"))
                    }
                }
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(taken > 80, "only {taken} commands were found");
}

#[test]
fn no_powershell_block_needs_a_posix_shell() {
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        assert_eq!(posix_lines(&page), Vec::<&str>::new(), "{}", path.display());
    }
    let page = "```powershell\n$env:A = 1\nexport A=1\nA=1 matchday run\nmatchday run \\\n```\nexport B=1\n";
    assert_eq!(
        posix_lines(page),
        ["export A=1", "A=1 matchday run", "matchday run \\"]
    );
}

#[test]
fn a_flag_that_does_not_exist_is_found() {
    let words = commands("MATCHDAY_LEAD=5 matchday run --playres 4 # comment\n")
        .pop()
        .unwrap();
    assert_eq!(words, ["matchday", "run", "--playres", "4"]);
    assert!(refusal(&words).is_some());
}

#[test]
fn a_block_is_split_as_a_shell_splits_it() {
    let block = "matchday a 'b c' | less && matchday d > e.txt\nmatchday f \\\n  g";
    let expected = [
        &["matchday", "a", "b c"][..],
        &["less"],
        &["matchday", "d"],
        &["matchday", "f", "g"],
    ];
    assert_eq!(commands(block), expected);
}
