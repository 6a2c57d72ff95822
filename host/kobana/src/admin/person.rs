//! `kobana admin person`.

use email_address::{EmailAddress, Options};
use kobana_contract::Role;
use kobana_store::directory::{self, NewPerson, Person};
use kobana_store::{Write, fault, grants, people, sessions};
use serde_json::{Value, json};
use uuid::Uuid;

use super::args::{InOrganization, PasswordFrom, PersonCommand};
use super::{Desk, database, find, label, member, output, password};
use crate::failure::Failure;

pub(super) async fn run(desk: &Desk, command: &PersonCommand) -> Result<(), Failure> {
    match command {
        PersonCommand::Create { email, name, organization, workspace, role, password, no_password } => {
            let hash =
                if *no_password || (!password.password_stdin && !password::can_ask()) { None } else { Some(password) };
            let join = workspace.as_deref().zip(*role);
            create(desk, email, name, organization, join, hash).await
        }
        PersonCommand::List { organization } => list(desk, organization).await,
        PersonCommand::Disable { person } => switch(desk, person, false).await,
        PersonCommand::Enable { person } => switch(desk, person, true).await,
        PersonCommand::SetPassword { person, password } => set_password(desk, person, password).await,
        PersonCommand::SignOut { person } => sign_out(desk, person).await,
        PersonCommand::Link { person, issuer, subject } => {
            link(desk, person, &issuer_or_configured(desk, issuer.as_deref())?, subject).await
        }
        PersonCommand::Unlink { issuer, subject } => {
            unlink(desk, &issuer_or_configured(desk, issuer.as_deref())?, subject).await
        }
    }
}

async fn create(
    desk: &Desk,
    email: &str,
    name: &str,
    organization: &InOrganization,
    join: Option<(&str, Role)>,
    password: Option<&PasswordFrom>,
) -> Result<(), Failure> {
    let (email, name) = (address(email)?, label("--name", name)?);
    let organization = find::organization_or_only(desk, organization).await?;
    let join = match join {
        Some((workspace, role)) => Some((find::workspace(desk, workspace, Some(organization.id)).await?, role)),
        None => None,
    };
    if let Some(there) = people::by_email(&desk.store, &email).await.map_err(database)? {
        return Err(taken(&email, &there.person.organization_name));
    }
    let password_hash = match password {
        Some(from) => Some(password::fresh(from).await?),
        None => None,
    };
    let has_password = password_hash.is_some();
    let new = NewPerson { organization: organization.id, name: name.clone(), email: email.clone(), password_hash };
    let tx = desk.store.begin().await.map_err(database)?;
    let id = directory::create_person(&tx, new, desk.now).await.map_err(|error| match fault::taken(&error) {
        Some(_) => taken(&email, "this installation"),
        None => database(error),
    })?;
    if let Some((workspace, role)) = &join {
        people::join(&tx, id, workspace.id, *role).await.map_err(database)?;
    }
    tx.commit().await.map_err(database)?;
    let member = join.map(|(workspace, role)| format!(", {role} of {}", workspace.external_id)).unwrap_or_default();
    let sentence = format!("Created person {name} <{email}> of {}{member}, {id}", organization.name);
    output::done(desk, &sentence, &json!({ "id": id, "email": email, "organization_id": organization.id }));
    if !has_password && !desk.json {
        output::note(&format!("they have no password; `kobana admin person set-password {email}` gives them one"));
    }
    Ok(())
}

fn taken(email: &str, organization: &str) -> Failure {
    Failure::Admin(format!("person {email}: {organization} has somebody with this address already"))
}

/// An address of the form `local@domain`, without a display name.
fn address(text: &str) -> Result<String, Failure> {
    let options = Options::default().without_display_text().without_domain_literal();
    let address = EmailAddress::parse_with_options(text.trim(), options);
    address.map(Into::into).map_err(|error| {
        let reason = error.to_string();
        Failure::Admin(format!("person {text}: expected an e-mail address such as ana@example.com ({reason})"))
    })
}

async fn list(desk: &Desk, organization: &InOrganization) -> Result<(), Failure> {
    let only = match &organization.organization {
        Some(name) => Some(find::organization(desk, name).await?.id),
        None => None,
    };
    let mut rows = directory::persons(desk.store.reads()).await.map_err(database)?;
    rows.retain(|row| only.is_none_or(|id| id == row.organization_id));
    let headings = ["EMAIL", "NAME", "ORGANIZATION", "STATE", "PASSWORD", "WORKSPACES", "CREATED", "ID"];
    output::list(desk, headings, rows.into_iter().map(|row| (cells(&row), value(&row))));
    Ok(())
}

