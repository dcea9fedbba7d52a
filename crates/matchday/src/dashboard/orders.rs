//! What the operator orders from the page: the very messages that `matchday start` and `matchday admin` send, put to the
//! manager in the same way. The manager judges the token, and counts wrong ones.

use super::answer;
use super::viewer::bearer;
use crate::net::body::{self, BodyError};
use crate::net::server::Answer;
use crate::shell::{NoReply, Reception};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Request, StatusCode};
use matchday_core::agent::Content;
use matchday_core::protocol::messages::{LeagueError, LeagueOrder, Order, StartLeague};
use matchday_core::protocol::{
    Body, ConversationId, Envelope, ErrorCode, LeagueId, MatchId, Message, PlayerId, Sender, Token,
    UntrustedText,
};
use serde::Deserialize;
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;

/// No order is longer.
const BODY_BYTES_MAX: usize = 4096;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Debug, Deserialize)]
struct Asked {
    order: Wanted,
    player_id: Option<String>,
    match_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Start,
    Pause,
    Resume,
    End,
    Withdraw,
    Void,
}

pub(super) const NO_TOKEN: &str = "orders need the operator token: send it as Authorization: Bearer TOKEN";

/// Takes the order of an operator, whose token has been found right, to the manager; and its answer back.
pub(super) async fn take(
    request: Request<Incoming>,
    peer: SocketAddr,
    reception: &Reception,
    league_id: &LeagueId,
) -> Answer {
    let (head, mut incoming) = request.into_parts();
    let Some(token) = bearer(&head.headers) else {
        return answer::error(StatusCode::UNAUTHORIZED, NO_TOKEN);
    };
    let body = match timeout(BODY_TIMEOUT, body::read(&mut incoming, BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(BodyError::TooLarge(_))) => {
            return answer::error(StatusCode::PAYLOAD_TOO_LARGE, "an order has 4096 bytes at most");
        }
        Ok(Err(BodyError::Broken)) => return answer::error(StatusCode::BAD_REQUEST, "the order broke off"),
        Err(_) => return answer::error(StatusCode::REQUEST_TIMEOUT, "the order did not come in time"),
    };
    let (wanted, body) = match read(&body, league_id) {
        Ok(order) => order,
        Err(why) => return answer::error(StatusCode::BAD_REQUEST, &why),
    };
    match put(reception, body, token, peer).await {
        Ok(()) => answer::data(StatusCode::OK, json!({ "said": said(&wanted) }).to_string()),
        Err(refused) => refused.answer(),
    }
}

/// Only a page of this very address may send orders, and only as JSON, which no form of another page can send.
pub(super) fn own_page(headers: &HeaderMap) -> Result<(), Answer> {
    let refused = |status, why| Err(answer::error(status, why));
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = text(&HOST).unwrap_or_default();
    let is_own =
        |origin: &str| origin.split_once("://").is_some_and(|(_, name)| name.eq_ignore_ascii_case(host));
    if text(&ORIGIN).is_some_and(|origin| !is_own(origin))
        || text(&FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none"))
    {
        return refused(StatusCode::FORBIDDEN, "orders are taken from the dashboard's own page alone");
    }
    let kind = text(&CONTENT_TYPE).unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send the order as application/json");
    }
    Ok(())
}

fn read(body: &[u8], league_id: &LeagueId) -> Result<(Asked, Body), String> {
    let asked: Asked = serde_json::from_slice(body).map_err(|error| {
        format!(
            "an order is like {{\"order\":\"pause\"}}, one of start, pause, resume, end, withdraw with player_id, void \
             with match_id: {error}"
        )
    })?;
    let order = match asked.order {
        Wanted::Start => return Ok((asked, StartLeague { league_id: league_id.clone() }.into())),
        Wanted::Pause => Order::Pause,
        Wanted::Resume => Order::Resume,
        Wanted::End => Order::End,
        Wanted::Withdraw => Order::Withdraw,
        Wanted::Void => Order::Void,
    };
    let body = LeagueOrder {
        league_id: league_id.clone(),
        order,
        player_id: asked.player_id.clone().filter(|_| order == Order::Withdraw).map(PlayerId::new),
        match_id: asked.match_id.clone().filter(|_| order == Order::Void).map(MatchId::new),
        agent_id: None,
    };
    match order {
        Order::Withdraw if body.player_id.is_none() => Err("name in player_id whom to withdraw".to_owned()),
        Order::Void if body.match_id.is_none() => Err("name in match_id whose result to strike".to_owned()),
        _ => Ok((asked, body.into())),
    }
}

