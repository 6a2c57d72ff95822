//! The headers of a message, read without the rest of it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Read};

use kobana_contract::Timestamp;
use kobana_store::text::fold;
use mail_parser::{HeaderName, HeaderValue, Message, MessageParser};

use super::address;

/// The most bytes of headers that are looked at; a message may have more, which then say nothing.
const LONGEST_HEAD: usize = 1024 * 1024;
/// The longest subject and Message-ID that are kept, in characters (RFC 5322 §2.1.1); the original has them whole.
const LONGEST_LINE: usize = 998;
/// The sender where a message names none that can be written as an address.
pub(crate) const UNKNOWN_SENDER: &str = "unknown@sender.invalid";
/// Headers that a mail system adds when it sends a message on (inbox-api.yaml, `Email.forwarded`).
const FORWARDING: [&str; 4] = ["Delivered-To", "X-Forwarded-To", "X-Original-To", "Resent-To"];

/// What the headers say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Headers {
    /// With its angle brackets; made of the message's bytes where there is none.
    pub(crate) message_id: String,
    pub(crate) subject: Option<String>,
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) cc: Vec<String>,
    pub(crate) bcc: Vec<String>,
    pub(crate) sent_at: Option<Timestamp>,
    has_forwarding_header: bool,
}

/// Whether a message was sent on to the inbox, and for whom it was.
pub(crate) struct Forwarding {
    pub(crate) forwarded: bool,
    pub(crate) on_behalf_of: Option<String>,
}

impl Headers {
    /// Compares the To header with the envelope, which holds one address: the inbox's.
    pub(crate) fn forwarding(&self, envelope: &str) -> Forwarding {
        let is_envelope = |address: &&String| fold(address) == fold(envelope);
        let disagree = !self.to.is_empty() && !self.to.iter().any(|address| is_envelope(&address));
        let forwarded = disagree || self.has_forwarding_header;
        let missing = self.to.iter().find(|address| !is_envelope(address)).cloned();
        Forwarding { forwarded, on_behalf_of: missing.filter(|_| forwarded) }
    }
}

/// Reads a source up to the end of the headers.
///
/// # Errors
/// What the source answers.
pub(crate) fn head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = [0; 16 * 1024];
    while head.len() < LONGEST_HEAD {
        let length = source.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        // The end may stand across two reads.
        let seen = head.len().saturating_sub(3);
        head.extend_from_slice(bytes);
        if let Some(end) = head.get(seen..).and_then(blank_line) {
            head.truncate(seen.saturating_add(end));
            break;
        }
    }
    head.truncate(LONGEST_HEAD);
    Ok(head)
}

/// Where the first blank line ends.
fn blank_line(bytes: &[u8]) -> Option<usize> {
    let find = |mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark).map(|at| at + mark.len());
    match (find(b"\n\n"), find(b"\n\r\n")) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Reads the headers at the beginning of a message, of which a digest is given. None if the bytes are no message: not one
/// header field that RFC 5322 or MIME knows.
pub(crate) fn read(head: &[u8], digest: &[u8; 32]) -> Option<Headers> {
    let text = decoded(without_envelope_line(head));
    let message = MessageParser::default().parse_headers(text.as_bytes())?;
    if !message.headers().iter().any(|header| !header.name.is_other()) {
        return None;
    }
    let addresses = |name: HeaderName<'static>| address::all(message.header(name));
    Some(Headers {
        message_id: message_id(&message).unwrap_or_else(|| made(digest)),
        subject: message.subject().map(|subject| line(subject, LONGEST_LINE)),
        from: sender(&message),
        to: addresses(HeaderName::To),
        cc: addresses(HeaderName::Cc),
        bcc: addresses(HeaderName::Bcc),
        sent_at: sent_at(&message),
        has_forwarding_header: FORWARDING.iter().any(|name| message.header(*name).is_some()),
    })
}

/// Mailbox files and some old systems put a line `From ana@example.com Mon Jul …` in front, which is no header.
fn without_envelope_line(head: &[u8]) -> &[u8] {
    let behind = || head.iter().position(|byte| *byte == b'\n').and_then(|end| head.get(end + 1..));
    if head.starts_with(b"From ") { behind().unwrap_or(head) } else { head }
}

/// Headers as text. Raw bytes beyond ASCII are UTF-8 (RFC 6532), or, in old mail, what Windows wrote. The parser wants the
/// blank line, which a message without a body may lack.
fn decoded(head: &[u8]) -> String {
    let text = match std::str::from_utf8(head) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(head).0,
    };
    format!("{text}\r\n\r\n")
}

fn message_id(message: &Message<'_>) -> Option<String> {
    let id = message.message_id()?;
    let id: String = id.chars().filter(|letter| !letter.is_whitespace() && !letter.is_control()).collect();
    let id = id.trim_start_matches('<').trim_end_matches('>');
    (!id.is_empty() && id.chars().count() <= LONGEST_LINE).then(|| format!("<{id}>"))
}

/// A Message-ID of the bytes, so that the same message without one is known when it comes again.
fn made(digest: &[u8; 32]) -> String {
    let mut id = String::from("<sha256.");
    for byte in digest {
        let _ = write!(id, "{byte:02x}");
    }
    id.push_str("@generated.invalid>");
    id
}

