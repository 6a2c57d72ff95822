//! `Mcp-Param-*`: parameters of a tool that headers repeat (protocol.md §5.5).

use std::borrow::Cow;

use kobana_wire::extension::{Mirrored, Scalar};

use super::schema::LARGEST;
use crate::error::Error;
use crate::http::{Lines, trim};
use crate::json::{self, Members};
use crate::mirror::{allowed_text, decode, mismatch};

/// Checks that headers repeat exactly the parameters that the tool marks. Headers of other names are nobody's business.
///
/// A value of another type than the parameter's is left to the validation that follows: nothing runs with it.
///
/// # Errors
/// [`Error::HeaderMismatch`]; values are never repeated.
pub(super) fn check(lines: &dyn Lines, mirrored: &[Mirrored], arguments: &Members<'_>) -> Result<(), Error> {
    mirrored.iter().try_for_each(|mark| check_one(lines, mark, value_at(arguments, &mark.path)))
}

fn check_one(lines: &dyn Lines, mark: &Mirrored, value: Option<json::Value<'_>>) -> Result<(), Error> {
    let shown = format!("Mcp-Param-{}", mark.name);
    let found = lines.lines(&shown.to_ascii_lowercase());
    let value = match value.map(|value| Value::of(value, mark.scalar)) {
        Some(Value::Other) => return Ok(()),
        Some(Value::OutOfRange) => {
            return Err(mismatch(&format!(
                "{shown}: the integer in the body is beyond 2^53 - 1, which no header can repeat"
            )));
        }
        Some(value) => Some(value),
        None => None,
    };
    let line = match (found.as_slice(), &value) {
        ([], None) => return Ok(()),
        ([], Some(_)) => return Err(mismatch(&format!("{shown} is missing, but the body has the parameter"))),
        ([_, _, ..], _) => return Err(mismatch(&format!("{shown} stands more than once"))),
        ([line], _) => line,
    };
    let text = allowed_text(trim(line), &shown)?;
    let text = decode(text).ok_or_else(|| mismatch(&format!("{shown} is not a valid =?base64?…?= value")))?;
    match value {
        None => Err(mismatch(&format!("{shown} is there, but the body has no such parameter"))),
        Some(value) if value.says(&text) => Ok(()),
        Some(_) => Err(mismatch(&format!("{shown} differs from the parameter in the body"))),
    }
}

/// The value that a path leads to; `null` is none.
fn value_at<'a>(arguments: &Members<'a>, path: &[String]) -> Option<json::Value<'a>> {
    let (first, rest) = path.split_first()?;
    let mut value = arguments.get(first)?;
    for name in rest {
        let members = Members::of(value)?;
        value = members.get(name)?;
    }
    (!json::is_null(value)).then_some(value)
}

/// What the body says of a parameter.
enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Boolean(bool),
    /// An integer that is not the same to every reader.
    OutOfRange,
    /// It is of another type.
    Other,
}

impl<'a> Value<'a> {
    fn of(value: json::Value<'a>, scalar: Scalar) -> Self {
        match scalar {
            Scalar::Text => json::string(value).map_or(Self::Other, Self::Text),
            Scalar::Integer if json::is_number(value) => match integer(value.get()) {
                Some(integer) => Self::Integer(integer),
                None if is_whole(value.get()) => Self::OutOfRange,
                None => Self::Other,
            },
            Scalar::Integer => Self::Other,
            Scalar::Boolean => match value.get() {
                "true" => Self::Boolean(true),
                "false" => Self::Boolean(false),
                _ => Self::Other,
            },
        }
    }

    /// Whether the text of a header says the same.
    fn says(&self, text: &str) -> bool {
        match self {
            Self::Text(value) => value == text,
            Self::Integer(value) => integer(text) == Some(*value),
            Self::Boolean(value) => text == if *value { "true" } else { "false" },
            Self::OutOfRange | Self::Other => false,
        }
    }
}

/// The integer that a JSON number stands for, however it is spelt, within ±(2^53 − 1): in that range a double is exact.
fn integer(text: &str) -> Option<i64> {
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    let whole = match number.as_i64() {
        Some(whole) => whole,
        None => double(text).filter(|double| double.fract() == 0.0 && double.abs() <= LARGEST as f64)? as i64,
    };
    (-LARGEST..=LARGEST).contains(&whole).then_some(whole)
}

/// Whether a JSON number has nothing behind its point.
fn is_whole(text: &str) -> bool {
    double(text).is_some_and(|double| double.fract() == 0.0)
}

