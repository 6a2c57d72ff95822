//! What has to come of a call.

use std::fmt;

use kobana_wire::extension::Kind;
use regex::Regex;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::extension::test::matcher::{Matcher, Mismatch, clipped, regex};

/// What a call has to answer.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expect {
    /// How it ends; completely, if nothing is said.
    pub(crate) outcome: Expected,
    /// What its text says: all pieces of text, one below the other.
    pub(crate) text: Option<TextMatcher>,
    /// The structured result of a tool.
    pub(crate) structured: Option<Matcher>,
    /// The types of its pieces of content, in their order.
    pub(crate) content: Option<Vec<String>>,
    /// The whole result, in the form that the protocol gives it.
    pub(crate) result: Option<Matcher>,
}

/// The types of content there are.
const CONTENT: &[&str] = &["text", "image", "audio", "resource_link", "resource"];

impl Expect {
    /// What is expected that a call of this kind cannot answer.
    pub(super) fn unfit_for(&self, kind: Kind) -> Vec<String> {
        let mut problems = Vec::new();
        if self.structured.is_some() && kind != Kind::Tool {
            problems.push("expect.structured: expected for tools only".to_owned());
        }
        if self.content.is_some() && kind == Kind::Resource {
            problems.push("expect.content: expected for tools and prompts only".to_owned());
        }
        let unknown = self.content.iter().flatten().filter(|word| !CONTENT.contains(&word.as_str()));
        problems.extend(
            unknown.map(|word| format!("expect.content: {word:?} is no type; there are {}", CONTENT.join(", "))),
        );
        let never = match (&self.outcome, kind) {
            (Expected::Error, Kind::Resource | Kind::ResourceTemplate | Kind::Prompt) => Some("error is for tools"),
            (Expected::Invalid, Kind::Resource | Kind::ResourceTemplate) => Some("invalid is for tools and prompts"),
            _ => None,
        };
        problems.extend(never.map(|why| format!("expect.outcome: {why} only")));
        problems
    }
}

/// How a call ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Expected {
    /// With a result.
    #[default]
    Complete,
    /// With anything that the extension says itself: a result, an error or questions.
    Answered,
    /// With a tool's result that says that it did not work.
    Error,
    /// With questions that the case does not answer.
    InputRequired,
    /// With questions that the client cannot be asked.
    Unanswerable,
    /// There is no such thing.
    Missing,
    /// The arguments were refused.
    Invalid,
    /// The caller has none of the scopes that the extension needs.
    MissingScope,
    /// The extension was stopped, by this limit or for this reason if one is named.
    Stopped(Option<String>),
}

/// The outcomes that have no further part.
const PLAIN: &[(&str, Expected)] = &[
    ("complete", Expected::Complete),
    ("answered", Expected::Answered),
    ("error", Expected::Error),
    ("input_required", Expected::InputRequired),
    ("unanswerable", Expected::Unanswerable),
    ("missing", Expected::Missing),
    ("invalid", Expected::Invalid),
    ("missing_scope", Expected::MissingScope),
    ("stopped", Expected::Stopped(None)),
];

impl Expected {
    /// Whether an outcome of this name is what is expected.
    pub(crate) fn admits(&self, outcome: &Self) -> bool {
        match (self, outcome) {
            (Self::Stopped(None), Self::Stopped(_))
            | (Self::Answered, Self::Complete | Self::Error | Self::InputRequired) => true,
            (expected, outcome) => expected == outcome,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(Some(why)) => write!(f, "stopped: {why}"),
            plain => f.write_str(PLAIN.iter().find(|(_, known)| known == plain).map_or("stopped", |(name, _)| name)),
        }
    }
}

impl<'de> Deserialize<'de> for Expected {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExpectedVisitor)
    }
}

struct ExpectedVisitor;

