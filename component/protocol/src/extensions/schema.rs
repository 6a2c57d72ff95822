//! JSON Schemas that extensions bring (protocol.md §5.5, §9.2). What a validator makes of a schema is the host's matter; here it is
//! made sure that a schema stands alone, how large it may be, and that its `x-mcp-header` marks keep the rules.

use std::collections::{BTreeMap, BTreeSet};

use kobana_wire::extension::{Mirrored, Scalar};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{self, Members};
use crate::text::clean;

/// The longest schema, in bytes.
const LONGEST: usize = 65_536;
/// How deep its objects and arrays may be nested.
const DEEPEST: usize = 32;
/// The most schemas inside of it.
const MOST_SCHEMAS: usize = 1_000;
/// The most parts, see [`Measured::parts`].
const MOST_PARTS: u64 = 20_000;
/// The most patterns: each takes some time to compile.
const MOST_PATTERNS: usize = 32;
/// How many references may lead from one to the next.
const LONGEST_CHAIN: usize = 32;
/// The most parameters of one tool that headers repeat.
const MOST_MARKS: usize = 16;
/// The longest name of such a parameter.
const LONGEST_MARK: usize = 64;
/// The one dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The mark of a parameter that a header repeats.
const MARK: &str = "x-mcp-header";
/// The largest integer that every reader of JSON takes for the same, 2^53 − 1.
pub(super) const LARGEST: i64 = 9_007_199_254_740_991;

/// Keywords whose value is a map of schemas.
const MAPS: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords whose value is a list of schemas.
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a schema.
const SINGLES: &[&str] = &[
    "additionalProperties",
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords that make what a schema says hang on more than the schema.
const REFUSED: &[&str] = &["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"];

/// A schema that can be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schema {
    /// Its text as it came, without the white space between its parts.
    pub(super) text: String,
    /// The parameters that headers repeat.
    pub(super) mirrored: Vec<Mirrored>,
}

/// What a schema is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The arguments of a tool: marks are looked at.
    #[default]
    Input,
    /// The structured result of a tool. Revision 2025-06-18 knows objects only, and one list is for every revision.
    Output,
}

/// A schema that a validator may be made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The schema.
    pub root: Value,
    /// Its keywords and the values that it compares with, once every reference is replaced by what it refers to. Judging a value
    /// takes at most so many steps for each [`weight`] of it. At most 20,000.
    pub parts: u64,
}

/// Checks a schema.
///
/// # Errors
/// Each thing that is wrong with it, with its place inside.
pub(super) fn check(text: &str, purpose: Purpose) -> Result<Schema, Vec<String>> {
    let (walk, _) = judge(text, purpose)?;
    Ok(Schema { text: json::compact(text), mirrored: walk.marked.into_iter().map(|(_, mark)| mark).collect() })
}

/// Reads a schema and tells how much work it makes. Nothing that [`crate::extensions::check`] refuses is measured.
///
/// # Errors
/// Each thing that is wrong with it, with its place inside.
pub fn measure(text: &str) -> Result<Measured, Vec<String>> {
    let (walk, root) = judge(text, Purpose::Output)?;
    Ok(Measured { root, parts: walk.parts })
}

/// How large a value is: its parts, and its text in pieces of a few characters.
#[must_use]
pub fn weight(value: &Value) -> u64 {
    let text = |text: &str| 1 + text.len() as u64 / 16;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(string) => text(string),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<u64>(),
        Value::Object(members) => 1 + members.iter().map(|(name, value)| text(name) + weight(value)).sum::<u64>(),
    }
}

