//! The examples build as a tenant would build them, and do what their pages say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::Server;

/// A folder of this repository.
fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A cargo of its own in a project that is not ours; answers where it builds.
#[track_caller]
fn cargo(project: &Path, arguments: &[&str]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).args(["--quiet", "--target-dir"]).arg(&target).current_dir(project);
    // Set by the outer cargo for its own build, or for clippy's.
    for name in ["RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS"] {
        cargo.env_remove(name);
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    target
}

/// Name and version of each package of a lock file, but for those that lie in the repository.
fn locked(path: &str) -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(folder(path)).expect("there is a lock file");
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let packages = text.split("[[package]]").filter(|package| field(package, "source").is_some());
    packages.map(|package| (field(package, "name").unwrap(), field(package, "version").unwrap())).collect()
}

/// Builds the component of a project.
#[track_caller]
fn build(project: &Path, component: &str, how: &str) -> PathBuf {
    let target = cargo(project, &["build", "--target", "wasm32-wasip2", "--release", how]);
    target.join("wasm32-wasip2/release").join(component)
}

#[track_caller]
fn passes(component: &Path, cases: &Path) {
    let tested = Server::command(&["extension", "test"]).listen(None).arg(component).arg("--cases").arg(cases).run();
    assert_eq!(tested.code, Some(0), "{}\n{}", tested.stdout, tested.stderr);
}

/// The examples in a language that stand on the page for developers.
fn on_the_page(language: &str) -> Vec<String> {
    let page = fs::read_to_string(folder("docs/extensions.md")).unwrap();
    let fence = format!("```{language}\n");
    let rest = page.split(&fence).skip(1);
    rest.map(|rest| rest.split_once("```").expect("it ends").0.to_owned()).collect()
}

#[test]
fn the_risk_score_passes_its_cases_and_those_of_the_page() {
    let component = build(&folder("examples/risk-score"), "risk_score.wasm", "--locked");
    passes(&component, &folder("examples/risk-score/cases.yaml"));
    let cases = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page.yaml");
    fs::write(&cases, &on_the_page("yaml")[1]).unwrap();
    passes(&component, &cases);
}

#[test]
fn the_risk_score_passes_its_own_tests() {
    cargo(&folder("examples/risk-score"), &["test", "--locked"]);
}

#[test]
fn the_extension_of_the_page_passes_its_cases() {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inbox-count");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(project.join("wit")).unwrap();
    let manifest = [
        "[package]\nname = \"inbox-count\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        &on_the_page("toml")[0],
        "[dependencies]\nserde_json = \"1\"",
        "wit-bindgen = { version = \"0.61\", default-features = false, features = [\"macros\", \"realloc\"] }\n",
        "[workspace]\n",
    ];
    fs::write(project.join("Cargo.toml"), manifest.join("\n")).unwrap();
    fs::write(project.join("src/lib.rs"), &on_the_page("rust")[0]).unwrap();
    fs::write(project.join("cases.yaml"), &on_the_page("yaml")[0]).unwrap();
    fs::copy(folder("wit/extension/extension.wit"), project.join("wit/extension.wit")).unwrap();
    // The versions that are here already, so that nothing is fetched.
    fs::copy(folder("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let component = build(&project, "inbox_count.wasm", "--offline");
    passes(&component, &project.join("cases.yaml"));
}

#[test]
fn the_examples_have_the_interface_that_the_binary_writes() {
    let written = Server::command(&["extension", "wit"]).listen(None).run();
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let copied = fs::read_to_string(folder("examples/risk-score/wit/extension.wit")).unwrap();
    assert!(
        copied == written.stdout,
        "examples/risk-score/wit is out of date: kobana extension wit writes another one"
    );
}

#[test]
fn the_examples_need_nothing_to_be_fetched_that_the_workspace_does_not() {
    let (workspace, example) = (locked("Cargo.lock"), locked("examples/risk-score/Cargo.lock"));
    assert!(example.iter().any(|(name, _)| name == "wit-bindgen"), "{example:?}");
    let strangers: Vec<_> = example.difference(&workspace).collect();
    assert!(strangers.is_empty(), "take these versions from the Cargo.lock of the workspace: {strangers:?}");
}
