//! Secrets that are read from files: `--operator-token-file FILE`, `MATCHDAY_OPERATOR_TOKEN_FILE`. Arguments and environments
//! can be read by others on the machine, files need not be; and orchestrators hand out secrets as files.

use super::super::Usage;
use super::Declared;
use std::path::{Path, PathBuf};

/// Behind the name of a variable: the variable that names the file instead.
pub(crate) const SUFFIX: &str = "_FILE";

/// `operator-token-file`
pub(super) fn argument(setting: &Declared) -> String {
    format!("{}-file", setting.name())
}

/// The secret in the file that `MATCHDAY_..._FILE` names. Both this and the variable itself are a contradiction.
pub(crate) fn of_variable(variable: &str) -> Result<Option<String>, Usage> {
    let named = format!("{variable}{SUFFIX}");
    let Some(path) = path_of_variable(variable) else {
        return Ok(None);
    };
    if std::env::var_os(variable).is_some_and(|text| !text.is_empty()) {
        return Err(Usage(format!(
            "{named}: {variable} is set too: keep one of them"
        )));
    }
    read(&named, &path).map(Some)
}

/// The file that `MATCHDAY_..._FILE` names.
pub(super) fn path_of_variable(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(format!("{variable}{SUFFIX}"))?;
    Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty())
}

/// `from`: the flag or variable that names the file, for errors.
pub(crate) fn read(from: &str, path: &Path) -> Result<String, Usage> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage(format!("{from}: {shown} cannot be read: {error}")))?;
    match text.trim() {
        "" => Err(Usage(format!(
            "{from}: {shown} is empty: write the secret into it"
        ))),
        secret => Ok(secret.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_without_the_end_of_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "tok_operator_1\n").unwrap();
        assert_eq!(
            read("--operator-token-file", file.path()).unwrap(),
            "tok_operator_1"
        );
        std::fs::write(file.path(), "\n").unwrap();
        let error = read("--operator-token-file", file.path())
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("is empty: write the secret into it"),
            "{error}"
        );
    }
}
