//! What the WIT says, as Rust.

use super::Card;

wit_bindgen::generate!({
    path: "../../../wit/extension",
    world: "extension",
});

export!(Card with_types_in self);
