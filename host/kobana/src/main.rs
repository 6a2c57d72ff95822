//! `kobana`: the server.

mod app;
mod banner;
mod cli;
mod failure;
mod gateway;
mod listener;
mod log;
mod rest;
mod serve;
mod settings;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let outcome = match command {
        Command::Serve(options) => serve::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("kobana: {failure}");
            ExitCode::from(2)
        }
    }
}
