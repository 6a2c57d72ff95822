//! How results look in each era: the same members, dressed (protocol.md §4.1, §14, §22).

use crate::era::Version;
use crate::http::HttpResponse;
use crate::jsonrpc::Id;

/// Names the server; a macro, since `concat!` takes literals only.
macro_rules! server_info {
    () => {
        concat!(
            r#"{"name":"kobana-autonomous-inbox","title":"Kobana Autonomous Inbox","version":""#,
            env!("CARGO_PKG_VERSION"),
            r#""}"#
        )
    };
}

/// What this server calls itself.
pub(crate) const SERVER_INFO: &str = server_info!();

/// Who answers, on every result of the stateless era.
const META: &str = concat!(r#""_meta":{"io.modelcontextprotocol/serverInfo":"#, server_info!(), "}");

/// What a method answers: the members of a result object as JSON text, without the braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    members: String,
    kind: Kind,
    version: Option<Version>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// May change with the next call.
    Plain,
    /// Says for how long and for whom it holds.
    Cacheable,
    /// Asks the client something first.
    InputRequired,
}

impl Outcome {
    /// A complete result without cache hints.
    #[must_use]
    pub(crate) fn plain(members: impl Into<String>) -> Self {
        Self { members: members.into(), kind: Kind::Plain, version: None }
    }

    /// A complete result of one of the six methods that carry cache hints.
    #[must_use]
    pub(crate) fn cacheable(members: impl Into<String>) -> Self {
        Self { members: members.into(), kind: Kind::Cacheable, version: None }
    }

    /// A question to the client, which repeats its request with the answer.
    #[must_use]
    pub(crate) fn input_required(members: impl Into<String>) -> Self {
        Self { members: members.into(), kind: Kind::InputRequired, version: None }
    }

    /// The same, agreed in another version than the request's: only `initialize` does that.
    #[must_use]
    pub(crate) fn negotiated(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// The answer to the request with this id.
    #[must_use]
    pub(crate) fn into_response(self, id: Id<'_>, version: Version) -> HttpResponse {
        let mut parts: Vec<&str> = Vec::with_capacity(4);
        if version.is_modern() {
            parts.push(match self.kind {
                Kind::InputRequired => r#""resultType":"input_required""#,
                Kind::Plain | Kind::Cacheable => r#""resultType":"complete""#,
            });
        }
        if !self.members.is_empty() {
            parts.push(&self.members);
        }
        if version.is_modern() {
            if self.kind == Kind::Cacheable {
                // What comes back depends on who asks and may change with the next request.
                parts.push(r#""ttlMs":0,"cacheScope":"private""#);
            }
            parts.push(META);
        }
        let body = [r#"{"jsonrpc":"2.0","id":"#, id.as_str(), r#","result":{"#, &parts.join(","), "}}"].concat();
        HttpResponse::json(200, body).with("mcp-protocol-version", self.version.unwrap_or(version).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::Message;

    fn dressed(outcome: Outcome, version: Version) -> serde_json::Value {
        let message = Message::parse(br#"{"jsonrpc":"2.0","id":"i","method":"m"}"#).unwrap();
        serde_json::from_slice(&outcome.into_response(message.id.unwrap(), version).body).unwrap()
    }

    #[test]
    fn the_stateless_era_says_who_answers_and_how_complete() {
        let answer = dressed(Outcome::cacheable(r#""tools":[]"#), Version::V2026_07_28);
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(answer["result"]["ttlMs"], 0);
        assert_eq!(
            answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"],
            serde_json::from_str::<serde_json::Value>(SERVER_INFO).unwrap()
        );
        let question = dressed(Outcome::input_required(""), Version::V2026_07_28);
        assert_eq!(question["result"]["resultType"], "input_required");
        assert!(question["result"].get("ttlMs").is_none());
    }

    #[test]
    fn the_handshake_era_sees_none_of_it() {
        let answer = dressed(Outcome::cacheable(r#""tools":[]"#), Version::V2025_03_26);
        assert_eq!(answer["result"], serde_json::json!({"tools": []}));
        assert_eq!(dressed(Outcome::plain(""), Version::V2025_06_18)["result"], serde_json::json!({}));
    }
}
