//! The OpenAPI document and the routes say the same.

use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kobana_contract::openapi;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::harness::World;

#[tokio::test]
async fn the_document_lists_exactly_the_routes() {
    let world = World::new().await;
    let ana = world.ana().await;
    let document = openapi::document();
    for (path, item) in document["paths"].as_object().unwrap() {
        // Names nothing, wherever it stands: no row comes to harm.
        let path_sent = path.replace("{id}", "%20").replace("{delivery_id}", "%20");
        let unknown = world.call(&ana, "TRACE", &path_sent, &Value::Null).await;
        assert_eq!(unknown.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        let allowed = unknown.headers[header::ALLOW].to_str().unwrap().to_lowercase();
        // HEAD comes with GET, and is no operation of its own.
        let mut allowed: Vec<_> = allowed.split(',').map(str::trim).filter(|method| *method != "head").collect();
        allowed.sort_unstable();
        assert!(allowed.iter().copied().eq(item.as_object().unwrap().keys()), "{path}: {allowed:?}");
    }
}

#[tokio::test]
async fn the_document_is_for_everyone() {
    let request = Request::get(openapi::PATH).body(Body::empty()).unwrap();
    let response = kobana_api::document().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), openapi::document());
    let post = Request::post(openapi::PATH).body(Body::empty()).unwrap();
    assert_eq!(kobana_api::document().oneshot(post).await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED);
}
