//! `kobana admin workspace`.

use kobana_contract::fields::ExternalId;
use kobana_store::directory::{self, NewWorkspace, Workspace};
use kobana_store::fault;
use serde_json::{Value, json};

use super::args::{InOrganization, WorkspaceCommand};
use super::{Desk, database, find, label, output};
use crate::failure::Failure;

pub(super) async fn run(desk: &Desk, command: &WorkspaceCommand) -> Result<(), Failure> {
    match command {
        WorkspaceCommand::Create { name, label, organization } => {
            create(desk, name, label.as_deref().unwrap_or(name), organization).await
        }
        WorkspaceCommand::List { organization } => list(desk, organization).await,
        WorkspaceCommand::Disable { workspace, organization } => switch(desk, workspace, organization, false).await,
        WorkspaceCommand::Enable { workspace, organization } => switch(desk, workspace, organization, true).await,
    }
}

async fn create(desk: &Desk, name: &str, text: &str, organization: &InOrganization) -> Result<(), Failure> {
    let Some(ExternalId(external_id)) = ExternalId::parse(name) else {
        return Err(Failure::Admin(format!(
            "workspace {name}: expected 1 to 128 letters, digits and . _ : @ -, a letter or digit first; what people \
             read goes into --label"
        )));
    };
    let label = label("--label", text)?;
    let organization = find::organization_or_only(desk, organization).await?;
    let email_prefix = email_prefix(&external_id);
    let new = NewWorkspace { organization: organization.id, external_id, label, email_prefix };
    let tx = desk.store.begin().await.map_err(database)?;
    let id = directory::create_workspace(&tx, new, desk.now).await.map_err(|error| match fault::taken(&error) {
        Some(_) => Failure::Admin(format!("workspace {name}: {} has one of this name already", organization.name)),
        None => database(error),
    })?;
    tx.commit().await.map_err(database)?;
    let sentence = format!("Created workspace {name} of {}, {id}", organization.name);
    output::done(desk, &sentence, &json!({ "id": id, "external_id": name, "organization_id": organization.id }));
    Ok(())
}

/// The first part of addresses of inboxes: lower-case letters, digits and single hyphens, at most 60 (inbox-api.yaml).
fn email_prefix(external_id: &str) -> String {
    let words = external_id.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let prefix: String = words.collect::<Vec<_>>().join("-").to_ascii_lowercase().chars().take(60).collect();
    prefix.trim_end_matches('-').to_owned()
}

async fn list(desk: &Desk, organization: &InOrganization) -> Result<(), Failure> {
    let only = match &organization.organization {
        Some(name) => Some(find::organization(desk, name).await?.id),
        None => None,
    };
    let mut rows = directory::workspaces(desk.store.reads()).await.map_err(database)?;
    rows.retain(|row| only.is_none_or(|id| id == row.organization_id));
    let headings = ["NAME", "LABEL", "ORGANIZATION", "STATE", "MEMBERS", "CREATED", "ID"];
    output::list(desk, headings, rows.into_iter().map(|row| (cells(&row), value(&row))));
    Ok(())
}

fn cells(row: &Workspace) -> [String; 7] {
    let (name, label, organization) = (row.external_id.clone(), row.label.clone(), row.organization.clone());
    let (state, created) = (output::state(row.active), output::day(row.created_at));
    [name, label, organization, state, row.members.to_string(), created, row.id.to_string()]
}

fn value(row: &Workspace) -> Value {
    json!({
        "id": row.id, "external_id": row.external_id, "label": row.label, "organization_id": row.organization_id,
        "organization": row.organization, "active": row.active, "members": row.members,
        "created_at": output::time(row.created_at),
    })
}

async fn switch(desk: &Desk, workspace: &str, organization: &InOrganization, active: bool) -> Result<(), Failure> {
    let organization = match &organization.organization {
        Some(name) => Some(find::organization(desk, name).await?.id),
        None => None,
    };
    let row = find::workspace(desk, workspace, organization).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    directory::set_workspace_active(&tx, row.id, active).await.map_err(database)?;
    tx.commit().await.map_err(database)?;
    let sentence = format!("Workspace {} is {}", row.external_id, output::state(active));
    output::done(desk, &sentence, &value(&Workspace { active, ..row }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::email_prefix;

    #[test]
    fn a_prefix_of_addresses_holds_letters_digits_and_single_hyphens() {
        assert_eq!(email_prefix("Finance.EMEA__2026-"), "finance-emea-2026");
        let long = email_prefix(&format!("{}-b", "a".repeat(59)));
        assert_eq!(long, "a".repeat(59));
    }
}
