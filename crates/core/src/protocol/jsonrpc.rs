//! JSON-RPC 2.0 as types: ids, errors, and the shapes of calls and responses. Values only; `dialect` reads and writes
//! them.

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
    pub const TEXT: &'static str = "2.0";
}

impl Serialize for TwoPointZero {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Self::TEXT)
    }
}

/// What ties a response to its request. It goes back exactly as it came.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    Null,
    Number(NumberText),
    Text(SmolStr),
}

/// A number as it was written. Some agents use 128-bit numbers as ids, which no number type of JSON's usual readers
/// would give back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberText(SmolStr);

impl Id {
    /// The id of a request whose text is `written` and whose fields are `request`; `None` where it has none, and an
    /// error where it has something that cannot be an id.
    pub(crate) fn of_request(written: &str, request: &Fields<'_>) -> Result<Option<Self>, ErrorObject> {
        match request.get("id") {
            None => Ok(None),
            Some(Json::Null) => Ok(Some(Self::Null)),
            Some(Json::String(text)) => Ok(Some(Self::Text(text.as_ref().into()))),
            Some(Json::Number(number)) if !number.is_f64() => Ok(Some(Self::number(number.to_smolstr()))),
            Some(Json::Number(number)) => {
                let exact = number_as_written(written).unwrap_or_else(|| number.to_smolstr());
                Ok(Some(Self::number(exact)))
            }
            Some(_) => Err(Fault::InvalidRequest.because("\"id\" must be a number, a text or null")),
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

/// The code of an error by which an agent refuses a league message; `data` says why, in the fields of a LEAGUE_ERROR.
pub const REFUSED: i64 = -32000;

/// JSON-RPC's own failures. What is wrong with a league message is said in the fields of a LEAGUE_ERROR instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The body is not JSON.
    Parse,
    /// It is JSON, but no request.
    InvalidRequest,
    /// The method names nothing we know, and no league message came with it.
    MethodNotFound,
    /// `params` is not what the method takes.
    InvalidParams,
    /// The fault is ours.
    Internal,
}

impl Fault {
    pub const ALL: [Self; 5] =
        [Self::Parse, Self::InvalidRequest, Self::MethodNotFound, Self::InvalidParams, Self::Internal];

    pub fn code(self) -> i64 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            Self::Parse => "Parse error",
            Self::InvalidRequest => "Invalid Request",
            Self::MethodNotFound => "Method not found",
            Self::InvalidParams => "Invalid params",
            Self::Internal => "Internal error",
        }
    }

    /// With the sentence that tells a person what to mend.
    pub fn because(self, why: impl Into<String>) -> ErrorObject {
        self.with(Value::String(why.into()))
    }

    pub fn with(self, data: Value) -> ErrorObject {
        ErrorObject { code: self.code(), message: self.message().into(), data }
    }
}

/// `error` of a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorObject {
    pub code: i64,
    pub message: Cow<'static, str>,
    pub data: Value,
}

/// A response that carries what was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Success<'a, R> {
    pub jsonrpc: TwoPointZero,
    pub id: &'a Id,
    pub result: R,
}

/// A response that says why not.
#[derive(Debug, Clone, Serialize)]
pub struct Failed<'a> {
    pub jsonrpc: TwoPointZero,
    pub id: &'a Id,
    pub error: &'a ErrorObject,
}

/// A request of ours. Its id is always an integer: every agent can read one.
#[derive(Debug, Clone, Serialize)]
pub struct Call<'a, P> {
    pub jsonrpc: TwoPointZero,
    pub id: i64,
    pub method: &'a str,
    pub params: P,
}

/// The bytes of `value`. What we write has text for keys and nothing else that JSON lacks, so the other case does not
/// arise; if it did, the peer would be told of a fault of ours.
pub(crate) fn written(value: &impl Serialize) -> Vec<u8> {
    // Room for most messages, so that writing one does not move it again and again.
    let mut bytes = Vec::with_capacity(1024);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => bytes,
        Err(_) => {
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}"#.to_vec()
        }
    }
}
