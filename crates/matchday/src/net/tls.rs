//! TLS for calls over https. Whoever answers must show a certificate for the name that was called, signed by an
//! authority that we trust: those that browsers trust, unless a test adds its own.

use super::client::CallError;
use std::fmt;
use std::sync::{Arc, LazyLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, Error, RootCertStore};

/// Whose certificates are believed. Copies share it.
#[derive(Clone)]
pub struct Trust(Result<Arc<ClientConfig>, String>);

static USUAL: LazyLock<Trust> = LazyLock::new(|| Trust::in_roots(usual_roots()));

fn usual_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

impl Default for Trust {
    fn default() -> Self {
        USUAL.clone()
    }
}

impl Trust {
    /// Believes this authority too.
    pub fn also(authority: CertificateDer<'_>) -> Result<Self, String> {
        let mut roots = usual_roots();
        roots.add(authority.into_owned()).map_err(|error| error.to_string())?;
        Ok(Self::in_roots(roots))
    }

    fn in_roots(roots: RootCertStore) -> Self {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string());
        Self(config.map(|builder| {
            let mut config = builder.with_root_certificates(roots).with_no_client_auth();
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            Arc::new(config)
        }))
    }

    /// Makes a connection to `name` secret, and certain.
    pub(super) async fn secure(
        &self,
        name: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, CallError> {
        let failed = |why: String| CallError::NoConnection(why);
        let config = self.0.clone().map_err(failed)?;
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_| failed(format!("{name} is no name that a certificate can have")))?;
        let connecting = TlsConnector::from(config).connect(server, stream).await;
        connecting.map_err(|error| failed(in_words(name, &error)))
    }
}

fn in_words(name: &str, error: &std::io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidCertificate(why)) => format!(
            "the certificate of {name} is not trusted ({why}): it must be for this name, valid now, and signed by a \
             public authority"
        ),
        Some(Error::InvalidMessage(_)) => format!("{name} does not speak TLS at this port: is it http?"),
        _ => format!("TLS with {name} failed: {error}"),
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}
