//! How results look in each era: the same members, dressed (protocol.md §4.1, §14, §22).

use crate::era::Version;
use crate::http::HttpResponse;
use crate::jsonrpc::Id;
use crate::quote;
use crate::text::utf8;

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
macro_rules! meta {
    () => {
        concat!(r#","_meta":{"io.modelcontextprotocol/serverInfo":"#, server_info!(), "}")
    };
}

const META: &str = meta!();
/// What comes back depends on who asks and may change with the next request.
const CACHEABLE_META: &str = concat!(r#","ttlMs":0,"cacheScope":"private""#, meta!());
const COMPLETE: &str = r#""resultType":"complete""#;
const INPUT_REQUIRED: &str = r#""resultType":"input_required""#;
/// The most bytes that an answer has beside its id and its content.
const FRAME: usize = 320;

/// What a method answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    content: Content,
    kind: Kind,
    version: Option<Version>,
}

/// What stands in the result object.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// Its members as JSON text, without the braces.
    Members(String),
    /// One block of text. It is written into the answer and nowhere before.
    Text {
        /// The text, in UTF-8; what is none in it, which the API never writes, is replaced.
        text: Vec<u8>,
        /// Whether it says what went wrong.
        failed: bool,
    },
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
        Self::of(Content::Members(members.into()), Kind::Plain)
    }

    /// A complete result of a tool: one block of text.
    #[must_use]
    pub(crate) fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::of(Content::Text { text: text.into(), failed: false }, Kind::Plain)
    }

    /// The same block, as what went wrong.
    #[must_use]
    pub(crate) fn failed(mut self) -> Self {
        if let Content::Text { failed, .. } = &mut self.content {
            *failed = true;
        }
        self
    }

    const fn of(content: Content, kind: Kind) -> Self {
        Self { content, kind, version: None }
    }

    /// A complete result of one of the six methods that carry cache hints.
    #[must_use]
    pub(crate) fn cacheable(members: impl Into<String>) -> Self {
        Self::of(Content::Members(members.into()), Kind::Cacheable)
    }

    /// A question to the client, which repeats its request with the answer.
    #[must_use]
    pub(crate) fn input_required(members: impl Into<String>) -> Self {
        Self::of(Content::Members(members.into()), Kind::InputRequired)
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
        let (before, behind) = self.kind.members(version);
        let mut body = Vec::with_capacity(self.content.len() + id.as_str().len() + FRAME);
        for part in [r#"{"jsonrpc":"2.0","id":"#, id.as_str(), r#","result":{"#, before] {
            body.extend_from_slice(part.as_bytes());
        }
        if !before.is_empty() && !self.content.is_empty() {
            body.push(b',');
        }
        self.content.push(&mut body);
        for part in [behind, "}}"] {
            body.extend_from_slice(part.as_bytes());
        }
        HttpResponse::json(200, body).with("mcp-protocol-version", self.version.unwrap_or(version).as_str())
    }
}

impl Kind {
    /// What stands before and behind the content of a result.
    const fn members(self, version: Version) -> (&'static str, &'static str) {
        if !version.is_modern() {
            return ("", "");
        }
        match self {
            Self::Plain => (COMPLETE, META),
            Self::Cacheable => (COMPLETE, CACHEABLE_META),
            Self::InputRequired => (INPUT_REQUIRED, META),
        }
    }
}

impl Content {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Members(members) if members.is_empty())
    }

    /// About as many bytes as it takes.
    fn len(&self) -> usize {
        match self {
            Self::Members(members) => members.len(),
            // Documents of the API have many quotes, each of which takes two bytes here.
            Self::Text { text, .. } => text.len() + text.len() / 4,
        }
    }

    fn push(&self, body: &mut Vec<u8>) {
        match self {
            Self::Members(members) => body.extend_from_slice(members.as_bytes()),
            Self::Text { text, failed } => {
                body.extend_from_slice(br#""content":[{"type":"text","text":"#);
                match utf8(text) {
                    Some(text) => quote::push(body, text),
                    None => quote::push(body, &String::from_utf8_lossy(text)),
                }
                body.extend_from_slice(if *failed { br#"}],"isError":true"# } else { b"}]" });
            }
        }
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
