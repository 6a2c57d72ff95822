//! The demo's e-mails as messages in the form of RFC 5322: made of the rows, and the same bytes every time.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kobana_contract::Timestamp;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::rows::{EmailBodyRow, EmailRow};

/// Bytes of text in one encoded word: with its marks it then has fewer than the 75 characters that it may have.
const WORD: usize = 42;
/// Bytes of text in one line of base64.
const LINE: usize = 57;

/// The message that an e-mail came as.
pub(super) fn message(email: &EmailRow, body: &EmailBodyRow) -> Vec<u8> {
    let mut text = String::new();
    let mut header = |name: &str, value: &str| {
        let _ = write!(text, "{name}: {value}\r\n");
    };
    header("Date", &date(email.sent_at.unwrap_or(email.received_at)));
    header("From", &format!("<{}>", email.sender));
    header("To", &email.header_to.0.join(", "));
    if let Some(subject) = &email.subject {
        header("Subject", &words(subject));
    }
    header("Message-ID", &email.message_id);
    header("MIME-Version", "1.0");
    match (&body.text, &body.html) {
        (Some(plain), Some(html)) => {
            let boundary = format!("part-{}", email.id.simple());
            header("Content-Type", &format!("multipart/alternative; boundary=\"{boundary}\""));
            for (kind, part) in [("plain", plain), ("html", html)] {
                let _ = write!(text, "\r\n--{boundary}\r\n{}", leaf(kind, part));
            }
            let _ = write!(text, "\r\n--{boundary}--\r\n");
        }
        (Some(plain), None) => text.push_str(&leaf("plain", plain)),
        (None, Some(html)) => text.push_str(&leaf("html", html)),
        (None, None) => text.push_str("\r\n"),
    }
    text.into_bytes()
}

fn leaf(kind: &str, content: &str) -> String {
    let mut text = format!("Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
    for line in content.as_bytes().chunks(LINE) {
        text.push_str(&STANDARD.encode(line));
        text.push_str("\r\n");
    }
    text
}

fn date(micros: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(Timestamp(micros).unix_seconds());
    time.ok().and_then(|time| time.format(&Rfc2822).ok()).unwrap_or_default()
}

/// Text of a header in encoded words (RFC 2047), cut between letters.
fn words(text: &str) -> String {
    let mut pieces = vec![String::new()];
    for letter in text.chars() {
        match pieces.last_mut() {
            Some(piece) if piece.len() + letter.len_utf8() <= WORD => piece.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    let words: Vec<_> = pieces.iter().map(|piece| format!("=?utf-8?B?{}?=", STANDARD.encode(piece))).collect();
    words.join("\r\n ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_short_and_whole() {
        let text = words(&"ação ".repeat(40));
        assert!(text.split("\r\n ").count() > 3 && text.split("\r\n").all(|line| line.len() <= 76));
        assert!(text.split("\r\n ").all(|word| word.starts_with("=?utf-8?B?") && word.ends_with("?=")));
    }
}
