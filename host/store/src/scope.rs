//! Tenant isolation and soft delete, each in one place.

use sea_orm::{
    ActiveModelBehavior, ActiveModelTrait, ActiveValue, ColumnTrait, DbErr, EntityTrait, IntoActiveModel, ModelTrait,
    QueryFilter, Select, UpdateMany, Value,
};
use uuid::Uuid;

use crate::page::Position;
use crate::store::Write;
use crate::text::fold;

/// The rows of a table.
pub type Row<T> = <<T as Table>::Entity as EntityTrait>::Model;

/// A table of rows that belong to a tenant.
pub trait Table: Send + Sync + 'static {
    /// What kind of tenant its rows belong to.
    type Owner: Scope;
    /// The table for SeaORM.
    type Entity: EntityTrait<
            Model: ModelTrait<Entity = Self::Entity> + IntoActiveModel<Self::Changes>,
            ActiveModel = Self::Changes,
            Column = Self::Column,
        >;
    /// A change of some columns.
    type Changes: ActiveModelTrait<Entity = Self::Entity> + ActiveModelBehavior + Send;
    /// Its columns.
    type Column: ColumnTrait;

    /// The UUID of a row.
    const ID: Self::Column;
    /// The UUID of its tenant.
    const OWNER: Self::Column;
    /// When it was deleted, in tables where rows are only marked as deleted.
    const DELETED: Option<Self::Column>;
    /// Its texts that are also kept folded, each with the column that holds it so.
    const FOLDED: &'static [(Self::Column, Self::Column)];
}

/// A table whose rows are listed, newest first.
pub trait Listed: Table {
    /// The time that lists are ordered by.
    const TIME: Self::Column;

    /// Where the row stands in a list.
    fn position(row: &Row<Self>) -> Position
    where
        Self: Sized;
}

/// A table whose rows have a name of the caller's own, unique among the live rows of a tenant.
pub trait Named: Table {
    /// That name.
    const EXTERNAL_ID: Self::Column;
}

/// A table whose rows are only marked as deleted.
pub trait SoftDelete: Table {
    /// When a row last changed.
    const UPDATED: Self::Column;

    /// What marks a row as deleted at this time.
    fn deletion(at: i64) -> Self::Changes;
}

/// The rows of one tenant that are not deleted. Everything that reads or writes rows of tenants goes through here.
pub trait Scope: Copy + Send + Sync + 'static {
    /// The tenant's UUID.
    fn tenant(self) -> Uuid;

    /// The live rows of the tenant.
    fn find<T: Table<Owner = Self>>(self) -> Select<T::Entity> {
        restrict::<T, _>(T::Entity::find(), self.tenant())
    }

    /// The live row of the tenant with this UUID.
    fn find_by_id<T: Table<Owner = Self>>(self, id: Uuid) -> Select<T::Entity> {
        self.find::<T>().filter(T::ID.eq(id))
    }

    /// The live row of the tenant with this name.
    fn find_by_name<T: Named<Owner = Self>>(self, name: &str) -> Select<T::Entity> {
        self.find::<T>().filter(T::EXTERNAL_ID.eq(name))
    }

    /// Inserts a row, which becomes the tenant's whatever its own column says.
    ///
    /// # Errors
    /// What the database answers, such as a unique value that is taken (see [`crate::fault`]).
    fn insert<T: Table<Owner = Self>>(self, tx: &Write, row: Row<T>) -> impl Future<Output = Result<(), DbErr>> + Send {
        let mut row = row.into_active_model();
        row.set(T::OWNER, self.tenant().into());
        let mut row = row.reset_all();
        fold_texts::<T>(&mut row);
        let statement = T::Entity::insert(row);
        async move { statement.exec_without_returning(tx).await.map(|_| ()) }
    }

    /// Changes a live row of the tenant, and answers whether there is one with this UUID.
    ///
    /// # Errors
    /// What the database answers, such as a unique value that is taken (see [`crate::fault`]).
    fn change<T: Table<Owner = Self>>(
        self,
        tx: &Write,
        id: Uuid,
        mut changes: T::Changes,
    ) -> impl Future<Output = Result<bool, DbErr>> + Send {
        // A row never moves to another tenant, and an update with nothing to set is no SQL.
        changes.not_set(T::OWNER);
        changes.not_set(T::ID);
        fold_texts::<T>(&mut changes);
        let nothing = !changes.is_changed();
        let update = restrict::<T, _>(T::Entity::update_many(), self.tenant()).filter(T::ID.eq(id)).set(changes);
        async move {
            if nothing {
                return Ok(true);
            }
            Ok(update.exec(tx).await?.rows_affected > 0)
        }
    }

    /// Marks a live row of the tenant as deleted, and answers whether there was one with this UUID.
    ///
    /// # Errors
    /// What the database answers.
    fn delete<T: SoftDelete<Owner = Self>>(
        self,
        tx: &Write,
        id: Uuid,
        at: i64,
    ) -> impl Future<Output = Result<bool, DbErr>> + Send {
        self.change::<T>(tx, id, T::deletion(at))
    }

    /// Marks all live rows of the tenant as deleted.
    ///
    /// # Errors
    /// What the database answers.
    fn delete_all<T: SoftDelete<Owner = Self>>(
        self,
        tx: &Write,
        at: i64,
    ) -> impl Future<Output = Result<(), DbErr>> + Send {
        let update = self.update_all::<T>().set(T::deletion(at));
        async move { update.exec(tx).await.map(|_| ()) }
    }

    /// An update of all live rows of the tenant, to be narrowed down by filters.
    fn update_all<T: Table<Owner = Self>>(self) -> UpdateMany<T::Entity> {
        restrict::<T, _>(T::Entity::update_many(), self.tenant())
    }
}

/// The one place where a query learns whose rows it may see and that deleted ones are none of them.
fn restrict<T: Table, Q: QueryFilter>(query: Q, tenant: Uuid) -> Q {
    let owned = query.filter(T::OWNER.eq(tenant));
    match T::DELETED {
        Some(column) => owned.filter(column.is_null()),
        None => owned,
    }
}

/// The one place where texts are folded on their way into the database, so that no writer can forget to.
fn fold_texts<T: Table>(changes: &mut T::Changes) {
    for (text, folded) in T::FOLDED {
        match changes.get(*text) {
            ActiveValue::Set(Value::String(Some(text))) => changes.set(*folded, fold(&text).into()),
            ActiveValue::Set(null) => changes.set(*folded, null),
            ActiveValue::Unchanged(_) | ActiveValue::NotSet => changes.not_set(*folded),
        }
    }
}

/// The rows of one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InWorkspace(pub Uuid);

impl Scope for InWorkspace {
    fn tenant(self) -> Uuid {
        self.0
    }
}

/// The rows of one organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InOrganization(pub Uuid);

impl Scope for InOrganization {
    fn tenant(self) -> Uuid {
        self.0
    }
}
