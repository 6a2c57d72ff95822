//! What was read is used again as long as nothing was committed, and never after.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kobana_store::sea_orm::{ConnectionTrait as _, DbErr, Statement};
use kobana_store::{Location, Remembered, Store};

const KEY: u8 = 1;

/// A number in the database, how often it was read, and what is remembered of it.
struct World {
    store: Store,
    reads: AtomicI64,
    remembered: Remembered<u8, i64>,
}

impl World {
    async fn new(location: Location) -> Self {
        let store = Store::open(location).await.unwrap();
        let tx = store.begin().await.unwrap();
        tx.execute_unprepared("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)").await.unwrap();
        tx.execute_unprepared("INSERT INTO numbers SELECT 0 WHERE NOT EXISTS (SELECT * FROM numbers)").await.unwrap();
        tx.commit().await.unwrap();
        Self { store, reads: AtomicI64::new(0), remembered: Remembered::default() }
    }

    async fn read(&self) -> Result<Option<i64>, DbErr> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let connection = self.store.reads();
        let statement = Statement::from_string(connection.get_database_backend(), "SELECT number FROM numbers");
        connection.query_one_raw(statement).await?.map(|row| row.try_get_by_index(0)).transpose()
    }

    async fn get(&self) -> i64 {
        self.remembered.get(&self.store.moment(), KEY, async |_: &u8| self.read().await).await.unwrap().unwrap()
    }

    async fn write(&self, number: i64) {
        let tx = self.store.begin().await.unwrap();
        tx.execute_unprepared(&format!("UPDATE numbers SET number = {number}")).await.unwrap();
        tx.commit().await.unwrap();
    }

    fn reads(&self) -> i64 {
        self.reads.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn what_was_read_is_used_until_something_is_committed() {
    let directory = tempfile::tempdir().unwrap();
    for location in [Location::Memory, Location::Directory(directory.path().to_owned())] {
        let world = World::new(location).await;
        assert_eq!((world.get().await, world.get().await, world.get().await), (0, 0, 0));
        assert_eq!(world.reads(), 1);
        world.write(1).await;
        assert_eq!((world.get().await, world.get().await), (1, 1));
        assert_eq!(world.reads(), 2);
        // What is undone was never there.
        let tx = world.store.begin().await.unwrap();
        tx.execute_unprepared("UPDATE numbers SET number = 9").await.unwrap();
        tx.rollback().await.unwrap();
        assert_eq!(world.get().await, 1);
    }
}

#[tokio::test]
async fn what_somebody_else_commits_counts_too() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Directory(directory.path().to_owned());
    let (here, elsewhere) = (World::new(location.clone()).await, World::new(location).await);
    for number in 1..50 {
        elsewhere.write(number).await;
        assert_eq!((here.get().await, elsewhere.get().await), (number, number));
        assert_eq!((here.get().await, elsewhere.get().await), (number, number));
    }
    assert_eq!((here.reads(), elsewhere.reads()), (49, 49));
}

#[tokio::test]
async fn what_is_not_there_is_asked_for_again() {
    let world = World::new(Location::Memory).await;
    for _ in 0..3 {
        let moment = world.store.moment();
        let nothing = world.remembered.get(&moment, KEY, async |_: &u8| {
            world.reads.fetch_add(1, Ordering::SeqCst);
            Ok(None)
        });
        assert_eq!(nothing.await.unwrap(), None);
    }
    assert_eq!(world.reads(), 3);
}

/// Whoever asks after a commit sees it, however many ask and write at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_sees_less_than_was_committed_before_they_asked() {
    let directory = tempfile::tempdir().unwrap();
    for location in [Location::Memory, Location::Directory(directory.path().to_owned())] {
        let world = Arc::new(World::new(location).await);
        let committed = Arc::new(AtomicI64::new(0));
        let readers: Vec<_> = (0..16)
            .map(|_| {
                let (world, committed) = (Arc::clone(&world), Arc::clone(&committed));
                tokio::spawn(async move {
                    loop {
                        let before = committed.load(Ordering::SeqCst);
                        let seen = world.get().await;
                        assert!(seen >= before, "{seen} after {before} was committed");
                        // Nothing in a look waits, and the writer's connection wants to get on, too.
                        tokio::task::yield_now().await;
                        if before == 200 {
                            return;
                        }
                    }
                })
            })
            .collect();
        for number in 1..=200 {
            world.write(number).await;
            committed.store(number, Ordering::SeqCst);
        }
        for reader in readers {
            reader.await.unwrap();
        }
    }
}