/// The first address that says who sent it, wherever it stands.
fn sender(message: &Message<'_>) -> String {
    let places = [HeaderName::From, HeaderName::Sender, HeaderName::ReplyTo, HeaderName::ReturnPath];
    let found = places.into_iter().find_map(|name| address::all(message.header(name)).into_iter().next());
    found.unwrap_or_else(|| UNKNOWN_SENDER.to_owned())
}

fn sent_at(message: &Message<'_>) -> Option<Timestamp> {
    let Some(HeaderValue::DateTime(date)) = message.header(HeaderName::Date) else { return None };
    let seconds = date.is_valid().then(|| date.to_timestamp())?;
    Some(Timestamp(seconds.checked_mul(1_000_000)?))
}

/// The text in one line: control characters, which no header may hold, become spaces.
pub(crate) fn line(text: &str, longest: usize) -> String {
    let spaced = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    spaced.take(longest).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: [u8; 32] = [7; 32];

    fn read_all(message: &[u8]) -> Option<Headers> {
        let head = head(&mut &message[..]).unwrap();
        assert!(head.len() <= message.len());
        read(&head, &DIGEST)
    }

    #[test]
    fn what_has_no_known_header_is_no_message() {
        for nothing in [
            &b""[..],
            b"\r\n\r\n",
            b"hello",
            b"{\"From\": \"x\"}",
            b"Colour: red\r\n\r\nx",
            b"\xff\xfe\0\0",
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        ] {
            assert_eq!(read_all(nothing), None, "{}", String::from_utf8_lossy(nothing));
        }
        assert!(read_all(b"Subject: x").is_some());
        assert!(
            read_all(b"From ana@b.example Mon\nFrom: ana@b.example\n\nx")
                .is_some_and(|found| found.from == "ana@b.example")
        );
    }

    #[test]
    fn raw_bytes_are_utf_8_or_what_windows_wrote() {
        let latin = read_all(b"From: a@b.example\r\nSubject: Cobran\xe7a \x80\r\n\r\n").unwrap();
        assert_eq!(latin.subject.as_deref(), Some("Cobrança €"));
        let utf8 = read_all("From: a@b.example\r\nSubject: Cobrança €\r\n\r\n".as_bytes()).unwrap();
        assert_eq!(utf8.subject, latin.subject);
    }

    #[test]
    fn a_missing_id_is_made_of_the_bytes() {
        let id = read_all(b"Subject: x\r\n\r\n").unwrap().message_id;
        assert!(id.starts_with("<sha256.0707") && id.ends_with("@generated.invalid>"), "{id}");
        assert_eq!(read_all(b"Message-ID: <a@b>\r\n\r\n").unwrap().message_id, "<a@b>");
        assert_eq!(read_all(b"Message-ID: a.b.c\r\n\r\n").unwrap().message_id, "<a.b.c>");
        assert!(read_all(b"Message-ID: <>\r\n\r\n").unwrap().message_id.starts_with("<sha256"));
    }

    #[test]
    fn the_sender_is_found_where_there_is_one() {
        let from = |text: &str| read_all(text.as_bytes()).unwrap().from;
        assert_eq!(from("From: \"Souza, Ana\" <ana@b.example>\r\n\r\n"), "ana@b.example");
        assert_eq!(from("From: undisclosed\r\nSender: s@b.example\r\n\r\n"), "s@b.example");
        assert_eq!(from("Return-Path: <r@b.example>\r\n\r\n"), "r@b.example");
        assert_eq!(from("Subject: x\r\n\r\n"), UNKNOWN_SENDER);
    }

    #[test]
    fn forwarding_follows_the_contract() {
        let judge = |text: &str| {
            let Forwarding { forwarded, on_behalf_of } = read_all(text.as_bytes()).unwrap().forwarding("in@i.example");
            (forwarded, on_behalf_of)
        };
        let other = || Some("b@c.example".to_owned());
        assert_eq!(judge("To: IN@i.example\r\n\r\n"), (false, None));
        assert_eq!(judge("To: b@c.example, in@i.example\r\n\r\n"), (false, None));
        assert_eq!(judge("To: b@c.example\r\n\r\n"), (true, other()));
        assert_eq!(judge("Subject: no one\r\n\r\n"), (false, None));
        assert_eq!(judge("To: in@i.example\r\nDelivered-To: x@y.example\r\n\r\n"), (true, None));
        assert_eq!(judge("To: in@i.example, b@c.example\r\nx-original-to: x@y.example\r\n\r\n"), (true, other()));
    }

    #[test]
    fn dates_of_another_world_are_none() {
        let date = |text: &str| read_all(format!("Date: {text}\r\n\r\n").as_bytes()).unwrap().sent_at;
        assert_eq!(date("Wed, 1 Jul 2026 08:00:00 -0300"), Timestamp::parse("2026-07-01T11:00:00Z"));
        for nothing in ["", "yesterday", "Wed, 99 Jul 2026 08:00:00 +0000", "1 Jan 99999 00:00:00 +9999"] {
            assert_eq!(date(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn the_head_ends_at_the_first_blank_line() {
        let mut long = b"From: a@b.example\r\n".to_vec();
        long.extend(b"X-Filler: x\r\n".repeat(3_000));
        let length = long.len();
        long.extend(b"\r\nbody");
        assert_eq!(head(&mut &long[..]).unwrap().len(), length + 2);
        let endless = b"X-Filler: x\r\n".repeat(LONGEST_HEAD / 8);
        assert_eq!(head(&mut &endless[..]).unwrap().len(), LONGEST_HEAD);
    }
}
