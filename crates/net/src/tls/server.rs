//! TLS for the server: our certificate, and client certificates if the operator demands them (mTLS). The files can be reloaded.

use super::pem::{Identity, PemError, add_authorities};
use crate::linger::linger;
use crate::transport::Connection;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use tokio_rustls::rustls::{Error, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
    /// Clients must have a certificate of one of these authorities, if given.
    pub client_ca: Option<PathBuf>,
}

/// Clones share the certificate, also after a reload.
#[derive(Clone)]
pub struct ServerTls(Arc<Inner>);

struct Inner {
    /// `None` for a certificate that was made by this process.
    files: Option<ServerTlsFiles>,
    current: RwLock<Current>,
}

#[derive(Clone)]
struct Current {
    config: Arc<ServerConfig>,
    leaf: CertificateDer<'static>,
}

impl ServerTls {
    pub fn read(files: ServerTlsFiles) -> Result<Self, PemError> {
        let current = RwLock::new(read(&files)?);
        Ok(Self(Arc::new(Inner {
            files: Some(files),
            current,
        })))
    }

    /// With a certificate that is in no file.
    pub(super) fn of(config: ServerConfig, leaf: CertificateDer<'static>) -> Self {
        let current = RwLock::new(Current {
            config: Arc::new(config),
            leaf,
        });
        Self(Arc::new(Inner {
            files: None,
            current,
        }))
    }

    /// Reads the files again, for new connections. If they are bad, nothing changes.
    pub fn reload(&self) -> Result<(), PemError> {
        let Some(files) = &self.0.files else {
            return Ok(());
        };
        let fresh = read(files)?;
        *self
            .0
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// When our own certificate expires, in seconds since 1970; `None` if it cannot be read.
    pub fn expires_at(&self) -> Option<i64> {
        let leaf = self.current().leaf;
        let (_, certificate) = x509_parser::parse_x509_certificate(&leaf).ok()?;
        Some(certificate.validity().not_after.timestamp())
    }

    /// Whether our own certificate is one for this host, a name or an address.
    pub fn is_for(&self, host: &str) -> bool {
        let leaf = self.current().leaf;
        let name = ServerName::try_from(host);
        let (Ok(leaf), Ok(name)) = (ParsedCertificate::try_from(&leaf), name) else {
            return false;
        };
        verify_server_name(&leaf, &name).is_ok()
    }

    fn current(&self) -> Current {
        self.0
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) async fn accept<W: Connection>(&self, stream: W) -> io::Result<TlsStream<W>> {
        let accepting = TlsAcceptor::from(self.current().config)
            .accept(stream)
            .into_fallible();
        match accepting.await {
            Ok(stream) => Ok(stream),
            Err((error, stream)) => {
                linger(stream).await;
                Err(error)
            }
        }
    }
}

fn read(files: &ServerTlsFiles) -> Result<Current, PemError> {
    let identity = Identity::read(&files.cert, &files.key)?;
    let leaf = identity.chain.first().cloned();
    let leaf = leaf.ok_or_else(|| PemError::NoCertificate {
        path: files.cert.clone(),
    })?;
    let provider = Arc::new(ring::default_provider());
    let unusable = |error: Error| Identity::refused(&files.cert, &files.key, error);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            add_authorities(&mut roots, path)?;
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| PemError::Broken {
                path: path.clone(),
                why: error.to_string(),
            })?)
        }
    };
    let mut config = builder
        .with_single_cert(identity.chain, identity.key)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Current {
        config: Arc::new(config),
        leaf,
    })
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTls")
            .field("files", &self.0.files)
            .finish_non_exhaustive()
    }
}
