//! TLS for the client: the server's certificate must be for the name that was called, and signed by a public authority or one of
//! the operator's.

use super::pem::{Identity, PemError, add_authorities};
use crate::call::CallError;
use crate::transport::Connection;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WantsClientCert;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{
    AlertDescription, ClientConfig, ConfigBuilder, Error, RootCertStore, WantsVerifier,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTlsFiles {
    /// Authorities that are trusted besides the public ones.
    pub ca: Option<PathBuf>,
    /// The client certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Which server certificates are trusted, and our client certificate. An error here fails each https call.
#[derive(Clone)]
pub struct ClientTls(pub(super) Result<Arc<ClientConfig>, String>);

static DEFAULT: LazyLock<ClientTls> = LazyLock::new(|| ClientTls::with_roots(public_roots()));

fn public_roots() -> RootCertStore {
    RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    }
}

impl Default for ClientTls {
    fn default() -> Self {
        DEFAULT.clone()
    }
}

impl ClientTls {
    /// Trusts this authority besides the public ones.
    pub fn with_authority(authority: CertificateDer<'_>) -> Result<Self, String> {
        let mut roots = public_roots();
        roots
            .add(authority.into_owned())
            .map_err(|error| error.to_string())?;
        Ok(Self::with_roots(roots))
    }

    fn with_roots(roots: RootCertStore) -> Self {
        Self(
            builder().map(|builder| {
                with_alpn(builder.with_root_certificates(roots).with_no_client_auth())
            }),
        )
    }

    pub fn read(files: &ClientTlsFiles) -> Result<Self, PemError> {
        let mut roots = public_roots();
        if let Some(path) = &files.ca {
            add_authorities(&mut roots, path)?;
        }
        let builder = match builder() {
            Ok(builder) => builder.with_root_certificates(roots),
            Err(why) => return Ok(Self(Err(why))),
        };
        with_identity(builder, files)
    }

    /// The TLS handshake with the server `name`.
    pub(crate) async fn connect<W: Connection>(
        &self,
        name: &str,
        stream: W,
    ) -> Result<TlsStream<W>, CallError> {
        let failed = |why: String| CallError::NoConnection(why);
        let config = self.0.clone().map_err(failed)?;
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_| failed(format!("{name} is no name that a certificate can have")))?;
        let connecting = TlsConnector::from(config).connect(server, stream).await;
        connecting.map_err(|error| failed(explain(name, &error)))
    }
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    builder
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())
}

fn with_identity(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    files: &ClientTlsFiles,
) -> Result<ClientTls, PemError> {
    let config = match &files.identity {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let Identity { chain, key: secret } = Identity::read(cert, key)?;
            let config = builder.with_client_auth_cert(chain, secret);
            config.map_err(|error| Identity::refused(cert, key, error))?
        }
    };
    Ok(ClientTls(Ok(with_alpn(config))))
}

pub(super) fn with_alpn(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// The TLS error behind a failed call, if it was one: with TLS 1.3 a server refuses client certificates after the handshake.
pub(crate) fn error_text(name: &str, error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return error
                .get_ref()
                .is_some_and(|inner| inner.is::<Error>())
                .then(|| explain(name, error));
        }
        cause = error.source();
    }
    None
}

fn explain(name: &str, error: &std::io::Error) -> String {
    let cause = error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<Error>());
    match cause {
        Some(Error::InvalidCertificate(why)) => format!(
            "the certificate of {name} is not trusted ({why}): it must be for this name, valid now, and signed by a \
             public authority or by one that --tls-ca names"
        ),
        Some(Error::AlertReceived(AlertDescription::CertificateRequired)) => format!(
            "{name} asks callers for a certificate: name one with --tls-client-cert and --tls-client-key"
        ),
        Some(Error::AlertReceived(
            alert @ (AlertDescription::UnknownCA | AlertDescription::BadCertificate),
        )) => {
            format!(
                "{name} does not accept our certificate ({alert:?}): name another with --tls-client-cert"
            )
        }
        Some(Error::InvalidMessage(_)) => {
            format!("{name} does not speak TLS at this port: is it http?")
        }
        _ => format!("TLS with {name} failed: {error}"),
    }
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTls")
    }
}