/// The double that is next to a number of JSON; `serde_json` may take one beside it.
fn double(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;
    use crate::http::Headers;

    fn mark(name: &str, path: &[&str], scalar: Scalar) -> Mirrored {
        Mirrored { name: name.to_owned(), path: path.iter().map(|step| (*step).to_owned()).collect(), scalar }
    }

    fn fits(mark: &Mirrored, lines: &[&[u8]], arguments: &str) -> bool {
        let mut headers = Headers::new();
        headers.push("mcp-param-other", b"anything");
        for line in lines {
            headers.push(format!("mcp-param-{}", mark.name.to_ascii_lowercase()), *line);
        }
        check(&headers, std::slice::from_ref(mark), &Members::read(arguments).unwrap().0).is_ok()
    }

    #[test]
    fn a_header_repeats_what_the_body_has_and_nothing_else() {
        let region = mark("Region", &["region"], Scalar::Text);
        for (lines, arguments, good) in [
            (&[&b"br"[..]][..], r#"{"region":"br"}"#, true),
            (&[b" \tbr "], r#"{"region":"br"}"#, true),
            (&[b"br"], r#"{"region":"\u0062r"}"#, true),
            (&[b""], r#"{"region":""}"#, true),
            (&[b"=?base64?w6k=?="], r#"{"region":"é"}"#, true),
            (&[b"=?BASE64?w6k=?="], r#"{"region":"=?BASE64?w6k=?="}"#, true),
            (&[], "{}", true),
            (&[], r#"{"region":null}"#, true),
            (&[], r#"{"region":"br"}"#, false),
            (&[], r#"{"region":""}"#, false),
            (&[b"BR"], r#"{"region":"br"}"#, false),
            (&[b"us"], r#"{"region":"br"}"#, false),
            (&[b"br", b"br"], r#"{"region":"br"}"#, false),
            (&[b"br", b"us"], r#"{"region":"br"}"#, false),
            (&[b"br"], "{}", false),
            (&[b""], "{}", false),
            (&[b"null"], r#"{"region":null}"#, false),
            (&[b"=?base64?w6k?="], r#"{"region":"é"}"#, false),
            (&[b"=?base64?/w==?="], r#"{"region":"é"}"#, false),
            (&[b"=?base64?w!!!?="], r#"{"region":"é"}"#, false),
            (&["é".as_bytes()], r#"{"region":"é"}"#, false),
            (&[b"a\x00"], r#"{"region":"a"}"#, false),
        ] {
            assert_eq!(fits(&region, lines, arguments), good, "{lines:?} {arguments}");
        }
    }

    #[test]
    fn integers_are_compared_as_numbers() {
        let page = mark("Page", &["page"], Scalar::Integer);
        for (line, value, good) in [
            ("42", "42", true),
            ("42.0", "42", true),
            ("42", "42.0", true),
            ("4.2e1", "42", true),
            ("-0", "0", true),
            ("9007199254740991", "9007199254740991", true),
            ("43", "42", false),
            ("042", "42", false),
            ("+42", "42", false),
            ("0x2a", "42", false),
            ("", "42", false),
            ("9007199254740993", "9007199254740992", false),
            ("9007199254740993", "9007199254740993", false),
            ("1e300", "1e300", false),
        ] {
            assert_eq!(fits(&page, &[line.as_bytes()], &format!(r#"{{"page":{value}}}"#)), good, "{line} {value}");
        }
        assert!(fits(&page, &[b"x"], r#"{"page":"42"}"#), "the type is for the validation to refuse");
        assert!(fits(&page, &[], r#"{"page":1.5}"#), "so is this one");
    }

    #[test]
    fn booleans_are_two_words_and_paths_lead_deeper() {
        let dry = mark("Dry", &["options", "dry"], Scalar::Boolean);
        for (line, arguments, good) in [
            ("true", r#"{"options":{"dry":true}}"#, true),
            ("=?base64?dHJ1ZQ==?=", r#"{"options":{"dry":true}}"#, true),
            ("false", r#"{"options":{"dry":false}}"#, true),
            ("false", r#"{"options":{"dry":true}}"#, false),
            ("True", r#"{"options":{"dry":true}}"#, false),
            ("1", r#"{"options":{"dry":true}}"#, false),
            ("true", r#"{"dry":true}"#, false),
            ("true", r#"{"options":[true]}"#, false),
        ] {
            assert_eq!(fits(&dry, &[line.as_bytes()], arguments), good, "{line} {arguments}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_repeated_encoded(text in any::<String>()) {
            let field = format!("=?base64?{}?=", STANDARD.encode(&text));
            let arguments = format!(r#"{{"a":{}}}"#, json::quoted(&text));
            prop_assert!(fits(&mark("A", &["a"], Scalar::Text), &[field.as_bytes()], &arguments));
        }

        #[test]
        fn no_two_texts_are_the_same(text in "[ -~]{0,12}", other in "[ -~]{0,12}") {
            let said = decode(text.trim_matches([' ', '\t'])).map(Cow::into_owned);
            let arguments = format!(r#"{{"a":{}}}"#, json::quoted(&other));
            prop_assert_eq!(fits(&mark("A", &["a"], Scalar::Text), &[text.as_bytes()], &arguments), said == Some(other));
        }

        #[test]
        fn an_integer_is_the_same_however_it_is_spelt(number in -LARGEST..=LARGEST, other in -LARGEST..=LARGEST) {
            let page = mark("A", &["a"], Scalar::Integer);
            let arguments = format!(r#"{{"a":{number}}}"#);
            for spelt in [number.to_string(), format!("{number}.0"), format!("{number}.00e0")] {
                prop_assert!(fits(&page, &[spelt.as_bytes()], &arguments));
            }
            prop_assert_eq!(fits(&page, &[other.to_string().as_bytes()], &arguments), number == other);
        }

        #[test]
        fn no_line_breaks_it(line in proptest::collection::vec(any::<u8>(), 0..32), value in r#"("[a-z]{0,3}"|-?[0-9]{1,20}(\.[0-9])?|true|null|\{\}|\[\])"#) {
            for scalar in [Scalar::Text, Scalar::Integer, Scalar::Boolean] {
                // A leading zero is no JSON.
                let arguments = format!(r#"{{"a":{value}}}"#);
                if Members::read(&arguments).is_some() {
                    let _ = fits(&mark("A", &["a"], scalar), &[&line], &arguments);
                }
            }
        }
    }
}
