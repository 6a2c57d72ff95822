//! What the extensions of one workspace offer, by the names that callers see.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use kobana_contract::{operations, prompt};
use kobana_protocol::extensions::Definition;
use kobana_store::extensions::Enabled;
use kobana_wire::extension::{Kind, Offer};

use crate::extension::Extension;

/// The offers of a workspace, as long as these versions are enabled.
#[derive(Debug)]
pub(crate) struct Catalogue {
    rows: Arc<[Enabled]>,
    sources: Vec<Source>,
    entries: Vec<Entry>,
    by_name: HashMap<(Kind, String), usize>,
}

/// An enabled version.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) row: Enabled,
    pub(crate) extension: Arc<Extension>,
}

/// Something that is offered.
#[derive(Debug)]
struct Entry {
    name: String,
    source: usize,
    definition: usize,
}

/// An offer that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    /// The name as callers see it.
    name: &'a str,
    pub(crate) source: &'a Source,
    definition: &'a Definition,
}

impl Catalogue {
    /// Puts together what versions offer, in the order of the rows. Of two things of one name the first is offered, and nothing that
    /// is named like something of the server's own: whoever enables an extension is told, this is for what comes in between.
    pub(crate) fn new(rows: Arc<[Enabled]>, sources: Vec<Source>) -> Self {
        let mut catalogue = Self { rows, sources, entries: Vec::new(), by_name: HashMap::new() };
        let mut entries = Vec::new();
        for (number, source) in catalogue.sources.iter().enumerate() {
            for (position, definition) in source.extension.definitions().iter().enumerate() {
                let name = seen_name(source, definition);
                if is_built_in(definition.kind, &name) {
                    tracing::warn!(
                        extension = source.row.extension,
                        name,
                        "not offered: the server has one of this name"
                    );
                    continue;
                }
                entries.push((definition.kind, Entry { name, source: number, definition: position }));
            }
        }
        for (kind, entry) in entries {
            let position = catalogue.entries.len();
            let taken = catalogue.by_name.insert((kind, entry.name.clone()), position);
            if let Some(first) = taken {
                tracing::warn!(name = entry.name, "not offered: another extension has one of this name");
                catalogue.by_name.insert((kind, entry.name), first);
                continue;
            }
            catalogue.entries.push(entry);
        }
        catalogue
    }

    /// The versions that it was made of.
    pub(crate) fn rows(&self) -> &[Enabled] {
        &self.rows
    }

    /// How much room it takes, about.
    pub(crate) fn weight(&self) -> u64 {
        let text = |source: &Source| source.extension.definitions().iter().map(|d| d.entry.len() as u64).sum::<u64>();
        1_024 + self.sources.iter().map(text).sum::<u64>() * 4
    }

    /// Everything of a kind.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = Found<'_>> {
        self.entries.iter().filter_map(|entry| self.found(entry)).filter(move |found| found.definition.kind == kind)
    }

    /// What has this name, or leads to this URI.
    pub(crate) fn find(&self, kind: Kind, name: &str) -> Option<Found<'_>> {
        let exact = |kind| self.by_name.get(&(kind, name.to_owned())).and_then(|at| self.found(self.entries.get(*at)?));
        match kind {
            Kind::Tool | Kind::Prompt => exact(kind),
            Kind::Resource => exact(Kind::Resource).or_else(|| self.template_of(name)),
            Kind::ResourceTemplate => exact(Kind::ResourceTemplate).or_else(|| self.template_of(name)),
        }
    }

    fn template_of(&self, uri: &str) -> Option<Found<'_>> {
        self.sources.iter().find_map(|source| {
            let template = source.extension.description().resource_templates.get(source.extension.template_of(uri)?)?;
            let definitions = source.extension.definitions().iter();
            let definition =
                definitions.filter(|d| d.kind == Kind::ResourceTemplate).find(|d| d.name == template.uri_template)?;
            Some(Found { name: &definition.name, source, definition })
        })
    }

    fn found<'a>(&'a self, entry: &'a Entry) -> Option<Found<'a>> {
        let source = self.sources.get(entry.source)?;
        let definition = source.extension.definitions().get(entry.definition)?;
        Some(Found { name: &entry.name, source, definition })
    }
}

