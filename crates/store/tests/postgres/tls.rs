//! TLS to a database with a certificate of the test's own authority, checked as `sslmode` says; and passwords, which stand in no
//! error.

use matchday_store::Store;
use matchday_testkit::address::free_address;
use matchday_testkit::certificates::Authority;
use matchday_testkit::event_lines::{append, line, numbers};
use matchday_testkit::postgres::Cluster;
use std::path::PathBuf;

const PASSWORD: &str = "correct-horse-battery";

struct Server {
    cluster: Cluster,
    port: u16,
    /// The authority that signed the server's certificate, and another one.
    root: PathBuf,
    other_root: PathBuf,
}

impl Server {
    /// A server that takes TLS and passwords alone, and whose certificate is that of `localhost`.
    fn start() -> Option<Self> {
        let cluster = Cluster::start()?;
        cluster.database();
        cluster.sql(
            "postgres",
            &format!("ALTER ROLE matchday PASSWORD '{PASSWORD}'"),
        );
        let port = free_address().port();
        let authority = Authority::new("the tests' own");
        let folder = cluster.socket();
        let pair = authority.issue(folder, "server", &["localhost"]);
        [&pair.cert, &pair.key]
            .into_iter()
            .for_each(|file| cluster.hand_over(file));
        let root = authority.file(folder, "root.pem");
        let other_root = Authority::new("another").file(folder, "other.pem");
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'",
            pair.cert.display(),
            pair.key.display()
        );
        cluster.configure(
            &settings,
            "hostssl all all 127.0.0.1/32 scram-sha-256\nhostnossl all all 127.0.0.1/32 reject",
        );
        Some(Self {
            cluster,
            port,
            root,
            other_root,
        })
    }

    fn open(&self, host: &str, password: &str, query: &str) -> Result<Store, String> {
        let address = format!(
            "postgres://matchday:{password}@{host}:{}/t0?{query}",
            self.port
        );
        let opened = Store::open(address.as_str()).map_err(|error| format!("{error} {error:?}"));
        if let Err(why) = &opened {
            assert!(!why.contains(password), "{why}");
        }
        opened
    }
}

#[test]
fn a_certificate_is_checked_as_sslmode_says() {
    let Some(server) = Server::start() else {
        return;
    };
    let root = server.root.display();
    let other = server.other_root.display();
    let taken = [
        ("127.0.0.1", "sslmode=prefer".to_owned()),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={root}")),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={root}"),
        ),
    ];
    for (number, (host, query)) in taken.iter().enumerate() {
        let store = server
            .open(host, PASSWORD, query)
            .unwrap_or_else(|why| panic!("{query}: {why}"));
        append(&store, "league", vec![line(number)]).unwrap();
        assert_eq!(numbers(&store, "league").len(), number + 1);
        assert!(!format!("{store:?}").contains(PASSWORD));
        store.close().unwrap();
    }
    let refused = [
        ("127.0.0.1", "sslmode=disable".to_owned(), "no encryption"),
        (
            "127.0.0.1",
            format!("sslmode=verify-full&sslrootcert={root}"),
            "not valid for name",
        ),
        (
            "127.0.0.1",
            format!("sslmode=verify-ca&sslrootcert={other}"),
            "UnknownIssuer",
        ),
        (
            "127.0.0.1",
            format!("sslmode=require&sslrootcert={other}"),
            "UnknownIssuer",
        ),
        (
            "localhost",
            "sslmode=verify-full".to_owned(),
            "UnknownIssuer",
        ),
    ];
    for (host, query, wanted) in &refused {
        let why = server.open(host, PASSWORD, query).map(drop).unwrap_err();
        assert!(why.contains(wanted), "{query}: {why}");
    }
}

#[test]
fn a_password_that_is_wrong_stands_in_no_error() {
    let Some(server) = Server::start() else {
        return;
    };
    let why = server
        .open("127.0.0.1", "wrong-donkey-battery", "sslmode=require")
        .map(drop)
        .unwrap_err();
    assert!(why.contains("password authentication failed"), "{why}");
    let log = std::fs::read_to_string(server.cluster.socket().join("server.log")).unwrap();
    assert!(!log.contains("donkey"), "the server's log");
}
