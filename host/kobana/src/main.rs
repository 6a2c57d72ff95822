//! `kobana`: the server.

mod app;
mod banner;
mod cli;
mod failure;
mod gateway;
mod ingest;
mod listener;
mod log;
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
        Command::Ingest(options) => ingest::run(&options),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("kobana: {failure}");
            ExitCode::from(2)
        }
    }
}
