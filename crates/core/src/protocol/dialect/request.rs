//! Decodes HTTP bodies into requests, each with its dialect, or into an error response.
//!
//! A league message determines the operation, wherever it is found; the method only if there is none. Of a duplicate
//! key the last counts.

use super::reply::{HttpReply, Part, write_error};
use super::{Dialect, method};
use crate::protocol::decode::Limits;
use crate::protocol::envelope::id_fits;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::LeagueId;
use crate::protocol::json::{Fields, Json};
use crate::protocol::jsonrpc::{ErrorObject, Fault, Id, TwoPointZero};
use crate::protocol::methods::{Query, QueryRequest};
use crate::protocol::token::Token;
use serde_json::json;
use serde_json::value::RawValue;

/// The requests of one HTTP body.
#[derive(Debug, Clone, PartialEq)]
pub enum Requests {
    /// An invalid body, with its response.
    Refused(HttpReply),
    /// A single request.
    One(Request),
    /// Each a request, or the error response in its place.
    Batch(Vec<Result<Request, Part>>),
}

/// A request, with all that its reply needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Where the reply goes.
    pub reply_to: ReplyTo,
    /// How the request was wrapped, and so its reply is.
    pub dialect: Dialect,
    /// The content of the request.
    pub asked: RequestContent,
}

/// How the reply is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyTo {
    /// As a JSON-RPC response with this id.
    Id(Id),
    /// As the bare body, like the request.
    Body,
    /// Not at all: a notification.
    Nobody,
}

/// What a request asks for, before its message is decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestContent {
    /// A league message.
    Message {
        /// As it came: the fields are not checked yet.
        value: Json,
        /// Whether the type was filled in from the method.
        type_implied: bool,
    },
    /// A query, by its method.
    Query(QueryRequest),
    /// `GET /checkpoint`
    Checkpoint {
        /// As in [`Ask::Checkpoint`](crate::protocol::operation::Ask::Checkpoint).
        operator_token: Option<Token>,
    },
    /// A method of the Model Context Protocol, or a JSON-RPC response, which has no method.
    Foreign {
        /// As it was called; `None` for a JSON-RPC response.
        method: Option<String>,
    },
}

/// Decodes a request body; an invalid one becomes its error response.
pub fn read_requests(body: &[u8], limits: &Limits) -> Requests {
    if body.len() > limits.message_bytes_max {
        return Requests::Refused(refuse_size(body.len(), limits));
    }
    read(body, limits).unwrap_or_else(|error| {
        let nowhere = ReplyTo::Id(Id::Null);
        Requests::Refused(HttpReply::one(write_error(&nowhere, &error)))
    })
}

/// The response to a body beyond the size limit.
pub fn refuse_size(bytes: usize, limits: &Limits) -> HttpReply {
    let code = ErrorCode::InvalidFormat;
    let most = limits.message_bytes_max;
    HttpReply::too_large(Fault::InvalidRequest.with(json!({
        "error_code": code.code(),
        "error_name": code.name(),
        "error_description": code.name(),
        "error_message": format!("the message has {bytes} bytes and may have {most} at most: send less"),
    })))
}

fn read(body: &[u8], limits: &Limits) -> Result<Requests, ErrorObject> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Fault::Parse.because(format!(
            "the body is not UTF-8 from byte {} on",
            error.valid_up_to()
        ))
    })?;
    if !text.trim_ascii_start().starts_with('[') {
        let value = parse(text)?;
        return Ok(match read_one(text, value) {
            Ok(request) => Requests::One(request),
            Err(refusal) => Requests::Refused(HttpReply::one(refusal)),
        });
    }
    let texts: Vec<&RawValue> = serde_json::from_str(text).map_err(not_json)?;
    match texts.len() {
        0 => Err(Fault::InvalidRequest.because("a batch must hold at least one request")),
        many if many > limits.array_len_max => Err(Fault::InvalidRequest.because(format!(
            "a batch may hold {} requests at most, and this holds {many}",
            limits.array_len_max
        ))),
        _ => texts
            .into_iter()
            .map(|text| Ok(read_one(text.get(), parse(text.get())?)))
            .collect::<Result<_, _>>()
            .map(Requests::Batch),
    }
}

