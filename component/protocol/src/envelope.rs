//! The envelope of a stateless request: `params._meta` (protocol.md §6).

use kobana_wire::extension::Client;

use crate::error::Error;
use crate::json::{self, Members, Value};
use crate::jsonrpc::Params;

/// The key of the client's capabilities.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of what the client says of itself.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The key of the wanted log level.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The words of RFC 5424 §6.2.1 that MCP uses.
const LOG_LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Checks what an envelope must hold beside its version. A malformed `clientInfo` is no fault: nothing depends on it.
///
/// # Errors
/// [`Error::Envelope`] names the key.
pub(crate) fn check(params: &Params<'_>) -> Result<(), Error> {
    let meta = params.meta().unwrap_or(Members::NONE);
    match meta.get(CAPABILITIES) {
        Some(capabilities) if json::is_object(capabilities) => {}
        None => return Err(Error::Envelope(format!("_meta is missing {CAPABILITIES}"))),
        Some(_) => return Err(Error::Envelope(format!("{CAPABILITIES} must be an object"))),
    }
    let known = |level: Value<'_>| json::string(level).is_some_and(|level| LOG_LEVELS.contains(&level.as_ref()));
    match meta.get(LOG_LEVEL) {
        Some(level) if !known(level) => {
            Err(Error::Envelope(format!("{LOG_LEVEL} must be one of {}", LOG_LEVELS.join(", "))))
        }
        _ => Ok(()),
    }
}

/// Whether the client says that it can show a form (protocol.md §6). An empty `elicitation` means forms; one that names other
/// modes only does not, and a malformed one is never taken for a permission.
pub(crate) fn can_ask(params: &Params<'_>) -> bool {
    client(params).form
}

/// What the client says that it can be asked for. What is no object is not declared.
pub(crate) fn client(params: &Params<'_>) -> Client {
    let meta = params.meta().unwrap_or(Members::NONE);
    let Some(capabilities) = meta.get(CAPABILITIES).and_then(Members::of) else { return Client::default() };
    let object = |members: &Members<'_>, name| members.get(name).is_some_and(json::is_object);
    let modes = capabilities.get("elicitation").and_then(Members::of);
    Client {
        form: modes.as_ref().is_some_and(|modes| modes.iter().next().is_none() || object(modes, "form")),
        url: modes.as_ref().is_some_and(|modes| object(modes, "url")),
        sampling: object(&capabilities, "sampling"),
        roots: object(&capabilities, "roots"),
    }
}

/// What the client calls itself, for the record; nothing depends on it. Anything longer than a name is none.
pub(crate) fn client_name(params: &Params<'_>) -> Option<String> {
    let info = params.meta()?.get(CLIENT_INFO).and_then(Members::of)?;
    info.get("name").and_then(json::string).filter(|name| name.len() <= 200).map(|name| name.into_owned())
}
