//! `kobana admin organization`.

use kobana_store::directory::{self, Organization};
use kobana_store::text::fold;
use serde_json::{Value, json};

use super::args::OrganizationCommand;
use super::{Desk, database, find, label, output};
use crate::failure::Failure;

pub(super) async fn run(desk: &Desk, command: &OrganizationCommand) -> Result<(), Failure> {
    match command {
        OrganizationCommand::Create { name } => create(desk, name).await,
        OrganizationCommand::List => list(desk).await,
        OrganizationCommand::Disable { organization } => switch(desk, organization, false).await,
        OrganizationCommand::Enable { organization } => switch(desk, organization, true).await,
    }
}

async fn create(desk: &Desk, name: &str) -> Result<(), Failure> {
    let name = label("the organization's name", name)?;
    // Looked up under the lock of the writer, so that of two at once one alone makes it.
    let tx = desk.store.begin().await.map_err(database)?;
    let known = directory::organizations(&tx).await.map_err(database)?;
    if let Some(there) = known.iter().find(|row| fold(&row.name) == fold(&name)) {
        return Err(Failure::Admin(format!("organization {}: there is one already, {}", there.name, there.id)));
    }
    let id = directory::create_organization(&tx, &name, desk.now).await.map_err(database)?;
    tx.commit().await.map_err(database)?;
    output::done(desk, &format!("Created organization {name}, {id}"), &json!({ "id": id, "name": name }));
    Ok(())
}

async fn list(desk: &Desk) -> Result<(), Failure> {
    let rows = directory::organizations(desk.store.reads()).await.map_err(database)?;
    let headings = ["NAME", "STATE", "WORKSPACES", "PERSONS", "CREATED", "ID"];
    output::list(desk, headings, rows.into_iter().map(|row| (cells(&row), value(&row))));
    Ok(())
}

fn cells(row: &Organization) -> [String; 6] {
    let (name, state, created) = (row.name.clone(), output::state(row.active), output::day(row.created_at));
    [name, state, row.workspaces.to_string(), row.persons.to_string(), created, row.id.to_string()]
}

fn value(row: &Organization) -> Value {
    json!({
        "id": row.id, "name": row.name, "active": row.active, "workspaces": row.workspaces, "persons": row.persons,
        "created_at": output::time(row.created_at),
    })
}

async fn switch(desk: &Desk, organization: &str, active: bool) -> Result<(), Failure> {
    let row = find::organization(desk, organization).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    directory::set_organization_active(&tx, row.id, active).await.map_err(database)?;
    tx.commit().await.map_err(database)?;
    let now = output::state(active);
    let sentence = format!("Organization {} is {now}", row.name);
    output::done(desk, &sentence, &value(&Organization { active, ..row }));
    Ok(())
}
