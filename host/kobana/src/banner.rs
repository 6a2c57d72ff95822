//! What a person reads when the server has started.

use std::fmt::Write as _;

use kobana_identity::DemoTokens;

/// Where to connect, and in the demo profile how.
pub(crate) fn text(base: &str, resource: &str, demo: bool) -> String {
    let mut text = format!("Kobana Autonomous Inbox {} is ready\n\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "  MCP   {resource}");
    let _ = writeln!(text, "  REST  {base}/api/v1");
    if demo {
        tokens(&mut text);
        let _ = writeln!(
            text,
            "\nConnect Claude Code:\n\n  claude mcp add --transport http kobana {resource} --header \"Authorization: Bearer demo-owner\""
        );
    }
    text
}

fn tokens(text: &mut String) {
    let _ = writeln!(text, "\nDemo profile: sample data, well-known tokens, loopback only.\n");
    let width = DemoTokens::all().iter().map(|token| token.token.len()).max().unwrap_or_default();
    for token in DemoTokens::all() {
        let _ = writeln!(text, "  {:<4}  {:<width$}  {}", token.audience(), token.token, token.about);
    }
}
