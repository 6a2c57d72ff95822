//! Who is calling.

use kobana_contract::operations::me::{Credential, GetMe, Me, Organization, Person, Reach as InReach};
use kobana_contract::{Caller, Data, Membership};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtHome, Reach};
use crate::reply::Reply;

impl Handle for GetMe {
    type Gate = Reach;

    async fn handle(context: Context<AtHome>, _: Input<Self>) -> Result<Reply<Data<Me>>, ApiError> {
        Ok(Reply::ok(context.caller.as_ref()).data(show))
    }
}

fn show(caller: &Caller) -> Me {
    Me {
        person: Person { id: caller.person_id, name: caller.person_name.clone(), email: caller.person_email.clone() },
        organization: Organization { id: caller.organization_id, name: caller.organization_name.clone() },
        credential: Credential { scopes: caller.scopes.clone(), expires_at: caller.expires_at },
        workspaces: caller.memberships.iter().map(reach).collect(),
    }
}

fn reach(member: &Membership) -> InReach {
    InReach {
        id: member.workspace_id,
        external_id: member.external_id.clone(),
        label: member.label.clone(),
        role: member.role,
        permissions: member.role.permissions().to_vec(),
    }
}
