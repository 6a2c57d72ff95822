//! `kobana edge build`.

use std::path::Path;

use crate::harness::Server;

/// What a Rust program asks for whether it uses it or not, HTTP both ways, and a clock.
const IMPORTS: &[&str] = &[
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
    "wasi:clocks/monotonic-clock",
    "wasi:http/outgoing-handler",
    "wasi:http/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
];
/// The latest version of each package that a runtime has to have: what the compiler's own library asks for.
const LATEST: &[(&str, u32)] = &[("wasi:http", 4), ("wasi:cli", 6), ("wasi:clocks", 6), ("wasi:io", 6)];

fn build(file: &Path) -> String {
    let ended = Server::command(&["edge", "build", "--output"]).arg(file).listen(None).run();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

#[test]
fn the_component_asks_a_runtime_for_no_more_than_it_needs() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.wasm");
    let report = build(&file);
    let bytes = std::fs::read(&file).unwrap();
    assert!(report.starts_with(&format!("{}: {} bytes", file.display(), bytes.len())), "{report}");
    let imports: Vec<_> = report.lines().filter_map(|line| line.strip_prefix("  ")?.trim().split_once('@')).collect();
    assert_eq!(imports.iter().map(|(name, _)| *name).collect::<Vec<_>>(), IMPORTS);
    for (name, version) in imports {
        let patch: u32 = version.strip_prefix("0.2.").expect("WASI 0.2").parse().unwrap();
        let latest = LATEST.iter().find(|(package, _)| name.starts_with(package)).expect("a known package").1;
        assert!(patch <= latest, "{name}@{version}");
    }
    // What the report says is what a runtime is asked for.
    let engine = wasmtime::Engine::default();
    let component = wasmtime::component::Component::from_binary(&engine, &bytes).unwrap();
    let shape = component.component_type();
    let mut asked: Vec<_> = shape.imports(&engine).filter_map(|(name, _)| Some(name.split_once('@')?.0)).collect();
    asked.sort_unstable();
    assert_eq!(asked, IMPORTS);
    let given: Vec<_> = shape.exports(&engine).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(given, ["wasi:http/incoming-handler@0.2.0"]);
}

#[test]
fn the_same_program_makes_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let [one, two] = ["one.wasm", "two.wasm"].map(|name| directory.path().join(name));
    build(&one);
    build(&two);
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap());
    // Nothing half done is left beside them.
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn the_parts_are_two_components_of_which_one_gives_what_the_other_wants() {
    let directory = tempfile::tempdir().unwrap();
    let setup = Server::command(&["edge", "build", "--output"]).arg(directory.path().join("whole.wasm"));
    let ended = setup.arg("--parts").arg(directory.path()).listen(None).run();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let engine = wasmtime::Engine::default();
    let [gateway, adapter] = ["gateway.wasm", "adapter.wasm"]
        .map(|name| wasmtime::component::Component::from_file(&engine, directory.path().join(name)).unwrap());
    let dispatch = "kobana:api/dispatch@0.1.0";
    assert!(gateway.component_type().imports(&engine).any(|(name, _)| name == dispatch));
    let given: Vec<_> = adapter.component_type().exports(&engine).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(given, [dispatch]);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let file = Path::new("/nowhere/edge.wasm");
    let ended = Server::command(&["edge", "build", "-o"]).arg(file).listen(None).run();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("cannot write /nowhere/edge.wasm: "), "{}", ended.stderr);
}
