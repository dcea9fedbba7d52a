//! TLS as the settings want it: certificates to show, authorities to believe. Reads the files, and reads them again when
//! the process is told to (SIGHUP).

use super::settings::{
    self, Config, TLS_CA, TLS_CERT, TLS_CLIENT_CA, TLS_CLIENT_CERT, TLS_CLIENT_KEY, TLS_KEY,
};
use super::{Usage, notice};
use anyhow::{Result, anyhow};
use matchday_net::client::Client;
use matchday_net::tls::{ClientTls, ClientTlsFiles, PemError, ServerTls, ServerTlsFiles};
use matchday_os::signals::Reload;
use std::path::PathBuf;

/// Under which the help of all flags shows them.
const NETWORK: &str = "Network";

/// The certificates of the commands that only call.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct TlsArgs {
    #[arg(long, value_name = "FILE", env = TLS_CA.variable(), global = true, hide = true, help_heading = NETWORK, help = TLS_CA.help())]
    tls_ca: Option<PathBuf>,
    #[arg(long, value_name = "FILE", env = TLS_CLIENT_CERT.variable(), global = true, hide = true, help_heading = NETWORK, help = TLS_CLIENT_CERT.help())]
    tls_client_cert: Option<PathBuf>,
    #[arg(long, value_name = "FILE", env = TLS_CLIENT_KEY.variable(), global = true, hide = true, help_heading = NETWORK, help = TLS_CLIENT_KEY.help())]
    tls_client_key: Option<PathBuf>,
}

impl TlsArgs {
    pub(super) fn client(&self) -> Result<Client> {
        let file =
            |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let identity = pair(
            ("tls-client-cert", file(&self.tls_client_cert)),
            ("tls-client-key", file(&self.tls_client_key)),
        )?;
        let files = ClientTlsFiles {
            ca: file(&self.tls_ca),
            identity,
        };
        Ok(Client::with_tls(ClientTls::read(&files).map_err(unfit)?))
    }
}

/// How the agent is called, if over TLS. From now on the files are read again on SIGHUP.
pub(super) fn serving(config: &Config) -> Result<Option<ServerTls>> {
    let files = pair(
        ("tls-cert", file(config, &TLS_CERT)),
        ("tls-key", file(config, &TLS_KEY)),
    )?;
    let client_ca = file(config, &TLS_CLIENT_CA);
    let Some((cert, key)) = files else {
        return match client_ca {
            None => Ok(None),
            Some(_) => {
                let why = "callers show certificates over TLS only - name ours with --tls-cert and --tls-key";
                Err(config.wrong(&TLS_CLIENT_CA, why))
            }
        };
    };
    let serving = ServerTls::read(ServerTlsFiles {
        cert,
        key,
        client_ca,
    })
    .map_err(unfit)?;
    reload_on_signal(serving.clone())?;
    Ok(Some(serving))
}

/// Where certificates for calls are.
pub(super) fn calling(config: &Config) -> Result<ClientTlsFiles> {
    let cert = ("tls-client-cert", file(config, &TLS_CLIENT_CERT));
    let identity = pair(cert, ("tls-client-key", file(config, &TLS_CLIENT_KEY)))?;
    Ok(ClientTlsFiles {
        ca: file(config, &TLS_CA),
        identity,
    })
}

pub(super) fn client(config: &Config) -> Result<Client> {
    Ok(Client::with_tls(
        ClientTls::read(&calling(config)?).map_err(unfit)?,
    ))
}

fn file(config: &Config, setting: &settings::Setting<String>) -> Option<PathBuf> {
    config.text(setting).map(PathBuf::from)
}

fn pair(
    (cert_flag, cert): (&str, Option<PathBuf>),
    (key_flag, key): (&str, Option<PathBuf>),
) -> Result<Option<(PathBuf, PathBuf)>> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(Usage(format!(
            "--{cert_flag}: name its key too, with --{key_flag}"
        ))
        .into()),
        (None, Some(_)) => Err(Usage(format!(
            "--{key_flag}: name its certificate too, with --{cert_flag}"
        ))
        .into()),
    }
}

fn unfit(error: PemError) -> anyhow::Error {
    anyhow!("TLS cannot be set up: {error}")
}

fn reload_on_signal(serving: ServerTls) -> Result<()> {
    let mut reload = Reload::listen()?;
    tokio::spawn(async move {
        while reload.recv().await {
            match serving.reload() {
                Ok(()) => notice("the certificate has been read again"),
                Err(error) => notice(&format!("the certificate stays as it is: {error}")),
            }
        }
    });
    Ok(())
}
