use proptest::prelude::*;
use serde_json::json;

use super::*;

fn input(schema: &Value) -> Result<Schema, String> {
    check(&schema.to_string(), Purpose::Input).map_err(|problems| problems.join("; "))
}

fn with(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn a_schema_stays_as_it_was_sent_but_for_white_space() {
    let text =
        "{ \"type\" : \"object\",\n \"properties\": {\"b\": {\"maximum\": 1.0e2, \"title\": \"a  b\"}, \"a\": true} }";
    let schema = check(text, Purpose::Input).unwrap();
    assert_eq!(schema.text, r#"{"type":"object","properties":{"b":{"maximum":1.0e2,"title":"a  b"},"a":true}}"#);
}

#[test]
fn what_the_dialect_allows_is_taken() {
    let schema = json!({
        "$schema": DIALECT, "$id": "https://example.com/x", "type": "object",
        "$defs": {"a/b": {"$anchor": "x", "type": "object", "properties": {"$ref": {"type": "string"}}}},
        "properties": {"a": {"$ref": "#/$defs/a~1b"}, "b": {"$ref": "#/$defs/a%2Fb".replace("%2F", "~1")}},
        "allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}],
        "if": {"properties": {"a": {"const": {"$ref": "http://example.com"}}}}, "then": {"required": ["a"]}, "else": false,
        "additionalProperties": false, "default": {"x-mcp-header": 5}, "examples": [{"$ref": 7}]
    });
    assert_eq!(input(&schema).map(|schema| schema.mirrored), Ok(Vec::new()));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (schema, expected) in [
        (json!([]), "expected a JSON object"),
        (json!({}), "\"type\": \"object\" at the root"),
        (json!({"type": ["object"]}), "\"type\": \"object\" at the root"),
        (json!({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}), "expected no $schema"),
        (json!({"type": "object", "$schema": 7}), "expected no $schema"),
        (with(&json!({"a": {"$ref": "https://example.com/x"}})), "/properties/a/$ref: expected a reference inside"),
        (with(&json!({"a": {"$ref": "other.json#/x"}})), "/properties/a/$ref"),
        (with(&json!({"a": {"$ref": "#anchor"}})), "/properties/a/$ref"),
        (with(&json!({"a": {"$ref": 1}})), "/properties/a/$ref"),
        (with(&json!({"a": {"$ref": "#/$defs/none"}})), "a $ref to /$defs/none leads to no schema"),
        (with(&json!({"a": {"$id": "x"}})), "/properties/a/$id: expected $id at the root only"),
        (with(&json!({"a": {"$dynamicRef": "#x"}})), "$dynamicRef is not supported"),
        (with(&json!({"a": 1})), "/properties/a: expected a schema"),
        (with(&json!([])), "/properties: expected an object of schemas"),
        (json!({"type": "object", "allOf": {}}), "/allOf: expected a list of schemas"),
        (json!({"type": "object", "items": [{}]}), "/items: expected a schema"),
        (with(&json!({"a": {"$ref": "#"}})), "leads back to itself"),
        (json!({"type": "object", "$ref": "#"}), "leads back to itself"),
        (with(&json!({"a": {"properties": {"b": {"$ref": "#/properties/a"}}}})), "leads back to itself"),
    ] {
        let problem = input(&schema).unwrap_err();
        assert!(problem.contains(expected), "{schema}: {problem}");
    }
    for (text, expected) in [
        ("{", "expected JSON"),
        ("{} {}", "expected JSON"),
        (r#"{"type":"object","type":"object"}"#, "/type stands twice"),
        (r#"{"type":"object","allOf":[{"enum":[{"a":1,"\u0061":2}]}]}"#, "/allOf/0/enum/0/a stands twice"),
        (r#"{"type":"object","x":{"\ud800":1}}"#, "/x has a member whose name is not valid Unicode"),
    ] {
        let problem = check(text, Purpose::Input).unwrap_err().join("; ");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

#[test]
fn bombs_are_not_taken() {
    let long = with(&json!({"a": {"description": "x".repeat(LONGEST)}}));
    assert!(input(&long).unwrap_err().contains("65536 bytes"));
    let deep = format!(r#"{{"type":"object","x":{}{}}}"#, "[".repeat(DEEPEST), "]".repeat(DEEPEST));
    assert!(check(&deep, Purpose::Input).unwrap_err().join("").contains("32 levels"));
    let many: serde_json::Map<_, _> = (0..1_001).map(|n| (n.to_string(), json!({}))).collect();
    assert!(input(&with(&Value::Object(many))).unwrap_err().contains("1000 schemas"));
    // Thirty schemas that would be a thousand million.
    let mut doubling: serde_json::Map<_, _> = (1..30)
        .map(|n| {
            (
                n.to_string(),
                json!({"allOf": [{"$ref": format!("#/$defs/{}", n - 1)}, {"$ref": format!("#/$defs/{}", n - 1)}]}),
            )
        })
        .collect();
    doubling.insert("0".into(), json!({"type": "string"}));
    let bomb = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/29"}}, "$defs": doubling});
    assert!(input(&bomb).unwrap_err().contains("20000 keywords and values"));
    let patterns: serde_json::Map<_, _> = (0..33).map(|n| (format!("^{n}"), json!(true))).collect();
    let patterns = json!({"type": "object", "patternProperties": patterns});
    assert!(input(&patterns).unwrap_err().contains("at most 32 patterns inside, found 33"));
    // Two thousand values to compare with, in ten places.
    let values: Vec<_> = (0..2_000).collect();
    let places: serde_json::Map<_, _> = (0..10).map(|n| (n.to_string(), json!({"$ref": "#/$defs/a"}))).collect();
    let choices = json!({"type": "object", "$defs": {"a": {"enum": values}}, "properties": places});
    assert!(input(&choices).unwrap_err().contains("20000 keywords and values"));
    let chain: serde_json::Map<_, _> =
        (0..100).map(|n| (n.to_string(), json!({"$ref": format!("#/$defs/{}", n + 1)}))).collect();
    let chain = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": chain});
    assert!(input(&chain).unwrap_err().contains("32 references"));
}

/// What is no schema is not looked at, so it must not become one by a reference: nobody would follow what stands in there.
#[test]
fn references_lead_to_schemas_only() {
    let doubling = |keyword: &str| {
        let levels: serde_json::Map<_, _> = (0..30)
            .map(|n| {
                let next = json!({"$ref": format!("#/{keyword}/{}", n + 1)});
                (n.to_string(), json!({"allOf": [next.clone(), next]}))
            })
            .chain([("30".to_owned(), json!(true))])
            .collect();
        json!({"type": "object", "$ref": format!("#/{keyword}/0"), keyword: levels})
    };
    for keyword in ["x-levels", "default", "const", "enum"] {
        assert!(input(&doubling(keyword)).unwrap_err().contains("leads to no schema"), "{keyword}");
    }
    assert!(input(&doubling("$defs")).unwrap_err().contains("20000 keywords and values"));
}

#[test]
fn a_schema_is_as_large_as_what_a_value_may_have_to_be_held_against() {
    let parts = |schema: &Value| measure(&schema.to_string()).unwrap().parts;
    let plain = parts(&with(&json!({"a": {"type": "string"}})));
    let described = parts(&with(&json!({"a": {"type": "string", "description": "x".repeat(10_000)}})));
    assert_eq!(described, plain + 1, "words are one part, however many");
    let choice = parts(&with(&json!({"a": {"type": "string", "enum": ["one", "two", "three"]}})));
    assert_eq!(choice, plain + 4);
    let address = json!({"type": "object", "properties": {"street": {"type": "string"}, "town": {"type": "string"}}});
    let defined = json!({"type": "object", "$defs": {"address": address}});
    let once =
        json!({"type": "object", "$defs": {"address": address}, "properties": {"a": {"$ref": "#/$defs/address"}}});
    let twice = json!({
        "type": "object", "$defs": {"address": address},
        "properties": {"a": {"$ref": "#/$defs/address"}, "b": {"$ref": "#/$defs/address"}},
    });
    let (defined, once, twice) = (parts(&defined), parts(&once), parts(&twice));
    // The keyword that the second one needs no more is `properties`.
    assert!(defined < once && twice - once == once - defined - 1, "{defined} {once} {twice}");
    let repeated = json!({"type": "object", "properties": {"a": true}, "x-mcp-header": 5});
    assert!(measure(&repeated.to_string()).is_ok(), "marks are not its matter");
    assert_eq!(weight(&json!({"a": [1, "x".repeat(32)]})), 1 + 1 + 1 + 1 + 3);
}

#[test]
fn marks_are_found_where_only_properties_lead_to_them() {
    let schema = with(&json!({
        "region": {"type": "string", "x-mcp-header": "Region"},
        "page": {"type": "object", "properties": {"size": {"type": "integer", "x-mcp-header": "Page-Size"}}},
        "dry": {"type": "boolean", "x-mcp-header": "dry!"},
        "x-mcp-header": {"type": "array"},
    }));
    let mirrored = input(&schema).unwrap().mirrored;
    let found: Vec<_> = mirrored.iter().map(|mark| (mark.name.as_str(), mark.path.join("."), mark.scalar)).collect();
    for expected in [
        ("Region", "region".to_owned(), Scalar::Text),
        ("Page-Size", "page.size".to_owned(), Scalar::Integer),
        ("dry!", "dry".to_owned(), Scalar::Boolean),
    ] {
        assert!(found.contains(&expected), "{found:?}");
    }
    assert_eq!(found.len(), 3);
    assert_eq!(check(&schema.to_string(), Purpose::Output).unwrap().mirrored, Vec::new());
}

#[test]
fn every_rule_of_marks_is_kept() {
    let text = |mark: Value| json!({"type": "string", "x-mcp-header": mark});
    for (schema, expected) in [
        (with(&json!({"a": text(json!(""))})), "/properties/a: expected x-mcp-header to be a token"),
        (with(&json!({"a": text(json!("Re gion"))})), "token"),
        (with(&json!({"a": text(json!("Région"))})), "token"),
        (with(&json!({"a": text(json!("a:b"))})), "token"),
        (with(&json!({"a": text(json!("a\r\nb"))})), "token"),
        (with(&json!({"a": text(json!("x".repeat(65)))})), "token"),
        (with(&json!({"a": text(json!(5))})), "token"),
        (with(&json!({"a": text(Value::Null)})), "token"),
        (with(&json!({"a": text(json!("Region")), "b": text(json!("rEGION"))})), "stands twice, in any letter case"),
        (with(&json!({"a": {"type": "number", "x-mcp-header": "A"}})), "/properties/a: expected the type"),
        (with(&json!({"a": {"type": "array", "x-mcp-header": "A"}})), "exactly one of string"),
        (with(&json!({"a": {"type": "object", "x-mcp-header": "A"}})), "exactly one of string"),
        (with(&json!({"a": {"type": "null", "x-mcp-header": "A"}})), "exactly one of string"),
        (with(&json!({"a": {"type": ["string", "null"], "x-mcp-header": "A"}})), "exactly one of string"),
        (with(&json!({"a": {"enum": ["x"], "x-mcp-header": "A"}})), "exactly one of string"),
        (json!({"type": "object", "x-mcp-header": "A"}), "the root: expected the type"),
        (
            with(&json!({"a": {"type": "array", "items": text(json!("A"))}})),
            "/properties/a/items: x-mcp-header may stand only where",
        ),
        (json!({"type": "object", "oneOf": [with(&json!({"a": text(json!("A"))}))]}), "/oneOf/0/properties/a"),
        (json!({"type": "object", "anyOf": [with(&json!({"a": text(json!("A"))}))]}), "may stand only where"),
        (json!({"type": "object", "allOf": [with(&json!({"a": text(json!("A"))}))]}), "may stand only where"),
        (json!({"type": "object", "not": with(&json!({"a": text(json!("A"))}))}), "may stand only where"),
        (json!({"type": "object", "if": with(&json!({"a": text(json!("A"))}))}), "may stand only where"),
        (json!({"type": "object", "then": with(&json!({"a": text(json!("A"))}))}), "may stand only where"),
        (json!({"type": "object", "else": with(&json!({"a": text(json!("A"))}))}), "may stand only where"),
        (json!({"type": "object", "patternProperties": {"a": text(json!("A"))}}), "may stand only where"),
        (json!({"type": "object", "additionalProperties": text(json!("A"))}), "may stand only where"),
        (json!({"type": "object", "$defs": {"a": text(json!("A"))}}), "/$defs/a: x-mcp-header may stand only where"),
        (with(&json!({"a": text(json!("A")), "b": {"$ref": "#/properties/a"}})), "a $ref leads to a parameter"),
    ] {
        let problem = input(&schema).unwrap_err();
        assert!(problem.contains(expected), "{schema}: {problem}");
    }
    let many: serde_json::Map<_, _> = (0..17).map(|n| (n.to_string(), text(json!(format!("h{n}"))))).collect();
    assert!(input(&with(&Value::Object(many))).unwrap_err().contains("at most 16 parameters"));
}

/// Values that look like schemas.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("object")),
        Just(json!("string")),
        Just(json!("#")),
        Just(json!("#/properties/a")),
        Just(json!(true)),
        Just(json!("Region")),
        Just(Value::Null),
        Just(json!([1])),
        any::<i32>().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let keyword = prop_oneof![
            Just("type"),
            Just("properties"),
            Just("a"),
            Just("$ref"),
            Just("$defs"),
            Just("allOf"),
            Just("items"),
            Just("x-mcp-header"),
            Just("not"),
            Just("~/")
        ];
        prop_oneof![
            proptest::collection::vec((keyword, inner.clone()), 0..4).prop_map(|members| Value::Object(
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            )),
            proptest::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_is_taken_whole_or_refused_with_a_reason(mut schema in schemas(), spaces in any::<bool>()) {
        if let Value::Object(members) = &mut schema {
            members.insert("type".into(), json!("object"));
        }
        let text = if spaces { serde_json::to_string_pretty(&schema).unwrap() } else { schema.to_string() };
        match check(&text, Purpose::Input) {
            Ok(taken) => {
                prop_assert_eq!(serde_json::from_str::<Value>(&taken.text).unwrap(), schema.clone());
                for mark in taken.mirrored {
                    let pointer: String = mark.path.iter().map(|name| below("/properties", name)).collect();
                    prop_assert_eq!(&schema.pointer(&pointer).unwrap()["x-mcp-header"], &json!(mark.name));
                }
            }
            Err(problems) => prop_assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.is_empty())),
        }
    }

    #[test]
    fn no_text_breaks_it(text in r#"[\[\]{}",:\\a-z$#/0-9. -]{0,80}"#) {
        let _ = check(&text, Purpose::Input);
    }
}
