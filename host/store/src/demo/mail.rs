//! E-mails: 60 in `acme`, three in `globex`, two in `acme-labs`.

use std::io;

use kobana_contract::operations::emails::EmailStatus;
use sea_orm::DbErr;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::inboxes::{GLOBEX, INVOICES, Inbox, LABS, OLD, SUPPORT};
use super::phrases::{INJECTION, PHRASES, Phrase, REFUSED};
use super::{MINUTE, SECOND, START, id, originals};
use crate::blobs::Blobs;
use crate::rows::{EmailBodies, EmailBodyRow, EmailRow, Emails};
use crate::values::{Folded, Object, Texts, Word};
use crate::{InWorkspace, Scope, Write};

/// How many e-mails `acme` has.
const IN_ACME: u32 = 60;
/// The one whose subject tries to give orders.
const WITH_INJECTION: u32 = 42;
/// The one with a long body, and that body's length in bytes.
const LONG: (u32, usize) = (17, 200 * 1024);
/// The inactive inbox got the first few.
const TO_OLD: u32 = 4;

/// One e-mail before it becomes a row.
struct Mail<'a> {
    id: Uuid,
    number: u32,
    inbox: &'a Inbox,
    phrase: &'a Phrase,
    status: EmailStatus,
}

pub(super) async fn fill(tx: &Write) -> Result<(), DbErr> {
    for mail in all() {
        insert(tx, &mail).await?;
    }
    Ok(())
}

/// Writes the messages that the e-mails came as.
pub(super) fn originals(blobs: &Blobs) -> io::Result<()> {
    for mail in all() {
        let row = row(&mail);
        blobs.put_if_absent(&row.raw_s3_key, || originals::message(&row, &body(&mail)))?;
    }
    Ok(())
}

fn all() -> impl Iterator<Item = Mail<'static>> {
    let others = [(&GLOBEX, 0x100, 3), (&LABS, 0x200, 2)].into_iter().flat_map(|(inbox, first, count)| {
        (1..=count).zip(&PHRASES).map(move |(number, phrase)| {
            let id = id(first + u128::from(number));
            Mail { id, number, inbox, phrase, status: EmailStatus::Processed }
        })
    });
    (1..=IN_ACME).map(of_acme).chain(others)
}

fn of_acme(number: u32) -> Mail<'static> {
    let status = status(number);
    let turn = usize::try_from(number).unwrap_or_default() % PHRASES.len();
    let phrase = PHRASES.get(turn).filter(|_| status != EmailStatus::Rejected).unwrap_or(&REFUSED);
    let inbox = match phrase {
        _ if number <= TO_OLD => &OLD,
        phrase if phrase.to_support => &SUPPORT,
        _ => &INVOICES,
    };
    Mail { id: id(u128::from(number)), number, inbox, phrase, status }
}

/// Most are done; the newest are still on their way.
fn status(number: u32) -> EmailStatus {
    match number {
        59.. => EmailStatus::Received,
        57..=58 => EmailStatus::Processing,
        54..=56 => EmailStatus::Approved,
        _ if number % 11 == 7 => EmailStatus::Failed,
        _ if number % 13 == 5 => EmailStatus::Rejected,
        _ => EmailStatus::Processed,
    }
}

async fn insert(tx: &Write, mail: &Mail<'_>) -> Result<(), DbErr> {
    let scope = InWorkspace(mail.inbox.workspace);
    scope.insert::<Emails>(tx, row(mail)).await?;
    scope.insert::<EmailBodies>(tx, body(mail)).await
}

