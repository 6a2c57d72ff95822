//! Asking what a destructive operation would act on.

use kobana_contract::{Caller, Operation, operations};
use serde_json::{Value, json};

use crate::harness::{Answer, World, call};

async fn prepare(world: &World, caller: &Caller, method: &str, path: &str, body: &Value) -> Answer {
    world.local(caller).prepare(call(method, path, Some(body))).await.unwrap().into()
}

#[tokio::test]
async fn every_destructive_operation_shows_its_row_and_changes_nothing() {
    let world = World::new().await;
    let ana = world.ana().await;
    let row = |path: &str| match path.split('/').nth(1).unwrap() {
        "workspaces" => "acme",
        "inboxes" => "acme-invoices",
        "agents" => "acme-fiscal",
        "emails" => "00000000-0000-7000-8000-000000000001",
        _ => "acme-erp",
    };
    let deliveries = world.get(&ana, "/webhooks/acme-erp/deliveries").await.data(200);
    let delivery = deliveries[0]["id"].as_str().unwrap().to_owned();
    let email = json!({ "email": "billing@supplier.example" });
    let asked = operations::all().into_iter().map(|operation| operation.spec).filter(|spec| spec.tool.is_ok());
    for spec in asked.filter(|spec| spec.hints.destructive) {
        let path = spec.path.replace("{id}", row(spec.path)).replace("{delivery_id}", &delivery);
        let reading = match path.strip_suffix("/replay") {
            Some(delivery) => delivery.to_owned(),
            None => format!("/{}/{}", spec.path.split('/').nth(1).unwrap(), row(spec.path)),
        };
        let before = world.get(&ana, &reading).await.data(200);
        let prepared = prepare(&world, &ana, spec.method.as_str(), &path, &email).await.data(200);
        assert_eq!(prepared, before, "{}", spec.id);
        assert_eq!(world.get(&ana, &reading).await.data(200), before, "{}", spec.id);
        let nothing = spec.path.replace("{id}", "nope").replace("{delivery_id}", &delivery);
        prepare(&world, &ana, spec.method.as_str(), &nothing, &email).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_before_anything_is_asked() {
    let world = World::new().await;
    let ana = world.ana().await;
    let path = operations::inboxes::RemoveAllowedRecipient::SPEC.path.replace("{id}", "acme-invoices");
    assert_eq!(prepare(&world, &ana, "DELETE", &path, &json!({})).await.invalid_fields(), ["email"]);
    let vera = world.caller(kobana_store::demo::persons::VERA).await;
    prepare(&world, &vera, "DELETE", "/inboxes/acme-old", &Value::Null).await.refused(403, "permission_denied");
}
