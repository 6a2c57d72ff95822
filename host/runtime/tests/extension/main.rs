//! Extensions in their sandbox: good ones and hostile ones.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may fail loudly"
)]

mod calls;
mod describe;
mod hostile;
mod neighbours;
mod support;
mod unfit;
