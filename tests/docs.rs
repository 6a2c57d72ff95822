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

/// Every setting of a section and of those in it, with their dots; the section is written as in variables.
fn all_settings(section: &str, prefix: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for name in settings(section)? {
        let inner = all_settings(&format!("{section}{}__", name.to_ascii_uppercase()), &format!("{prefix}{name}."));
        all.extend(inner.unwrap_or_else(|| vec![format!("{prefix}{name}")]));
    }
    Some(all)
}

#[test]
fn every_setting_is_documented_and_nothing_else() {
    let rows =
        CONFIGURATION.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(name, _)| name));
    let mut documented: Vec<_> = rows.map(str::to_owned).collect();
    let mut known = all_settings("", "").expect("an unknown setting is refused with the list of those known");
    documented.sort_unstable();
    known.sort_unstable();
    assert!(known.iter().any(|name| name == "http.max_connections"), "{known:?}");
    assert_eq!(documented, known);
}

#[test]
fn the_examples_of_configuration_files_work() {
    let folder = tempfile::tempdir().unwrap();
    let examples: Vec<_> =
        CONFIGURATION.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let file = folder.path().join("example.toml");
        fs::write(&file, example).unwrap();
        let server = Server::demo().arg("--config").arg(&file).env("MODELS_API_KEY", "k").start();
        server.legacy("ping").send().result();
        let allowed = server.legacy("ping").header("Origin", "https://inbox.example.com").send();
        assert_eq!(allowed.status == 200, example.contains("allowed_origins"), "{allowed}");
    }
}
