//! What is taken when an extension is installed, and what is not.

use kobana_protocol::extension::{Argument, Description, Hints, Kind, Prompt, Resource, ResourceTemplate, Tool};
use kobana_protocol::extensions::check;
use proptest::prelude::*;
use serde_json::{Value, json};

fn tool(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        title: Some("Score an e-mail".to_owned()),
        description: "Says how risky it is.\nIn numbers.".to_owned(),
        input_schema:
            r#"{ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } }"#
                .to_owned(),
        output_schema: Some(r#"{"type":"object"}"#.to_owned()),
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    }
}

fn good() -> Description {
    Description {
        name: "risk-score".to_owned(),
        version: "1.2.0-rc.1+7".to_owned(),
        title: Some("Risk".to_owned()),
        description: None,
        scopes: vec!["inbox.emails".to_owned()],
        tools: vec![tool("score"), Tool { title: None, output_schema: None, ..tool("Re-view_2") }],
        resources: vec![Resource {
            uri: "risk://policy".to_owned(),
            name: "policy".to_owned(),
            title: None,
            description: Some("d".to_owned()),
            media_type: Some("text/markdown; charset=utf-8".to_owned()),
        }],
        resource_templates: vec![ResourceTemplate {
            uri_template: "risk://emails/{id}".to_owned(),
            name: "e-mail".to_owned(),
            title: Some("E-mail".to_owned()),
            description: None,
            media_type: None,
        }],
        prompts: vec![Prompt {
            name: "review".to_owned(),
            title: None,
            description: None,
            arguments: vec![Argument {
                name: "tone".to_owned(),
                title: None,
                description: Some("How to say it".to_owned()),
                required: true,
                values: vec!["dry".to_owned(), "warm".to_owned()],
            }],
        }],
    }
}

#[test]
fn definitions_are_what_lists_show() {
    let definitions = check(&good()).unwrap();
    let shown: Vec<(Kind, &str, Value)> = definitions
        .iter()
        .map(|one| (one.kind, one.name.as_str(), serde_json::from_str(&format!("{{{}}}", one.entry)).unwrap()))
        .collect();
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let hints = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    let description = "Says how risky it is.\nIn numbers.";
    assert_eq!(
        shown,
        [
            (
                Kind::Tool,
                "score",
                json!({"title": "Score an e-mail", "description": description, "inputSchema": schema,
                    "outputSchema": {"type": "object"}, "annotations": hints})
            ),
            (Kind::Tool, "Re-view_2", json!({"description": description, "inputSchema": schema, "annotations": hints})),
            (
                Kind::Resource,
                "risk://policy",
                json!({"name": "policy", "description": "d", "mimeType": "text/markdown; charset=utf-8"})
            ),
            (Kind::ResourceTemplate, "risk://emails/{id}", json!({"name": "e-mail", "title": "E-mail"})),
            (
                Kind::Prompt,
                "review",
                json!({"arguments": [{"name": "tone", "description": "How to say it", "required": true}]})
            ),
        ]
    );
    assert!(!definitions[0].entry.contains("{ "), "white space between parts is gone");
    assert_eq!(definitions[0].mirrored[0].name, "Region");
    assert_eq!(definitions[4].suggestions, [("tone".to_owned(), vec!["dry".to_owned(), "warm".to_owned()])]);
    let offer = definitions[0].offer("ext.risk-score.score".to_owned(), "risk-score", "abc", None);
    assert_eq!(
        (offer.definition, offer.mirrored, offer.read_only),
        (definitions[0].entry.clone(), definitions[0].mirrored.clone(), true)
    );
    let kept = serde_json::to_string(&definitions).unwrap();
    assert_eq!(serde_json::from_str::<Vec<kobana_protocol::extensions::Definition>>(&kept).unwrap(), definitions);
}

/// Changes a good description for the worse and looks for the problem.
#[track_caller]
fn refused(field: &str, part: &str, spoil: impl FnOnce(&mut Description)) {
    let mut description = good();
    spoil(&mut description);
    let problems = check(&description).expect_err(field);
    let found = problems.iter().any(|problem| problem.field == field && problem.message.contains(part));
    assert!(found, "{field}: {problems:?}");
    assert!(problems.iter().all(|problem| problem.to_string().chars().all(|c| !c.is_control())));
}

#[test]
fn names_and_versions() {
    for bad in ["", "Risk", "1risk", "-risk", "risk_score", "risk.score", "é", &"r".repeat(33), "risk\n"] {
        refused("name", "1 to 32", |it| bad.clone_into(&mut it.name));
    }
    for bad in ["", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0 ", &format!("1.0.0-{}", "x".repeat(64))] {
        refused("version", "semantic version", |it| bad.clone_into(&mut it.version));
    }
    for bad in ["", "a.b", "a b", "a/b", "é", "ext:x", &"a".repeat(65), "a\u{200b}"] {
        refused("tools[1].name", "1 to 64", |it| bad.clone_into(&mut it.tools[1].name));
        refused("prompts[0].name", "1 to 64", |it| bad.clone_into(&mut it.prompts[0].name));
        refused("prompts.review.arguments[0].name", "1 to 64", |it| {
            bad.clone_into(&mut it.prompts[0].arguments[0].name)
        });
    }
    for bad in ["", " ", "a\nb", "a\u{7}", "a\u{202e}b", "a\u{e0041}", &"x".repeat(129)] {
        let bad = || Some(bad.to_owned());
        refused("title", "one line", |it| it.title = bad());
        refused("tools.score.title", "one line", |it| it.tools[0].title = bad());
        refused("resources[0].name", "one line", |it| it.resources[0].name = bad().unwrap());
        refused("resource-templates[0].title", "one line", |it| it.resource_templates[0].title = bad());
        refused("prompts.review.title", "one line", |it| it.prompts[0].title = bad());
        refused("prompts.review.arguments.tone.values", "one line", |it| {
            it.prompts[0].arguments[0].values.push(bad().unwrap())
        });
    }
    for bad in ["a\u{202e}b", "a\u{0}", "a\u{e0041}", "a\u{200b}"] {
        refused("tools.score.description", "U+", |it| bad.clone_into(&mut it.tools[0].description));
        refused("description", "U+", |it| it.description = Some(bad.to_owned()));
    }
    refused("tools.score.description", "4096", |it| it.tools[0].description = "x".repeat(4_097));
    refused("tools.score.description", "expected a description", |it| it.tools[0].description = " ".to_owned());
    for bad in ["inbox", "Inbox.emails", "inbox.emails ", ""] {
        refused("scopes", "is no scope", |it| it.scopes = vec![bad.to_owned()]);
    }
}