/// Why the manager does not do what it was told.
#[derive(Debug)]
pub(super) enum Refused {
    Error(LeagueError),
    NoReply(NoReply),
}

impl Refused {
    pub(super) fn answer(&self) -> Answer {
        let error = match self {
            Self::Error(error) => error,
            Self::NoReply(NoReply::Unfit(why)) => return answer::error(StatusCode::BAD_REQUEST, why),
            Self::NoReply(NoReply::Gone) => {
                return answer::error(StatusCode::SERVICE_UNAVAILABLE, "the manager is stopping");
            }
        };
        let why = error.error_message.as_ref().map_or("the manager refuses", UntrustedText::raw);
        let status = match error.error_code {
            ErrorCode::TokenMissing => StatusCode::UNAUTHORIZED,
            ErrorCode::TokenInvalid => StatusCode::FORBIDDEN,
            ErrorCode::InvalidState => StatusCode::CONFLICT,
            ErrorCode::RateLimited => {
                let context = error.context.as_ref();
                let seconds = context.and_then(|context| context.get("retry_after_sec")?.as_u64());
                return answer::later(why, seconds.unwrap_or(1));
            }
            _ => StatusCode::BAD_REQUEST,
        };
        answer::error(status, why)
    }
}

async fn put(reception: &Reception, body: Body, token: Token, peer: SocketAddr) -> Result<(), Refused> {
    let now = reception.now();
    let conversation = ConversationId::new(format!("conv-dashboard-{}", now.as_micros()));
    let method = body.message_type().method();
    let envelope = Envelope::new(Sender::Launcher, now, conversation).with_token(Some(token));
    let message = serde_json::to_value(Message { envelope, body })
        .map_err(|error| Refused::NoReply(NoReply::Unfit(error.to_string())))?;
    match reception.ask(method, message, peer).await.map_err(Refused::NoReply)? {
        Content::Message(Message { body: Body::LeagueError(error), .. }) => {
            Err(Refused::Error(LeagueError::clone(&error)))
        }
        _ => Ok(()),
    }
}

/// Has the manager judge and count a token that does not seem to be the operator's, by an order that orders nothing.
pub(super) async fn judge(
    reception: &Reception,
    league_id: &LeagueId,
    token: Token,
    peer: SocketAddr,
) -> Result<(), Refused> {
    let nothing = LeagueOrder {
        league_id: league_id.clone(),
        order: Order::Withdraw,
        player_id: None,
        match_id: None,
        agent_id: None,
    };
    match put(reception, nothing.into(), token, peer).await {
        Err(Refused::Error(error)) if !is_about_token(&error) => Ok(()),
        other => other,
    }
}

fn is_about_token(error: &LeagueError) -> bool {
    matches!(error.error_code, ErrorCode::TokenInvalid | ErrorCode::TokenMissing | ErrorCode::RateLimited)
}

fn said(asked: &Asked) -> String {
    let name = |id: &Option<String>| id.clone().unwrap_or_default();
    match asked.order {
        Wanted::Start => "The league has started.".to_owned(),
        Wanted::Pause => "The league is paused: matches being played are played out.".to_owned(),
        Wanted::Resume => "The league goes on.".to_owned(),
        Wanted::End => "The league has ended, with the table as it stood.".to_owned(),
        Wanted::Withdraw => {
            format!("{} is withdrawn: it forfeits what it has not played.", name(&asked.player_id))
        }
        Wanted::Void => format!("The result of {} is struck: it is played again.", name(&asked.match_id)),
    }
}
