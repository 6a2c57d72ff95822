//! Two schemas that both have to hold, as one; roughly, since whoever uses it checks what comes out.

use serde_json::{Map, Value};

/// A schema that allows about what both allow.
pub(super) fn merged(mut left: Map<String, Value>, right: Map<String, Value>) -> Map<String, Value> {
    for (keyword, value) in right {
        let there = left.remove(&keyword);
        let both = match there {
            Some(there) => both(&keyword, there, value),
            None => value,
        };
        left.insert(keyword, both);
    }
    left
}

fn both(keyword: &str, left: Value, right: Value) -> Value {
    match (keyword, left, right) {
        ("properties" | "patternProperties", Value::Object(left), Value::Object(right)) => {
            Value::Object(properties(left, right))
        }
        ("required", Value::Array(left), Value::Array(right)) => {
            let more: Vec<_> = right.into_iter().filter(|name| !left.contains(name)).collect();
            left.into_iter().chain(more).collect()
        }
        ("enum", Value::Array(left), Value::Array(right)) => {
            left.into_iter().filter(|value| right.contains(value)).collect()
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", left, right) => {
            if left.as_f64() > right.as_f64() { left } else { right }
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", left, right) => {
            if left.as_f64() < right.as_f64() { left } else { right }
        }
        ("type", left, right) => types(left, right),
        // Both are still to be resolved.
        ("allOf", Value::Array(left), Value::Array(right)) => left.into_iter().chain(right).collect(),
        ("additionalProperties", Value::Bool(false), _) => Value::Bool(false),
        (_, _, right) => right,
    }
}

fn properties(mut left: Map<String, Value>, right: Map<String, Value>) -> Map<String, Value> {
    for (name, schema) in right {
        let both = match (left.remove(&name), schema) {
            (Some(Value::Object(there)), Value::Object(schema)) => Value::Object(merged(there, schema)),
            (Some(there), Value::Bool(true)) => there,
            (_, schema) => schema,
        };
        left.insert(name, both);
    }
    left
}

fn types(left: Value, right: Value) -> Value {
    let list = |value: Value| match value {
        Value::Array(names) => names,
        name => vec![name],
    };
    let (left, right) = (list(left), list(right));
    let common = left.iter().filter(|name| right.contains(name)).cloned().collect::<Vec<_>>();
    // Every integer is a number.
    let integer = |names: &[Value]| names.contains(&Value::from("integer"));
    if common.is_empty() && (integer(&left) || integer(&right)) {
        return Value::from("integer");
    }
    Value::Array(common)
}
