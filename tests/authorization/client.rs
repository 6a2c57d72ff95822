//! A public client, and the shortest way through a sign-in with it.

use serde_json::{Value, json};

use super::browser::{Browser, Redirect, encode, send};
use crate::harness::{Answer, Server, Setup, Shared};

/// RFC 7636, appendix B.
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(super) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// Where the client listens.
pub(super) const CALLBACK: &str = "http://127.0.0.1:49152/callback";
/// Somebody of the demo profile, and their password.
pub(super) const ANA: (&str, &str) = ("ana.souza@acme.example", "demo-password");
pub(super) const MARCOS: (&str, &str) = ("marcos.reis@acme.example", "demo-password");

/// A server that tests share, on which people sign in more often than anybody may by default.
pub(super) fn server() -> Server {
    static SHARED: Shared = Shared::new();
    SHARED.get(patient)
}

/// One of its kind for a test alone.
pub(super) fn patient() -> Setup {
    Server::demo()
        .env("KOBANA_LOGIN__ATTEMPTS", "10000")
        .env("KOBANA_LOGIN__ATTEMPTS_PER_ADDRESS", "10000")
        .env("KOBANA_LOGIN__REGISTRATIONS", "10000")
}

/// Registers a client.
#[track_caller]
pub(super) fn register(server: &Server, metadata: &Value) -> Answer {
    let call = server.http("POST", "/oauth/register").header("Content-Type", "application/json");
    send(server, &call.body(metadata.to_string()))
}

/// What clients register.
pub(super) fn metadata(redirect_uri: &str) -> Value {
    json!({
        "client_name": "Test Client",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}

/// A client that is registered with a server.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) server: Server,
    pub(super) id: String,
    /// What it asks for, beside what every client says.
    extra: Vec<(String, String)>,
}

/// Tokens, as the token endpoint answers them.
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: String,
    pub(super) scope: String,
}

impl Client {
    #[track_caller]
    pub(super) fn new(server: &Server) -> Self {
        Self::registered(server, &metadata(CALLBACK))
    }

    #[track_caller]
    pub(super) fn registered(server: &Server, metadata: &Value) -> Self {
        let answer = register(server, metadata);
        let id = answer.is(201).json()["client_id"].as_str().expect("a client gets an id").to_owned();
        Self { server: server.clone(), id, extra: Vec::new() }
    }

    pub(super) fn published(server: &Server, id: &str) -> Self {
        Self { server: server.clone(), id: id.to_owned(), extra: Vec::new() }
    }

    /// Sets or, by an empty value, leaves out a parameter of its requests.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where it sends the browser.
    pub(super) fn path(&self) -> String {
        let resource = self.resource();
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", CALLBACK),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", "a state & more"),
            ("resource", &resource),
        ];
        for (name, value) in &self.extra {
            pairs.retain(|(known, _)| known != name);
            if !value.is_empty() {
                pairs.push((name, value));
            }
        }
        format!("/oauth/authorize?{}", encode(&pairs))
    }

    pub(super) fn resource(&self) -> String {
        format!("{}/mcp", self.issuer())
    }

    pub(super) fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port())
    }

    /// Has somebody sign in, unless somebody has, up to the page that asks for their consent.
    #[track_caller]
    pub(super) fn consent_page(&self, browser: &mut Browser, (email, password): (&str, &str)) -> Answer {
        let login = browser.get(&self.path());
        if !login.is(200).text().contains("<form id=\"login\"") {
            return login;
        }
        let answer = browser.submit(&login, "login", &[("email", email), ("password", password)]);
        assert_eq!(answer.is(303).header("location"), Some(self.path().as_str()));
        let page = browser.get(&self.path());
        page.is(200);
        page
    }

    /// Has somebody sign in and allow everything; the code.
    #[track_caller]
    pub(super) fn code(&self, person: (&str, &str)) -> String {
        let mut browser = Browser::new(&self.server);
        let page = self.consent_page(&mut browser, person);
        let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
        back.parameter("code").expect("a code comes back").to_owned()
    }

    /// Asks for tokens.
    #[track_caller]
    pub(super) fn token(&self, pairs: &[(&str, &str)]) -> Answer {
        let all = [&[("client_id", self.id.as_str())], pairs].concat();
        self.form("/oauth/token", &all)
    }

    #[track_caller]
    pub(super) fn form(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let call = self.server.http("POST", path).header("Content-Type", "application/x-www-form-urlencoded");
        send(&self.server, &call.body(encode(pairs)))
    }

    #[track_caller]
    pub(super) fn redeem(&self, code: &str) -> Answer {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
            ("resource", &self.resource()),
        ])
    }

    #[track_caller]
    pub(super) fn refresh(&self, token: &str) -> Answer {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token)])
    }

    /// The whole way.
    #[track_caller]
    pub(super) fn tokens(&self, person: (&str, &str)) -> Tokens {
        Tokens::of(&self.redeem(&self.code(person)))
    }

    /// The name of whoever a token speaks for.
    #[track_caller]
    pub(super) fn me(&self, access: &str) -> String {
        self.server.modern("tools/call").name("me_get").token(access).send().document().to_string()
    }

    /// Whether a token still opens the endpoint.
    #[track_caller]
    pub(super) fn opens(&self, access: &str) -> bool {
        let status = self.server.modern("tools/list").token(access).send().status;
        assert!(matches!(status, 200 | 401), "{status}");
        status == 200
    }
}

impl Tokens {
    #[track_caller]
    pub(super) fn of(answer: &Answer) -> Self {
        let body = answer.is(200).has("cache-control", "no-store").has("pragma", "no-cache").json();
        assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(3_600)), "{answer}");
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        Self { access: text("access_token"), refresh: text("refresh_token"), scope: text("scope") }
    }
}

/// Expects an error as RFC 6749 §5.2 writes it.
#[track_caller]
pub(super) fn refused(answer: &Answer, status: u16, error: &str) {
    let body = answer.is(status).has("content-type", "application/json").has("cache-control", "no-store").json();
    assert_eq!(body["error"], error, "{answer}");
    let description = body["error_description"].as_str().expect("an error is described");
    // RFC 6749 §5.2 allows these characters only.
    let allowed = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    assert!(!description.is_empty() && description.bytes().all(allowed), "{answer}");
}
