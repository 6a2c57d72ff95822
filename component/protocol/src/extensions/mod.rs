//! What extensions of a workspace add: tools, resources and prompts beside the built-in ones (`wit/extension/extension.wit`).
//!
//! [`check`] judges what an extension says of itself when it is installed and writes what lists show of it, so that a list only
//! has to put texts together. At run time nothing that an extension says is trusted: what is not read-only is confirmed, questions
//! are checked against what the client declared, and answers are dressed for the revision that the client speaks.

mod address;
mod call;
mod check;
mod content;
mod list;
mod parameters;
mod questions;
mod round;
mod schema;

pub use address::Template;
pub use check::check;
use kobana_wire::extension::{Kind, Mirrored, Offer, Outcome, Stopped};
pub use schema::{Measured, measure, weight};
use serde::{Deserialize, Serialize};

use crate::era::Version;

pub(crate) use call::{get_prompt, read_resource, tool};
pub(crate) use list::{is_foreign, list, suggestions_of_prompt, suggestions_of_template};

/// Something that an extension offers, as its description has it and as lists show it. It is kept with the installed version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// What it is.
    pub kind: Kind,
    /// Its own name: of a tool or a prompt its name in the extension, else its URI or URI template.
    pub name: String,
    /// The members of its entry in the list but for the name, as JSON without braces.
    pub entry: String,
    /// Whether it can only read.
    pub read_only: bool,
    /// Of a prompt: its arguments, and the values to offer for each.
    pub suggestions: Vec<(String, Vec<String>)>,
    /// Of a tool: the parameters that headers repeat.
    pub mirrored: Vec<Mirrored>,
}

impl Definition {
    /// The offer of it in a workspace. `name` is what callers see, `version` tells this component from others of the same extension.
    #[must_use]
    pub fn offer(&self, name: String, extension: &str, version: &str, missing_scope: Option<String>) -> Offer {
        Offer {
            name,
            extension: extension.to_owned(),
            version: version.to_owned(),
            read_only: self.read_only,
            missing_scope,
            definition: self.entry.clone(),
            suggestions: self.suggestions.clone(),
            mirrored: self.mirrored.clone(),
        }
    }
}

/// What callers of the stateless revision see of an outcome: the members of the result as JSON, without braces and without those that
/// every result has. Nothing where an error tells of it.
///
/// # Errors
/// The answer cannot be passed on; what callers are told instead.
#[must_use]
pub fn result(outcome: &Outcome) -> Option<Result<String, Stopped>> {
    let members = match outcome {
        Outcome::Tool { content, structured, is_error } => {
            content::tool(Version::V2026_07_28, content, structured.as_deref(), *is_error)
        }
        Outcome::Documents(documents) => content::documents(documents),
        Outcome::Prompt { description, messages } => {
            content::prompt(Version::V2026_07_28, description.as_deref(), messages)
        }
        Outcome::InputRequired(required) => {
            questions::requests(&required.requests).map(|requests| format!(r#""inputRequests":{{{requests}}}"#))
        }
        Outcome::Missing | Outcome::Invalid(_) | Outcome::Stopped(_) | Outcome::Checked => return None,
    };
    Some(members.map_err(call::flawed))
}

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where, in the names of `extension.wit`, such as `tools.score.input-schema`.
    pub field: String,
    /// What was expected.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}
