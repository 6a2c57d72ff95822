//! JSON Schemas of tenants: compiled, bounded, and never trusted to be quick.
//!
//! Checking a value costs at most the schema's size, once its references are followed, for every part of the value. A schema that
//! would be checked for ever (it refers to itself), or that a few references blow up, is refused when it is installed; its
//! patterns run in an engine that does not backtrack; and a value that is too large for its schema is refused when it comes.

use std::collections::HashMap;

use jsonschema::{PatternOptions, Validator};
use kobana_api::Problems;
use serde_json::{Map, Value};

/// The largest schema, in keywords and values, once its references are followed.
const LARGEST: u64 = 20_000;
/// How many references may lead to each other.
const DEEPEST: usize = 32;
/// The most steps that checking one value may take: the size of the schema times that of the value.
const MOST_STEPS: u64 = 20_000_000;
/// How many steps take no time worth speaking of.
const FEW_STEPS: u64 = 100_000;
/// The longest compiled pattern, in bytes.
const LONGEST_PATTERN: usize = 256 << 10;
/// The most patterns in a schema: each takes some time to compile.
const MOST_PATTERNS: u64 = 32;

/// Keywords whose members are schemas, by names of the author's choice.
const FAMILIES: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that hold data.
const DATA: &[&str] = &["enum", "const", "default", "examples"];

/// A schema that a tenant wrote, compiled.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
    size: u64,
    text: Value,
}

impl Schema {
    /// Compiles a schema. What is refused is told in words for its author.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let text: Value = serde_json::from_str(text).map_err(|problem| format!("it is not JSON: {problem}"))?;
        let size = Measure::of(&text)?;
        let patterns = PatternOptions::regex().size_limit(LONGEST_PATTERN).dfa_size_limit(LONGEST_PATTERN);
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .build(&text)
            .map_err(|problem| format!("it is no JSON Schema (2020-12): {}", clip(&problem.to_string())))?;
        Ok(Self { validator, size, text })
    }

    /// The schema as it was written.
    pub(crate) const fn text(&self) -> &Value {
        &self.text
    }

    /// Whether checking a text of this length takes no time worth speaking of.
    pub(crate) fn is_light(&self, length: usize) -> bool {
        // No part of a value is shorter than one character.
        self.size.saturating_mul(length as u64) <= FEW_STEPS
    }

    /// Notes everything that is wrong with a value, which is called `whole` where no part of it can be named.
    pub(crate) fn check(&self, value: &Value, whole: &str, problems: &mut Problems) {
        if self.size.saturating_mul(weight(value)) > MOST_STEPS {
            problems.form(format!("{whole}: too much to be checked against the schema"));
            return;
        }
        for error in self.validator.iter_errors(value) {
            problems.violation(&error, whole);
        }
    }

    /// Whether a value matches; not, where it is too large to be checked.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        self.size.saturating_mul(weight(value)) <= MOST_STEPS && self.validator.is_valid(value)
    }
}

/// How large a value is: its parts, and its text in pieces of a few characters.
fn weight(value: &Value) -> u64 {
    let text = |text: &str| 1 + text.len() as u64 / 16;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(string) => text(string),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<u64>(),
        Value::Object(members) => 1 + members.iter().map(|(name, value)| text(name) + weight(value)).sum::<u64>(),
    }
}

/// The beginning of a message that may hold what somebody wrote.
fn clip(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let clipped: String = text.chars().take(LONGEST).map(clean).collect();
    if clipped.len() < text.len() { format!("{clipped}…") } else { clipped }
}

/// Measures a schema with its references followed.
struct Measure<'a> {
    root: &'a Value,
    /// Sizes of what references lead to; none while it is being measured.
    known: HashMap<&'a str, Option<u64>>,
    depth: usize,
    patterns: u64,
}

impl<'a> Measure<'a> {
    fn of(root: &'a Value) -> Result<u64, String> {
        let mut measure = Measure { root, known: HashMap::new(), depth: 0, patterns: 0 };
        let size = measure.schema(root)?;
        if measure.patterns > MOST_PATTERNS {
            return Err(format!("it has {} patterns, and {MOST_PATTERNS} are allowed", measure.patterns));
        }
        if size > LARGEST {
            Err(format!("it is too large: {size} parts, of which {LARGEST} are allowed"))
        } else {
            Ok(size)
        }
    }

