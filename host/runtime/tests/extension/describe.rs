//! Extensions that are asked what they are.

use std::sync::Arc;

use kobana_runtime::extension::{Api, Limits, Stopped, Usage};
use kobana_wire::extension::Description;

use crate::support::{Case, Kept, free, hostile, question, sandbox, tight};

async fn describe(mode: &str, limits: &Limits) -> (Usage, Result<Description, Stopped>) {
    let case = Case::new().await;
    let artifact = case.sandbox.compile(hostile(mode)).await.expect("it compiles");
    let ended = case.sandbox.describe(&artifact, limits, &case.credit).await;
    assert_eq!(case.text("count", "").await, "1", "the sandbox is well");
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_description_is_handed_on_whole() {
    let (usage, description) = describe("harmless", &tight()).await;
    let description = description.unwrap();
    assert_eq!((description.name.as_str(), description.scopes.len()), ("hostile", 2));
    assert!(description.tools.len() > 20 && description.tools.iter().any(|tool| !tool.hints.read_only));
    assert_eq!((description.resources.len(), description.prompts.len()), (2, 1));
    assert_eq!(usage.api_calls, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_calls_while_an_extension_describes_itself() {
    let (usage, description) = describe("calls-it", &tight()).await;
    assert_eq!(description.unwrap().name, "hostile", "it saw that the API refuses and that nobody calls");
    assert_eq!(usage.api_calls, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_even_if_it_does_not() {
    let (_, stopped) = describe("describe", &tight()).await;
    assert_eq!(stopped, Err(Stopped::Fuel(tight().fuel)));
    let (_, stopped) = describe("describe", &Limits { fuel: u64::MAX / 2, time_ms: 100, ..tight() }).await;
    assert_eq!(stopped, Err(Stopped::Time(100)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_does_one_that_does_not_even_start() {
    let case = Case::new().await;
    let artifact = case.sandbox.compile(hostile("at-start")).await.expect("it compiles");
    let (_, stopped) = case.sandbox.describe(&artifact, &tight(), &case.credit).await;
    assert_eq!(stopped, Err(Stopped::Fuel(tight().fuel)));
    let limits = Limits { fuel: u64::MAX / 2, time_ms: 100, ..tight() };
    let api: Arc<dyn Api> = Arc::<Kept>::default();
    let (_, stopped) = case.sandbox.run(&artifact, &limits, &case.credit, question("count", ""), api).await;
    assert_eq!(stopped, Err(Stopped::Time(100)));
    assert_eq!(case.text("count", "").await, "1", "the sandbox is well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_breaks_leaves_its_last_words() {
    let (_, stopped) = describe("traps-it", &tight()).await;
    assert!(matches!(stopped, Err(Stopped::Trap(_))), "{stopped:?}");
    let sandbox = sandbox();
    let artifact = sandbox.compile(hostile("traps-it")).await.expect("it compiles");
    let kept = Arc::new(Kept::default());
    let (_, stopped) = sandbox.describe_as(&artifact, &tight(), &free(), Arc::clone(&kept) as Arc<dyn Api>).await;
    assert!(stopped.is_err());
    assert!(kept.lines.lock().unwrap().iter().any(|(_, line)| line == "as told"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_it_says_is_bounded_and_its_schemas_are_json() {
    let (_, stopped) = describe("bad-json", &tight()).await;
    let Err(Stopped::BadAnswer(problem)) = stopped else { panic!("{stopped:?}") };
    assert!(problem.starts_with("tools[0].input_schema: it is not JSON: EOF"), "{problem}");
    let (_, stopped) = describe("enormous", &tight()).await;
    assert_eq!(stopped, Err(Stopped::Memory(16 << 20)));
    let (_, stopped) = describe("vastness", &Limits { memory: 64 << 20, fuel: 1 << 40, ..tight() }).await;
    assert_eq!(stopped, Err(Stopped::Output(1 << 20)));
}
