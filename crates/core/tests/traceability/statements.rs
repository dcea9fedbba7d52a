//! What the documents say, read from `tests/sources/*.toml`. A document may be spread over several files.

use serde::Deserialize;
use std::fs;
use std::path::Path;

pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    document: String,
    title: String,
    section: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Section {
    pub(crate) number: String,
    pub(crate) title: String,
    pub(crate) statements: Vec<Statement>,
}

/// One checkable fact, in our own words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    pub(crate) says: String,
    /// The tests that hold it, or that show the ruling: `crate::suite::module::test`.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// What we do otherwise, and why.
    ruled: Option<String>,
    /// Why no test can hold it: it is about people, or about the document.
    not_checkable: Option<String>,
    /// The issue that has still to make it true.
    pending: Option<String>,
}

pub(crate) enum Kind<'a> {
    Held,
    Ruled(&'a str),
    NotCheckable(&'a str),
    Pending(&'a str),
}

impl Statement {
    pub(crate) fn kind(&self) -> Kind<'_> {
        match (&self.ruled, &self.not_checkable, &self.pending) {
            (None, None, None) => Kind::Held,
            (Some(ruling), None, None) => Kind::Ruled(ruling),
            (None, Some(reason), None) => Kind::NotCheckable(reason),
            (None, None, Some(issue)) => Kind::Pending(issue),
            _ => panic!(
                "ruled, not_checkable or pending, and only one of them: {}",
                self.says
            ),
        }
    }
}

/// All of them, in the order of the files' names.
pub(crate) fn documents() -> Vec<Document> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut documents: Vec<Document> = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let file: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        match documents.last_mut().filter(|last| last.id == file.document) {
            Some(last) => last.sections.extend(file.section),
            None => documents.push(Document {
                id: file.document,
                title: file.title,
                sections: file.section,
            }),
        }
    }
    documents
}
