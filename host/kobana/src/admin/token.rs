//! `kobana token`.

use std::collections::HashMap;

use kobana_contract::{Scope, Timestamp};
use kobana_identity::{Audience, NewScriptToken};
use kobana_store::tokens::{self, TokenRow};
use kobana_store::{directory, people};
use serde_json::{Value, json};
use uuid::Uuid;

use super::args::{Mint, TokenCommand};
use super::{Desk, database, find, label, output};
use crate::failure::Failure;

const DAY: i64 = 24 * 60 * 60;

pub(super) async fn run(desk: &Desk, command: &TokenCommand) -> Result<(), Failure> {
    match command {
        TokenCommand::Mint(options) => mint(desk, options).await,
        TokenCommand::List { person } => list(desk, person.as_deref()).await,
        TokenCommand::Revoke { id } => revoke(desk, id).await,
    }
}

async fn mint(desk: &Desk, options: &Mint) -> Result<(), Failure> {
    let person = find::person(desk, &options.person).await?;
    let standing = people::standing(&desk.store, person.id).await.map_err(database)?;
    if !standing.is_some_and(|standing| standing.person.active) {
        let email = &person.email;
        return Err(Failure::Admin(format!("person {email}: is disabled, so that no token of theirs would count")));
    }
    let workspace = match &options.workspace {
        Some(name) => Some(find::workspace(desk, name, Some(person.organization_id)).await?),
        None => None,
    };
    let audience = Audience::named(&options.audience).as_str();
    let audience = audience.ok_or_else(|| Failure::Admin("--audience: expected mcp or rest".to_owned()))?;
    let expires_at = (!options.no_expiry).then(|| desk.now.plus_seconds(i64::from(options.days) * DAY));
    let new = NewScriptToken {
        person: person.id,
        workspace: workspace.as_ref().map(|workspace| workspace.id),
        label: label("--name", &options.name)?,
        audience,
        scopes: scopes(options),
        expires_at,
    };
    let tx = desk.store.begin().await.map_err(database)?;
    let (id, token) = kobana_identity::mint(&tx, new, desk.now).await.map_err(database)?;
    tx.commit().await.map_err(database)?;
    let value = json!({ "id": id, "token": token, "expires_at": expires_at });
    // The token alone goes to standard output, so that `TOKEN=$(kobana token mint …)` holds it and nothing else.
    output::done(desk, &token, &value);
    if !desk.json {
        let until = expires_at.map_or_else(|| "it does not end by itself".to_owned(), |end| format!("until {end}"));
        let place = workspace.map(|workspace| format!(" in {}", workspace.external_id)).unwrap_or_default();
        output::note(&format!("token {id} for {}{place}, {audience}, {until}; it is shown this once", person.email));
    }
    Ok(())
}

fn scopes(options: &Mint) -> Vec<Scope> {
    let reads = |scope: &&Scope| !options.read_only || !scope.as_str().ends_with(".write");
    if options.scopes.is_empty() {
        return Scope::ALL.iter().filter(reads).copied().collect();
    }
    let mut scopes = options.scopes.clone();
    scopes.sort();
    scopes.dedup();
    scopes
}

async fn revoke(desk: &Desk, id: &str) -> Result<(), Failure> {
    let unknown = || Failure::Admin(format!("token {id}: there is none; `kobana token list` shows their UUIDs"));
    let id = Uuid::try_parse(id).map_err(|_| unknown())?;
    let tx = desk.store.begin().await.map_err(database)?;
    let row = tokens::find(&tx, id).await.map_err(database)?.ok_or_else(unknown)?;
    if !tokens::revoke(&tx, id, desk.now).await.map_err(database)? {
        let at = row.revoked_at.map(output::time).unwrap_or_default();
        return Err(Failure::Admin(format!("token {id}: it was revoked already, at {at}")));
    }
    tx.commit().await.map_err(database)?;
    output::done(desk, &format!("Token {id} ({}) is revoked", row.label), &json!({ "id": id, "state": "revoked" }));
    Ok(())
}

async fn list(desk: &Desk, person: Option<&str>) -> Result<(), Failure> {
    let reads = desk.store.reads();
    let person = match person {
        Some(name) => Some(find::person(desk, name).await?.id),
        None => None,
    };
    let persons = directory::persons(reads).await.map_err(database)?;
    let emails: HashMap<_, _> = persons.into_iter().map(|person| (person.id, person.email)).collect();
    let workspaces = directory::workspaces(reads).await.map_err(database)?;
    let workspaces: HashMap<_, _> = workspaces.into_iter().map(|row| (row.id, row.external_id)).collect();
    let rows = tokens::list(reads, person).await.map_err(database)?;
    let headings = ["NAME", "PERSON", "AUDIENCE", "SCOPES", "WORKSPACE", "STATE", "EXPIRES", "LAST USED", "ID"];
    let shown = rows.into_iter().map(|row| {
        let email = emails.get(&row.person_id).cloned().unwrap_or_default();
        let workspace = row.workspace_id.map(|id| workspaces.get(&id).cloned().unwrap_or_else(|| id.to_string()));
        let value = value(&row, &email, desk.now);
        let cells = [
            row.label.clone(),
            email,
            row.audience.clone(),
            may(&row.scopes),
            workspace.unwrap_or_else(|| "all".to_owned()),
            state(&row, desk.now).to_owned(),
            output::day_or(row.expires_at, "never"),
            output::day_or(row.used_at, "never"),
            row.id.to_string(),
        ];
        (cells, value)
    });
    output::list(desk, headings, shown);
    Ok(())
}

/// What a token may be used for, in short where there is a word for it.
fn may(scopes: &str) -> String {
    let (all, reads) = (Scope::ALL.iter(), Scope::ALL.iter().filter(|scope| !scope.as_str().ends_with(".write")));
    let is = |names: Vec<&str>| names == scopes.split(' ').collect::<Vec<_>>();
    match () {
        () if is(all.map(|scope| scope.as_str()).collect()) => "all".to_owned(),
        () if is(reads.map(|scope| scope.as_str()).collect()) => "all that read".to_owned(),
        () => scopes.to_owned(),
    }
}

fn state(row: &TokenRow, now: Timestamp) -> &'static str {
    match (row.revoked_at, row.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now.0 => "expired",
        _ => "active",
    }
}

fn value(row: &TokenRow, email: &str, now: Timestamp) -> Value {
    json!({
        "id": row.id, "name": row.label, "person_id": row.person_id, "person": email, "audience": row.audience,
        "scopes": row.scopes.split(' ').collect::<Vec<_>>(), "workspace_id": row.workspace_id,
        "state": state(row, now), "created_at": output::time(row.created_at),
        "expires_at": row.expires_at.map(output::time), "revoked_at": row.revoked_at.map(output::time),
        "used_at": row.used_at.map(output::time),
    })
}
