//! Mutual TLS between processes that know each other's certificates: each makes one for itself, and both sides accept exactly
//! the certificates that they were told of (certificate pinning). There is no authority, and names do not matter.

use super::client::{ClientTls, with_alpn};
use super::server::ServerTls;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};

/// A self-signed certificate with its private key, which never leaves the process.
pub struct PeerIdentity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl PeerIdentity {
    pub fn generate() -> Result<Self, String> {
        let made = rcgen::generate_simple_self_signed(vec!["matchday-peer".to_owned()]);
        let made = made.map_err(|error| error.to_string())?;
        let key = made
            .signing_key
            .serialize_der()
            .try_into()
            .map_err(str::to_owned)?;
        Ok(Self {
            certificate: made.cert.der().clone(),
            key,
        })
    }

    /// In DER, for the others to trust.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// For the socket at which the peers call. Who shows no trusted certificate is refused.
    pub fn server(&self, trusted: &TrustedPeers) -> Result<ServerTls, String> {
        let failed = |error: Error| error.to_string();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(failed)?
            .with_client_cert_verifier(Arc::new(trusted.clone()))
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key())
            .map_err(failed)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session would not be checked again, though its certificate may be trusted no more.
        config.session_storage = Arc::new(tokio_rustls::rustls::server::NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(ServerTls::of(config, self.certificate.clone()))
    }

    /// For calls to peers.
    pub fn client(&self, trusted: &TrustedPeers) -> Result<ClientTls, String> {
        let failed = |error: Error| error.to_string();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(failed)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trusted.clone()))
            .with_client_auth_cert(vec![self.certificate.clone()], self.key.clone_key())
            .map_err(failed)?;
        Ok(ClientTls(Ok(with_alpn(config))))
    }
}

impl fmt::Debug for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PeerIdentity")
    }
}

/// The certificates that are trusted now. Clones share them.
#[derive(Debug, Clone)]
pub struct TrustedPeers {
    certificates: Arc<RwLock<Vec<CertificateDer<'static>>>>,
    provider: Arc<CryptoProvider>,
}

impl Default for TrustedPeers {
    fn default() -> Self {
        Self {
            certificates: Arc::default(),
            provider: Arc::new(ring::default_provider()),
        }
    }
}

impl TrustedPeers {
    /// Trusts these, in DER, and no others from now on.
    pub fn set(&self, certificates: impl IntoIterator<Item = Vec<u8>>) {
        let certificates = certificates.into_iter().map(CertificateDer::from).collect();
        *self
            .certificates
            .write()
            .unwrap_or_else(PoisonError::into_inner) = certificates;
    }

    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let certificates = self
            .certificates
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if certificates.contains(shown) {
            Ok(())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Only TLS 1.3 is offered.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::General("peers speak TLS 1.3".to_owned()))
}

impl ServerCertVerifier for TrustedPeers {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity)
            .map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for TrustedPeers {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity)
            .map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}
