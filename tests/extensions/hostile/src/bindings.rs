//! What the WIT says, as Rust.

use super::Hostile;

wit_bindgen::generate!({
    path: "../../../wit/extension",
    world: "extension",
});

export!(Hostile with_types_in self);
