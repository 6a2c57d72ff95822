//! What persons granted to OAuth clients, and the codes and refresh tokens that stand on it.
//!
//! A grant is the family of its tokens: whatever shows that one of them was stolen revokes the grant, and with it every
//! token, since access tokens count only while their grant [lives](live_until). Of codes and tokens only hashes are kept.

use kobana_contract::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, Set, Unchanged,
};
use uuid::Uuid;

use crate::entity::oauth_codes::{self as codes, Model as Code};
use crate::entity::oauth_grants::{self as table, ActiveModel, Column, Entity};
use crate::entity::oauth_refresh_tokens::{self as refresh, Model as RefreshToken};
use crate::entity::{oauth_clients, organizations, persons};
use crate::{Store, Write};

pub use crate::entity::oauth_codes::Model as CodeRow;
pub use crate::entity::oauth_grants::Model as GrantRow;

/// How long what has ended stays, in seconds: for a week it can be looked into.
const KEPT: i64 = 7 * 24 * 60 * 60;

/// When the grant ends; none where it is unknown or revoked. Until then its tokens count.
///
/// # Errors
/// What the database answers.
pub async fn live_until(store: &Store, id: Uuid) -> Result<Option<Timestamp>, DbErr> {
    let found = Entity::find_by_id(id).one(store.reads()).await?;
    Ok(found.filter(|grant| grant.revoked_at.is_none()).map(|grant| Timestamp(grant.expires_at)))
}

fn live(grant: &GrantRow, now: Timestamp) -> bool {
    grant.revoked_at.is_none() && grant.expires_at > now.0
}

/// The live grants of this client by this person.
///
/// # Errors
/// What the database answers.
pub async fn of_client(store: &Store, person: Uuid, client: &str, now: Timestamp) -> Result<Vec<GrantRow>, DbErr> {
    let grants = Entity::find()
        .filter(Column::PersonId.eq(person))
        .filter(Column::ClientId.eq(client))
        .filter(Column::ExpiresAt.gt(now.0))
        .filter(Column::RevokedAt.is_null());
    grants.all(store.reads()).await
}

/// Writes down what a person granted, and the code with which the client fetches its tokens. The grant ends with the code
/// unless that is redeemed. What ended long ago is cleared away.
///
/// # Errors
/// What the database answers.
pub async fn open(store: &Store, grant: GrantRow, code: CodeRow, now: Timestamp) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    let over = now.plus_seconds(-KEPT).0;
    Entity::delete_many().filter(Column::ExpiresAt.lt(over)).exec(&tx).await?;
    refresh::Entity::delete_many().filter(refresh::Column::ExpiresAt.lt(over)).exec(&tx).await?;
    let used = Expr::value(now.0);
    let client = oauth_clients::Entity::update_many().col_expr(oauth_clients::Column::UsedAt, used);
    client.filter(oauth_clients::Column::Id.eq(grant.client_id.as_str())).exec(&tx).await?;
    Entity::insert(grant.into_active_model()).exec_without_returning(&tx).await?;
    codes::Entity::insert(code.into_active_model()).exec_without_returning(&tx).await?;
    tx.commit().await
}

/// When what is issued now ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// An access token, and with it a grant that has no refresh tokens.
    pub access: Timestamp,
    /// A grant that has refresh tokens, and every token on it.
    pub grant: Timestamp,
    /// The refresh token, if that is not later.
    pub refresh: Timestamp,
}

/// What became of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redeemed {
    /// Nobody issued it.
    Unknown,
    /// It was redeemed before, came too late, or with the wrong proof: the grant is revoked.
    Refused,
    /// Tokens may be issued on this grant.
    Granted(GrantRow),
}

/// Redeems a code, once: `proves` says whether whoever brings it is the client that it was issued to. Whatever is wrong, the
/// code is spent, and the grant and its tokens are revoked (RFC 6749 §4.1.2).
///
/// # Errors
/// What the database answers; the code is not spent then.
pub async fn redeem(
    store: &Store,
    hash: &[u8],
    proves: impl FnOnce(&GrantRow, &CodeRow) -> bool + Send,
    refresh: &[u8],
    ends: Ends,
    now: Timestamp,
) -> Result<Redeemed, DbErr> {
    let tx = store.begin().await?;
    let Some(code) = codes::Entity::find_by_id(hash.to_vec()).one(&tx).await? else { return Ok(Redeemed::Unknown) };
    let Some(grant) = Entity::find_by_id(code.grant_id).one(&tx).await? else { return Ok(Redeemed::Unknown) };
    let fresh = code.redeemed_at.is_none() && code.expires_at > now.0 && live(&grant, now);
    let good = fresh && proves(&grant, &code) && is_active(&tx, grant.person_id).await?;
    if code.redeemed_at.is_none() {
        spend(&tx, code, now).await?;
    }
    if !good {
        revoke(&tx, grant.id, now).await?;
        tx.commit().await?;
        return Ok(Redeemed::Refused);
    }
    let change = ActiveModel {
        id: Unchanged(grant.id),
        used_at: Set(now.0),
        expires_at: Set(if grant.refreshes { ends.grant.0 } else { ends.access.0 }),
        ..Default::default()
    };
    let grant = change.update(&tx).await?;
    if grant.refreshes {
        issue(&tx, &grant, refresh, ends.refresh, now).await?;
    }
    tx.commit().await?;
    Ok(Redeemed::Granted(grant))
}

async fn spend(tx: &Write, code: Code, now: Timestamp) -> Result<(), DbErr> {
    let change = codes::ActiveModel { hash: Unchanged(code.hash), redeemed_at: Set(Some(now.0)), ..Default::default() };
    change.update(tx).await.map(|_| ())
}

