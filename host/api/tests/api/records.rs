//! Agent runs and events, which are only read.

use serde_json::json;

use crate::harness::{World, column, email_id};

#[tokio::test]
async fn runs_are_filtered_by_agent_inbox_and_email() {
    let world = World::new().await;
    let ana = world.ana().await;
    let all = world.get(&ana, "/agent-runs?limit=200").await.data(200);
    assert_eq!(all.as_array().unwrap().len(), 24);
    let by_agent = async |agent: &str| {
        let rows = world.get(&ana, &format!("/agent-runs?limit=200&agent_id={agent}")).await.data(200);
        rows.as_array().unwrap().len()
    };
    assert_eq!(by_agent("acme-fiscal").await + by_agent("acme-triage").await, 24);
    let email = all[0]["email_id"].as_str().unwrap();
    let rows = world.get(&ana, &format!("/agent-runs?email_id={email}")).await.data(200);
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let inbox = all[0]["inbox_id"].as_str().unwrap();
    let rows = world.get(&ana, &format!("/agent-runs?limit=200&inbox_id={inbox}")).await.data(200);
    assert!(column(&rows, "inbox_id").iter().all(|found| found == inbox));
    for nothing in ["agent_id=nope", "inbox_id=acme-gone", &format!("email_id={}", email_id(0x101))] {
        assert_eq!(world.get(&ana, &format!("/agent-runs?{nothing}")).await.data(200), json!([]));
    }
    assert_eq!(world.get(&ana, "/agent-runs?email_id=x&agent_id=").await.invalid_fields(), ["agent_id", "email_id"]);
    assert_eq!(world.get(&world.gil().await, "/agent-runs").await.data(200), json!([]));
    assert!(column(&all, "status").contains(&"failed".to_owned()));
}

#[tokio::test]
async fn events_are_filtered_by_kind_and_email() {
    let world = World::new().await;
    let ana = world.ana().await;
    let all = world.get(&ana, "/system-events?limit=200").await.data(200);
    assert!(all.as_array().unwrap().len() >= 12);
    let failed = world.get(&ana, "/system-events?slug=email.failed").await.data(200);
    assert!(column(&failed, "slug").iter().all(|slug| slug == "email.failed"));
    let email = all[0]["email_id"].as_str().unwrap();
    let of_email = world.get(&ana, &format!("/system-events?email_id={email}")).await.data(200);
    assert!(column(&of_email, "email_id").iter().all(|found| found == email));
    assert_eq!(world.get(&ana, "/system-events?slug=nope").await.data(200), json!([]));
    let one = world.get(&ana, &format!("/system-events/{}", all[0]["id"].as_str().unwrap())).await.data(200);
    assert_eq!(one, all[0]);
}

#[tokio::test]
async fn records_of_another_tenant_are_not_there() {
    let world = World::new().await;
    let (ana, gil) = (world.ana().await, world.gil().await);
    for list in ["/agent-runs", "/system-events"] {
        let rows = world.get(&ana, list).await.data(200);
        let id = rows[0]["id"].as_str().unwrap();
        world.get(&ana, &format!("{list}/{id}")).await.expect(200);
        world.get(&gil, &format!("{list}/{id}")).await.refused(404, "not_found");
        for nothing in ["x", "..", &email_id(1)] {
            world.get(&ana, &format!("{list}/{nothing}")).await.refused(404, "not_found");
        }
    }
}