impl Found<'_> {
    /// The extension's own name for it.
    pub(crate) fn own_name(&self) -> &str {
        &self.definition.name
    }

    /// As callers see it, with the scope to ask for where the caller lacks them all.
    pub(crate) fn offer(&self, missing_scope: Option<String>) -> Offer {
        let Enabled { extension, digest, .. } = &self.source.row;
        self.definition.offer(self.name.to_owned(), extension, digest, missing_scope)
    }
}

/// The name that callers see.
fn seen_name(source: &Source, definition: &Definition) -> String {
    match definition.kind {
        Kind::Tool | Kind::Prompt if source.row.prefix => format!("ext.{}.{}", source.row.extension, definition.name),
        _ => definition.name.clone(),
    }
}

/// Whether the server itself has something of this name.
fn is_built_in(kind: Kind, name: &str) -> bool {
    static TOOLS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| operations::tools().iter().map(|tool| tool.name).collect());
    match kind {
        Kind::Tool => TOOLS.contains(name),
        Kind::Prompt => prompt::PROMPTS.iter().any(|prompt| prompt.name == name),
        Kind::Resource | Kind::ResourceTemplate => false,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::extension::tests::extension;

    fn catalogue(names: &[(&str, bool)]) -> Catalogue {
        let rows: Vec<_> = names
            .iter()
            .map(|(name, prefix)| Enabled {
                id: Uuid::now_v7(),
                extension: (*name).to_owned(),
                version: "1.0.0".to_owned(),
                digest: format!("digest of {name}"),
                prefix: *prefix,
            })
            .collect();
        let source = |row: &Enabled| Source { row: row.clone(), extension: Arc::new(extension(&row.extension)) };
        let sources = rows.iter().map(source).collect();
        Catalogue::new(rows.into(), sources)
    }

    fn names(catalogue: &Catalogue, kind: Kind) -> Vec<String> {
        catalogue.all(kind).map(|found| found.name.to_owned()).collect()
    }

    #[test]
    fn names_say_whose_they_are() {
        let both = catalogue(&[("one", true), ("two", true)]);
        let tools = ["ext.one.score", "ext.one.emails_list", "ext.two.score", "ext.two.emails_list"];
        assert_eq!(names(&both, Kind::Tool), tools);
        assert_eq!(names(&both, Kind::Prompt), ["ext.one.explain", "ext.two.explain"]);
        let found = both.find(Kind::Tool, "ext.two.score").unwrap();
        assert_eq!((found.own_name(), found.source.row.extension.as_str()), ("score", "two"));
        let offer = found.offer(Some("inbox.emails".to_owned()));
        assert_eq!((offer.name.as_str(), offer.version.as_str()), ("ext.two.score", "digest of two"));
        assert!(offer.read_only && offer.missing_scope.is_some());
        for (kind, name) in [(Kind::Tool, "score"), (Kind::Tool, "ext.two.explain"), (Kind::Prompt, "ext.two.score")] {
            assert!(both.find(kind, name).is_none(), "{name}");
        }
    }

    #[test]
    fn without_a_prefix_nothing_is_named_like_a_built_in_one_or_like_another() {
        let both = catalogue(&[("one", false), ("two", false)]);
        assert_eq!(names(&both, Kind::Tool), ["score"], "emails_list is the server's own");
        assert_eq!(both.find(Kind::Tool, "score").unwrap().source.row.extension, "one");
        assert!(both.find(Kind::Tool, "emails_list").is_none());
        assert_eq!(names(&both, Kind::Prompt), ["explain"]);
    }

    #[test]
    fn a_uri_leads_to_a_document_or_to_a_template() {
        let one = catalogue(&[("one", true)]);
        let found = |kind, uri: &str| one.find(kind, uri).map(|found| found.own_name().to_owned());
        assert_eq!(found(Kind::Resource, "risk://policy").as_deref(), Some("risk://policy"));
        for kind in [Kind::Resource, Kind::ResourceTemplate] {
            assert_eq!(found(kind, "risk://emails/7").as_deref(), Some("risk://emails/{id}"));
            assert_eq!(found(kind, "risk://emails/7/8"), None);
        }
        assert_eq!(found(Kind::ResourceTemplate, "risk://emails/{id}").as_deref(), Some("risk://emails/{id}"));
        assert_eq!(found(Kind::ResourceTemplate, "risk://policy"), None);
    }
}
