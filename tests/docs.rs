//! What is written down is true.

use std::fs;

use crate::harness::Server;

const CONFIGURATION: &str = include_str!("../docs/configuration.md");

/// The settings of a section, as the binary itself lists them when it is given one that it does not know; none where the
/// name is no section's.
fn settings(section: &str) -> Option<Vec<String>> {
    let variable = format!("KOBANA_{section}NO_SUCH_SETTING");
    let refusal = Server::demo().listen(None).env(&variable, "1").run().stderr;
    let (_, list) = refusal.split_once("unknown field")?.1.split_once("expected")?;
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase());
    Some(list.split('`').filter(is_name).map(str::to_owned).collect())
}

/// Every setting, with its section and a dot where it has one.
fn all_settings() -> Vec<String> {
    let mut all = Vec::new();
    for name in settings("").expect("an unknown setting is refused with the list of those known") {
        match settings(&format!("{}__", name.to_ascii_uppercase())) {
            Some(inner) => all.extend(inner.iter().map(|setting| format!("{name}.{setting}"))),
            None => all.push(name),
        }
    }
    all
}

#[test]
fn every_setting_is_documented_and_nothing_else() {
    let rows =
        CONFIGURATION.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(name, _)| name));
    let (mut documented, mut known): (Vec<_>, _) = (rows.map(str::to_owned).collect(), all_settings());
    documented.sort_unstable();
    known.sort_unstable();
    assert!(known.iter().any(|name| name == "http.max_connections"), "{known:?}");
    assert_eq!(documented, known);
}

#[test]
fn the_example_of_a_configuration_file_works() {
    let (_, example) = CONFIGURATION.split_once("```toml\n").expect("there is an example");
    let (example, _) = example.split_once("```").expect("the example ends");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("example.toml");
    fs::write(&file, example).unwrap();
    let server = Server::demo().arg("--config").arg(&file).start();
    server.legacy("ping").header("Origin", "https://inbox.example.com").send().result();
}