fn cells(row: &Person) -> [String; 8] {
    let (email, name, organization) = (row.email.clone(), row.name.clone(), row.organization.clone());
    let (state, created) = (output::state(row.active), output::day(row.created_at));
    let password = if row.has_password { "yes" } else { "no" }.to_owned();
    [email, name, organization, state, password, row.workspaces.to_string(), created, row.id.to_string()]
}

fn value(row: &Person) -> Value {
    json!({
        "id": row.id, "email": row.email, "name": row.name, "organization_id": row.organization_id,
        "organization": row.organization, "active": row.active, "has_password": row.has_password,
        "workspaces": row.workspaces, "created_at": output::time(row.created_at),
    })
}

async fn switch(desk: &Desk, person: &str, active: bool) -> Result<(), Failure> {
    let row = find::person(desk, person).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    directory::set_person_active(&tx, row.id, active).await.map_err(database)?;
    if !active {
        sessions::close_all(&tx, row.id).await.map_err(database)?;
    }
    tx.commit().await.map_err(database)?;
    let sentence = format!("Person {} is {}", row.email, output::state(active));
    let (id, value) = (row.id, value(&Person { active, ..row }));
    output::done(desk, &sentence, &value);
    if !active {
        member::warn_of_orphans(desk, |member| member.person_id == id).await?;
    }
    Ok(())
}

async fn set_password(desk: &Desk, person: &str, from: &PasswordFrom) -> Result<(), Failure> {
    let row = find::person(desk, person).await?;
    let hash = password::fresh(from).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    people::set_password(&tx, row.id, Some(hash)).await.map_err(database)?;
    // Whoever knew the old one is out, with every program that they let in.
    end_all(desk, &tx, row.id).await?;
    tx.commit().await.map_err(database)?;
    output::done(
        desk,
        &format!("Person {} has a new password; their sessions and connected programs are signed out", row.email),
        &json!({ "id": row.id }),
    );
    Ok(())
}

async fn sign_out(desk: &Desk, person: &str) -> Result<(), Failure> {
    let row = find::person(desk, person).await?;
    let tx = desk.store.begin().await.map_err(database)?;
    end_all(desk, &tx, row.id).await?;
    tx.commit().await.map_err(database)?;
    let sentence = format!("Person {} is signed out everywhere, and so are their connected programs", row.email);
    output::done(desk, &sentence, &json!({ "id": row.id }));
    Ok(())
}

/// Ends a person's sessions, and what they granted to programs.
async fn end_all(desk: &Desk, tx: &Write, person: Uuid) -> Result<(), Failure> {
    sessions::close_all(tx, person).await.map_err(database)?;
    grants::revoke_all(tx, person, desk.now).await.map_err(database)
}

fn issuer_or_configured(desk: &Desk, issuer: Option<&str>) -> Result<String, Failure> {
    issuer.map(str::to_owned).or_else(|| desk.settings.issuer.url.clone()).ok_or_else(|| {
        Failure::Admin("--issuer: expected the issuer's URL, since the setting issuer.url has none".to_owned())
    })
}

async fn link(desk: &Desk, person: &str, issuer: &str, subject: &str) -> Result<(), Failure> {
    let row = find::person(desk, person).await?;
    if subject.is_empty() {
        return Err(Failure::Admin("--subject: expected the issuer's name for the person".to_owned()));
    }
    let tx = desk.store.begin().await.map_err(database)?;
    directory::link(&tx, issuer, subject, row.id, desk.now).await.map_err(database)?;
    tx.commit().await.map_err(database)?;
    let sentence = format!("Subject {subject} of {issuer} is {} from now on", row.email);
    output::done(desk, &sentence, &json!({ "issuer": issuer, "subject": subject, "person_id": row.id }));
    Ok(())
}

async fn unlink(desk: &Desk, issuer: &str, subject: &str) -> Result<(), Failure> {
    let tx = desk.store.begin().await.map_err(database)?;
    if !directory::unlink(&tx, issuer, subject).await.map_err(database)? {
        return Err(Failure::Admin(format!("subject {subject} of {issuer}: it is nobody already")));
    }
    tx.commit().await.map_err(database)?;
    let value = json!({ "issuer": issuer, "subject": subject, "person_id": null });
    output::done(desk, &format!("Subject {subject} of {issuer} is nobody from now on"), &value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_local_part_and_domain() {
        assert_eq!(address(" Ana.Souza@example.com ").unwrap(), "Ana.Souza@example.com");
        for wrong in ["", "ana", "ana@", "@example.com", "Ana <ana@example.com>", "ana@[192.0.2.1]", "a b@example.com"]
        {
            let said = address(wrong).unwrap_err().to_string();
            assert!(said.contains("expected an e-mail address"), "{wrong}: {said}");
        }
    }
}