fn judge(text: &str, purpose: Purpose) -> Result<(Walk, Value), Vec<String>> {
    let root = parse(text).map_err(|problem| vec![problem])?;
    let mut walk = Walk { purpose, ..Walk::default() };
    walk.root(&root);
    walk.visit(&root, "", Some(&[]));
    if walk.patterns > MOST_PATTERNS {
        walk.problems.push(format!("expected at most {MOST_PATTERNS} patterns inside, found {}", walk.patterns));
    }
    if walk.places.len() > MOST_SCHEMAS {
        walk.problems.push(format!("expected at most {MOST_SCHEMAS} schemas inside"));
    } else if walk.problems.is_empty() {
        walk.unroll(&root);
    }
    walk.marks();
    if walk.problems.is_empty() { Ok((walk, root)) } else { Err(walk.problems) }
}

fn parse(text: &str) -> Result<Value, String> {
    if text.len() > LONGEST {
        return Err(format!("expected at most {LONGEST} bytes, found {}", text.len()));
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("expected JSON: {error}"))?;
    if json::is_deeper(text, DEEPEST) {
        return Err(format!("expected at most {DEEPEST} levels of objects and arrays"));
    }
    if let Some(problem) = ambiguous(raw.into(), "") {
        return Err(problem);
    }
    let root: Value = serde_json::from_str(text).map_err(|error| format!("expected JSON: {error}"))?;
    if root.is_object() { Ok(root) } else { Err("expected a JSON object".to_owned()) }
}

/// What readers of a document would differ in: a member that stands twice, or a name that is no text.
fn ambiguous(value: json::Value<'_>, place: &str) -> Option<String> {
    if let Some(members) = Members::of(value) {
        let twice = members.duplicate().map(|name| format!("{} stands twice", shown(&below(place, name))));
        return twice.or_else(|| members.iter().find_map(|(name, value)| ambiguous(value, &below(place, name))));
    }
    if json::is_object(value) {
        return Some(format!("{} has a member whose name is not valid Unicode", shown(place)));
    }
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    items.iter().enumerate().find_map(|(index, value)| ambiguous((*value).into(), &below(place, &index.to_string())))
}

/// A JSON pointer (RFC 6901) one step further.
fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A pointer for a person to read.
fn shown(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { clean(pointer, 120) }
}

#[derive(Debug, Default)]
struct Walk {
    purpose: Purpose,
    problems: Vec<String>,
    /// Pointers to the schemas that were found, which are all that a reference may lead to.
    places: BTreeSet<String>,
    patterns: usize,
    /// What there is once references are followed.
    parts: u64,
    /// References: where they stand, and where to, both as pointers.
    references: Vec<(String, String)>,
    /// Marks, by the pointer of the schema that has one.
    marked: Vec<(String, Mirrored)>,
}

impl Walk {
    fn root(&mut self, root: &Value) {
        if root.get("type").and_then(Value::as_str) != Some("object") {
            self.problems.push("expected \"type\": \"object\" at the root".to_owned());
        }
        let dialect = root.get("$schema").map(|dialect| dialect.as_str().map(|dialect| dialect.trim_end_matches('#')));
        if dialect.is_some_and(|dialect| dialect != Some(DIALECT)) {
            self.problems.push(format!("expected no $schema, or {DIALECT}"));
        }
    }

    /// Looks at a schema and at those inside of it. `path` leads to the value that it is about, if only `properties` do.
    fn visit(&mut self, schema: &Value, pointer: &str, path: Option<&[String]>) {
        if self.places.len() > MOST_SCHEMAS {
            return;
        }
        self.places.insert(pointer.to_owned());
        if schema.is_boolean() {
            return;
        }
        let Value::Object(members) = schema else {
            self.problems.push(format!("{}: expected a schema, which is an object, true or false", shown(pointer)));
            return;
        };
        for (keyword, value) in members {
            self.keyword(keyword, value, pointer);
            let inside = below(pointer, keyword);
            if MAPS.contains(&keyword.as_str()) {
                self.map(keyword, value, &inside, path);
            } else if LISTS.contains(&keyword.as_str()) {
                match value {
                    Value::Array(list) => {
                        for (index, schema) in list.iter().enumerate() {
                            self.visit(schema, &below(&inside, &index.to_string()), None);
                        }
                    }
                    _ => self.problems.push(format!("{}: expected a list of schemas", shown(&inside))),
                }
            } else if SINGLES.contains(&keyword.as_str()) {
                self.visit(value, &inside, None);
            }
        }
        if let (Some(mark), Purpose::Input) = (members.get(MARK), self.purpose) {
            self.mark(mark, members.get("type"), pointer, path);
        }
    }

