//! Persons and the workspaces they reach: what the identity side asks.

use kobana_contract::{Membership, Role};
use sea_orm::{ColumnTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, Set};
use uuid::Uuid;

use crate::entity::{memberships, organizations, persons, workspaces};
use crate::rows::Workspaces;
use crate::text::fold;
use crate::values::Word;
use crate::{InOrganization, Scope, Store, Write};

/// A person, with the organization they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonRow {
    /// UUID.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
    /// UUID of the organization.
    pub organization_id: Uuid,
    /// The organization's name.
    pub organization_name: String,
    /// Whether the account may be used.
    pub active: bool,
}

/// A person, and what they sign in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The person.
    pub person: PersonRow,
    /// The hash of their password in PHC form; none where they have none.
    pub password_hash: Option<String>,
}

/// The person with this UUID, disabled ones included.
///
/// # Errors
/// What the database answers.
pub async fn find(store: &Store, person_id: Uuid) -> Result<Option<PersonRow>, DbErr> {
    let found = persons::Entity::find_by_id(person_id).one(store.reads()).await?;
    Ok(account(store, found).await?.map(|account| account.person))
}

/// The person with this e-mail address, in whatever letter case, disabled ones included.
///
/// # Errors
/// What the database answers.
pub async fn by_email(store: &Store, email: &str) -> Result<Option<Account>, DbErr> {
    let found = persons::Entity::find().filter(persons::Column::EmailFolded.eq(fold(email)));
    account(store, found.one(store.reads()).await?).await
}

async fn account(store: &Store, person: Option<persons::Model>) -> Result<Option<Account>, DbErr> {
    let Some(person) = person else { return Ok(None) };
    let organization = organizations::Entity::find_by_id(person.organization_id).one(store.reads()).await?;
    Ok(organization.map(|organization| Account {
        person: PersonRow {
            id: person.id,
            name: person.name,
            email: person.email,
            organization_id: organization.id,
            organization_name: organization.name,
            active: person.active,
        },
        password_hash: person.password_hash,
    }))
}

/// Keeps the hash of a person's password in PHC form, or takes the password away. Answers whether there is such a person.
///
/// # Errors
/// What the database answers.
pub async fn set_password(tx: &Write, person_id: Uuid, hash: Option<String>) -> Result<bool, DbErr> {
    let change = persons::ActiveModel { id: Set(person_id), password_hash: Set(hash), ..Default::default() };
    let update = persons::Entity::update_many().filter(persons::Column::Id.eq(person_id)).set(change);
    Ok(update.exec(tx).await?.rows_affected > 0)
}

/// The live workspaces of the organization in which the person is a member, in the order of their creation.
///
/// # Errors
/// What the database answers.
pub async fn reach(store: &Store, person_id: Uuid, organization_id: Uuid) -> Result<Vec<Membership>, DbErr> {
    let memberships =
        memberships::Entity::find().filter(memberships::Column::PersonId.eq(person_id)).all(store.reads()).await?;
    let ids = memberships.iter().map(|membership| membership.workspace_id);
    let workspaces = InOrganization(organization_id)
        .find::<Workspaces>()
        .filter(workspaces::Column::Id.is_in(ids))
        .order_by_asc(workspaces::Column::CreatedAt)
        .order_by_asc(workspaces::Column::Id)
        .all(store.reads())
        .await?;
    let reach = workspaces.into_iter().filter_map(|workspace| {
        let membership = memberships.iter().find(|membership| membership.workspace_id == workspace.id)?;
        Some(Membership {
            workspace_id: workspace.id,
            external_id: workspace.external_id,
            label: workspace.label,
            role: membership.role.0,
        })
    });
    Ok(reach.collect())
}

/// Makes the person a member of the workspace.
///
/// # Errors
/// What the database answers, for instance when the person is a member already.
pub async fn join(tx: &Write, person_id: Uuid, workspace_id: Uuid, role: Role) -> Result<(), DbErr> {
    let row = memberships::Model { person_id, workspace_id, role: Word(role) };
    memberships::Entity::insert(row.into_active_model()).exec_without_returning(tx).await.map(|_| ())
}
