//! With which statuses an operation may refuse a request.

use serde_json::{Map, Value, json};

use super::components::{Components, reference};
use super::operation::JSON;
use crate::error::{ErrorBody, ErrorCode, FieldDetails, ForbiddenDetails, RateDetails, ValidationDetails};
use crate::operation::{Shape, properties};
use crate::operations::extensions::RemoveExtension;
use crate::{Described, Method, Operation as _, WorkspaceRule};

/// A status of refusal. 500 is not among them: it is a fault of ours, and nothing that a caller could prepare for.
pub(super) struct Refusal {
    /// The status.
    pub(super) status: u16,
    name: &'static str,
    description: &'static str,
    /// What `error.details` holds, where it always holds something.
    details: Option<Shape>,
    /// Headers of the answer, and the names of their components.
    headers: &'static [(&'static str, &'static str)],
    /// Whether an operation may answer it.
    applies: fn(&Described) -> bool,
}

const RETRY_AFTER: (&str, &str) = ("Retry-After", "RetryAfter");

const REFUSALS: [Refusal; 10] = [
    Refusal {
        status: 400,
        name: "BadRequest",
        description: "Body or query failed validation, or several workspaces are in reach and none was picked.",
        details: Some(|generator| generator.subschema_for::<ValidationDetails>()),
        headers: &[],
        applies: |operation| takes_body(operation) || takes_query(operation) || picks_workspace(operation),
    },
    Refusal {
        status: 401,
        name: "Unauthorized",
        description: "Credential missing, invalid, expired or meant for another audience.",
        details: None,
        headers: &[("WWW-Authenticate", "Challenge")],
        applies: |_| true,
    },
    Refusal {
        status: 403,
        name: "Forbidden",
        description: "The scope (insufficient_scope) or the person's permission (permission_denied) is missing.",
        details: Some(|generator| generator.subschema_for::<ForbiddenDetails>()),
        headers: &[],
        applies: is_guarded,
    },
    Refusal {
        status: 404,
        name: "NotFound",
        description: "Absent, deleted, of another tenant or out of the person's reach; the four look the same.",
        details: None,
        headers: &[],
        applies: is_guarded,
    },
    Refusal {
        status: 409,
        name: "Conflict",
        description: "A unique value is taken, what is there stands in the way, or the idempotency key cannot be used.",
        details: Some(|generator| generator.subschema_for::<FieldDetails>()),
        headers: &[],
        applies: |operation| operation.spec.method.takes_key() || is_in_use(operation),
    },
    Refusal {
        status: 413,
        name: "TooLarge",
        description: "JSON body above 1 MB, raw message above 40 MB, or component above 64 MB.",
        details: None,
        headers: &[],
        applies: takes_body,
    },
    Refusal {
        status: 415,
        name: "WrongMediaType",
        description: "Body of another media type than the operation takes.",
        details: None,
        headers: &[],
        applies: takes_body,
    },
    Refusal {
        status: 422,
        name: "Unprocessable",
        description: "Well-formed, but refused by a rule that needs the server - mail domain, webhook address, or a \
                      reference to no live row of the workspace.",
        details: Some(|generator| generator.subschema_for::<FieldDetails>()),
        headers: &[],
        applies: writes_row,
    },
    Refusal {
        status: 429,
        name: "TooManyRequests",
        description: "Allowance spent.",
        details: Some(|generator| generator.subschema_for::<RateDetails>()),
        headers: &[
            RETRY_AFTER,
            ("X-RateLimit-Limit", "RateLimit"),
            ("X-RateLimit-Remaining", "RateRemaining"),
            ("X-RateLimit-Reset", "RateReset"),
        ],
        applies: |_| true,
    },
    Refusal {
        status: 503,
        name: "Unavailable",
        description: "The store is out of reach or the process is going down.",
        details: None,
        headers: &[RETRY_AFTER],
        applies: |_| true,
    },
];

/// The refusals that an operation may answer with.
pub(super) fn of(described: &Described) -> impl Iterator<Item = &'static Refusal> {
    REFUSALS.iter().filter(move |refusal| (refusal.applies)(described))
}

fn takes_body(operation: &Described) -> bool {
    operation.body.is_some() || operation.takes.is_some()
}

fn takes_query(operation: &Described) -> bool {
    properties(&operation.query).is_some_and(|members| !members.is_empty())
}

fn picks_workspace(operation: &Described) -> bool {
    operation.spec.workspace == WorkspaceRule::One
}

/// A scope or a permission stands before it, and with it everything that is out of reach.
fn is_guarded(operation: &Described) -> bool {
    operation.spec.scope.is_some() || operation.spec.permission.is_some()
}

/// It removes what may be in use, and is not removed then.
fn is_in_use(operation: &Described) -> bool {
    operation.spec.id == RemoveExtension::SPEC.id
}

/// The body is a row, or what changes of one: it may refer to other rows, and rules of the installation judge it. What is
/// posted below a row that is there already is no row.
fn writes_row(operation: &Described) -> bool {
    let below_row = operation.spec.method != Method::Patch && operation.spec.path.contains('{');
    operation.body.is_some() && operation.spec.method.takes_key() && !below_row
}

impl Refusal {
    /// Where the response stands.
    pub(super) fn reference(&self) -> Value {
        reference("responses", self.name)
    }
}

/// All refusals as responses by name.
pub(super) fn responses(components: &mut Components) -> Map<String, Value> {
    let error = components.output(|generator| generator.subschema_for::<ErrorBody>());
    REFUSALS.iter().map(|refusal| (refusal.name.to_owned(), response(refusal, &error, components))).collect()
}

fn response(refusal: &Refusal, error: &Value, components: &mut Components) -> Value {
    let schema = match refusal.details {
        Some(shape) => {
            let details = json!({ "required": ["details"], "properties": { "details": components.output(shape) } });
            json!({ "allOf": [error, { "properties": { "error": details } }] })
        }
        None => error.clone(),
    };
    let mut response = json!({ "description": refusal.description, "content": { JSON: { "schema": schema } } });
    if let (Some(response), false) = (response.as_object_mut(), refusal.headers.is_empty()) {
        let headers = refusal.headers.iter().map(|(header, name)| ((*header).to_owned(), reference("headers", name)));
        response.insert("headers".to_owned(), Value::Object(headers.collect()));
    }
    response
}

/// The codes of every status, as `x-error-codes`.
pub(super) fn codes() -> Value {
    let mut by_status = Map::new();
    for code in ErrorCode::ALL {
        let codes = by_status.entry(code.status().to_string()).or_insert_with(|| Value::Array(Vec::new()));
        if let Some(codes) = codes.as_array_mut() {
            codes.push(Value::from(code.as_str()));
        }
    }
    Value::Object(by_status)
}
