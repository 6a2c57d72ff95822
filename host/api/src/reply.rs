//! What a handler answers.

use std::fs::File;
use std::io::{self, Read as _};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kobana_contract::{Data, Nothing};
use serde::Serialize;

use crate::error::ApiError;

/// A status of success with the document that goes with it.
pub(crate) struct Reply<T> {
    status: StatusCode,
    document: T,
    file: Option<Download>,
}

/// A stored file that goes out as it is.
pub(crate) struct Download {
    /// Its media type.
    pub(crate) media_type: &'static str,
    /// What to call it on the other side: letters, digits, `-` and `.` only.
    pub(crate) name: String,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// The file, open for reading.
    pub(crate) file: File,
}

/// Bytes of a file that are read at a time.
const CHUNK: usize = 64 * 1024;

impl<T> Reply<T> {
    /// 200.
    pub(crate) const fn ok(document: T) -> Self {
        Self { status: StatusCode::OK, document, file: None }
    }

    /// 201.
    pub(crate) const fn created(document: T) -> Self {
        Self { status: StatusCode::CREATED, document, file: None }
    }

    /// 202.
    pub(crate) const fn accepted(document: T) -> Self {
        Self { status: StatusCode::ACCEPTED, document, file: None }
    }

    /// The same status with another document.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Reply<U> {
        Reply { status: self.status, document: change(self.document), file: self.file }
    }

    /// The same status, the document as `{data}`.
    pub(crate) fn data<U>(self, show: impl FnOnce(T) -> U) -> Reply<Data<U>> {
        self.map(|document| Data { data: show(document) })
    }
}

impl Reply<Nothing> {
    /// 204.
    pub(crate) const fn no_content() -> Self {
        Self { status: StatusCode::NO_CONTENT, document: Nothing {}, file: None }
    }

    /// 200 with a file instead of a document.
    pub(crate) const fn file(file: Download) -> Self {
        Self { status: StatusCode::OK, document: Nothing {}, file: Some(file) }
    }
}

impl<T: Serialize> Reply<T> {
    /// Writes the document down.
    ///
    /// # Errors
    /// When the document is no JSON, which is our own fault.
    pub(crate) fn write(self) -> Result<Written, ApiError> {
        let body = match (self.status, &self.file) {
            (StatusCode::NO_CONTENT, _) | (_, Some(_)) => Vec::new(),
            _ => serde_json::to_vec(&self.document).map_err(ApiError::internal)?,
        };
        Ok(Written { file: self.file, ..Written::json(self.status, body) })
    }
}

/// An answer as it goes out: a status, and a JSON document, a file or nothing.
pub(crate) struct Written {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    file: Option<Download>,
}

impl Written {
    /// A JSON document, or nothing if it is empty.
    pub(crate) const fn json(status: StatusCode, body: Vec<u8>) -> Self {
        Self { status, body, file: None }
    }

    /// Whether it is a file, which comes as it is read.
    pub(crate) const fn is_file(&self) -> bool {
        self.file.is_some()
    }
}

impl From<Written> for Response {
    fn from(Written { status, body, file }: Written) -> Self {
        if let Some(file) = file {
            return download(status, file);
        }
        let is_empty = body.is_empty();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        if !is_empty {
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
        }
        response
    }
}

fn download(status: StatusCode, file: Download) -> Response {
    let mut response = Response::new(stream(file.file));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(file.length));
    // Third parties wrote it: no browser is to show it as a page of ours.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(disposition) = HeaderValue::try_from(format!("attachment; filename=\"{}\"", file.name)) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// The bytes of a file, as fast as they are taken.
fn stream(file: File) -> Body {
    Body::from_stream(futures::stream::try_unfold(file, |mut file| async {
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; CHUNK];
            let length = file.read(&mut bytes)?;
            bytes.truncate(length);
            Ok::<_, io::Error>((Bytes::from(bytes), file))
        });
        let (bytes, file) = read.await.map_err(io::Error::other)??;
        Ok::<_, io::Error>((!bytes.is_empty()).then_some((bytes, file)))
    }))
}
