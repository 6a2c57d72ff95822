//! The runtime with real components: one that does everything wrong, and the gateway.

mod flow;
mod gateway;
mod hostile;
mod start;
mod support;
