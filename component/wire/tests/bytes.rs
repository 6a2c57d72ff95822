//! The very bytes of every type. A change here is a change of the language: it needs a new version and a new prefix.

// The whole crate is a test; clippy knows only functions marked as such.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Debug;

use kobana_wire::extension::{
    Annotations, Answers, Block, Client, Content, Document, DocumentBody, InputRequired, Kind, Media, Message,
    Mirrored, Offer, Outcome, Question, Resource, Role, Scalar, Stopped, Use,
};
use kobana_wire::{
    Action, Admitted, Allowance, Answer, As, Authenticate, Call, Credentials, Denial, Failure, FindOffer, Function,
    Method, Offers, Open, PREFIX, Prepare, Profile, RedeemConfirmation, Redemption, Request, Response, Seal, Suggest,
    Throttle, Unreadable, UseOffer, VERSION, read, write,
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
    let profile = Profile { workspace: Some(text("w")), scopes: text("x y"), permissions: String::new() };
    let admitted = Admitted { ticket: text("T"), profile, allowance: ALLOWANCE };
    is(&admitted, "01540101770378207900050480a4a7da06");
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

fn action() -> Action {
    Action { name: text("n"), arguments: text("{}"), target: text(""), version: text("v"), client: None }
}

#[test]
fn offers() {
    for (index, kind) in [Kind::Tool, Kind::Resource, Kind::ResourceTemplate, Kind::Prompt].into_iter().enumerate() {
        is::<<Offers as Function>::Question>(&As { ticket: text("T"), question: kind }, &format!("01540{index}"));
        let find = As { ticket: text("T"), question: (kind, text("n")) };
        is::<<FindOffer as Function>::Question>(&find, &format!("01540{index}016e"));
    }
    let mirrored = |scalar| Mirrored { name: text("R"), path: vec![text("a"), text("b")], scalar };
    let offer = Offer {
        name: text("n"),
        extension: text("e"),
        version: text("v"),
        read_only: true,
        missing_scope: Some(text("s")),
        definition: text("d"),
        suggestions: vec![(text("a"), vec![text("x")])],
        mirrored: vec![mirrored(Scalar::Text), mirrored(Scalar::Integer), mirrored(Scalar::Boolean)],
    };
    let bytes = "016e0165017601010173016401016101017803015202016101620001520201610162010152020161016202";
    is::<<FindOffer as Function>::Reply>(&Ok(Some(offer.clone())), &format!("0001{bytes}"));
    is::<<Offers as Function>::Reply>(&Ok(vec![offer]), &format!("0001{bytes}"));
    is::<<FindOffer as Function>::Reply>(&Ok(None), "0000");
}

#[test]
fn uses_and_what_comes_of_them() {
    let wanted = Use {
        kind: Kind::Prompt,
        name: text("n"),
        version: text("v"),
        arguments: text("{}"),
        client: Client { form: true, url: false, sampling: true, roots: false },
        answers: Some(Answers { state: Some(vec![0, 255]), responses: vec![(text("k"), text("1"))] }),
        check_only: true,
    };
    is::<<UseOffer as Function>::Question>(
        &As { ticket: text("T"), question: wanted },
        "015403016e0176027b7d0100010001010200ff01016b013101",
    );
    let reply = |outcome, bytes: &str| {
        is::<<UseOffer as Function>::Reply>(&Ok(outcome), &format!("00{}", bytes.replace(' ', "")))
    };
    reply(
        Outcome::Tool { content: every_content(), structured: Some(text("1")), is_error: true },
        &format!("00{CONTENT}01013101"),
    );
    let document = Document { uri: text("u"), media_type: None, body: DocumentBody::Blob(vec![1]) };
    reply(Outcome::Documents(vec![document]), "0101017500010101");
    let message = |role| Message { role, block: Block { content: Content::Text(text("t")), annotations: None } };
    let messages = vec![message(Role::User), message(Role::Assistant)];
    reply(Outcome::Prompt { description: Some(text("d")), messages }, "02010164 02 0000017400 0100017400");
    let requests = vec![
        (text("a"), Question::Form { message: text("m"), schema: text("s") }),
        (text("b"), Question::Visit { message: text("m"), url: text("u"), id: text("i") }),
        (text("c"), Question::Sampling(text("p"))),
        (text("d"), Question::Roots),
    ];
    reply(
        Outcome::InputRequired(InputRequired { requests, state: Some(vec![7]) }),
        "03 04 016100016d0173 016201016d01750169 0163020170 016403 010107",
    );
    reply(Outcome::Missing, "04");
    reply(Outcome::Invalid(text("{}")), "05027b7d");
    let stopped = Stopped { code: text("c"), message: text("m"), limit: Some(text("l")), retry_after: Some(3) };
    reply(Outcome::Stopped(stopped), "060163016d01016c0103");
    reply(Outcome::Checked, "07");
}

/// The bytes of [`every_content`].
const CONTENT: &str =
    "0500017401020001 01000000000000e03f01017a 010109016d00 020109016d00 030175016e00000000 04017501016d00017400";

fn every_content() -> Vec<Block> {
    let plain = |content| Block { content, annotations: None };
    let annotations = Annotations {
        audience: vec![Role::User, Role::Assistant],
        priority: Some(0.5),
        last_modified: Some(text("z")),
    };
    let media = || Media { data: vec![9], media_type: text("m") };
    let link = Resource { uri: text("u"), name: text("n"), title: None, description: None, media_type: None };
    let document = Document { uri: text("u"), media_type: Some(text("m")), body: DocumentBody::Text(text("t")) };
    vec![
        Block { content: Content::Text(text("t")), annotations: Some(annotations) },
        plain(Content::Image(media())),
        plain(Content::Audio(media())),
        plain(Content::Link(link)),
        plain(Content::Document(document)),
    ]
}

#[test]
fn states() {
    let seal = As { ticket: text("T"), question: (action(), serde_bytes::ByteBuf::from(vec![1, 2])) };
    is::<<Seal as Function>::Question>(&seal, "0154016e027b7d00017600020102");
    is::<<Seal as Function>::Reply>(&Ok(text("S")), "000153");
    let open = As { ticket: text("T"), question: (text("S"), action()) };
    is::<<Open as Function>::Question>(&open, "01540153016e027b7d00017600");
    is::<<Open as Function>::Reply>(&Ok(serde_bytes::ByteBuf::from(vec![1, 2])), "00020102");
    is::<<Open as Function>::Reply>(&Err(Redemption::Expired), "0100");
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
