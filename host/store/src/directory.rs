//! The administration of organizations, workspaces, persons and memberships, for whoever runs the installation. Callers of the
//! API never get here.

use kobana_contract::operations::workspaces::WorkspaceSource;
use kobana_contract::{Role, Timestamp};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, IntoActiveModel, QueryFilter, Set, Statement,
};
use serde_json::Map;
use uuid::Uuid;

use crate::entity::{issuer_subjects, memberships, organizations, persons, workspaces};
use crate::rows::Workspaces;
use crate::text::fold;
use crate::values::{Folded, Object, Word};
use crate::{InOrganization, Scope as _, Write};

/// An organization.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Organization {
    /// UUID.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Whether its persons may use their accounts.
    pub active: bool,
    /// When it was made.
    pub created_at: i64,
    /// How many live workspaces it has.
    pub workspaces: i64,
    /// How many persons it has.
    pub persons: i64,
}

/// A live workspace.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Workspace {
    /// UUID.
    pub id: Uuid,
    /// Its name in the organization.
    pub external_id: String,
    /// Label.
    pub label: String,
    /// UUID of the organization.
    pub organization_id: Uuid,
    /// The organization's name.
    pub organization: String,
    /// Whether its members reach it.
    pub active: bool,
    /// When it was made.
    pub created_at: i64,
    /// How many members it has.
    pub members: i64,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Person {
    /// UUID.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
    /// UUID of the organization.
    pub organization_id: Uuid,
    /// The organization's name.
    pub organization: String,
    /// Whether the account may be used.
    pub active: bool,
    /// Whether there is a password to sign in with.
    pub has_password: bool,
    /// When it was made.
    pub created_at: i64,
    /// How many live workspaces the person is a member of.
    pub workspaces: i64,
}

/// What a person is in a live workspace.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Member {
    /// UUID of the person.
    pub person_id: Uuid,
    /// The person's name.
    pub name: String,
    /// The person's e-mail address.
    pub email: String,
    /// Whether the person's account may be used.
    pub active: bool,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// The workspace's name in its organization.
    pub workspace: String,
    /// The organization's name.
    pub organization: String,
    /// The role, by its name in the contract.
    pub role: String,
}

/// Every organization, oldest first.
///
/// # Errors
/// What the database answers.
pub async fn organizations(connection: &impl ConnectionTrait) -> Result<Vec<Organization>, DbErr> {
    const SQL: &str = "SELECT o.id, o.name, o.active, o.created_at, \
        (SELECT count(*) FROM workspaces w WHERE w.organization_id = o.id AND w.deleted_at IS NULL) AS workspaces, \
        (SELECT count(*) FROM persons p WHERE p.organization_id = o.id) AS persons \
        FROM organizations o ORDER BY o.created_at, o.id";
    all(connection, SQL).await
}

/// Every live workspace, oldest first within its organization.
///
/// # Errors
/// What the database answers.
pub async fn workspaces(connection: &impl ConnectionTrait) -> Result<Vec<Workspace>, DbErr> {
    const SQL: &str = "SELECT w.id, w.external_id, w.label, w.organization_id, o.name AS organization, w.active, \
        w.created_at, (SELECT count(*) FROM memberships m WHERE m.workspace_id = w.id) AS members \
        FROM workspaces w JOIN organizations o ON o.id = w.organization_id WHERE w.deleted_at IS NULL \
        ORDER BY o.created_at, o.id, w.created_at, w.id";
    all(connection, SQL).await
}

/// Every person, oldest first within their organization.
///
/// # Errors
/// What the database answers.
pub async fn persons(connection: &impl ConnectionTrait) -> Result<Vec<Person>, DbErr> {
    const SQL: &str = "SELECT p.id, p.name, p.email, p.organization_id, o.name AS organization, p.active, \
        p.password_hash IS NOT NULL AS has_password, p.created_at, \
        (SELECT count(*) FROM memberships m JOIN workspaces w ON w.id = m.workspace_id \
        WHERE m.person_id = p.id AND w.deleted_at IS NULL) AS workspaces \
        FROM persons p JOIN organizations o ON o.id = p.organization_id \
        ORDER BY o.created_at, o.id, p.created_at, p.id";
    all(connection, SQL).await
}

/// Every membership in a live workspace, by workspace.
///
/// # Errors
/// What the database answers.
pub async fn members(connection: &impl ConnectionTrait) -> Result<Vec<Member>, DbErr> {
    const SQL: &str = "SELECT p.id AS person_id, p.name, p.email, p.active, w.id AS workspace_id, \
        w.external_id AS workspace, o.name AS organization, m.role \
        FROM memberships m JOIN persons p ON p.id = m.person_id JOIN workspaces w ON w.id = m.workspace_id \
        JOIN organizations o ON o.id = w.organization_id WHERE w.deleted_at IS NULL \
        ORDER BY o.created_at, o.id, w.created_at, w.id, p.created_at, p.id";
    all(connection, SQL).await
}

async fn all<T: FromQueryResult>(connection: &impl ConnectionTrait, sql: &str) -> Result<Vec<T>, DbErr> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    T::find_by_statement(statement).all(connection).await
}

/// Makes an organization.
///
/// # Errors
/// What the database answers.
pub async fn create_organization(tx: &Write, name: &str, now: Timestamp) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    let row = organizations::Model { id, name: name.to_owned(), active: true, created_at: now.0 };
    organizations::Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    Ok(id)
}

