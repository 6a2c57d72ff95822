//! Small changes that often make a good value a bad one.

use rand::RngExt as _;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, IteratorRandom as _};
use serde_json::{Map, Value, json};

/// The value with one thing changed, somewhere in it.
pub(super) fn mutated(value: &Value, rng: &mut StdRng) -> Value {
    let mut value = value.clone();
    let places = count(&value);
    let mut place = rng.random_range(0..places);
    if let Some(found) = descend(&mut value, &mut place) {
        change(found, rng);
    }
    value
}

/// How many values there are in a value, itself included.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(elements) => elements.iter().map(count).sum::<usize>().saturating_add(1),
        Value::Object(members) => members.values().map(count).sum::<usize>().saturating_add(1),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// The value at a place, counted in the order in which [`count`] counts.
fn descend<'a>(value: &'a mut Value, place: &mut usize) -> Option<&'a mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place = place.saturating_sub(1);
    match value {
        Value::Array(elements) => elements.iter_mut().find_map(|element| descend(element, place)),
        Value::Object(members) => members.values_mut().find_map(|member| descend(member, place)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn change(value: &mut Value, rng: &mut StdRng) {
    match value {
        Value::Object(members) if rng.random_bool(0.9) => object(members, rng),
        Value::Array(elements) if rng.random_bool(0.5) => array(elements, rng),
        Value::String(text) if rng.random_bool(0.5) => string(text, rng),
        Value::Number(_) if rng.random_bool(0.5) => *value = number(value, rng),
        _ => *value = other(rng),
    }
}

fn object(members: &mut Map<String, Value>, rng: &mut StdRng) {
    let name = members.keys().choose(rng).cloned();
    match (rng.random_range(0..3), name) {
        (0, Some(name)) => drop(members.remove(&name)),
        // A name that is nearly right.
        (1, Some(name)) => {
            if let Some(value) = members.remove(&name) {
                members.insert(format!("{name} "), value);
            }
        }
        _ => drop(members.insert("unheard_of".to_owned(), other(rng))),
    }
}

fn array(elements: &mut Vec<Value>, rng: &mut StdRng) {
    match rng.random_range(0..3) {
        0 => elements.clear(),
        1 => elements.extend(elements.clone().into_iter().cycle().take(1_000)),
        _ => elements.push(other(rng)),
    }
}

fn string(text: &mut String, rng: &mut StdRng) {
    match rng.random_range(0..5) {
        0 => text.clear(),
        1 => drop(text.pop()),
        2 => text.push('\u{0}'),
        3 => *text = text.to_uppercase(),
        _ => text.push_str(&"x".repeat(5_000)),
    }
}

fn number(value: &Value, rng: &mut StdRng) -> Value {
    let number = value.as_f64().unwrap_or_default();
    let near = [number + 1.0, number - 1.0, number + 0.5, -number, number * 1e6, 1e308, -1e308];
    json!(near.choose(rng).copied().unwrap_or_default())
}

fn other(rng: &mut StdRng) -> Value {
    let others =
        [json!(null), json!(true), json!(-1), json!(0.5), json!("x"), json!([]), json!({}), json!([[]]), json!("1")];
    others.choose(rng).cloned().unwrap_or_default()
}
