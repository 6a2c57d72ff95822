//! Extensions: components of WebAssembly that a workspace brings, with tools, resources and prompts of its own.
//!
//! None of these operations is a tool: what an assistant can call is not for the assistant to decide.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, PageQuery, Permission, Scope, Spec, TakenFile, Timestamp,
    WorkspaceRule,
};

/// The media type of a component.
pub const COMPONENT: &str = "application/wasm";
/// The most bytes of a component.
pub const LARGEST_COMPONENT: u64 = 64 * 1024 * 1024;
/// The extension that cannot be, since its path is that of the settings.
pub const RESERVED: &str = "settings";

const TAG: &str = "Extensions";
const NO_TOOL: Result<&str, &str> = Err("What an assistant can call is not for the assistant to decide.");

/// An extension of a workspace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Extension {
    /// UUID.
    pub id: Uuid,
    /// UUID of its workspace.
    pub workspace_id: Uuid,
    /// The name that it gives itself, unique in the workspace.
    pub name: String,
    /// The semantic version that is enabled; null while none is.
    pub enabled_version: Option<String>,
    /// The version that a rollback would enable: the one that was enabled last before the present one. Null where there is none.
    pub rollback_version: Option<String>,
    /// Its versions, in the order in which they were added.
    pub versions: Vec<ExtensionVersion>,
    /// When its first version was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A version of an extension. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExtensionVersion {
    /// The semantic version that it gives itself, unique in the extension.
    pub version: String,
    /// SHA-256 of the component, in hexadecimal.
    pub digest: String,
    /// Bytes of the component.
    pub size: i64,
    /// UUID of the person who added it; null where it was added on the command line.
    pub created_by: Option<Uuid>,
    /// When it was added.
    pub created_at: Timestamp,
}

/// What a version of an extension says that it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExtensionDescription {
    /// The extension's name.
    pub name: String,
    /// The version.
    #[serde(flatten)]
    pub version: ExtensionVersion,
    /// Whether it is the one that is enabled.
    pub enabled: bool,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The scopes that its calls of this API need at most.
    pub scopes: Vec<String>,
    /// Its tools.
    pub tools: Vec<ExtensionTool>,
    /// Its documents at fixed URIs.
    pub resources: Vec<ExtensionResource>,
    /// Its families of documents.
    pub resource_templates: Vec<ExtensionResourceTemplate>,
    /// Its prompts.
    pub prompts: Vec<ExtensionPrompt>,
}

/// A tool of an extension.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExtensionTool {
    /// Its name in the extension; callers see ext.EXTENSION.NAME, where the workspace has prefixes.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// JSON Schema of its structured result.
    pub output_schema: Option<Map<String, Value>>,
    /// Whether it says that it only reads. It can do no more then; every other one is confirmed before it runs.
    pub read_only: bool,
    /// Whether it says that it may delete, send out or overwrite.
    pub destructive: bool,
    /// Whether it says that the same call again has no further effect.
    pub idempotent: bool,
    /// Whether it says that what it tells comes from outside of the workspace.
    pub open_world: bool,
}

/// A document at a fixed URI.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionResource {
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionResourceTemplate {
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

/// A prompt of an extension.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionPrompt {
    /// Its name in the extension; callers see ext.EXTENSION.NAME, where the workspace has prefixes.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its arguments.
    pub arguments: Vec<ExtensionPromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ExtensionPromptArgument {
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

/// What holds for all extensions of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExtensionSettings {
    /// Whether callers see tools and prompts as ext.EXTENSION.NAME, so that they never meet another one of the same name.
    pub prefix: bool,
}

/// What changes the settings; only the members sent change.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub struct ExtensionSettingsUpdate {
    /// Whether names carry the prefix. Without it a name that another one has, built in or of an extension, is refused.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub prefix: Option<bool>,
}

/// Which version is to be enabled.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ExtensionEnable {
    /// Semantic version or digest; the version that was added last, if left out.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 256))]
    pub version: Option<String>,
}

/// Which version is meant; all of them if none is named.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ExtensionVersionQuery {
    /// Only this version, by semantic version or digest.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 256))]
    pub version: Option<String>,
}

/// The path variable of extensions.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ByExtension {
    /// The extension's name.
    pub name: String,
}

/// The path variables of versions of extensions.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ByExtensionVersion {
    /// The extension's name.
    pub name: String,
    /// Semantic version or digest.
    pub version: String,
}

/// What all of these operations have in common.
const fn spec(
    id: &'static str,
    method: Method,
    path: &'static str,
    title: &'static str,
    summary: &'static str,
) -> Spec {
    let reads = matches!(method, Method::Get);
    Spec {
        id,
        method,
        path,
        tag: TAG,
        summary,
        description: None,
        scope: Some(if reads { Scope::Workspaces } else { Scope::WorkspacesWrite }),
        permission: Some(Permission::ExtensionsManage),
        workspace: WorkspaceRule::One,
        tool: NO_TOOL,
        title,
        hints: if reads { Hints::READ } else { Hints::UPDATE },
        success: &[200],
    }
}

/// `GET /extensions`
pub struct ListExtensions;

