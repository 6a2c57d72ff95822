//! Which operation a method and a path mean: for HTTP as a router, for this process as a table. Both lead to the same endpoints.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use jsonschema::ValidationError;
use kobana_contract::{Caller, Method};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::context::Shared;
use crate::endpoint::{Asked, Endpoint, Handle, Purpose, Serve};
use crate::error::ApiError;

/// The operations of the contract, mounted one by one.
pub(crate) struct Operations {
    shared: Arc<Shared>,
    /// For HTTP.
    pub(crate) router: Router,
    /// For this process.
    pub(crate) table: Table,
}

impl Operations {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, router: Router::new(), table: Table::default() }
    }

    /// Adds an operation under the method and the path that the contract says.
    ///
    /// # Errors
    /// When a schema of the contract is no JSON Schema.
    pub(crate) fn mount<O: Handle>(mut self) -> Result<Self, ValidationError<'static>> {
        let endpoint: Arc<dyn Serve> = Arc::new(Endpoint::<O>::new(Arc::clone(&self.shared))?);
        self.table.add(O::SPEC.method, O::SPEC.path, Arc::clone(&endpoint));
        let serve = move |request: Request| {
            let endpoint = Arc::clone(&endpoint);
            async move { serve(endpoint.as_ref(), request).await.unwrap_or_else(ApiError::into_response) }
        };
        self.router = self.router.route(O::SPEC.path, on(filter(O::SPEC.method), serve));
        Ok(self)
    }
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

/// Answers what came over HTTP. A layer in front of the router has put the caller in.
async fn serve(endpoint: &dyn Serve, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Arc<Caller>>().cloned().ok_or_else(|| {
        ApiError::internal("the request came without a caller: a layer in front of the API is missing")
    })?;
    let path = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
    let path = path.map(|path| path.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect());
    let query = parts.uri.query().unwrap_or_default();
    let asked = Asked { caller, path, query, headers: &parts.headers, body, purpose: Purpose::Act };
    endpoint.serve(asked).await.map(Response::from)
}

/// An operation that was found.
pub(crate) struct Found<'a> {
    pub(crate) endpoint: &'a dyn Serve,
    /// The variables of the path, decoded; none if one of them is no UTF-8, and so names nothing.
    pub(crate) path: Option<Map<String, Value>>,
}

/// Operations by path and method. Paths mean here what they mean to axum's router, which is made of the same tree.
#[derive(Default)]
pub(crate) struct Table {
    paths: matchit::Router<usize>,
    methods: Vec<Vec<(Method, Arc<dyn Serve>)>>,
}

impl Table {
    /// A path that cannot be one has made the router panic before.
    fn add(&mut self, method: Method, path: &'static str, endpoint: Arc<dyn Serve>) {
        let known = self.paths.insert(path, self.methods.len()).is_err();
        if !known {
            self.methods.push(Vec::new());
        }
        let place = self.paths.at(path).ok().and_then(|found| self.methods.get_mut(*found.value));
        if let Some(methods) = place {
            methods.push((method, endpoint));
        }
    }

    /// What a method and a path mean.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] and [`ApiError::MethodNotAllowed`].
    pub(crate) fn find(&self, method: Method, path: &str) -> Result<Found<'_>, ApiError> {
        let found = self.paths.at(path).map_err(|_| ApiError::NotFound)?;
        let methods = self.methods.get(*found.value).ok_or(ApiError::NotFound)?;
        let (_, endpoint) = methods.iter().find(|(known, _)| *known == method).ok_or(ApiError::MethodNotAllowed)?;
        let decoded = |(name, value): (&str, &str)| {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            Some((name.to_owned(), Value::from(value)))
        };
        Ok(Found { endpoint: endpoint.as_ref(), path: found.params.iter().map(decoded).collect() })
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("paths", &self.methods.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kobana_contract::operations;
    use kobana_store::{Location, Store};

    use super::*;
    use crate::{Api, Settings};

    async fn api() -> Api {
        let store = Store::open(Location::Memory).await.unwrap();
        Api::new(store, Settings { inbox_domain: "example.com".into() }).await.unwrap()
    }

    #[tokio::test]
    async fn every_operation_is_found_by_its_path_with_its_variables() {
        let table = api().await.table();
        for operation in operations::all() {
            let path = operation.spec.path.replace("{id}", "a%2Fb").replace('{', "%7B").replace('}', "%7D");
            let Ok(Found { path: variables, .. }) = table.find(operation.spec.method, &path) else { panic!("{path}") };
            let id = variables.unwrap().get("id").cloned();
            assert_eq!(id.is_some(), operation.spec.path.contains("{id}"), "{path}");
            assert!(id.is_none_or(|id| id == "a/b"), "{path}");
        }
    }

    #[tokio::test]
    async fn nothing_else_is_found() {
        let table = api().await.table();
        let refused = |method, path: &str| table.find(method, path).err().map(|error| error.status().as_u16());
        for path in ["", "/", "/nope", "/me/", "//me", "/me/x", "/inboxes/a/b", "/inboxes/", "/%6De"] {
            assert_eq!(refused(Method::Get, path), Some(404), "{path}");
        }
        assert_eq!(refused(Method::Delete, "/me"), Some(405));
        assert_eq!(refused(Method::Patch, "/inboxes"), Some(405));
        assert_eq!(table.find(Method::Get, "/inboxes/%FF").ok().unwrap().path, None);
    }
}
