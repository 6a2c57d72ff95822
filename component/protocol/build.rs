//! Turns what `host/contract` says into static tables, so that no schema work is left for run time and no list of tools,
//! resources or prompts is written a second time.

use std::fmt::Write as _;

use kobana_contract::prompt::{ArgumentKind, PROMPTS, Prompt, WARNING};
use kobana_contract::question::question;
use kobana_contract::resource::{RESOURCES, Suggestions, TEMPLATES, URI_BASE, operation};
use kobana_contract::{Kind, Place, Scope, Spec, Tool, operations};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    let mut text = String::new();
    writeln!(
        text,
        "/// Every tool, in the order in which it is listed.\npub static TOOLS: &[Tool] = &[{}];",
        tools()?
    )?;
    writeln!(text, "/// Every document at a fixed URI.\npub static RESOURCES: &[Resource] = &[{}];", resources()?)?;
    writeln!(text, "/// Every family of documents.\npub static TEMPLATES: &[Template] = &[{}];", templates()?)?;
    writeln!(text, "/// Every prompt.\npub static PROMPTS: &[Prompt] = &[{}];", prompts()?)?;
    writeln!(text, "/// What every prompt ends with.\npub const WARNING: &str = {WARNING:?};")?;
    writeln!(text, "/// What the URI of every document begins with.\npub const URI_BASE: &str = {URI_BASE:?};")?;
    // Writing is asked for when it comes to it (protocol.md §19, step-up).
    let reading: Vec<_> =
        Scope::ALL.iter().map(|scope| scope.as_str()).filter(|name| !name.ends_with(".write")).collect();
    let all: Vec<_> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    writeln!(text, "/// Every scope that there is.\npub const SCOPES: &[&str] = &{all:?};")?;
    writeln!(text, "/// What a client asks for at first: everything that only reads.")?;
    writeln!(text, "pub const FIRST_SCOPES: &[&str] = &{reading:?};")?;
    std::fs::write(out.join("catalogue.rs"), text)?;
    Ok(())
}

/// The scopes of which any one is enough, the one to ask for first.
fn satisfying(needed: Option<Scope>) -> Vec<&'static str> {
    let Some(needed) = needed else { return Vec::new() };
    let others = Scope::ALL.iter().filter(|scope| **scope != needed && scope.satisfies(needed));
    std::iter::once(&needed).chain(others).map(|scope| scope.as_str()).collect()
}

fn spec(id: &str) -> Result<Spec, Failure> {
    operation(id).ok_or_else(|| format!("the contract has no operation {id}").into())
}

/// Who may use an operation.
fn gate(spec: &Spec) -> String {
    let permission = spec.permission.map(|permission| permission.as_str());
    format!("Gate {{ scopes: &{:?}, permission: {permission:?} }}", satisfying(spec.scope))
}

fn tools() -> Result<String, Failure> {
    operations::tools().iter().map(tool).collect()
}

/// A destructive tool has a question, without which nothing would ask before it runs.
fn tool(tool: &Tool) -> Result<String, Failure> {
    let asked = question(tool.spec.id);
    if asked.is_some() != tool.spec.hints.destructive {
        return Err(format!("{}: a tool has a question if and only if it is destructive", tool.name).into());
    }
    let asked = asked.map(|asked| format!("Question {{ text: {:?}, title: {:?} }}", asked.text, asked.title));
    let asked = asked.map_or_else(|| "None".to_owned(), |asked| format!("Some({asked})"));
    let arguments: String = tool
        .arguments
        .iter()
        .map(|argument| {
            let place = match argument.place {
                Place::Path => "Path",
                Place::Query => "Query",
                Place::Body => "Body",
            };
            let kind = match argument.kind {
                Kind::Text => "Text",
                Kind::Integer => "Integer",
                Kind::Json => "Json",
            };
            format!("Argument {{ name: {:?}, place: Place::{place}, kind: Kind::{kind} }},", argument.name)
        })
        .collect();
    Ok(format!(
        "Tool {{ name: {:?}, definition: {:?}, method: Method::{:?}, path: {:?}, gate: {}, question: {asked}, arguments: &[{arguments}] }},\n",
        tool.name,
        tool.definition.to_string(),
        tool.spec.method,
        tool.spec.path,
        gate(&tool.spec),
    ))
}

