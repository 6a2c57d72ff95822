//! The component at the edge: how it is made, the host's endpoint for it, and their bad days.

mod bad_days;
mod build;
mod endpoint;
mod proxy;
mod runtime;

use crate::harness::{Server, Setup, Shared};

/// Two keys of edge components.
const KEY: &str = "b25lIGtleSBvZiBhbiBlZGdlIGNvbXBvbmVudC4uLi4=";
const OTHER_KEY: &str = "YW5vdGhlciBrZXkgb2YgYW4gZWRnZSBjb21wb25lbnQ=";

/// A demo server with an edge endpoint that these keys open.
fn setup(keys: &[&str]) -> Setup {
    let keys: Vec<_> = keys.iter().map(|key| format!(r#"{{id = "k-{}", key = "{key}"}}"#, &key[..4])).collect();
    let keys = format!("[{}]", keys.join(", "));
    Server::demo().env("KOBANA_EDGE__LISTEN", "127.0.0.1:0").env("KOBANA_EDGE__KEYS", &keys)
}

/// One that tests share, opened by [`KEY`]: they add rows of their own only.
fn host() -> Server {
    static SHARED: Shared = Shared::new();
    SHARED.get(|| setup(&[KEY]))
}
