//! The very bytes of every type. A change here is a change of the language: it needs a new version and a new prefix.

// The whole crate is a test; clippy knows only functions marked as such.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Debug;

use kobana_wire::{
    Action, Admitted, Allowance, Answer, As, Authenticate, Call, Credentials, Denial, Failure, Function, Method,
    PREFIX, Prepare, Profile, RedeemConfirmation, Redemption, Request, Response, Suggest, Throttle, Unreadable,
    VERSION, read, write,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[track_caller]
fn is<T: Serialize + DeserializeOwned + PartialEq>(message: &T, bytes: &str) {
    let written = write(message).unwrap();
    assert_eq!(hex(&written), bytes);
    assert!(read::<T>(&written).unwrap() == *message);
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn request(method: Method, body: Option<Vec<u8>>) -> Request {
    Request { method, path: text("/a"), query: vec![(text("k"), text("v"))], body, idempotency_key: Some(text("i")) }
}

const ALLOWANCE: Allowance = Allowance { limit: 5, remaining: 4, reset: 1_800_000_000 };

#[test]
fn the_version_stands_in_the_path() {
    assert_eq!(PREFIX, format!("/edge/v{VERSION}/"));
}

#[test]
fn credentials_and_who_they_prove() {
    is(&Credentials { authorization: Some(text("Bearer t")), workspace: None }, "0108426561726572207400");
    is(&ALLOWANCE, "050480a4a7da06");
    let profile = Profile {
        subject: text("s"),
        client: text("c"),
        workspace: Some(text("w")),
        scopes: vec![text("x"), text("y")],
        permissions: Vec::new(),
    };
    let admitted = Admitted { ticket: text("T"), profile, allowance: ALLOWANCE };
    is(&admitted, "015401730163010177020178017900050480a4a7da06");
    let throttle = Throttle { allowance: ALLOWANCE, retry_after: 12 };
    for (denial, bytes) in [
        (Denial::Missing, "00"),
        (Denial::Invalid, "01"),
        (Denial::Expired, "02"),
        (Denial::WrongAudience, "03"),
        (Denial::RateLimited(throttle), "04050480a4a7da060c"),
        (Denial::Unavailable(300), "05ac02"),
    ] {
        is(&denial, bytes);
    }
    is::<<Authenticate as Function>::Reply>(&Err(Denial::Invalid), "0101");
}

#[test]
fn calls_and_their_answers() {
    let methods = [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];
    for (index, method) in methods.into_iter().enumerate() {
        is(&request(method, None), &format!("0{index}022f6101016b017600010169"));
    }
    let call = As { ticket: text("T"), question: request(Method::Post, Some(b"{}".to_vec())) };
    is::<<Call as Function>::Question>(&call, "015401022f6101016b017601027b7d010169");
    let suggest = As { ticket: text("T"), question: (request(Method::Get, None), text("p")) };
    is::<<Suggest as Function>::Question>(&suggest, "015400022f6101016b0176000101690170");
    let response = Response { status: 200, body: b"{}".to_vec(), retry_after: Some(1) };
    is::<<Call as Function>::Reply>(&Ok(response), "00c801027b7d0101");
    for (failure, bytes) in
        [(Failure::TimedOut, "0100"), (Failure::Unavailable(1), "010101"), (Failure::Internal, "0102")]
    {
        is::<<Prepare as Function>::Reply>(&Err(failure), bytes);
    }
}

#[test]
fn confirmations() {
    let action = Action {
        name: text("n"),
        arguments: text("{}"),
        target: text("t"),
        version: text("v"),
        client: Some(text("c")),
    };
    for (index, answer) in [Answer::None, Answer::Accepted, Answer::Declined].into_iter().enumerate() {
        let question = As { ticket: text("T"), question: (text("S"), action.clone(), answer) };
        let bytes = format!("01540153016e027b7d017401760101630{index}");
        is::<<RedeemConfirmation as Function>::Question>(&question, &bytes);
    }
    for (refusal, bytes) in [
        (Redemption::Expired, "0100"),
        (Redemption::Changed, "0101"),
        (Redemption::Invalid, "0102"),
        (Redemption::Unavailable(1), "010301"),
    ] {
        is::<<RedeemConfirmation as Function>::Reply>(&Err(refusal), bytes);
    }
}

#[test]
fn what_is_cut_short_or_too_long_is_no_message() {
    #[track_caller]
    fn broken<T: DeserializeOwned + Debug>(bytes: &[u8]) {
        assert_eq!(read::<T>(bytes).unwrap_err(), Unreadable);
    }
    let whole = write(&Response { status: 200, body: vec![7; 900_000], retry_after: None }).unwrap();
    assert_eq!(whole.len(), 900_000 + 6, "a body travels as it is");
    for length in [0, 1, 2, 100, whole.len() - 1] {
        broken::<Response>(&whole[..length]);
    }
    broken::<Response>(&[&whole[..], &[0]].concat());
    broken::<Denial>(&[6]);
    // A length that no message has room for is found out before anything is set aside for it.
    broken::<Response>(&[200, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
}
