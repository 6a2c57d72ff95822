//! What a message says: its texts and what is attached to it.

use std::borrow::Cow;
use std::io::{self, Read as _};

use kobana_store::blobs::Blobs;
use mail_parser::decoders::html::html_to_text;
use mail_parser::{Encoding, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};

use tokio::sync::Semaphore;

use super::headers::line;

/// The most MIME headers of a message that is taken apart. Each may nest one part in another; neither the stack nor the time
/// that this takes is endless.
const MOST_PARTS: usize = 2_000;
/// Up to so many the stack of any thread is enough.
const FEW_PARTS: usize = 40;
/// The stack for more.
const DEEP_STACK: usize = 64 * 1024 * 1024;
/// How much of a text engines and filters look at, in bytes.
const LONGEST_READABLE: usize = 256 * 1024;
/// The longest name of an attachment that is kept, in characters.
const LONGEST_NAME: usize = 255;
/// The longest value of a header that is kept for filters, in characters.
const LONGEST_VALUE: usize = 4_096;

/// From this many bytes on, messages are taken apart one at a time: each is in memory as a whole, and its attachments once
/// more, decoded.
const LARGE: u64 = 4 * 1024 * 1024;
static TURNS: Semaphore = Semaphore::const_new(1);

/// A message, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Plain text, decoded.
    pub(crate) text: Option<String>,
    /// HTML, decoded and otherwise as it was sent.
    pub(crate) html: Option<String>,
    /// The beginning of the text as a person would read it: of the plain one or, failing that, of what the HTML says.
    pub(crate) readable: Option<String>,
    pub(crate) attachments: Vec<Attachment>,
    /// Names and values of the headers, in their order.
    pub(crate) headers: Vec<(String, String)>,
    /// Nobody knows what is in it: it has more parts than are looked at.
    pub(crate) unreadable: bool,
}

impl Content {
    fn unreadable() -> Self {
        Self { unreadable: true, ..Self::default() }
    }
}

/// Something attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) name: Option<String>,
    pub(crate) media_type: String,
    /// Bytes, decoded.
    pub(crate) size: u64,
    /// A picture that the HTML shows in place.
    pub(crate) embedded: bool,
}

/// The beginning of the text as a person would read it.
fn readable(text: Option<&str>, html: Option<&str>) -> Option<String> {
    let plain = text.filter(|text| !text.trim().is_empty()).map(Cow::Borrowed);
    let text = plain.or_else(|| html.map(|html| Cow::Owned(html_to_text(html))))?;
    let end = text.floor_char_boundary(LONGEST_READABLE);
    Some(text.get(..end).unwrap_or_default().to_owned())
}

/// Reads a stored message; none if it is not there.
///
/// # Errors
/// When it cannot be read.
pub(crate) async fn read(blobs: &Blobs, key: &str) -> io::Result<Option<Content>> {
    let Some((mut file, length)) = blobs.open_file(key).await? else { return Ok(None) };
    // Errors only once the semaphore is closed, which nobody does.
    let _turn = if length > LARGE { TURNS.acquire().await.ok() } else { None };
    let read = tokio::task::spawn_blocking(move || {
        let mut raw = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.read_to_end(&mut raw)?;
        Ok::<_, io::Error>(parse(&raw))
    });
    // Whatever a message does to the parser, it is not lost: it stays readable as a file.
    let content = read.await.unwrap_or_else(|error| {
        tracing::error!(%error, key, "a message could not be taken apart");
        Ok(Content::unreadable())
    });
    content.map(Some)
}

/// Takes a message apart as far as it can be.
pub(crate) fn parse(raw: &[u8]) -> Content {
    let content = match parts(raw) {
        0..=FEW_PARTS => guarded(raw),
        parts if parts <= MOST_PARTS => std::thread::scope(|scope| {
            let deep = std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, || take_apart(raw));
            deep.ok().and_then(|thread| thread.join().ok())
        }),
        parts => {
            tracing::warn!(parts, "a message has too many parts to be taken apart");
            return Content::unreadable();
        }
    };
    content.unwrap_or_else(|| flat(raw))
}

/// The parser means never to panic; where it does all the same, the message is not to be lost by it.
fn guarded(raw: &[u8]) -> Option<Content> {
    std::panic::catch_unwind(|| take_apart(raw)).ok()
}

