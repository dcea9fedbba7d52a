//! Orders that the operator gives on the page: the messages that `matchday start` and `matchday admin` send, passed to the
//! manager's intake. The manager checks the token, and counts wrong ones.

use super::response;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Request, StatusCode};
use matchday_audit::describe;
use matchday_core::agent::Content;
use matchday_core::protocol::envelope::id_fits;
use matchday_core::protocol::messages::{LeagueError, LeagueOrder, Order, StartLeague};
use matchday_core::protocol::{
    Body, ConversationId, Envelope, ErrorCode, LeagueId, MatchId, Message, PlayerId, Sender, Token,
    UntrustedText,
};
use matchday_net::bearer::bearer;
use matchday_net::body::{self, BodyError};
use matchday_net::server::HttpResponse;
use matchday_runtime::{Intake, NoReply};
use serde::Deserialize;
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;

/// No order is longer.
const BODY_BYTES_MAX: usize = 4096;
/// A role and a display name at most.
const NAME_BYTES_MAX: usize = 512;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Debug, Deserialize)]
struct OrderRequest {
    order: OrderKind,
    player_id: Option<String>,
    match_id: Option<String>,
    /// Whose token or join code.
    agent_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OrderKind {
    Start,
    Pause,
    Resume,
    End,
    Withdraw,
    Void,
    Rotate,
    Revoke,
    Invite,
    RotateCode,
    AllowUnproven,
}

pub(super) const NO_TOKEN: &str =
    "orders need the operator token: send it as Authorization: Bearer TOKEN";

/// Passes an order whose token has been checked to the manager, and returns its reply.
pub(super) async fn handle(
    request: Request<Incoming>,
    peer: SocketAddr,
    intake: &Intake,
    league_id: &LeagueId,
) -> HttpResponse {
    let (head, mut incoming) = request.into_parts();
    let Some(token) = bearer(&head.headers).map(Token::new) else {
        return response::error(StatusCode::UNAUTHORIZED, NO_TOKEN);
    };
    let body = match timeout(BODY_TIMEOUT, body::read(&mut incoming, BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(BodyError::TooLarge(_))) => {
            return response::error(
                StatusCode::PAYLOAD_TOO_LARGE,
                "an order has 4096 bytes at most",
            );
        }
        Ok(Err(BodyError::Broken)) => {
            return response::error(StatusCode::BAD_REQUEST, "the order broke off");
        }
        Err(_) => {
            return response::error(
                StatusCode::REQUEST_TIMEOUT,
                "the order did not come in time",
            );
        }
    };
    let body = match parse(&body, league_id) {
        Ok(parsed) => parsed,
        Err(why) => return response::error(StatusCode::BAD_REQUEST, &why),
    };
    let said = match &body {
        Body::LeagueOrder(order) => describe::carried_out(order),
        _ => "The league has started.".to_owned(),
    };
    match send(intake, body, token, peer).await {
        // A new token or join code is shown in the answer alone.
        Ok(secret) => {
            let answer = match &secret {
                None => json!({ "said": said }),
                Some(secret) => json!({ "said": said, "secret": secret.reveal() }),
            };
            response::data(StatusCode::OK, answer.to_string())
        }
        Err(error) => error.response(),
    }
}

/// CSRF check: only a page of the same origin may send orders, and only as JSON, which no form of another page can send.
pub(super) fn check_same_origin(headers: &HeaderMap) -> Result<(), HttpResponse> {
    let refused = |status, why| Err(response::error(status, why));
    let text = |name: &HeaderName| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let host = text(&HOST).unwrap_or_default();
    let is_own = |origin: &str| {
        origin
            .split_once("://")
            .is_some_and(|(_, name)| name.eq_ignore_ascii_case(host))
    };
    if text(&ORIGIN).is_some_and(|origin| !is_own(origin))
        || text(&FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none"))
    {
        return refused(
            StatusCode::FORBIDDEN,
            "orders are taken from the dashboard's own page alone",
        );
    }
    let kind = text(&CONTENT_TYPE)
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send the order as application/json",
        );
    }
    Ok(())
}

