//! Whether a JSON value is what a case expects: the members that matter and no others.
//!
//! A plain value stands for itself, an object for any object that has these members, an array for one of the same length. An object
//! whose members begin with `$` holds conditions, each of which has to be met.

use regex::Regex;
use serde::de::{self, Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// What a value has to be.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    /// This value; numbers are compared as numbers.
    Exactly(Value),
    /// An object with these members, among others.
    Members(Vec<(String, Matcher)>),
    /// An array of these elements.
    Elements(Vec<Matcher>),
    /// Whatever meets all of these.
    Conditions(Vec<Condition>),
}

/// A condition of a value.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// `$any: true`: there is a value; `$any: false`: there is none.
    Any(bool),
    /// `$equals`: exactly this value, with no member more.
    Equals(Value),
    /// `$regex`: a text in which this is found.
    Regex(Regex),
    /// `$gt`, `$gte`, `$lt`, `$lte`: a number beyond this one.
    Beyond(Bound, f64),
    /// `$length`: an array, a text (in characters) or an object of this length.
    Length(Box<Matcher>),
    /// `$contains`: an array with such an element, or a text with this part.
    Contains(Box<Matcher>),
    /// `$not`: anything that is not this.
    Not(Box<Matcher>),
}

/// On which side of a number another one has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Gt,
    Gte,
    Lt,
    Lte,
}

impl Bound {
    const fn name(self) -> &'static str {
        match self {
            Self::Gt => "$gt",
            Self::Gte => "$gte",
            Self::Lt => "$lt",
            Self::Lte => "$lte",
        }
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Gt => value > bound,
            Self::Gte => value >= bound,
            Self::Lt => value < bound,
            Self::Lte => value <= bound,
        }
    }
}

/// A part of a value that is not what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// Where it is, such as `.reasons[0].code`; empty for the whole value.
    pub(super) path: String,
    /// What was expected there.
    pub(super) expected: String,
    /// What is there.
    pub(super) actual: String,
}

impl TryFrom<Value> for Matcher {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(members) if members.keys().any(|name| name.starts_with('$')) => {
                members.into_iter().map(condition).collect::<Result<_, _>>().map(Self::Conditions)
            }
            Value::Object(members) => {
                let read = |(name, value)| Ok((name, Self::try_from(value)?));
                members.into_iter().map(read).collect::<Result<_, String>>().map(Self::Members)
            }
            Value::Array(elements) => {
                elements.into_iter().map(Self::try_from).collect::<Result<_, _>>().map(Self::Elements)
            }
            plain => Ok(Self::Exactly(plain)),
        }
    }
}

fn condition((name, value): (String, Value)) -> Result<Condition, String> {
    let bound = |bound: Bound, value: &Value| {
        let number = value.as_f64().ok_or_else(|| format!("{}: expected a number", bound.name()))?;
        Ok(Condition::Beyond(bound, number))
    };
    match (name.as_str(), value) {
        ("$any", Value::Bool(any)) => Ok(Condition::Any(any)),
        ("$any", _) => Err("$any: expected true or false".to_owned()),
        ("$regex", Value::String(pattern)) => regex(&pattern).map(Condition::Regex),
        ("$regex", _) => Err("$regex: expected a regular expression as text".to_owned()),
        ("$equals", value) => Ok(Condition::Equals(value)),
        ("$gt", value) => bound(Bound::Gt, &value),
        ("$gte", value) => bound(Bound::Gte, &value),
        ("$lt", value) => bound(Bound::Lt, &value),
        ("$lte", value) => bound(Bound::Lte, &value),
        ("$length", value) => Ok(Condition::Length(Box::new(value.try_into()?))),
        ("$contains", value) => Ok(Condition::Contains(Box::new(value.try_into()?))),
        ("$not", value) => Ok(Condition::Not(Box::new(value.try_into()?))),
        (name, _) => Err(format!(
            "{name}: expected $any, $equals, $regex, $gt, $gte, $lt, $lte, $length, $contains or $not; \
             a member whose own name begins with $ can be matched with $equals"
        )),
    }
}

/// Compiles a regular expression, or says what is wrong with it in one line.
pub(super) fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        let text = error.to_string();
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it is not one");
        format!("expected a regular expression, but {pattern:?} is none: {}", last.trim().trim_start_matches("error: "))
    })
}

impl<'de> Deserialize<'de> for Matcher {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Matcher {
    /// What is wrong with a value, if anything is; `None` stands for a value that is not there.
    pub(super) fn check(&self, value: Option<&Value>) -> Vec<Mismatch> {
        let mut found = Vec::new();
        self.walk(value, "", &mut found);
        found
    }

    fn fits(&self, value: Option<&Value>) -> bool {
        self.check(value).is_empty()
    }

