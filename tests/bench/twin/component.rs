//! What answers MCP here: the protocol, called as any other function. It has the face of the runtime that it stands for.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Body;
use kobana_protocol::{BodyError, Config, HEADERS, Head, Headers, HttpResponse, Lines};
pub(crate) use kobana_runtime::Source;
use kobana_runtime::dispatch::Dispatch;
use kobana_runtime::{Limits, StartError};

use crate::native::Api;

/// There is no component.
pub(crate) static GATEWAY: &[u8] = b"";

/// The protocol, and what it calls.
pub(crate) struct Runtime {
    config: Config,
    api: Api,
}

impl Runtime {
    /// Reads the configuration as the component does. Limits are for guests, of which there are none.
    ///
    /// # Errors
    /// When the configuration is wrong, or somebody wants to run a component.
    pub(crate) fn new(
        source: Source,
        _: Limits,
        environment: Vec<(String, String)>,
        dispatch: Arc<dyn Dispatch>,
        _: Option<PathBuf>,
    ) -> Result<Self, StartError> {
        if let Source::File(file) = source {
            return Err(StartError::Engine(format!("the twin runs no component, so not {} either", file.display())));
        }
        let variable = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let config = Config::from_env(variable).map_err(|error| StartError::Engine(error.to_string()))?;
        Ok(Self { config, api: Api(dispatch) })
    }

    /// Answers a request.
    pub(crate) async fn handle<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let mut headers = Headers::new();
        for name in HEADERS {
            for value in parts.headers.get_all(*name) {
                headers.push(*name, value.as_bytes());
            }
        }
        let parameters = Parameters(&parts.headers);
        let head = Head { method: parts.method.as_str(), path: parts.uri.path(), headers, parameters: &parameters };
        response(kobana_protocol::handle(&self.config, &self.api, head, Incoming(body)).await)
    }
}

/// Header lines that nobody has asked for yet.
struct Parameters<'a>(&'a http::HeaderMap);

impl Lines for Parameters<'_> {
    fn lines(&self, name: &str) -> Vec<Vec<u8>> {
        self.0.get_all(name).iter().map(|value| value.as_bytes().to_vec()).collect()
    }
}

/// The body of a request, untouched until the protocol asks for it.
struct Incoming<B>(B);

impl<B> kobana_protocol::Body for Incoming<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let whole = Limited::new(self.0, limit).collect().await;
        let whole = whole
            .map_err(|error| if error.is::<LengthLimitError>() { BodyError::TooLarge } else { BodyError::Broken })?;
        Ok(whole.to_bytes().into())
    }
}

fn response(answer: HttpResponse) -> Response<Full<Bytes>> {
    let mut builder = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        builder = builder.header(name, value.as_ref());
    }
    // What the protocol writes is valid; where it were not, the component would answer the same.
    builder.body(Full::from(answer.body)).unwrap_or_else(|_| {
        let mut broken = Response::new(Full::default());
        *broken.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        broken
    })
}
