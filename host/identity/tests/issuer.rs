//! A foreign issuer as it answers over HTTP: where its documents stand, what is wrong with them, how often they are asked for.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kobana_contract::{Scope, Timestamp};
use kobana_identity::{
    AccessClaims, AccessTokens, FetchError, ForeignIssuer, IssuerSettings, Refusal, SignatureAlgorithm, SigningKey,
    TokenSource as _,
};
use kobana_store::demo::{self, persons};
use kobana_store::{Location, Store, directory};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use uuid::Uuid;

const RESOURCE: &str = "https://inbox.example.com/mcp";
const OPENID: &str = "/realm/.well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server/realm";

/// Documents by path, and which were asked for.
#[derive(Clone, Default)]
struct Web {
    documents: Arc<Mutex<HashMap<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// Serves from now on; gives its address.
    async fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let web = self.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = [0; 4096];
                let count = stream.read(&mut head).await.unwrap();
                let head = String::from_utf8_lossy(&head[..count]).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let document = web.documents.lock().unwrap().get(&path).cloned();
                web.asked.lock().unwrap().push(path);
                let (status, body) = document.map_or(("404 Not Found", String::new()), |body| ("200 OK", body));
                let length = body.len();
                let answer =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
                // Whoever has read enough hangs up.
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        base
    }

    fn put(&self, path: &str, document: &Value) {
        self.documents.lock().unwrap().insert(path.to_owned(), document.to_string());
    }

    fn count(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}

/// An issuer at a path, whose keys are those of `tokens`, and ourselves in front of it.
struct Scene {
    web: Web,
    base: String,
    url: String,
    tokens: AccessTokens,
    store: Store,
    issuer: ForeignIssuer,
}

async fn scene() -> Scene {
    let web = Web::default();
    let base = web.serve().await;
    let url = format!("{base}/realm");
    let tokens = AccessTokens::new(vec![SigningKey::from_seed("a", &[1; 32]).unwrap()], &url, RESOURCE).unwrap();
    web.put("/keys", &tokens.jwks());
    let store = Store::open(Location::Memory).await.unwrap();
    demo::seed(&store).await.unwrap();
    let settings = IssuerSettings {
        url: url.clone(),
        audience: RESOURCE.into(),
        person_claim: "sub".into(),
        scope_claim: "scope".into(),
        clock_skew: 0,
        algorithms: SignatureAlgorithm::ALL.to_vec(),
    };
    let issuer = ForeignIssuer::new(settings, store.clone()).unwrap();
    Scene { web, base, url, tokens, store, issuer }
}

impl Scene {
    fn metadata(&self) -> Value {
        json!({ "issuer": self.url, "jwks_uri": format!("{}/keys", self.base) })
    }

    fn token(&self, subject: Uuid, tokens: &AccessTokens) -> String {
        let now = Timestamp::now().unix_seconds();
        let claims = AccessClaims {
            iss: self.url.clone(),
            sub: subject,
            aud: RESOURCE.into(),
            client_id: "client".into(),
            client_name: "Client".into(),
            scope: "openid inbox.emails".into(),
            jti: "1".into(),
            iat: now,
            exp: now + 600,
            grant: Uuid::now_v7(),
            workspace: None,
        };
        tokens.sign(&claims).unwrap()
    }

    async fn link(&self, subject: Uuid) {
        let tx = self.store.begin().await.unwrap();
        let text = subject.to_string();
        directory::link(&tx, &self.url, &text, persons::ANA, Timestamp::now()).await.unwrap();
        tx.commit().await.unwrap();
    }
}

#[tokio::test]
async fn its_documents_are_found_where_either_discovery_puts_them() {
    for place in [OPENID, OAUTH] {
        let scene = scene().await;
        scene.web.put(place, &scene.metadata());
        let subject = Uuid::now_v7();
        let token = scene.token(subject, &scene.tokens);
        assert_eq!(
            scene.issuer.find(&token, &scene.store.moment()).await,
            Err(Refusal::Invalid),
            "nobody is linked yet"
        );
        scene.link(subject).await;
        let found = scene.issuer.find(&token, &scene.store.moment()).await.unwrap().unwrap();
        assert_eq!((found.person_id, found.client.as_str()), (persons::ANA, "client"));
        assert_eq!(found.scopes, [Scope::Emails]);
        assert_eq!(scene.web.count("/keys"), 1, "keys are kept");
    }
}

#[tokio::test]
async fn keys_that_are_invented_are_asked_for_once() {
    let scene = scene().await;
    scene.web.put(OPENID, &scene.metadata());
    scene.issuer.prepare().await.unwrap();
    for number in 0..20 {
        let key = SigningKey::from_seed(format!("invented-{number}"), &[9; 32]).unwrap();
        let forger = AccessTokens::new(vec![key], &scene.url, RESOURCE).unwrap();
        assert_eq!(scene.issuer.find(&scene.token(Uuid::now_v7(), &forger), &scene.store.moment()).await, Ok(None));
    }
    assert_eq!(scene.web.count("/keys"), 1);
}

#[tokio::test]
async fn while_no_key_was_ever_had_nobody_can_say() {
    let scene = scene().await;
    let token = scene.token(Uuid::now_v7(), &scene.tokens);
    for _ in 0..2 {
        assert!(matches!(scene.issuer.find(&token, &scene.store.moment()).await, Err(Refusal::Unavailable(_))));
    }
    // What is no signed token is not the issuer's affair.
    assert_eq!(scene.issuer.find("kbn_x_y", &scene.store.moment()).await, Ok(None));
}

#[tokio::test]
async fn documents_that_are_wrong_are_named() {
    let scene = scene().await;
    let said = async || scene.issuer.prepare().await.unwrap_err();
    let failed = said().await;
    assert!(failed.is_temporary() && failed.to_string().contains("404"), "{failed}");

    scene.web.put(OPENID, &json!({ "issuer": format!("{}/", scene.url), "jwks_uri": format!("{}/keys", scene.base) }));
    let mismatch = said().await;
    assert!(matches!(mismatch, FetchError::Mismatch { .. }) && !mismatch.is_temporary(), "{mismatch}");

    scene.web.put(OPENID, &json!({ "issuer": scene.url, "jwks_uri": "http://keys.example/keys" }));
    let plain = said().await;
    assert!(matches!(plain, FetchError::NotAllowed(_)) && plain.to_string().contains("https"), "{plain}");

    scene.web.put(OPENID, &scene.metadata());
    scene.web.put("/keys", &json!({ "keys": [], "padding": "x".repeat(600_000) }));
    let large = said().await;
    assert!(large.to_string().contains("524288 bytes"), "{large}");

    scene.web.put("/keys", &json!({ "nothing": true }));
    let other = said().await;
    assert!(other.to_string().contains("not what was expected"), "{other}");
}
