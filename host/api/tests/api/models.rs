//! An agent on a model of its own, over real HTTP: the server speaks as a chat completions server does, and badly on demand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kobana_api::{EngineSettings, Model, OpenAiSettings};
use kobana_contract::Caller;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::World;
use crate::mail::{hand_in, history, message, settled, until, worker};

/// What the server does with a request.
#[derive(Clone)]
enum Act {
    /// Answers with this status, further header lines and body.
    Answer(u16, &'static str, String),
    /// Takes the request and says nothing.
    Hang,
    /// Announces more than it sends.
    BreakOff,
}

struct Server {
    url: String,
    script: Arc<Mutex<VecDeque<Act>>>,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    /// A server that acts this way, one act for each request; the last one again and again.
    async fn start(script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let script = Arc::new(Mutex::new(script.into_iter().collect::<VecDeque<_>>()));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (acts, seen) = (Arc::clone(&script), Arc::clone(&requests));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&acts), Arc::clone(&seen)));
            }
        });
        Self { url, script, requests }
    }

    fn engines(&self, timeout: Duration) -> EngineSettings {
        let model =
            Model { name: Some("real-name".to_owned()), input_price: 0.5, output_price: 2.0, ..Model::default() };
        let models = BTreeMap::from([("small".to_owned(), model)]);
        let (base_url, api_key) = (self.url.clone(), Some("segredo".to_owned()));
        EngineSettings { openai: Some(OpenAiSettings { base_url, api_key, timeout, max_output_tokens: 99, models }) }
    }

    fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

async fn serve(mut stream: TcpStream, acts: Arc<Mutex<VecDeque<Act>>>, seen: Arc<Mutex<Vec<(String, Value)>>>) {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            return;
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse::<usize>().unwrap();
        break (head, end + 4 + length);
    };
    while bytes.len() < length {
        stream.read_buf(&mut bytes).await.unwrap();
    }
    let start = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    seen.lock().unwrap().push((head, serde_json::from_slice(&bytes[start..]).unwrap()));
    let act = {
        let mut acts = acts.lock().unwrap();
        if acts.len() > 1 { acts.pop_front().unwrap() } else { acts.front().unwrap().clone() }
    };
    match act {
        Act::Hang => std::future::pending().await,
        Act::BreakOff => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{\"choices\":[").await.unwrap();
        }
        Act::Answer(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(body.as_bytes()).await.unwrap();
        }
    }
}

