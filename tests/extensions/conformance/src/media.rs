//! The smallest picture and the smallest sound, and blocks of content.

use crate::bindings::kobana::extension::types::{Block, Content, Document, DocumentBody, Media};

/// A PNG of one red pixel.
pub(crate) const PNG: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 144, 119, 83,
    222, 0, 0, 0, 12, 73, 68, 65, 84, 120, 218, 99, 248, 207, 192, 0, 0, 3, 1, 1, 0, 247, 3, 65, 67, 0, 0, 0, 0, 73,
    69, 78, 68, 174, 66, 96, 130,
];

/// A WAV of one silent sample: 8 kHz, mono, 8 bits.
pub(crate) const WAV: &[u8] = &[
    b'R', b'I', b'F', b'F', 38, 0, 0, 0, b'W', b'A', b'V', b'E', b'f', b'm', b't', b' ', 16, 0, 0, 0, 1, 0, 1, 0, 0x40,
    0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, b'd', b'a', b't', b'a', 1, 0, 0, 0, 0x80, 0,
];

pub(crate) fn block(content: Content) -> Block {
    Block { content, annotations: None }
}

pub(crate) fn text(text: &str) -> Block {
    block(Content::Text(text.to_owned()))
}

pub(crate) fn image() -> Block {
    block(Content::Image(Media { data: PNG.to_vec(), media_type: "image/png".to_owned() }))
}

pub(crate) fn audio() -> Block {
    block(Content::Audio(Media { data: WAV.to_vec(), media_type: "audio/wav".to_owned() }))
}

pub(crate) fn embedded(uri: &str, media_type: &str, text: &str) -> Block {
    block(Content::Document(document(uri, media_type, DocumentBody::Text(text.to_owned()))))
}

pub(crate) fn document(uri: &str, media_type: &str, body: DocumentBody) -> Document {
    Document { uri: uri.to_owned(), media_type: Some(media_type.to_owned()), body }
}
