//! What a person reads when the server has started.

use std::fmt::Write as _;
use std::net::SocketAddr;

use kobana_identity::DemoTokens;
use kobana_store::demo;

/// What is to be said.
pub(crate) struct Banner<'a> {
    /// Where the server listens.
    pub(crate) base: &'a str,
    /// URL of the MCP endpoint as clients know it.
    pub(crate) resource: &'a str,
    /// Where edge components are answered.
    pub(crate) edge: Option<SocketAddr>,
    /// Whether it is the demo profile.
    pub(crate) demo: bool,
    /// Whether people sign in here, and not with a foreign issuer.
    pub(crate) login: bool,
    /// What to type while there is nobody.
    pub(crate) steps: Option<&'a str>,
}

impl Banner<'_> {
    /// Where to connect and how, and what to type before anybody can.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("Kobana Autonomous Inbox {} is ready\n\n", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(text, "  MCP   {}", self.resource);
        let _ = writeln!(text, "  REST  {}/api/v1", self.base);
        if let Some(address) = self.edge {
            let _ = writeln!(text, "  Edge  http://{address}");
        }
        if let Some(steps) = self.steps {
            let _ =
                write!(text, "\nNobody can sign in yet. Make the first organization, workspace and person:\n\n{steps}");
        }
        let connect = format!("  claude mcp add --transport http kobana {}", self.resource);
        if self.demo {
            tokens(&mut text);
            let _ = writeln!(text, "\nConnect Claude Code:\n\n{connect} --header \"Authorization: Bearer demo-owner\"");
        }
        if self.login {
            let (lead, person) = match self.demo {
                true => ("Or sign in in a browser", format!(" as {}, password {}", demo::EMAIL, demo::PASSWORD)),
                false => ("Connect Claude Code, and sign in in a browser", String::new()),
            };
            let _ = writeln!(text, "\n{lead}{person}:\n\n{connect}");
        } else if !self.demo {
            let _ = writeln!(text, "\nConnect Claude Code, and sign in with your identity provider:\n\n{connect}");
        }
        text
    }
}

fn tokens(text: &mut String) {
    let _ = writeln!(text, "\nDemo profile: sample data, well-known tokens, loopback only.\n");
    let width = DemoTokens::all().iter().map(|token| token.token.len()).max().unwrap_or_default();
    for token in DemoTokens::all() {
        let _ = writeln!(text, "  {:<4}  {:<width$}  {}", token.audience(), token.token, token.about);
    }
}
