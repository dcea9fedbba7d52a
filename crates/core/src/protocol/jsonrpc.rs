//! JSON-RPC 2.0 types: ids, errors, calls and responses. `dialect` decodes and encodes them.

use super::json::{Fields, Json};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use smol_str::{SmolStr, ToSmolStr};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The unit of `"jsonrpc": "2.0"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TwoPointZero;

impl TwoPointZero {
    /// The only version that is accepted.
    pub const TEXT: &'static str = "2.0";
}

impl Serialize for TwoPointZero {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::TEXT)
    }
}

/// The id of a request, returned unchanged in its response.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// Also the id of the response to a request whose id could not be read.
    Null,
    /// Returned digit by digit as it came.
    Number(NumberText),
    /// Any string, even an empty one.
    Text(SmolStr),
}

/// A number as text. Some agents use 128-bit numbers as ids, which no number type of `serde_json` preserves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberText(SmolStr);

impl Id {
    /// The id of a request with the text `written` and the fields `request`; `None` if it has none, an error if it is
    /// invalid.
    pub(crate) fn of_request(written: &str, request: &Fields) -> Result<Option<Self>, ErrorObject> {
        match request.get("id") {
            None => Ok(None),
            Some(Json::Null) => Ok(Some(Self::Null)),
            Some(Json::String(text)) => Ok(Some(Self::Text(text.clone()))),
            Some(Json::Number(number)) if !number.is_f64() => {
                Ok(Some(Self::number(number.to_smolstr())))
            }
            Some(Json::Number(number)) => {
                let exact = number_as_written(written).unwrap_or_else(|| number.to_smolstr());
                Ok(Some(Self::number(exact)))
            }
            Some(_) => {
                Err(Fault::InvalidRequest.because("\"id\" must be a number, a text or null"))
            }
        }
    }

    fn number(text: SmolStr) -> Self {
        Self::Number(NumberText(text))
    }
}

fn number_as_written(request: &str) -> Option<SmolStr> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(request).ok()?;
    fields.get("id").map(|id| id.get().into())
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::number(number.to_smolstr())
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Number(NumberText(text)) => match text.parse::<u64>() {
                Ok(number) => serializer.serialize_u64(number),
                Err(_) => RawValue::from_string(text.to_string())
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer),
            },
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// The error code by which an agent rejects a league message; `data` has the fields of a LEAGUE_ERROR.
pub const REFUSED: i64 = -32000;

/// The errors of JSON-RPC itself. Errors of league messages are in the fields of a LEAGUE_ERROR instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The body is not JSON.
    Parse,
    /// The body is JSON, but no request.
    InvalidRequest,
    /// The method is unknown, and there is no league message.
    MethodNotFound,
    /// `params` is not what the method takes.
    InvalidParams,
    /// Internal error of the agent that answers.
    Internal,
}

impl Fault {
    /// In the order in which OpenRPC documents list them.
    pub const ALL: [Self; 5] = [
        Self::Parse,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::Internal,
    ];

    /// The number that the specification assigns.
    pub fn code(self) -> i64 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
        }
    }

    /// The text that the specification gives for the code.
    pub fn message(self) -> &'static str {
        match self {
            Self::Parse => "Parse error",
            Self::InvalidRequest => "Invalid Request",
            Self::MethodNotFound => "Method not found",
            Self::InvalidParams => "Invalid params",
            Self::Internal => "Internal error",
        }
    }

    /// With an explanation in `data`.
    pub fn because(self, why: impl Into<String>) -> ErrorObject {
        self.with(Value::String(why.into()))
    }

    /// With any `data`.
    pub fn with(self, data: Value) -> ErrorObject {
        ErrorObject {
            code: self.code(),
            message: self.message().into(),
            data,
        }
    }
}

/// `error` of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorObject {
    /// Of [`Fault::code`], or [`REFUSED`].
    pub code: i64,
    /// A short text for people; programs read `data`.
    pub message: Cow<'static, str>,
    /// An explanation, or the fields of a LEAGUE_ERROR.
    pub data: Value,
}

/// A successful response.
#[derive(Debug, Clone, Serialize)]
pub struct Success<'a, R> {
    /// The version of JSON-RPC.
    pub jsonrpc: TwoPointZero,
    /// That of the request.
    pub id: &'a Id,
    /// A league message, a tool result, other data, or an acknowledgement.
    pub result: R,
}

/// An error response.
#[derive(Debug, Clone, Serialize)]
pub struct Failed<'a> {
    /// The version of JSON-RPC.
    pub jsonrpc: TwoPointZero,
    /// That of the request, or null if it could not be read.
    pub id: &'a Id,
    /// What went wrong.
    pub error: &'a ErrorObject,
}

/// A request of ours. Its id is an integer, which every agent can parse.
#[derive(Debug, Clone, Serialize)]
pub struct Call<'a, P> {
    /// The version of JSON-RPC.
    pub jsonrpc: TwoPointZero,
    /// The response repeats it.
    pub id: i64,
    /// The name that the receiver's dialect has for it.
    pub method: &'a str,
    /// The message, wrapped by the receiver's dialect.
    pub params: P,
}

/// Encodes `value`. Our types always encode; if one did not, the peer would get an internal error.
pub(crate) fn written(value: &impl Serialize) -> Vec<u8> {
    // Enough for most messages without reallocation.
    let mut bytes = Vec::with_capacity(1024);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => bytes,
        Err(_) => {
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}"#
                .to_vec()
        }
    }
}
