//! A component that was looked into: what it is, and how it is used. Nothing here knows a database or a workspace's rules.

use std::sync::Arc;

use bytes::Bytes;
use kobana_api::extensions::{Fault, NotInspected};
use kobana_contract::Caller;
use kobana_protocol::extensions::{self, Definition};
use kobana_runtime::extension::{Artifact, Credit, Limits, Sandbox, Stopped, Unfit, Usage};
use kobana_wire::extension::{Description, Outcome};
use serde_json::Value;

use crate::desk::{Desk, Visit};
use crate::extension::{Asked, Extension, Ready};
use crate::registry::missing_scope;

/// Seconds after which a component may be handed in again when there was no room to look into it.
const RETRY_AFTER: u32 = 5;

/// An extension, compiled and known. Clones share it.
#[derive(Debug, Clone)]
pub struct Loaded {
    artifact: Artifact,
    extension: Arc<Extension>,
}

impl Loaded {
    /// Compiles and links a component, asks it twice what it is, and checks what it says: names, sizes, schemas, templates.
    ///
    /// # Errors
    /// What is wrong with it, all at once where that can be told, or that there is no room to look into it.
    pub async fn load(
        sandbox: &Sandbox,
        limits: &Limits,
        credit: &Arc<Credit>,
        component: Bytes,
    ) -> Result<Self, NotInspected> {
        let artifact = sandbox.compile(component).await.map_err(|unfit| NotInspected::Refused(unfit_faults(&unfit)))?;
        let description = describe(sandbox, limits, credit, &artifact).await?;
        let fault = |field, message: &str| NotInspected::Refused(vec![Fault::new(field, message)]);
        if describe(sandbox, limits, credit, &artifact).await? != description {
            return Err(fault("describe", "expected the same description every time, and the second one differs"));
        }
        let check = move || extensions::check(&description).map(|definitions| (description, definitions));
        let Some(checked) = sandbox.aside(credit, check).await else {
            return Err(fault("describe", "it cannot be checked"));
        };
        let (description, definitions) = checked.map_err(|problems| {
            NotInspected::Refused(
                problems.into_iter().map(|problem| Fault::new(problem.field, problem.message)).collect(),
            )
        })?;
        let extension = Arc::new(Extension::new(description, definitions));
        let mut faults = Vec::new();
        // One at a time, so that what waits for the same threads has its turn in between.
        for place in 0..extension.description().tools.len() {
            let extension = Arc::clone(&extension);
            let faults_of = move || extension.faults_of(place);
            faults.extend(sandbox.aside(credit, faults_of).await.unwrap_or_default());
        }
        if faults.is_empty() { Ok(Self { artifact, extension }) } else { Err(NotInspected::Refused(faults)) }
    }

    /// What it says that it is.
    #[must_use]
    pub fn description(&self) -> &Description {
        self.extension.description()
    }

    /// What the protocol has made of that.
    #[must_use]
    pub fn definitions(&self) -> &[Definition] {
        self.extension.definitions()
    }

    /// The JSON Schema of a tool's arguments.
    #[must_use]
    pub fn input_schema(&self, tool: &str) -> Option<&Value> {
        self.extension.input_schema(tool)
    }

    /// The scope to ask for, where it declares some and a caller has none of them: such a caller cannot use it.
    #[must_use]
    pub fn missing_scope(&self, caller: &Caller) -> Option<String> {
        missing_scope(caller, &self.extension)
    }

    /// Uses it: checks the arguments, runs it as the visitor and with no more than the extension declares, and checks what comes
    /// of it. Arguments that cannot be used, and names that it does not have, are told without running it. It is at nobody's expense:
    /// however much it computes, it does so ahead of what can wait.
    ///
    /// # Errors
    /// Why it was stopped.
    pub async fn run(
        &self,
        sandbox: &Sandbox,
        limits: &Limits,
        visit: Visit,
        asked: Asked,
    ) -> (Usage, Result<Outcome, Stopped>) {
        let credit = Arc::new(Credit::unlimited());
        let checked = self.extension.check(sandbox, &credit, &asked).await;
        match checked.and_then(|()| self.extension.ready(asked)) {
            Ok(ready) => run(&self.extension, &self.artifact, sandbox, limits, &credit, visit, ready).await,
            Err(outcome) => (Usage::default(), Ok(outcome)),
        }
    }
}

/// Uses an extension with arguments that were checked, and checks the answer.
pub(crate) async fn run(
    extension: &Arc<Extension>,
    artifact: &Artifact,
    sandbox: &Sandbox,
    limits: &Limits,
    credit: &Arc<Credit>,
    visit: Visit,
    ready: Ready,
) -> (Usage, Result<Outcome, Stopped>) {
    let Ready { question, read_only, tool } = ready;
    let desk = Desk::new(visit, extension.scopes(), read_only);
    let (usage, outcome) = sandbox.run(artifact, limits, credit, question, Arc::new(desk)).await;
    match outcome {
        Ok(outcome) => (usage, extension.judge(sandbox, credit, tool, outcome).await),
        Err(stopped) => (usage, Err(stopped)),
    }
}

async fn describe(
    sandbox: &Sandbox,
    limits: &Limits,
    credit: &Arc<Credit>,
    artifact: &Artifact,
) -> Result<Description, NotInspected> {
    match sandbox.describe(artifact, limits, credit).await.1 {
        Ok(description) => Ok(description),
        Err(Stopped::Busy) => Err(NotInspected::Unavailable {
            retry_after: RETRY_AFTER,
            cause: "too many extensions are running".to_owned(),
        }),
        Err(stopped) => Err(NotInspected::Refused(vec![Fault::new("describe", stopped.to_string())])),
    }
}

/// What is wrong, by what it is about.
fn unfit_faults(unfit: &Unfit) -> Vec<Fault> {
    let each = |field: &str, names: &[String], message: &str| -> Vec<Fault> {
        names.iter().map(|name| Fault::new(format!("{field}.{name}"), message)).collect()
    };
    match unfit {
        Unfit::Imports(names) => each("imports", names, "an extension does not get this"),
        Unfit::Exports(names) => each("exports", names, "is missing"),
        other => vec![Fault::new("component", other.to_string())],
    }
}