async fn issue(tx: &Write, grant: &GrantRow, hash: &[u8], end: Timestamp, now: Timestamp) -> Result<(), DbErr> {
    let token = RefreshToken {
        hash: hash.to_vec(),
        grant_id: grant.id,
        created_at: now.0,
        expires_at: end.0.min(grant.expires_at),
        replaced_at: None,
    };
    refresh::Entity::insert(token.into_active_model()).exec_without_returning(tx).await.map(|_| ())
}

/// What became of a refresh token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rotated<E> {
    /// Nobody issued it, it has ended, its grant has, or its person may no longer sign in.
    Unusable,
    /// It had been replaced: somebody has a copy. The grant is revoked.
    Reused,
    /// What was asked for is refused; the token is as good as before.
    Rejected(E),
    /// Tokens may be issued on this grant, and the successor is the client's.
    Granted(GrantRow),
}

/// A refresh token and what is to come after it.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<'a> {
    /// Hash of the token.
    pub hash: &'a [u8],
    /// Hash of its successor, which must be the same each time that the token is the same.
    pub successor: &'a [u8],
    /// When the successor expires, if the grant lasts so long.
    pub expires_at: Timestamp,
    /// Seconds in which a token counts once more after it was replaced, as long as its successor was not used: the answer may have
    /// been lost on its way.
    pub grace: i64,
}

/// Replaces a refresh token by its successor. `accept` says whether the grant allows what is asked for.
///
/// # Errors
/// What the database answers; nothing is replaced then.
pub async fn rotate<E: Send>(
    store: &Store,
    rotation: Rotation<'_>,
    accept: impl FnOnce(&GrantRow) -> Result<(), E> + Send,
    now: Timestamp,
) -> Result<Rotated<E>, DbErr> {
    let tx = store.begin().await?;
    let Some((token, grant)) = find_refresh(&tx, rotation.hash).await? else { return Ok(Rotated::Unusable) };
    if !live(&grant, now) || token.expires_at <= now.0 || !is_active(&tx, grant.person_id).await? {
        return Ok(Rotated::Unusable);
    }
    if let Some(replaced_at) = token.replaced_at
        && !(now.0 <= Timestamp(replaced_at).plus_seconds(rotation.grace).0
            && is_unused(&tx, rotation.successor).await?)
    {
        revoke(&tx, grant.id, now).await?;
        tx.commit().await?;
        return Ok(Rotated::Reused);
    }
    if let Err(refusal) = accept(&grant) {
        return Ok(Rotated::Rejected(refusal));
    }
    if token.replaced_at.is_none() {
        issue(&tx, &grant, rotation.successor, rotation.expires_at, now).await?;
        let replaced =
            refresh::ActiveModel { hash: Unchanged(token.hash), replaced_at: Set(Some(now.0)), ..Default::default() };
        replaced.update(&tx).await?;
    }
    let change = ActiveModel { id: Unchanged(grant.id), used_at: Set(now.0), ..Default::default() };
    let grant = change.update(&tx).await?;
    tx.commit().await?;
    Ok(Rotated::Granted(grant))
}

async fn find_refresh(
    connection: &impl ConnectionTrait,
    hash: &[u8],
) -> Result<Option<(RefreshToken, GrantRow)>, DbErr> {
    let Some(token) = refresh::Entity::find_by_id(hash.to_vec()).one(connection).await? else { return Ok(None) };
    let grant = Entity::find_by_id(token.grant_id).one(connection).await?;
    Ok(grant.map(|grant| (token, grant)))
}

async fn is_unused(tx: &Write, hash: &[u8]) -> Result<bool, DbErr> {
    let token = refresh::Entity::find_by_id(hash.to_vec()).one(tx).await?;
    Ok(token.is_some_and(|token| token.replaced_at.is_none()))
}

async fn is_active(tx: &Write, person_id: Uuid) -> Result<bool, DbErr> {
    let Some(person) = persons::Entity::find_by_id(person_id).one(tx).await? else { return Ok(false) };
    let organization = organizations::Entity::find_by_id(person.organization_id).one(tx).await?;
    Ok(person.active && organization.is_some_and(|organization| organization.active))
}

/// The grant with this UUID.
///
/// # Errors
/// What the database answers.
pub async fn find(store: &Store, id: Uuid) -> Result<Option<GrantRow>, DbErr> {
    Entity::find_by_id(id).one(store.reads()).await
}

/// The grant that a refresh token stands on.
///
/// # Errors
/// What the database answers.
pub async fn of_refresh_token(store: &Store, hash: &[u8]) -> Result<Option<GrantRow>, DbErr> {
    Ok(find_refresh(store.reads(), hash).await?.map(|(_, grant)| grant))
}

/// Revokes a grant, and with it every token on it.
///
/// # Errors
/// What the database answers.
pub async fn revoke(tx: &Write, id: Uuid, now: Timestamp) -> Result<(), DbErr> {
    end(tx, Column::Id.eq(id), now).await
}

/// Revokes every grant of a person, such as when their password changes.
///
/// # Errors
/// What the database answers.
pub async fn revoke_all(tx: &Write, person_id: Uuid, now: Timestamp) -> Result<(), DbErr> {
    end(tx, Column::PersonId.eq(person_id), now).await
}

async fn end(tx: &Write, which: sea_orm::sea_query::SimpleExpr, now: Timestamp) -> Result<(), DbErr> {
    let standing = table::Entity::update_many().filter(which).filter(Column::RevokedAt.is_null());
    standing.col_expr(Column::RevokedAt, Expr::value(now.0)).exec(tx).await.map(|_| ())
}
