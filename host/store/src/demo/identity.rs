//! Organizations, persons, workspaces, and who is what in which.

use kobana_contract::Role;
use kobana_contract::operations::workspaces::WorkspaceSource;
use sea_orm::{DbErr, EntityTrait, IntoActiveModel};
use serde_json::Map;
use uuid::Uuid;

use super::{DAY, START};
use crate::entity::{organizations as organization_table, persons as person_table, workspaces as table};
use crate::text::fold;
use crate::values::{Folded, Object, Word};
use crate::{InOrganization, Scope, Write, people, rows::Workspaces};

/// Ids of the demo's organizations.
pub mod organizations {
    use super::super::id;
    use uuid::Uuid;

    /// Acme, with two workspaces.
    pub const ACME: Uuid = id(0xa001);
    /// Globex, with one.
    pub const GLOBEX: Uuid = id(0xa002);
}

/// Ids of the demo's persons.
pub mod persons {
    use super::super::id;
    use uuid::Uuid;

    /// Ana Souza, owner of `acme`.
    pub const ANA: Uuid = id(0xb001);
    /// Vera Lima, viewer in `acme`.
    pub const VERA: Uuid = id(0xb002);
    /// Marcos Reis, owner of `acme` and `acme-labs`.
    pub const MARCOS: Uuid = id(0xb003);
    /// Gil Prado, owner of `globex`.
    pub const GIL: Uuid = id(0xb004);
    /// Lia Costa, owner of `acme`.
    pub const LIA: Uuid = id(0xb005);
    /// Rui Braga, owner of `acme`, whose account is disabled.
    pub const DISABLED: Uuid = id(0xb006);
}

/// Ids of the demo's workspaces.
pub mod workspaces {
    use super::super::id;
    use uuid::Uuid;

    /// `acme`.
    pub const ACME: Uuid = id(0xc001);
    /// `acme-labs`, of the same organization.
    pub const ACME_LABS: Uuid = id(0xc002);
    /// `globex`, of another organization.
    pub const GLOBEX: Uuid = id(0xc003);
}

const ORGANIZATIONS: [(Uuid, &str); 2] =
    [(organizations::ACME, "Acme Distribuidora Ltda."), (organizations::GLOBEX, "Globex Indústria S.A.")];

const WORKSPACES: [(Uuid, Uuid, &str, &str); 3] = [
    (workspaces::ACME, organizations::ACME, "acme", "Acme Financeiro"),
    (workspaces::ACME_LABS, organizations::ACME, "acme-labs", "Acme Laboratório"),
    (workspaces::GLOBEX, organizations::GLOBEX, "globex", "Globex Contas a Pagar"),
];

/// The password of every person of the demo. It is no secret, so nothing but a loopback address may take it.
pub const PASSWORD: &str = "demo-password";

/// The address of the person that examples sign in as.
pub const EMAIL: &str = "ana.souza@acme.example";

/// The hash of the password, made once: a start hashes nothing.
const PASSWORD_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$hYfEHmLdH0I4AAqbACw/FA$mKRX3TbebjdTO3Q6rAqQYoIZR54n8AJoc087Nf2tSxc";

struct Person {
    id: Uuid,
    organization: Uuid,
    name: &'static str,
    email: &'static str,
    active: bool,
    roles: &'static [(Uuid, Role)],
}

const OWNER_OF_ACME: &[(Uuid, Role)] = &[(workspaces::ACME, Role::Owner)];

const PERSONS: [Person; 6] = [
    acme(persons::ANA, "Ana Souza", EMAIL, OWNER_OF_ACME),
    acme(persons::VERA, "Vera Lima", "vera.lima@acme.example", &[(workspaces::ACME, Role::Viewer)]),
    acme(
        persons::MARCOS,
        "Marcos Reis",
        "marcos.reis@acme.example",
        &[(workspaces::ACME, Role::Owner), (workspaces::ACME_LABS, Role::Owner)],
    ),
    Person {
        id: persons::GIL,
        organization: organizations::GLOBEX,
        name: "Gil Prado",
        email: "gil.prado@globex.example",
        active: true,
        roles: &[(workspaces::GLOBEX, Role::Owner)],
    },
    acme(persons::LIA, "Lia Costa", "lia.costa@acme.example", OWNER_OF_ACME),
    Person { active: false, ..acme(persons::DISABLED, "Rui Braga", "rui.braga@acme.example", OWNER_OF_ACME) },
];

const fn acme(id: Uuid, name: &'static str, email: &'static str, roles: &'static [(Uuid, Role)]) -> Person {
    Person { id, organization: organizations::ACME, name, email, active: true, roles }
}

pub(super) async fn fill(tx: &Write) -> Result<(), DbErr> {
    for (id, name) in ORGANIZATIONS {
        let row = organization_table::Model { id, name: name.to_owned(), active: true, created_at: START - 90 * DAY };
        organization_table::Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    }
    for (position, (id, organization, external_id, label)) in (0_i64..).zip(WORKSPACES) {
        let scope = InOrganization(organization);
        scope.insert::<Workspaces>(tx, workspace(id, organization, external_id, label, position)).await?;
    }
    for person in &PERSONS {
        insert_person(tx, person).await?;
    }
    Ok(())
}

fn workspace(id: Uuid, organization_id: Uuid, external_id: &str, label: &str, position: i64) -> table::Model {
    let created_at = START - 80 * DAY + position * DAY;
    table::Model {
        id,
        organization_id,
        external_id: external_id.to_owned(),
        external_id_folded: Folded::default(),
        source: Word(WorkspaceSource::AutonomousInbox),
        label: label.to_owned(),
        label_folded: Folded::default(),
        email_prefix: external_id.to_owned(),
        monthly_cost_limit: Some(250.0),
        monthly_emails_limit: None,
        custom_metadata: Object(Map::new()),
        metadata: Object(Map::new()),
        created_at,
        updated_at: created_at,
        deleted_at: None,
    }
}

async fn insert_person(tx: &Write, person: &Person) -> Result<(), DbErr> {
    let row = person_table::Model {
        id: person.id,
        organization_id: person.organization,
        name: person.name.to_owned(),
        email: person.email.to_owned(),
        email_folded: fold(person.email),
        password_hash: Some(PASSWORD_HASH.to_owned()),
        active: person.active,
        created_at: START - 70 * DAY,
    };
    person_table::Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    for (workspace_id, role) in person.roles {
        people::join(tx, person.id, *workspace_id, *role).await?;
    }
    Ok(())
}
