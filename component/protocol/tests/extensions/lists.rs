//! Lists, and what it costs to have extensions.

use kobana_protocol::Failure;
use kobana_protocol::extension::Kind;
use serde_json::{Value, json};

use crate::host::{Ask, Host, offer};

fn full() -> Host {
    let mut host = Host::with_tools([]);
    host.offers.push((Kind::Resource, offer("risk://policy", true, r#""name":"policy""#)));
    host.offers.push((Kind::ResourceTemplate, offer("risk://emails/{id}", true, r#""name":"email""#)));
    host.offers.push((Kind::Prompt, offer("ext.risk.review", true, r#""arguments":[]"#)));
    host
}

const LISTS: &[(&str, &str, &str)] = &[
    ("tools/list", "tools", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ("prompts/list", "prompts", "name"),
];

fn names(result: &Value, list: &str, member: &str) -> Vec<String> {
    result[list].as_array().unwrap().iter().map(|entry| entry[member].as_str().unwrap().to_owned()).collect()
}

#[test]
fn offers_stand_behind_what_is_built_in() {
    for (method, list, member) in LISTS {
        let host = full();
        let alone = Ask::new(method, json!({})).send(&Host::default());
        let built_in = names(alone.result(), list, member);
        let told = Ask::new(method, json!({})).send(&host);
        let all = names(told.result(), list, member);
        assert_eq!(all[..built_in.len()], built_in[..], "{method}");
        let offered: Vec<_> = all[built_in.len()..].to_vec();
        let expected: &[&str] = match *list {
            "tools" => &["ext.risk.score", "ext.risk.quarantine"],
            "resources" => &["risk://policy"],
            "resourceTemplates" => &["risk://emails/{id}"],
            _ => &["ext.risk.review"],
        };
        assert_eq!(offered, expected, "{method}");
        assert_eq!(*host.calls.borrow(), ["profile", "offers"], "{method}");
        assert_eq!(told.result()["ttlMs"], 0);
    }
}

#[test]
fn an_entry_is_the_name_and_the_definition() {
    let told = Ask::new("tools/list", json!({})).send(&full());
    let score =
        told.result()["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "ext.risk.score").unwrap();
    assert_eq!(*score, json!({"name": "ext.risk.score", "title": "Score", "inputSchema": {"type": "object"}}));
}

#[test]
fn lists_are_the_same_for_every_revision_and_client() {
    for (method, list, _) in LISTS {
        let told = Ask::new(method, json!({})).send(&full()).result()[list].clone();
        for version in ["2025-06-18", "2025-03-26"] {
            assert_eq!(Ask::new(method, json!({})).version(version).send(&full()).result()[list], told, "{version}");
        }
        assert_eq!(Ask::new(method, json!({})).able(json!({})).send(&full()).result()[list], told);
    }
}

#[test]
fn what_the_token_does_not_reach_is_not_listed() {
    let mut host = full();
    for (_, offer) in &mut host.offers {
        offer.missing_scope = Some("inbox.inboxes".to_owned());
    }
    for (method, list, member) in LISTS {
        let alone = Ask::new(method, json!({})).send(&Host::default());
        let told = Ask::new(method, json!({})).send(&host);
        assert_eq!(names(told.result(), list, member), names(alone.result(), list, member), "{method}");
    }
}

#[test]
fn without_the_extensions_there_is_no_list() {
    for (failure, status, code) in [(Failure::Unavailable(3), 503, -31503), (Failure::Internal, 200, -32603)] {
        for (method, ..) in LISTS {
            let host = full();
            host.away.set(Some(failure));
            assert_eq!(Ask::new(method, json!({})).send(&host).error(), (status, code, None), "{method}");
        }
    }
}

#[test]
fn without_a_workspace_nobody_is_asked() {
    for (method, ..) in LISTS {
        let mut host = full();
        host.unpicked = true;
        assert_eq!(Ask::new(method, json!({})).send(&host).status, 200);
        assert_eq!(*host.calls.borrow(), ["profile"], "{method}");
    }
}

#[test]
fn what_is_built_in_costs_no_call_more() {
    let host = full();
    host.away.set(Some(Failure::Internal));
    Ask::tool("emails_list", json!({})).send(&host).result();
    assert_eq!(*host.calls.borrow(), ["profile", "call"]);
    host.calls.borrow_mut().clear();
    // What everybody may read needs no look at the scopes either.
    Ask::new("resources/read", json!({"uri": "kobana://inbox/me"})).send(&host).result();
    assert_eq!(*host.calls.borrow(), ["call"]);
    for uri in ["kobana://inbox/nope", "KOBANA://x", "kobana:x"] {
        host.calls.borrow_mut().clear();
        assert_eq!(Ask::new("resources/read", json!({"uri": uri})).send(&host).error().1, -32602);
        assert_eq!(host.count("find"), 0, "nobody else has documents of this scheme: {uri}");
    }
}
