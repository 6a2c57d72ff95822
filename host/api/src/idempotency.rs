//! Repeating a request safely (inbox-api.yaml, Idempotency).
//!
//! A key is good for one credential in one workspace. What is kept is sealed, since an answer may hold a secret that is
//! shown once only. The gates are passed again by every repetition, so an answer is not given again to somebody who may
//! no longer have it.

use http::{HeaderMap, StatusCode};
use kobana_contract::fields::LONGEST_KEY;
use kobana_contract::{Caller, Method, Spec, Timestamp};
use kobana_store::idempotency::{self, Slot};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::context::Shared;
use crate::error::ApiError;
use crate::problems::Problems;
use crate::reply::Written;

/// The header that carries the key.
const HEADER: &str = "X-Idempotency-Key";

/// The key of a request, if it brings one that counts. One that cannot be a key is a problem.
pub(crate) fn key<'a>(headers: &'a HeaderMap, method: Method, problems: &mut Problems) -> Option<&'a str> {
    let mut values = headers.get_all(HEADER).iter().filter(|_| method.takes_key());
    let first = values.next()?;
    let key = first.to_str().ok().filter(|key| (1..=LONGEST_KEY).contains(&key.len()) && values.next().is_none());
    if key.is_none() {
        problems.field(HEADER, "expected one key of 1 to 255 characters");
    }
    key
}

/// A request that is carried out once.
pub(crate) struct Ticket {
    slot: String,
    request: Vec<u8>,
}

impl Ticket {
    /// The ticket of a request: who sent it where under which key, and what it asks for.
    pub(crate) fn new(caller: &Caller, bounds: &str, key: &str, spec: &Spec, asked: [&Value; 3]) -> Self {
        let slot = digest(&json!([caller.credential_id, bounds, key]));
        let slot = slot.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { slot, request: digest(&json!([spec.id, asked])) }
    }
}

fn digest(value: &Value) -> Vec<u8> {
    Sha256::digest(value.to_string()).to_vec()
}

/// Carries the work out, or gives the answer that it had before.
///
/// # Errors
/// The work's own refusal, or that the key cannot be used now.
pub(crate) async fn once(
    shared: &Shared,
    ticket: &Ticket,
    now: Timestamp,
    work: impl Future<Output = Result<Written, ApiError>> + Send,
) -> Result<Written, ApiError> {
    match idempotency::take(&shared.store, &ticket.slot, &ticket.request, now.0).await? {
        Slot::Running => Err(ApiError::IdempotencyInProgress),
        Slot::Other => Err(ApiError::IdempotencyConflict),
        Slot::Answered(status, sealed) => {
            let body = shared.vault.open(&ticket.slot, &sealed)?;
            let status = StatusCode::from_u16(status).map_err(ApiError::internal)?;
            Ok(Written::json(status, body))
        }
        Slot::Ours => {
            let answer = work.await;
            if let Err(error) = keep(shared, ticket, &answer).await {
                // The work is done: the caller gets its answer, and the slot frees itself after a while.
                tracing::warn!(error = %error, "an answer could not be kept for repetition");
            }
            answer
        }
    }
}

async fn keep(shared: &Shared, ticket: &Ticket, answer: &Result<Written, ApiError>) -> Result<(), ApiError> {
    let (status, body) = match answer {
        Ok(written) => (written.status, written.body.clone()),
        Err(refusal) => (refusal.status(), serde_json::to_vec(&refusal.body()).map_err(ApiError::internal)?),
    };
    if is_kept(status) {
        let sealed = shared.vault.seal(&ticket.slot, &body)?;
        idempotency::fill(&shared.store, &ticket.slot, status.as_u16(), sealed).await?;
    } else {
        idempotency::free(&shared.store, &ticket.slot).await?;
    }
    Ok(())
}

/// Refusals that another attempt may not meet are not kept.
fn is_kept(status: StatusCode) -> bool {
    !(status.is_server_error() || matches!(status.as_u16(), 400 | 401 | 403 | 413 | 415 | 429))
}