#[test]
fn duplicates_and_counts() {
    refused("tools", "“score” stands twice", |it| it.tools[1].name = "score".to_owned());
    refused("resources", "stands twice", |it| it.resources.push(it.resources[0].clone()));
    refused("resource-templates", "stands twice", |it| it.resource_templates.push(it.resource_templates[0].clone()));
    refused("prompts", "stands twice", |it| it.prompts.push(it.prompts[0].clone()));
    refused("scopes", "stands twice", |it| it.scopes.push("inbox.emails".to_owned()));
    refused("prompts.review.arguments", "stands twice", |it| {
        let argument = it.prompts[0].arguments[0].clone();
        it.prompts[0].arguments.push(argument);
    });
    refused("tools", "at most 128, found 129", |it| it.tools = (0..129).map(|n| tool(&format!("t{n}"))).collect());
    refused("prompts.review.arguments", "at most 32", |it| {
        let argument = it.prompts[0].arguments[0].clone();
        it.prompts[0].arguments = (0..33).map(|n| Argument { name: format!("a{n}"), ..argument.clone() }).collect();
    });
    refused("prompts.review.arguments.tone.values", "at most 100", |it| {
        it.prompts[0].arguments[0].values = (0..101).map(|n| n.to_string()).collect();
    });
    refused("description", "524288 bytes", |it| {
        let schema = format!(r#"{{"type":"object","title":"{}"}}"#, "x".repeat(60_000));
        it.tools = (0..10).map(|n| Tool { input_schema: schema.clone(), ..tool(&format!("t{n}")) }).collect();
    });
}

#[test]
fn schemas_hints_and_addresses() {
    refused("tools.score.input-schema", "expected JSON", |it| it.tools[0].input_schema = "{".to_owned());
    refused("tools.score.input-schema", "at the root", |it| it.tools[0].input_schema = "{}".to_owned());
    refused("tools.score.output-schema", "at the root", |it| {
        it.tools[0].output_schema = Some(r#"{"type":"array"}"#.to_owned())
    });
    refused("tools.score.input-schema", "/properties/a: expected the type", |it| {
        it.tools[0].input_schema =
            r#"{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#.to_owned();
    });
    refused("tools.score.hints", "destructive", |it| it.tools[0].hints.destructive = true);
    refused("resources[0].uri", "scheme", |it| it.resources[0].uri = "kobana://inbox/me".to_owned());
    refused("resources[0].uri", "absolute", |it| it.resources[0].uri = "policy".to_owned());
    refused("resource-templates[0].uri-template", "variables", |it| {
        it.resource_templates[0].uri_template = "risk://emails".to_owned();
    });
    for bad in ["text", "text/", "/plain", "text/pla in", "text/plain\n", "text/plain; a=\n", ""] {
        refused("resources[0].media-type", "media type", |it| it.resources[0].media_type = Some(bad.to_owned()));
    }
}

#[test]
fn every_problem_is_told_at_once_but_not_too_many() {
    let mut description = good();
    description.name = String::new();
    description.tools[0].name = String::new();
    description.prompts[0].title = Some(String::new());
    let fields: Vec<_> = check(&description).unwrap_err().into_iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["name", "tools[0].name", "prompts.review.title"]);
    description.tools = (0..128).map(|_| tool("")).collect();
    assert_eq!(check(&description).unwrap_err().len(), 50);
}

proptest! {
    #[test]
    fn whatever_is_taken_makes_good_entries(
        texts in proptest::collection::vec(any::<String>(), 8),
        plain in proptest::collection::vec("[a-z]{1,8}", 4),
    ) {
        let mut description = good();
        description.tools[0].title = Some(texts[0].clone());
        description.tools[0].description.clone_from(&texts[1]);
        description.tools[1].name.clone_from(&plain[0]);
        description.resources[0].name.clone_from(&texts[2]);
        description.resources[0].uri = format!("{}:{}", plain[1], texts[3]);
        description.resource_templates[0].uri_template = format!("risk://{}/{{{}}}", plain[2], texts[4]);
        description.prompts[0].arguments[0].values.clone_from(&texts);
        description.prompts[0].description = Some(texts[5].clone());
        match check(&description) {
            Ok(definitions) => for one in definitions {
                let entry: Value = serde_json::from_str(&format!("{{{}}}", one.entry)).unwrap();
                prop_assert!(entry.is_object());
                prop_assert!(!one.entry.chars().any(char::is_control));
            },
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| problem.to_string().chars().all(|c| !c.is_control())));
            }
        }
    }
}
