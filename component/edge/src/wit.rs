//! What `wit/` says, as Rust.

use crate::dispatch::Edge;

wit_bindgen::generate!({
    path: "../../wit",
    world: "edge",
    generate_all,
});

export!(Edge with_types_in self);