    fn walk(&self, value: Option<&Value>, path: &str, found: &mut Vec<Mismatch>) {
        match (self, value) {
            (Self::Exactly(expected), Some(value)) if same(expected, value) => {}
            (Self::Exactly(expected), _) => found.push(mismatch(path, expected.to_string(), value)),
            (Self::Members(members), Some(Value::Object(object))) => {
                for (name, matcher) in members {
                    matcher.walk(object.get(name), &member(path, name), found);
                }
            }
            (Self::Members(_), _) => found.push(mismatch(path, self.to_string(), value)),
            (Self::Elements(elements), Some(Value::Array(array))) if elements.len() == array.len() => {
                for (index, (matcher, value)) in elements.iter().zip(array).enumerate() {
                    matcher.walk(Some(value), &format!("{path}[{index}]"), found);
                }
            }
            (Self::Elements(elements), Some(Value::Array(array))) => {
                let expected = format!("{} elements: {self}", elements.len());
                let actual = format!("{} elements: {}", array.len(), clipped(&Value::from(array.clone()).to_string()));
                found.push(Mismatch { path: path.to_owned(), expected, actual });
            }
            (Self::Elements(_), _) => found.push(mismatch(path, self.to_string(), value)),
            (Self::Conditions(conditions), _) => {
                let unmet = conditions.iter().filter(|condition| !condition.holds(value));
                found.extend(unmet.map(|condition| mismatch(path, condition.to_string(), value)));
            }
        }
    }
}

impl Condition {
    fn holds(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Self::Any(any), value) => value.is_some() == *any,
            (Self::Not(matcher), value) => !matcher.fits(value),
            (_, None) => false,
            (Self::Equals(expected), Some(value)) => same(expected, value),
            (Self::Regex(regex), Some(value)) => value.as_str().is_some_and(|text| regex.is_match(text)),
            (Self::Beyond(bound, limit), Some(value)) => value.as_f64().is_some_and(|value| bound.holds(value, *limit)),
            (Self::Length(matcher), Some(value)) => length(value).is_some_and(|length| matcher.fits(Some(&length))),
            (Self::Contains(matcher), Some(Value::Array(array))) => array.iter().any(|value| matcher.fits(Some(value))),
            (Self::Contains(matcher), Some(Value::String(text))) => match &**matcher {
                Matcher::Exactly(Value::String(part)) => text.contains(part.as_str()),
                _ => false,
            },
            (Self::Contains(_), Some(_)) => false,
        }
    }
}

fn length(value: &Value) -> Option<Value> {
    match value {
        Value::Array(array) => Some(array.len()),
        Value::Object(object) => Some(object.len()),
        Value::String(text) => Some(text.chars().count()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
    .map(Value::from)
}

/// Whether two values are the same; 1 and 1.0 are.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => same_members(left, right),
        _ => left == right,
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
}

fn same_members(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    left.len() == right.len()
        && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
}

fn mismatch(path: &str, expected: String, value: Option<&Value>) -> Mismatch {
    let actual = value.map_or_else(|| "nothing".to_owned(), |value| clipped(&value.to_string()));
    Mismatch { path: path.to_owned(), expected, actual }
}

fn member(path: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { format!("{path}.{name}") } else { format!("{path}[{}]", Value::from(name)) }
}

/// A text that is no longer than somebody wants to read.
pub(super) fn clipped(text: &str) -> String {
    /// Characters of a value that a report shows.
    const LONGEST: usize = 400;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => {
            let (shown, rest) = text.split_at_checked(end).unwrap_or((text, ""));
            format!("{shown}… ({} bytes more)", rest.len())
        }
        None => text.to_owned(),
    }
}

