//! How persons sign in: by an address that nobody else has, and a password.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::Statement;
use uuid::Uuid;

use crate::text::fold;

pub(super) struct People;

impl MigrationName for People {
    fn name(&self) -> &'static str {
        "m0005_people"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for People {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        for statement in COLUMNS {
            connection.execute_unprepared(statement).await?;
        }
        let backend = connection.get_database_backend();
        let persons =
            connection.query_all_raw(Statement::from_string(backend, "SELECT id, email FROM persons")).await?;
        for person in persons {
            let (id, email): (Uuid, String) = (person.try_get("", "id")?, person.try_get("", "email")?);
            let update = Query::update()
                .table("persons")
                .value("email_folded", fold(&email))
                .and_where(Expr::col("id").eq(id))
                .take();
            connection.execute(&update).await?;
        }
        connection.execute_unprepared(UNIQUE).await.map(|_| ())
    }
}

/// No password means that nobody signs in with one.
const COLUMNS: [&str; 2] = [
    "ALTER TABLE persons ADD COLUMN email_folded text NOT NULL DEFAULT ''",
    "ALTER TABLE persons ADD COLUMN password_hash text",
];
/// An address is one person's, whatever its letter case, in all organizations: it is all that somebody signs in with.
const UNIQUE: &str = "CREATE UNIQUE INDEX persons_by_email ON persons (email_folded)";
