//! Finding rows by what callers call them: a UUID, or a name of their own.

use kobana_contract::Membership;
use kobana_contract::fields::{ExternalId, IdOrExternalId};
use kobana_store::{Named, Row, Scope, Table};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use crate::error::ApiError;

/// What a text may name. A text of any other form names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name<'a> {
    /// A UUID, which may also be somebody's external_id.
    Id(Uuid, &'a str),
    /// An external_id.
    Own(&'a str),
}

impl<'a> Name<'a> {
    /// Reads a path variable, a filter or a reference.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        if !ExternalId::fits(text) {
            return None;
        }
        Some(uuid(text).map_or(Self::Own(text), |id| Self::Id(id, text)))
    }
}

/// The name of a new row: the caller's own or, failing that, its UUID.
pub(crate) fn name(external_id: Option<&ExternalId>, id: Uuid) -> String {
    external_id.map_or_else(|| id.to_string(), |name| name.0.clone())
}

/// A UUID in its usual form with hyphens, in either letter case; other spellings are names like any other.
pub(crate) fn uuid(text: &str) -> Option<Uuid> {
    Uuid::parse_str(text).ok().filter(|_| text.len() == uuid::fmt::Hyphenated::LENGTH)
}

/// The live row with this UUID or, failing that, this external_id.
///
/// # Errors
/// What the database answers.
pub(crate) async fn find<T: Named>(
    connection: &impl ConnectionTrait,
    rows: T::Owner,
    text: &str,
) -> Result<Option<Row<T>>, ApiError> {
    let name = match Name::read(text) {
        None => return Ok(None),
        Some(Name::Id(id, name)) => match rows.find_by_id::<T>(id).one(connection).await? {
            Some(row) => return Ok(Some(row)),
            None => name,
        },
        Some(Name::Own(name)) => name,
    };
    Ok(rows.find_by_name::<T>(name).one(connection).await?)
}

/// The live row that a path names by UUID or external_id.
///
/// # Errors
/// [`ApiError::NotFound`], or what the database answers.
pub(crate) async fn get<T: Named>(
    connection: &impl ConnectionTrait,
    rows: T::Owner,
    text: &str,
) -> Result<Row<T>, ApiError> {
    find::<T>(connection, rows, text).await?.ok_or(ApiError::NotFound)
}

/// The live row that a path names by UUID.
///
/// # Errors
/// [`ApiError::NotFound`], or what the database answers.
pub(crate) async fn get_by_uuid<T: Table>(
    connection: &impl ConnectionTrait,
    rows: T::Owner,
    text: &str,
) -> Result<Row<T>, ApiError> {
    let id = uuid(text).ok_or(ApiError::NotFound)?;
    rows.find_by_id::<T>(id).one(connection).await?.ok_or(ApiError::NotFound)
}

/// The live row that a member of the body refers to.
///
/// # Errors
/// [`ApiError::ReferenceNotFound`] with the member's name, or what the database answers.
pub(crate) async fn reference<T: Named>(
    connection: &impl ConnectionTrait,
    rows: T::Owner,
    text: &IdOrExternalId,
    field: &'static str,
) -> Result<Row<T>, ApiError> {
    find::<T>(connection, rows, &text.0).await?.ok_or(ApiError::ReferenceNotFound { field })
}

/// The membership in the workspace with this UUID or, failing that, this external_id.
pub(crate) fn membership<'a>(memberships: &'a [Membership], text: &str) -> Option<&'a Membership> {
    let by_id = uuid(text).and_then(|id| memberships.iter().find(|member| member.workspace_id == id));
    by_id.or_else(|| memberships.iter().find(|member| member.external_id == text))
}

#[cfg(test)]
mod tests {
    use kobana_contract::fields::MAX_ID_LENGTH;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_another_form_name_nothing() {
        let long = "x".repeat(129);
        for text in ["", ".", "..", "-a", "@a", "a/b", "a b", "ácme", "ａ", "a\0", "a?b", "a%62", &long] {
            assert_eq!(Name::read(text), None, "{text}");
        }
        assert_eq!(Name::read("acme-invoices"), Some(Name::Own("acme-invoices")));
        let text = "00000000-0000-7000-8000-00000000000A";
        assert!(matches!(Name::read(text), Some(Name::Id(..))));
        assert!(matches!(Name::read(&text.replace('-', "")), Some(Name::Own(_))));
    }

    proptest! {
        #[test]
        fn what_is_read_fits_the_contract(text in any::<String>()) {
            if Name::read(&text).is_some() {
                prop_assert!((1..=MAX_ID_LENGTH).contains(&text.len()));
                prop_assert!(!text.contains(['/', '%', '\0', ' ']));
            }
        }
    }
}
