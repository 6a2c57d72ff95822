//! Agents and inboxes.

use kobana_contract::fields::ActiveStatus;
use sea_orm::DbErr;
use serde_json::{Map, json};
use uuid::Uuid;

use super::{DAY, INBOX_DOMAIN, START, id, workspaces};
use crate::rows::{AgentRow, Agents, InboxRow, Inboxes};
use crate::values::{Folded, Object, Objects, Texts, Word};
use crate::{InWorkspace, Scope, Write};

pub(super) const TRIAGE: Uuid = id(0xd001);
pub(super) const FISCAL: Uuid = id(0xd002);

/// An inbox of the demo.
pub(super) struct Inbox {
    pub(super) id: Uuid,
    pub(super) workspace: Uuid,
    pub(super) agent: Option<Uuid>,
    external_id: &'static str,
    label: &'static str,
    token: &'static str,
    status: ActiveStatus,
    allowed: &'static [&'static str],
    deleted: bool,
}

impl Inbox {
    pub(super) fn email(&self) -> String {
        format!("{}-{}@{INBOX_DOMAIN}", self.external_id, self.token)
    }
}

const PLAIN: Inbox = Inbox {
    id: Uuid::nil(),
    workspace: workspaces::ACME,
    agent: None,
    external_id: "",
    label: "",
    token: "",
    status: ActiveStatus::Active,
    allowed: &[],
    deleted: false,
};

pub(super) const INVOICES: Inbox = Inbox {
    id: id(0xe001),
    agent: Some(FISCAL),
    external_id: "acme-invoices",
    label: "Notas e boletos de fornecedores",
    token: "k7m2p9qx4t",
    allowed: &["billing@supplier.example", "nfe@supplier.example"],
    ..PLAIN
};
pub(super) const SUPPORT: Inbox = Inbox {
    id: id(0xe002),
    agent: Some(TRIAGE),
    external_id: "acme-support",
    label: "Atendimento ao cliente",
    token: "h3v8w6zr2n",
    ..PLAIN
};
pub(super) const OLD: Inbox = Inbox {
    id: id(0xe003),
    external_id: "acme-old",
    label: "Endereço antigo",
    token: "b5d9f2jc7y",
    status: ActiveStatus::Inactive,
    ..PLAIN
};
const GONE: Inbox = Inbox {
    id: id(0xe004),
    external_id: "acme-gone",
    label: "Caixa desativada",
    token: "x4n6r8ts3g",
    deleted: true,
    ..PLAIN
};
pub(super) const GLOBEX: Inbox = Inbox {
    id: id(0xe005),
    workspace: workspaces::GLOBEX,
    external_id: "globex-main",
    label: "Contas a pagar",
    token: "q2w5e8rt7y",
    ..PLAIN
};
pub(super) const LABS: Inbox = Inbox {
    id: id(0xe006),
    workspace: workspaces::ACME_LABS,
    external_id: "labs-main",
    label: "Testes",
    token: "z9x6c3vb4n",
    ..PLAIN
};

const AGENTS: [(Uuid, &str, &str, &str); 2] = [
    (TRIAGE, "acme-triage", "Triagem de atendimento", "Classifique o pedido e resuma-o em uma frase."),
    (FISCAL, "acme-fiscal", "Leitura fiscal", "Extraia valor, vencimento, CNPJ e linha digitável de notas e boletos."),
];

pub(super) async fn fill(tx: &Write) -> Result<(), DbErr> {
    for (position, agent) in (0_i64..).zip(AGENTS) {
        InWorkspace(workspaces::ACME).insert::<Agents>(tx, agent_row(agent, position)).await?;
    }
    for (position, inbox) in (0_i64..).zip([&GONE, &OLD, &SUPPORT, &INVOICES, &GLOBEX, &LABS]) {
        InWorkspace(inbox.workspace).insert::<Inboxes>(tx, inbox_row(inbox, position)).await?;
    }
    Ok(())
}

fn agent_row((id, external_id, label, instructions): (Uuid, &str, &str, &str), position: i64) -> AgentRow {
    let created_at = START - 60 * DAY + position * DAY;
    AgentRow {
        id,
        workspace_id: workspaces::ACME,
        external_id: external_id.to_owned(),
        external_id_folded: Folded::default(),
        label: label.to_owned(),
        label_folded: Folded::default(),
        llm_model: "rules".to_owned(),
        system_message: instructions.to_owned(),
        skills_repo: None,
        created_at,
        updated_at: created_at,
        deleted_at: None,
    }
}

fn inbox_row(inbox: &Inbox, position: i64) -> InboxRow {
    let created_at = START - 50 * DAY + position * DAY;
    let filters = if inbox.allowed.is_empty() { Vec::new() } else { vec![spam_filter()] };
    InboxRow {
        id: inbox.id,
        workspace_id: inbox.workspace,
        external_id: inbox.external_id.to_owned(),
        external_id_folded: Folded::default(),
        agent_id: inbox.agent,
        label: inbox.label.to_owned(),
        label_folded: Folded::default(),
        email: inbox.email(),
        status: Word(inbox.status),
        allowed_recipients: Texts(inbox.allowed.iter().map(|address| (*address).to_owned()).collect()),
        filters: Objects(filters),
        attachments_allow: true,
        attachments_max_file_number: 10,
        attachments_max_file_size: 10_485_760,
        attachments_max_total_size: 26_214_400,
        custom_metadata: Object(Map::new()),
        metadata: Object(Map::new()),
        created_at,
        updated_at: created_at,
        deleted_at: inbox.deleted.then_some(created_at + 10 * DAY),
    }
}

fn spam_filter() -> Map<String, serde_json::Value> {
    let rule = [("field", "subject"), ("op", "starts_with"), ("value", "[SPAM]"), ("action", "reject")];
    rule.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}
