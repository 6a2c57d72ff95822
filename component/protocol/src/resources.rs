//! `resources/list`, `resources/templates/list` and `resources/read` (protocol.md §10).

use kobana_wire::extension::Kind;

use crate::answer::Outcome;
use crate::catalogue::{RESOURCES, Rights, TEMPLATES, URI_BASE};
use crate::dispatch::{Caller, Method, Request, Response};
use crate::era::Version;
use crate::error::Error;
use crate::extensions;
use crate::json;
use crate::jsonrpc::Params;
use crate::tools::refuse_cursor;
use crate::uri::{self, Document};

/// As many rows as a list gives on one page (inbox-api.yaml, `Limit`).
const WHOLE_PAGE: &str = "200";

/// `resources/list`: what the caller may read.
pub(crate) async fn list<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Outcome, Error> {
    refuse_cursor(params)?;
    let profile = caller.profile().await;
    let rights = Rights::of(&profile);
    let readable = RESOURCES.iter().filter(|resource| resource.gate.opens_to(&rights));
    let readable = readable.map(|resource| resource.definition);
    let entries = extensions::list(caller, &profile, Kind::Resource, readable).await?;
    Ok(Outcome::cacheable(format!(r#""resources":[{entries}]"#)))
}

/// `resources/templates/list`: families of what the caller may read.
pub(crate) async fn list_templates<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Outcome, Error> {
    refuse_cursor(params)?;
    let profile = caller.profile().await;
    let rights = Rights::of(&profile);
    let readable = TEMPLATES.iter().filter(|template| template.gate.opens_to(&rights));
    let readable = readable.map(|template| template.definition);
    let entries = extensions::list(caller, &profile, Kind::ResourceTemplate, readable).await?;
    Ok(Outcome::cacheable(format!(r#""resourceTemplates":[{entries}]"#)))
}

/// `resources/read`: what the caller may not see is not there (decision 17).
pub(crate) async fn read<C: Caller>(caller: &C, version: Version, params: &Params<'_>) -> Result<Outcome, Error> {
    let uri = params.get("uri").and_then(json::string);
    let uri = uri.ok_or_else(|| Error::InvalidParams("uri must be a string".to_owned()))?;
    let missing = || Error::ResourceNotFound { uri: uri.clone().into_owned() };
    if extensions::is_foreign(&uri) {
        return extensions::read_resource(caller, version, params, &uri).await?.ok_or_else(missing);
    }
    let document = uri::parse(&uri).ok_or_else(missing)?;
    let (gate, path, query) = match document {
        Document::Fixed(resource) => (resource.gate, resource.route.to_owned(), whole(resource.list)),
        Document::Member { template, path } => (template.gate, path, Vec::new()),
    };
    if !gate.covers_caller(caller).await {
        return Err(missing());
    }
    let body = fetch(caller, path, query).await?.ok_or_else(missing)?;
    Ok(Outcome::cacheable(format!(r#""contents":[{}]"#, document_json(&uri, &body))))
}

/// Reads a document at a fixed URI, given by its path, for a prompt to embed.
pub(crate) async fn read_fixed<C: Caller>(caller: &C, path: &str) -> Result<Option<String>, Error> {
    let Some(resource) = RESOURCES.iter().find(|resource| resource.path == path) else { return Ok(None) };
    let body = fetch(caller, resource.route.to_owned(), whole(resource.list)).await?;
    Ok(body.map(|body| document_json(&format!("{URI_BASE}{path}"), &body)))
}

fn whole(list: bool) -> Vec<(String, String)> {
    if list { vec![("limit".to_owned(), WHOLE_PAGE.to_owned())] } else { Vec::new() }
}

/// Reads a route as the caller; nothing where it is absent or out of reach.
pub(crate) async fn fetch<C: Caller>(
    caller: &C,
    path: String,
    query: Vec<(String, String)>,
) -> Result<Option<String>, Error> {
    let request = Request { method: Method::Get, path, query, body: None, idempotency_key: None };
    let response = caller.call(request).await?;
    match response.status {
        200 => Ok(Some(response.into_text())),
        400 if is_workspace_required(&response) => Err(Error::InvalidParamsCode {
            message: "several workspaces are in reach; pick one by the header X-Workspace-Id".to_owned(),
            code: "workspace_required",
        }),
        _ => Error::of_broken(&response).map_or(Ok(None), Err),
    }
}

/// Whether the API wants a workspace to be picked (decision 15).
fn is_workspace_required(response: &Response) -> bool {
    #[derive(serde::Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        error: Code<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Code<'a> {
        code: &'a str,
    }
    serde_json::from_slice::<Body<'_>>(&response.body).is_ok_and(|body| body.error.code == "workspace_required")
}

/// A document as an entry of `contents`.
pub(crate) fn document_json(uri: &str, text: &str) -> String {
    let mut out = String::from(r#"{"uri":"#);
    json::push_string(&mut out, uri);
    out.push_str(r#","mimeType":"application/json","text":"#);
    json::push_string(&mut out, text);
    out.push('}');
    out
}
