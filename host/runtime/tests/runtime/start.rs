//! What starts, and what is refused with a line that says why.

use std::borrow::Cow;
use std::sync::Arc;

use kobana_runtime::{Limits, Runtime, Source, StartError};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::support::{Api, component, scratch, tight};

fn refusal(source: Source, limits: Limits) -> StartError {
    match Runtime::new(source, limits, Vec::new(), Arc::new(Api::default()), None) {
        Ok(_) => panic!("it started"),
        Err(error) => error,
    }
}

fn text(wat: &str) -> Source {
    Source::Bytes(wat::parse_str(wat).unwrap().into())
}

fn line(source: Source) -> String {
    let line = refusal(source, tight()).to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn what_is_no_component_is_refused() {
    assert_eq!(
        line(Source::Bytes(Cow::Borrowed(b"#!/bin/sh"))),
        "the component is not a WebAssembly component: it is not WebAssembly"
    );
    assert_eq!(line(text("(module)")), "the component is not a WebAssembly component: it is a core module");
    assert!(line(Source::File("/nowhere.wasm".into())).starts_with("cannot read the component /nowhere.wasm: "));
    let cut = component("kobana-hostile")[..5_000].to_vec();
    assert!(line(Source::Bytes(cut.into())).starts_with("the component cannot be used: "));
}

#[test]
fn what_does_not_fit_is_named() {
    assert_eq!(line(text("(component)")), "the component does not export wasi:http/incoming-handler@0.2");
    let greedy = r#"(component
        (import "wasi:sockets/tcp@0.2.0" (instance))
        (import "wasi:io/poll@0.2.9" (instance))
        (import "wasi:filesystem/types@0.2.3" (instance)))"#;
    assert_eq!(
        line(text(greedy)),
        "the component imports what this host does not give: wasi:sockets/tcp@0.2.0, wasi:filesystem/types@0.2.3"
    );
    let odd = r#"(component
        (import "wasi:cli/environment@0.2.0" (instance (export "no-such-function" (func))))
        (instance $handler)
        (export "wasi:http/incoming-handler@0.2.0" (instance $handler)))"#;
    assert!(line(text(odd)).starts_with("the component does not fit this host: "));
}

#[test]
fn a_bad_limit_is_named() {
    let limits = Limits { memory: 1, ..tight() };
    let line = refusal(Source::Bytes(component("kobana-hostile")), limits).to_string();
    assert_eq!(line, "limit memory: must be 65536 (64 KiB) to 4294967296 (4 GiB)");
}

#[test]
fn a_component_that_needs_more_than_it_may_is_refused() {
    let start = |limits| refusal(Source::Bytes(component("kobana-hostile")), limits).to_string();
    let line = start(Limits { memory: 1 << 16, ..tight() });
    assert!(line.starts_with("the component cannot be used: ") && line.contains("memory"), "{line}");
    let line = start(Limits { core_instances: 1, ..tight() });
    assert!(line.starts_with("the component cannot be used: ") && line.contains("core"), "{line}");
    let line = start(Limits { table_elements: 1, ..tight() });
    assert!(line.starts_with("the component cannot be used: ") && line.contains("table"), "{line}");
}

#[test]
fn the_cache_directory_is_named_when_it_cannot_be_used() {
    let file = scratch("no-directory");
    std::fs::write(&file, "").unwrap();
    let source = Source::Bytes(component("kobana-hostile"));
    let error = Runtime::new(source, tight(), Vec::new(), Arc::new(Api::default()), Some(file.clone())).err().unwrap();
    assert!(error.to_string().starts_with(&format!("cannot use the cache directory {}: ", file.display())), "{error}");
}

/// What the gateway may touch. A line more is a door more. All but the first and the last four are Rust's standard library
/// starting up; the versions are the ones that it was built for.
#[test]
fn the_gateway_imports_only_this() {
    let engine = Engine::default();
    let gateway = Component::from_binary(&engine, &component("kobana-gateway")).unwrap();
    let shape = gateway.component_type();
    let unversioned = |name: &str| name.split_once('@').unwrap().0.to_owned();
    let mut imports: Vec<_> = shape.imports(&engine).map(|(name, _)| unversioned(name)).collect();
    imports.sort();
    assert_eq!(
        imports,
        [
            "kobana:api/dispatch",
            "wasi:cli/environment",
            "wasi:cli/exit",
            "wasi:cli/stderr",
            "wasi:cli/stdin",
            "wasi:cli/stdout",
            "wasi:cli/terminal-input",
            "wasi:cli/terminal-output",
            "wasi:cli/terminal-stderr",
            "wasi:cli/terminal-stdin",
            "wasi:cli/terminal-stdout",
            "wasi:http/types",
            "wasi:io/error",
            "wasi:io/poll",
            "wasi:io/streams",
        ]
    );
    let exports: Vec<_> = shape.exports(&engine).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(exports, ["wasi:http/incoming-handler@0.2.0", "kobana:api/exchange@0.1.0"]);
}
