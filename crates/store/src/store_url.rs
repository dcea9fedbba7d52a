//! Where a store is: a file, a database or the memory of this process. Parsed once from what a person wrote; the password of a
//! database is taken out and kept inside, so that what is shown never holds one. Does no I/O.

use matchday_core::protocol::LeagueId;
use serde::{Serialize, Serializer};
use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A path is a file. A text is the URL of a database if it begins as one, else the path of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreUrl {
    Sqlite(PathBuf),
    Postgres(PgUrl),
    Memory,
}

impl StoreUrl {
    /// The league that it names by `?league=`.
    pub fn league(&self) -> Option<&LeagueId> {
        match self {
            Self::Postgres(url) => url.0.league.as_ref(),
            Self::Sqlite(_) | Self::Memory => None,
        }
    }

    /// The file that it is.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) => Some(path),
            Self::Postgres(_) | Self::Memory => None,
        }
    }

    /// The store's name where anyone may read it: the file's, without the folders of this machine. The URL of a database is not
    /// shown.
    pub fn short_name(&self) -> String {
        let name = self.file().and_then(Path::file_name);
        name.map_or_else(
            || "STORE".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// The path that files which belong to the store are named after: its own, or for a database one in the working directory
    /// with its name. `None` in memory.
    pub fn file_base(&self) -> Option<PathBuf> {
        match self {
            Self::Sqlite(path) => Some(path.clone()),
            Self::Postgres(url) => Some(PathBuf::from(format!("{}.db", url.database()))),
            Self::Memory => None,
        }
    }

    /// `matchday.db` becomes `matchday-seats.db`: the players in seats store their tokens in clear, which the store of a manager
    /// must not hold. In memory if the store is.
    pub fn of_seats(&self) -> Self {
        let Some(base) = self.file_base() else {
            return Self::Memory;
        };
        let name = base.file_stem().unwrap_or_default().to_string_lossy();
        Self::Sqlite(base.with_file_name(format!("{name}-seats.db")))
    }

    /// With symbolic links resolved as far as they can be, to find out whether two name the same file.
    pub fn canonical(&self) -> Self {
        match self {
            Self::Sqlite(path) => {
                Self::Sqlite(path.canonicalize().unwrap_or_else(|_| path.clone()))
            }
            other => other.clone(),
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => path.display().fmt(f),
            Self::Postgres(url) => f.write_str(&url.0.shown),
            Self::Memory => f.write_str("memory"),
        }
    }
}

impl Serialize for StoreUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<PathBuf> for StoreUrl {
    fn from(path: PathBuf) -> Self {
        Self::Sqlite(path)
    }
}

impl From<&PathBuf> for StoreUrl {
    fn from(path: &PathBuf) -> Self {
        Self::Sqlite(path.clone())
    }
}

impl From<&Path> for StoreUrl {
    fn from(path: &Path) -> Self {
        Self::Sqlite(path.to_owned())
    }
}

impl From<&str> for StoreUrl {
    fn from(text: &str) -> Self {
        PgUrl::parse(text).map_or_else(|| Self::Sqlite(text.into()), Self::Postgres)
    }
}

impl From<String> for StoreUrl {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<OsString> for StoreUrl {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some(text) => text.into(),
            None => Self::Sqlite(text.into()),
        }
    }
}

impl From<&Self> for StoreUrl {
    fn from(url: &Self) -> Self {
        url.clone()
    }
}

/// The URL of a PostgreSQL database, in libpq's form. Clones share the connections that this process reads it over.
#[derive(Clone)]
pub struct PgUrl(Arc<Parts>);

struct Parts {
    /// Without the password.
    shown: String,
    password: Option<String>,
    league: Option<LeagueId>,
    /// What the store's implementation shares between all copies of the URL.
    shared: OnceLock<Arc<dyn Any + Send + Sync>>,
}

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

impl PgUrl {
    /// `None` if it is the path of a file.
    fn parse(text: &str) -> Option<Self> {
        let (shown, password) = split_password(text)?;
        let league = parameters(&shown).find(|(key, id)| key == "league" && !id.is_empty());
        let league = league.map(|(_, id)| LeagueId::new(id));
        Some(Self(Arc::new(Parts {
            shown,
            password,
            league,
            shared: OnceLock::new(),
        })))
    }

    /// Scheme, user, host and name of the database.
    pub(crate) fn base(&self) -> &str {
        self.0.shown.split('?').next().unwrap_or_default()
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = (String, String)> {
        parameters(&self.0.shown)
    }

    pub(crate) fn password(&self) -> Option<&str> {
        self.0.password.as_deref()
    }

    /// What is shared by all copies of the URL, made when it is first asked for.
    pub(crate) fn shared<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let shared = self.0.shared.get_or_init(|| Arc::new(T::default()));
        Arc::clone(shared).downcast().unwrap_or_default()
    }

