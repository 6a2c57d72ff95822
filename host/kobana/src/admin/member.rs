//! `kobana admin member`.

use std::collections::BTreeMap;

use kobana_contract::Role;
use kobana_store::directory::{self, Member, Person, Workspace};
use kobana_store::people;
use serde_json::{Value, json};

use super::args::{MemberCommand, Membership};
use super::{Desk, database, find, output};
use crate::failure::Failure;

pub(super) async fn run(desk: &Desk, command: &MemberCommand) -> Result<(), Failure> {
    match command {
        MemberCommand::Create { of, role } => create(desk, of, *role).await,
        MemberCommand::List { person, workspace } => list(desk, person.as_deref(), workspace.as_deref()).await,
        MemberCommand::Role { of, role } => change(desk, of, *role).await,
        MemberCommand::Remove { of } => remove(desk, of).await,
    }
}

/// The person, and the workspace of their organization: nobody is a member elsewhere.
async fn both(desk: &Desk, of: &Membership) -> Result<(Person, Workspace), Failure> {
    let person = find::person(desk, &of.person).await?;
    let workspace = find::workspace(desk, &of.workspace, Some(person.organization_id)).await?;
    Ok((person, workspace))
}

async fn create(desk: &Desk, of: &Membership, role: Role) -> Result<(), Failure> {
    let (person, workspace) = both(desk, of).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    let members = directory::members(&tx).await.map_err(database)?;
    if let Some(there) = members.iter().find(|row| row.person_id == person.id && row.workspace_id == workspace.id) {
        let (email, name, is) = (&person.email, &workspace.external_id, &there.role);
        return Err(Failure::Admin(format!(
            "{email} is {is} of {name} already; `kobana admin member role {email} {name} {role}` changes that"
        )));
    }
    people::join(&tx, person.id, workspace.id, role).await.map_err(database)?;
    tx.commit().await.map_err(database)?;
    output::done(desk, &sentence(&person, &workspace, role), &value(person.id, workspace.id, Some(role)));
    Ok(())
}

async fn change(desk: &Desk, of: &Membership, role: Role) -> Result<(), Failure> {
    let (person, workspace) = both(desk, of).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    if !directory::set_role(&tx, person.id, workspace.id, role).await.map_err(database)? {
        return Err(no_member(&person, &workspace));
    }
    tx.commit().await.map_err(database)?;
    output::done(desk, &sentence(&person, &workspace, role), &value(person.id, workspace.id, Some(role)));
    warn_of_orphans(desk, |member| member.workspace_id == workspace.id).await
}

async fn remove(desk: &Desk, of: &Membership) -> Result<(), Failure> {
    let (person, workspace) = both(desk, of).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    if !directory::leave(&tx, person.id, workspace.id).await.map_err(database)? {
        return Err(no_member(&person, &workspace));
    }
    tx.commit().await.map_err(database)?;
    let sentence = format!("{} is no member of {} any more", person.email, workspace.external_id);
    output::done(desk, &sentence, &value(person.id, workspace.id, None));
    let left = directory::members(desk.store.reads()).await.map_err(database)?;
    if !left.iter().any(|member| member.workspace_id == workspace.id) {
        output::note(&format!("warning: workspace {} has no member now", workspace.external_id));
        return Ok(());
    }
    warn_of_orphans(desk, |member| member.workspace_id == workspace.id).await
}

fn no_member(person: &Person, workspace: &Workspace) -> Failure {
    let (email, name) = (&person.email, &workspace.external_id);
    Failure::Admin(format!(
        "{email} is no member of {name}; `kobana admin member list --workspace {name}` shows who is"
    ))
}

fn sentence(person: &Person, workspace: &Workspace, role: Role) -> String {
    format!("{} is {role} of {} now", person.email, workspace.external_id)
}

fn value(person: uuid::Uuid, workspace: uuid::Uuid, role: Option<Role>) -> Value {
    json!({ "person_id": person, "workspace_id": workspace, "role": role })
}

/// Warns of workspaces that nobody can administer any more, among those that hold a member of this kind.
pub(super) async fn warn_of_orphans(desk: &Desk, of: impl Fn(&Member) -> bool) -> Result<(), Failure> {
    let members = directory::members(desk.store.reads()).await.map_err(database)?;
    let touched = members.iter().filter(|member| of(member));
    let touched: BTreeMap<_, _> = touched.map(|member| (member.workspace_id, &member.workspace)).collect();
    for (id, workspace) in touched {
        let owns = |member: &&Member| member.workspace_id == id && member.active && member.role == Role::Owner.as_str();
        if members.iter().find(owns).is_none() {
            output::note(&format!("warning: workspace {workspace} has no active owner now"));
        }
    }
    Ok(())
}

async fn list(desk: &Desk, person: Option<&str>, workspace: Option<&str>) -> Result<(), Failure> {
    let person = match person {
        Some(name) => Some(find::person(desk, name).await?.id),
        None => None,
    };
    let workspace = match workspace {
        Some(name) => Some(find::workspace(desk, name, None).await?.id),
        None => None,
    };
    let mut rows = directory::members(desk.store.reads()).await.map_err(database)?;
    rows.retain(|row| person.is_none_or(|id| id == row.person_id) && workspace.is_none_or(|id| id == row.workspace_id));
    let headings = ["WORKSPACE", "ORGANIZATION", "EMAIL", "NAME", "ROLE", "STATE"];
    let shown = rows.into_iter().map(|row| {
        let value = json!({
            "workspace_id": row.workspace_id, "workspace": row.workspace, "organization": row.organization,
            "person_id": row.person_id, "email": row.email, "name": row.name, "role": row.role, "active": row.active,
        });
        ([row.workspace, row.organization, row.email, row.name, row.role, output::state(row.active)], value)
    });
    output::list(desk, headings, shown);
    Ok(())
}
