//! Builds the components, the gateway and the edge adapter, and hands them to the compiler, so that the binary needs no
//! other file.
//!
//! The inner cargo has a target directory of its own: in ours it would wait for ever on the lock that the outer cargo holds.

use std::path::{Path, PathBuf};
use std::process::Command;

type Failure = Box<dyn std::error::Error>;

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "component";
/// What the components are made of.
const SOURCES: &[&str] = &[
    "component/protocol",
    "component/gateway",
    "component/wire",
    "component/edge/src",
    "component/edge/Cargo.toml",
    "host/contract",
    "wit",
    "Cargo.toml",
    "Cargo.lock",
];

fn main() -> Result<(), Failure> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    ensure_target(&root)?;
    let components = build(&root)?;
    for name in ["gateway", "edge"] {
        let file = components.join(format!("kobana_{name}.wasm"));
        println!("cargo::rustc-env=KOBANA_{}_WASM={}", name.to_uppercase(), file.display());
    }
    Ok(())
}

/// Adds the target where rustup manages the toolchain; elsewhere says what is missing.
fn ensure_target(root: &Path) -> Result<(), Failure> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).current_dir(root).output()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout)?.trim());
    if sysroot.join("lib/rustlib").join(TARGET).is_dir() {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).current_dir(root).status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!(
            "the components need the Rust target {TARGET}: install it, with rustup by `rustup target add {TARGET}`"
        )
        .into()),
    }
}

/// Builds both in one go, so that what they share is compiled once; answers the directory that holds them.
fn build(root: &Path) -> Result<PathBuf, Failure> {
    let target_dir = PathBuf::from(std::env::var("OUT_DIR")?).join("components");
    let mut cargo = Command::new(std::env::var("CARGO")?);
    cargo.current_dir(root).args([
        "build",
        "--package",
        "kobana-gateway",
        "--package",
        "kobana-edge",
        "--target",
        TARGET,
        "--profile",
        PROFILE,
    ]);
    cargo.arg("--target-dir").arg(&target_dir);
    // What the outer build decided for the host must not reach the build for another target.
    for (name, _) in std::env::vars() {
        let ours =
            name.starts_with("CARGO_FEATURE_") || name.starts_with("CARGO_CFG_") || name.starts_with("CARGO_PKG_");
        if ours || FOREIGN.contains(&name.as_str()) {
            cargo.env_remove(name);
        }
    }
    let output = cargo.output()?;
    if !output.status.success() {
        return Err(format!("the components do not build:\n{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(target_dir.join(TARGET).join(PROFILE))
}

/// Variables by which the outer build, or a linter around it, would change the inner one.
const FOREIGN: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_MAKEFLAGS",
    "CARGO_MANIFEST_LINKS",
    "CARGO_TARGET_DIR",
    "CLIPPY_ARGS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "TARGET",
];
