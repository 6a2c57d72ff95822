//! A worker that is killed in the middle of its work: whatever it had begun is ended once by somebody else.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kobana_api::EngineSettings;
use kobana_api::worker::{Wake, Worker, WorkerSettings};
use kobana_store::{Location, Store, jobs};
use serde_json::Value;

use crate::harness::World;
use crate::mail::{hand_in, history, message, quick, until};

/// Says to the test binary that it is the process to be killed, and where the data is.
const DATA: &str = "KOBANA_TEST_DATA";
const EMAILS: usize = 200;
/// The process is killed when so many are done.
const KILLED_AT: [usize; 3] = [30, 80, 130];

fn start(store: &Store) -> Worker {
    // Others have its jobs soon after it died.
    let settings = WorkerSettings { lease: Duration::from_secs(1), ..quick() };
    Worker::start(store.clone(), Wake::default(), settings, EngineSettings::default()).unwrap()
}

/// The process that is killed: it works until then.
#[tokio::test]
#[ignore = "it is started by the test below, and does not end by itself"]
async fn the_process_that_is_killed() {
    let Some(data) = std::env::var_os(DATA) else { return };
    let store = Store::open(Location::Directory(data.into())).await.unwrap();
    let _worker = start(&store);
    std::future::pending::<()>().await;
}

fn spawn(data: &std::path::Path) -> Child {
    let me = std::env::current_exe().unwrap();
    let arguments = ["crash::the_process_that_is_killed", "--exact", "--ignored", "--nocapture"];
    Command::new(me).args(arguments).env(DATA, data).stdout(Stdio::null()).spawn().unwrap()
}

#[tokio::test]
async fn every_email_is_processed_once_whoever_is_killed() {
    let data = tempfile::tempdir().unwrap();
    let world = World::at(Location::Directory(data.path().to_owned())).await;
    let ana = world.ana().await;
    let mut ids = Vec::new();
    for number in 0..EMAILS {
        let email = hand_in(&world, &ana, "acme-support", message(number)).await.data(202);
        ids.push(email["id"].as_str().unwrap().to_owned());
    }
    let done = async || {
        let rows = world.get(&ana, "/system-events?limit=200&slug=email.processed").await.data(200);
        let ours = |row: &&Value| ids.iter().any(|id| row["email_id"] == *id.as_str());
        rows.as_array().unwrap().iter().filter(ours).count()
    };
    for enough in KILLED_AT {
        let mut process = spawn(data.path());
        until("some e-mails", || async { (done().await >= enough).then_some(()) }).await;
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let left = EMAILS - done().await;
    let worker = start(&world.store);
    until("all e-mails", || async { (done().await == EMAILS).then_some(()) }).await;
    worker.stop(Duration::ZERO).await;
    let mut taken_over = 0;
    for id in &ids {
        let steps = ["email.received", "email.approved", "agent_run.started", "agent_run.succeeded", "email.processed"];
        assert_eq!(history(&world, &ana, id).await, steps, "{id}");
        let runs = world.get(&ana, &format!("/agent-runs?email_id={id}")).await.data(200);
        assert_eq!((runs.as_array().unwrap().len(), &runs[0]["status"]), (1, &Value::from("success")), "{id}");
        let jobs = jobs::about(world.store.reads(), id.parse().unwrap()).await.unwrap();
        assert_eq!((jobs.len(), jobs[0].outcome.as_deref()), (1, Some("done")));
        taken_over += usize::from(jobs[0].attempts > 1);
    }
    println!(
        "{EMAILS} e-mails, {} kills, {left} left for the last worker, {taken_over} jobs taken over",
        KILLED_AT.len()
    );
}
