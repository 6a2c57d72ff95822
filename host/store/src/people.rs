//! Persons and the workspaces they reach: what the identity side asks.

use kobana_contract::{Membership, Role};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryResult, Set, Statement,
};
use uuid::Uuid;

use crate::entity::{issuer_subjects, memberships, organizations, persons};
use crate::text::fold;
use crate::values::Word;
use crate::{Store, Write};

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
    /// Whether the account may be used: neither it nor its organization is switched off.
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
            active: person.active && organization.active,
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

/// A person who may use their account, and what they reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The person.
    pub person: PersonRow,
    /// The live workspaces in which the person is a member, in the order of their creation.
    pub memberships: Vec<Membership>,
}

/// How a person stands now; none where there is no such person. [`PersonRow::active`] is false where the organization is
/// switched off. It is asked for every request, so it is one statement.
///
/// # Errors
/// What the database answers.
pub async fn standing(store: &Store, person_id: Uuid) -> Result<Option<Standing>, DbErr> {
    const SQL: &str = "SELECT p.name, p.email, p.organization_id, p.active AND o.active AS active, \
        o.name AS organization_name, w.id AS workspace_id, w.external_id, w.label, m.role \
        FROM persons p JOIN organizations o ON o.id = p.organization_id \
        LEFT JOIN (memberships m JOIN workspaces w ON w.id = m.workspace_id AND w.deleted_at IS NULL AND w.active) \
        ON m.person_id = p.id AND w.organization_id = p.organization_id \
        WHERE p.id = $1 ORDER BY w.created_at, w.id";
    let connection = store.reads();
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), SQL, [person_id.into()]);
    let rows = connection.query_all_raw(statement).await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let person = PersonRow {
        id: person_id,
        name: first.try_get("", "name")?,
        email: first.try_get("", "email")?,
        organization_id: first.try_get("", "organization_id")?,
        organization_name: first.try_get("", "organization_name")?,
        active: first.try_get("", "active")?,
    };
    let memberships = rows.iter().filter_map(|row| membership(row).transpose()).collect::<Result<_, DbErr>>()?;
    Ok(Some(Standing { person, memberships }))
}

/// The membership in a row; none where the person reaches nothing.
fn membership(row: &QueryResult) -> Result<Option<Membership>, DbErr> {
    let Some(workspace_id) = row.try_get("", "workspace_id")? else { return Ok(None) };
    let role: Word<Role> = row.try_get("", "role")?;
    let (external_id, label) = (row.try_get("", "external_id")?, row.try_get("", "label")?);
    Ok(Some(Membership { workspace_id, external_id, label, role: role.0 }))
}

/// Whom a foreign issuer means by a subject, if that was said.
///
/// # Errors
/// What the database answers.
pub async fn by_subject(store: &Store, issuer: &str, subject: &str) -> Result<Option<Uuid>, DbErr> {
    let found = issuer_subjects::Entity::find_by_id((issuer.to_owned(), subject.to_owned()));
    Ok(found.one(store.reads()).await?.map(|found| found.person_id))
}

/// The UUID of the person with this e-mail address, in whatever letter case.
///
/// # Errors
/// What the database answers.
pub async fn id_by_email(store: &Store, email: &str) -> Result<Option<Uuid>, DbErr> {
    let found = persons::Entity::find().filter(persons::Column::EmailFolded.eq(fold(email)));
    Ok(found.one(store.reads()).await?.map(|person| person.id))
}

/// Whether there is any person at all.
///
/// # Errors
/// What the database answers.
pub async fn any(store: &Store) -> Result<bool, DbErr> {
    Ok(persons::Entity::find().one(store.reads()).await?.is_some())
}

/// Makes the person a member of the workspace.
///
/// # Errors
/// What the database answers, for instance when the person is a member already.
pub async fn join(tx: &Write, person_id: Uuid, workspace_id: Uuid, role: Role) -> Result<(), DbErr> {
    let row = memberships::Model { person_id, workspace_id, role: Word(role) };
    memberships::Entity::insert(row.into_active_model()).exec_without_returning(tx).await.map(|_| ())
}
