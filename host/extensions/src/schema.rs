//! JSON Schemas of tenants: compiled, and never trusted to be quick.
//!
//! How large a schema may be, and that it stands alone, is the protocol's rule (`kobana_protocol::extensions::measure`). Here it is
//! made into a validator whose patterns run in an engine that does not backtrack. Checking a value costs at most the schema's
//! parts for every part of the value, and a value that is too large for its schema is refused when it comes.

use jsonschema::{PatternOptions, Validator};
use kobana_api::Problems;
use kobana_protocol::extensions::{Measured, measure, weight};
use serde_json::Value;

/// The most steps that checking one value may take: the parts of the schema times the weight of the value.
const MOST_STEPS: u64 = 20_000_000;
/// How many steps take no time worth speaking of.
const FEW_STEPS: u64 = 100_000;
/// The longest compiled pattern, in bytes.
const LONGEST_PATTERN: usize = 256 << 10;

/// A schema that a tenant wrote, compiled.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
    measured: Measured,
}

impl Schema {
    /// Compiles a schema. What is refused is told in words for its author.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let measured = measure(text).map_err(|problems| problems.join("; "))?;
        let patterns = PatternOptions::regex().size_limit(LONGEST_PATTERN).dfa_size_limit(LONGEST_PATTERN);
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .build(&measured.root)
            .map_err(|problem| format!("it is no JSON Schema (2020-12): {}", clip(&problem.to_string())))?;
        Ok(Self { validator, measured })
    }

    /// The schema as it was written.
    pub(crate) const fn text(&self) -> &Value {
        &self.measured.root
    }

    /// The most steps that checking a value of this weight takes.
    const fn steps(&self, weight: u64) -> u64 {
        self.measured.parts.saturating_mul(weight)
    }

    /// Whether checking a text of this length takes no time worth speaking of.
    pub(crate) fn is_light(&self, length: usize) -> bool {
        // No part of a value is shorter than one character.
        self.steps(length as u64) <= FEW_STEPS
    }

    /// Notes everything that is wrong with a value, which is called `whole` where no part of it can be named.
    pub(crate) fn check(&self, value: &Value, whole: &str, problems: &mut Problems) {
        if self.steps(weight(value)) > MOST_STEPS {
            problems.form(format!("{whole}: too much to be checked against the schema"));
            return;
        }
        for error in self.validator.iter_errors(value) {
            problems.violation(&error, whole);
        }
    }

    /// Whether a value matches; not, where it is too large to be checked.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        self.steps(weight(value)) <= MOST_STEPS && self.validator.is_valid(value)
    }
}

/// The beginning of a message that may hold what somebody wrote.
fn clip(text: &str) -> String {
    const LONGEST: usize = 200;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let clipped: String = text.chars().take(LONGEST).map(clean).collect();
    if clipped.len() < text.len() { format!("{clipped}…") } else { clipped }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

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
    fn what_the_protocol_or_the_engine_refuses_is_not_compiled() {
        let circle = refused(&json!({ "type": "object", "properties": { "a": { "$ref": "#" } } }));
        assert!(circle.contains("leads back to itself"), "{circle}");
        let with = |property: Value| refused(&json!({ "type": "object", "properties": { "a": property } }));
        for wrong in [
            json!({ "type": "string", "pattern": "(?=a)b" }),
            json!({ "type": "string", "pattern": "(a{1000}){1000}" }),
            json!({ "type": "nonsense" }),
        ] {
            assert!(with(wrong.clone()).contains("no JSON Schema"), "{wrong}");
        }
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
        let choices: Vec<_> = (0..900).map(|number| json!({ "const": number })).collect();
        let schema = json!({ "type": "object", "properties": { "a": { "items": { "anyOf": choices } } } });
        let value = json!({ "a": vec!["x"; 100_000] });
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
        fn whatever_is_accepted_can_check_whatever_comes(mut schema in anything(), value in anything()) {
            if let Value::Object(keywords) = &mut schema {
                keywords.insert("type".to_owned(), json!("object"));
            }
            if let Ok(schema) = Schema::compile(&schema.to_string()) {
                let mut problems = Problems::default();
                schema.check(&value, "the arguments", &mut problems);
                prop_assert_eq!(problems.is_empty(), schema.holds(&value));
            }
        }
    }
}
