//! Handing raw messages in, and getting them back.

use std::collections::HashMap;

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt as _, Full};
use kobana_api::EngineSettings;
use kobana_contract::Role;
use serde_json::{Value, json};

use crate::harness::{World, email_id};
use crate::mail::{MESSAGE, hand_in, message, sample, samples, settled, worker};

const SUPPORT: &str = "acme-support";

#[tokio::test]
async fn a_message_is_received_and_comes_back_as_it_was() {
    let world = World::new().await;
    let ana = world.ana().await;
    let raw = sample("alternative-qp.eml");
    let email = hand_in(&world, &ana, SUPPORT, raw.clone()).await.data(202);
    assert_eq!((&email["status"], &email["message_id"]), (&json!("received"), &json!("<alt-qp@supplier.example>")));
    assert_eq!(email["subject"], "Fatura nº 48127 – vencimento próximo");
    assert_eq!(
        (&email["from"], &email["sent_at"]),
        (&json!("billing@supplier.example"), &json!("2026-07-01T11:00:00Z"))
    );
    assert_eq!(email["cc"], json!(["ana@acme.example", "fiscal@acme.example"]));
    assert_eq!(email["header_to"], json!(["notas@inbox.example"]));
    assert_eq!(email["forwarded_for"], "notas@inbox.example");
    let inbox = world.get(&ana, "/inboxes/acme-support").await.data(200);
    assert_eq!((&email["to"][0], &email["inbox_id"]), (&inbox["email"], &inbox["id"]));
    assert!(email.get("body").is_none());
    let (headers, bytes) = world.download(&ana, &format!("/emails/{}/eml", email["id"].as_str().unwrap())).await;
    assert_eq!(bytes, raw);
    assert_eq!(
        (&headers["content-type"], &headers["cache-control"]),
        (&MESSAGE.parse().unwrap(), &"no-store".parse().unwrap())
    );
    assert_eq!(headers["content-length"], raw.len().to_string().as_str());
}

/// Hands every sample in and has it processed.
async fn process_samples() -> (World, HashMap<String, Value>) {
    let world = World::new().await;
    let ana = world.ana().await;
    let mut ids = Vec::new();
    for name in samples() {
        let raw = sample(&name);
        let email = hand_in(&world, &ana, SUPPORT, raw.clone()).await.data(202);
        let id = email["id"].as_str().unwrap().to_owned();
        assert_eq!(world.download(&ana, &format!("/emails/{id}/eml")).await.1, raw, "{name}");
        ids.push((name, id));
    }
    let worker = worker(&world.store, EngineSettings::default());
    let mut emails = HashMap::new();
    for (name, id) in ids {
        let email = settled(&world, &ana, &id, &["processed", "rejected", "failed"]).await;
        assert_eq!(email["status"], "processed", "{name}");
        emails.insert(name, email);
    }
    worker.stop(std::time::Duration::ZERO).await;
    (world, emails)
}

