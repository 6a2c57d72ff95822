//! JSON-RPC framing: what one POST may carry (protocol.md §3.4, §4).

use std::borrow::Cow;

use crate::error::Error;
use crate::json::{self, MAX_DEPTH, Members, Value};
use crate::text;

/// The `id` of a request, as its text: it comes back byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id<'a>(&'a str);

impl<'a> Id<'a> {
    /// A string or an integer; every other value is no id (architecture.md, decision 5).
    fn of(value: Value<'a>) -> Option<Self> {
        let fits = json::is_integer(value) || json::string(value).is_some();
        fits.then(|| Self(value.get()))
    }

    /// Its text, a JSON string or integer.
    #[must_use]
    pub(crate) const fn as_str(self) -> &'a str {
        self.0
    }
}

/// The `params` of a message.
#[derive(Debug)]
pub(crate) enum Params<'a> {
    /// There are none.
    Absent,
    /// An object, the only shape that MCP knows.
    Object(Object<'a>),
    /// Something else, `null` included.
    Other,
}

/// The members of `params`, and of those among them that are looked into more than once.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    members: Members<'a>,
    meta: Option<Members<'a>>,
    arguments: Option<Members<'a>>,
}

impl<'a> Params<'a> {
    /// A member of the object.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.object().and_then(|object| object.members.get(name))
    }

    /// The members of `_meta`, if it is an object.
    #[must_use]
    pub(crate) fn meta(&self) -> Option<&Members<'a>> {
        self.object()?.meta.as_ref()
    }

    /// The members of `arguments`, if it is an object.
    #[must_use]
    pub(crate) fn arguments(&self) -> Option<&Members<'a>> {
        self.object()?.arguments.as_ref()
    }

    const fn object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Absent | Self::Other => None,
        }
    }
}

/// One request or notification.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// Present in a request, absent in a notification.
    pub id: Option<Id<'a>>,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters.
    pub params: Params<'a>,
}

/// Why a body is no message, and the id to answer with, where it could be read.
#[derive(Debug)]
pub(crate) struct Malformed<'a> {
    /// What is wrong.
    pub error: Error,
    /// The id of the request.
    pub id: Option<Id<'a>>,
}

impl<'a> Message<'a> {
    /// Reads a body.
    ///
    /// # Errors
    /// `-32700` where it is no JSON in UTF-8, `-32600` where it is no single JSON-RPC request or notification.
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Malformed<'a>> {
        let (envelope, depth) = envelope(body).map_err(|error| Malformed { error, id: None })?;
        let id = id(&envelope);
        let echoed = id.clone().ok().flatten();
        let refuse = |what: &str| Malformed { error: Error::InvalidRequest(what.to_owned()), id: echoed };

        if envelope.duplicate().is_some() {
            return Err(refuse("the message has a member twice"));
        }
        let id = id.map_err(|error| Malformed { error, id: None })?;
        if envelope.get("jsonrpc").and_then(json::string).as_deref() != Some("2.0") {
            return Err(refuse("jsonrpc must be the string \"2.0\""));
        }
        let Some(method) = envelope.get("method") else {
            let answers = envelope.get("result").or_else(|| envelope.get("error")).is_some();
            return Err(refuse(if answers {
                "this server sends no requests and takes no responses"
            } else {
                "method is missing"
            }));
        };
        let Some(method) = json::string(method) else { return Err(refuse("method must be a string")) };
        if depth > MAX_DEPTH {
            return Err(refuse("the message is nested deeper than 128 levels"));
        }
        let params = params(&envelope).map_err(refuse)?;
        Ok(Self { id, method, params })
    }
}

/// Cuts a body into the members of its one object, and says how deep it is nested.
fn envelope(body: &[u8]) -> Result<(Members<'_>, usize), Error> {
    let text = text::utf8(body).ok_or(Error::Parse("the body is not valid UTF-8"))?;
    // One pass does for what is right; another one finds out what is wrong.
    if let Some(envelope) = Members::read(text) {
        return Ok(envelope);
    }
    let value = Value::of(text).ok_or(Error::Parse("the body is not valid JSON"))?;
    Err(Error::InvalidRequest(if value.get().starts_with('[') {
        "batches are not supported; send one message for each POST".to_owned()
    } else {
        "the body must be one JSON-RPC object".to_owned()
    }))
}

