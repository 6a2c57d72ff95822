//! Values that a JSON Schema allows: ordinary ones, and those at the very edge of what it allows.
//!
//! The generator reads the keywords that schemas of tools are written with and guesses at the rest; whoever uses it asks the
//! validator whether the guess was right. See [`Schema::valid`].

use jsonschema::{PatternOptions, Validator};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, IteratorRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Map, Number, Value};

use super::merge::merged;
use super::strings::{self, Words};

/// Guesses before a schema counts as too hard.
const GUESSES: u32 = 64;
/// How deep optional parts go; what refers to itself has to end somewhere.
const DEEPEST: u32 = 6;
/// Elements or members where the schema sets no end.
const MANY: usize = 5;

/// A schema, compiled.
pub(crate) struct Schema {
    raw: Value,
    validator: Validator,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn new(raw: Value) -> Result<Self, String> {
        // As the server compiles it, which decides what gets as far as the tool.
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        let validator = options.with_pattern_options(PatternOptions::regex()).build(&raw);
        Ok(Self { validator: validator.map_err(|error| error.to_string())?, raw })
    }

    /// Whether a value is allowed.
    pub(crate) fn allows(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// A value that is allowed; none where no guess was right. The same seed gives the same value.
    pub(crate) fn valid(&self, seed: u64, words: &Words) -> Option<Value> {
        let mut generator = Generator { root: &self.raw, words, rng: StdRng::seed_from_u64(seed) };
        let mut guesses = (0..GUESSES).map(|_| generator.value(&self.raw, "", 0));
        guesses.find(|guess| self.allows(guess))
    }

    /// A value that is nearly allowed; none where everything near is.
    pub(crate) fn nearly_valid(&self, seed: u64, words: &Words) -> Option<Value> {
        let valid = self.valid(seed, words)?;
        let mut rng = StdRng::seed_from_u64(seed.rotate_left(32));
        let mut guesses = (0..GUESSES).map(|_| super::mutate::mutated(&valid, &mut rng));
        // The protocol takes only objects for arguments, so that another value never gets as far.
        guesses.find(|guess| guess.is_object() && !self.allows(guess))
    }
}

struct Generator<'a> {
    root: &'a Value,
    words: &'a Words,
    rng: StdRng,
}

