//! The schema, step by step. A migration that was released is never changed; the next one is added.

mod authorization;
mod confirmations;
mod extensions;
mod initial;
mod jobs;
mod people;
mod suggestions;
mod tokens;

use sea_orm_migration::{MigrationTrait, MigratorTrait, async_trait};

pub(crate) struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(initial::Initial),
            Box::new(confirmations::Confirmations),
            Box::new(jobs::Jobs),
            Box::new(suggestions::Suggestions),
            Box::new(people::People),
            Box::new(authorization::Authorization),
            Box::new(tokens::Tokens),
            Box::new(extensions::Extensions),
        ]
    }
}
