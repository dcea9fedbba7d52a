//! What every store must do, whatever is behind it: the same checks for SQLite, in a file and in memory, and PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod checks;

use checks::CHECKS;
use matchday_store::StoreUrl;
use matchday_store::append::Append;
use matchday_store::open::Target;
use matchday_store::read::Read;
#[cfg(unix)]
use matchday_testkit::postgres::Cluster;

/// A store that is empty at first, and can be opened again.
trait Fixture {
    fn append(&self) -> Box<dyn Append>;
    fn read(&self) -> Box<dyn Read>;
}

impl Fixture for Target {
    fn append(&self) -> Box<dyn Append> {
        Target::append(self).unwrap()
    }

    fn read(&self) -> Box<dyn Read> {
        Target::read(self).unwrap()
    }
}

#[test]
fn sqlite_in_memory_conforms() {
    for (name, check) in CHECKS {
        println!("{name}");
        check(&Target::of(StoreUrl::Memory).unwrap());
    }
}

#[test]
fn sqlite_conforms() {
    for (name, check) in CHECKS {
        println!("{name}");
        let folder = tempfile::tempdir().unwrap();
        check(&Target::of(folder.path().join("league.db")).unwrap());
    }
}

#[cfg(unix)]
#[test]
fn postgres_conforms() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    for (name, check) in CHECKS {
        println!("{name}");
        check(&Target::of(cluster.database().as_str()).unwrap());
    }
}