impl Generator<'_> {
    /// A guess at a value of a schema; `name` is the member that it is for, and often says what it means.
    fn value(&mut self, schema: &Value, name: &str, depth: u32) -> Value {
        let Some(object) = schema.as_object() else { return self.anything(depth) };
        if depth > DEEPEST.saturating_mul(3) {
            return Value::Null;
        }
        let schema = self.resolved(object);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(value) =
            schema.get("enum").and_then(Value::as_array).and_then(|values| values.choose(&mut self.rng))
        {
            return value.clone();
        }
        match self.kind(&schema) {
            "object" => self.object(&schema, depth),
            "array" => self.array(&schema, name, depth),
            "string" => Value::from(strings::string(&mut self.rng, &schema, name, self.words)),
            "integer" => self.integer(&schema),
            "number" => self.number(&schema),
            "boolean" => Value::from(self.rng.random::<bool>()),
            "null" => Value::Null,
            _ => self.anything(depth),
        }
    }

    /// The schema with its references followed, and one of its alternatives chosen.
    fn resolved(&mut self, schema: &Map<String, Value>) -> Map<String, Value> {
        let mut schema = schema.clone();
        // An end for what refers to itself.
        for _ in 0..DEEPEST.saturating_mul(4) {
            let next = if let Some(reference) = schema.remove("$ref") {
                reference.as_str().and_then(|text| self.root.pointer(text.strip_prefix('#')?)).cloned()
            } else if let Some(Value::Array(parts)) = schema.remove("allOf") {
                parts.into_iter().reduce(|left, right| match (left, right) {
                    (Value::Object(left), Value::Object(right)) => Value::Object(merged(left, right)),
                    (left, Value::Bool(true)) => left,
                    (_, right) => right,
                })
            } else if let Some(Value::Array(parts)) = schema.remove("anyOf").or_else(|| schema.remove("oneOf")) {
                parts.choose(&mut self.rng).cloned()
            } else {
                return schema;
            };
            if let Some(Value::Object(next)) = next {
                schema = merged(schema, next);
            }
        }
        schema
    }

    /// One of the types that a schema allows; what its keywords are about, if it does not say.
    fn kind(&mut self, schema: &Map<String, Value>) -> &'static str {
        const KINDS: &[&str] = &["object", "array", "string", "integer", "number", "boolean", "null"];
        const TELLING: &[(&str, &str)] = &[
            ("properties", "object"),
            ("required", "object"),
            ("items", "array"),
            ("prefixItems", "array"),
            ("minItems", "array"),
            ("pattern", "string"),
            ("format", "string"),
            ("minLength", "string"),
            ("maxLength", "string"),
            ("minimum", "number"),
            ("maximum", "number"),
            ("multipleOf", "number"),
        ];
        let known = |name: &str| KINDS.iter().find(|kind| **kind == name).copied();
        match schema.get("type") {
            Some(Value::String(name)) => known(name).unwrap_or_default(),
            Some(Value::Array(names)) => {
                names.iter().filter_map(|name| known(name.as_str()?)).choose(&mut self.rng).unwrap_or_default()
            }
            _ => TELLING.iter().find(|(keyword, _)| schema.contains_key(*keyword)).map_or("", |(_, kind)| kind),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: u32) -> Value {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = schema.get("required").map(texts).unwrap_or_default();
        let most = number(schema, "maxProperties").unwrap_or(usize::MAX);
        let mut members = Map::new();
        // All of them, none of them, or some.
        let share = *[0.0, 0.5, 0.5, 0.8, 1.0].choose(&mut self.rng).unwrap_or(&0.5);
        for (name, property) in properties {
            let needed = required.contains(&name.as_str());
            let wanted = depth < DEEPEST && members.len() < most && self.rng.random_bool(share);
            if (needed || wanted) && property != &Value::Bool(false) {
                members.insert(name.clone(), self.value(property, name, depth.saturating_add(1)));
            }
        }
        for name in required {
            if !members.contains_key(name) {
                let any = self.additional(schema, name, depth);
                members.insert(name.to_owned(), any);
            }
        }
        self.dependent(schema, properties, &mut members, depth);
        let least = number(schema, "minProperties").unwrap_or(0);
        let open = schema.get("additionalProperties") != Some(&Value::Bool(false));
        let more = if open && depth < DEEPEST && members.len() < most && self.rng.random_bool(0.15) { 1 } else { 0 };
        for _ in 0..least.saturating_sub(members.len()).max(more) {
            let name = self.name(schema);
            let value = self.additional(schema, &name, depth);
            members.entry(name).or_insert(value);
        }
        Value::Object(members)
    }

    /// Adds what members that are there ask for.
    fn dependent(
        &mut self,
        schema: &Map<String, Value>,
        properties: &Map<String, Value>,
        members: &mut Map<String, Value>,
        depth: u32,
    ) {
        let Some(Value::Object(dependent)) = schema.get("dependentRequired") else { return };
        for (_, names) in dependent.iter().filter(|(name, _)| members.contains_key(*name)).collect::<Vec<_>>() {
            for name in texts(names) {
                if !members.contains_key(name) {
                    let property = properties.get(name).unwrap_or(&Value::Bool(true));
                    let value = self.value(property, name, depth.saturating_add(1));
                    members.insert(name.to_owned(), value);
                }
            }
        }
    }

    /// A name for a member that the schema does not list.
    fn name(&mut self, schema: &Map<String, Value>) -> String {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let pattern = patterns.and_then(|patterns| patterns.keys().choose(&mut self.rng));
        match pattern.and_then(|pattern| strings::matching(&mut self.rng, pattern)) {
            Some(name) => name,
            None => strings::odd(&mut self.rng).chars().take(40).collect(),
        }
    }

    /// A value for a member that the schema does not list.
    fn additional(&mut self, schema: &Map<String, Value>, name: &str, depth: u32) -> Value {
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let found = |pattern: &str| regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(name));
        let fitting = patterns.filter(|(pattern, _)| found(pattern)).map(|(_, schema)| schema).next();
        let schema = fitting.or_else(|| schema.get("additionalProperties")).unwrap_or(&Value::Bool(true));
        self.value(schema, name, depth.saturating_add(1))
    }

    fn array(&mut self, schema: &Map<String, Value>, name: &str, depth: u32) -> Value {
        let least = number(schema, "minItems").unwrap_or(0);
        let most = number(schema, "maxItems").unwrap_or_else(|| least.saturating_add(MANY));
        let length = if depth >= DEEPEST { least } else { self.between(least, most.min(least.saturating_add(200))) };
        let prefix = schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").unwrap_or(&Value::Bool(true));
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut elements: Vec<Value> = Vec::new();
        let length = if rest == &Value::Bool(false) { length.min(prefix.len()) } else { length };
        for index in 0..length {
            let item = prefix.get(index).unwrap_or(rest);
            let mut element = self.value(item, name, depth.saturating_add(1));
            for _ in 0..8 {
                if unique && elements.contains(&element) {
                    element = self.value(item, name, depth.saturating_add(1));
                }
            }
            if !unique || !elements.contains(&element) {
                elements.push(element);
            }
        }
        if let Some(contained) = schema.get("contains") {
            let element = self.value(contained, name, depth.saturating_add(1));
            match elements.get_mut(prefix.len()..).and_then(|rest| rest.choose_mut_with(&mut self.rng)) {
                Some(place) => *place = element,
                None => elements.push(element),
            }
        }
        Value::Array(elements)
    }

    /// A whole number from the least to the most, at one of the ends more often than not.
    fn between(&mut self, least: usize, most: usize) -> usize {
        match self.rng.random_range(0..4) {
            0 => least,
            1 => most.max(least),
            _ => self.rng.random_range(least..=most.max(least)),
        }
    }

    fn integer(&mut self, schema: &Map<String, Value>) -> Value {
        /// Beyond this a number is not the same in every language.
        const SAFE: i64 = 9_007_199_254_740_991;
        let (low, high) =
            (whole(schema, "minimum", "exclusiveMinimum", 1), whole(schema, "maximum", "exclusiveMaximum", -1));
        let (least, most) = (low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX));
        if least > most {
            return Value::from(least);
        }
        let near = [least, most, 0, 1, -1, 2, 100, i64::from(i32::MAX), i64::from(i32::MIN), SAFE, -SAFE];
        let near = near.iter().copied().filter(|number| (least..=most).contains(number)).choose(&mut self.rng);
        let mut number = match near {
            Some(number) if self.rng.random_bool(0.6) => number,
            _ => self.rng.random_range(least.max(-10_000).min(most)..=most.min(10_000).max(least)),
        };
        if let Some(step) = schema.get("multipleOf").and_then(Value::as_i64).filter(|step| *step > 0) {
            number = number.saturating_sub(number.checked_rem_euclid(step).unwrap_or_default());
            if number < least {
                number = number.saturating_add(step);
            }
        }
        Value::from(number)
    }

    fn number(&mut self, schema: &Map<String, Value>) -> Value {
        if self.rng.random_bool(0.3) {
            return self.integer(schema);
        }
        let bound = |name: &str, strict: &str, step: f64| {
            let closed = schema.get(name).and_then(Value::as_f64);
            let open =
                schema.get(strict).and_then(Value::as_f64).map(|bound| bound + step * bound.abs().max(1.0) * 1e-9);
            match (closed, open) {
                (Some(closed), Some(open)) if step > 0.0 => Some(closed.max(open)),
                (Some(closed), Some(open)) => Some(closed.min(open)),
                (closed, open) => closed.or(open),
            }
        };
        let (low, high) = (bound("minimum", "exclusiveMinimum", 1.0), bound("maximum", "exclusiveMaximum", -1.0));
        let (least, most) = (low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX));
        if least > most {
            return Value::from(least);
        }
        let near = [least, most, 0.0, -0.0, 0.1, -0.5, 1e-300, 1e15, 1e300, 3.999_999_999];
        let near = near.iter().copied().filter(|number| (least..=most).contains(number)).choose(&mut self.rng);
        let mut number = match near {
            Some(number) if self.rng.random_bool(0.6) => number,
            _ => {
                let (low, high) = (low.unwrap_or(-1e6).min(most), high.unwrap_or(1e6).max(least));
                low + (high - low) * self.rng.random::<f64>()
            }
        };
        if let Some(step) = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0) {
            number = (number.clamp(-1e9, 1e9) / step).floor() * step;
        }
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }

    /// Whatever there is.
    fn anything(&mut self, depth: u32) -> Value {
        let kinds = if depth < DEEPEST { 7 } else { 5 };
        match self.rng.random_range(0..kinds) {
            0 => Value::Null,
            1 => Value::from(self.rng.random::<bool>()),
            2 => self.integer(&Map::new()),
            3 => self.number(&Map::new()),
            4 => Value::from(strings::odd(&mut self.rng)),
            5 => (0..self.rng.random_range(0..4)).map(|_| self.anything(DEEPEST)).collect(),
            _ => Value::Object(Map::from_iter([("key".to_owned(), self.anything(DEEPEST))])),
        }
    }
}

