//! Media type, size and JSON, before a body means anything.

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt as _, Full};
use serde_json::json;

use crate::harness::{JSON, World};

const LARGEST: usize = 1_048_576;

/// A body that does not tell its length.
fn chunks(bytes: Vec<u8>) -> Body {
    Body::new(Full::new(Bytes::from(bytes)).map_frame(|frame| frame))
}

#[tokio::test]
async fn only_json_is_taken() {
    let world = World::new().await;
    let ana = world.ana().await;
    let body = json!({ "external_id": "media", "label": "x" }).to_string();
    for media in
        ["text/plain", "application/jsonp", "application/xml; x=application/json", "multipart/form-data", "", "*/*"]
    {
        let answer = world.raw(&ana, "PUT", "/inboxes", &[("content-type", media)], body.clone()).await;
        answer.refused(415, "unsupported_media_type");
    }
    world.raw(&ana, "PUT", "/inboxes", &[], body.clone()).await.refused(415, "unsupported_media_type");
    let twice = [("content-type", JSON), ("content-type", "text/plain")];
    world.raw(&ana, "PUT", "/inboxes", &twice, body.clone()).await.refused(415, "unsupported_media_type");
    for media in ["application/json; charset=utf-8", "APPLICATION/JSON;x=y", " application/json "] {
        let answer = world.raw(&ana, "PUT", "/inboxes", &[("content-type", media.trim())], body.clone()).await;
        assert!(answer.status.is_success(), "{media}");
    }
}

#[tokio::test]
async fn a_body_may_be_one_megabyte_and_no_more() {
    let world = World::new().await;
    let ana = world.ana().await;
    let mut body = json!({ "external_id": "size", "label": "x" }).to_string().into_bytes();
    body.resize(LARGEST, b' ');
    world.raw(&ana, "PUT", "/inboxes", &[("content-type", JSON)], body.clone()).await.expect(201);
    world.raw(&ana, "PUT", "/inboxes", &[("content-type", JSON)], chunks(body.clone())).await.expect(200);
    body.push(b' ');
    for body in [Body::from(body.clone()), chunks(body)] {
        world.raw(&ana, "PUT", "/inboxes", &[("content-type", JSON)], body).await.refused(413, "payload_too_large");
    }
    let announced = [("content-type", JSON), ("content-length", "1048577")];
    world.raw(&ana, "PUT", "/inboxes", &announced, "{}").await.refused(413, "payload_too_large");
}

#[tokio::test]
async fn what_is_no_json_object_is_a_problem_of_the_form() {
    let world = World::new().await;
    let ana = world.ana().await;
    let deep = format!("{{\"label\":{}", "[".repeat(200_000));
    for body in ["", "{", "{}{}", "null", "[]", "1", "\"x\"", "{\"label\":\"a\",\"label\":\"b\"}", "\u{feff}{}", &deep]
    {
        let details = world.raw(&ana, "POST", "/inboxes", &[("content-type", JSON)], body.to_owned()).await;
        let details = details.refused(400, "validation_failed");
        assert!(details["form_errors"][0].is_string(), "{body:.40}");
        assert!(details["field_errors"].is_object());
    }
}

#[tokio::test]
async fn the_query_of_a_write_is_checked_too() {
    let world = World::new().await;
    let ana = world.ana().await;
    let answer = world.call(&ana, "POST", "/inboxes?workspace=globex", &json!({ "colour": 1 })).await;
    assert_eq!(answer.invalid_fields(), ["colour", "label", "workspace"]);
}
