//! The twin has no component, so whatever names one of them names an empty file.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let nothing = PathBuf::from(std::env::var("OUT_DIR")?).join("nothing.wasm");
    std::fs::write(&nothing, b"")?;
    println!("cargo::rustc-env=KOBANA_EDGE_WASM={}", nothing.display());
    Ok(())
}
