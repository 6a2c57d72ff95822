//! Receiving a file: its media type and size are judged while it streams to where files are kept.

use axum::body::Body;
use http::{HeaderMap, header};
use http_body_util::BodyExt as _;
use kobana_contract::TakenFile;
use kobana_store::blobs::{Blobs, Staged};

use crate::error::ApiError;
use crate::problems::Problems;

/// Stages the body of a request.
///
/// # Errors
/// [`ApiError::UnsupportedMediaType`], [`ApiError::PayloadTooLarge`] as soon as that is known,
/// [`ApiError::Invalid`] if the body breaks off, or [`ApiError::Unavailable`] if the file cannot be written.
pub(crate) async fn receive(
    blobs: &Blobs,
    taken: TakenFile,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<Staged, ApiError> {
    check_media_type(headers, taken.media_type)?;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > taken.max_bytes) {
        return Err(ApiError::PayloadTooLarge);
    }
    let mut staging = blobs.stage().await.map_err(unavailable)?;
    while let Some(frame) = body.frame().await {
        let broken = |_| ApiError::Invalid(Problems::of_form("the body ended too early"));
        let Ok(bytes) = frame.map_err(broken)?.into_data() else { continue };
        if staging.length().saturating_add(bytes.len() as u64) > taken.max_bytes {
            return Err(ApiError::PayloadTooLarge);
        }
        staging.write(&bytes).await.map_err(unavailable)?;
    }
    staging.end().await.map_err(unavailable)
}

/// Refuses any other media type; parameters do not count.
fn check_media_type(headers: &HeaderMap, wanted: &str) -> Result<(), ApiError> {
    let mut named = headers.get_all(header::CONTENT_TYPE).iter();
    let first = named.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = first.split(';').next().unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case(wanted) && named.next().is_none() {
        true => Ok(()),
        false => Err(ApiError::UnsupportedMediaType),
    }
}

/// A full or broken disk is not the caller's fault and may be over soon.
pub(crate) fn unavailable(error: std::io::Error) -> ApiError {
    ApiError::Unavailable { retry_after: 5, cause: Some(error.into()) }
}