    fn schema(&mut self, schema: &'a Value) -> Result<u64, String> {
        let Value::Object(keywords) = schema else { return Ok(1) };
        if !std::ptr::eq(schema, self.root) && keywords.get("$id").is_some_and(Value::is_string) {
            return Err("$id: expected none below the root".to_owned());
        }
        let mut size = 1_u64;
        for (keyword, value) in keywords {
            size = size.saturating_add(self.keyword(keyword, value)?);
        }
        Ok(size)
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value) -> Result<u64, String> {
        match (keyword, value) {
            ("pattern", _) => {
                self.patterns += 1;
                Ok(1)
            }
            ("$ref", Value::String(target)) => self.reference(target),
            ("$dynamicRef" | "$recursiveRef", _) => Err(format!("{keyword}: expected $ref instead")),
            (_, Value::Object(members)) if FAMILIES.contains(&keyword) => self.family(keyword, members),
            _ if DATA.contains(&keyword) => Ok(weight(value)),
            (_, Value::Array(items)) => {
                items.iter().try_fold(1, |sum: u64, item| Ok(sum.saturating_add(self.schema(item)?)))
            }
            (_, Value::Object(_)) => self.schema(value),
            _ => Ok(1),
        }
    }

    fn family(&mut self, keyword: &str, members: &'a Map<String, Value>) -> Result<u64, String> {
        let mut size = 1_u64;
        if keyword == "patternProperties" {
            self.patterns += members.len() as u64;
        }
        for member in members.values() {
            let member = self.schema(member)?;
            // What is only defined costs nothing until something refers to it.
            size = size.saturating_add(if matches!(keyword, "$defs" | "definitions") { 1 } else { member });
        }
        Ok(size)
    }

    fn reference(&mut self, target: &'a str) -> Result<u64, String> {
        match self.known.get(target) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => return Err("$ref: the schema refers to itself".to_owned()),
            None => {}
        }
        let pointer = target.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let found = pointer.and_then(|pointer| self.root.pointer(pointer));
        let found = found.ok_or("$ref: expected a pointer to a part of the same schema, such as #/$defs/name")?;
        if self.depth >= DEEPEST {
            return Err(format!("$ref: expected at most {DEEPEST} references that lead to each other"));
        }
        self.known.insert(target, None);
        self.depth += 1;
        let size = self.schema(found)?;
        self.depth -= 1;
        self.known.insert(target, Some(size));
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn refused(schema: &Value) -> String {
        Schema::compile(&schema.to_string()).unwrap_err()
    }

    fn problems(schema: &Value, value: &Value) -> Value {
        let mut problems = Problems::default();
        Schema::compile(&schema.to_string()).unwrap().check(value, "the arguments", &mut problems);
        serde_json::to_value(problems).unwrap()
    }

