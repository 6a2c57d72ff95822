//! Components of this workspace, built on the spot.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// The bytes of a component of this workspace, built the way the gateway is for the binary: by an inner cargo with a target
/// directory of its own, since the outer one may hold the lock on its.
#[track_caller]
pub(crate) fn component(package: &str) -> Vec<u8> {
    static BUILT: LazyLock<Mutex<HashMap<String, Vec<u8>>>> = LazyLock::new(Mutex::default);
    // A build that failed must not take the other tests along.
    let mut built = BUILT.lock().unwrap_or_else(|broken| broken.into_inner());
    built.entry(package.to_owned()).or_insert_with(|| build(package)).clone()
}

fn build(package: &str) -> Vec<u8> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("components");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--package", package, "--target", "wasm32-wasip2", "--profile", "component"])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        // Set by the outer cargo for its own build, or for clippy's.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{package} does not build; is the target wasm32-wasip2 there?");
    let file = target.join("wasm32-wasip2/component").join(package.replace('-', "_")).with_extension("wasm");
    std::fs::read(file).expect("cargo made the component")
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
