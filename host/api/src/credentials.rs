//! How we present ourselves to a webhook's address: secrets that are stored sealed and never shown.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use kobana_contract::operations::webhooks::{Credentials, WebhookAuth};
use uuid::Uuid;

use crate::error::ApiError;
use crate::problems::Problems;
use crate::vault::Vault;

/// The members of a kind, by their names in the contract.
type Members = BTreeMap<String, String>;

/// What is stored of a webhook's credentials.
pub(crate) struct Stored {
    pub(crate) auth: WebhookAuth,
    pub(crate) sealed: Option<Vec<u8>>,
}

/// Whether anything about credentials was sent.
pub(crate) fn are_sent(wanted: &Credentials) -> bool {
    wanted.auth.is_some() || members(wanted).iter().any(|(_, value)| value.is_some())
}

/// What is to be stored after these credentials were sent for a webhook that had `stored`. Members of the same kind that
/// were not sent stay; a change of kind starts anew.
///
/// # Errors
/// [`ApiError::Invalid`] if a member that the kind needs is missing or cannot be sent in a header.
pub(crate) fn settle(vault: &Vault, webhook: Uuid, stored: &Stored, wanted: &Credentials) -> Result<Stored, ApiError> {
    let auth = wanted.auth.unwrap_or(stored.auth);
    let needed = needed(auth);
    if needed.is_empty() {
        return Ok(Stored { auth, sealed: None });
    }
    let mut kept = match &stored.sealed {
        Some(sealed) if stored.auth == auth => open(vault, webhook, sealed)?,
        _ => Members::new(),
    };
    let sent = members(wanted).into_iter().filter(|(name, _)| needed.contains(name));
    kept.extend(sent.filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))));
    check(auth, needed, &kept)?;
    let text = serde_json::to_vec(&kept).map_err(ApiError::internal)?;
    Ok(Stored { auth, sealed: Some(vault.seal(&place(webhook), &text)?) })
}

/// The header that presents us.
pub(crate) struct Presented {
    pub(crate) name: HeaderName,
    pub(crate) value: HeaderValue,
    /// What in it must be kept from others.
    pub(crate) secrets: Vec<String>,
}

/// The header that presents us to a webhook's address, if it wants one.
///
/// # Errors
/// When the credentials do not open with the configured key.
pub(crate) fn present(vault: &Vault, webhook: Uuid, stored: &Stored) -> Result<Option<Presented>, ApiError> {
    let members = match &stored.sealed {
        Some(sealed) => open(vault, webhook, sealed)?,
        None => Members::new(),
    };
    let member = |name: &str| {
        let missing = || ApiError::internal(format!("{name} of webhook {webhook} is missing"));
        members.get(name).cloned().ok_or_else(missing)
    };
    let (name, value, mut secrets) = match stored.auth {
        WebhookAuth::None => return Ok(None),
        WebhookAuth::Basic => {
            let password = member("auth_basic_password")?;
            let encoded = STANDARD.encode(format!("{}:{password}", member("auth_basic_user")?));
            (AUTHORIZATION, format!("Basic {encoded}"), vec![encoded, password])
        }
        WebhookAuth::Bearer => {
            let token = member("auth_bearer_token")?;
            (AUTHORIZATION, format!("Bearer {token}"), vec![token])
        }
        WebhookAuth::Header => {
            let name = HeaderName::from_bytes(member("auth_header_key")?.as_bytes()).map_err(ApiError::internal)?;
            (name, member("auth_header_value")?, vec![])
        }
    };
    secrets.push(value.clone());
    let mut value = HeaderValue::from_str(&value).map_err(ApiError::internal)?;
    value.set_sensitive(true);
    Ok(Some(Presented { name, value, secrets }))
}

fn open(vault: &Vault, webhook: Uuid, sealed: &[u8]) -> Result<Members, ApiError> {
    serde_json::from_slice(&vault.open(&place(webhook), sealed)?).map_err(ApiError::internal)
}

fn place(webhook: Uuid) -> String {
    format!("webhook credentials {webhook}")
}

