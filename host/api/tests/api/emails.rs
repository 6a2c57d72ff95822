//! E-mails: filters and tenants.

use kobana_contract::operations::emails::EmailStatus;
use serde_json::json;

use crate::harness::{World, column, email_id};

#[tokio::test]
async fn one_is_read_with_its_body_and_lists_leave_it_out() {
    let world = World::new().await;
    let ana = world.ana().await;
    let email = world.get(&ana, &format!("/emails/{}", email_id(17))).await.data(200);
    assert_eq!(email["body"]["text"].as_str().unwrap().len(), 200 * 1024);
    let upper = world.get(&ana, &format!("/emails/{}", email_id(0x3c).to_uppercase())).await.data(200);
    assert_eq!(upper["id"], json!(email_id(0x3c)));
    let rows = world.get(&ana, "/emails?limit=200").await.data(200);
    assert!(rows.as_array().unwrap().iter().all(|row| row.get("body").is_none()));
}

#[tokio::test]
async fn another_tenants_mail_is_not_there() {
    let world = World::new().await;
    let (ana, gil) = (world.ana().await, world.gil().await);
    world.get(&gil, &format!("/emails/{}", email_id(1))).await.refused(404, "not_found");
    world.get(&ana, &format!("/emails/{}", email_id(0x101))).await.refused(404, "not_found");
    world.get(&ana, &format!("/emails/{}", email_id(0x201))).await.refused(404, "not_found");
    assert_eq!(column(&world.get(&gil, "/emails").await.data(200), "id"), [0x103, 0x102, 0x101].map(email_id));
    assert_eq!(world.get(&gil, "/emails?inbox_id=acme-invoices").await.data(200), json!([]));
}

#[tokio::test]
async fn what_is_no_uuid_is_no_email() {
    let world = World::new().await;
    let ana = world.ana().await;
    let simple = email_id(1).replace('-', "");
    for id in ["x", "..", "%00", "%FF", &simple, &format!("%7B{}%7D", email_id(1)), &"a".repeat(129)] {
        world.get(&ana, &format!("/emails/{id}")).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn the_status_filter_splits_the_list() {
    let world = World::new().await;
    let ana = world.ana().await;
    let mut total = 0;
    for status in EmailStatus::ALL {
        let rows = world.get(&ana, &format!("/emails?limit=200&status={status}")).await.data(200);
        assert!(column(&rows, "status").iter().all(|found| found == status.as_str()));
        total += rows.as_array().unwrap().len();
    }
    assert_eq!(total, 60);
}

#[tokio::test]
async fn the_inbox_filter_takes_a_uuid_or_a_name() {
    let world = World::new().await;
    let ana = world.ana().await;
    let inbox = world.get(&ana, "/inboxes/acme-support").await.data(200)["id"].as_str().unwrap().to_owned();
    let by_name = world.get(&ana, "/emails?limit=200&inbox_id=acme-support").await.data(200);
    let by_id = world.get(&ana, &format!("/emails?limit=200&inbox_id={inbox}")).await.data(200);
    assert_eq!(by_name, by_id);
    assert!(column(&by_id, "inbox_id").iter().all(|found| *found == inbox));
    for nothing in ["nope", "acme-gone", "globex-main", "%2F", "a%00", &email_id(1)] {
        let page = world.get(&ana, &format!("/emails?inbox_id={nothing}")).await.expect(200).json;
        assert_eq!(page, json!({ "data": [], "meta": { "next_cursor": null } }), "{nothing}");
    }
}

#[tokio::test]
async fn the_sender_filter_is_exact_in_any_case() {
    let world = World::new().await;
    let ana = world.ana().await;
    let rows = world.get(&ana, "/emails?limit=200&from=NFE@Supplier.example").await.data(200);
    let senders = column(&rows, "from");
    assert!(!senders.is_empty() && senders.iter().all(|sender| sender == "nfe@supplier.example"));
    assert_eq!(world.get(&ana, "/emails?from=fe@supplier.example").await.data(200), json!([]));
}

#[tokio::test]
async fn the_subject_filter_knows_accents_and_no_patterns() {
    let world = World::new().await;
    let ana = world.ana().await;
    for text in ["cobran%C3%A7a", "COBRAN%C3%87A", "Cobran%C3%A7A:"] {
        let rows = world.get(&ana, &format!("/emails?limit=200&q={text}")).await.data(200);
        assert!(!rows.as_array().unwrap().is_empty(), "{text}");
        assert!(column(&rows, "subject").iter().all(|subject| subject.to_lowercase().contains("cobrança")));
    }
    for text in ["cobranca", "%25", "_", "a%25o", "%5C", "%00", "a_o", "*", "'", "%F0%9F%98%80"] {
        let rows = world.get(&ana, &format!("/emails?q={text}")).await.data(200);
        let sign = percent_encoding::percent_decode_str(text).decode_utf8().unwrap();
        assert!(column(&rows, "subject").iter().all(|subject| subject.contains(&*sign)), "{text}");
    }
    let rows = world.get(&ana, "/emails?q=70%25").await.data(200);
    assert!(!rows.as_array().unwrap().is_empty());
}

#[tokio::test]
async fn the_time_filters_take_in_the_first_and_leave_out_the_last() {
    let world = World::new().await;
    let ana = world.ana().await;
    let time = async |number| {
        let email = world.get(&ana, &format!("/emails/{}", email_id(number))).await.data(200);
        email["received_at"].as_str().unwrap().to_owned()
    };
    let (from, to) = (time(10).await, time(13).await);
    let rows = world.get(&ana, &format!("/emails?received_from={from}&received_to={to}")).await.data(200);
    assert_eq!(column(&rows, "id"), [12, 11, 10].map(email_id));
    let offset = from.replace('Z', "%2B00:00");
    let rows = world.get(&ana, &format!("/emails?received_from={offset}&received_to={to}")).await.data(200);
    assert_eq!(rows.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn filters_add_up() {
    let world = World::new().await;
    let ana = world.ana().await;
    let path = "/emails?limit=200&status=processed&inbox_id=acme-invoices&from=billing@supplier.example&q=fatura";
    let rows = world.get(&ana, path).await.data(200);
    assert!(!rows.as_array().unwrap().is_empty());
    for row in rows.as_array().unwrap() {
        assert_eq!((&row["status"], &row["from"]), (&json!("processed"), &json!("billing@supplier.example")));
    }
}

#[tokio::test]
async fn each_parameter_is_checked() {
    let world = World::new().await;
    let ana = world.ana().await;
    let long = "x".repeat(201);
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=10.5", "limit"),
        ("limit=", "limit"),
        ("limit=1&limit=2", "limit"),
        ("status=done", "status"),
        ("inbox_id=", "inbox_id"),
        ("from=ana", "from"),
        ("from=Ana%20%3Ca@b.example%3E", "from"),
        ("q=", "q"),
        (&format!("q={long}"), "q"),
        ("received_from=yesterday", "received_from"),
        ("received_to=2026-07-28", "received_to"),
        ("received_to=2026-07-28T09:00:00", "received_to"),
        ("cursor=", "cursor"),
        ("cursor=x", "cursor"),
        ("Limit=1", "Limit"),
        ("workspace_id=globex", "workspace_id"),
    ] {
        assert_eq!(world.get(&ana, &format!("/emails?{query}")).await.invalid_fields(), [field], "{query}");
    }
    let answer = world.get(&ana, "/emails?limit=0&status=done&from=ana&colour=red").await;
    assert_eq!(answer.invalid_fields(), ["colour", "from", "limit", "status"]);
}
