//! The official Rust SDK with one tool, which answers with the text that it was started with. Stateless, answers in JSON.
//!
//! `peer-rmcp PORT ROWS`

use std::error::Error;
use std::sync::Arc;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, schemars, tool, tool_handler, tool_router};
use tokio::net::TcpListener;

/// What the tool takes, and leaves alone.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// Anything.
    #[serde(default)]
    payload: Option<String>,
}

#[derive(Clone)]
struct Peer {
    rows: Arc<str>,
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Peer {
    #[tool(description = "Ten rows")]
    fn rows(&self, Parameters(Arguments { payload }): Parameters<Arguments>) -> String {
        drop(payload);
        self.rows.to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(port), Some(rows)) = (arguments.next(), arguments.next()) else {
        return Err("peer-rmcp PORT ROWS".into());
    };
    // One router for all requests: making it anew for each would be none of the SDK's doing.
    let peer = Peer { rows: std::fs::read_to_string(rows)?.into(), tool_router: Peer::tool_router() };
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(peer.clone()), Arc::new(NeverSessionManager::default()), config);
    let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
