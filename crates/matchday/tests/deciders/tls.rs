//! https: who cannot show that it is who it says it is, is not spoken to.

use hyper::service::service_fn;
use hyper::{Response, server::conn::http1};
use hyper_util::rt::TokioIo;
use matchday_net::client::{CallError, Client};
use matchday_net::tls::ClientTls;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// For 127.0.0.1 and localhost, signed by nobody but itself, and used nowhere else.
const CERTIFICATE: &[u8] = include_bytes!("self_signed.cert.der");
const KEY: &[u8] = include_bytes!("self_signed.key.der");

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

async fn secure_server() -> u16 {
    let key = PrivateKeyDer::try_from(KEY).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service =
                    service_fn(|_| async { Ok::<_, Infallible>(Response::new("{}".to_owned())) });
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    port
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_in_clear_words() {
    let url = format!("https://127.0.0.1:{}/mcp", secure_server().await);
    let error = Client::new()
        .post(&url, "{}".into(), soon(), 100)
        .await
        .unwrap_err();
    let CallError::NoConnection(why) = error else {
        panic!("{error:?}")
    };
    assert!(
        why.starts_with("the certificate of 127.0.0.1 is not trusted"),
        "{why}"
    );
}

#[tokio::test]
async fn a_server_that_is_trusted_is_spoken_to_and_its_connection_used_again() {
    let port = secure_server().await;
    let client =
        Client::with_tls(ClientTls::with_authority(CertificateDer::from(CERTIFICATE)).unwrap());
    for host in ["127.0.0.1", "localhost", "localhost"] {
        let url = format!("https://{host}:{port}/mcp");
        assert_eq!(
            client
                .post(&url, "{}".into(), soon(), 100)
                .await
                .unwrap()
                .status,
            200
        );
    }
    let plain = client
        .post(
            &format!("http://127.0.0.1:{port}/mcp"),
            "{}".into(),
            soon(),
            100,
        )
        .await;
    assert!(
        plain.is_err(),
        "the secure connection is not used for what is not"
    );
}

#[tokio::test]
async fn a_server_without_tls_is_told_apart() {
    let server = crate::model_server::ModelServer::start(&[(200, "{}", Duration::ZERO)]).await;
    let url = format!("https://{}/mcp", server.address);
    let error = Client::new()
        .post(&url, "{}".into(), soon(), 100)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not speak TLS at this port"),
        "{error}"
    );
}
