//! Who is calling.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::fields::ExternalId;
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Permission, Role, Scope, Spec, Timestamp, WorkspaceRule,
};

/// The caller.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Me {
    /// The person.
    pub person: Person,
    /// The organization that the credential is for.
    pub organization: Organization,
    /// The credential.
    pub credential: Credential,
    /// Workspaces in which the person is a member.
    pub workspaces: Vec<Reach>,
}

/// A person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Person {
    /// UUID.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// E-mail address.
    #[schemars(email)]
    pub email: String,
}

/// An organization.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Organization {
    /// UUID.
    pub id: Uuid,
    /// Name.
    pub name: String,
}

/// What the credential may be used for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Credential {
    /// As granted, without the read scopes that write scopes include.
    pub scopes: Vec<Scope>,
    /// When it ends; null if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A workspace in reach.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Reach {
    /// UUID.
    pub id: Uuid,
    /// Its name of the organization's own choosing.
    #[schemars(with = "ExternalId")]
    pub external_id: String,
    /// Label.
    pub label: String,
    /// The person's role in it.
    pub role: Role,
    /// The person's permissions in it.
    pub permissions: Vec<Permission>,
}

/// `GET /me`
pub struct GetMe;

impl Operation for GetMe {
    const SPEC: Spec = Spec {
        id: "get-me",
        method: Method::Get,
        path: "/me",
        tag: "Me",
        summary: "Shows who is signed in, with organization, granted scopes and the workspaces within reach.",
        description: Some(
            "Any valid credential may call it. The list holds only workspaces where the person is a member.",
        ),
        scope: None,
        permission: None,
        workspace: WorkspaceRule::None,
        tool: Ok("me_get"),
        title: "Who am I",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Me>;
}

pub(super) fn all() -> Vec<Described> {
    vec![Described::of::<GetMe>()]
}
