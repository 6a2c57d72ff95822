//! `kobana`: the server.

mod access;
mod admin;
mod app;
mod banner;
mod cli;
mod component;
mod edge;
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
mod webhooks;
mod worker;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let outcome = match command {
        Command::Serve(options) => serve::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Admin(options) => admin::run(&options),
        Command::Token(options) => admin::run_token(&options),
        Command::Ingest(options) => ingest::run(&options),
        Command::Edge(command) => edge::run(&command),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("kobana: {failure}");
            ExitCode::from(2)
        }
    }
}
