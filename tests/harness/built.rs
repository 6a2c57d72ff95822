//! Components of this workspace, built on the spot. The tests of the binary and those of the runtime share this file.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// The bytes of a component of this workspace, built the way the gateway is for the binary: by an inner cargo with a target
/// directory of its own, since the outer one may hold the lock on its.
#[track_caller]
pub(crate) fn built(package: &str) -> &'static [u8] {
    static BUILT: LazyLock<Mutex<HashMap<String, &'static [u8]>>> = LazyLock::new(Mutex::default);
    // A build that failed must not take the other tests along.
    let mut built = BUILT.lock().unwrap_or_else(|broken| broken.into_inner());
    built.entry(package.to_owned()).or_insert_with(|| build(package).leak())
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
