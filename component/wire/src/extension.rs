//! What extensions offer, are asked and answer: the types of `wit/extension/extension.wit`.
//!
//! They cross `kobana:api/dispatch` as bytes of [`write`](crate::write), so that neither the gateway nor the edge adapter
//! has to know what it only carries on. JSON inside of them is text that was checked to be JSON.

use serde::{Deserialize, Serialize};

/// What there is to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Functions.
    Tool,
    /// Documents at fixed URIs.
    Resource,
    /// Families of documents.
    ResourceTemplate,
    /// Texts with gaps.
    Prompt,
}

/// Something that an extension offers to a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The name as callers see it: of a tool or a prompt with the extension's prefix, where the workspace has one; of a resource its
    /// URI, of a template its URI template.
    pub name: String,
    /// The extension's own name.
    pub extension: String,
    /// Tells versions of the extension apart: the digest of its component, in hexadecimal.
    pub version: String,
    /// Whether it can only read. What cannot is confirmed first.
    pub read_only: bool,
    /// The scope to ask for, where the caller has none of those that the extension needs; it cannot be used then.
    pub missing_scope: Option<String>,
    /// What the protocol shows of it: the members of its entry in the list but for the name, as `kobana_protocol` has written
    /// them when it was installed.
    pub definition: String,
    /// Of a prompt: its arguments, and for each the values to offer while somebody types. In lists it may be left out.
    pub suggestions: Vec<(String, Vec<String>)>,
    /// Of a tool: the parameters that headers repeat. In lists it may be left out.
    pub mirrored: Vec<Mirrored>,
}

/// A parameter of a tool that the header `Mcp-Param-{name}` repeats (protocol.md §5.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirrored {
    /// What stands behind `Mcp-Param-`, as the tool's schema spells it.
    pub name: String,
    /// The names of the members that lead to it, from the arguments down.
    pub path: Vec<String>,
    /// What it may be.
    pub scalar: Scalar,
}

/// What a parameter may be that a header repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scalar {
    /// A text.
    Text,
    /// An integer, which is compared as a number.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// What a tool does to the world, as its extension says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "four hints, as in protocol.md §9.2")]
pub struct Hints {
    /// It only reads.
    pub read_only: bool,
    /// It may delete, send out or overwrite.
    pub destructive: bool,
    /// The same call again has no further effect.
    pub idempotent: bool,
    /// What it tells comes from outside of the workspace.
    pub open_world: bool,
}

/// A function that an assistant may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name in the extension.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: String,
    /// JSON Schema of its structured result.
    pub output_schema: Option<String>,
    /// What it does to the world.
    pub hints: Hints,
}

/// A document at a fixed URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it holds.
    pub description: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
}

/// A family of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceTemplate {
    /// Where they are, variables in braces.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What they hold.
    pub description: Option<String>,
    /// Their media type.
    pub media_type: Option<String>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// Values to offer.
    pub values: Vec<String>,
}

/// A text with gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name in the extension.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its gaps.
    pub arguments: Vec<Argument>,
}

/// What an extension is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its semantic version.
    pub version: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The scopes that it needs at most.
    pub scopes: Vec<String>,
    /// Its tools.
    pub tools: Vec<Tool>,
    /// Its documents.
    pub resources: Vec<Resource>,
    /// Its families of documents.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
}

/// Who says something, or is meant to hear it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The person.
    User,
    /// The assistant.
    Assistant,
}

/// For whom a piece of content is, and how much it matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Annotations {
    /// Those who are meant.
    pub audience: Vec<Role>,
    /// From 0 to 1.
    pub priority: Option<f64>,
    /// When it changed last (RFC 3339).
    pub last_modified: Option<String>,
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DocumentBody {
    /// Text.
    Text(String),
    /// Bytes.
    Blob(#[serde(with = "serde_bytes")] Vec<u8>),
}

/// A document with what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Where it is.
    pub uri: String,
    /// Its media type.
    pub media_type: Option<String>,
    /// What it holds.
    pub body: DocumentBody,
}

/// Bytes of a media type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The bytes.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
    /// Their media type.
    pub media_type: String,
}

/// What a piece of content is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// Text.
    Text(String),
    /// A picture.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// A document that can be read.
    Link(Resource),
    /// A document, here and now.
    Document(Document),
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub content: Content,
    /// For whom it is.
    pub annotations: Option<Annotations>,
}

/// A piece of content that somebody says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub block: Block,
}

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each stands for one capability (protocol.md §6)")]
pub struct Client {
    /// Forms.
    pub form: bool,
    /// Visits of a page.
    pub url: bool,
    /// Texts of its model.
    pub sampling: bool,
    /// Its folders.
    pub roots: bool,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// A form to be filled in.
    Form {
        /// What for.
        message: String,
        /// Its fields, as JSON.
        schema: String,
    },
    /// A page to be visited.
    Visit {
        /// What for.
        message: String,
        /// Where.
        url: String,
        /// Names the visit.
        id: String,
    },
    /// A text of the client's model; the parameters of the request, as JSON.
    Sampling(String),
    /// The folders that the client works in.
    Roots,
}

/// What is needed before a call can go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRequired {
    /// The questions, by the keys of their answers.
    pub requests: Vec<(String, Question)>,
    /// What the extension wants to see again, with the answers.
    #[serde(with = "serde_bytes")]
    pub state: Option<Vec<u8>>,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The state that was handed out with the questions, opened.
    #[serde(with = "serde_bytes")]
    pub state: Option<Vec<u8>>,
    /// The answers, as JSON, by their keys.
    pub responses: Vec<(String, String)>,
}

/// The use of something that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// What it is.
    pub kind: Kind,
    /// Its name as callers see it; for a resource or a template the URI to be read.
    pub name: String,
    /// The version that was looked at; another one that is enabled meanwhile does not answer in its place.
    pub version: String,
    /// The arguments: of a tool as a JSON object, of a prompt as a JSON object of strings, else empty.
    pub arguments: String,
    /// What the client can be asked for.
    pub client: Client,
    /// Where the call goes on after questions.
    pub answers: Option<Answers>,
    /// Checks whatever is checked before the extension runs, and does not run it: what a person is asked to confirm can be done
    /// as far as anybody can tell.
    pub check_only: bool,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// A tool's result.
    Tool {
        /// What it says.
        content: Vec<Block>,
        /// The result for programs, as JSON.
        structured: Option<String>,
        /// Whether it says that it did not work.
        is_error: bool,
    },
    /// The documents of a resource.
    Documents(Vec<Document>),
    /// A prompt, filled in.
    Prompt {
        /// What it is for.
        description: Option<String>,
        /// What is said.
        messages: Vec<Message>,
    },
    /// Something is needed first.
    InputRequired(InputRequired),
    /// There is nothing of this name, or nothing any more, or the document does not exist.
    Missing,
    /// The arguments cannot be used: a JSON document in the form of the API's `validation_failed`.
    Invalid(String),
    /// The extension broke, ran into a limit, or is resting after it broke too often.
    Stopped(Stopped),
    /// Nothing stands in the way; the extension was not asked, because it was not to be.
    Checked,
}

/// Why an extension was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// For programs: `extension_limit`, `extension_trap`, `extension_unavailable` or `extension_invalid_answer`.
    pub code: String,
    /// For people, in one sentence that names the limit and its size; nothing of the extension's own words.
    pub message: String,
    /// The limit's setting below `extensions.limits`, if it is one.
    pub limit: Option<String>,
    /// Seconds to wait, while it rests.
    pub retry_after: Option<u32>,
}
