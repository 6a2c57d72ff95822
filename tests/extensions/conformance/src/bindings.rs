//! What the WIT says, as Rust.

use super::Conformance;

wit_bindgen::generate!({
    path: "../../../wit/extension",
    world: "extension",
});

export!(Conformance with_types_in self);