impl<'de> Visitor<'de> for ExpectedVisitor {
    type Value = Expected;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = PLAIN.iter().map(|(name, _)| *name).collect();
        write!(f, "one of {}, or {{stopped: LIMIT}}", names.join(", "))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Expected, E> {
        let known = PLAIN.iter().find(|(name, _)| *name == text);
        known.map(|(_, outcome)| outcome.clone()).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Expected, A::Error> {
        let Some((key, why)) = map.next_entry::<String, String>()? else {
            return Err(de::Error::invalid_length(0, &self));
        };
        if key != "stopped" || map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            return Err(de::Error::invalid_value(de::Unexpected::Map, &self));
        }
        Ok(Expected::Stopped(Some(why)))
    }
}

/// What a text has to say; all of it.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TextMatcher {
    /// Exactly this.
    equals: Option<String>,
    /// All of these.
    contains: Texts,
    /// None of these.
    excludes: Texts,
    /// Something that this finds.
    regex: Option<Pattern>,
    /// A JSON document that this matches.
    json: Option<Matcher>,
}

impl TextMatcher {
    /// What is wrong with a text, if anything is.
    pub(crate) fn check(&self, text: &str) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let mut expect = |met: bool, expected: String| {
            if !met {
                found.push(Mismatch { path: String::new(), expected, actual: clipped(&format!("{text:?}")) });
            }
        };
        if let Some(equals) = &self.equals {
            expect(equals == text, format!("{equals:?}"));
        }
        for part in &self.contains.0 {
            expect(text.contains(part.as_str()), format!("text that contains {part:?}"));
        }
        for part in &self.excludes.0 {
            expect(!text.contains(part.as_str()), format!("text without {part:?}"));
        }
        if let Some(Pattern(regex)) = &self.regex {
            expect(regex.is_match(text), format!("text that matches /{regex}/"));
        }
        match self.json.as_ref().map(|matcher| (matcher, serde_json::from_str::<Value>(text))) {
            Some((matcher, Ok(value))) => found.extend(matcher.check(Some(&value))),
            Some((matcher, Err(_))) => expect(false, format!("a JSON document: {matcher}")),
            None => {}
        }
        found
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
struct Pattern(Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        regex(&String::deserialize(deserializer)?).map(Self).map_err(de::Error::custom)
    }
}

/// One text, or a list of them.
#[derive(Debug, Clone, Default)]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor).map(Self)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![text.to_owned()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = seq.next_element()? {
            texts.push(text);
        }
        Ok(texts)
    }
}

/// The calls of the API that have to have happened.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Effects {
    /// There is no call at all.
    pub(crate) none: bool,
    /// Nothing is asked for but by GET.
    pub(crate) reads_only: bool,
    /// These calls, in this order, among others.
    pub(crate) calls: Vec<EffectCall>,
    /// There is no call that `calls` does not name.
    pub(crate) only: bool,
}

impl Effects {
    /// What cannot be true at the same time.
    pub(super) fn contradiction(&self) -> Option<String> {
        if self.none && !self.calls.is_empty() {
            return Some("effects: expected none, or calls, but not both".to_owned());
        }
        (self.only && self.calls.is_empty())
            .then(|| "effects.only: expected calls beside it; none: true forbids all".to_owned())
    }
}

/// A call of the API, or several of its kind.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectCall {
    /// Its method.
    pub(crate) method: Verb,
    /// Its path; `*` or `{name}` stands for one segment, `**` for any number of them at the end.
    pub(crate) path: String,
    /// Its query, as an object of texts.
    pub(crate) query: Option<Matcher>,
    /// Its body.
    pub(crate) body: Option<Matcher>,
    /// The status that it was answered with.
    pub(crate) status: Option<u16>,
    /// How many such calls there are exactly; at least one, if nothing is said.
    pub(crate) count: Option<usize>,
}

/// A method of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What the API answers to the owner, once the call is over.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    /// A path below `/api/v1`, with its query.
    pub(crate) get: String,
    /// The status; 200, if nothing is said.
    #[serde(default = "ok")]
    pub(crate) status: u16,
    /// The document.
    pub(crate) body: Option<Matcher>,
}

const fn ok() -> u16 {
    200
}
