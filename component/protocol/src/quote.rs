//! Texts as JSON strings (RFC 8259 §7).
//!
//! Answers are full of them, and most of a text stands for itself. So eight bytes are looked at and copied at once, and only
//! those that need it are escaped one by one. What comes out is what `serde_json` writes.

/// Bytes that are looked at together.
pub(crate) const WORD: usize = size_of::<u64>();
/// Bytes that are looked at together where there is nothing to escape far and wide.
pub(crate) const BLOCK: usize = 64;
/// The most bytes that one becomes: `\u001f`.
const LONGEST: usize = 6;
/// Bytes of a text for which room is made at once.
const PIECE: usize = 1024;

/// Writes a text as a JSON string.
pub(crate) fn push(out: &mut Vec<u8>, text: &str) {
    // Documents inside of answers have many quotes.
    out.reserve(text.len() + text.len() / 4 + LONGEST + WORD + 2);
    out.push(b'"');
    for piece in text.as_bytes().chunks(PIECE) {
        let start = out.len();
        // Room for the worst that may become of these bytes, and for what is written too much with the last word.
        out.resize(start + piece.len() + (LONGEST - 1) * specials(piece) + WORD, 0);
        let written = escape(out.get_mut(start..).unwrap_or_default(), piece);
        out.truncate(start + written);
    }
    out.push(b'"');
}

/// How many bytes may not stand for themselves. Blocks are counted in bytes, so that the compiler counts sixteen at once.
fn specials(piece: &[u8]) -> usize {
    let count = |block: &[u8; BLOCK]| block.iter().fold(0_u8, |sum, byte| sum + u8::from(is_special(*byte)));
    let (blocks, rest) = piece.as_chunks();
    blocks.iter().map(|block| usize::from(count(block))).sum::<usize>()
        + rest.iter().filter(|byte| is_special(**byte)).count()
}

/// Writes a piece of a text and says how many bytes it took. The room is enough for all that it may take and a word.
fn escape(room: &mut [u8], mut piece: &[u8]) -> usize {
    let all = room.len();
    let mut free = room;
    // How many words in a row had nothing to escape.
    let mut plain_words = 0;
    while let Some((word, after)) = piece.split_first_chunk::<WORD>() {
        let plain = plain(u64::from_le_bytes(*word));
        // What is written too much is written over.
        free = put(free, *word, plain);
        if plain < WORD {
            (free, piece) = escape_first(free, piece.get(plain..).unwrap_or_default());
            plain_words = 0;
            continue;
        }
        piece = after;
        plain_words += 1;
        if plain_words == BLOCK / WORD {
            (free, piece) = copy_plain(free, piece);
            plain_words = 0;
        }
    }
    while !piece.is_empty() {
        (free, piece) = escape_first(free, piece);
    }
    all - free.len()
}

/// Writes the first byte, escaped if it has to be. Gives the room and the bytes that are left.
fn escape_first<'r, 'p>(free: &'r mut [u8], piece: &'p [u8]) -> (&'r mut [u8], &'p [u8]) {
    let Some((byte, rest)) = piece.split_first() else { return (free, piece) };
    let free = match ESCAPES.get(usize::from(*byte)) {
        Some([.., length]) if *length == 0 => put(free, [*byte], 1),
        Some(escape @ [.., length]) => put(free, *escape, usize::from(*length)),
        None => put(free, [*byte], 1),
    };
    (free, rest)
}

/// Copies blocks as long as there is nothing to escape in them. Gives the room and the bytes that are left.
fn copy_plain<'r, 'p>(mut free: &'r mut [u8], mut piece: &'p [u8]) -> (&'r mut [u8], &'p [u8]) {
    while let Some((block, after)) = piece.split_first_chunk()
        && is_plain(block)
    {
        free = put(free, *block, BLOCK);
        piece = after;
    }
    (free, piece)
}

/// Writes bytes, of which as many as the length count, and gives the room behind those.
fn put<const N: usize>(free: &mut [u8], bytes: [u8; N], length: usize) -> &mut [u8] {
    if let Some(place) = free.first_chunk_mut() {
        *place = bytes;
    }
    free.get_mut(length..).unwrap_or_default()
}

/// Whether a byte may not stand for itself in a string.
pub(crate) const fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Whether all bytes of a block stand for themselves. There is no branch in it, and a block is large enough, so that the compiler
/// looks at sixteen bytes with one instruction.
pub(crate) fn is_plain(block: &[u8; BLOCK]) -> bool {
    !block.iter().fold(false, |found, byte| found | is_special(*byte))
}

/// How many bytes of a word, the lowest first, stand for themselves before one has to be escaped.
pub(crate) const fn plain(word: u64) -> usize {
    (marks(word).trailing_zeros() / 8) as usize
}

/// The highest bit of each byte of a word that has to be escaped.
///
/// Each term has the highest bit of a byte where its other bits say that it need not be: adding to seven bits carries into the eighth
/// and no further. A byte that has its highest bit itself is part of a character beyond ASCII.
const fn marks(word: u64) -> u64 {
    const fn all(byte: u8) -> u64 {
        u64::MAX / 255 * byte as u64
    }
    let low = word & all(0x7f);
    let no_control = low + all(0x80 - 0x20);
    let no_quote = (low ^ all(b'"')) + all(0x7f);
    let no_backslash = (low ^ all(b'\\')) + all(0x7f);
    !(no_control & no_quote & no_backslash | word) & all(0x80)
}

/// What becomes of each byte that may not stand for itself. The last byte is no part of it and says how many are; none are where the
/// byte stands for itself.
const ESCAPES: [[u8; WORD]; b'\\' as usize + 1] = escapes();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn escapes() -> [[u8; WORD]; b'\\' as usize + 1] {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    const SHORT: [(u8, u8); 7] =
        [(b'"', b'"'), (b'\\', b'\\'), (0x08, b'b'), (b'\t', b't'), (b'\n', b'n'), (0x0c, b'f'), (b'\r', b'r')];
    let mut escapes = [[0; WORD]; b'\\' as usize + 1];
    let mut byte = 0;
    while byte < 0x20 {
        escapes[byte] = [b'\\', b'u', b'0', b'0', DIGITS[byte >> 4], DIGITS[byte & 15], 0, LONGEST as u8];
        byte += 1;
    }
    let mut next = 0;
    while next < SHORT.len() {
        let (byte, letter) = SHORT[next];
        escapes[byte as usize] = [b'\\', letter, 0, 0, 0, 0, 0, 2];
        next += 1;
    }
    escapes
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

    #[test]
    fn a_text_of_several_pieces_may_be_escaped_all_over() {
        for text in [
            "\u{1}".repeat(3 * PIECE + 5),
            "é\"".repeat(PIECE),
            "-".repeat(PIECE),
            "-".repeat(200) + "\n",
            "é-\"".repeat(300) + &"x".repeat(300),
        ] {
            assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
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