/// The same with nested messages left whole, for messages that the parser gets lost in: the words that make it go into them
/// are changed, and changed back in what comes out.
fn flat(raw: &[u8]) -> Content {
    let mut raw = raw.to_vec();
    let mut at = 0;
    while let Some(rest) = raw.get_mut(at..).filter(|rest| !rest.is_empty()) {
        for (word, other) in NESTING {
            if let Some(found) = rest.get_mut(..word.len()).filter(|found| found.eq_ignore_ascii_case(word.as_bytes()))
            {
                found.copy_from_slice(other.as_bytes());
            }
        }
        at += 1;
    }
    let mut content = guarded(&raw).unwrap_or_else(Content::unreadable);
    let restored = |text: &str| NESTING.iter().fold(text.to_owned(), |text, (word, other)| text.replace(other, word));
    for text in [&mut content.text, &mut content.html, &mut content.readable] {
        *text = text.as_deref().map(restored);
    }
    for file in &mut content.attachments {
        file.media_type = restored(&file.media_type);
        file.name = file.name.as_deref().map(restored);
    }
    content
}

/// Words that make the parser go into a part as a message of its own, and others of the same length that do not.
const NESTING: [(&str, &str); 2] = [("message", "m3ss4g3"), ("digest", "d1g3st")];

/// How many headers there are that may begin another part.
fn parts(raw: &[u8]) -> usize {
    const NAME: &[u8] = b"content-type";
    raw.windows(NAME.len()).filter(|window| window.eq_ignore_ascii_case(NAME)).count()
}

fn take_apart(raw: &[u8]) -> Content {
    let Some(message) = MessageParser::default().parse(raw) else { return Content::default() };
    let texts = message.text_body.iter().filter_map(|id| message.part(*id)).filter_map(|part| match &part.body {
        PartType::Text(text) => Some(text_of(&message, part, text)),
        _ => None,
    });
    let pages = message.html_body.iter().filter_map(|id| message.part(*id)).filter_map(|part| match &part.body {
        PartType::Html(html) => Some(text_of(&message, part, html)),
        _ => None,
    });
    let (text, html) = (joined(texts), joined(pages));
    Content {
        readable: readable(text.as_deref(), html.as_deref()),
        text,
        html,
        attachments: message.attachments().map(attachment).collect(),
        headers: headers(&message),
        unreadable: false,
    }
}

/// The text of a part. Undeclared bytes that are no UTF-8 are what Windows wrote, as in headers.
fn text_of(message: &Message<'_>, part: &MessagePart<'_>, decoded: &str) -> String {
    let declared = part.content_type().is_some_and(|kind| kind.has_attribute("charset"));
    let bytes = || message.raw_message.get(part.offset_body as usize..part.offset_end as usize);
    let raw = match (declared, part.encoding) {
        (false, Encoding::None) if decoded.contains('\u{fffd}') => bytes(),
        _ => None,
    };
    let text = match raw {
        Some(raw) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(raw).0,
        None => Cow::Borrowed(decoded),
    };
    // Databases hold no NUL.
    text.replace('\0', "")
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.reduce(|all, text| format!("{all}\n{text}"))
}

fn attachment(part: &MessagePart<'_>) -> Attachment {
    let media_type = part.content_type().map_or_else(
        || if part.is_message() { "message/rfc822".to_owned() } else { "application/octet-stream".to_owned() },
        |kind| match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}", kind.ctype()),
            None => kind.ctype().to_owned(),
        },
    );
    let size = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text.len() as u64,
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.len() as u64,
        PartType::Message(_) | PartType::Multipart(_) => u64::from(part.offset_end.saturating_sub(part.offset_body)),
    };
    let detached = part.content_disposition().is_some_and(|disposition| disposition.is_attachment());
    let media_type = line(&media_type.to_ascii_lowercase(), LONGEST_NAME);
    let embedded = media_type.starts_with("image/") && part.content_id().is_some() && !detached;
    Attachment { name: part.attachment_name().map(|name| line(name, LONGEST_NAME)), media_type, size, embedded }
}