    #[test]
    fn arguments_are_told_what_is_wrong_and_hear_no_value() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["id"],
            "properties": {
                "id": { "type": "string", "pattern": "^[0-9]+$" },
                "limit": { "type": "integer", "maximum": 5 },
                "to": { "type": "array", "items": { "type": "object", "required": ["name"] } },
            },
        });
        assert_eq!(problems(&schema, &json!({ "id": "1", "limit": 5 })), json!({ "field_errors": {} }));
        let wrong = json!({ "limit": 6, "to": [{ "name": 1 }, {}], "colour": "geheim" });
        let wrong = problems(&schema, &wrong);
        assert_eq!(wrong["field_errors"]["id"], json!(["is required"]));
        assert_eq!(wrong["field_errors"]["limit"], json!(["expected 5 or less"]));
        assert_eq!(wrong["field_errors"]["to"], json!(["item 2: name is required"]));
        assert_eq!(wrong["field_errors"]["colour"], json!(["is not accepted here"]));
        assert!(!wrong.to_string().contains("geheim"));
        assert_eq!(problems(&schema, &json!([]))["form_errors"], json!(["the arguments: expected an object"]));
    }

    #[test]
    fn what_would_be_checked_for_ever_is_refused() {
        let itself = "refers to itself";
        assert!(refused(&json!({ "$ref": "#" })).contains(itself));
        assert!(refused(&json!({ "type": "object", "properties": { "a": { "$ref": "#" } } })).contains(itself));
        let two = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "not": { "$ref": "#/$defs/a" } } } });
        assert!(refused(&two).contains(itself));
    }

    #[test]
    fn references_that_blow_a_schema_up_are_refused() {
        let mut defs = Map::new();
        for level in 0..24 {
            let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
            defs.insert(format!("l{level}"), json!({ "anyOf": [next.clone(), next] }));
        }
        defs.insert("l24".to_owned(), json!({ "type": "string" }));
        let bomb = json!({ "$ref": "#/$defs/l0", "$defs": defs });
        assert!(refused(&bomb).contains("too large"), "{}", refused(&bomb));

        let mut defs = Map::new();
        for level in 0..1_000 {
            defs.insert(format!("l{level}"), json!({ "$ref": format!("#/$defs/l{}", level + 1) }));
        }
        defs.insert("l1000".to_owned(), json!(true));
        assert!(refused(&json!({ "$ref": "#/$defs/l0", "$defs": defs })).contains("at most 32"));
    }

    #[test]
    fn references_elsewhere_and_other_engines_are_refused() {
        for elsewhere in
            ["https://example.com/schema", "other.json#/a", "#anchor", "file:///etc/passwd", "#/$defs/none"]
        {
            assert!(refused(&json!({ "$ref": elsewhere })).contains("$ref: expected a pointer"), "{elsewhere}");
        }
        assert!(refused(&json!({ "$dynamicRef": "#a" })).contains("expected $ref instead"));
        assert!(refused(&json!({ "properties": { "a": { "$id": "https://example.com/a" } } })).contains("$id"));
        assert!(refused(&json!({ "type": "string", "pattern": "(?=a)b" })).contains("no JSON Schema"));
        assert!(refused(&json!({ "type": "string", "pattern": "(a{1000}){1000}" })).contains("no JSON Schema"));
        assert!(refused(&json!({ "type": "nonsense" })).contains("no JSON Schema"));
        let many: Map<_, _> = (0..33).map(|number| (format!("^{number}"), json!(true))).collect();
        assert!(refused(&json!({ "patternProperties": many })).contains("33 patterns"));
    }

    #[test]
    fn a_pattern_that_others_backtrack_on_is_quick() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(a+)+$" } } });
        let wrong = problems(&schema, &json!({ "a": format!("{}!", "a".repeat(100_000)) }));
        assert_eq!(wrong["field_errors"]["a"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn names_of_keywords_may_be_names_of_properties() {
        let schema = json!({
            "type": "object",
            "properties": { "enum": { "type": "string" }, "$ref": { "type": "string" }, "$id": { "type": "integer" }, "$defs": { "type": "null" } },
            "$defs": { "a/b": { "const": { "$ref": "#/nowhere" } } },
            "allOf": [{ "properties": { "x": { "$ref": "#/$defs/a~1b" } } }],
        });
        assert_eq!(problems(&schema, &json!({ "enum": 1 }))["field_errors"]["enum"], json!(["expected a string"]));
    }

    #[test]
    fn what_is_too_large_for_its_schema_is_not_checked() {
        let choices: Vec<_> = (0..2_000).map(|number| json!({ "const": number })).collect();
        let schema = json!({ "type": "array", "items": { "anyOf": choices } });
        let value = Value::from(vec![json!("x"); 100_000]);
        assert_eq!(
            problems(&schema, &value)["form_errors"],
            json!(["the arguments: too much to be checked against the schema"])
        );
        assert!(!Schema::compile(&schema.to_string()).unwrap().holds(&value));
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            Just(json!("#/$defs/a")),
            Just(json!("object")),
            Just(json!("#")),
        ];
        let name = prop_oneof![
            Just("$ref"),
            Just("$defs"),
            Just("a"),
            Just("properties"),
            Just("anyOf"),
            Just("items"),
            Just("type"),
            Just("enum"),
            Just("not"),
            Just("pattern"),
            Just("$id")
        ];
        leaf.prop_recursive(6, 64, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..6).prop_map(|members| members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_can_check_whatever_comes(schema in anything(), value in anything()) {
            if let Ok(schema) = Schema::compile(&schema.to_string()) {
                let mut problems = Problems::default();
                schema.check(&value, "the arguments", &mut problems);
                prop_assert_eq!(problems.is_empty(), schema.holds(&value));
            }
        }
    }
}
