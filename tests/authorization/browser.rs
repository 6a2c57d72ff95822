//! A browser without scripts: it keeps cookies, fills in forms as they stand, and follows redirects only when told to.

use std::collections::BTreeMap;

use crate::harness::{Answer, Call, Server};

/// Sends a request whose answer may be kept.
#[track_caller]
pub(super) fn send(server: &Server, call: &Call) -> Answer {
    let mut connection = server.connect();
    connection.send(call.bytes());
    connection.answer()
}

/// A form, encoded.
pub(super) fn encode(pairs: &[(&str, &str)]) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    out.extend_pairs(pairs).finish()
}

/// Somebody's browser.
#[derive(Clone)]
pub(super) struct Browser {
    server: Server,
    cookies: BTreeMap<String, String>,
    language: &'static str,
}

impl Browser {
    pub(super) fn new(server: &Server) -> Self {
        Self { server: server.clone(), cookies: BTreeMap::new(), language: "en" }
    }

    pub(super) fn speaking(mut self, language: &'static str) -> Self {
        self.language = language;
        self
    }

    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.get(name).map(String::as_str)
    }

    pub(super) fn set_cookie(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), value.to_owned());
    }

    #[track_caller]
    pub(super) fn get(&mut self, path: &str) -> Answer {
        let call = self.server.http("GET", path);
        self.send(call)
    }

    #[track_caller]
    pub(super) fn post(&mut self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let call = self.server.http("POST", path).header("Content-Type", "application/x-www-form-urlencoded");
        self.send(call.body(encode(pairs)))
    }

    /// Fills in a form of a page and sends it. A change takes the place of every field of that name; one without a value unticks it.
    #[track_caller]
    pub(super) fn submit(&mut self, page: &Answer, form: &str, changes: &[(&str, &str)]) -> Answer {
        let form = Form::on(page, form);
        let changed = |name: &str| changes.iter().any(|(change, _)| *change == name);
        let kept = form.fields.iter().filter(|(name, _)| !changed(name));
        let mut pairs: Vec<_> = kept.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        pairs.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        self.post(&form.action, &pairs)
    }

    #[track_caller]
    fn send(&mut self, mut call: Call) -> Answer {
        call = call.header("Accept-Language", self.language);
        if !self.cookies.is_empty() {
            let all: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            call = call.header("Cookie", all.join("; "));
        }
        let answer = send(&self.server, &call);
        for line in answer.values("set-cookie") {
            let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            match attributes.contains("Max-Age=0") {
                true => self.cookies.remove(name),
                false => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        answer
    }
}

/// A form as it stands on a page.
pub(super) struct Form {
    action: String,
    /// What would be sent: hidden fields, what is ticked, what is written.
    pub(super) fields: Vec<(String, String)>,
}

impl Form {
    #[track_caller]
    pub(super) fn on(page: &Answer, id: &str) -> Self {
        let html = page.text();
        let begin = html.find(&format!("<form id=\"{id}\"")).unwrap_or_else(|| panic!("no form {id}: {html}"));
        let end = html[begin..].find("</form>").expect("a form ends") + begin;
        let mut tags = html[begin..end].split('<').skip(1).map(|tag| &tag[..tag.find('>').expect("a tag ends")]);
        let action = attribute(tags.next().expect("the form itself"), "action").expect("a form has an action");
        let sent = tags.filter(|tag| tag.starts_with("input ")).filter_map(|tag| {
            let ticks = matches!(attribute(tag, "type").as_deref(), Some("checkbox" | "radio"));
            let sent = !ticks || tag.ends_with(" checked");
            sent.then(|| (attribute(tag, "name").expect("a name"), attribute(tag, "value").unwrap_or_default()))
        });
        Self { action, fields: sent.collect() }
    }

    pub(super) fn all(&self, name: &str) -> Vec<&str> {
        self.fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str()).collect()
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let begin = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    let end = tag[begin..].find('"')? + begin;
    Some(unescape(&tag[begin..end]))
}

/// Undoes what templates do to text.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("&#") {
        let (number, after) = after.split_once(';').expect("a character reference ends");
        plain.push_str(before);
        plain.push(number.parse::<u32>().ok().and_then(char::from_u32).expect("a decimal character reference"));
        rest = after;
    }
    plain + rest
}

/// The address that an answer sends a browser to, and its parameters.
pub(super) struct Redirect {
    pub(super) address: String,
    parameters: Vec<(String, String)>,
}

impl Redirect {
    #[track_caller]
    pub(super) fn of(answer: &Answer) -> Self {
        assert!(matches!(answer.status, 302 | 303), "{answer}");
        let location = answer.header("location").unwrap_or_else(|| panic!("no location: {answer}"));
        let (address, query) = location.split_once('?').unwrap_or((location, ""));
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { address: address.to_owned(), parameters }
    }

    #[track_caller]
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.parameters.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} stands twice");
        value
    }
}