fn row(mail: &Mail<'_>) -> EmailRow {
    let received_at = START + i64::from(mail.number - 1) * 377 * MINUTE;
    let subject = if mail.number == WITH_INJECTION { INJECTION.to_owned() } else { filled(mail, mail.phrase.subject) };
    let address = mail.inbox.email();
    let forwarded_for = mail.number.is_multiple_of(15).then(|| "financeiro@acme.example".to_owned());
    let done = matches!(mail.status, EmailStatus::Processed | EmailStatus::Failed);
    EmailRow {
        id: mail.id,
        workspace_id: mail.inbox.workspace,
        inbox_id: mail.inbox.id,
        agent_id: mail.inbox.agent.filter(|_| done || mail.status == EmailStatus::Processing),
        message_id: format!("<{:06}.{}@{}>", mail.number, mail.phrase.kind, domain(mail.phrase.sender)),
        raw_s3_key: format!("raw/{}/{}.eml", mail.inbox.workspace, mail.id),
        subject_folded: None,
        subject: Some(subject),
        sender: mail.phrase.sender.to_owned(),
        sender_folded: Folded::default(),
        recipients: Texts(vec![address.clone()]),
        cc: Texts(Vec::new()),
        bcc: Texts(Vec::new()),
        header_to: Texts(vec![forwarded_for.clone().unwrap_or(address)]),
        forwarded: forwarded_for.is_some(),
        forwarded_for,
        status: Word(mail.status),
        rejection_reason: (mail.status == EmailStatus::Rejected).then(|| "sender is not allowed".to_owned()),
        spam_verdict: Some("PASS".to_owned()),
        virus_verdict: Some("PASS".to_owned()),
        aws_ses_metadata: Object(Map::new()),
        custom_metadata: Object(Map::new()),
        agent_metadata: Object(extracted(mail)),
        metadata: Object(Map::new()),
        sent_at: Some(received_at - 25 * SECOND),
        processed_at: done.then_some(received_at + 40 * SECOND),
        received_at,
        created_at: received_at,
        updated_at: received_at + 40 * SECOND,
    }
}

fn domain(address: &str) -> &str {
    address.split_once('@').map_or(address, |(_, domain)| domain)
}

fn extracted(mail: &Mail<'_>) -> Map<String, Value> {
    if mail.status != EmailStatus::Processed {
        return Map::new();
    }
    let members = [
        ("kind", json!(mail.phrase.kind)),
        ("document_number", json!(document(mail.number))),
        ("amount", json!(amount(mail.number))),
        ("due_date", json!(format!("2026-08-{:02}", due_day(mail.number)))),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn body(mail: &Mail<'_>) -> EmailBodyRow {
    let mut text = filled(mail, mail.phrase.text);
    if mail.number == LONG.0 {
        text = lengthened(text, LONG.1);
    }
    let html = mail.number.is_multiple_of(3).then(|| format!("<p>{}</p>", text.replace("\n\n", "</p>\n<p>")));
    EmailBodyRow { email_id: mail.id, workspace_id: mail.inbox.workspace, text: Some(text), html }
}

/// The text followed by numbered lines, exactly `length` bytes long.
fn lengthened(mut text: String, length: usize) -> String {
    let mut item = 1;
    while text.len() < length {
        text.push_str(&format!("\nItem {item:05}: material de escritorio, 1 unidade"));
        item += 1;
    }
    // Only the ASCII lines are cut.
    text.truncate(length);
    text
}

fn filled(mail: &Mail<'_>, template: &str) -> String {
    template
        .replace("{n}", &document(mail.number).to_string())
        .replace("{amount}", &brazilian(mail.number))
        .replace("{due}", &format!("{:02}/08/2026", due_day(mail.number)))
}

const fn document(number: u32) -> u32 {
    48_120 + number * 7
}

const fn due_day(number: u32) -> u32 {
    1 + number * 5 % 28
}

/// Cents, so that no amount is rounded.
const fn cents(number: u32) -> u32 {
    18_990 + number * 73_377 % 912_345
}

fn amount(number: u32) -> String {
    format!("{}.{:02}", cents(number) / 100, cents(number) % 100)
}

/// The amount as Brazilians write it: `1.234,56`.
fn brazilian(number: u32) -> String {
    let (reais, cents) = (cents(number) / 100, cents(number) % 100);
    match reais / 1_000 {
        0 => format!("{reais},{cents:02}"),
        thousands => format!("{thousands}.{:03},{cents:02}", reais % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_and_every_inbox_of_acme_has_mail() {
        let mails: Vec<_> = (1..=IN_ACME).map(of_acme).collect();
        for status in EmailStatus::ALL {
            assert!(mails.iter().any(|mail| mail.status == *status), "{status}");
        }
        for inbox in [&INVOICES, &SUPPORT, &OLD] {
            assert!(mails.iter().any(|mail| mail.inbox.id == inbox.id));
        }
    }

    #[test]
    fn one_body_is_200_kilobytes_and_one_subject_gives_orders() {
        let long: Vec<_> = (1..=IN_ACME).map(of_acme).filter(|mail| body(mail).text.unwrap().len() == LONG.1).collect();
        assert_eq!(long.len(), 1);
        assert_eq!(row(&of_acme(WITH_INJECTION)).subject.as_deref(), Some(INJECTION));
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for mail in (1..=IN_ACME).map(of_acme) {
            let (row, body) = (row(&mail), body(&mail));
            assert!(!format!("{:?}{:?}", row.subject, body.text).contains('{'), "{}", mail.number);
        }
    }
}