    /// The name of the database, or of what stands for it, as a name for files.
    fn database(&self) -> String {
        let base = self.base();
        let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let user = authority.split_once('@').map(|(user, _)| user.to_owned());
        let parameter = |name: &str| {
            let found = self.parameters().find(|(key, _)| key == name);
            found.map(|(_, value)| value)
        };
        let names = [
            Some(path.to_owned()),
            parameter("dbname"),
            parameter("service"),
            user,
        ];
        let name = names.into_iter().flatten().find(|name| !name.is_empty());
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
        name.unwrap_or_else(|| "matchday".to_owned())
            .chars()
            .map(|letter| if is_plain(letter) { letter } else { '_' })
            .collect()
    }
}

impl fmt::Debug for PgUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.shown.fmt(f)
    }
}

impl PartialEq for PgUrl {
    fn eq(&self, other: &Self) -> bool {
        self.0.shown == other.0.shown
    }
}

impl Eq for PgUrl {}

impl PartialOrd for PgUrl {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PgUrl {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.shown.cmp(&other.0.shown)
    }
}

/// A store, or several with commas between them, as they can be shown; and the passwords that were in them.
pub fn split_passwords(text: &str) -> (String, Vec<String>) {
    let mut stores: Vec<String> = Vec::new();
    for part in text.split(',') {
        match stores.last_mut() {
            // The hosts of one database have commas between them too, and a password may hold one.
            Some(store) if !is_url(part.trim_start()) => {
                store.push(',');
                store.push_str(part);
            }
            _ => stores.push(part.to_owned()),
        }
    }
    let mut passwords = Vec::new();
    let shown: Vec<String> = stores
        .into_iter()
        .map(|store| match split_password(store.trim()) {
            Some((url, password)) => {
                passwords.extend(password);
                url
            }
            None => store,
        })
        .collect();
    (shown.join(","), passwords)
}

fn is_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// The URL of a database without its password, and the password; `None` if it is the path of a file.
fn split_password(text: &str) -> Option<(String, Option<String>)> {
    let scheme = SCHEMES
        .into_iter()
        .find(|scheme| text.starts_with(scheme))?;
    let rest = text.get(scheme.len()..)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let mut password = None;
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, secret)| {
                password = Some(decoded(secret));
                user
            });
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let path = match path.split_once('?') {
        Some((path, query)) => {
            let (secret, kept): (Vec<&str>, Vec<&str>) = query
                .split('&')
                .partition(|part| part.starts_with("password="));
            let secret = secret
                .first()
                .and_then(|part| part.strip_prefix("password="));
            password = secret.map(decoded).or(password);
            if kept.is_empty() {
                path.to_owned()
            } else {
                format!("{path}?{}", kept.join("&"))
            }
        }
        None => path.to_owned(),
    };
    Some((format!("{scheme}{authority}{path}"), password))
}

fn parameters(shown: &str) -> impl Iterator<Item = (String, String)> + use<> {
    let query = shown.split_once('?').map_or("", |(_, query)| query);
    pairs(query).into_iter()
}

/// In a form a plus is a space, in libpq's URLs it is a plus.
fn pairs(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.replace('+', "%2B").as_bytes())
        .into_owned()
        .collect()
}

fn decoded(text: &str) -> String {
    pairs(&format!("p={text}"))
        .into_iter()
        .next()
        .map(|(_, value)| value)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file() {
        for text in ["spring.db", "/var/postgres:/x.db"] {
            assert_eq!(StoreUrl::from(text), StoreUrl::Sqlite(text.into()));
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for text in [
            "postgres://ann:s3cr%40t@db.example:5433/x",
            "postgres://ann@db.example:5433/x?password=s3cr%40t",
        ] {
            let url = StoreUrl::from(text);
            assert_eq!(url.to_string(), "postgres://ann@db.example:5433/x");
            assert!(!format!("{url:?}").contains("s3cr"), "{url:?}");
        }
    }

    #[test]
    fn the_passwords_of_several_stores_are_split_off() {
        let text = "a.db,postgres://ann:s3cr,et@db1,db2/x, postgresql://ben@h/y?password=hush,postgres://cy@h/z";
        let shown = "a.db,postgres://ann@db1,db2/x,postgresql://ben@h/y,postgres://cy@h/z";
        assert_eq!(
            split_passwords(text),
            (
                shown.to_owned(),
                vec!["s3cr,et".to_owned(), "hush".to_owned()]
            )
        );
        assert_eq!(
            split_passwords("a.db, b.db"),
            ("a.db, b.db".to_owned(), Vec::new())
        );
    }

    #[test]
    fn a_league_is_named_by_a_parameter() {
        let url = StoreUrl::from("postgres://ann@/league?host=/run/postgresql&league=spring_1");
        assert_eq!(url.league(), Some(&LeagueId::new("spring_1")));
    }
}
