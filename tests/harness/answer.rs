//! An answer, and short ways to say what is expected of it.

use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In the order of the wire, names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Reads the status line and the header lines.
    pub(crate) fn from_head(head: &str) -> Self {
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().expect("there is a first line");
        let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').expect("a header line has a colon");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        });
        Self { status: status.expect("an HTTP/1.1 status line"), headers: headers.collect(), body: Vec::new() }
    }

    /// The value of a header that stands once.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.values(name);
        let value = values.next();
        assert_eq!(values.next(), None, "{name} stands twice");
        value
    }

    /// The values of a header, line by line.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The value of a header as a number.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        let value = self.header(name).unwrap_or_else(|| panic!("{name} is missing: {self}"));
        value.parse().unwrap_or_else(|_| panic!("{name} is no number: {self}"))
    }

    /// The revision that the answer says it speaks.
    #[track_caller]
    pub(crate) fn version(&self) -> Option<&str> {
        self.header("mcp-protocol-version")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self}"))
    }

    /// Expects this status.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self}");
        self
    }

    /// Expects this header.
    #[track_caller]
    pub(crate) fn has(&self, name: &str, value: &str) -> &Self {
        assert_eq!(self.header(name), Some(value), "{name}: {self}");
        self
    }

    /// Expects this header to be missing.
    #[track_caller]
    pub(crate) fn lacks(&self, name: &str) -> &Self {
        assert_eq!(self.header(name), None, "{name}: {self}");
        self
    }

    /// Expects a 200 with a result for id 1, and gives the result.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        self.is(200).has("content-type", "application/json");
        let mut message = self.json();
        assert_eq!(message["jsonrpc"], "2.0", "{self}");
        assert_eq!(message["id"], 1, "{self}");
        assert!(message.get("error").is_none(), "{self}");
        message["result"].take()
    }

    /// Expects a JSON-RPC error for id 1, and gives it.
    #[track_caller]
    pub(crate) fn fails(&self, status: u16, code: i64) -> Value {
        let message = self.error_message(status, code);
        assert_eq!(message["id"], 1, "{self}");
        message["error"].clone()
    }

    /// Expects a JSON-RPC error that names no id, because none could be read, and gives it.
    #[track_caller]
    pub(crate) fn fails_without_id(&self, status: u16, code: i64) -> Value {
        let message = self.error_message(status, code);
        assert!(message.get("id").is_none(), "{self}");
        message["error"].clone()
    }

    #[track_caller]
    fn error_message(&self, status: u16, code: i64) -> Value {
        self.is(status).has("content-type", "application/json");
        let message = self.json();
        assert_eq!(message["jsonrpc"], "2.0", "{self}");
        assert_eq!(message["error"]["code"], code, "{self}");
        assert!(message["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{self}");
        assert!(message.get("result").is_none(), "{self}");
        message
    }

    /// Expects a tool's answer that is no error, and gives the endpoint's document.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        let result = self.result();
        assert_ne!(result["isError"], true, "{self}");
        serde_json::from_str(tool_text(&result)).unwrap_or_else(|error| panic!("no document ({error}): {self}"))
    }

    /// Expects a tool's answer that is an error which the caller can act on, and gives the endpoint's `error`.
    #[track_caller]
    pub(crate) fn tool_error(&self, code: &str) -> Value {
        let result = self.result();
        assert_eq!(result["isError"], true, "{self}");
        let document: Value = serde_json::from_str(tool_text(&result)).expect("the error is JSON");
        assert_eq!(document["error"]["code"], code, "{self}");
        document["error"].clone()
    }

    /// Expects an accepted notification: 202 without a body.
    #[track_caller]
    pub(crate) fn is_accepted(&self) -> &Self {
        self.is(202);
        assert!(self.body.is_empty(), "{self}");
        self
    }
}

/// The one text block of a tool's result.
#[track_caller]
fn tool_text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], "text", "{result}");
    content[0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = self.text();
        let shown: String = body.chars().take(600).collect();
        write!(f, "HTTP {} {:?} {shown}", self.status, self.headers)
    }
}
