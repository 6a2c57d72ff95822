//! The secrets that deliveries are signed with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use kobana_store::rows::{WebhookChanges, WebhookRow, Webhooks};
use kobana_store::{InWorkspace, Scope as _, Store};
use sea_orm::Set;
use sha2::Sha256;
use uuid::Uuid;

use crate::error::ApiError;
use crate::vault::Vault;

/// 256 random bits, marked as what they are for those who look for leaked secrets.
pub(crate) fn fresh() -> String {
    format!("whsec_{}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()))
}

/// Seals the secret of one webhook.
///
/// # Errors
/// When it is too long to seal.
pub(crate) fn seal(vault: &Vault, webhook: Uuid, secret: &str) -> Result<Vec<u8>, ApiError> {
    vault.seal(&place(webhook), secret.as_bytes())
}

/// The webhook's secret. One that was made without gets its first one now, which is stored before it is used.
///
/// # Errors
/// When it does not open with the configured key, or what the database answers.
pub(super) async fn of(store: &Store, vault: &Vault, webhook: &WebhookRow) -> Result<String, ApiError> {
    if let Some(sealed) = &webhook.signing_secret {
        return open(vault, webhook.id, sealed);
    }
    let (rows, tx) = (InWorkspace(webhook.workspace_id), store.begin().await?);
    // Somebody else may have been quicker.
    let row = rows.find_by_id::<Webhooks>(webhook.id).one(&tx).await?;
    if let Some(sealed) = row.and_then(|row| row.signing_secret) {
        return open(vault, webhook.id, &sealed);
    }
    let secret = fresh();
    let sealed = seal(vault, webhook.id, &secret)?;
    let changes = WebhookChanges { signing_secret: Set(Some(sealed)), ..Default::default() };
    rows.change::<Webhooks>(&tx, webhook.id, changes).await?;
    tx.commit().await?;
    Ok(secret)
}

fn open(vault: &Vault, webhook: Uuid, sealed: &[u8]) -> Result<String, ApiError> {
    String::from_utf8(vault.open(&place(webhook), sealed)?).map_err(ApiError::internal)
}

fn place(webhook: Uuid) -> String {
    format!("webhook signing secret {webhook}")
}

/// What `X-Kobana-Signature` says of a body: the key is the secret as it was shown, its prefix included.
///
/// # Errors
/// Never; the type of the key says otherwise.
pub(super) fn signature(secret: &str, body: &[u8]) -> Result<String, ApiError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(ApiError::internal)?;
    mac.update(body);
    let code = mac.finalize().into_bytes();
    Ok(code.iter().fold(String::from("sha256="), |text, byte| format!("{text}{byte:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_hmac_sha256_in_hex() {
        // RFC 4231, test case 2.
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", b"what do ya want for nothing?").unwrap(), expected);
    }
}
