//! Texts as JSON strings (RFC 8259 §7).
//!
//! Answers are full of them, and most of a text stands for itself. So eight bytes are looked at and copied at once, and only
//! those that need it are escaped one by one. What comes out is what `serde_json` writes.

/// Bytes that are looked at together.
const WORD: usize = size_of::<u64>();

/// Writes a text as a JSON string.
pub(crate) fn push(out: &mut Vec<u8>, text: &str) {
    // Documents inside of answers have many quotes.
    out.reserve(text.len() + text.len() / 4 + 2 + WORD);
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some((word, after)) = rest.split_first_chunk::<WORD>() {
        let start = out.len();
        out.extend_from_slice(word);
        let plain = plain(u64::from_le_bytes(*word));
        rest = if plain == WORD {
            after
        } else {
            // What was copied too much is taken back.
            out.truncate(start + plain);
            push_first(out, rest.get(plain..).unwrap_or_default())
        };
    }
    while !rest.is_empty() {
        rest = push_first(out, rest);
    }
    out.push(b'"');
}

/// How many bytes of a word, the lowest first, stand for themselves before one has to be escaped.
///
/// Each term marks the highest bit of the bytes it is about. Subtracting may mark a byte by mistake, but only above one that is marked
/// with right.
const fn plain(word: u64) -> usize {
    const fn all(byte: u8) -> u64 {
        u64::MAX / 255 * byte as u64
    }
    const fn zero(word: u64) -> u64 {
        word.wrapping_sub(all(1)) & !word
    }
    let control = word.wrapping_sub(all(0x20)) & !word;
    let marks = (control | zero(word ^ all(b'"')) | zero(word ^ all(b'\\'))) & all(0x80);
    (marks.trailing_zeros() / 8) as usize
}

/// Writes the first byte, escaped if it has to be, and gives those behind it.
fn push_first<'a>(out: &mut Vec<u8>, bytes: &'a [u8]) -> &'a [u8] {
    let Some((first, rest)) = bytes.split_first() else { return bytes };
    let short = match *first {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        control @ ..0x20 => {
            let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control & 15)]);
            return rest;
        }
        plain => {
            out.push(plain);
            return rest;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quoted(text: &str) -> String {
        let mut out = b"before".to_vec();
        push(&mut out, text);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn every_byte_is_escaped_at_every_place_of_a_word() {
        for byte in (0..=0x7f).map(char::from).chain(['\u{80}', 'é', '\u{2028}', '😀']) {
            for place in 0..20 {
                let text = format!("{}{byte}{byte}{}", "-".repeat(place), "é!#[".repeat(20 - place));
                assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_others_write_it(text in any::<String>()) {
            prop_assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
        }

        #[test]
        fn documents_are_written_as_others_write_them(text in r#"[{}":,\\a-zé\n\x00-\x1f]{0,100}"#) {
            prop_assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