/// Presence, not truth, tells a request from a notification: a null id is an invalid one.
fn id<'a>(envelope: &Members<'a>) -> Result<Option<Id<'a>>, Error> {
    // With two ids there is none to answer with.
    if envelope.iter().filter(|(name, _)| *name == "id").count() > 1 {
        return Err(Error::InvalidRequest("the message has two ids".to_owned()));
    }
    let Some(value) = envelope.get("id") else { return Ok(None) };
    Id::of(value).map(Some).ok_or_else(|| Error::InvalidRequest("id must be a string or an integer".to_owned()))
}

fn params<'a>(envelope: &Members<'a>) -> Result<Params<'a>, &'static str> {
    let Some(value) = envelope.get("params") else { return Ok(Params::Absent) };
    if !json::is_object(value) {
        return Ok(Params::Other);
    }
    let members = Members::of(value).ok_or("params has a member whose name is not valid Unicode")?;
    if members.duplicate().is_some() {
        return Err("params has a member twice");
    }
    let inner = |name| members.get(name).and_then(Members::of);
    let (meta, arguments) = (inner("_meta"), inner("arguments"));
    let twice = |inner: &Option<Members<'_>>| inner.as_ref().is_some_and(|inner| inner.duplicate().is_some());
    if twice(&meta) {
        return Err("params._meta has a member twice");
    }
    if twice(&arguments) {
        return Err("params.arguments has a member twice");
    }
    Ok(Params::Object(Object { members, meta, arguments }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(body: &str) -> (i32, Option<String>) {
        let malformed = Message::parse(body.as_bytes()).unwrap_err();
        (malformed.error.code(), malformed.id.map(|id| id.as_str().to_owned()))
    }

    #[test]
    fn a_request_keeps_the_text_of_its_id() {
        for id in ["7", "\"7\"", "\"\"", "-1", "9007199254740993", "\"\\u0061\"", "0"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(Message::parse(body.as_bytes()).unwrap().id.unwrap().as_str(), id);
        }
    }

    #[test]
    fn an_id_of_another_shape_is_refused_without_one() {
        for id in ["1.5", "1.0", "true", "null", "{}", "[]", "1e2"] {
            assert_eq!(refusal(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), (-32600, None), "{id}");
        }
    }

    #[test]
    fn a_readable_id_comes_back_with_the_refusal() {
        assert_eq!(refusal(r#"{"id":1,"method":"ping"}"#), (-32600, Some("1".into())));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#), (-32600, Some("\"a\"".into())));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"method":5}"#), (-32600, Some("1".into())));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#), (-32600, None));
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"ping","params":{{"x":{}1{}}}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        assert_eq!(refusal(&deep), (-32600, Some("3".into())));
    }

    #[test]
    fn what_is_no_json_is_a_parse_error_and_what_is_no_object_an_invalid_request() {
        for body in ["", " ", "{", "nul", "{\"a\":NaN}", "\u{feff}{}", "[1,", "{} {}"] {
            assert_eq!(refusal(body), (-32700, None), "{body}");
        }
        for body in ["[]", "[[]]", "1", "\"x\"", "null", "{}"] {
            assert_eq!(refusal(body), (-32600, None), "{body}");
        }
        let million = "[".repeat(500_000) + &"]".repeat(500_000);
        assert_eq!(refusal(&million), (-32600, None));
        assert_eq!(Message::parse(b"{\"a\":\"\xff\"}").unwrap_err().error.code(), -32700);
    }

    #[test]
    fn duplicates_are_refused_wherever_a_check_could_be_misled() {
        for params in
            [r#"{"name":"a","name":"b"}"#, r#"{"_meta":{"k":1,"k":2}}"#, r#"{"arguments":{"id":1,"i\u0064":2}}"#]
        {
            assert_eq!(
                refusal(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#)).0,
                -32600,
                "{params}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::parse(&body);
        }

        #[test]
        fn nothing_like_json_breaks_it(body in r#"[\[\]{}",:\\a-z0-9. -]{0,80}"#) {
            let _ = Message::parse(body.as_bytes());
        }

        #[test]
        fn any_text_is_an_id_and_a_method(id in any::<String>(), method in any::<String>()) {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{},"method":{}}}"#, json::quoted(&id), json::quoted(&method));
            let message = Message::parse(body.as_bytes()).unwrap();
            prop_assert_eq!(message.id.unwrap().as_str(), json::quoted(&id));
            prop_assert_eq!(message.method, method);
        }

        #[test]
        fn any_integer_is_an_id(id in any::<i128>()) {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            prop_assert_eq!(Message::parse(body.as_bytes()).unwrap().id.unwrap().as_str(), id.to_string());
        }
    }
}
