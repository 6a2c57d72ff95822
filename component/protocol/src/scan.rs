//! JSON in one pass (RFC 8259): what is valid is cut into texts, and nothing of it is copied or turned into numbers.
//!
//! There is no limit of its own: a document that is nested too deep is first found to be valid, since what is wrong with it depends on
//! that. The stack grows by a byte for each open bracket and is not the program's.

use crate::quote::{self, BLOCK};

/// Where in a document a pass has come to.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Brackets that are open around what is passed over.
    around: usize,
    /// The most brackets that were open at once.
    deepest: usize,
}

/// A string as it stands between its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    /// The text with its quotes.
    pub text: &'a str,
    /// What stands between them.
    pub inner: &'a str,
    /// Whether there are escapes in it, so that it does not stand for itself.
    pub escaped: bool,
}

impl<'a> Scanner<'a> {
    /// At the beginning of a document.
    #[must_use]
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, around: 0, deepest: 0 }
    }

    /// How many arrays and objects are within each other where they are most.
    #[must_use]
    pub(crate) const fn depth(&self) -> usize {
        self.deepest
    }

    /// Whether nothing but white space is left.
    #[must_use]
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.blank();
        self.at == self.text.len()
    }

    /// Passes over the members of an object and hands out each name and value. `None` where it is no object, no valid one, or one that
    /// the taker refuses.
    #[must_use]
    pub(crate) fn members(&mut self, mut take: impl FnMut(Quoted<'a>, &'a str) -> Option<()>) -> Option<()> {
        self.blank();
        self.eat(b'{')?;
        self.open(1);
        self.around += 1;
        self.blank();
        if self.eat(b'}').is_none() {
            loop {
                let name = self.name()?;
                let value = self.value()?;
                take(name, value)?;
                self.blank();
                if self.eat(b',').is_none() {
                    self.eat(b'}')?;
                    break;
                }
                self.blank();
            }
        }
        self.around -= 1;
        Some(())
    }

    /// Passes over a value, whatever it is, and gives its text.
    #[must_use]
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        self.blank();
        let start = self.at;
        let mut open = Vec::new();
        loop {
            if let Some(close) = self.begin(open.len())? {
                open.push(close);
                continue;
            }
            // A value has ended, and with it perhaps what is around it.
            loop {
                let Some(close) = open.last() else { return self.text.get(start..self.at) };
                self.blank();
                if self.eat(b',').is_some() {
                    self.blank();
                    if *close == b'}' {
                        self.name()?;
                    }
                    break;
                }
                self.eat(*close)?;
                open.pop();
            }
        }
    }

    /// Passes over the beginning of a value. Gives what closes it, if its first element or the value of its first member is next, and
    /// nothing if it is over.
    fn begin(&mut self, open: usize) -> Option<Option<u8>> {
        let close = match self.peek()? {
            b'"' => return self.string().map(|_| None),
            b'{' => b'}',
            b'[' => b']',
            b't' => return self.word("true"),
            b'f' => return self.word("false"),
            b'n' => return self.word("null"),
            _ => return self.number(),
        };
        self.at += 1;
        self.open(open + 1);
        self.blank();
        if self.eat(close).is_some() {
            return Some(None);
        }
        if close == b'}' {
            self.name()?;
        }
        Some(Some(close))
    }

    fn open(&mut self, brackets: usize) {
        self.deepest = self.deepest.max(self.around + brackets);
    }

    /// Passes over the name of a member, the colon, and the white space behind it.
    fn name(&mut self) -> Option<Quoted<'a>> {
        let name = self.string()?;
        self.blank();
        self.eat(b':')?;
        self.blank();
        Some(name)
    }

    fn string(&mut self) -> Option<Quoted<'a>> {
        let start = self.at;
        self.eat(b'"')?;
        let mut escaped = false;
        loop {
            self.at += plain(self.text.as_bytes().get(self.at..)?);
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                // Control characters have to be escaped.
                _ => return None,
            }
        }
        let inner = self.text.get(start + 1..self.at)?;
        self.at += 1;
        Some(Quoted { text: self.text.get(start..self.at)?, inner, escaped })
    }

    /// Passes over an escape. Which character it stands for, if any, is for those to find out who want to know.
    fn escape(&mut self) -> Option<()> {
        let length = match self.text.as_bytes().get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.text.as_bytes().get(self.at + 2..self.at + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
            }
            _ => return None,
        };
        self.at += length;
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<Option<u8>> {
        let found = self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(None)
    }

    fn number(&mut self) -> Option<Option<u8>> {
        let _ = self.eat(b'-');
        // A zero in front of other digits is none.
        if self.eat(b'0').is_none() {
            self.digits()?;
        }
        if self.eat(b'.').is_some() {
            self.digits()?;
        }
        if self.eat(b'e').or_else(|| self.eat(b'E')).is_some() {
            let _ = self.eat(b'+').or_else(|| self.eat(b'-'));
            self.digits()?;
        }
        Some(None)
    }

    /// Passes over one digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Some(())
        } else {
            None
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// How many bytes stand for themselves in a string before its end, an escape, or what may not stand there.
fn plain(bytes: &[u8]) -> usize {
    let (start, mut rest) = bytes.split_at_checked(BLOCK).unwrap_or((bytes, &[]));
    let first = plain_words(start);
    // Most strings are short.
    if first < start.len() {
        return first;
    }
    while let Some((block, after)) = rest.split_first_chunk()
        && quote::is_plain(block)
    {
        rest = after;
    }
    bytes.len() - rest.len() + plain_words(rest)
}

/// The same, by words and then by bytes.
fn plain_words(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk() {
        let plain = quote::plain(u64::from_le_bytes(*word));
        if plain < quote::WORD {
            return bytes.len() - rest.len() + plain;
        }
        rest = after;
    }
    let end = rest.iter().position(|byte| quote::is_special(*byte)).unwrap_or(rest.len());
    bytes.len() - rest.len() + end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// The text of the one value of a document.
    fn whole(text: &str) -> Option<&str> {
        let mut scanner = Scanner::new(text);
        let value = scanner.value()?;
        scanner.is_at_end().then_some(value)
    }

    /// The same by the reader that everybody uses.
    fn theirs(text: &str) -> Option<&str> {
        serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
    }

    #[test]
    fn what_is_json_is_told_from_what_is_none() {
        for text in [
            "0",
            "-0",
            "10",
            "-1.5e+7",
            "1E-2",
            "01",
            "-",
            "1.",
            ".1",
            "1e",
            "1e+",
            "+1",
            "true",
            "tru",
            "nulll",
            "[]",
            "[ ]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{}",
            "{ }",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "{\"a\" : [ { } ] }",
            "[}",
            "{]",
            "[[",
            "]",
            "",
            " ",
            "\"",
            "\"\\\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"a\tb\"",
            "\"\u{7f}é\"",
            "\u{feff}1",
            " [1] ",
            "[1] 2",
            "{\"a\":{\"b\":[1,\"]}\"]}}",
            "1\u{0}",
            "{,}",
            "{\"a\":}",
        ] {
            assert_eq!(whole(text), theirs(text), "{text}");
        }
    }

    #[test]
    fn members_are_handed_out_as_they_stand() {
        let mut all = Vec::new();
        let mut scanner = Scanner::new(" { \"a\\u0062\" : [1, {}] ,\"c\":\"\\\"\" } ");
        let take = |name: Quoted<'static>, value| {
            all.push((name.inner, name.escaped, value));
            Some(())
        };
        scanner.members(take).unwrap();
        assert!(scanner.is_at_end());
        assert_eq!(all, [("a\\u0062", true, "[1, {}]"), ("c", false, "\"\\\"\"")]);
        for wrong in ["[]", "{", "{\"a\":1", "{\"a\":1,}", "{1:2}", "\"a\""] {
            assert!(Scanner::new(wrong).members(|_, _| Some(())).is_none(), "{wrong}");
        }
        assert!(Scanner::new("{\"a\":1}").members(|_, _| None).is_none());
    }

    #[test]
    fn depth_is_that_of_brackets_outside_of_strings() {
        for (text, depth) in [("1", 0), ("[]", 1), ("{\"[[\":\"]]\"}", 1), ("[[],[[]],[]]", 3), ("{\"a\":[{}]}", 3)] {
            let mut scanner = Scanner::new(text);
            scanner.value().unwrap();
            assert_eq!(scanner.depth(), depth, "{text}");
            if text.starts_with('{') {
                let mut scanner = Scanner::new(text);
                scanner.members(|_, _| Some(())).unwrap();
                assert_eq!(scanner.depth(), depth, "{text}");
            }
        }
        let deep = "[".repeat(500_000) + &"]".repeat(500_000);
        assert_eq!(whole(&deep), Some(deep.as_str()));
    }

    #[test]
    fn strings_end_where_they_end_whatever_their_length() {
        for length in (0..100).chain([1000]) {
            for end in ["\"", "\\\"\"", "\n\"", "\\u00e9é\"", ""] {
                let text = format!("\"{}{end}", "é-".repeat(length));
                assert_eq!(whole(&text), theirs(&text), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn others_find_the_same_in_anything(text in r#"[\[\]{}",:\\a-z0-9.eE+\- \n\x00é]{0,40}"#) {
            prop_assert_eq!(whole(&text), theirs(&text));
        }

        #[test]
        fn others_find_the_same_in_what_is_nearly_json(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just(":"), Just("\"a\""), Just("\"\\u0041\""),
                    Just("1"), Just("-2.5e3"), Just("null"), Just("true"), Just(" "), Just("\"a\":"), Just("[]"), Just("{}"),
                ],
                0..12,
            )
        ) {
            let text = parts.concat();
            prop_assert_eq!(whole(&text), theirs(&text));
        }
    }
}
