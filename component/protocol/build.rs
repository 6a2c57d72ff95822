//! Turns the operations of `host/contract` into static tables, so that no schema work is left for run time and no list
//! of tools is written a second time.

use std::fmt::Write as _;

use kobana_contract::{Kind, Place, Scope, Tool, operations};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("tools.rs"), tools()?)?;
    std::fs::write(out.join("scopes.rs"), scopes()?)?;
    Ok(())
}

fn tools() -> Result<String, std::fmt::Error> {
    let mut text = String::from("&[\n");
    for tool in operations::tools() {
        write_tool(&mut text, &tool)?;
    }
    text.push(']');
    Ok(text)
}

fn write_tool(text: &mut String, tool: &Tool) -> std::fmt::Result {
    let spec = &tool.spec;
    write!(
        text,
        "Tool {{ name: {:?}, definition: {:?}, method: Method::{:?}, path: {:?}, scopes: &{:?}, permission: {:?}, \
         destructive: {:?}, arguments: &[",
        tool.name,
        tool.definition.to_string(),
        spec.method,
        spec.path,
        satisfying(spec.scope),
        spec.permission.map(|permission| permission.as_str()),
        spec.hints.destructive,
    )?;
    for argument in &tool.arguments {
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
        write!(
            text,
            "Argument {{ name: {:?}, place: Place::{place}, kind: Kind::{kind}, required: {:?} }}, ",
            argument.name, argument.required
        )?;
    }
    text.push_str("] },\n");
    Ok(())
}

/// The scopes of which any one is enough, the one to ask for first.
fn satisfying(needed: Option<Scope>) -> Vec<&'static str> {
    let Some(needed) = needed else { return Vec::new() };
    let others = Scope::ALL.iter().filter(|scope| **scope != needed && scope.satisfies(needed));
    std::iter::once(&needed).chain(others).map(|scope| scope.as_str()).collect()
}

/// What a client asks for at first: everything that only reads. Writing is asked for when it comes to it
/// (protocol.md §19, step-up).
fn scopes() -> Result<String, std::fmt::Error> {
    let reading = Scope::ALL.iter().filter(|scope| !scope.as_str().ends_with(".write"));
    let mut text = String::new();
    write!(text, "&{:?}", reading.map(|scope| scope.as_str()).collect::<Vec<_>>())?;
    Ok(text)
}