/// A workspace to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkspace {
    /// UUID of the organization.
    pub organization: Uuid,
    /// Its name in the organization.
    pub external_id: String,
    /// Label.
    pub label: String,
    /// First part of generated inbox addresses.
    pub email_prefix: String,
}

/// Makes a workspace without limits.
///
/// # Errors
/// What the database answers, for instance when the name is taken (see [`crate::fault`]).
pub async fn create_workspace(tx: &Write, new: NewWorkspace, now: Timestamp) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    let row = workspaces::Model {
        id,
        organization_id: new.organization,
        external_id: new.external_id,
        external_id_folded: Folded::default(),
        source: Word(WorkspaceSource::AutonomousInbox),
        label: new.label,
        label_folded: Folded::default(),
        email_prefix: new.email_prefix,
        monthly_cost_limit: None,
        monthly_emails_limit: None,
        custom_metadata: Object(Map::new()),
        metadata: Object(Map::new()),
        created_at: now.0,
        updated_at: now.0,
        deleted_at: None,
    };
    InOrganization(new.organization).insert::<Workspaces>(tx, row).await?;
    Ok(id)
}

/// A person to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPerson {
    /// UUID of the organization.
    pub organization: Uuid,
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
    /// The hash of the password in PHC form; none where nobody signs in with one.
    pub password_hash: Option<String>,
}

/// Makes a person, who is a member of nothing yet.
///
/// # Errors
/// What the database answers, for instance when the address is taken (see [`crate::fault`]).
pub async fn create_person(tx: &Write, new: NewPerson, now: Timestamp) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    let row = persons::Model {
        id,
        organization_id: new.organization,
        name: new.name,
        email_folded: fold(&new.email),
        email: new.email,
        password_hash: new.password_hash,
        active: true,
        created_at: now.0,
    };
    persons::Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    Ok(id)
}

/// Switches an organization on or off.
///
/// # Errors
/// What the database answers.
pub async fn set_organization_active(tx: &Write, id: Uuid, active: bool) -> Result<(), DbErr> {
    let update = organizations::Entity::update_many().col_expr(organizations::Column::Active, Expr::value(active));
    update.filter(organizations::Column::Id.eq(id)).exec(tx).await.map(|_| ())
}

/// Switches a workspace on or off.
///
/// # Errors
/// What the database answers.
pub async fn set_workspace_active(tx: &Write, id: Uuid, active: bool) -> Result<(), DbErr> {
    let sql = "UPDATE workspaces SET active = $1 WHERE id = $2";
    let statement = Statement::from_sql_and_values(tx.get_database_backend(), sql, [active.into(), id.into()]);
    tx.execute_raw(statement).await.map(|_| ())
}

/// Switches a person on or off.
///
/// # Errors
/// What the database answers.
pub async fn set_person_active(tx: &Write, id: Uuid, active: bool) -> Result<(), DbErr> {
    let update = persons::Entity::update_many().col_expr(persons::Column::Active, Expr::value(active));
    update.filter(persons::Column::Id.eq(id)).exec(tx).await.map(|_| ())
}

/// Changes what a person is in a workspace. Answers whether they are a member.
///
/// # Errors
/// What the database answers.
pub async fn set_role(tx: &Write, person: Uuid, workspace: Uuid, role: Role) -> Result<bool, DbErr> {
    let change = memberships::ActiveModel { role: Set(Word(role)), ..Default::default() };
    let update = memberships::Entity::update_many().set(change).filter(membership(person, workspace));
    Ok(update.exec(tx).await?.rows_affected > 0)
}

/// Ends a membership. Answers whether there was one.
///
/// # Errors
/// What the database answers.
pub async fn leave(tx: &Write, person: Uuid, workspace: Uuid) -> Result<bool, DbErr> {
    let deleted = memberships::Entity::delete_many().filter(membership(person, workspace)).exec(tx).await?;
    Ok(deleted.rows_affected > 0)
}

fn membership(person: Uuid, workspace: Uuid) -> sea_orm::Condition {
    use memberships::Column;
    sea_orm::Condition::all().add(Column::PersonId.eq(person)).add(Column::WorkspaceId.eq(workspace))
}

/// Writes down whom a foreign issuer means by a subject; what was said before about it is replaced.
///
/// # Errors
/// What the database answers.
pub async fn link(tx: &Write, issuer: &str, subject: &str, person_id: Uuid, now: Timestamp) -> Result<(), DbErr> {
    use issuer_subjects::{Column, Entity, Model};
    let row = Model { issuer: issuer.to_owned(), subject: subject.to_owned(), person_id, created_at: now.0 };
    let replace = OnConflict::columns([Column::Issuer, Column::Subject])
        .update_columns([Column::PersonId, Column::CreatedAt])
        .to_owned();
    Entity::insert(row.into_active_model()).on_conflict(replace).exec_without_returning(tx).await.map(|_| ())
}

/// Forgets whom a foreign issuer means by a subject. Answers whether it was known.
///
/// # Errors
/// What the database answers.
pub async fn unlink(tx: &Write, issuer: &str, subject: &str) -> Result<bool, DbErr> {
    let deleted = issuer_subjects::Entity::delete_by_id((issuer.to_owned(), subject.to_owned())).exec(tx).await?;
    Ok(deleted.rows_affected > 0)
}
