//! What the extension is. It is asked when it is installed, and has to say the same every time.

use crate::bindings::kobana::extension::types::{
    Argument, Description, Hints, Prompt, Resource, ResourceTemplate, Tool,
};

const READS: Hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
/// It changes something, so the caller is asked first.
const CHANGES: Hints = Hints { read_only: false, destructive: true, idempotent: true, open_world: false };

pub fn description() -> Description {
    Description {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: Some("Risk score".to_owned()),
        description: Some(env!("CARGO_PKG_DESCRIPTION").to_owned()),
        scopes: vec!["inbox.emails".to_owned(), "inbox.inboxes.write".to_owned()],
        tools: tools(),
        resources: vec![Resource {
            uri: "risk://policy".to_owned(),
            name: "policy".to_owned(),
            title: Some("Risk policy".to_owned()),
            description: Some("Every signal with its points, and where the levels begin".to_owned()),
            media_type: Some("application/json".to_owned()),
        }],
        resource_templates: vec![ResourceTemplate {
            uri_template: "risk://emails/{id}".to_owned(),
            name: "assessment".to_owned(),
            title: Some("Risk of an e-mail".to_owned()),
            description: Some("What the tool score answers, as a document".to_owned()),
            media_type: Some("application/json".to_owned()),
        }],
        prompts: vec![Prompt {
            name: "triage".to_owned(),
            title: Some("Go through risky mail".to_owned()),
            description: Some("Has the newest e-mails looked through for risks".to_owned()),
            arguments: vec![
                argument("focus", "What to look out for", true, &["fraud", "billing", "everything"]),
                argument("last", "How many e-mails to look at", false, &["10", "20", "50"]),
            ],
        }],
    }
}

fn tools() -> Vec<Tool> {
    vec![
        Tool {
            name: "score".to_owned(),
            title: Some("Score an e-mail".to_owned()),
            description: "Says how risky an e-mail is, from 0 to 100, and why.".to_owned(),
            input_schema: include_str!("../schemas/score.input.json").to_owned(),
            output_schema: Some(include_str!("../schemas/assessment.json").to_owned()),
            hints: READS,
        },
        Tool {
            name: "review".to_owned(),
            title: Some("Review new e-mails".to_owned()),
            description: "Lists the riskiest of the newest e-mails, the worst first.".to_owned(),
            input_schema: include_str!("../schemas/review.input.json").to_owned(),
            output_schema: Some(include_str!("../schemas/review.output.json").to_owned()),
            hints: READS,
        },
        Tool {
            name: "quarantine".to_owned(),
            title: Some("Close the inbox of a risky e-mail".to_owned()),
            description: "Closes the inbox that a high-risk e-mail came to, so that it receives no more mail."
                .to_owned(),
            input_schema: include_str!("../schemas/score.input.json").to_owned(),
            output_schema: Some(include_str!("../schemas/quarantine.output.json").to_owned()),
            hints: CHANGES,
        },
    ]
}

fn argument(name: &str, description: &str, required: bool, values: &[&str]) -> Argument {
    Argument {
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()),
        required,
        values: values.iter().map(|&value| value.to_owned()).collect(),
    }
}
