//! Text of others that people and models get to see: short, and without signs that could make it look like something else.

/// Bytes as text, if they are UTF-8.
#[must_use]
pub(crate) fn utf8(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// Takes out what is not seen, or changes how the rest is, and shortens to `length` characters.
#[must_use]
pub(crate) fn clean(text: &str, length: usize) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control() && !is_format(*c)).collect::<String>().trim().to_owned();
    match kept.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", kept.get(..end).unwrap_or_default()),
        None => kept,
    }
}

/// Takes out what could mislead and leaves lines as they are.
#[must_use]
pub(crate) fn clean_lines(text: &str) -> String {
    text.chars().filter(|c| is_plain(*c)).collect()
}

/// Whether a character may stand in a text of several lines: no control but tab and newline, and nothing unseen but what scripts
/// and emoji are joined with.
#[must_use]
pub(crate) fn is_plain(c: char) -> bool {
    matches!(c, '\n' | '\t' | '\u{200c}' | '\u{200d}') || (!c.is_control() && !is_format(c))
}

/// Characters that are not seen but change how others are: bidirectional controls, joiners, separators, tags and the like
/// (Unicode categories Cf, Zl, Zp).
#[must_use]
pub(crate) const fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
        | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_clipped_and_cleaned() {
        assert_eq!(clean("Notas\u{202e} fiscais\n\u{200b}\u{7}", 80), "Notas fiscais");
        assert_eq!(clean(&"é".repeat(200), 80).chars().count(), 81);
    }

    #[test]
    fn lines_and_joined_emoji_stay() {
        assert_eq!(clean_lines("a\n\u{202e}b\u{e0041}\r 👩\u{200d}💻"), "a\nb 👩\u{200d}💻");
    }
}