impl std::fmt::Display for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(value) => write!(f, "{value}"),
            Self::Members(members) => {
                f.write_str("{")?;
                for (index, (name, matcher)) in members.iter().enumerate() {
                    write!(f, "{}{}: {matcher}", if index == 0 { "" } else { ", " }, Value::from(name.as_str()))?;
                }
                f.write_str("}")
            }
            Self::Elements(elements) => {
                f.write_str("[")?;
                for (index, matcher) in elements.iter().enumerate() {
                    write!(f, "{}{matcher}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Conditions(conditions) => {
                for (index, condition) in conditions.iter().enumerate() {
                    write!(f, "{}{condition}", if index == 0 { "" } else { " and " })?;
                }
                Ok(())
            }
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any(true) => f.write_str("something"),
            Self::Any(false) => f.write_str("nothing"),
            Self::Equals(value) => write!(f, "exactly {value}"),
            Self::Regex(regex) => write!(f, "text that matches /{regex}/"),
            Self::Beyond(Bound::Gt, limit) => write!(f, "a number > {limit}"),
            Self::Beyond(Bound::Gte, limit) => write!(f, "a number ≥ {limit}"),
            Self::Beyond(Bound::Lt, limit) => write!(f, "a number < {limit}"),
            Self::Beyond(Bound::Lte, limit) => write!(f, "a number ≤ {limit}"),
            Self::Length(matcher) => write!(f, "something of the length {matcher}"),
            Self::Contains(matcher) => write!(f, "something that contains {matcher}"),
            Self::Not(matcher) => write!(f, "anything but {matcher}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn mismatches(matcher: Value, value: Value) -> Vec<(String, String, String)> {
        let found = Matcher::try_from(matcher).unwrap().check(Some(&value));
        found.into_iter().map(|Mismatch { path, expected, actual }| (path, expected, actual)).collect()
    }

    #[track_caller]
    fn fits(matcher: Value, value: Value) {
        assert_eq!(mismatches(matcher, value), []);
    }

    #[track_caller]
    fn differs(matcher: Value, value: Value, path: &str, expected: &str, actual: &str) {
        assert_eq!(mismatches(matcher, value), [(path.to_owned(), expected.to_owned(), actual.to_owned())]);
    }

    #[test]
    fn an_object_may_have_more_members_and_an_array_no_more_elements() {
        fits(json!({"a": 1}), json!({"a": 1, "b": 2}));
        fits(json!({"a": {"b": [1, {"c": null}]}}), json!({"a": {"b": [1, {"c": null, "d": 1}], "x": 1}}));
        differs(json!({"a": {"b": [1, 2]}}), json!({"a": {"b": [1, 3]}}), ".a.b[1]", "2", "3");
        differs(json!([1]), json!([1, 2]), "", "1 elements: [1]", "2 elements: [1,2]");
        differs(json!({"a b": 1}), json!({}), "[\"a b\"]", "1", "nothing");
        differs(json!({"a": 1}), json!("a"), "", "{\"a\": 1}", "\"a\"");
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        fits(json!(1), json!(1.0));
        fits(json!({"$equals": [1.0]}), json!([1]));
        differs(json!(1), json!("1"), "", "1", "\"1\"");
        // Beyond what a double holds, whole numbers are still told apart.
        differs(
            json!(9_007_199_254_740_993_i64),
            json!(9_007_199_254_740_992_i64),
            "",
            "9007199254740993",
            "9007199254740992",
        );
    }

    #[test]
    fn conditions_have_to_be_met_all() {
        fits(json!({"$gte": 1, "$lt": 2}), json!(1.5));
        differs(json!({"$gte": 1, "$lt": 2}), json!(2), "", "a number < 2", "2");
        differs(json!({"s": {"$gt": 1}}), json!({"s": "2"}), ".s", "a number > 1", "\"2\"");
        fits(json!({"$regex": "^b.l"}), json!("boleto-bol"));
        differs(json!({"$regex": "^x"}), json!("y"), "", "text that matches /^x/", "\"y\"");
        fits(json!({"a": {"$any": true}, "b": {"$any": false}}), json!({"a": null}));
        differs(json!({"a": {"$any": false}}), json!({"a": null}), ".a", "nothing", "null");
        fits(json!({"$length": 2, "$contains": {"code": "x"}}), json!([{"code": "x", "n": 1}, 2]));
        fits(json!({"$length": {"$gte": 3}}), json!("ção"));
        fits(json!({"$contains": "oleto"}), json!("boleto"));
        differs(json!({"$contains": "x"}), json!(["y"]), "", "something that contains \"x\"", "[\"y\"]");
        differs(json!({"$equals": {"a": 1}}), json!({"a": 1, "b": 2}), "", "exactly {\"a\":1}", "{\"a\":1,\"b\":2}");
        fits(json!({"$not": {"a": 1}}), json!({"a": 2}));
        differs(json!({"$not": 1}), json!(1), "", "anything but 1", "1");
    }

    #[test]
    fn what_is_no_condition_is_refused_by_name() {
        for (matcher, problem) in [
            (json!({"$gt": "1"}), "$gt: expected a number"),
            (json!({"$any": 1}), "$any: expected true or false"),
            (json!({"$regex": "("}), "expected a regular expression"),
            (json!({"a": [{"$eq": 1}]}), "$eq: expected $any"),
            (json!({"$gt": 1, "other": 2}), "other: expected $any"),
        ] {
            let refused = Matcher::try_from(matcher).unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }

    #[test]
    fn long_values_are_clipped_between_characters() {
        let clipped = clipped(&"ç".repeat(500));
        assert!(clipped.ends_with("ç… (200 bytes more)"), "{clipped}");
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-zç ]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_fits_itself_and_what_differs_exactly_does_not_fit(left in anything(), right in anything()) {
            prop_assert!(Matcher::try_from(left.clone()).unwrap().fits(Some(&left)));
            let exactly = Matcher::try_from(json!({"$equals": left.clone()})).unwrap();
            prop_assert_eq!(exactly.fits(Some(&right)), left == right);
        }

        #[test]
        fn more_members_never_hurt(object in anything(), name in "[A-Z]{4}", value in anything()) {
            let Value::Object(members) = &object else { return Ok(()) };
            let mut more = members.clone();
            more.insert(name, value);
            prop_assert!(Matcher::try_from(object.clone()).unwrap().fits(Some(&Value::Object(more))));
        }
    }
}
