//! What is no extension, and why.

use bytes::Bytes;
use kobana_runtime::extension::{Limits, Sandbox, Settings, Stopped, Unfit};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use crate::support::{component, free, hostile, sandbox, sandbox_with, settings, tight};

async fn refused(sandbox: &Sandbox, bytes: impl Into<Bytes>) -> Unfit {
    sandbox.compile(bytes.into()).await.expect_err("it is refused")
}

/// A component of the world of extensions around a core module: whatever it needs, and what `more` says.
fn around(more: &str) -> Vec<u8> {
    let core = format!(
        r#"(module
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            (func (export "describe") (result i32) i32.const 0)
            (func (export "call-tool") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                i32.const 0)
            (func (export "read-resource") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                i32.const 0)
            (func (export "get-prompt") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
                i32.const 0)
            {more})"#
    );
    let mut module = wat::parse_str(core).unwrap();
    let mut resolve = wit_parser::Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/extension");
    let (package, _) = resolve.push_dir(wit).unwrap();
    let world = resolve.select_world(&[package], Some("extension")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// What comes of asking a component what it is.
async fn described(bytes: Vec<u8>, limits: &Limits) -> Stopped {
    let sandbox = sandbox();
    let artifact = sandbox.compile(bytes.into()).await.expect("it compiles");
    sandbox.describe(&artifact, limits, &free()).await.1.expect_err("it is stopped")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_component_is_named() {
    let sandbox = sandbox();
    assert_eq!(refused(&sandbox, "").await.to_string(), "it is not a WebAssembly component: it is not WebAssembly");
    let module = wat::parse_str("(module)").unwrap();
    assert_eq!(refused(&sandbox, module).await.to_string(), "it is not a WebAssembly component: it is a core module");
    let mut cut = component("kobana-hostile-extension").into_owned();
    cut.truncate(cut.len() / 2);
    assert!(matches!(refused(&sandbox, cut).await, Unfit::Unusable(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_import_that_it_does_not_get_is_named() {
    let bytes = wat::parse_str(
        r#"(component
            (import "wasi:cli/environment@0.2.3" (instance))
            (import "wasi:clocks/monotonic-clock@0.2.0" (instance))
            (import "wasi:sockets/tcp@0.2.0" (instance))
            (import "wasi:filesystem/types@0.2.6" (instance))
            (import "wasi:http/outgoing-handler@0.2.0" (instance))
            (import "kobana:api/dispatch@0.1.0" (instance))
            (import "wasi:random/random@0.3.0" (instance)))"#,
    );
    let expected = "the component imports what an extension does not get: wasi:sockets/tcp@0.2.0, \
        wasi:filesystem/types@0.2.6, wasi:http/outgoing-handler@0.2.0, kobana:api/dispatch@0.1.0, \
        wasi:random/random@0.3.0";
    assert_eq!(refused(&sandbox(), bytes.unwrap()).await.to_string(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_is_every_export_that_it_lacks() {
    let sandbox = sandbox();
    let bytes = wat::parse_str(r#"(component)"#).unwrap();
    let problem = refused(&sandbox, bytes).await.to_string();
    assert_eq!(problem, "the component does not export describe, call-tool, read-resource, get-prompt");
    // The gateway is a component, and no extension.
    assert!(matches!(refused(&sandbox, component("kobana-gateway").into_owned()).await, Unfit::Imports(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interface_in_another_shape_does_not_fit() {
    let bytes = wat::parse_str(
        r#"(component
            (core module $m
                (func (export "f") (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            (func $f (result u32) (canon lift (core func $i "f")))
            (export "describe" (func $f))
            (export "call-tool" (func $f))
            (export "read-resource" (func $f))
            (export "get-prompt" (func $f)))"#,
    );
    assert!(matches!(refused(&sandbox(), bytes.unwrap()).await, Unfit::Mismatch(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_is_not_looked_at() {
    let sandbox = sandbox_with(Settings { component: 1 << 16, ..settings() });
    let size = hostile("harmless").len();
    assert_eq!(refused(&sandbox, hostile("harmless")).await, Unfit::TooLarge { size, limit: 1 << 16 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_more_than_the_engine_has_does_not_compile() {
    let more = format!("(memory {})", (512 << 20) >> 16);
    assert!(matches!(refused(&sandbox(), around(&more)).await, Unfit::Unusable(_)));
    assert!(matches!(refused(&sandbox(), around("(table 1000000 funcref)")).await, Unfit::Unusable(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_section_that_does_not_end_is_ended() {
    let bytes = around("(func $start (loop br 0)) (start $start)");
    assert_eq!(described(bytes.clone(), &tight()).await, Stopped::Fuel(tight().fuel));
    let limits = Limits { fuel: u64::MAX / 2, time_ms: 100, ..tight() };
    assert_eq!(described(bytes, &limits).await, Stopped::Time(100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_and_memories_that_grow_are_stopped() {
    let table = r#"(table $t 1 funcref)
        (func $start (loop (drop (table.grow $t (ref.null func) (i32.const 1000))) (br 0))) (start $start)"#;
    assert_eq!(described(around(table), &tight()).await, Stopped::Tables(tight().table_elements));
    let memory = "(func $start (loop (drop (memory.grow (i32.const 16))) (br 0))) (start $start)";
    assert_eq!(described(around(memory), &tight()).await, Stopped::Memory(tight().memory));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_and_texts_that_lie_about_their_length_are_stopped() {
    // A description that is all zeros but for a name of two gigabytes.
    let long = r#"(data (i32.const 4) "\ff\ff\ff\7f")"#;
    assert!(matches!(described(around(long), &tight()).await, Stopped::Trap(_)));
    // A name that is no UTF-8.
    let bad = r#"(data (i32.const 0) "\00\10\00\00\02\00\00\00") (data (i32.const 4096) "\ff\fe")"#;
    let stopped = described(around(bad), &tight()).await;
    assert!(matches!(&stopped, Stopped::Trap(trap) if trap.reason.contains("utf-8")), "{stopped:?}");
}