#[tokio::test]
async fn every_sample_is_read_as_far_as_it_can_be() {
    let (_world, emails) = process_samples().await;
    let text = |name: &str| emails[name]["body"]["text"].as_str().map(str::trim).map(str::to_owned);
    let html = |name: &str| emails[name]["body"]["html"].as_str().map(str::trim).map(str::to_owned);
    assert!(
        text("alternative-qp.eml").unwrap().contains("cobrança de R$ 1.234,56 com vencimento em 05/08/2026. Obrigado.")
    );
    assert!(html("alternative-qp.eml").unwrap().contains("<b>cobrança</b> de R$&nbsp;1.234,56"));
    for name in ["windows-1252-raw.eml", "windows-1252-declared.eml"] {
        assert_eq!(text(name).as_deref(), Some("Preço: € 10 – atenção"), "{name}");
        assert!(emails[name]["subject"].as_str().unwrap().contains("– € 10"), "{name}");
    }
    assert_eq!(text("nested-message.eml").as_deref(), Some("Veja o original."));
    assert_eq!((text("empty-body.eml").unwrap_or_default(), html("empty-body.eml")), (String::new(), None));
    assert_eq!((text("html-only.eml"), html("html-only.eml").is_some()), (None, true));
    assert_eq!(text("related-picture.eml"), None);
    assert!(!text("garbage-body.eml").unwrap().contains('\0'));
    assert_eq!(text("bare-newlines.eml").as_deref(), Some("linha 1\nlinha 2"));
    assert!(!emails["format-injection.eml"]["subject"].as_str().unwrap().contains(['\r', '\n', '\0']));
    for (name, sender) in [("no-sender.eml", "unknown@sender.invalid"), ("mbox-line.eml", "billing@supplier.example")] {
        assert_eq!(emails[name]["from"], sender, "{name}");
    }
    let bare = &emails["nothing-but-a-sender.eml"];
    assert_eq!((&bare["subject"], &bare["sent_at"], &bare["header_to"]), (&Value::Null, &Value::Null, &json!([])));
    assert!(bare["message_id"].as_str().unwrap().ends_with("@generated.invalid>"));
    assert_eq!(emails["wrong-date.eml"]["sent_at"], Value::Null);
    let forwarded = &emails["forwarded.eml"];
    assert_eq!(
        (&forwarded["forwarded"], &forwarded["forwarded_for"]),
        (&json!(true), &json!("financeiro@acme.example"))
    );
    assert_eq!(forwarded["bcc"], json!(["oculto@acme.example"]));
}

#[tokio::test]
async fn the_rules_find_what_the_samples_hold() {
    let (_world, emails) = process_samples().await;
    let found = |name: &str| emails[name]["agent_metadata"].clone();
    let invoice = found("alternative-qp.eml");
    assert_eq!(
        (&invoice["amount"], &invoice["due_date"], &invoice["kind"]),
        (&json!("1234.56"), &json!("2026-08-05"), &json!("fatura"))
    );
    assert_eq!(found("html-only.eml")["amount"], "99.90");
    let note = found("mixed-attachments.eml");
    assert_eq!((&note["kind"], &note["nfe_keys"][0]["number"]), (&json!("nota_fiscal"), &json!("780")));
    assert_eq!(note["attachments"][0]["name"], "cobrança.pdf");
    assert_eq!(note["attachments"][0]["size"], 20 * 60);
    assert_eq!(found("related-picture.eml")["attachments"][0]["embedded"], true);
    assert_eq!(found("nested-message.eml")["attachments"][0]["media_type"], "message/rfc822");
}

#[tokio::test]
async fn a_header_may_be_huge() {
    let world = World::new().await;
    let ana = world.ana().await;
    let raw = format!(
        "From: a@b.example\r\nSubject: {}\r\nX-Filler: {}\r\nMessage-ID: <late@b.example>\r\n\r\ncorpo\r\n",
        "muito ".repeat(20_000),
        "x".repeat(1_200_000)
    );
    let email = hand_in(&world, &ana, SUPPORT, raw).await.data(202);
    assert_eq!(email["subject"].as_str().unwrap().chars().count(), 998);
    let worker = worker(&world.store, EngineSettings::default());
    let email = settled(&world, &ana, email["id"].as_str().unwrap(), &["processed"]).await;
    assert_eq!(email["body"]["text"].as_str().map(str::trim), Some("corpo"));
    worker.stop(std::time::Duration::ZERO).await;
}

#[tokio::test]
async fn the_same_message_comes_in_once_for_each_inbox() {
    let world = World::new().await;
    let ana = world.ana().await;
    for raw in [sample("alternative-qp.eml"), sample("nothing-but-a-sender.eml")] {
        hand_in(&world, &ana, SUPPORT, raw.clone()).await.expect(202);
        let details = hand_in(&world, &ana, SUPPORT, raw.clone()).await.refused(409, "conflict");
        assert_eq!(details, json!({ "field": "message_id" }));
        hand_in(&world, &ana, "acme-old", raw).await.expect(202);
    }
    let raw = message(1);
    let path = "/inboxes/acme-support/emails";
    let headers = [("content-type", MESSAGE), ("x-idempotency-key", "one")];
    let first = world.raw(&ana, "POST", path, &headers, raw.clone()).await.data(202);
    assert_eq!(world.raw(&ana, "POST", path, &headers, raw).await.data(202), first);
    world.raw(&ana, "POST", path, &headers, message(2)).await.refused(409, "idempotency_conflict");
}

