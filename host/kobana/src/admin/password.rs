//! Asking for passwords.

use std::io::{IsTerminal as _, Read as _};

use kobana_identity::{Passwords, password};

use super::args::PasswordFrom;
use crate::failure::Failure;

/// Bytes of standard input that are read: more than the longest password has.
const LONGEST_INPUT: u64 = 8 * 1_024;

/// Whether somebody can be asked.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal()
}

/// A new password, hashed: from standard input, or asked for twice on the terminal, without echo.
pub(super) async fn fresh(from: &PasswordFrom) -> Result<String, Failure> {
    let password = if from.password_stdin { read()? } else { ask()? };
    password::check(&password).map_err(|unfit| Failure::Admin(format!("password: {unfit}")))?;
    Passwords::default().hash(password).await.map_err(|error| Failure::Admin(error.to_string()))
}

/// The first line of standard input, which has to be the only one.
fn read() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(LONGEST_INPUT).read_to_string(&mut text);
    read.map_err(|cause| Failure::System { what: "cannot read the password", cause })?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains('\n') {
        return Err(Failure::Admin("password: expected one line on standard input".to_owned()));
    }
    Ok(line.to_owned())
}

fn ask() -> Result<String, Failure> {
    if !can_ask() {
        return Err(Failure::Admin(
            "password: there is no terminal to ask on; hand it in with --password-stdin".to_owned(),
        ));
    }
    let prompt = |text: &str| {
        let answer = rpassword::prompt_password(text);
        answer.map_err(|cause| Failure::System { what: "cannot read the password", cause })
    };
    let password = prompt("Password (12 characters or more): ")?;
    if prompt("The same again: ")? == password {
        Ok(password)
    } else {
        Err(Failure::Admin("password: the two are not the same".to_owned()))
    }
}
