//! What `kobana extension` shows to people.

use kobana_api::extensions::plain;
use kobana_contract::operations::extensions::{Extension, ExtensionDescription, ExtensionTool};
use kobana_store::directory;

use crate::admin::{Desk, database, output};
use crate::failure::Failure;

/// Characters of a digest that are enough to tell versions apart at a glance.
const SHORT_DIGEST: usize = 12;

/// A row of the list.
pub(super) fn cells(extension: &Extension) -> [String; 5] {
    let or_none = |version: &Option<String>| version.clone().unwrap_or_else(|| "-".to_owned());
    [
        extension.name.clone(),
        or_none(&extension.enabled_version),
        or_none(&extension.rollback_version),
        extension.versions.len().to_string(),
        output::day(extension.updated_at.0),
    ]
}

/// What a version offers, in a few words.
pub(super) fn count(description: &ExtensionDescription) -> String {
    let kinds = [
        (description.tools.len(), "tool"),
        (description.resources.len(), "resource"),
        (description.resource_templates.len(), "resource template"),
        (description.prompts.len(), "prompt"),
    ];
    let counted = |(count, kind): (usize, &str)| match count {
        0 => None,
        1 => Some(format!("1 {kind}")),
        _ => Some(format!("{count} {kind}s")),
    };
    let counted: Vec<_> = kinds.into_iter().filter_map(counted).collect();
    if counted.is_empty() { "it offers nothing".to_owned() } else { counted.join(", ") }
}

/// Everything about an extension, and about one of its versions.
pub(super) async fn page(
    desk: &Desk,
    extension: &Extension,
    shown: &ExtensionDescription,
    prefix: bool,
) -> Result<(), Failure> {
    head(shown);
    let callers_see = |name: &str| match prefix {
        true => format!("ext.{}.{name}", extension.name),
        false => name.to_owned(),
    };
    let tools = shown.tools.iter().map(|tool| [callers_see(&tool.name), effect(tool), plain(&tool.description)]);
    table(["TOOL", "EFFECT", "WHAT IT DOES"], tools);
    let resources = shown.resources.iter().map(|it| (&it.uri, &it.media_type, it.title.as_ref().unwrap_or(&it.name)));
    let templates = shown.resource_templates.iter();
    let templates = templates.map(|it| (&it.uri_template, &it.media_type, it.title.as_ref().unwrap_or(&it.name)));
    let documents = resources.chain(templates);
    table(
        ["RESOURCE", "TYPE", "NAME"],
        documents.map(|(uri, kind, name)| [plain(uri), plain(kind.as_deref().unwrap_or("-")), plain(name)]),
    );
    let prompts = shown.prompts.iter().map(|prompt| {
        let arguments: Vec<_> = prompt.arguments.iter().map(|argument| plain(&argument.name)).collect();
        let about = prompt.description.as_ref().or(prompt.title.as_ref()).map(|text| plain(text));
        [callers_see(&prompt.name), arguments.join(" "), about.unwrap_or_default()]
    });
    table(["PROMPT", "ARGUMENTS", "WHAT IT IS FOR"], prompts);
    versions(desk, extension).await
}

fn head(shown: &ExtensionDescription) {
    let state = if shown.enabled { "enabled" } else { "not enabled" };
    output::line(&format!("{} {}, {state}", shown.name, shown.version.version));
    let about: Vec<_> = [&shown.title, &shown.description].into_iter().flatten().map(|text| plain(text)).collect();
    for text in about {
        output::line(&text);
    }
    let scopes = if shown.scopes.is_empty() { "none".to_owned() } else { shown.scopes.join(" ") };
    output::line(&format!("Scopes: {scopes}"));
    output::line(&format!("Digest: {}", shown.version.digest));
}

/// What comes of calling it, as far as anybody but the extension can know.
fn effect(tool: &ExtensionTool) -> String {
    let says = match (tool.destructive, tool.open_world) {
        (true, true) => ", destructive, open world",
        (true, false) => ", destructive",
        (false, true) => ", open world",
        (false, false) => "",
    };
    let can = if tool.read_only { "reads" } else { "confirmed" };
    format!("{can}{says}")
}

async fn versions(desk: &Desk, extension: &Extension) -> Result<(), Failure> {
    let persons = directory::persons(desk.store.reads()).await.map_err(database)?;
    let rows = extension.versions.iter().map(|version| {
        let is = |other: &Option<String>| other.as_ref() == Some(&version.version);
        let state = match (is(&extension.enabled_version), is(&extension.rollback_version)) {
            (true, _) => "enabled",
            (false, true) => "rollback",
            (false, false) => "",
        };
        let by = version.created_by.map(|id| {
            let known = persons.iter().find(|person| person.id == id);
            known.map_or_else(|| id.to_string(), |person| person.email.clone())
        });
        [
            plain(&version.version),
            state.to_owned(),
            size(version.size),
            output::day(version.created_at.0),
            by.unwrap_or_else(|| "command line".to_owned()),
            version.digest.chars().take(SHORT_DIGEST).collect(),
        ]
    });
    table(["VERSION", "STATE", "SIZE", "ADDED", "BY", "DIGEST"], rows);
    Ok(())
}

/// A table after an empty line, if there is anything in it.
fn table<const COLUMNS: usize>(headings: [&str; COLUMNS], rows: impl Iterator<Item = [String; COLUMNS]>) {
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        output::line("");
        output::table(headings, rows);
    }
}

/// Bytes for people.
fn size(bytes: i64) -> String {
    const UNITS: [(i64, &str); 2] = [(1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes} B"), |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(
            [size(17), size(1_024), size(183_500), size(12_900_000)],
            ["17 B", "1.0 KiB", "179.2 KiB", "12.3 MiB"]
        );
    }
}
