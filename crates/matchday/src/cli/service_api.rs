//! A client of a service's HTTP API, for the commands that create and steer leagues and seasons.

use super::Usage;
use super::league::ServiceArg;
use super::operator::secret_or_file;
use super::settings::SERVICE_TOKEN;
use anyhow::{Result, anyhow};
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use matchday_net::client::CallRequest;
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// What a service answers from memory.
pub(super) const SOON: Duration = Duration::from_secs(30);
/// A program that knows the rules says first what it plays.
pub(super) const WITH_PROGRAM: Duration = Duration::from_secs(120);
/// A whole league is copied and verified, or removed.
pub(super) const WHOLE_LEAGUE: Duration = Duration::from_secs(600);
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A client of the service's API.
pub(super) struct Api<'a> {
    pub(super) args: &'a ServiceArg,
    /// `leagues`, `seasons` or `cluster`.
    pub(super) base: &'static str,
}

/// What an answer holds at least. One without it comes from something else than a service.
#[derive(Debug, Clone, Copy)]
pub(super) enum Promised {
    Text(&'static str),
    /// A list under this name, and a text in each of its rows.
    Rows(&'static str, &'static str),
}

pub(super) const LEAGUES: Promised = Promised::Rows("leagues", "league_id");

impl Promised {
    fn is_in(self, data: &Value) -> bool {
        let has_text = |data: &Value, key: &str| data.get(key).is_some_and(Value::is_string);
        match self {
            Self::Text(key) => has_text(data, key),
            Self::Rows(list, key) => {
                let rows = data.get(list).and_then(Value::as_array);
                rows.is_some_and(|rows| rows.iter().all(|row| has_text(row, key)))
            }
        }
    }
}

impl fmt::Display for Promised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(key) => f.write_str(key),
            Self::Rows(list, key) => write!(f, "{list} with {key}"),
        }
    }
}

impl Api<'_> {
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        promised: Promised,
        within: Duration,
    ) -> Result<Value> {
        let base = self.args.service.trim_end_matches('/');
        let base = base.strip_suffix("/mcp").unwrap_or(base);
        let url = format!("{base}/api/{}{path}", self.base);
        let mut headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        if let Some(token) = secret_or_file(self.args.service_token.clone(), &SERVICE_TOKEN)? {
            let value = HeaderValue::from_str(&format!("Bearer {token}"));
            headers.push((
                AUTHORIZATION,
                value.map_err(|_| Usage("--service-token: this is no token".to_owned()))?,
            ));
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = CallRequest { method, headers, body: body.into() };
        let deadline = Instant::now() + within;
        let completed = self.args.tls.client()?.call(&url, request, deadline, ANSWER_BYTES_MAX).await;
        let answer = completed
            .result
            .map_err(|error| anyhow!("the service at {base} does not answer: {error} - check --service"))?;
        let data: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if (200..300).contains(&answer.status) {
            return match promised.is_in(&data) {
                true => Ok(data),
                false => Err(anyhow!(
                    "{base} answers with something else than the API of a service ({promised} expected) - is it `matchday serve`?"
                )),
            };
        }
        let why = data.get("error").and_then(Value::as_str).map_or_else(
            || format!("{base} answers with HTTP {} - is it `matchday serve`?", answer.status),
            str::to_owned,
        );
        match answer.status {
            400 => Err(Usage(why).into()),
            401 => Err(anyhow!("{why} - give --service-token, or set MATCHDAY_SERVICE_TOKEN")),
            _ => Err(anyhow!(why)),
        }
    }
}
