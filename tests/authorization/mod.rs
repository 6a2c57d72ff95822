//! Signing in: the embedded authorization server as clients and browsers meet it.

mod browser;
mod client;
mod codes;
mod consent;
mod discovery;
mod documents;
mod installation;
mod login;
mod pages;
mod refresh;
mod registration;
mod requests;
