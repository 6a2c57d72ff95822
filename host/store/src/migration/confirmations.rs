//! Confirmations that were used.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob};

pub(super) struct Confirmations;

impl MigrationName for Confirmations {
    fn name(&self) -> &'static str {
        "m0002_confirmations"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Confirmations {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("spent_confirmations")
            .col(blob("nonce").primary_key())
            .col(big_integer("expires_at"))
            .take();
        manager.create_table(table).await?;
        let index = Index::create()
            .name("spent_confirmations_by_expires_at")
            .table("spent_confirmations")
            .col("expires_at")
            .take();
        manager.create_index(index).await
    }
}
