//! Lists of scopes.

use std::collections::BTreeSet;

use kobana_contract::Scope;

/// A scope that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unknown;

/// Reads a list of scopes between spaces (RFC 6749 §3.3), in the contract's order, each once.
pub(crate) fn parse(text: &str) -> Result<Vec<Scope>, Unknown> {
    let named: Result<BTreeSet<_>, _> =
        text.split(' ').filter(|name| !name.is_empty()).map(|name| Scope::parse(name).ok_or(Unknown)).collect();
    named.map(|scopes| scopes.into_iter().collect())
}

/// Writes a list of scopes.
pub(crate) fn join(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether everything wanted is included in what is held: a scope to write includes the one to read.
pub(crate) fn within(wanted: &[Scope], held: &[Scope]) -> bool {
    wanted.iter().all(|scope| is_held(*scope, held))
}

/// Whether a scope is included in what is held.
pub(crate) fn is_held(scope: Scope, held: &[Scope]) -> bool {
    held.iter().any(|one| one.satisfies(scope))
}

/// Whether a scope allows to change something.
pub(crate) fn writes(scope: Scope) -> bool {
    scope.as_str().ends_with(".write")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_in_any_order_and_once() {
        let read = parse(" inbox.emails.write inbox.inboxes  inbox.emails inbox.inboxes ").unwrap();
        assert_eq!(join(&read), "inbox.inboxes inbox.emails inbox.emails.write");
        assert_eq!(parse(""), Ok(Vec::new()));
        for unknown in
            ["inbox.emails openid", "Inbox.emails", "inbox.emails,inbox.inboxes", "inbox.emails\tinbox.agents"]
        {
            assert_eq!(parse(unknown), Err(Unknown), "{unknown}");
        }
    }

    #[test]
    fn a_scope_to_write_includes_the_one_to_read_and_not_the_reverse() {
        assert!(within(&[Scope::Emails], &[Scope::EmailsWrite]));
        assert!(!within(&[Scope::EmailsWrite], &[Scope::Emails]));
        assert!(!within(&[Scope::Emails, Scope::Agents], &[Scope::EmailsWrite]));
    }
}
