//! A receiver of webhooks on this machine, which keeps what it gets.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kobana_contract::payload::WebhookPayload;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use tokio::net::TcpListener;

type Body = BoxBody<Bytes, Infallible>;

/// How the receiver answers.
#[derive(Debug, Clone)]
pub(crate) enum Manner {
    /// With a status and nothing more.
    Status(u16),
    /// By sending elsewhere.
    Redirect(String),
    /// By sending back the headers that came.
    Echo,
    /// With a body that never ends.
    Endless,
    /// With the head of an answer and the beginning of a body, whose rest never comes.
    Stuck,
    /// Not at all.
    Silent,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) port: u16,
    manner: Arc<Mutex<Manner>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let receiver = Self { port, manner: Arc::new(Mutex::new(manner)), received: Arc::default() };
        let this = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let this = this.clone();
                let serve = service_fn(move |request| this.clone().answer(request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), serve));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?token=in-the-address", self.port)
    }

    pub(crate) fn is_now(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let path = parts.uri.to_string();
        self.received.lock().unwrap().push(Received { path, headers: parts.headers.clone(), body });
        let manner = self.manner.lock().unwrap().clone();
        let response = Response::builder().header("x-answer", "yes").header("set-cookie", "session=geheim-cookie");
        let echo = || format!("{:?}", parts.headers);
        Ok(match manner {
            Manner::Status(status) => response.status(status).body(full("")),
            Manner::Redirect(to) => response.status(StatusCode::FOUND).header("location", to).body(full("")),
            Manner::Echo => response.header("x-echo", echo()).body(full(&echo())),
            Manner::Endless => response.body(stream(vec![b'x'; 4096], true)),
            Manner::Stuck => response.body(stream(b"begun".to_vec(), false)),
            Manner::Silent => {
                tokio::time::sleep(Duration::from_secs(600)).await;
                response.body(full(""))
            }
        }
        .unwrap())
    }
}

/// Whether a body is what the contract promises to receivers.
#[track_caller]
pub(crate) fn fits_the_contract(body: &Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<WebhookPayload>().to_value();
    let checked = jsonschema::validator_for(&schema).unwrap().validate(body).map_err(|error| error.to_string());
    assert_eq!(checked, Ok(()), "{body}");
}

fn full(text: &str) -> Body {
    Full::from(text.to_owned()).boxed()
}

/// The bytes over and over, or once and then nothing, not even an end.
fn stream(bytes: Vec<u8>, again: bool) -> Body {
    let frame = move |_| Ok::<_, Infallible>(Frame::data(Bytes::from(bytes.clone())));
    let times = if again { usize::MAX } else { 1 };
    let chunks = futures::stream::iter(0..times).map(frame).chain(futures::stream::pending());
    http_body_util::BodyExt::boxed(StreamBody::new(chunks))
}
