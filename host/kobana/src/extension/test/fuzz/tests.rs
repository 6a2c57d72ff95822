use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::extension::test::cases::Suite;

fn words() -> Words {
    Words(vec!["00000000-0000-7000-8000-000000000001".into(), "acme-invoices".into()])
}

/// Schemas as tools have them, one for each thing that a generator has to know.
fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false}),
        json!({"type": "object", "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "step": {"type": "integer", "multipleOf": 7, "minimum": -50},
            "cents": {"type": "number", "multipleOf": 0.5, "maximum": 99},
            "flag": {"type": "boolean"},
            "nothing": {"type": "null"},
        }, "required": ["limit", "share"]}),
        json!({"type": "object", "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"},
            "word": {"type": "string", "pattern": "bol(eto|sa)"},
            "name": {"type": "string", "minLength": 3, "maxLength": 8},
            "long": {"type": "string", "minLength": 300},
            "status": {"enum": ["failed", "received", 3, null]},
            "kind": {"const": "boleto"},
            "at": {"type": "string", "format": "date-time"},
        }, "required": ["code", "word", "name", "long", "status", "kind", "at"]}),
        json!({"type": "object", "properties": {
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 1, "maxItems": 4},
            "ids": {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": true},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false, "minItems": 2},
            "has": {"type": "array", "contains": {"const": "x"}},
        }, "required": ["tags", "ids", "pair", "has"]}),
        json!({"type": "object", "$defs": {"node": {"type": "object", "properties": {
            "value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"},
        }, "required": ["value"]}}, "properties": {"list": {"$ref": "#/$defs/node"}}, "required": ["list"]}),
        json!({"type": "object", "properties": {"either": {"oneOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false},
        ]}, "maybe": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]}, "many": {"type": ["integer", "boolean"]}},
            "required": ["either", "maybe", "many"]}),
        json!({"type": "object", "allOf": [
            {"properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]},
            {"properties": {"n": {"maximum": 5}, "m": {"type": "string"}}, "required": ["m"]},
        ]}),
        json!({"type": "object", "patternProperties": {"^x_[a-z]{2}$": {"type": "integer"}}, "additionalProperties": false,
            "minProperties": 1, "maxProperties": 3}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "dependentRequired": {"a": ["b"]}, "additionalProperties": {"type": "boolean"}}),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_is_made_is_allowed_and_what_is_nearly_allowed_is_not(seed in any::<u64>()) {
        for raw in schemas() {
            // A validator of the test's own: what is asked must not be what answers.
            let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&raw).unwrap();
            let schema = Schema::new(raw.clone()).unwrap();
            let valid = schema.valid(seed, &words());
            prop_assert!(valid.is_some(), "nothing was made for {raw}");
            let valid = valid.unwrap();
            prop_assert!(validator.is_valid(&valid), "{valid} for {raw}");
            prop_assert_eq!(schema.valid(seed, &words()), Some(valid), "the same seed makes the same");
            if let Some(near) = schema.nearly_valid(seed, &words()) {
                prop_assert!(!validator.is_valid(&near), "{near} for {raw}");
                prop_assert!(near.is_object());
            }
        }
    }
}

#[test]
fn the_ends_of_a_range_come_up_and_so_do_names_of_things() {
    let made = |schema: Value| -> Vec<Value> {
        let schema = Schema::new(json!({"type": "object", "properties": {"id": schema}, "required": ["id"]})).unwrap();
        (0..400).filter_map(|seed| Some(schema.valid(seed, &words())?["id"].clone())).collect()
    };
    let numbers = made(json!({"type": "integer", "minimum": 1, "maximum": 100}));
    assert!(numbers.contains(&json!(1)) && numbers.contains(&json!(100)));
    let any = made(json!({"type": "integer"}));
    assert!(any.contains(&json!(i64::MAX)) && any.contains(&json!(i64::MIN)));
    let texts = made(json!({"type": "string", "maxLength": 12}));
    assert!(texts.iter().any(|text| text == ""));
    assert!(texts.iter().any(|text| text.as_str().unwrap().chars().count() == 12));
    assert!(texts.iter().any(|text| text.as_str().unwrap().contains('\0')));
    assert!(made(json!({"type": "string"})).contains(&json!("acme-invoices")));
    let optional = Schema::new(json!({"type": "object", "properties": {"a": {}, "b": {}}})).unwrap();
    let sets: std::collections::HashSet<_> = (0..100)
        .filter_map(|seed| optional.valid(seed, &words()))
        .map(|value| (value.get("a").is_some(), value.get("b").is_some()))
        .collect();
    assert_eq!(sets.len(), 4, "with and without each of them");
}

#[test]
fn a_schema_that_allows_nothing_or_everything_ends_the_guessing() {
    let nothing = Schema::new(json!({"type": "object", "minProperties": 1, "additionalProperties": false})).unwrap();
    assert_eq!(nothing.valid(1, &words()), None);
    let everything = Schema::new(json!({})).unwrap();
    assert_eq!(everything.nearly_valid(1, &words()), None);
    assert!(Schema::new(json!({"type": "nonsense"})).is_err());
}

#[test]
fn smaller_arguments_are_smaller() {
    let Value::Object(arguments) = json!({"a": [1, {"b": "text"}], "c": -40}) else { unreachable!() };
    let size = Value::Object(arguments.clone()).to_string().len();
    let all = shrink::candidates(&arguments);
    assert!(all.iter().all(|smaller| Value::Object(smaller.clone()).to_string().len() <= size));
    assert!(!all.contains(&arguments));
    for expected in [json!({"c": -40}), json!({"a": [1], "c": -40}), json!({"a": [1, {"b": "te"}], "c": -40})] {
        assert!(all.iter().any(|smaller| Value::Object(smaller.clone()) == expected), "{expected}");
    }
}

fn fault(arguments: Value) -> Fault {
    let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
    Fault {
        kind: "stopped: trap".into(),
        detail: "The extension broke.".into(),
        times: 1,
        arguments,
        answers: Vec::new(),
        log: Vec::new(),
        alone: true,
    }
}

proptest! {
    /// Whatever the arguments, the case that is printed reads back as they were.
    #[test]
    fn a_fault_is_a_case_that_can_be_pasted(
        texts in prop::collection::btree_map("\\PC{1,6}", prop_oneof!["\\PC*", "[\u{0}-\u{a0}\u{2028}\u{feff}]{0,8}"], 1..4),
        number in any::<i64>(), seed in any::<u64>(),
    ) {
        let mut arguments = json!(texts);
        arguments["number"] = json!(number);
        arguments["odd"] = json!(strings::odd(&mut rand::SeedableRng::seed_from_u64(seed)));
        let case = fault(arguments.clone()).case("pay: \"now\"");
        let file = format!("cases:\n{}", case.lines().map(|line| format!("  {line}\n")).collect::<String>());
        let suite = Suite::parse("cases.yaml", &file).map_err(|error| TestCaseError::fail(format!("{error}\n{file}")))?;
        prop_assert_eq!(Value::Object(suite.cases[0].target.arguments.clone()), arguments, "{}", file);
        prop_assert_eq!(suite.cases[0].target.name.as_str(), "pay: \"now\"");
        prop_assert_eq!(&suite.cases[0].expect.outcome, &Expected::Answered);
    }
}
