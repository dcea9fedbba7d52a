//! Registers with the manager, and keeps the token for a restart.

use crate::agent::{GAME, Identity, envelope};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig};

const RETRY: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(10);

/// Keeps trying while there is no manager. The error is why it will not have us.
pub fn register(manager: &str, name: &str, endpoint: &str, store: &Path) -> Result<Identity, String> {
    let conversation_id = format!("conv-register-{}", hex::encode(rand::random::<[u8; 8]>()));
    let mut message = envelope("LEAGUE_REGISTER_REQUEST", "unregistered", &conversation_id);
    message["player_meta"] = json!({
        "display_name": name,
        "version": env!("CARGO_PKG_VERSION"),
        "game_types": [GAME],
        "contact_endpoint": endpoint,
    });
    // From before a restart: the manager gives the old place back.
    let place = match manager.contains("/join/") {
        true => manager.to_owned(), // A join code says who this is.
        false => format!("{manager} as {name}"),
    };
    if let Some(token) = stored_tokens(store).get(&place) {
        message["auth_token"] = token.clone();
    }
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message});
    let mut waiting = false;
    loop {
        let why = match post(manager, &request) {
            Ok(result) if result["status"] == "ACCEPTED" => {
                let identity = Identity::deserialize(&result).map_err(|error| error.to_string())?;
                keep_token(&place, &identity.auth_token, store)
                    .map_err(|error| format!("cannot write {}: {error}", store.display()))?;
                return Ok(identity);
            }
            Ok(result) => {
                let said = result["reason"].as_str().or(result["error_message"].as_str());
                let why = said.map_or_else(|| result.to_string(), str::to_owned);
                if result["retryable"] != true {
                    return Err(format!("the manager refuses this player: {why}"));
                }
                why
            }
            Err(error) => error.to_string(),
        };
        if !waiting {
            eprintln!("no answer from {manager} yet ({why}): trying again every {RETRY:?}");
            waiting = true;
        }
        sleep(RETRY);
    }
}

/// Calls over https, too; it believes whom the machine believes.
pub fn client(timeout: Duration) -> ureq::Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).http_status_as_error(false);
    config.tls_config(tls).build().into()
}

fn post(url: &str, request: &Value) -> Result<Value, ureq::Error> {
    let mut answer: Value = client(TIMEOUT).post(url).send_json(request)?.body_mut().read_json()?;
    Ok(match answer["result"].take() {
        Value::Null => answer["error"].take(),
        result => result,
    })
}

pub fn stored_tokens(store: &Path) -> Map<String, Value> {
    let stored = std::fs::read(store).unwrap_or_default();
    serde_json::from_slice(&stored).unwrap_or_default()
}

/// Writes a new file in the place of the old one: a crash leaves one of them whole.
pub fn keep_token(place: &str, token: &str, store: &Path) -> std::io::Result<()> {
    let mut kept = stored_tokens(store);
    kept.insert(place.to_owned(), token.into());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let new = store.with_extension("json.new");
    options.open(&new)?.write_all(format!("{:#}", Value::Object(kept)).as_bytes())?;
    std::fs::rename(new, store)
}