impl Operation for ListExtensions {
    const SPEC: Spec = spec(
        "list-extensions",
        Method::Get,
        "/extensions",
        "List extensions",
        "Lists the extensions of the workspace with their versions.",
    );
    type Path = Nothing;
    type Query = PageQuery;
    type Body = Nothing;
    type Reply = Page<Extension>;
}

/// `POST /extensions`
pub struct AddExtension;

impl Operation for AddExtension {
    const SPEC: Spec = Spec {
        description: Some(
            "The component is compiled, asked what it is, and checked; what is wrong with it is a 400 that names it. The \
             same component again answers the version that is there (200). A component of the same version with other \
             bytes is a conflict.",
        ),
        hints: Hints::CREATE,
        success: &[201, 200],
        ..spec(
            "add-extension",
            Method::Post,
            "/extensions",
            "Add extension",
            "Adds a version of an extension, which is not enabled by that.",
        )
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<ExtensionDescription>;
    const TAKES: Option<TakenFile> = Some(TakenFile { media_type: COMPONENT, max_bytes: LARGEST_COMPONENT });
}

/// `GET /extensions/settings`
pub struct GetExtensionSettings;

impl Operation for GetExtensionSettings {
    const SPEC: Spec = spec(
        "get-extension-settings",
        Method::Get,
        "/extensions/settings",
        "Get extension settings",
        "Reads what holds for all extensions of the workspace.",
    );
    type Path = Nothing;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<ExtensionSettings>;
}

/// `PATCH /extensions/settings`
pub struct UpdateExtensionSettings;

impl Operation for UpdateExtensionSettings {
    const SPEC: Spec = spec(
        "update-extension-settings",
        Method::Patch,
        "/extensions/settings",
        "Update extension settings",
        "Changes what holds for all extensions of the workspace.",
    );
    type Path = Nothing;
    type Query = Nothing;
    type Body = ExtensionSettingsUpdate;
    type Reply = Data<ExtensionSettings>;
}

/// `GET /extensions/{name}`
pub struct GetExtension;

impl Operation for GetExtension {
    const SPEC: Spec = spec(
        "get-extension",
        Method::Get,
        "/extensions/{name}",
        "Get extension",
        "Reads one extension with its versions.",
    );
    type Path = ByExtension;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Extension>;
}

/// `GET /extensions/{name}/versions/{version}`
pub struct GetExtensionVersion;

impl Operation for GetExtensionVersion {
    const SPEC: Spec = spec(
        "get-extension-version",
        Method::Get,
        "/extensions/{name}/versions/{version}",
        "Get extension version",
        "Reads what a version of an extension says that it is.",
    );
    type Path = ByExtensionVersion;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<ExtensionDescription>;
}

/// `POST /extensions/{name}/enable`
pub struct EnableExtension;

impl Operation for EnableExtension {
    const SPEC: Spec = Spec {
        description: Some(
            "Callers see it from their next request on, and calls under way finish on the version they began with. A \
             document, or without prefixes a tool or a prompt, that another one is called like is a conflict.",
        ),
        ..spec(
            "enable-extension",
            Method::Post,
            "/extensions/{name}/enable",
            "Enable extension",
            "Enables a version of an extension in place of the one that was.",
        )
    };
    type Path = ByExtension;
    type Query = Nothing;
    type Body = Option<ExtensionEnable>;
    type Reply = Data<Extension>;
}

/// `POST /extensions/{name}/disable`
pub struct DisableExtension;

impl Operation for DisableExtension {
    const SPEC: Spec = spec(
        "disable-extension",
        Method::Post,
        "/extensions/{name}/disable",
        "Disable extension",
        "Takes an extension away from callers; its versions stay.",
    );
    type Path = ByExtension;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Extension>;
}

/// `POST /extensions/{name}/rollback`
pub struct RollBackExtension;

impl Operation for RollBackExtension {
    const SPEC: Spec = spec(
        "roll-back-extension",
        Method::Post,
        "/extensions/{name}/rollback",
        "Roll back extension",
        "Enables the version that was enabled last before the present one.",
    );
    type Path = ByExtension;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Extension>;
}

/// `DELETE /extensions/{name}`
pub struct RemoveExtension;

impl Operation for RemoveExtension {
    const SPEC: Spec = Spec {
        description: Some("What is enabled is not removed; disable it first."),
        hints: Hints::REMOVE,
        success: &[204],
        ..spec(
            "remove-extension",
            Method::Delete,
            "/extensions/{name}",
            "Remove extension",
            "Removes an extension with all its versions, or one of its versions.",
        )
    };
    type Path = ByExtension;
    type Query = ExtensionVersionQuery;
    type Body = Nothing;
    type Reply = Nothing;
}

pub(super) fn all() -> Vec<Described> {
    vec![
        Described::of::<ListExtensions>(),
        Described::of::<AddExtension>(),
        Described::of::<GetExtensionSettings>(),
        Described::of::<UpdateExtensionSettings>(),
        Described::of::<GetExtension>(),
        Described::of::<GetExtensionVersion>(),
        Described::of::<EnableExtension>(),
        Described::of::<DisableExtension>(),
        Described::of::<RollBackExtension>(),
        Described::of::<RemoveExtension>(),
    ]
}
