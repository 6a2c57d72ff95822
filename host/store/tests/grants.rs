//! Grants, codes and refresh tokens on real SQLite, at times of our choosing.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use kobana_contract::Timestamp;
use kobana_store::clients::{self, ClientRow, Keep};
use kobana_store::grants::{self, CodeRow, Ends, GrantRow, Redeemed, Rotated, Rotation};
use kobana_store::values::Texts;
use kobana_store::{Location, Store, demo, sessions};
use uuid::Uuid;

const NOW: Timestamp = Timestamp(1_800_000_000_000_000);
const GRACE: i64 = 30;
const DAY: i64 = 86_400;

/// A store with a grant whose code has the hash `code`.
struct World {
    store: Store,
    grant: Uuid,
}

fn ends(at: Timestamp) -> Ends {
    Ends { access: at.plus_seconds(3_600), grant: at.plus_seconds(90 * DAY), refresh: at.plus_seconds(30 * DAY) }
}

impl World {
    async fn new(refreshes: bool) -> Self {
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        let world = Self { store, grant: Uuid::now_v7() };
        world.consent(world.grant, b"code", refreshes).await;
        world
    }

    async fn consent(&self, id: Uuid, code: &[u8], refreshes: bool) {
        let grant = GrantRow {
            id,
            person_id: demo::persons::ANA,
            client_id: "client".into(),
            client_name: "Client".into(),
            workspace_id: None,
            scopes: "inbox.emails".into(),
            resource: "https://inbox.example.com/mcp".into(),
            refreshes,
            created_at: NOW.0,
            used_at: NOW.0,
            expires_at: NOW.plus_seconds(60).0,
            revoked_at: None,
        };
        let code = CodeRow {
            hash: code.to_vec(),
            grant_id: id,
            redirect_uri: "http://127.0.0.1/".into(),
            challenge: "challenge".into(),
            expires_at: NOW.plus_seconds(60).0,
            redeemed_at: None,
        };
        grants::open(&self.store, grant, code, NOW).await.unwrap();
    }

    async fn redeem(&self, proves: bool, at: Timestamp) -> Redeemed {
        grants::redeem(&self.store, b"code", |_, _| proves, b"r0", ends(at), at).await.unwrap()
    }

    async fn rotate(&self, hash: &str, successor: &str, at: Timestamp) -> Rotated<()> {
        let rotation = Rotation {
            hash: hash.as_bytes(),
            successor: successor.as_bytes(),
            expires_at: at.plus_seconds(30 * DAY),
            grace: GRACE,
        };
        grants::rotate(&self.store, rotation, |_| Ok(()), at).await.unwrap()
    }

    async fn is_live(&self, at: Timestamp) -> bool {
        grants::live_until(&self.store, self.grant).await.unwrap().is_some_and(|end| at < end)
    }
}

fn granted<E>(rotated: &Rotated<E>) -> bool {
    matches!(rotated, Rotated::Granted(_))
}

#[tokio::test]
async fn a_code_is_redeemed_once_and_its_return_revokes_what_came_of_it() {
    let world = World::new(true).await;
    assert!(matches!(world.redeem(true, NOW).await, Redeemed::Granted(grant) if grant.id == world.grant));
    assert!(world.is_live(NOW.plus_seconds(80 * DAY)).await);
    assert_eq!(world.redeem(true, NOW.plus_seconds(1)).await, Redeemed::Refused);
    assert!(!world.is_live(NOW.plus_seconds(1)).await);
    assert_eq!(world.rotate("r0", "r1", NOW.plus_seconds(2)).await, Rotated::Unusable);
}

#[tokio::test]
async fn a_code_is_spent_by_a_wrong_proof_and_by_coming_late() {
    let world = World::new(true).await;
    assert_eq!(world.redeem(false, NOW).await, Redeemed::Refused);
    assert_eq!(world.redeem(true, NOW).await, Redeemed::Refused);
    let late = World::new(true).await;
    assert_eq!(late.redeem(true, NOW.plus_seconds(60)).await, Redeemed::Refused);
    let unknown = grants::redeem(&late.store, b"other", |_, _| true, b"r0", ends(NOW), NOW).await.unwrap();
    assert_eq!(unknown, Redeemed::Unknown);
}

#[tokio::test]
async fn of_many_who_bring_a_code_at_once_one_alone_is_let_in_and_not_for_long() {
    let world = World::new(true).await;
    let tries = (0..16).map(|_| {
        let store = world.store.clone();
        tokio::spawn(async move {
            let refresh = rand::random::<[u8; 8]>();
            grants::redeem(&store, b"code", |_, _| true, &refresh, ends(NOW), NOW).await.unwrap()
        })
    });
    let mut let_in = 0;
    for tried in tries.collect::<Vec<_>>() {
        let_in += usize::from(matches!(tried.await.unwrap(), Redeemed::Granted(_)));
    }
    assert_eq!(let_in, 1);
    assert!(!world.is_live(NOW).await);
}

#[tokio::test]
async fn a_grant_that_is_not_refreshed_ends_with_its_one_token() {
    let world = World::new(false).await;
    assert!(matches!(world.redeem(true, NOW).await, Redeemed::Granted(_)));
    assert!(world.is_live(NOW.plus_seconds(3_599)).await);
    assert!(!world.is_live(NOW.plus_seconds(3_600)).await);
    assert_eq!(world.rotate("r0", "r1", NOW).await, Rotated::Unusable);
}