fn check(auth: WebhookAuth, needed: &[&'static str], members: &Members) -> Result<(), ApiError> {
    let mut problems = Problems::default();
    for name in needed {
        match members.get(*name) {
            None => problems.field(name, format!("is required with auth {auth}")),
            Some(value) if !fits(name, value) => problems.field(name, "cannot be sent in an HTTP header"),
            Some(value) if *name == "auth_header_key" && is_ours(value) => {
                problems.field(name, "names a header that this server sends itself");
            }
            Some(_) => {}
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::Invalid(problems)) }
}

/// User name and password are sent encoded; the rest goes into a header as it is.
fn fits(name: &str, value: &str) -> bool {
    match name {
        "auth_header_key" => HeaderName::from_bytes(value.as_bytes()).is_ok(),
        "auth_bearer_token" | "auth_header_value" => !value.is_empty() && HeaderValue::from_str(value).is_ok(),
        _ => true,
    }
}

/// Headers that hold the request together or that say what it is.
fn is_ours(name: &str) -> bool {
    const OURS: [&str; 14] = [
        "accept",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "via",
    ];
    let name = name.to_ascii_lowercase();
    OURS.contains(&name.as_str()) || name.starts_with("x-kobana-") || name.starts_with("proxy-")
}

const fn needed(auth: WebhookAuth) -> &'static [&'static str] {
    match auth {
        WebhookAuth::None => &[],
        WebhookAuth::Basic => &["auth_basic_user", "auth_basic_password"],
        WebhookAuth::Bearer => &["auth_bearer_token"],
        WebhookAuth::Header => &["auth_header_key", "auth_header_value"],
    }
}

const fn members(wanted: &Credentials) -> [(&'static str, Option<&String>); 5] {
    [
        ("auth_basic_user", wanted.auth_basic_user.as_ref()),
        ("auth_basic_password", wanted.auth_basic_password.as_ref()),
        ("auth_bearer_token", wanted.auth_bearer_token.as_ref()),
        ("auth_header_key", wanted.auth_header_key.as_ref()),
        ("auth_header_value", wanted.auth_header_value.as_ref()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Stored = Stored { auth: WebhookAuth::None, sealed: None };

    fn credentials(auth: Option<WebhookAuth>, token: Option<&str>, user: Option<&str>) -> Credentials {
        Credentials {
            auth,
            auth_bearer_token: token.map(str::to_owned),
            auth_basic_user: user.map(str::to_owned),
            ..Credentials::default()
        }
    }

    #[test]
    fn members_stay_until_the_kind_changes() {
        let (vault, webhook) = (Vault::new(&[1; 32]), Uuid::nil());
        let basic = Credentials {
            auth_basic_password: Some("p".to_owned()),
            ..credentials(Some(WebhookAuth::Basic), None, Some("ana"))
        };
        let stored = settle(&vault, webhook, &NEW, &basic).unwrap();
        let changed = settle(&vault, webhook, &stored, &credentials(None, None, Some("rui"))).unwrap();
        let members = open(&vault, webhook, changed.sealed.as_ref().unwrap()).unwrap();
        assert_eq!(
            members,
            Members::from(
                [("auth_basic_user", "rui"), ("auth_basic_password", "p")].map(|(n, v)| (n.to_owned(), v.to_owned()))
            )
        );
        assert!(settle(&vault, webhook, &changed, &credentials(Some(WebhookAuth::Bearer), None, None)).is_err());
        let none = settle(&vault, webhook, &changed, &credentials(Some(WebhookAuth::None), Some("t"), None)).unwrap();
        assert!(none.sealed.is_none());
    }

    #[test]
    fn every_missing_or_unfit_member_is_named() {
        let vault = Vault::new(&[1; 32]);
        let named = |wanted: &Credentials| match settle(&vault, Uuid::nil(), &NEW, wanted) {
            Err(ApiError::Invalid(problems)) => {
                serde_json::to_value(problems).unwrap()["field_errors"].as_object().unwrap().len()
            }
            _ => 0,
        };
        assert_eq!(named(&credentials(Some(WebhookAuth::Basic), None, None)), 2);
        assert_eq!(named(&credentials(Some(WebhookAuth::Header), None, None)), 2);
        assert_eq!(named(&credentials(Some(WebhookAuth::Bearer), Some("a\r\nb"), None)), 1);
        assert_eq!(named(&credentials(Some(WebhookAuth::Bearer), Some("a"), None)), 0);
        for (name, wrong) in
            [("Host", 1), ("transfer-encoding", 1), ("X-Kobana-Event", 1), ("a b", 1), ("x-api-key", 0)]
        {
            let header = Credentials {
                auth_header_key: Some(name.to_owned()),
                auth_header_value: Some("v".to_owned()),
                ..credentials(Some(WebhookAuth::Header), None, None)
            };
            assert_eq!(named(&header), wrong, "{name}");
        }
    }
}
