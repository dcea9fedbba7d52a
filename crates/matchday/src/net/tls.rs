//! TLS for calls over https. Whoever answers must show a certificate for the name that was called, signed by an
//! authority that we trust: those that browsers trust, and those that whoever runs the agent names. Where we call
//! ourselves, it must be our own certificate, whatever name is in it.

use super::client::CallError;
use super::pem::{Identity, PemError, certificates};
use super::tls_server::Serving;
use super::wire::Wire;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WantsClientCert;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    AlertDescription, CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error,
    RootCertStore, SignatureScheme, WantsVerifier,
};

/// Where certificates for calls are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallingFiles {
    /// Authorities that are believed besides the public ones.
    pub ca: Option<PathBuf>,
    /// What we show where a certificate is asked for, with its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

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
        Self(builder().map(|builder| finished(builder.with_root_certificates(roots).with_no_client_auth())))
    }

    /// Believes, and shows, what is in these files.
    pub fn read(files: &CallingFiles) -> Result<Self, PemError> {
        let mut roots = usual_roots();
        if let Some(path) = &files.ca {
            for authority in certificates(path)? {
                roots.add(authority).map_err(|error| PemError::Unusable { path: path.clone(), error })?;
            }
        }
        let builder = match builder() {
            Ok(builder) => builder.with_root_certificates(roots),
            Err(why) => return Ok(Self(Err(why))),
        };
        showing(builder, files)
    }

    /// Believes nobody but ourselves, as whom we serve.
    pub fn ourselves(serving: &Serving, files: &CallingFiles) -> Result<Self, PemError> {
        match builder() {
            Ok(builder) => {
                let verifier = Arc::new(Ourselves(serving.clone()));
                showing(builder.dangerous().with_custom_certificate_verifier(verifier), files)
            }
            Err(why) => Ok(Self(Err(why))),
        }
    }

    /// Makes a connection to `name` secret, and certain.
    pub(super) async fn secure<W: Wire>(&self, name: &str, stream: W) -> Result<TlsStream<W>, CallError> {
        let failed = |why: String| CallError::NoConnection(why);
        let config = self.0.clone().map_err(failed)?;
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_| failed(format!("{name} is no name that a certificate can have")))?;
        let connecting = TlsConnector::from(config).connect(server, stream).await;
        connecting.map_err(|error| failed(in_words(name, &error)))
    }
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())
}

fn showing(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    files: &CallingFiles,
) -> Result<Trust, PemError> {
    let config = match &files.identity {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let Identity { chain, key: secret } = Identity::read(cert, key)?;
            let shown = builder.with_client_auth_cert(chain, secret);
            shown.map_err(|error| Identity::refused(cert, key, error))?
        }
    };
    Ok(Trust(Ok(finished(config))))
}

fn finished(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// Takes our own certificate and no other. Only we have its key, so its name does not matter.
#[derive(Debug)]
struct Ourselves(Serving);

impl ServerCertVerifier for Ourselves {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match *end_entity == self.0.leaf() {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// What `name` said instead of an answer, if that was TLS. A server may come to refuse us only after the handshake.
pub(super) fn refusal(name: &str, error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return error.get_ref().is_some_and(|inner| inner.is::<Error>()).then(|| in_words(name, error));
        }
        cause = error.source();
    }
    None
}

fn in_words(name: &str, error: &std::io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
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
            format!("{name} does not accept our certificate ({alert:?}): name another with --tls-client-cert")
        }
        Some(Error::InvalidMessage(_)) => format!("{name} does not speak TLS at this port: is it http?"),
        _ => format!("TLS with {name} failed: {error}"),
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}