    fn map(&mut self, keyword: &str, value: &Value, inside: &str, path: Option<&[String]>) {
        let Value::Object(map) = value else {
            self.problems.push(format!("{}: expected an object of schemas", shown(inside)));
            return;
        };
        if keyword == "patternProperties" {
            self.patterns += map.len();
        }
        for (name, schema) in map {
            let further = path.filter(|_| keyword == "properties");
            let further = further.map(|path| [path, std::slice::from_ref(name)].concat());
            self.visit(schema, &below(inside, name), further.as_deref());
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value, pointer: &str) {
        let place = shown(&below(pointer, keyword));
        match keyword {
            "$ref" => {
                let target = value.as_str().and_then(|text| text.strip_prefix('#'));
                let target = target.and_then(|fragment| percent_decode_str(fragment).decode_utf8().ok());
                match target.filter(|target| target.is_empty() || target.starts_with('/')) {
                    Some(target) => self.references.push((pointer.to_owned(), target.into_owned())),
                    None => self.problems.push(format!(
                        "{place}: expected a reference inside of this schema by a JSON pointer, such as #/$defs/address"
                    )),
                }
            }
            "pattern" => self.patterns += 1,
            "$id" if !pointer.is_empty() => self.problems.push(format!("{place}: expected $id at the root only")),
            "$schema" if !pointer.is_empty() => {
                self.problems.push(format!("{place}: expected $schema at the root only"));
            }
            _ if REFUSED.contains(&keyword) => self.problems.push(format!("{place}: {keyword} is not supported")),
            _ => {}
        }
    }

    /// One mark, by the rules of protocol.md §5.5 but for those that concern several.
    fn mark(&mut self, mark: &Value, kind: Option<&Value>, pointer: &str, path: Option<&[String]>) {
        let token = |name: &&str| {
            (1..=LONGEST_MARK).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
        };
        let scalar = match kind.and_then(Value::as_str) {
            Some("string") => Some(Scalar::Text),
            Some("integer") => Some(Scalar::Integer),
            Some("boolean") => Some(Scalar::Boolean),
            _ => None,
        };
        let place = shown(pointer);
        let path = path.filter(|path| !path.is_empty());
        match (mark.as_str().filter(token), scalar, path) {
            (None, ..) => self.problems.push(format!(
                "{place}: expected {MARK} to be a token of RFC 9110 with 1 to {LONGEST_MARK} characters"
            )),
            (_, None, _) => self.problems.push(format!(
                "{place}: expected the type of a parameter with {MARK} to be exactly one of string, integer and boolean"
            )),
            (.., None) => self.problems.push(format!(
                "{place}: {MARK} may stand only where every step from the root is a member of properties"
            )),
            (Some(name), Some(scalar), Some(path)) => {
                let mark = Mirrored { name: name.to_owned(), path: path.to_vec(), scalar };
                self.marked.push((pointer.to_owned(), mark));
            }
        }
    }

    /// The rules that concern several marks, and marks together with references.
    fn marks(&mut self) {
        if self.marked.len() > MOST_MARKS {
            self.problems.push(format!("expected at most {MOST_MARKS} parameters with {MARK}"));
        }
        for (index, (pointer, mark)) in self.marked.iter().enumerate() {
            let same = |(_, other): &(String, Mirrored)| other.name.eq_ignore_ascii_case(&mark.name);
            if self.marked.iter().take(index).any(same) {
                self.problems.push(format!(
                    "{}: {MARK} “{}” stands twice, in any letter case",
                    shown(pointer),
                    mark.name
                ));
            }
            let leads_to = |target: &str| *pointer == target || pointer.starts_with(&format!("{target}/"));
            if self.references.iter().any(|(_, target)| leads_to(target)) {
                self.problems.push(format!("{}: a $ref leads to a parameter with {MARK}", shown(pointer)));
            }
        }
    }

    /// Finds references that lead nowhere or in a circle, and schemas that would be too large if they were written out.
    fn unroll(&mut self, root: &Value) {
        let targets = self.references.iter().map(|(pointer, target)| (pointer.as_str(), target.as_str())).collect();
        let mut unrolled = Unrolled { root, places: &self.places, targets, sizes: BTreeMap::new(), chain: 0 };
        match unrolled.target("") {
            Ok(size) if size <= MOST_PARTS => self.parts = size,
            Ok(_) => self.problems.push(format!(
                "expected at most {MOST_PARTS} keywords and values once every $ref is replaced by what it refers to"
            )),
            Err(problem) => self.problems.push(problem),
        }
    }
}

struct Unrolled<'a> {
    root: &'a Value,
    places: &'a BTreeSet<String>,
    targets: BTreeMap<&'a str, &'a str>,
    /// What targets come to; nothing while one is being measured.
    sizes: BTreeMap<String, Option<u64>>,
    chain: usize,
}