fn parse(text: &str) -> Result<Json, ErrorObject> {
    serde_json::from_str(text).map_err(not_json)
}

fn not_json(error: serde_json::Error) -> ErrorObject {
    Fault::Parse.because(format!("the body is not valid JSON: {error}"))
}

fn read_one(text: &str, value: Json) -> Result<Request, Part> {
    let refuse = |error: ErrorObject| write_error(&ReplyTo::Id(Id::Null), &error);
    let Json::Object(object) = value else {
        return Err(refuse(
            Fault::InvalidRequest.because("a request must be an object"),
        ));
    };
    if holds_type(&object) && !object.contains_key("jsonrpc") && !object.contains_key("method") {
        return Ok(Request {
            reply_to: ReplyTo::Body,
            dialect: Dialect::Bare,
            asked: explicit(Json::Object(object)),
        });
    }
    let id = Id::of_request(text, &object).map_err(refuse)?;
    // Only a well-formed request can be a notification; anything else gets an error.
    if let Some(error) = malformed(&object) {
        return Err(write_error(&ReplyTo::Id(id.unwrap_or(Id::Null)), &error));
    }
    let reply_to = id.map_or(ReplyTo::Nobody, ReplyTo::Id);
    match read_call(object) {
        Ok((dialect, asked)) => Ok(Request {
            reply_to,
            dialect,
            asked,
        }),
        Err(error) => Err(write_error(&reply_to, &error)),
    }
}

/// Why an object is no JSON-RPC request. One with a league message is accepted anyway.
fn malformed(object: &Fields) -> Option<ErrorObject> {
    let version = object.get("jsonrpc").and_then(Json::as_str);
    let carries_message = object
        .get("params")
        .and_then(Json::as_object)
        .is_some_and(|params| {
            let inner = params.get("message").or_else(|| params.get("arguments"));
            holds_type(params) || inner.and_then(Json::as_object).is_some_and(holds_type)
        });
    let why = if carries_message {
        return None;
    } else if version != Some(TwoPointZero::TEXT) {
        "\"jsonrpc\" must be \"2.0\""
    } else if is_response(object) || object.get("method").and_then(Json::as_str).is_some() {
        return None;
    } else {
        "\"method\" must be a text"
    };
    Some(Fault::InvalidRequest.because(why))
}

fn is_response(object: &Fields) -> bool {
    !object.contains_key("method")
        && (object.contains_key("result") || object.contains_key("error"))
}

fn read_call(mut object: Fields) -> Result<(Dialect, RequestContent), ErrorObject> {
    let params = object.remove("params");
    if params.is_none() && is_response(&object) {
        return Ok((Dialect::Standard, RequestContent::Foreign { method: None }));
    }
    let method = object
        .get("method")
        .and_then(Json::as_str)
        .unwrap_or_default();
    match (method, params) {
        (method::TOOLS_CALL, Some(Json::Object(params))) => read_tool_call(params),
        (_, Some(Json::Object(params))) => read_params(method, params),
        (_, None) => read_params(method, Fields::default()),
        (_, Some(_)) if method::is_foreign(method) => Ok((Dialect::Standard, foreign(method))),
        (_, Some(_)) => Err(Fault::InvalidParams.because(PARAMS_RULE)),
    }
}

/// A request by the name of its method, whose parameters have been read already.
pub fn read_method(method: &str, params: impl Into<Json>) -> Result<RequestContent, ErrorObject> {
    match params.into() {
        Json::Object(params) => read_params(method, params).map(|(_, asked)| asked),
        _ => Err(Fault::InvalidParams.because(PARAMS_RULE)),
    }
}

const PARAMS_RULE: &str = "\"params\" must be an object, with each value by its name";

