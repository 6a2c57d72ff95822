//! The log tells what happened, and neither who holds which token nor what stands in anybody's mail.

use serde_json::json;

use crate::harness::{Server, nonce};

/// Does a bit of everything, with words that must not be logged, and gives them.
fn be_busy(server: &Server) -> Vec<String> {
    let secret = nonce("secret");
    let email = "00000000-0000-7000-8000-00000000000";
    let call = |tool: &str, arguments| server.modern("tools/call").name(tool).arguments(arguments);
    call("emails_list", json!({ "q": secret, "limit": 3 })).send().document();
    call("emails_list", json!({ "from": format!("{secret}@example.com") })).send().document();
    for row in 1..=9 {
        call("emails_get", json!({ "id": format!("{email}{row}") })).send().document();
    }
    call("inboxes_create", json!({ "label": secret })).send().document();
    call("inboxes_create", json!({ "label": secret, "external_id": 5 })).send().result();
    call("nope", json!({ "x": secret })).send().fails(200, -32602);
    call("me_get", json!({})).token(&secret).send().is(401);
    server.legacy("ping").header("X-Secret", &secret).body(secret.as_str()).send().is(400);
    server
        .modern("resources/read")
        .param("uri", json!(format!("{}{}", "kobana://inbox/emails/", email.to_owned() + "1")))
        .send()
        .result();
    server.http("GET", &format!("/api/v1/emails?q={secret}")).token("rest-owner").send().is(200);
    server.http("GET", &format!("/mcp?access_token={secret}")).send().is(405);
    server
        .http("POST", "/api/v1/inboxes")
        .token("rest-owner")
        .header("Content-Type", "application/json")
        .body(secret.as_str())
        .send();
    let mut broken = server.connect();
    let _ = broken.try_send(format!("GET /{secret} HTTP/7\r\nAuthorization: Bearer {secret}\r\n\r\n"));
    assert!(broken.try_answer().is_none_or(|answer| answer.status == 400));

    let tokens = server.banner().lines().filter_map(|line| line.split_whitespace().nth(1));
    let tokens = tokens.filter(|word| word.starts_with("demo-") || word.starts_with("rest-")).map(str::to_owned);
    tokens.chain([secret, "Bearer".to_owned(), "Authorization".to_owned()]).chain(mail(server)).collect()
}

/// Subjects, senders and texts of the mail.
fn mail(server: &Server) -> Vec<String> {
    let list = server.modern("tools/call").name("emails_list").arguments(json!({ "limit": 200 })).send().document();
    let rows = list["data"].as_array().expect("a page").clone();
    let words = rows.iter().flat_map(|row| [&row["subject"], &row["from"], &row["message_id"]]);
    let words: Vec<_> = words.filter_map(|value| value.as_str()).map(str::to_owned).collect();
    assert!(words.len() > 150, "there is mail to look for");
    words
}

#[test]
fn nothing_confidential_is_logged() {
    for (level, format) in [("debug", "text"), ("debug", "json")] {
        is_discreet(level, format);
    }
}

#[test]
fn nothing_confidential_is_logged_even_by_those_who_ask_for_everything() {
    is_discreet("trace", "text");
}

/// Logs a busy run, and expects nothing confidential in it.
#[track_caller]
fn is_discreet(level: &str, format: &str) {
    let server = Server::demo().env("KOBANA_LOG__LEVEL", level).env("KOBANA_LOG__FORMAT", format).start();
    let confidential = be_busy(&server);
    let (_, log) = server.stop();
    for word in &confidential {
        let line = log.lines().find(|line| line.contains(word.as_str()));
        assert_eq!(line, None, "{word:?} is logged at {level}");
    }
    assert!(log.matches("answered").count() >= 20, "requests are logged: {log}");
}

#[test]
fn lines_can_be_told_apart_by_request() {
    let server = Server::demo().env("KOBANA_LOG__LEVEL", "debug").env("KOBANA_LOG__FORMAT", "json").start();
    for _ in 0..3 {
        server.legacy("ping").send().result();
    }
    let (_, log) = server.stop();
    let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON"));
    let answered: Vec<_> = lines.filter(|line| line["message"] == "answered").collect();
    assert_eq!(answered.len(), 3);
    let mut ids: Vec<_> = answered.iter().map(|line| line["span"]["id"].to_string()).collect();
    assert!(ids.iter().all(|id| id.len() > 30), "{ids:?}");
    ids.dedup();
    assert_eq!(ids.len(), 3, "each request has its own id");
    assert!(answered.iter().all(|line| line["status"] == 200 && line["span"]["path"] == "/mcp"), "{answered:?}");
}
