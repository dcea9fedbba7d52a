//! The arguments of a tool call. An error names the field, what was expected and what came.

use super::tool_error::ToolError;
use matchday_core::protocol::ErrorCode;
use serde_json::{Map, Value};

#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Null and an empty text are as missing, but as a choice: in strict mode a model must name every field.
    pub(super) fn new(given: Option<&Map<String, Value>>) -> Self {
        let given = given.into_iter().flatten();
        let is_empty = |value: &Value| value.is_null() || value.as_str() == Some("");
        let is_there = |(name, value): &(&String, &Value)| *name == "choice" || !is_empty(value);
        Self(
            given
                .filter(is_there)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, ToolError> {
        let text = |value: &Value| matches!(value, Value::String(_));
        Ok(self.checked(name, "a text", text)?.and_then(Value::as_str))
    }

    pub(super) fn whole(&self, name: &str, max: u32) -> Result<Option<u32>, ToolError> {
        let expected = format!("a whole number from 0 to {max}");
        let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
        let fits = |value: &Value| number(value).is_some_and(|number| number <= max);
        Ok(self.checked(name, &expected, fits)?.and_then(number))
    }

    pub(super) fn choice(&self) -> Result<&Value, ToolError> {
        let why = "choice: expected one of the options of your turn, got nothing";
        self.0
            .get("choice")
            .ok_or_else(|| ToolError::new(ErrorCode::MissingField, why))
    }

    fn checked(
        &self,
        name: &str,
        expected: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<Option<&Value>, ToolError> {
        match self.0.get(name) {
            Some(value) if !fits(value) => {
                let shown: String = value.to_string().chars().take(60).collect();
                let why = format!("{name}: expected {expected}, got {shown}");
                Err(ToolError::new(ErrorCode::InvalidFormat, why))
            }
            value => Ok(value),
        }
    }
}