/// `tools/call` is ours if it names a tool of ours or has a league message.
fn read_tool_call(mut params: Fields) -> Result<(Dialect, RequestContent), ErrorObject> {
    let arguments = match params.remove("arguments") {
        Some(Json::Object(arguments)) => arguments,
        None => Fields::default(),
        Some(_) => return Ok((Dialect::ToolsCall, foreign(method::TOOLS_CALL))),
    };
    let name = params
        .get("name")
        .and_then(Json::as_str)
        .unwrap_or_default();
    match read_params(name, arguments) {
        Ok((_, RequestContent::Foreign { .. })) => {
            Ok((Dialect::ToolsCall, foreign(method::TOOLS_CALL)))
        }
        Ok((_, asked)) => Ok((Dialect::ToolsCall, asked)),
        Err(error) if error.code == Fault::MethodNotFound.code() => {
            Ok((Dialect::ToolsCall, foreign(method::TOOLS_CALL)))
        }
        Err(error) => Err(error),
    }
}

fn read_params(method: &str, mut params: Fields) -> Result<(Dialect, RequestContent), ErrorObject> {
    let wrapping = method::wrapping_dialect(method);
    if holds_type(&params) {
        let named = params
            .get("message_type")
            .and_then(Json::as_str)
            .unwrap_or_default();
        let dialect = wrapping.unwrap_or_else(|| method::flat_dialect(method, named));
        return Ok((dialect, explicit(Json::Object(params))));
    }
    let inner = params.get("message").and_then(Json::as_object);
    if let Some(inner) = inner
        && (wrapping.is_some() || holds_type(inner))
    {
        let message = params.remove("message").unwrap_or(Json::Null);
        return Ok((
            wrapping.unwrap_or(Dialect::HandleMessage),
            explicit(message),
        ));
    }
    if let Some(dialect) = wrapping {
        return Ok((dialect, explicit(Json::Object(params))));
    }
    if let Some(query) = method::query(method) {
        return Ok((
            Dialect::Standard,
            RequestContent::Query(read_query(query, &params)?),
        ));
    }
    if let Some(kind) = method::implied_type(method) {
        params.insert("message_type", kind.name());
        let asked = RequestContent::Message {
            value: Json::Object(params),
            type_implied: true,
        };
        return Ok((method::flat_dialect(method, kind.name()), asked));
    }
    if method::is_foreign(method) {
        return Ok((Dialect::Standard, foreign(method)));
    }
    Err(Fault::MethodNotFound.because(
        "the method names nothing that is known here, and \"params\" holds no \"message_type\"",
    ))
}

fn read_query(query: Query, params: &Fields) -> Result<QueryRequest, ErrorObject> {
    let value = |name: &str| params.get(name).filter(|value| !value.is_null());
    let must_be = |name: &str, expected: &str| {
        Fault::InvalidParams.because(format!("\"{name}\" must be {expected}"))
    };
    let mut request = QueryRequest::from(query);
    if let Some(id) = value("league_id") {
        let id = id.as_str().filter(|id| id_fits(id));
        request.league_id = Some(LeagueId::new(
            id.ok_or_else(|| must_be("league_id", "a league's id"))?,
        ));
    }
    for param in query.spec().params {
        let is_valid = match value(param.name()) {
            Some(value) => request.params.set(*param, value),
            None => !param.is_required(),
        };
        if !is_valid {
            return Err(must_be(param.name(), param.expected()));
        }
    }
    Ok(request)
}

/// Null counts as absent; any other value is the message's type, even if it is no text.
fn holds_type(object: &Fields) -> bool {
    object
        .get("message_type")
        .is_some_and(|kind| !kind.is_null())
}

fn explicit(value: Json) -> RequestContent {
    RequestContent::Message {
        value,
        type_implied: false,
    }
}

fn foreign(method: &str) -> RequestContent {
    RequestContent::Foreign {
        method: Some(method.to_owned()),
    }
}
