//! Whatever stands in a path, it reaches no other route and no other row.

use std::sync::OnceLock;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;

use crate::harness::World;

const LOOKUPS: [&str; 3] = ["/inboxes/", "/emails/", "/workspaces/"];

struct Shared {
    runtime: tokio::runtime::Runtime,
    world: World,
    ana: kobana_contract::Caller,
}

fn shared() -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    SHARED.get_or_init(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let world = runtime.block_on(World::new());
        let ana = runtime.block_on(world.ana());
        Shared { runtime, world, ana }
    })
}

/// Asks for the row and answers what came: nothing, or a row with the very name asked for.
fn check(path: &str, id: &str, encoded: &str) -> Result<(), TestCaseError> {
    let Shared { runtime, world, ana } = shared();
    let answer = runtime.block_on(world.get(ana, &format!("{path}{encoded}")));
    match answer.status.as_u16() {
        404 => {
            prop_assert_eq!(&answer.json["error"]["code"], "not_found");
        }
        200 => {
            let data = &answer.json["data"];
            let is_it = data["id"] == id.to_lowercase() || data["external_id"] == id;
            prop_assert!(is_it, "{} gave {}", id, data);
        }
        other => prop_assert!(false, "{} for {}", other, id),
    }
    Ok(())
}

fn near_misses() -> impl Strategy<Value = String> {
    let known = prop_oneof![Just("acme-invoices"), Just("acme"), Just("00000000-0000-7000-8000-000000000001")];
    let noise = prop_oneof![
        Just("/"),
        Just(".."),
        Just("../"),
        Just("%2F"),
        Just("%2e%2e"),
        Just("?limit=1"),
        Just("#x"),
        Just("\0"),
        Just(";v=1"),
        Just("\\"),
        Just("\r\n"),
        Just(" "),
        Just("recipients"),
        Just("%"),
        Just("_"),
        Just("'"),
    ];
    (known, proptest::collection::vec(noise, 1..4), any::<bool>()).prop_map(|(known, noise, before)| {
        let noise = noise.concat();
        if before { format!("{noise}{known}") } else { format!("{known}{noise}") }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_one_segment(id in prop_oneof![any::<String>(), near_misses()], lookup in 0..LOOKUPS.len()) {
        let encoded = utf8_percent_encode(&id, NON_ALPHANUMERIC).to_string();
        check(LOOKUPS[lookup], &id, &encoded)?;
    }

    #[test]
    fn raw_segments_reach_nothing_else(id in "[A-Za-z0-9._~!$&'()*+,;=:@%-]{1,140}", lookup in 0..LOOKUPS.len()) {
        let decoded = percent_encoding::percent_decode_str(&id).decode_utf8_lossy().into_owned();
        check(LOOKUPS[lookup], &decoded, &id)?;
    }
}

#[test]
fn known_names_are_found_under_any_encoding() {
    let Shared { runtime, world, ana } = shared();
    for path in ["/inboxes/acme-invoices", "/inboxes/%61cme%2Dinvoices"] {
        assert_eq!(runtime.block_on(world.get(ana, path)).status, 200, "{path}");
    }
}
