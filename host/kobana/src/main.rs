//! `kobana`: the server.

mod access;
mod admin;
mod allocator;
mod app;
mod banner;
mod cli;
mod component;
mod edge;
mod extension;
mod extensions;
mod failure;
mod gateway;
mod ingest;
mod issuer;
mod listener;
mod log;
mod login;
mod rest;
mod serve;
mod settings;
mod threads;
mod webhooks;
mod worker;

fn main() -> std::process::ExitCode {
    cli::main()
}
