//! How a database is connected to: its URL, completed from a service file and the environment as libpq does. Reads the
//! environment and service files.

use super::tls::{Tls, TlsMode};
use crate::error::StoreError;
use crate::store_url::{PgUrl, StoreUrl};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

/// How long a host may take to answer before the next is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct Address {
    shown: StoreUrl,
    pub(super) config: Config,
    pub(super) tls: Tls,
}

impl Address {
    pub(crate) fn of(url: &PgUrl) -> Result<Self, StoreError> {
        Self::parse(url).map_err(|why| StoreError::Address {
            store: StoreUrl::Postgres(url.clone()),
            why,
        })
    }

    pub(crate) fn shown(&self) -> &StoreUrl {
        &self.shown
    }

    fn parse(url: &PgUrl) -> Result<Self, String> {
        let mut given: BTreeMap<String, String> = url.parameters().collect();
        given.remove("league");
        let service = given.remove("service").or_else(|| set("PGSERVICE"));
        let from_service = service.map_or_else(|| Ok(BTreeMap::new()), |name| of_service(&name))?;
        let mut config = Config::from_str(url.base()).map_err(|error| error.to_string())?;
        let own = |key: &str| match key {
            "user" => config.get_user().map(str::to_owned),
            "dbname" => config.get_dbname().map(str::to_owned),
            "host" | "port" => config.get_hosts().first().map(|_| String::new()),
            _ => None,
        };
        let known = |key: &str, variable: &str| {
            let given = given.get(key).cloned().or_else(|| own(key));
            given
                .or_else(|| from_service.get(key).cloned())
                .or_else(|| set(variable))
        };
        let mode = known("sslmode", "PGSSLMODE").unwrap_or_else(|| "prefer".to_owned());
        let root = known("sslrootcert", "PGSSLROOTCERT").map(PathBuf::from);
        let tls = Tls {
            mode: TlsMode::named(&mode)?,
            root,
        };
        let values = [
            ("user", known("user", "PGUSER")),
            ("dbname", known("dbname", "PGDATABASE")),
            ("host", known("host", "PGHOST")),
            ("port", known("port", "PGPORT")),
            ("options", known("options", "PGOPTIONS")),
            (
                "connect_timeout",
                known("connect_timeout", "PGCONNECT_TIMEOUT"),
            ),
            (
                "target_session_attrs",
                known("target_session_attrs", "PGTARGETSESSIONATTRS"),
            ),
        ];
        let unknown = given.keys().find(|key| {
            !matches!(key.as_str(), "sslmode" | "sslrootcert" | "application_name")
                && !values.iter().any(|(known, _)| known == key)
        });
        if let Some(unknown) = unknown {
            return Err(format!("{unknown} is no parameter that Matchday knows"));
        }
        let password = url.password().map(str::to_owned);
        let password = password
            .or_else(|| from_service.get("password").cloned())
            .or_else(|| set("PGPASSWORD"));
        for (key, value) in values {
            let missing = own_is_missing(&config, key);
            if let Some(value) = value.filter(|value| missing && !value.is_empty()) {
                apply(&mut config, key, &value)?;
            }
        }
        if let Some(password) = password {
            config.password(password);
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host(if Path::new("/run/postgresql").is_dir() {
                "/run/postgresql"
            } else {
                "localhost"
            });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config
            .application_name("matchday")
            .ssl_mode(match tls.mode {
                TlsMode::Disable => SslMode::Disable,
                TlsMode::Prefer => SslMode::Prefer,
                _ => SslMode::Require,
            });
        config
            .tcp_user_timeout(Duration::from_secs(10))
            .keepalives_idle(Duration::from_secs(10));
        Ok(Self {
            shown: StoreUrl::Postgres(url.clone()),
            config,
            tls,
        })
    }
}

fn own_is_missing(config: &Config, key: &str) -> bool {
    match key {
        "user" => config.get_user().is_none(),
        "dbname" => config.get_dbname().is_none(),
        "host" => config.get_hosts().is_empty(),
        "port" => config.get_ports().is_empty(),
        _ => true,
    }
}

fn apply(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    let number = || {
        value
            .parse::<u16>()
            .map_err(|_| format!("{key}={value} is no number"))
    };
    match key {
        "user" => config.user(value),
        "dbname" => config.dbname(value),
        "host" => {
            value.split(',').for_each(|host| {
                config.host(host);
            });
            config
        }
        "port" => config.port(number()?),
        "options" => config.options(value),
        "connect_timeout" => config.connect_timeout(Duration::from_secs(number()?.into())),
        "target_session_attrs" => config.target_session_attrs(match value {
            "any" => tokio_postgres::config::TargetSessionAttrs::Any,
            "read-write" | "primary" => tokio_postgres::config::TargetSessionAttrs::ReadWrite,
            other => {
                return Err(format!(
                    "target_session_attrs={other} is not known: any or read-write"
                ));
            }
        }),
        _ => config,
    };
    Ok(())
}

fn set(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

/// What a service file says of a service.
fn of_service(name: &str) -> Result<BTreeMap<String, String>, String> {
    // Where libpq looks for it.
    let own = if cfg!(windows) {
        set("APPDATA").map(|folder| Path::new(&folder).join("postgresql/.pg_service.conf"))
    } else {
        set("HOME").map(|home| Path::new(&home).join(".pg_service.conf"))
    };
    let shared = Path::new("/etc/postgresql-common/pg_service.conf").to_owned();
    let files = match set("PGSERVICEFILE") {
        Some(file) => vec![PathBuf::from(file)],
        None => own.into_iter().chain([shared]).collect(),
    };
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        let mut section = "";
        let mut found = None;
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with('#'))
        {
            if let Some(title) = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
            {
                section = title;
                if section == name {
                    found.get_or_insert_with(BTreeMap::new);
                }
            } else if let (Some(values), true) = (&mut found, section == name)
                && let Some((key, value)) = line.split_once('=')
            {
                values.insert(key.trim().to_owned(), value.trim().to_owned());
            }
        }
        if let Some(found) = found {
            return Ok(found);
        }
    }
    let looked: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Err(format!(
        "there is no service {name} in {}",
        looked.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use tokio_postgres::config::Host;

    fn parse(text: &str) -> Result<Address, StoreError> {
        match StoreUrl::from(text) {
            StoreUrl::Postgres(url) => Address::of(&url),
            other => panic!("{other} is no URL of a database"),
        }
    }

    fn address(text: &str) -> Address {
        parse(text).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_is_named_as_libpq_names_it() {
        let address = address("postgres://ann@/league?host=/run/postgresql&league=spring_1");
        assert_eq!(
            (address.config.get_user(), address.config.get_dbname()),
            (Some("ann"), Some("league"))
        );
        assert_eq!(
            address.config.get_hosts(),
            [Host::Unix("/run/postgresql".into())]
        );
    }

    #[test]
    fn a_password_is_used_and_not_shown() {
        for text in [
            "postgres://ann:s3cr%40t@db.example:5433/x",
            "postgres://ann@db.example:5433/x?password=s3cr%40t",
        ] {
            let address = address(text);
            assert_eq!(
                address.config.get_password(),
                Some(&b"s3cr@t"[..]),
                "{text}"
            );
            assert!(!format!("{address:?}").contains("s3cr"), "{address:?}");
        }
    }

    #[test]
    fn what_is_wrong_in_an_address_is_told_in_one_line() {
        for (text, why) in [
            ("postgres://h/d?sslmode=sometimes", "sslmode=sometimes"),
            ("postgres://h/d?colour=red", "colour is no parameter"),
            (
                "postgres://ann:geheim@h/d?service=nowhere",
                "no service nowhere",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(
                error.contains(why) && !error.contains('\n') && !error.contains("geheim"),
                "{error}"
            );
        }
    }
}