fn completion(content: &str, finish_reason: &str) -> Act {
    let body = json!({
        "id": "x", "object": "chat.completion", "model": "real-name",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": finish_reason }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    });
    Act::Answer(200, "content-type: application/json\r\n", body.to_string())
}

fn good() -> Act {
    completion(
        "{\"kind\":\"fatura\",\"summary\":\"Uma fatura.\",\"amount\":\"7.00\",\"fields\":{\"cnpj\":null}}",
        "stop",
    )
}

/// Hands a message in for an agent on the model; answers the e-mail in the end and its run.
async fn run(world: &World, ana: &Caller) -> (Value, Value) {
    let change = json!({ "llm_model": "small", "system_message": "Leia a fatura." });
    world.call(ana, "PATCH", "/agents/acme-triage", &change).await.expect(200);
    let id = hand_in(world, ana, "acme-support", message(7)).await.data(202)["id"].as_str().unwrap().to_owned();
    let email = settled(world, ana, &id, &["processed", "failed"]).await;
    let runs = world.get(ana, &format!("/agent-runs?email_id={id}")).await.data(200);
    assert_eq!(runs.as_array().map(Vec::len), Some(1));
    (email, runs[0].clone())
}

async fn outcome(script: Vec<Act>, timeout: Duration) -> (Value, Value, usize) {
    let server = Server::start(script).await;
    let world = World::new().await;
    let ana = world.ana().await;
    let worker = worker(&world.store, server.engines(timeout));
    let (email, run) = run(&world, &ana).await;
    worker.stop(Duration::ZERO).await;
    (email, run, server.asked())
}

const PATIENT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_model_reads_the_mail_as_data_and_is_paid_for() {
    let server = Server::start([good()]).await;
    let world = World::new().await;
    let ana = world.ana().await;
    let worker = worker(&world.store, server.engines(PATIENT));
    let (email, run) = run(&world, &ana).await;
    assert_eq!((&email["status"], &email["agent_metadata"]["kind"]), (&json!("processed"), &json!("fatura")));
    assert_eq!((&run["status"], &run["llm_model"]), (&json!("success"), &json!("small")));
    assert_eq!(
        (&run["input_tokens"], &run["output_tokens"], &run["total_cost"]),
        (&json!(100), &json!(10), &json!(70.0))
    );
    let used = world.get(&ana, "/workspaces/acme").await.data(200);
    assert_eq!((&used["monthly_emails_used"], &used["monthly_cost_used"]), (&json!(1), &json!(70.0)));
    {
        let requests = server.requests.lock().unwrap();
        let (head, body) = &requests[0];
        assert!(head.starts_with("post /v1/chat/completions ") && head.contains("authorization: bearer segredo"));
        assert_eq!((&body["model"], &body["max_tokens"]), (&json!("real-name"), &json!(99)));
        let system = body["messages"][0]["content"].as_str().unwrap();
        assert!(system.starts_with("Leia a fatura.") && !system.contains("vencimento em"));
        let user: Value = serde_json::from_str(body["messages"][1]["content"].as_str().unwrap()).unwrap();
        assert!(user["email"]["text"].as_str().unwrap().contains("vencimento em 05/08/2026"));
    }
    // The cost limit of the month holds back the next one.
    world.call(&ana, "PATCH", "/workspaces/acme", &json!({ "monthly_cost_limit": 70 })).await.expect(200);
    let id = hand_in(&world, &ana, "acme-support", message(8)).await.data(202)["id"].as_str().unwrap().to_owned();
    let refused = settled(&world, &ana, &id, &["processed", "rejected"]).await;
    assert!(refused["rejection_reason"].as_str().unwrap().contains("cost limit"));
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let busy = Act::Answer(429, "retry-after: 0\r\n", "{\"error\":{\"message\":\"slow down\"}}".to_owned());
    let (email, run, asked) = outcome(vec![busy, Act::Answer(503, "", String::new()), good()], PATIENT).await;
    assert_eq!((&email["status"], &run["status"], asked), (&json!("processed"), &json!("success"), 3));
}

#[tokio::test]
async fn a_server_that_stays_busy_is_given_up() {
    let busy = Act::Answer(429, "retry-after: 0\r\n", String::new());
    let (email, run, asked) = outcome(vec![busy], PATIENT).await;
    assert_eq!((&email["status"], &run["status"], asked), (&json!("failed"), &json!("failed"), 3));
    assert_eq!(run["error"], "the model server asks to wait");
    assert!(email["processed_at"].is_string());
}

#[tokio::test]
async fn silence_and_broken_answers_are_tried_again() {
    let (email, run, asked) = outcome(vec![Act::Hang, Act::BreakOff, good()], Duration::from_millis(500)).await;
    assert_eq!((&email["status"], &run["status"], asked), (&json!("processed"), &json!("success"), 3));
    let (_, run, asked) = outcome(vec![Act::Hang], Duration::from_millis(100)).await;
    assert_eq!((&run["error"], asked), (&json!("the model server did not answer in time"), 3));
}

#[tokio::test]
async fn nonsense_fails_the_run_at_once_and_is_paid_for() {
    for (act, expected) in [
        (completion("Claro! Aqui está.", "stop"), "no JSON"),
        (completion("{\"kind\":\"fatura\"}", "stop"), "does not fit its schema"),
        (completion("{\"kind\":\"fatura\",", "length"), "cut off"),
    ] {
        let (email, run, asked) = outcome(vec![act], PATIENT).await;
        assert_eq!((&email["status"], &run["status"], asked), (&json!("failed"), &json!("failed"), 1));
        assert!(run["error"].as_str().unwrap().contains(expected), "{run}");
        assert_eq!(run["total_cost"], 70.0);
        assert_eq!(email["agent_metadata"], json!({}));
    }
    for (status, expected) in [(401, "credentials"), (400, "status 400"), (302, "status 302")] {
        let (_, run, asked) =
            outcome(vec![Act::Answer(status, "location: /x\r\n", "segredo".to_owned())], PATIENT).await;
        assert!(run["error"].as_str().unwrap().contains(expected), "{run}");
        assert_eq!(asked, 1);
    }
    let (_, run, _) = outcome(vec![Act::Answer(200, "", "<html>".to_owned())], PATIENT).await;
    assert!(run["error"].as_str().unwrap().contains("form of the API"));
}

#[tokio::test]
async fn a_worker_that_stops_leaves_its_work_to_the_next() {
    let server = Server::start([Act::Hang, good()]).await;
    let world = World::new().await;
    let ana = world.ana().await;
    world.call(&ana, "PATCH", "/agents/acme-triage", &json!({ "llm_model": "small" })).await.expect(200);
    let id = hand_in(&world, &ana, "acme-support", message(7)).await.data(202)["id"].as_str().unwrap().to_owned();
    let first = worker(&world.store, server.engines(PATIENT));
    until("the first question", || async { (server.asked() == 1).then_some(()) }).await;
    assert_eq!(settled(&world, &ana, &id, &["processing"]).await["status"], "processing");
    first.stop(Duration::ZERO).await;
    let second = worker(&world.store, server.engines(PATIENT));
    settled(&world, &ana, &id, &["processed"]).await;
    second.stop(Duration::ZERO).await;
    let steps = ["email.received", "email.approved", "agent_run.started", "agent_run.succeeded", "email.processed"];
    assert_eq!(history(&world, &ana, &id).await, steps);
}

#[tokio::test]
async fn what_runs_comes_to_nothing_when_it_is_sent_through_again() {
    let server = Server::start([Act::Hang, good()]).await;
    let world = World::new().await;
    let ana = world.ana().await;
    world.call(&ana, "PATCH", "/agents/acme-triage", &json!({ "llm_model": "small" })).await.expect(200);
    let id = hand_in(&world, &ana, "acme-support", message(7)).await.data(202)["id"].as_str().unwrap().to_owned();
    let worker = worker(&world.store, server.engines(Duration::from_secs(2)));
    until("the first question", || async { (server.asked() == 1).then_some(()) }).await;
    world.call(&ana, "POST", &format!("/emails/{id}/reprocess"), &json!({})).await.expect(202);
    settled(&world, &ana, &id, &["processed"]).await;
    // The first attempt ends some time later, and changes nothing any more.
    worker.stop(Duration::from_secs(10)).await;
    let email = world.get(&ana, &format!("/emails/{id}")).await.data(200);
    assert_eq!((&email["status"], server.script.lock().unwrap().len()), (&json!("processed"), 1));
    let runs = world.get(&ana, &format!("/agent-runs?email_id={id}")).await.data(200);
    let mut statuses: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["status"].as_str().unwrap()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["failed", "success"]);
}