#[tokio::test]
async fn at_the_same_moment_one_alone_comes_in() {
    let world = World::new().await;
    let ana = world.ana().await;
    let answers = futures::future::join_all((0..8).map(|_| hand_in(&world, &ana, SUPPORT, message(1)))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409, 409, 409, 409, 409, 409, 409]);
}

#[tokio::test]
async fn what_cannot_be_taken_is_refused() {
    let world = World::new().await;
    let ana = world.ana().await;
    for nothing in ["", "hello", "{\"from\":\"x\"}", "\u{feff}\u{0}"] {
        let details = hand_in(&world, &ana, SUPPORT, nothing).await.refused(400, "validation_failed");
        assert!(details["form_errors"][0].is_string());
    }
    let path = "/inboxes/acme-support/emails";
    for media in ["application/json", "text/plain", "message/rfc822x", ""] {
        let answer = world.raw(&ana, "POST", path, &[("content-type", media)], message(1)).await;
        answer.refused(415, "unsupported_media_type");
    }
    world.raw(&ana, "POST", path, &[], message(1)).await.refused(415, "unsupported_media_type");
    for inbox in ["nope", "acme-gone", "globex-main", ".."] {
        hand_in(&world, &ana, inbox, message(1)).await.refused(404, "not_found");
    }
    let parameters = [("content-type", "Message/RFC822; charset=utf-8")];
    world.raw(&ana, "POST", path, &parameters, message(1)).await.expect(202);
    let query = world.raw(&ana, "POST", &format!("{path}?x=1"), &[("content-type", MESSAGE)], message(2)).await;
    assert_eq!(query.invalid_fields(), ["x"]);
    for role in [Role::Integrator, Role::Operator, Role::Viewer] {
        let mut other = ana.clone();
        other.memberships[0].role = role;
        let details = hand_in(&world, &other, SUPPORT, message(3)).await.refused(403, "permission_denied");
        assert_eq!(details, json!({ "required": "emails.ingest" }));
    }
}

#[tokio::test]
async fn forty_megabytes_are_the_most() {
    const LARGEST: usize = 41_943_040;
    let world = World::new().await;
    let ana = world.ana().await;
    let (path, headers) = ("/inboxes/acme-support/emails", [("content-type", MESSAGE)]);
    let mut raw = message(1);
    raw.resize(LARGEST, b'x');
    let email = world.raw(&ana, "POST", path, &headers, raw.clone()).await.data(202);
    let (_, bytes) = world.download(&ana, &format!("/emails/{}/eml", email["id"].as_str().unwrap())).await;
    assert!(bytes == raw);
    raw.push(b'x');
    let chunks = Body::new(Full::new(Bytes::from(raw.clone())).map_frame(|frame| frame));
    for body in [Body::from(raw), chunks] {
        world.raw(&ana, "POST", path, &headers, body).await.refused(413, "payload_too_large");
    }
    let announced = [("content-type", MESSAGE), ("content-length", "41943041")];
    world.raw(&ana, "POST", path, &announced, "From: a@b.example\r\n\r\n").await.refused(413, "payload_too_large");
}

#[tokio::test]
async fn the_demo_has_originals_that_say_what_its_rows_say() {
    let world = World::new().await;
    let ana = world.ana().await;
    for number in [1, 3, 15, 17, 42, 60] {
        let path = format!("/emails/{}", email_id(number));
        let (_, original) = world.download(&ana, &format!("{path}/eml")).await;
        assert!(original.starts_with(b"Date: ") && original.is_ascii());
        let before = world.get(&ana, &path).await.data(200);
        let again = hand_in(&world, &ana, SUPPORT, original).await;
        // In the same inbox it is known; elsewhere it says the same.
        let again = if again.status == 409 { continue } else { again.data(202) };
        for member in ["subject", "from", "message_id", "sent_at", "header_to"] {
            assert_eq!(again[member], before[member], "{number} {member}");
        }
    }
    world.get(&world.gil().await, &format!("/emails/{}/eml", email_id(1))).await.refused(404, "not_found");
}