fn headers(message: &Message<'_>) -> Vec<(String, String)> {
    let value = |start: u32, end: u32| message.raw_message.get(start as usize..end as usize).unwrap_or_default();
    let readable = |header: &mail_parser::Header<'_>| {
        let text = header.value.as_text().map_or_else(
            || String::from_utf8_lossy(value(header.offset_start, header.offset_end)).into_owned(),
            str::to_owned,
        );
        (header.name.as_str().to_owned(), line(&text, LONGEST_VALUE))
    };
    message.headers().iter().map(readable).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::intake::headers;

    /// Pieces that messages are made of, in an order that they should not have.
    fn fragments() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"Content-Type: multipart/mixed; boundary=x\r\n".to_vec()),
            Just(b"Content-Type: message/rfc822\r\n\r\n".to_vec()),
            Just(b"Content-Type: multipart/digest; boundary=\"x".to_vec()),
            Just(b"Content-Type: text/html; charset=utf-16\r\n".to_vec()),
            Just(b"Content-Transfer-Encoding: base64\r\n".to_vec()),
            Just(b"Content-Transfer-Encoding: quoted-printable\n".to_vec()),
            Just(b"Content-Disposition: attachment; filename*0*=utf-8''%e2%82".to_vec()),
            Just(b"Subject: =?utf-8?B?4pi".to_vec()),
            Just(b"From: \"a\" <a@b>, (c".to_vec()),
            Just(b"Date: Mon, 32 Foo 99999 99:99:99 +9999\r\n".to_vec()),
            Just(b"\r\n--x\r\n".to_vec()),
            Just(b"\r\n--x--\r\n".to_vec()),
            Just(b"\r\n\r\n".to_vec()),
            Just(b"=C3=\r\n=".to_vec()),
            any::<Vec<u8>>(),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_are_too_much(bytes in prop_oneof![any::<Vec<u8>>(), fragments()]) {
            let content = parse(&bytes);
            prop_assert!(content.text.iter().chain(&content.html).all(|text| !text.contains('\0')));
            let head = headers::head(&mut bytes.as_slice()).unwrap();
            if let Some(headers) = headers::read(&head, &[0; 32]) {
                prop_assert!(crate::schema::is_address(&headers.from));
                prop_assert!(headers.sent_at.is_none_or(|time| !time.to_string().is_empty()));
                prop_assert!(headers.subject.iter().all(|subject| !subject.chars().any(char::is_control)));
                prop_assert!(headers.message_id.starts_with('<') && headers.message_id.ends_with('>'));
            }
        }
    }

    #[test]
    fn nesting_without_end_does_not_end_the_process() {
        for depth in [FEW_PARTS, MOST_PARTS, MOST_PARTS + 1, 200_000] {
            for header in [
                "Content-Type: message/rfc822\r\n\r\n",
                "Content-Type: multipart/digest; boundary=x\r\n\r\n--x\r\n\r\n",
            ] {
                let raw = format!("From: a@b.example\r\n{}", header.repeat(depth));
                assert_eq!(parse(raw.as_bytes()).unreadable, depth > MOST_PARTS, "{depth}");
            }
        }
    }

    #[test]
    fn undeclared_bytes_are_what_windows_wrote() {
        let content = parse(b"From: a@b.example\r\n\r\nCobran\xe7a \x80");
        assert_eq!(content.text.as_deref(), Some("Cobran\u{e7}a \u{20ac}"));
    }

    #[test]
    fn a_message_that_the_parser_gets_lost_in_is_seen_flat() {
        let raw = b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nThe message digest.\r\n--x\r\n\
            Content-Type: message/rfc822\r\n\r\nContent-Type: message/rfc822\r\n\r\n\r\n--x--\r\n";
        for content in [parse(raw), flat(raw)] {
            assert_eq!(content.text.as_deref().map(str::trim), Some("The message digest."));
            assert_eq!(content.attachments[0].media_type, "message/rfc822");
        }
    }

    #[test]
    fn many_attachments_are_seen_and_too_many_are_known_to_be() {
        let part = "--x\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment\r\n\r\nx\r\n";
        let head = "From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n";
        let raw = |count| format!("{head}{}--x--\r\n", part.repeat(count));
        assert_eq!(parse(raw(MOST_PARTS - 1).as_bytes()).attachments.len(), MOST_PARTS - 1);
        assert!(parse(raw(MOST_PARTS).as_bytes()).unreadable);
    }
}
