//! An extension as it is: which version is enabled, and which one was before.

use kobana_contract::Timestamp;
use kobana_contract::operations::extensions::{Extension, ExtensionVersion};
use kobana_store::rows::{ExtensionRow, ExtensionVersionRow};
use serde_json::{Value, json};

/// An extension with its versions, in the order in which they were added.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) row: ExtensionRow,
    pub(super) versions: Vec<ExtensionVersionRow>,
}

impl State {
    /// The version that is enabled.
    pub(super) fn enabled(&self) -> Option<&ExtensionVersionRow> {
        self.versions.iter().find(|version| Some(version.id) == self.row.enabled_id)
    }

    /// The version with this semantic version or digest.
    pub(super) fn version(&self, name: &str) -> Option<&ExtensionVersionRow> {
        self.versions.iter().find(|version| version.version == name || version.digest == name)
    }

    /// The version that was enabled last before the one that is enabled, or that was last, where none is. Two rollbacks in a row
    /// lead back to where they began.
    pub(super) fn before(&self) -> Option<&ExtensionVersionRow> {
        let mut turns: Vec<_> = self.versions.iter().filter(|version| version.turn.is_some()).collect();
        turns.sort_by_key(|version| std::cmp::Reverse(version.turn));
        turns.get(1).copied()
    }

    /// The turn of a version that is enabled now.
    pub(super) fn next_turn(&self) -> i64 {
        self.versions.iter().filter_map(|version| version.turn).max().unwrap_or_default().saturating_add(1)
    }

    /// The same as the API shows it.
    pub(super) fn show(self) -> Extension {
        let name = |version: &ExtensionVersionRow| version.version.clone();
        Extension {
            id: self.row.id,
            workspace_id: self.row.workspace_id,
            enabled_version: self.enabled().map(name),
            rollback_version: self.before().map(name),
            versions: self.versions.iter().map(show_version).collect(),
            created_at: Timestamp(self.row.created_at),
            updated_at: Timestamp(self.row.updated_at),
            name: self.row.name,
        }
    }
}

/// A version as the API shows it.
pub(super) fn show_version(row: &ExtensionVersionRow) -> ExtensionVersion {
    ExtensionVersion {
        version: row.version.clone(),
        digest: row.digest.clone(),
        size: row.size,
        created_by: row.created_by,
        created_at: Timestamp(row.created_at),
    }
}

/// A version as events name it.
pub(super) fn brief(extension: &str, version: &ExtensionVersionRow) -> Value {
    json!({ "name": extension, "version": version.version, "digest": version.digest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn state(enabled: Option<u128>, turns: &[Option<i64>]) -> State {
        let version = |(number, turn): (usize, &Option<i64>)| ExtensionVersionRow {
            id: Uuid::from_u128(number as u128 + 1),
            workspace_id: Uuid::nil(),
            extension_id: Uuid::nil(),
            version: format!("{}.0.0", number + 1),
            digest: format!("digest-{}", number + 1),
            size: 1,
            turn: *turn,
            created_at: 0,
            created_by: None,
        };
        let row = ExtensionRow {
            id: Uuid::nil(),
            workspace_id: Uuid::nil(),
            name: "x".to_owned(),
            enabled_id: enabled.map(Uuid::from_u128),
            created_at: 0,
            updated_at: 0,
        };
        State { row, versions: turns.iter().enumerate().map(version).collect() }
    }

    fn rollback(enabled: Option<u128>, turns: &[Option<i64>]) -> Option<String> {
        state(enabled, turns).show().rollback_version
    }

    #[test]
    fn a_rollback_leads_to_the_version_enabled_before() {
        assert_eq!(rollback(None, &[None, None]), None);
        assert_eq!(rollback(Some(1), &[Some(1), None]), None);
        assert_eq!(rollback(Some(2), &[Some(1), Some(2)]).as_deref(), Some("1.0.0"));
        assert_eq!(rollback(Some(1), &[Some(3), Some(2)]).as_deref(), Some("2.0.0"));
        assert_eq!(rollback(Some(3), &[Some(1), Some(2), Some(4)]).as_deref(), Some("2.0.0"));
    }

    #[test]
    fn after_disabling_a_bad_version_a_rollback_does_not_bring_it_back() {
        assert_eq!(rollback(None, &[Some(1), Some(2)]).as_deref(), Some("1.0.0"));
    }

    #[test]
    fn versions_go_by_semantic_version_or_digest() {
        let state = state(Some(1), &[Some(7), None]);
        assert_eq!(state.version("2.0.0").map(|version| version.digest.as_str()), Some("digest-2"));
        assert_eq!(state.version("digest-1").map(|version| version.version.as_str()), Some("1.0.0"));
        assert!(state.version("3.0.0").is_none() && state.version("").is_none());
        assert_eq!(state.next_turn(), 8);
    }
}
