//! Asking a list for the rows that complete what was typed.

use kobana_contract::prompt::PROMPTS;
use kobana_contract::resource::{Suggestions, TEMPLATES, operation};
use kobana_contract::{Caller, Choice, Scope};
use kobana_store::demo::persons;
use serde_json::{Value, json};

use crate::harness::{Answer, World, call};

async fn suggest(world: &World, caller: &Caller, path: &str, prefix: &str) -> Answer {
    world.local(caller).suggest(call("GET", path, None), prefix.to_owned()).await.unwrap().into()
}

async fn offered(world: &World, caller: &Caller, path: &str, prefix: &str) -> Vec<String> {
    let data = suggest(world, caller, path, prefix).await.data(200);
    let values: Vec<String> = serde_json::from_value(data["values"].clone()).unwrap();
    assert_eq!(data["total"], values.len(), "{data}");
    values
}

/// Every list that completes an argument of a template or of a prompt, as it is asked.
fn asked() -> Vec<(String, &'static str)> {
    let variables = TEMPLATES.iter().flat_map(|template| template.variables).map(|variable| variable.suggestions);
    let arguments = PROMPTS.iter().flat_map(|prompt| prompt.arguments).map(|argument| argument.suggestions);
    let sources = variables.chain(arguments).filter_map(|suggestions| match suggestions {
        Suggestions::Rows(source) => Some(source),
        Suggestions::Words(_) | Suggestions::None => None,
    });
    sources
        .flat_map(|source| {
            let path = operation(source.operation).unwrap().path.replace("{id}", "acme-erp");
            match source.filters {
                [] => vec![(path, source.operation)],
                filters => {
                    filters.iter().map(|(name, value)| (format!("{path}?{name}={value}"), source.operation)).collect()
                }
            }
        })
        .collect()
}

