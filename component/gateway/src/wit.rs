//! What `wit/` says, as Rust.

use crate::gateway::Gateway;

wit_bindgen::generate!({
    path: "../../wit",
    world: "gateway",
    generate_all,
});

export!(Gateway with_types_in self);