/// Picks an element that can be changed.
trait ChooseMut<T> {
    fn choose_mut_with(&mut self, rng: &mut StdRng) -> Option<&mut T>;
}

impl<T> ChooseMut<T> for [T] {
    fn choose_mut_with(&mut self, rng: &mut StdRng) -> Option<&mut T> {
        let length = self.len();
        if length == 0 { None } else { self.get_mut(rng.random_range(0..length)) }
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A length or a count; a fractional one counts as none.
fn number(schema: &Map<String, Value>, keyword: &str) -> Option<usize> {
    usize::try_from(schema.get(keyword)?.as_u64()?).ok()
}

/// The bound of a whole number, whether the schema gives it with or without the number itself.
#[allow(clippy::cast_possible_truncation, reason = "a float is cut to the range of an integer, which is what is meant")]
fn whole(schema: &Map<String, Value>, closed: &str, open: &str, step: i64) -> Option<i64> {
    let rounded = |number: f64| if step > 0 { number.ceil() as i64 } else { number.floor() as i64 };
    let read = |value: &Value| value.as_i64().or_else(|| value.as_f64().map(rounded));
    let closed = schema.get(closed).and_then(read);
    let open = schema.get(open).and_then(|value| {
        // Behind 1.5 comes 2 already, behind 1 only 2.
        let exact = value.as_i64().or_else(|| value.as_f64().filter(|number| number.fract() == 0.0).map(rounded));
        exact.map_or_else(|| read(value), |number| number.checked_add(step))
    });
    match (closed, open) {
        (Some(closed), Some(open)) if step > 0 => Some(closed.max(open)),
        (Some(closed), Some(open)) => Some(closed.min(open)),
        (closed, open) => closed.or(open),
    }
}
