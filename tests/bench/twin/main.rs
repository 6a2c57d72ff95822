//! The server's native twin: every module of `kobana` but one. Where `kobana` has the component in the runtime, the twin
//! calls the protocol's crate itself. What the two differ in is what the sandbox costs.

#[path = "../../../host/kobana/src/access.rs"]
mod access;
#[path = "../../../host/kobana/src/admin/mod.rs"]
mod admin;
#[path = "../../../host/kobana/src/allocator.rs"]
mod allocator;
#[path = "../../../host/kobana/src/app.rs"]
mod app;
#[path = "../../../host/kobana/src/banner.rs"]
mod banner;
#[path = "../../../host/kobana/src/cli.rs"]
mod cli;
mod component;
#[path = "../../../host/kobana/src/edge/mod.rs"]
mod edge;
#[path = "../../../host/kobana/src/extension/mod.rs"]
mod extension;
#[path = "../../../host/kobana/src/extensions.rs"]
mod extensions;
#[path = "../../../host/kobana/src/failure.rs"]
mod failure;
#[path = "../../../host/kobana/src/gateway.rs"]
mod gateway;
#[path = "../../../host/kobana/src/ingest.rs"]
mod ingest;
#[path = "../../../host/kobana/src/issuer.rs"]
mod issuer;
#[path = "../../../host/kobana/src/listener.rs"]
mod listener;
#[path = "../../../host/kobana/src/log.rs"]
mod log;
#[path = "../../../host/kobana/src/login.rs"]
mod login;
mod native;
#[path = "../../../host/kobana/src/rest.rs"]
mod rest;
#[path = "../../../host/kobana/src/serve.rs"]
mod serve;
#[path = "../../../host/kobana/src/settings.rs"]
mod settings;
#[path = "../../../host/kobana/src/threads.rs"]
mod threads;
#[path = "../../../host/kobana/src/webhooks.rs"]
mod webhooks;
#[path = "../../../host/kobana/src/worker.rs"]
mod worker;

fn main() -> std::process::ExitCode {
    cli::main()
}