impl Unrolled<'_> {
    fn target(&mut self, pointer: &str) -> Result<u64, String> {
        match self.sizes.get(pointer) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => {
                return Err(format!("a $ref to {} leads back to itself: recursion is not supported", shown(pointer)));
            }
            None => {}
        }
        let Some(schema) = self.root.pointer(pointer).filter(|_| self.places.contains(pointer)) else {
            return Err(format!("a $ref to {} leads to no schema", shown(pointer)));
        };
        if self.chain > LONGEST_CHAIN {
            return Err(format!("expected at most {LONGEST_CHAIN} references that lead from one to the next"));
        }
        self.sizes.insert(pointer.to_owned(), None);
        self.chain += 1;
        let size = self.schema(schema, pointer)?;
        self.chain -= 1;
        self.sizes.insert(pointer.to_owned(), Some(size));
        Ok(size)
    }

    fn schema(&mut self, schema: &Value, pointer: &str) -> Result<u64, String> {
        let Value::Object(members) = schema else { return Ok(1) };
        let mut size = 1_u64;
        if let Some(target) = self.targets.get(pointer).copied() {
            size = size.saturating_add(self.target(target)?);
        }
        for (keyword, value) in members {
            size = size.saturating_add(self.keyword(keyword, value, &below(pointer, keyword))?);
        }
        Ok(size)
    }

    fn keyword(&mut self, keyword: &str, value: &Value, inside: &str) -> Result<u64, String> {
        match value {
            // Definitions cost nothing until something refers to them.
            Value::Object(map) if matches!(keyword, "$defs" | "definitions") => Ok(map.len() as u64),
            Value::Object(map) if MAPS.contains(&keyword) => map.iter().try_fold(1, |sum: u64, (name, schema)| {
                Ok(sum.saturating_add(self.schema(schema, &below(inside, name))?))
            }),
            Value::Array(list) if LISTS.contains(&keyword) => {
                list.iter().enumerate().try_fold(1, |sum: u64, (index, schema)| {
                    Ok(sum.saturating_add(self.schema(schema, &below(inside, &index.to_string()))?))
                })
            }
            value if SINGLES.contains(&keyword) => self.schema(value, inside),
            // What values are compared with, or have to have; words about the schema are no work.
            value @ (Value::Object(_) | Value::Array(_)) => Ok(weight(value)),
            value if keyword == "const" => Ok(weight(value)),
            _ => Ok(1),
        }
    }
}

#[cfg(test)]
mod tests;