#[tokio::test]
async fn every_list_that_completes_an_argument_offers_the_rows_that_it_shows() {
    let world = World::new().await;
    let ana = world.ana().await;
    for (path, list) in asked() {
        let join = if path.contains('?') { '&' } else { '?' };
        let shown = world.get(&ana, &format!("{path}{join}limit=100")).await.expect(200).json;
        let shown: Vec<_> = shown["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.get("external_id").unwrap_or(&row["id"]).clone())
            .collect();
        assert!(!shown.is_empty(), "{path}");
        let everything = suggest(&world, &ana, &path, "").await.data(200);
        assert_eq!(everything["values"], Value::from(shown.clone()), "{path}");
        let one = &shown[0].as_str().unwrap();
        assert!(offered(&world, &ana, &path, &one.to_uppercase()).await.contains(&(*one).to_owned()), "{list}");
    }
}

#[tokio::test]
async fn each_text_of_the_catalogue_is_matched_in_any_letter_case() {
    let world = World::new().await;
    let ana = world.ana().await;
    let cases = [
        ("/inboxes", "ENDEREÇO ANT", "acme-old"),
        ("/inboxes", "Acme-Inv", "acme-invoices"),
        ("/inboxes", "ACME-OLD-", "acme-old"),
        ("/inboxes", "00000000-0000-7000-8000-00000000E001", "acme-invoices"),
        ("/agents", "acme-FISCAL", "acme-fiscal"),
        ("/webhooks", "LANÇAMENTOS NO", "acme-erp"),
        ("/webhooks", "HTTPS://erp.ACME", "acme-erp"),
        ("/workspaces", "acme fin", "acme"),
        ("/system-events", "00000000-0000-7000-8000-", ""),
        ("/emails", "BILLING@supplier", ""),
    ];
    for (path, typed, expected) in cases {
        let data = suggest(&world, &ana, path, typed).await.data(200);
        let values = data["values"].as_array().unwrap();
        assert!(values.iter().any(|value| expected.is_empty() || value == expected), "{path} {typed}: {data}");
    }
    for (path, typed) in [("/inboxes", "endereco"), ("/inboxes", "cme"), ("/inboxes", "%"), ("/emails", "supplier")] {
        assert_eq!(offered(&world, &ana, path, typed).await, [""; 0], "{path} {typed}");
    }
}

#[tokio::test]
async fn what_is_made_changed_and_deleted_is_offered_as_it_is() {
    let world = World::new().await;
    let ana = world.ana().await;
    let agent = json!({ "external_id": "Zeta", "label": "Órbita", "llm_model": "rules", "system_message": "x" });
    let webhook = json!({ "external_id": "Zeta", "label": "Órbita", "url": "https://ZETA.example/Um" });
    let workspace = json!({ "external_id": "Zeta", "label": "Órbita", "source": "kobana_team" });
    let inbox = json!({ "external_id": "Zeta", "label": "Órbita" });
    for (list, body) in [("/agents", agent), ("/webhooks", webhook), ("/inboxes", inbox)] {
        world.call(&ana, "POST", list, &body).await.expect(201);
        assert_eq!(offered(&world, &ana, list, "ÓRB").await, ["Zeta"], "{list}");
        assert_eq!(offered(&world, &ana, list, "zet").await, ["Zeta"], "{list}");
        world.call(&ana, "PATCH", &format!("{list}/Zeta"), &json!({ "label": "Âncora" })).await.expect(200);
        assert_eq!(offered(&world, &ana, list, "órb").await, [""; 0], "{list}");
        assert_eq!(offered(&world, &ana, list, "ânc").await, ["Zeta"], "{list}");
        let upsert = json!({ "external_id": "Zeta", "label": "Ímpar" });
        world.call(&ana, "PUT", list, &upsert).await.expect(200);
        assert_eq!(offered(&world, &ana, list, "ÍMPAR").await, ["Zeta"], "{list}");
        world.delete(&ana, &format!("{list}/Zeta")).await.expect(204);
        assert_eq!(offered(&world, &ana, list, "zet").await, [""; 0], "{list}");
    }
    world.call(&ana, "POST", "/workspaces", &workspace).await.expect(201);
    let ana = world.ana().await;
    assert_eq!(offered(&world, &ana, "/workspaces", "órb").await, ["Zeta"]);
    world.call(&ana, "PATCH", "/workspaces/Zeta", &json!({ "label": "Âncora" })).await.expect(200);
    assert_eq!(offered(&world, &ana, "/workspaces", "ÂNC").await, ["Zeta"]);
    world.delete(&ana, "/workspaces/Zeta").await.expect(204);
    assert_eq!(offered(&world, &ana, "/workspaces", "zet").await, [""; 0]);
}

#[tokio::test]
async fn whoever_may_not_read_a_list_is_offered_nothing_from_it() {
    let world = World::new().await;
    let (ana, gil) = (world.ana().await, world.gil().await);
    for (path, _) in asked() {
        let scopeless = Caller { scopes: vec![], ..world.ana().await };
        suggest(&world, &scopeless, &path, "").await.refused(403, "insufficient_scope");
        let seen = |data: &Value| data["values"].as_array().unwrap().clone();
        if path.contains("acme-erp") {
            suggest(&world, &gil, &path, "").await.refused(404, "not_found");
            continue;
        }
        let mine = seen(&suggest(&world, &ana, &path, "").await.data(200));
        let foreign = seen(&suggest(&world, &gil, &path, "").await.data(200));
        assert!(!foreign.iter().any(|value| mine.contains(value)), "{path}");
        for value in mine.iter().take(3) {
            assert_eq!(offered(&world, &gil, &path, value.as_str().unwrap()).await, [""; 0], "{path}");
        }
    }
    let vera = world.caller(persons::VERA).await;
    suggest(&world, &vera, "/webhooks", "acme").await.refused(403, "permission_denied");
    let marcos = world.caller(persons::MARCOS).await;
    assert!(matches!(marcos.choice, Choice::Open) && marcos.scopes.contains(&Scope::Inboxes));
    suggest(&world, &marcos, "/inboxes", "").await.refused(400, "workspace_required");
    assert_eq!(offered(&world, &marcos, "/workspaces", "ACME").await, ["acme", "acme-labs"]);
    // Nothing of the list's own checks is left out, and nothing else answers.
    assert_eq!(suggest(&world, &ana, "/emails?status=nope", "").await.invalid_fields(), ["status"]);
    assert_eq!(offered(&world, &ana, "/emails?inbox_id=nope", "").await, [""; 0]);
    suggest(&world, &ana, "/me", "").await.refused(500, "internal_error");
}