#[tokio::test]
async fn a_lost_answer_is_given_again_and_a_stolen_token_ends_the_family() {
    let world = World::new(true).await;
    world.redeem(true, NOW).await;
    assert!(granted(&world.rotate("r0", "r1", NOW).await));
    // The answer was lost: the same successor again, while nobody has used it.
    assert!(granted(&world.rotate("r0", "r1", NOW.plus_seconds(GRACE)).await));
    assert!(granted(&world.rotate("r1", "r2", NOW.plus_seconds(GRACE)).await));
    // Now it was used, so whoever has the first token is not who got the second.
    assert_eq!(world.rotate("r0", "r1", NOW.plus_seconds(GRACE)).await, Rotated::Reused);
    assert!(!world.is_live(NOW.plus_seconds(GRACE)).await);
    assert_eq!(world.rotate("r2", "r3", NOW.plus_seconds(GRACE)).await, Rotated::Unusable);
}

#[tokio::test]
async fn a_token_that_returns_late_ends_the_family() {
    let world = World::new(true).await;
    world.redeem(true, NOW).await;
    assert!(granted(&world.rotate("r0", "r1", NOW).await));
    assert_eq!(world.rotate("r0", "r1", NOW.plus_seconds(GRACE + 1)).await, Rotated::Reused);
    assert_eq!(world.rotate("r1", "r2", NOW.plus_seconds(GRACE + 1)).await, Rotated::Unusable);
}

#[tokio::test]
async fn a_token_is_good_for_thirty_days_and_a_grant_for_ninety() {
    let world = World::new(true).await;
    world.redeem(true, NOW).await;
    assert!(granted(&world.rotate("r0", "r1", NOW.plus_seconds(29 * DAY)).await));
    assert!(granted(&world.rotate("r1", "r2", NOW.plus_seconds(58 * DAY)).await));
    assert!(granted(&world.rotate("r2", "r3", NOW.plus_seconds(87 * DAY)).await));
    assert_eq!(world.rotate("r3", "r4", NOW.plus_seconds(90 * DAY)).await, Rotated::Unusable);
    let idle = World::new(true).await;
    idle.redeem(true, NOW).await;
    assert_eq!(idle.rotate("r0", "r1", NOW.plus_seconds(30 * DAY)).await, Rotated::Unusable);
}

#[tokio::test]
async fn a_refused_wish_leaves_the_token_as_it_was() {
    let world = World::new(true).await;
    world.redeem(true, NOW).await;
    let rotation = Rotation { hash: b"r0", successor: b"r1", expires_at: NOW.plus_seconds(DAY), grace: GRACE };
    let refused = grants::rotate(&world.store, rotation, |_| Err("no"), NOW).await.unwrap();
    assert_eq!(refused, Rotated::Rejected("no"));
    assert!(granted(&world.rotate("r0", "r1", NOW.plus_seconds(60)).await));
}

#[tokio::test]
async fn everything_of_a_person_can_be_ended_at_once() {
    let world = World::new(true).await;
    world.redeem(true, NOW).await;
    sessions::open(&world.store, b"session", demo::persons::ANA, NOW.plus_seconds(60), NOW).await.unwrap();
    assert_eq!(sessions::find(&world.store, b"session", NOW).await.unwrap(), Some(demo::persons::ANA));
    assert_eq!(sessions::find(&world.store, b"session", NOW.plus_seconds(60)).await.unwrap(), None);
    let tx = world.store.begin().await.unwrap();
    grants::revoke_all(&tx, demo::persons::ANA, NOW).await.unwrap();
    sessions::close_all(&tx, demo::persons::ANA).await.unwrap();
    tx.commit().await.unwrap();
    assert!(!world.is_live(NOW).await);
    assert_eq!(sessions::find(&world.store, b"session", NOW).await.unwrap(), None);
}

#[tokio::test]
async fn clients_that_nobody_uses_are_forgotten_and_there_is_no_room_for_more_than_that() {
    let world = World::new(true).await;
    let keep = Keep { unused: DAY, idle: 90 * DAY };
    let insert = async |id: &str, at: Timestamp| {
        let row = ClientRow {
            id: id.into(),
            name: None,
            redirect_uris: Texts(vec!["https://a.example/".into()]),
            refreshes: true,
            created_at: at.0,
            used_at: None,
        };
        clients::insert(&world.store, row, 2, keep, at).await.unwrap()
    };
    assert!(insert("client", NOW).await && insert("b", NOW).await && !insert("c", NOW).await);
    // Somebody lets the first one in.
    world.consent(Uuid::now_v7(), b"code-2", true).await;
    let later = NOW.plus_seconds(DAY + 1);
    assert!(insert("c", later).await && !insert("d", later).await);
    let known = async |id: &str| clients::find(&world.store, id).await.unwrap().is_some();
    assert!(known("client").await && !known("b").await && known("c").await);
    let much_later = NOW.plus_seconds(91 * DAY);
    assert!(insert("d", much_later).await && insert("e", much_later).await);
    assert!(!known("client").await && !known("c").await);
}
