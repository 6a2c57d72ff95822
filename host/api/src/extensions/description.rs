//! What a version says of itself, as its row keeps it.

use kobana_contract::operations::extensions::{
    ExtensionDescription, ExtensionPrompt, ExtensionResource, ExtensionResourceTemplate, ExtensionTool,
    ExtensionVersion,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::ApiError;

/// The JSON of `kobana_wire::extension::Description`, as far as it is shown here.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Description {
    pub(super) name: String,
    title: Option<String>,
    description: Option<String>,
    scopes: Vec<String>,
    pub(super) tools: Vec<Tool>,
    pub(super) resources: Vec<ExtensionResource>,
    pub(super) resource_templates: Vec<ExtensionResourceTemplate>,
    pub(super) prompts: Vec<ExtensionPrompt>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    title: Option<String>,
    description: String,
    input_schema: String,
    output_schema: Option<String>,
    hints: Hints,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "four hints, as in protocol.md §9.2")]
struct Hints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

impl Description {
    /// Reads it.
    ///
    /// # Errors
    /// [`ApiError::Internal`]: it was checked before it was written.
    pub(super) fn read(text: &str) -> Result<Self, ApiError> {
        serde_json::from_str(text).map_err(ApiError::internal)
    }

    /// The same as the API shows it.
    ///
    /// # Errors
    /// [`ApiError::Internal`] where a schema is no JSON object.
    pub(super) fn show(self, version: ExtensionVersion, enabled: bool) -> Result<ExtensionDescription, ApiError> {
        Ok(ExtensionDescription {
            name: self.name,
            version,
            enabled,
            title: self.title,
            description: self.description,
            scopes: self.scopes,
            tools: self.tools.into_iter().map(Tool::show).collect::<Result<_, _>>()?,
            resources: self.resources,
            resource_templates: self.resource_templates,
            prompts: self.prompts,
        })
    }
}

impl Tool {
    fn show(self) -> Result<ExtensionTool, ApiError> {
        Ok(ExtensionTool {
            name: self.name,
            title: self.title,
            description: self.description,
            input_schema: schema(&self.input_schema)?,
            output_schema: self.output_schema.as_deref().map(schema).transpose()?,
            read_only: self.hints.read_only,
            destructive: self.hints.destructive,
            idempotent: self.hints.idempotent,
            open_world: self.hints.open_world,
        })
    }
}

fn schema(text: &str) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_str(text).map_err(ApiError::internal)
}
