//! The tools. Arguments have been checked against the schemas before they come here.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::api::{self, Problem};
use crate::bindings::kobana::extension::log::{Level, write};
use crate::bindings::kobana::extension::types::{
    Block, Content, Context, Form, InputRequest, InputRequired, Question, Resource, ToolOutcome, ToolResult,
};
use crate::score::{Assessment, HIGH, MEDIUM, assess, quoted};

/// Links to as many documents are enough.
const LINKS: usize = 5;

pub fn call(name: &str, arguments: &str, context: &Context) -> ToolOutcome {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let email_id = arguments["email_id"].as_str().unwrap_or_default();
    let outcome = match name {
        "score" => score(email_id),
        "review" => review(&arguments, context),
        "quarantine" => quarantine(email_id),
        _ => Err(Problem::Other(format!("There is no tool {name}."))),
    };
    outcome.unwrap_or_else(|problem| {
        failed(match problem {
            Problem::Missing => "There is no such e-mail.".to_owned(),
            Problem::Other(message) => message,
        })
    })
}

fn score(id: &str) -> Result<ToolOutcome, Problem> {
    let assessment = assess(&api::email(id)?);
    write(Level::Info, &format!("{id} has the score {}", assessment.score));
    Ok(complete(vec![text(assessment.summary())], &json!(assessment)))
}

fn review(arguments: &Value, context: &Context) -> Result<ToolOutcome, Problem> {
    let threshold = match threshold(arguments, context) {
        Threshold::Is(threshold) => threshold,
        Threshold::Ask => return Ok(ask_for_threshold()),
        Threshold::Declined => return Ok(failed("Nothing was reviewed, since no threshold was given.".to_owned())),
    };
    let mut assessments = Vec::new();
    for id in api::newest(arguments["last"].as_u64().unwrap_or(20))? {
        match api::email(&id) {
            Ok(email) => assessments.push(assess(&email)),
            // Somebody deleted it meanwhile.
            Err(Problem::Missing) => {}
            Err(problem) => return Err(problem),
        }
    }
    let reviewed = assessments.len();
    assessments.retain(|assessment| u64::from(assessment.score) >= threshold);
    // A stable sort: those of the same score stay in order, the newest first.
    assessments.sort_by_key(|assessment| Reverse(assessment.score));
    let lines: Vec<_> = assessments.iter().map(Assessment::summary).collect();
    let head = format!("{} of {reviewed} e-mails have a score of {threshold} or more.", assessments.len());
    let mut content = vec![text([vec![head], lines].concat().join("\n"))];
    content.extend(assessments.iter().take(LINKS).map(link));
    Ok(complete(content, &json!({"threshold": threshold, "reviewed": reviewed, "risky": assessments})))
}

fn quarantine(id: &str) -> Result<ToolOutcome, Problem> {
    let email = api::email(id)?;
    let assessment = assess(&email);
    if assessment.score < HIGH {
        return Ok(failed(format!(
            "The score of the e-mail is {}. Inboxes are closed from {HIGH} on only.",
            assessment.score
        )));
    }
    let status = api::close_inbox(&email.inbox_id)?;
    write(Level::Warn, &format!("inbox {} is {status} because of {id}", email.inbox_id));
    let done = format!("The inbox that {} came to is {status} now.", quoted(email.subject.as_deref().unwrap_or(id)));
    let result = json!({"email_id": id, "score": assessment.score, "inbox_id": email.inbox_id, "status": status});
    Ok(complete(vec![text(done)], &result))
}

enum Threshold {
    Is(u64),
    Ask,
    Declined,
}

/// The threshold that was given, or that somebody filled in. An answer is a stranger's, so it is checked like one.
fn threshold(arguments: &Value, context: &Context) -> Threshold {
    if let Some(given) = arguments["threshold"].as_u64() {
        return Threshold::Is(given);
    }
    let responses = context.answers.iter().flat_map(|answers| &answers.responses);
    let answer =
        responses.filter(|(key, _)| key == "threshold").find_map(|(_, json)| serde_json::from_str::<Value>(json).ok());
    match answer {
        Some(answer) if answer["action"] == "accept" => match answer["content"]["threshold"].as_u64() {
            Some(given @ 0..=100) => Threshold::Is(given),
            _ => Threshold::Ask,
        },
        Some(_) => Threshold::Declined,
        None if context.client.form => Threshold::Ask,
        None => Threshold::Is(u64::from(MEDIUM)),
    }
}

fn ask_for_threshold() -> ToolOutcome {
    let threshold = json!({
        "type": "integer", "title": "Lowest score", "description": "From 0, tell all, to 100, tell the worst only",
        "minimum": 0, "maximum": 100, "default": MEDIUM,
    });
    let schema = json!({"type": "object", "properties": {"threshold": threshold}, "required": ["threshold"]});
    let form =
        Form { message: "From which score on do you want to see e-mails?".to_owned(), schema: schema.to_string() };
    ToolOutcome::InputRequired(InputRequired {
        requests: vec![InputRequest { key: "threshold".to_owned(), question: Question::Form(form) }],
        state: None,
    })
}

fn complete(content: Vec<Block>, structured: &Value) -> ToolOutcome {
    ToolOutcome::Complete(ToolResult { content, structured: Some(structured.to_string()) })
}

fn failed(message: String) -> ToolOutcome {
    ToolOutcome::Error(ToolResult { content: vec![text(message)], structured: None })
}

fn text(text: String) -> Block {
    Block { content: Content::Text(text), annotations: None }
}

fn link(assessment: &Assessment) -> Block {
    let content = Content::Link(Resource {
        uri: format!("risk://emails/{}", assessment.email_id),
        name: format!("risk-{}", assessment.email_id),
        title: None,
        description: assessment.subject.as_deref().map(quoted),
        media_type: Some("application/json".to_owned()),
    });
    Block { content, annotations: None }
}
