//! What a good extension gets: its question, the API, the log, and nothing of the calls before.

use kobana_runtime::extension::{Context, Level, Limits, Question, Usage};
use kobana_wire::extension::{Answers, Content, Document, DocumentBody, InputRequired, Outcome, Role};

use crate::support::{Case, question, text, tight};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_answers_and_what_it_used_is_told() {
    let case = Case::new().await;
    let (usage, outcome) = case.ask(&tight(), question("echo", "é")).await;
    assert_eq!(text(outcome.unwrap()), r#"{"argument":"é"}"#);
    assert!(case.artifact.size() > 100_000, "{}", case.artifact.size());
    let Usage { fuel, memory, api_calls, log, output, .. } = usage;
    assert!((1_000..1_000_000).contains(&fuel), "{fuel}");
    assert!((1 << 20..4 << 20).contains(&memory), "{memory}");
    assert_eq!((api_calls, log), (0, 0));
    assert!((17..40).contains(&output), "{output}");
    let (more, outcome) = case.ask(&tight(), question("compute", "")).await;
    outcome.unwrap();
    assert!(more.fuel > fuel + 300_000, "{more:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_costs_the_same_fuel() {
    let case = Case::new().await;
    let (first, _) = case.ask(&tight(), question("compute", "")).await;
    let (second, _) = case.ask(&tight(), question("compute", "")).await;
    assert_eq!(first.fuel, second.fuel);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_calls_share_no_memory() {
    let case = Case::new().await;
    for _ in 0..20 {
        let (one, other) = tokio::join!(case.text("count", ""), case.text("count", ""));
        assert_eq!((one.as_str(), other.as_str()), ("1", "1"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_is_called_and_its_refusals_arrive() {
    let case = Case::new().await;
    assert_eq!(case.text("call", "/emails").await, "200 /emails");
    assert_eq!(case.text("lie", "").await, "Failure::Refused");
    assert_eq!(*case.api.ended.lock().unwrap(), ["Get /emails", "Delete /emails/1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_is_logged_by_lines() {
    let case = Case::new().await;
    let (usage, outcome) = case.ask(&tight(), question("words", "")).await;
    outcome.unwrap();
    let expected =
        [(Level::Error, "to the log"), (Level::Info, "to standard output"), (Level::Warn, "to standard error")];
    assert_eq!(*case.api.lines.lock().unwrap(), expected.map(|(level, line)| (level, line.to_owned())));
    assert_eq!(usage.log, 10 + 19 + 17);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_go_out_and_answers_come_in() {
    let case = Case::new().await;
    let (_, outcome) = case.ask(&tight(), question("ask", "")).await;
    let Ok(Outcome::InputRequired(InputRequired { requests, state })) = outcome else { panic!("{outcome:?}") };
    assert_eq!(state.as_deref(), Some(&[1, 2, 3][..]));
    assert_eq!(requests[0].0, "name");
    let responses = vec![("name".to_owned(), r#"{"action":"accept"}"#.to_owned())];
    let context = Context { answers: Some(Answers { state, responses }), ..Context::default() };
    let again = Question::Tool { name: "ask".to_owned(), arguments: "{}".to_owned(), context };
    let (_, outcome) = case.ask(&tight(), again).await;
    assert_eq!(text(outcome.unwrap()), r#"Some([1, 2, 3]) [("name", "{\"action\":\"accept\"}")]"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_read_or_missing() {
    let case = Case::new().await;
    let read = |uri: &str| Question::Resource { uri: uri.to_owned(), context: Context::default() };
    let (_, outcome) = case.ask(&tight(), read("hostile://text")).await;
    let document = Document {
        uri: "hostile://text".to_owned(),
        media_type: None,
        body: DocumentBody::Blob(vec![0, 159, 146, 150]),
    };
    assert_eq!(outcome, Ok(Outcome::Documents(vec![document])));
    let (_, outcome) = case.ask(&tight(), read("hostile://other")).await;
    assert_eq!(outcome, Ok(Outcome::Missing));
    let (_, outcome) = case.ask(&Limits { fuel: 1_000_000, ..tight() }, read("hostile://spin")).await;
    assert_eq!(outcome.unwrap_err().setting(), Some("fuel"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompts_are_filled_in_or_refused() {
    let case = Case::new().await;
    let fill = |name: &str| {
        let arguments = vec![("to".to_owned(), "whom".to_owned())];
        Question::Prompt { name: name.to_owned(), arguments, context: Context::default() }
    };
    let (_, outcome) = case.ask(&tight(), fill("say")).await;
    let Ok(Outcome::Prompt { description: None, messages }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(messages[0].role, Role::Assistant);
    assert_eq!(messages[0].block.content, Content::Text(r#"[("to", "whom")]"#.to_owned()));
    let (_, outcome) = case.ask(&tight(), fill("other")).await;
    let Ok(Outcome::Invalid(error)) = outcome else { panic!("{outcome:?}") };
    let error: serde_json::Value = serde_json::from_str(&error).unwrap();
    assert_eq!(error["error"]["code"], "validation_failed");
    assert_eq!(error["error"]["details"]["form_errors"], serde_json::json!(["no \"such\" prompt"]));
}