fn parse(body: &[u8], league_id: &LeagueId) -> Result<Body, String> {
    let request: OrderRequest = serde_json::from_slice(body).map_err(|error| {
        format!(
            "an order is like {{\"order\":\"pause\"}}, one of start, pause, resume, end, allow_unproven, withdraw with player_id, \
             void with match_id, rotate, revoke, invite or rotate_code with agent_id: {error}"
        )
    })?;
    if [&request.player_id, &request.match_id]
        .into_iter()
        .flatten()
        .any(|id| !id_fits(id))
    {
        return Err("player_id and match_id are ids, such as P01 and R1M1".to_owned());
    }
    let order = match request.order {
        OrderKind::Start => {
            return Ok(StartLeague {
                league_id: league_id.clone(),
            }
            .into());
        }
        OrderKind::Pause => Order::Pause,
        OrderKind::Resume => Order::Resume,
        OrderKind::End => Order::End,
        OrderKind::Withdraw => Order::Withdraw,
        OrderKind::Void => Order::Void,
        OrderKind::Rotate => Order::Rotate,
        OrderKind::Revoke => Order::Revoke,
        OrderKind::Invite => Order::Invite,
        OrderKind::RotateCode => Order::RotateCode,
        OrderKind::AllowUnproven => Order::AllowUnproven,
    };
    let is_of_agent = matches!(
        order,
        Order::Rotate | Order::Revoke | Order::Invite | Order::RotateCode
    );
    let body = LeagueOrder {
        league_id: league_id.clone(),
        order,
        player_id: request
            .player_id
            .filter(|_| order == Order::Withdraw)
            .map(PlayerId::new),
        match_id: request
            .match_id
            .filter(|_| order == Order::Void)
            .map(MatchId::new),
        agent_id: request
            .agent_id
            .filter(|id| is_of_agent && id.len() <= NAME_BYTES_MAX)
            .map(Into::into),
        join_code: None,
    };
    match order {
        _ if is_of_agent && body.agent_id.is_none() => {
            Err("name in agent_id whose token or join code it is about".to_owned())
        }
        Order::Withdraw if body.player_id.is_none() => {
            Err("name in player_id the player to withdraw".to_owned())
        }
        Order::Void if body.match_id.is_none() => {
            Err("name in match_id the match to void".to_owned())
        }
        _ => Ok(body.into()),
    }
}

/// Why the manager does not carry out an order.
#[derive(Debug)]
pub(super) enum OrderError {
    Refused(LeagueError),
    NoReply(NoReply),
}

impl OrderError {
    pub(super) fn response(&self) -> HttpResponse {
        let error = match self {
            Self::Refused(error) => error,
            Self::NoReply(NoReply::Unfit(why)) => {
                return response::error(StatusCode::BAD_REQUEST, why);
            }
            Self::NoReply(NoReply::Gone) => {
                return response::error(StatusCode::SERVICE_UNAVAILABLE, "the manager is stopping");
            }
        };
        let why = error
            .error_message
            .as_ref()
            .map_or("the manager refuses", UntrustedText::raw);
        let status = match error.error_code {
            ErrorCode::TokenMissing => StatusCode::UNAUTHORIZED,
            ErrorCode::TokenInvalid => StatusCode::FORBIDDEN,
            ErrorCode::InvalidState => StatusCode::CONFLICT,
            ErrorCode::RateLimited => {
                let context = error.context.as_ref();
                let seconds = context.and_then(|context| context.get("retry_after_sec")?.as_u64());
                return response::rate_limited(why, seconds.unwrap_or(1));
            }
            _ => StatusCode::BAD_REQUEST,
        };
        response::error(status, why)
    }
}

async fn send(
    intake: &Intake,
    body: Body,
    token: Token,
    peer: SocketAddr,
) -> Result<Option<Token>, OrderError> {
    let now = intake.now();
    let conversation = ConversationId::new(format!("conv-dashboard-{}", now.as_micros()));
    let envelope = Envelope::new(Sender::Launcher, now, conversation).with_token(Some(token));
    match intake
        .send(Message { envelope, body }, peer)
        .await
        .map_err(OrderError::NoReply)?
    {
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }) => Err(OrderError::Refused(LeagueError::clone(&error))),
        Content::Message(reply) => Ok(reply.envelope.auth_token),
        _ => Ok(None),
    }
}

/// Has the manager check and count a token that does not seem to be the operator's, by an order without effect.
pub(super) async fn check_token(
    intake: &Intake,
    league_id: &LeagueId,
    token: Token,
    peer: SocketAddr,
) -> Result<(), OrderError> {
    let nothing = LeagueOrder {
        league_id: league_id.clone(),
        order: Order::Withdraw,
        player_id: None,
        match_id: None,
        agent_id: None,
        join_code: None,
    };
    match send(intake, nothing.into(), token, peer).await {
        Err(OrderError::Refused(error)) if !is_about_token(&error) => Ok(()),
        other => other.map(drop),
    }
}

fn is_about_token(error: &LeagueError) -> bool {
    matches!(
        error.error_code,
        ErrorCode::TokenInvalid | ErrorCode::TokenMissing | ErrorCode::RateLimited
    )
}
