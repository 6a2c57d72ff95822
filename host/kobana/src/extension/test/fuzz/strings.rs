//! Texts: what a schema asks for, names of things that exist, and those that programs stumble over.

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, IteratorRandom as _};
use rand::{RngExt as _, distr::Distribution as _};
use serde_json::{Map, Value};

/// Names of things in the workspace, so that a tool that looks something up gets further than "not found".
#[derive(Debug, Clone, Default)]
pub(crate) struct Words(pub(crate) Vec<String>);

/// Texts that programs stumble over.
const ODD: &[&str] = &[
    "",
    " ",
    "0",
    "-1",
    "1e999",
    "NaN",
    "null",
    "undefined",
    "true",
    "{}",
    "[]",
    "\"",
    "'; --",
    "\\",
    "%00",
    "%2e%2e%2f",
    "../../etc/passwd",
    "a/b?c=d&e#f",
    "a\nb",
    "\r\n\r\n",
    "\t",
    "\u{0}",
    "\u{7f}",
    "\u{feff}",
    "\u{202e}abc",
    "\u{200b}",
    "\u{fffd}",
    "\u{10ffff}",
    "e\u{301}",
    "ação nº 48.477 – R$ 1.234,56",
    "İstanbul ß ſ",
    "🦀🧾👩🏽‍💻",
    "你好，世界",
    "مرحبا",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "${env}",
    "%s%n",
    "(a+)+$",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
];

/// A text that programs stumble over; now and then a long one.
pub(super) fn odd(rng: &mut StdRng) -> String {
    match rng.random_range(0..20) {
        0 => "a".repeat(rng.random_range(1_000..20_000)),
        1 => "ç".repeat(rng.random_range(100..2_000)),
        2..=5 => ordinary(rng),
        _ => ODD.choose(rng).copied().unwrap_or_default().to_owned(),
    }
}

/// A few letters.
fn ordinary(rng: &mut StdRng) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789 -_";
    let length = rng.random_range(1..24);
    (0..length).filter_map(|_| LETTERS.choose(rng).map(|letter| char::from(*letter))).collect()
}

/// A text of a schema.
pub(super) fn string(rng: &mut StdRng, schema: &Map<String, Value>, name: &str, words: &Words) -> String {
    let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (least, most) = (length("minLength").unwrap_or(0), length("maxLength").unwrap_or(usize::MAX));
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let format = schema.get("format").and_then(Value::as_str);
    let names_something = name == "id" || name.ends_with("_id") || name.ends_with("Id") || format == Some("uuid");
    if let Some(word) = words.0.choose(rng).filter(|_| names_something && rng.random_bool(0.6)) {
        return word.clone();
    }
    let shown = schema.get("examples").and_then(Value::as_array).into_iter().flatten().chain(schema.get("default"));
    let shown = shown.filter_map(Value::as_str).choose(rng).map(str::to_owned);
    if let Some(text) = shown.filter(|_| rng.random_bool(0.2)) {
        return text;
    }
    let text =
        match (pattern.and_then(|pattern| matching(rng, pattern)), format.and_then(|format| formatted(rng, format))) {
            (Some(text), _) => return text,
            (None, Some(text)) => return text,
            (None, None) => odd(rng),
        };
    sized(rng, text, least, most)
}

/// The text, made longer or cut so that its length is allowed; at one of the ends now and then.
fn sized(rng: &mut StdRng, mut text: String, least: usize, most: usize) -> String {
    /// Characters of a text that the schema lets be as long as it likes, or as good as.
    const LONGEST: usize = 100_000;
    let most = most.min(least.max(LONGEST));
    let length = text.chars().count();
    let wanted = match rng.random_range(0..10) {
        0 => least,
        1 if most < LONGEST => most,
        _ => length.clamp(least, most.max(least)),
    };
    if wanted < length {
        return text.chars().take(wanted).collect();
    }
    let filling = *['a', '0', ' ', 'é', '🦀'].choose(rng).unwrap_or(&'a');
    text.extend(std::iter::repeat_n(filling, wanted.saturating_sub(length)));
    text
}

/// A text that a pattern finds; none where that is too hard to guess.
pub(super) fn matching(rng: &mut StdRng, pattern: &str) -> Option<String> {
    /// How often `*` and `+` repeat at most.
    const REPEATS: u32 = 12;
    // Anchors at the ends are what the generator does anyway.
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = inner.strip_suffix('$').filter(|rest| !rest.ends_with('\\')).unwrap_or(inner);
    // An alternative takes its anchor along: `^a|b$` is left as it is, and refused below.
    let inner = if inner.contains('|') && !inner.starts_with('(') { pattern } else { inner };
    let regex = rand_regex::Regex::compile(&narrow(inner), REPEATS).ok()?;
    Some(regex.sample(rng))
}

/// The pattern with classes such as `\d` as ECMA-262, which JSON Schema follows, means them: of ASCII only.
fn narrow(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('d')) => out.push_str("[0-9]"),
            ('\\', Some('w')) => out.push_str("[A-Za-z0-9_]"),
            ('\\', Some('s')) => out.push_str("[ ]"),
            ('\\', Some('/')) => out.push('/'),
            ('\\', Some(escaped)) => out.extend(['\\', escaped]),
            (c, _) => out.push(c),
        }
    }
    out
}

/// A text of a format (JSON Schema 2020-12, validation, section 7.3); none where the format is not known.
fn formatted(rng: &mut StdRng, format: &str) -> Option<String> {
    let choices: &[&str] = match format {
        "date-time" => &[
            "2026-07-14T13:10:00Z",
            "1970-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999Z",
            "2024-02-29T12:00:00+05:30",
            "0001-01-01T00:00:00-12:00",
        ],
        "date" => &["2026-07-14", "1970-01-01", "2024-02-29", "9999-12-31", "0001-01-01"],
        "time" => &["00:00:00Z", "23:59:59Z", "12:00:00.5+01:00"],
        "duration" => &["PT0S", "P1D", "P3Y6M4DT12H30M5S", "P1W"],
        "email" | "idn-email" => &["ana.souza@acme.example", "a@b.example", "o'brien+tag@xn--bcher-kva.example"],
        "hostname" | "idn-hostname" => &["supplier.example", "a", "xn--bcher-kva.example"],
        "ipv4" => &["127.0.0.1", "0.0.0.0", "255.255.255.255"],
        "ipv6" => &["::", "::1", "2001:db8::8a2e:370:7334"],
        "uri" | "iri" => &["https://supplier.example/a?b=c#d", "urn:example:a", "http://[::1]:8080/"],
        "uri-reference" | "iri-reference" => &["", "/a", "../b", "https://supplier.example/"],
        "uuid" => &[
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "00000000-0000-7000-8000-00000000dead",
        ],
        "json-pointer" => &["", "/a/0", "/~0~1"],
        "regex" => &["", "^a+$", "(a|b)*c"],
        _ => return None,
    };
    choices.choose(rng).map(|text| (*text).to_owned())
}
