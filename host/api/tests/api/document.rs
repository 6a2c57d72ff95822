//! The OpenAPI document and the routes say the same.

use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kobana_api::{ApiError, Problems};
use kobana_contract::{Permission, Scope, openapi};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use uuid::Uuid;

use crate::harness::World;

#[tokio::test]
async fn the_document_lists_exactly_the_routes() {
    let world = World::new().await;
    let ana = world.ana().await;
    let document = openapi::document();
    for (path, item) in document["paths"].as_object().unwrap() {
        // Names nothing, wherever it stands: no row comes to harm.
        let mut path_sent = path.clone();
        for variable in ["{id}", "{delivery_id}", "{name}", "{version}"] {
            path_sent = path_sent.replace(variable, "%20");
        }
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

/// Every refusal that a document tells of, the rare ones too.
fn refusals() -> Vec<ApiError> {
    vec![
        ApiError::invalid_field("label", "is required"),
        ApiError::Invalid(Problems::of_form("is no JSON")),
        ApiError::WorkspaceRequired(vec![(Uuid::nil(), "Acme".to_owned())]),
        ApiError::MissingToken,
        ApiError::InvalidToken,
        ApiError::InsufficientScope { required: Scope::Inboxes, granted: vec![Scope::Emails] },
        ApiError::PermissionDenied(Permission::InboxesView),
        ApiError::NotFound,
        ApiError::Conflict { field: "email" },
        ApiError::InTheWay { field: "version", message: "Version 1.0.0 is there already.".to_owned() },
        ApiError::IdempotencyConflict,
        ApiError::IdempotencyInProgress,
        ApiError::PayloadTooLarge,
        ApiError::UnsupportedMediaType,
        ApiError::InboxDomainMismatch,
        ApiError::ReferenceNotFound { field: "agent_id" },
        ApiError::UrlNotAllowed,
        ApiError::RateLimited { limit: 5, retry_after: 60 },
        ApiError::Unavailable { retry_after: 1, cause: None },
        ApiError::NoExtensions,
    ]
}

#[test]
fn refusals_look_as_the_document_says() {
    let document = openapi::document();
    let codes = &document["components"]["schemas"]["Error"]["x-error-codes"];
    for refusal in refusals() {
        let (status, body) = (refusal.status().as_u16().to_string(), json!(refusal.body()));
        assert!(codes[&status].as_array().unwrap().contains(&body["error"]["code"]), "{body}");
        let response = document["paths"]["/inboxes"]["post"]["responses"][&status]["$ref"].as_str().unwrap();
        let schema = json!({
            "$ref": format!("{response}/content/application~1json/schema"),
            "components": document["components"],
        });
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let wrong: Vec<_> = validator.iter_errors(&body).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{status}: {wrong:?} in {body}");
        // The details are looked at, not passed over.
        let mut bare = body.clone();
        bare["error"].as_object_mut().unwrap().remove("details");
        assert_eq!(validator.is_valid(&bare), body["error"].get("details").is_none(), "{status}");
    }
}
