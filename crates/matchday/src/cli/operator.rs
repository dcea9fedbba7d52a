//! What `start`, `admin` and `roster` share: the operator's token, and how the manager's answer is printed.

use super::Usage;
use super::manager_arg::ManagerArg;
use super::settings::{Declared, OPERATOR_TOKEN, secret_file};
use super::status::status_table;
use crate::manager_client::ManagerClient;
use anyhow::Result;
use matchday_core::league::OPERATOR;
use matchday_core::protocol::Token;
use matchday_terminal::say;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct OperatorArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// The token that the manager showed when the league was made
    #[arg(
        long,
        value_name = "TOKEN",
        env = OPERATOR_TOKEN.variable(),
        hide_env_values = true,
        global = true
    )]
    operator_token: Option<String>,
    /// A file that holds this token [env: MATCHDAY_OPERATOR_TOKEN_FILE]
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        conflicts_with = "operator_token"
    )]
    operator_token_file: Option<PathBuf>,
    /// Print the status as JSON
    #[arg(long, global = true)]
    json: bool,
}

/// What was given, or what is in the file that the environment names.
pub(super) fn secret_or_file(given: Option<String>, setting: &Declared) -> Result<Option<String>> {
    match given.filter(|text| !text.is_empty()) {
        Some(text) => Ok(Some(text)),
        None => Ok(secret_file::of_variable(&setting.variable())?),
    }
}

impl OperatorArgs {
    pub(super) fn token(&self) -> Result<Option<Token>> {
        if let Some(path) = &self.operator_token_file {
            return Ok(Some(Token::new(secret_file::read(
                "--operator-token-file",
                path,
            )?)));
        }
        Ok(secret_or_file(self.operator_token.clone(), &OPERATOR_TOKEN)?.map(Token::new))
    }

    /// The token, for what cannot be done without it.
    pub(super) fn needed_token(&self) -> Result<Token> {
        let what =
            "this needs the operator token - give --operator-token, or set MATCHDAY_OPERATOR_TOKEN";
        self.token()?.ok_or_else(|| Usage(what.to_owned()).into())
    }

    pub(super) fn client(&self) -> Result<ManagerClient> {
        self.at.client()
    }

    pub(super) fn manager(&self) -> &str {
        &self.at.manager
    }

    pub(super) fn print(&self, status: &Value) -> Result<ExitCode> {
        self.show(status, status_table)
    }

    /// Prints the data as JSON, or as text for people.
    pub(super) fn show(
        &self,
        data: &Value,
        to_text: impl FnOnce(&Value) -> String,
    ) -> Result<ExitCode> {
        if self.json {
            say(serde_json::to_string_pretty(data)?)
        } else {
            say(to_text(data))
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The only place where a token is printed: the operator has to hand it on.
    pub(super) fn print_token(
        &self,
        whose: &str,
        token: &Token,
        mut status: Value,
    ) -> Result<ExitCode> {
        if self.json {
            if let Some(fields) = status.as_object_mut() {
                fields.insert("agent_id".to_owned(), whose.into());
                fields.insert("auth_token".to_owned(), token.reveal().into());
            }
            return self.print(&status);
        }
        let how = match whose {
            OPERATOR => "set MATCHDAY_OPERATOR_TOKEN to it for the next command",
            _ => "its agent comes back with --auth-token, or by registering with it as auth_token",
        };
        say(format!(
            "new token of {whose}, shown only once - {how}:\n{}",
            token.reveal()
        ));
        Ok(ExitCode::SUCCESS)
    }
}
