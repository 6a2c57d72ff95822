//! How many calls run at once: so many for each workspace, and some more that wait for their turn. What a workspace may use at
//! others' expense belongs here, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kobana_runtime::extension::{Credit, Share};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

/// How many lanes may stand idle before they are cleared away.
const MOST_IDLE: usize = 1_024;

/// A lane for each workspace that calls extensions.
#[derive(Debug)]
pub(crate) struct Lanes {
    at_once: usize,
    waiting: usize,
    wait: Duration,
    share: Share,
    lanes: Mutex<HashMap<Uuid, Arc<Lane>>>,
}

#[derive(Debug)]
struct Lane {
    /// Those that run or wait.
    places: Arc<Semaphore>,
    /// Those that run.
    turns: Arc<Semaphore>,
    credit: Arc<Credit>,
}

/// Leave to run. It ends with the value.
#[derive(Debug)]
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
    lane: Arc<Lane>,
}

impl Lanes {
    pub(crate) fn new(at_once: u32, waiting: u32, wait: Duration, share: Share) -> Self {
        Self { at_once: at_once as usize, waiting: waiting as usize, wait, share, lanes: Mutex::default() }
    }

    /// Waits for a turn in the workspace's lane. None if too many wait, or if it takes too long.
    pub(crate) async fn enter(&self, workspace: Uuid) -> Option<Turn> {
        let lane = self.lane(workspace);
        let place = Arc::clone(&lane.places).try_acquire_owned().ok()?;
        let turn = timeout(self.wait, Arc::clone(&lane.turns).acquire_owned()).await.ok()?.ok()?;
        Some(Turn { _place: place, _turn: turn, lane })
    }

    fn lane(&self, workspace: Uuid) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if lanes.len() >= MOST_IDLE && !lanes.contains_key(&workspace) {
            lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        }
        let lane = || {
            let places = Arc::new(Semaphore::new(self.at_once.saturating_add(self.waiting)));
            let (turns, credit) = (Arc::new(Semaphore::new(self.at_once)), Arc::new(Credit::new(&self.share)));
            Arc::new(Lane { places, turns, credit })
        };
        Arc::clone(lanes.entry(workspace).or_insert_with(lane))
    }
}

impl Turn {
    /// What the workspace's calls are charged to.
    pub(crate) fn credit(&self) -> &Arc<Credit> {
        &self.lane.credit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_workspace_has_turns_of_its_own() {
        let lanes = Lanes::new(2, 1, Duration::from_millis(10), Share::default());
        let (ours, theirs) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let held = [lanes.enter(ours).await.unwrap(), lanes.enter(ours).await.unwrap()];
        assert!(lanes.enter(ours).await.is_none(), "it waits in vain");
        let other = lanes.enter(theirs).await.unwrap();
        assert!(Arc::ptr_eq(held[0].credit(), held[1].credit()) && !Arc::ptr_eq(held[0].credit(), other.credit()));
        drop(held);
        assert!(lanes.enter(ours).await.is_some());
    }

    #[tokio::test]
    async fn some_wait_and_one_more_is_turned_away_at_once() {
        let lanes = Lanes::new(1, 1, Duration::from_secs(600), Share::default());
        let first = lanes.enter(Uuid::nil()).await.unwrap();
        let (second, third) = tokio::join!(lanes.enter(Uuid::nil()), async {
            let third = lanes.enter(Uuid::nil()).await;
            drop(first);
            third
        });
        assert!(second.is_some() && third.is_none());
    }

    #[tokio::test]
    async fn idle_lanes_are_cleared_away() {
        let lanes = Lanes::new(1, 0, Duration::from_secs(1), Share::default());
        let held = lanes.enter(Uuid::nil()).await.unwrap();
        for number in 1..5_000 {
            lanes.enter(Uuid::from_u128(number)).await.unwrap();
        }
        assert!(lanes.lanes.lock().unwrap().len() <= MOST_IDLE);
        assert!(lanes.enter(Uuid::nil()).await.is_none(), "the one in use is still the same");
        drop(held);
    }
}
