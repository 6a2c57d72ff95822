//! `Mcp-Param-*` (protocol.md §5.5).

use kobana_protocol::extension::{Mirrored, Scalar};
use serde_json::{Value, json};

use crate::host::{Ask, Host, said};

fn marked(name: &str, answers: usize) -> Host {
    let mut host = Host::with_tools((0..answers).map(|_| said("x")));
    let offer = host.offers.iter_mut().map(|(_, offer)| offer).find(|offer| offer.name == name).unwrap();
    offer.mirrored = vec![
        Mirrored { name: "Region".to_owned(), path: vec!["region".to_owned()], scalar: Scalar::Text },
        Mirrored { name: "Size".to_owned(), path: vec!["page".to_owned(), "size".to_owned()], scalar: Scalar::Integer },
    ];
    host
}

fn ask(name: &str, arguments: &Value) -> Ask {
    Ask::tool(name, arguments.clone())
}

#[test]
fn headers_that_repeat_the_body_pass() {
    let host = marked("ext.risk.score", 3);
    let both = json!({"region": "São Paulo", "page": {"size": 10}});
    ask("ext.risk.score", &both)
        .line("mcp-param-region", "=?base64?U8OjbyBQYXVsbw==?=")
        .line("mcp-param-size", "10.0")
        .line("mcp-param-unknown", "\u{7}")
        .send(&host)
        .result();
    ask("ext.risk.score", &json!({})).send(&host).result();
    ask("ext.risk.score", &json!({"region": null})).send(&host).result();
}

#[test]
fn headers_that_do_not_are_refused_before_anything_runs() {
    for name in ["ext.risk.score", "ext.risk.quarantine"] {
        let host = marked(name, 0);
        let body = json!({"region": "br"});
        let mismatch = (400, -32020, None);
        assert_eq!(ask(name, &body).send(&host).error(), mismatch, "missing");
        assert_eq!(ask(name, &body).line("mcp-param-region", "us").send(&host).error(), mismatch, "another");
        assert_eq!(ask(name, &json!({})).line("mcp-param-region", "br").send(&host).error(), mismatch, "stray");
        let twice = ask(name, &body).line("mcp-param-region", "br").line("mcp-param-region", "br");
        assert_eq!(twice.send(&host).error(), mismatch, "twice");
        let told = ask(name, &body).line("mcp-param-region", "=?base64?YnI?=").send(&host);
        assert_eq!(told.error(), mismatch, "no padding");
        assert!(told.body["error"]["message"].as_str().unwrap().contains("Mcp-Param-Region"));
        assert!(host.calls.borrow().iter().all(|call| *call == "find"));
    }
}

#[test]
fn earlier_revisions_know_no_such_headers() {
    for version in ["2025-06-18", "2025-03-26"] {
        let host = marked("ext.risk.score", 1);
        let told =
            ask("ext.risk.score", &json!({"region": "br"})).line("mcp-param-region", "us").version(version).send(&host);
        assert_eq!(told.text(), "x");
    }
}

#[test]
fn built_in_tools_have_none() {
    let host = Host::default();
    Ask::tool("emails_list", json!({})).line("mcp-param-region", "x").send(&host).result();
}
