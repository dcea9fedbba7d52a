//! TLS on both sides: who is let in, who is believed, and what bad files are told.

use crate::place::{Place, soon};
use matchday_net::client::{CallError, Client};
use matchday_net::server::ServerOptions;
use matchday_net::tls::{ClientTls, ClientTlsFiles, ServerTls, ServerTlsFiles};
use matchday_testkit::certificates::{Authority, Pair};
use std::fs;
use std::path::{Path, PathBuf};

const HERE: &[&str] = &["localhost", "127.0.0.1"];

struct Identities {
    folder: tempfile::TempDir,
    authority: Authority,
    ca: PathBuf,
    server: Pair,
}

impl Identities {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new("league");
        let ca = authority.file(folder.path(), "ca.pem");
        let server = authority.issue(folder.path(), "server", HERE);
        Self {
            folder,
            authority,
            ca,
            server,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn serving(&self, client_ca: Option<&PathBuf>) -> ServerTls {
        let Pair { cert, key } = self.server.clone();
        ServerTls::read(ServerTlsFiles {
            cert,
            key,
            client_ca: client_ca.cloned(),
        })
        .unwrap()
    }

    async fn place(&self, serving: &ServerTls) -> Place {
        Place::open(ServerOptions {
            tls: Some(serving.clone()),
            ..ServerOptions::default()
        })
        .await
    }

    fn client(&self, identity: Option<&Pair>) -> Client {
        let identity = identity.map(|pair| (pair.cert.clone(), pair.key.clone()));
        let files = ClientTlsFiles {
            ca: Some(self.ca.clone()),
            identity,
        };
        Client::with_tls(ClientTls::read(&files).unwrap())
    }
}

async fn call(client: &Client, place: &Place) -> Result<u16, CallError> {
    let url = format!("https://localhost:{}/mcp", place.address.port());
    client
        .post(&url, "{}".into(), soon(), 100)
        .await
        .map(|received| received.status)
}

#[tokio::test]
async fn a_private_authority_is_believed_where_it_is_named_and_nowhere_else() {
    let identities = Identities::new();
    let place = identities.place(&identities.serving(None)).await;
    assert_eq!(call(&identities.client(None), &place).await, Ok(200));
    let CallError::NoConnection(why) = call(&Client::new(), &place).await.unwrap_err() else {
        panic!()
    };
    assert!(
        why.contains("is not trusted") && why.contains("--tls-ca"),
        "{why}"
    );
}

#[tokio::test]
async fn a_client_without_the_required_certificate_is_told_so() {
    let identities = Identities::new();
    let place = identities
        .place(&identities.serving(Some(&identities.ca)))
        .await;
    let agent = identities
        .authority
        .issue(identities.path(), "agent", &["agent"]);
    assert_eq!(
        call(&identities.client(Some(&agent)), &place).await,
        Ok(200)
    );

    let why = call(&identities.client(None), &place)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("asks callers for a certificate") && why.contains("--tls-client-cert"),
        "{why}"
    );

    let stranger = Authority::new("elsewhere").issue(identities.path(), "stranger", &["stranger"]);
    let why = call(&identities.client(Some(&stranger)), &place)
        .await
        .unwrap_err()
        .to_string();
    assert!(why.contains("does not accept our certificate"), "{why}");
    assert_eq!(place.count(), 1, "nobody else has come to ask anything");
}

#[tokio::test]
async fn garbage_on_a_secure_port_ends_that_connection_and_nothing_else() {
    let identities = Identities::new();
    let place = identities.place(&identities.serving(None)).await;
    for garbage in [
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".to_vec(),
        vec![0xff; 4096],
        vec![0; 70_000],
        b"\x16\x03\x01\xff\xff".repeat(100),
    ] {
        let said = place.say(garbage).await;
        assert!(!said.contains("HTTP/1.1 200"), "{said}");
    }
    assert_eq!(place.count(), 0);
    assert_eq!(call(&identities.client(None), &place).await, Ok(200));
}

#[tokio::test]
async fn tls_on_a_plain_port_ends_that_connection_and_nothing_else() {
    let place = Place::open(ServerOptions::default()).await;
    let why = call(&Client::new(), &place).await.unwrap_err().to_string();
    assert!(why.contains("does not speak TLS at this port"), "{why}");
    let url = format!("http://{}/mcp", place.address);
    assert_eq!(
        Client::new()
            .post(&url, "{}".into(), soon(), 100)
            .await
            .unwrap()
            .status,
        200
    );
    assert_eq!(place.count(), 1);
}

#[tokio::test]
async fn certificates_are_read_again_and_bad_ones_change_nothing() {
    let identities = Identities::new();
    let serving = identities.serving(None);
    let place = identities.place(&serving).await;
    let authority = Authority::new("the next");
    let next = authority.issue(identities.path(), "next", HERE);
    fs::copy(&next.cert, &identities.server.cert).unwrap();
    assert!(
        serving
            .reload()
            .unwrap_err()
            .to_string()
            .contains("does not belong to the certificate")
    );
    assert_eq!(call(&identities.client(None), &place).await, Ok(200));

    fs::copy(&next.key, &identities.server.key).unwrap();
    serving.reload().unwrap();
    assert!(call(&identities.client(None), &place).await.is_err());
    authority.file(identities.path(), "ca.pem");
    assert_eq!(call(&identities.client(None), &place).await, Ok(200));
}

#[test]
fn bad_files_are_told_which_one_it_is_what_is_wrong_and_what_to_do() {
    let identities = Identities::new();
    let file = |name: &str, text: &str| {
        let path = identities.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let Pair { cert, key } = identities.server.clone();
    let other = identities.authority.issue(identities.path(), "other", HERE);
    let empty = file("empty.pem", "");
    let broken = file(
        "broken.pem",
        "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n",
    );
    let encrypted = file(
        "secret.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let nonsense = file(
        "nonsense.pem",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    let missing = identities.path().join("missing.pem");
    for (cert, key, client_ca, culprit, words) in [
        (&missing, &key, None, "missing.pem", "cannot be read"),
        (&empty, &key, None, "empty.pem", "holds no certificate"),
        (&key, &key, None, "server.key", "holds no certificate"),
        (&broken, &key, None, "broken.pem", "is broken"),
        (&nonsense, &key, None, "nonsense.pem", "cannot be used"),
        (&cert, &missing, None, "missing.pem", "cannot be read"),
        (&cert, &cert, None, "server.pem", "holds no private key"),
        (&cert, &encrypted, None, "secret.key", "not encrypted"),
        (
            &cert,
            &other.key,
            None,
            "other.key",
            "does not belong to the certificate",
        ),
        (
            &cert,
            &key,
            Some(&empty),
            "empty.pem",
            "holds no certificate",
        ),
        (
            &cert,
            &key,
            Some(&nonsense),
            "nonsense.pem",
            "cannot be used",
        ),
    ] {
        let files = ServerTlsFiles {
            cert: cert.clone(),
            key: key.clone(),
            client_ca: client_ca.cloned(),
        };
        let error = ServerTls::read(files).unwrap_err().to_string();
        assert!(
            error.contains(culprit) && error.contains(words),
            "{culprit}, {words}: {error}"
        );
    }
}
