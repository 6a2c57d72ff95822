//! The fixed tokens of the demo profile. They are no secret, so nothing but a loopback address may take them.

use std::num::NonZeroU32;

use async_trait::async_trait;
use kobana_contract::{Scope, Timestamp};
use kobana_store::Moment;
use kobana_store::demo::persons;
use uuid::Uuid;

use crate::{Audience, DEFAULT_REQUESTS_PER_MINUTE, Refusal, Token, TokenSource};

/// A token of the demo profile.
#[derive(Debug, Clone, Copy)]
pub struct DemoToken {
    /// The token itself.
    pub token: &'static str,
    /// What it is good for, for a person to read.
    pub about: &'static str,
    person: Uuid,
    audience: Audience,
    scopes: &'static [Scope],
    /// Whether it ended a day before the process started.
    expired: bool,
    requests_per_minute: NonZeroU32,
}

/// An allowance that no load test reaches.
const BENCH: NonZeroU32 = NonZeroU32::MIN.saturating_add(999_999_999);
/// An allowance that is quickly spent.
const LIMITED: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

impl DemoToken {
    const fn mcp(token: &'static str, person: Uuid, about: &'static str) -> Self {
        Self {
            token,
            about,
            person,
            audience: Audience::Mcp,
            scopes: Scope::ALL,
            expired: false,
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        }
    }

    const fn rest(token: &'static str, person: Uuid, about: &'static str) -> Self {
        Self { audience: Audience::Rest, ..Self::mcp(token, person, about) }
    }

    /// The resource that it is for, for a person to read.
    #[must_use]
    pub const fn audience(&self) -> &'static str {
        match self.audience {
            Audience::Mcp => "MCP",
            Audience::Rest => "REST",
            Audience::Other => "none",
        }
    }
}

/// Every token of the demo profile (demo-profile.md).
const TOKENS: &[DemoToken] = &[
    DemoToken::mcp("demo-owner", persons::ANA, "Ana Souza, owner of acme, all scopes"),
    DemoToken::mcp("demo-viewer", persons::VERA, "Vera Lima, viewer of acme: reads, but no webhooks"),
    DemoToken {
        scopes: &[Scope::Emails],
        ..DemoToken::mcp("demo-emails", persons::ANA, "Ana Souza, scope inbox.emails only")
    },
    DemoToken::mcp("demo-multi", persons::MARCOS, "Marcos Reis, owner of acme and acme-labs: needs X-Workspace-Id"),
    DemoToken::mcp("demo-globex", persons::GIL, "Gil Prado, owner of globex, another organization"),
    DemoToken {
        requests_per_minute: LIMITED,
        ..DemoToken::mcp("demo-limited", persons::LIA, "Lia Costa, owner of acme, 5 requests a minute")
    },
    DemoToken { expired: true, ..DemoToken::mcp("demo-expired", persons::ANA, "Ana Souza, ended yesterday") },
    DemoToken {
        audience: Audience::Other,
        ..DemoToken::mcp("demo-other-audience", persons::ANA, "Ana Souza, issued for another resource")
    },
    DemoToken {
        requests_per_minute: BENCH,
        ..DemoToken::mcp("demo-bench", persons::ANA, "Ana Souza, owner of acme, for load tests")
    },
    DemoToken::mcp("demo-disabled", persons::DISABLED, "a person whose account is disabled"),
    DemoToken::rest("rest-owner", persons::ANA, "Ana Souza, owner of acme, for /api/v1"),
    DemoToken::rest("rest-viewer", persons::VERA, "Vera Lima, viewer of acme, for /api/v1"),
    DemoToken {
        scopes: &[Scope::Emails],
        ..DemoToken::rest("rest-emails", persons::ANA, "Ana Souza, inbox.emails only, for /api/v1")
    },
    DemoToken::rest("rest-multi", persons::MARCOS, "Marcos Reis, owner of acme and acme-labs, for /api/v1"),
    DemoToken::rest("rest-globex", persons::GIL, "Gil Prado, owner of globex, for /api/v1"),
];

/// Knows the fixed tokens.
#[derive(Debug, Clone, Copy)]
pub struct DemoTokens {
    yesterday: Timestamp,
}

impl DemoTokens {
    /// The tokens of a demo that starts now.
    #[must_use]
    pub fn starting_now() -> Self {
        Self { yesterday: Timestamp::now().plus_seconds(-86_400) }
    }

    /// Every token.
    #[must_use]
    pub fn all() -> &'static [DemoToken] {
        TOKENS
    }
}

#[async_trait]
impl TokenSource for DemoTokens {
    async fn find(&self, token: &str, _: &Moment<'_>) -> Result<Option<Token>, Refusal> {
        let found = TOKENS.iter().find(|known| known.token == token);
        Ok(found.map(|known| Token {
            id: known.token.to_owned(),
            person_id: known.person,
            client: "demo".to_owned(),
            audience: known.audience,
            scopes: known.scopes.to_vec(),
            workspace: None,
            expires_at: known.expired.then_some(self.yesterday),
            requests_per_minute: known.requests_per_minute,
        }))
    }
}
