//! A client of a service's HTTP API, for the commands that create and steer leagues and seasons.

use super::Usage;
use super::operator::secret_or_file;
use super::settings::SERVICE_TOKEN;
use super::tls::TlsArgs;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use matchday_net::client::CallRequest;
use matchday_net::percent;
use matchday_runtime::routes::{ROUTES, Route, ServiceRoute, Target};
use matchday_server::service::api_types::Refusal;
use matchday_terminal::{say, table};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

const ANSWER_BYTES_MAX: usize = 64 << 20;
const SERVICE: &str = "MATCHDAY_SERVICE";
const SERVICE_DEFAULT: &str = "http://localhost:8000";

#[derive(Debug, Args)]
pub(super) struct ServiceArg {
    /// Where the service listens
    #[arg(
        long,
        value_name = "URL",
        env = SERVICE,
        default_value = SERVICE_DEFAULT,
        global = true
    )]
    pub(super) service: String,
    /// The token that the service showed when it was first started
    #[arg(long, value_name = "TOKEN", env = SERVICE_TOKEN.variable(), hide_env_values = true, global = true)]
    pub(super) service_token: Option<String>,
    #[command(flatten)]
    pub(super) tls: TlsArgs,
}

/// How long an answer may take.
fn time_limit(route: ServiceRoute) -> Duration {
    Duration::from_secs(match route {
        // A program that knows the rules says first what it plays.
        ServiceRoute::CreateLeagues
        | ServiceRoute::ConfigureLeague
        | ServiceRoute::CreateSeason => 120,
        // A whole league is copied and verified, or removed.
        ServiceRoute::ArchiveLeague | ServiceRoute::DeleteLeague | ServiceRoute::ImportLeague => {
            600
        }
        _ => 30,
    })
}

impl ServiceArg {
    /// Whether a flag names the service, rather than the environment or nothing.
    pub(super) fn is_flag(&self) -> bool {
        self.service != SERVICE_DEFAULT && std::env::var(SERVICE).as_ref() != Ok(&self.service)
    }

    /// The address that the paths of the API are beneath.
    pub(super) fn base(&self) -> &str {
        let base = self.service.trim_end_matches('/');
        base.strip_suffix("/mcp").unwrap_or(base)
    }

    /// Calls a row of the table of routes that takes no body. `name` is the league or season of its path.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        route: ServiceRoute,
        name: &str,
    ) -> Result<T> {
        self.exchange(route, &path(route, name)?, String::new())
            .await
    }

    /// As [`ServiceArg::call`], with the query of a URL.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        route: ServiceRoute,
        query: &[(&str, &str)],
    ) -> Result<T> {
        let pairs: Vec<String> = query
            .iter()
            .map(|(name, value)| format!("{name}={}", percent::encode(value)))
            .collect();
        let path = format!("{}?{}", row(route)?.path, pairs.join("&"));
        self.exchange(route, &path, String::new()).await
    }

    /// As [`ServiceArg::call`], with a body.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        route: ServiceRoute,
        name: &str,
        body: &impl Serialize,
    ) -> Result<T> {
        self.exchange(route, &path(route, name)?, serde_json::to_string(body)?)
            .await
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        route: ServiceRoute,
        path: &str,
        body: String,
    ) -> Result<T> {
        let base = self.base();
        let mut headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        if let Some(token) = secret_or_file(self.service_token.clone(), &SERVICE_TOKEN)? {
            let value = HeaderValue::from_str(&format!("Bearer {token}"));
            let value =
                value.map_err(|_| Usage("--service-token: this is not a token".to_owned()))?;
            headers.push((AUTHORIZATION, value));
        }
        let request = CallRequest {
            method: row(route)?.method.clone(),
            headers,
            body: body.into(),
        };
        let deadline = Instant::now() + time_limit(route);
        let url = format!("{base}{path}");
        let completed = self
            .tls
            .client()?
            .call(&url, request, deadline, ANSWER_BYTES_MAX)
            .await;
        let answer = completed.result.map_err(|error| {
            anyhow!("the service at {base} does not answer: {error} - check --service")
        })?;
        if (200..300).contains(&answer.status) {
            return serde_json::from_slice(&answer.body).map_err(|error| {
                anyhow!(
                    "{base} answers with something else than the API of a service ({error}) - is it `matchday serve`?"
                )
            });
        }
        let why = serde_json::from_slice::<Refusal>(&answer.body).map_or_else(
            |_| {
                format!(
                    "{base} answers with HTTP {} - is it `matchday serve`?",
                    answer.status
                )
            },
            |refusal| refusal.error,
        );
        match answer.status {
            400 => Err(Usage(why).into()),
            401 => Err(anyhow!(
                "{why} - give --service-token, or set MATCHDAY_SERVICE_TOKEN"
            )),
            _ => Err(anyhow!(why)),
        }
    }
}

fn row(route: ServiceRoute) -> Result<&'static Route> {
    let row = ROUTES
        .iter()
        .find(|row| row.target == Target::Service(route));
    row.context("the API has no such call")
}

/// The path of a row, for the league or season of this name.
fn path(route: ServiceRoute, name: &str) -> Result<String> {
    Ok(row(route)?
        .path
        .replace("{id}", name)
        .replace("{name}", name))
}

/// Prints an answer for programs, or as people read it.
pub(super) fn print<T: Serialize>(
    as_json: bool,
    data: &T,
    to_text: impl FnOnce(&T) -> String,
) -> Result<ExitCode> {
    say(if as_json {
        serde_json::to_string_pretty(data)?
    } else {
        to_text(data)
    });
    Ok(ExitCode::SUCCESS)
}

/// One value of an answer in a table.
pub(super) fn cell(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::Null) | Err(_) => "-".to_owned(),
        Ok(Value::String(text)) => text,
        Ok(Value::Object(settings)) => {
            let texts = settings
                .iter()
                .map(|(key, value)| format!("{key}={}", cell(value)));
            texts.collect::<Vec<_>>().join(" ")
        }
        Ok(other) => other.to_string(),
    }
}

/// An answer with a line for each of its values.
pub(super) fn lines(data: &impl Serialize) -> String {
    let Ok(Value::Object(data)) = serde_json::to_value(data) else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = data
        .iter()
        .map(|(key, value)| vec![key.clone(), cell(value)])
        .collect();
    let table = table(&["", ""], &rows);
    table
        .split_once('\n')
        .map_or_else(String::new, |(_, rows)| rows.to_owned())
}
