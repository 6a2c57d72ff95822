//! Components of this workspace, and extensions made of one.

use super::built::built;

/// The bytes of a component of this workspace.
#[track_caller]
pub(crate) fn component(package: &str) -> Vec<u8> {
    built(package).to_vec()
}

/// What stands on the card of an extension: who it is and what it offers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Card<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) tools: &'a [&'a str],
    pub(crate) prompts: &'a [&'a str],
    pub(crate) uris: &'a [&'a str],
}

/// What stands before the card in the component, and how many bytes the card has.
const MARKER: &[u8] = b"kobana-card=";
const LENGTH: usize = 256;

impl Card<'_> {
    /// The extension that the card makes of the one component.
    #[track_caller]
    pub(crate) fn component(&self) -> Vec<u8> {
        let Self { name, version, tools, prompts, uris } = self;
        let text = format!("{name};{version};{};{};{};", tools.join(","), prompts.join(","), uris.join(","));
        assert!(text.len() <= LENGTH, "{text:?} has no room on the card");
        let mut bytes = component("kobana-card-extension");
        let at = bytes.windows(MARKER.len()).position(|window| window == MARKER).expect("the card is there");
        let card = at + MARKER.len();
        bytes[card..card + LENGTH].fill(b' ');
        bytes[card..card + text.len()].copy_from_slice(text.as_bytes());
        bytes
    }
}
