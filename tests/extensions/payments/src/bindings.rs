//! What the WIT says, as Rust.

use super::Payments;

wit_bindgen::generate!({
    path: "../../../wit/extension",
    world: "extension",
});

export!(Payments with_types_in self);
