//! What `wit/` says, as Rust.

use super::Hostile;

wit_bindgen::generate!({
    path: "../../../../wit",
    world: "gateway",
    generate_all,
});

export!(Hostile with_types_in self);