fn resources() -> Result<String, Failure> {
    let mut text = String::new();
    for resource in RESOURCES {
        let spec = spec(resource.operation)?;
        let definition = json!({
            "uri": format!("{URI_BASE}{}", resource.path),
            "name": resource.name,
            "title": resource.title,
            "description": spec.summary,
            "mimeType": "application/json",
        });
        writeln!(
            text,
            "Resource {{ path: {:?}, definition: {:?}, route: {:?}, list: {:?}, gate: {} }},",
            resource.path,
            definition.to_string(),
            spec.path,
            resource.list,
            gate(&spec),
        )?;
    }
    Ok(text)
}

fn templates() -> Result<String, Failure> {
    let mut text = String::new();
    for template in TEMPLATES {
        let spec = spec(template.operation)?;
        let definition = json!({
            "uriTemplate": format!("{URI_BASE}{}", template.path),
            "name": template.name,
            "title": template.title,
            "description": spec.summary,
            "mimeType": "application/json",
        });
        let mut variables = String::new();
        for variable in template.variables {
            let suggestions = suggestions(variable.suggestions)?;
            write!(
                variables,
                "Variable {{ name: {:?}, fills: {:?}, suggestions: {suggestions} }},",
                variable.name, variable.fills
            )?;
        }
        writeln!(
            text,
            "Template {{ path: {:?}, definition: {:?}, route: {:?}, gate: {}, variables: &[{variables}] }},",
            template.path,
            definition.to_string(),
            spec.path,
            gate(&spec),
        )?;
    }
    Ok(text)
}

fn suggestions(suggestions: Suggestions) -> Result<String, Failure> {
    Ok(match suggestions {
        Suggestions::None => "Suggestions::None".to_owned(),
        Suggestions::Words(words) => format!("Suggestions::Words(&{words:?})"),
        Suggestions::Rows(source) => {
            let spec = spec(source.operation)?;
            format!(
                "Suggestions::Rows(RowSource {{ route: {:?}, gate: {}, filters: &{:?}, parent: {:?} }})",
                spec.path,
                gate(&spec),
                source.filters,
                source.parent,
            )
        }
    })
}

fn prompts() -> Result<String, Failure> {
    PROMPTS.iter().map(prompt).collect()
}

fn prompt(prompt: &Prompt) -> Result<String, Failure> {
    let listed: Vec<_> = prompt
        .arguments
        .iter()
        .map(|argument| json!({"name": argument.name, "description": argument.description, "required": argument.required}))
        .collect();
    let definition =
        json!({"name": prompt.name, "title": prompt.title, "description": prompt.description, "arguments": listed});
    let mut arguments = String::new();
    for argument in prompt.arguments {
        let kind = argument_kind(argument.kind)?;
        let suggestions = suggestions(argument.suggestions)?;
        write!(
            arguments,
            "PromptArgument {{ name: {:?}, required: {:?}, kind: {kind}, suggestions: {suggestions}, clause: {:?} }},",
            argument.name, argument.required, argument.clause
        )?;
    }
    let gates: String = prompt
        .scopes
        .iter()
        .map(|scope| format!("Gate {{ scopes: &{:?}, permission: None }},", satisfying(Some(*scope))))
        .chain(
            prompt
                .permissions
                .iter()
                .map(|permission| format!("Gate {{ scopes: &[], permission: Some({:?}) }},", permission.as_str())),
        )
        .collect();
    Ok(format!(
        "Prompt {{ name: {:?}, definition: {:?}, description: {:?}, arguments: &[{arguments}], embeds: {:?}, text: {:?}, gates: &[{gates}] }},\n",
        prompt.name,
        definition.to_string(),
        prompt.description,
        prompt.embeds,
        prompt.text,
    ))
}

fn argument_kind(kind: ArgumentKind) -> Result<String, Failure> {
    Ok(match kind {
        ArgumentKind::Word(words) => format!("ArgumentKind::Word(&{words:?})"),
        ArgumentKind::Time => "ArgumentKind::Time".to_owned(),
        ArgumentKind::Words => "ArgumentKind::Words".to_owned(),
        ArgumentKind::Row { operation, template, embed } => {
            let spec = spec(operation)?;
            format!(
                "ArgumentKind::Row {{ route: {:?}, gate: {}, template: {template:?}, embed: {embed:?} }}",
                spec.path,
                gate(&spec)
            )
        }
    })
}
