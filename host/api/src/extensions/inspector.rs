//! What looks into a component before anybody may use it.

use async_trait::async_trait;

/// Looks into components: compiles, links, asks what they are, and checks what they say. Nothing is written down.
///
/// The same bytes get the same answer; that is left to whoever implements it, as is how many are looked into at a time.
#[async_trait]
pub trait Inspector: std::fmt::Debug + Send + Sync {
    /// Looks into a component.
    ///
    /// # Errors
    /// [`NotInspected`] says what is wrong with it, or that it could not be looked into.
    async fn inspect(&self, component: Vec<u8>) -> Result<Inspected, NotInspected>;
}

/// What a component is. All of it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// Its name: 1 to 32 of `a-z 0-9 -`, beginning with a letter.
    pub name: String,
    /// Its semantic version (semver.org).
    pub version: String,
    /// The JSON of `kobana_wire::extension::Description`.
    pub description: String,
    /// What the protocol has made of it, for whoever lists it; it is kept as it is.
    pub definitions: String,
}

/// Why a component is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInspected {
    /// It is no extension, or a bad one.
    #[error("the component is refused")]
    Refused(Vec<Fault>),
    /// It could not be looked into for a reason that is not its own.
    #[error("the component could not be looked into: {cause}")]
    Unavailable {
        /// Seconds to wait.
        retry_after: u32,
        /// What happened, for the log.
        cause: String,
    },
}

/// Something that is wrong with a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: a path such as `tools.score.input_schema`, `imports` or `describe`.
    pub field: String,
    /// What is wrong, and what was expected instead.
    pub message: String,
}

impl Fault {
    /// A fault of this field.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}
