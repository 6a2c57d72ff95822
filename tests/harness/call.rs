//! A request, made step by step.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};

use super::{Answer, Connection, Server};

/// The version of the stateless era.
pub(crate) const MODERN: &str = "2026-07-28";

/// The keys of the envelope.
pub(crate) const ENVELOPE: [&str; 2] =
    ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"];

/// `_meta` of a request of the stateless era, from a client that can do nothing special.
pub(crate) fn envelope() -> Value {
    json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: {} })
}

/// A request, which keeps its server running. What a well-behaved client would send is there from the start; a test changes what it is about.
#[derive(Clone)]
pub(crate) struct Call {
    server: Server,
    verb: String,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    message: Option<Message>,
    body: Vec<u8>,
}

#[derive(Clone)]
struct Message {
    /// As it is to stand on the wire; `None` makes a notification.
    id: Option<String>,
    method: String,
    params: Option<Value>,
}

impl Call {
    pub(crate) fn http(server: &Server, verb: &str, path: &str) -> Self {
        let headers = vec![("Host".to_owned(), server.address().to_string().into_bytes())];
        Self {
            server: server.clone(),
            verb: verb.to_owned(),
            path: path.to_owned(),
            headers,
            message: None,
            body: Vec::new(),
        }
    }

    pub(crate) fn legacy(server: &Server, method: &str) -> Self {
        let message = Message { id: Some("1".to_owned()), method: method.to_owned(), params: None };
        let call = Self { message: Some(message), ..Self::http(server, "POST", "/mcp") };
        call.token("demo-owner").header("Content-Type", "application/json").header("Accept", "application/json")
    }

    pub(crate) fn modern(server: &Server, method: &str) -> Self {
        let call = Self::legacy(server, method).version(MODERN).header("Mcp-Method", method);
        call.params(json!({ "_meta": envelope() }))
    }

    /// Calls as someone else.
    pub(crate) fn token(self, token: &str) -> Self {
        self.set("Authorization", &format!("Bearer {token}"))
    }

    /// Sets the version header.
    pub(crate) fn version(self, version: &str) -> Self {
        self.set("MCP-Protocol-Version", version)
    }

    /// Replaces a header.
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    /// Adds a header line.
    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Leaves a header out.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(field, _)| !field.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// Sets the id, as it is to stand on the wire.
    pub(crate) fn id(mut self, raw: &str) -> Self {
        self.message().id = Some(raw.to_owned());
        self
    }

    /// Leaves the id out: a notification.
    pub(crate) fn without_id(mut self) -> Self {
        self.message().id = None;
        self
    }

    /// Names the tool or prompt, in the body and, in the stateless era, in the header.
    pub(crate) fn name(self, name: &str) -> Self {
        let stateless = self.headers.iter().any(|(field, _)| field == "Mcp-Method");
        let call = self.param("name", json!(name));
        if stateless { call.set("Mcp-Name", name) } else { call }
    }

    /// Sets the arguments of a tool or prompt.
    pub(crate) fn arguments(self, arguments: Value) -> Self {
        self.param("arguments", arguments)
    }

    /// Sets one member of `params`.
    pub(crate) fn param(mut self, name: &str, value: Value) -> Self {
        let params = self.message().params.get_or_insert_with(|| Value::Object(Map::new()));
        params[name] = value;
        self
    }

    /// Sets `params` as a whole.
    pub(crate) fn params(mut self, params: Value) -> Self {
        self.message().params = Some(params);
        self
    }

    pub(crate) fn without_params(mut self) -> Self {
        self.message().params = None;
        self
    }

    /// Sets `params._meta`.
    pub(crate) fn meta(self, meta: Value) -> Self {
        self.param("_meta", meta)
    }

    /// Sets the body as it stands.
    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.message = None;
        self.body = body.into();
        self
    }

    fn message(&mut self) -> &mut Message {
        self.message.as_mut().expect("the request is a message")
    }

    /// The body.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let Some(message) = &self.message else { return self.body.clone() };
        let mut text = String::from(r#"{"jsonrpc":"2.0""#);
        if let Some(id) = &message.id {
            text.push_str(&format!(r#","id":{id}"#));
        }
        text.push_str(&format!(r#","method":{}"#, json!(message.method)));
        if let Some(params) = &message.params {
            text.push_str(&format!(r#","params":{params}"#));
        }
        text.push('}');
        text.into_bytes()
    }

    /// The head, with the headers of the call and no more.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.verb, self.path).into_bytes();
        for (name, value) in &self.headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// The whole request.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let payload = self.payload();
        let sized = self.clone().set("Content-Length", &payload.len().to_string());
        [sized.head(), payload].concat()
    }

    /// The whole request with the body in chunks of this size.
    pub(crate) fn chunked(&self, size: usize) -> Vec<u8> {
        let mut bytes = self.clone().set("Transfer-Encoding", "chunked").head();
        for chunk in self.payload().chunks(size) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }

    /// Sends it on a connection of its own.
    #[track_caller]
    pub(crate) fn send(&self) -> Answer {
        self.send_on(&mut self.server.connect())
    }

    /// Sends it to another address than the server's.
    #[track_caller]
    pub(crate) fn send_to(&self, address: SocketAddr) -> Answer {
        self.send_on(&mut Connection::open_to(address, &self.server))
    }

    /// Sends it on a connection. No answer, of whatever kind, may be stored by anyone in between.
    #[track_caller]
    pub(crate) fn send_on(&self, connection: &mut Connection) -> Answer {
        connection.send(self.bytes());
        let answer = connection.answer();
        answer.has("cache-control", "no-store");
        answer
    }
}
