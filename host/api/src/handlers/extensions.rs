//! Extensions of workspaces.

use kobana_contract::operations::extensions::{
    AddExtension, DisableExtension, EnableExtension, Extension, ExtensionDescription, ExtensionSettings, GetExtension,
    GetExtensionSettings, GetExtensionVersion, ListExtensions, RemoveExtension, RollBackExtension,
    UpdateExtensionSettings,
};
use kobana_contract::{Data, Nothing, Page};
use kobana_store::Scope as _;
use kobana_store::rows::Extensions;
use uuid::Uuid;

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::extensions::{Added, By, Lifecycle};
use crate::gate::{AtWork, Chosen};
use crate::reply::Reply;

impl Context<AtWork> {
    fn extensions(&self) -> &Lifecycle {
        &self.shared.extensions
    }

    fn workspace(&self) -> Uuid {
        self.place.rows.0
    }

    /// The caller, here and now.
    fn by(&self) -> By {
        By { workspace: self.workspace(), person: Some(self.caller.person_id), now: self.now }
    }
}

impl Handle for ListExtensions {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<Extension>>, ApiError> {
        let rows = context.place.rows;
        let page = input.page.fetch::<Extensions>(context.store().reads(), rows.find::<Extensions>()).await?;
        Ok(Reply::ok(Page { data: context.extensions().show(rows, page.data).await?, meta: page.meta }))
    }
}

impl Handle for AddExtension {
    type Gate = Chosen;

    async fn handle(
        context: Context<AtWork>,
        input: Input<Self>,
    ) -> Result<Reply<Data<ExtensionDescription>>, ApiError> {
        let file = input.file.ok_or_else(|| ApiError::internal("the endpoint brought no file"))?;
        let Added { description, new } = context.extensions().add(context.by(), file).await?;
        let data = Data { data: description };
        Ok(if new { Reply::created(data) } else { Reply::ok(data) })
    }
}

impl Handle for GetExtensionSettings {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, _: Input<Self>) -> Result<Reply<Data<ExtensionSettings>>, ApiError> {
        Ok(Reply::ok(Data { data: context.extensions().settings(context.workspace()).await? }))
    }
}

impl Handle for UpdateExtensionSettings {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<ExtensionSettings>>, ApiError> {
        let data = match input.body.prefix {
            Some(prefix) => context.extensions().set_prefix(context.by(), prefix).await?,
            None => context.extensions().settings(context.workspace()).await?,
        };
        Ok(Reply::ok(Data { data }))
    }
}

impl Handle for GetExtension {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Extension>>, ApiError> {
        Ok(Reply::ok(Data { data: context.extensions().get(context.workspace(), &input.path.name).await? }))
    }
}

impl Handle for GetExtensionVersion {
    type Gate = Chosen;

    async fn handle(
        context: Context<AtWork>,
        input: Input<Self>,
    ) -> Result<Reply<Data<ExtensionDescription>>, ApiError> {
        let (name, version) = (&input.path.name, &input.path.version);
        Ok(Reply::ok(Data { data: context.extensions().describe(context.workspace(), name, version).await? }))
    }
}

impl Handle for EnableExtension {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Extension>>, ApiError> {
        let version = input.body.unwrap_or_default().version;
        let data = context.extensions().enable(context.by(), &input.path.name, version.as_deref()).await?;
        Ok(Reply::ok(Data { data }))
    }
}

impl Handle for DisableExtension {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Extension>>, ApiError> {
        Ok(Reply::ok(Data { data: context.extensions().disable(context.by(), &input.path.name).await? }))
    }
}

impl Handle for RollBackExtension {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Extension>>, ApiError> {
        Ok(Reply::ok(Data { data: context.extensions().roll_back(context.by(), &input.path.name).await? }))
    }
}

impl Handle for RemoveExtension {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Nothing>, ApiError> {
        let version = input.query.version.as_deref();
        context.extensions().remove(context.by(), &input.path.name, version).await?;
        Ok(Reply::no_content())
    }
}
