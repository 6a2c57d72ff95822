//! Handlers that misbehave.

use std::sync::Mutex;

use kobana_store::Location;
use kobana_store::jobs::NewJob;
use serde_json::Map;
use tokio::sync::mpsc;

use super::*;

/// What a job of the test does, and what is told about it.
struct Odd {
    act: Act,
    told: mpsc::UnboundedSender<String>,
    seen: Mutex<u32>,
}

#[derive(Clone, Copy)]
enum Act {
    Panic,
    Hang,
}

#[async_trait]
impl Handler for Odd {
    fn kind(&self) -> &'static str {
        "odd"
    }

    fn backoff(&self) -> Backoff {
        Backoff { attempts: 3, first: Duration::from_millis(1), longest: Duration::from_millis(1) }
    }

    async fn run(&self, job: &Job) -> Result<(), Failure> {
        *self.seen.lock().unwrap() += 1;
        self.told.send(format!("attempt {}", job.row.attempts)).unwrap();
        match self.act {
            Act::Panic => panic!("on purpose"),
            Act::Hang => {
                let _gone = Gone(self.told.clone());
                std::future::pending().await
            }
        }
    }

    async fn give_up(&self, _: &Write, _: &Job, reason: &str) -> Result<(), DbErr> {
        self.told.send(reason.to_owned()).unwrap();
        Ok(())
    }
}

/// Tells that a job was stopped.
struct Gone(mpsc::UnboundedSender<String>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.send("stopped".to_owned());
    }
}

async fn queue(store: &Store, subject: Uuid) -> Uuid {
    let tx = store.begin().await.unwrap();
    let job = NewJob { kind: "odd", subject: Some(subject), payload: Map::new(), run_at: 0 };
    let id = jobs::create(&tx, job, 0).await.unwrap();
    tx.commit().await.unwrap();
    id
}

fn work(store: &Store, act: Act) -> (Worker, mpsc::UnboundedReceiver<String>) {
    let (told, heard) = mpsc::unbounded_channel();
    let settings = WorkerSettings {
        lease: Duration::from_millis(300),
        poll: Duration::from_millis(5),
        ..WorkerSettings::default()
    };
    let handler = Arc::new(Odd { act, told, seen: Mutex::new(0) });
    (Worker::with_handlers(store.clone(), Wake::default(), settings, vec![handler]), heard)
}

#[tokio::test]
async fn a_handler_that_panics_is_given_up_and_the_worker_lives() {
    let store = Store::open(Location::Memory).await.unwrap();
    let (worker, mut heard) = work(&store, Act::Panic);
    for round in 0..2 {
        let subject = Uuid::from_u128(round);
        queue(&store, subject).await;
        for expected in ["attempt 1", "attempt 2", "attempt 3", "the worker failed at it"] {
            assert_eq!(heard.recv().await.as_deref(), Some(expected));
        }
        while jobs::about(store.reads(), subject).await.unwrap()[0].outcome.as_deref() != Some("dead") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn a_job_that_ended_the_process_too_often_is_not_begun_again() {
    let store = Store::open(Location::Memory).await.unwrap();
    let id = queue(&store, Uuid::nil()).await;
    for _ in 0..3 {
        // As if a worker had taken it and died.
        let rows = jobs::claim(&store, &["odd"], Uuid::now_v7(), Timestamp::now().0, 0, 1).await.unwrap();
        assert_eq!(rows[0].id, id);
    }
    let (worker, mut heard) = work(&store, Act::Panic);
    assert_eq!(heard.recv().await.as_deref(), Some("it was begun too often without coming to an end"));
    worker.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_long_job_is_kept_and_a_cancelled_one_is_stopped() {
    let store = Store::open(Location::Memory).await.unwrap();
    let subject = Uuid::from_u128(1);
    queue(&store, subject).await;
    let (worker, mut heard) = work(&store, Act::Hang);
    let (other, mut heard_by_other) = work(&store, Act::Hang);
    let first = tokio::select! {
        first = heard.recv() => (first, true),
        first = heard_by_other.recv() => (first, false),
    };
    assert_eq!(first.0.as_deref(), Some("attempt 1"));
    // Several leases long nobody else gets it.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(heard.try_recv().is_err() && heard_by_other.try_recv().is_err());
    let tx = store.begin().await.unwrap();
    jobs::cancel(&tx, "odd", subject, Timestamp::now().0).await.unwrap();
    tx.commit().await.unwrap();
    let holder = if first.1 { &mut heard } else { &mut heard_by_other };
    assert_eq!(holder.recv().await.as_deref(), Some("stopped"));
    worker.stop(Duration::ZERO).await;
    other.stop(Duration::ZERO).await;
}
