//! Whether an inbox wants an e-mail: the checks in the order of the contract, ended by the first that refuses.

use kobana_contract::Timestamp;
use kobana_contract::fields::ActiveStatus;
use kobana_store::rows::{EmailRow, InboxRow, WorkspaceRow};
use kobana_store::text::fold;
use sea_orm::{ConnectionTrait, DbErr};

use super::filters::Findings;
use super::limits;
use crate::intake::content::Content;

/// What becomes of an e-mail.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Why it is refused; none if it is approved.
    pub(super) reason: Option<String>,
    /// Filters that were not understood, by their place from one.
    pub(super) not_understood: Vec<usize>,
}

impl From<String> for Verdict {
    fn from(reason: String) -> Self {
        Self { reason: Some(reason), not_understood: Vec::new() }
    }
}

/// Judges an e-mail for its inbox, of which none is left if it was deleted. What the filters say was found out before.
///
/// # Errors
/// What the database answers.
pub(super) async fn judge(
    connection: &impl ConnectionTrait,
    workspace: &WorkspaceRow,
    inbox: Option<&InboxRow>,
    email: &EmailRow,
    content: &Content,
    findings: &Findings,
    now: Timestamp,
) -> Result<Verdict, DbErr> {
    let Some(inbox) = inbox else { return Ok("the inbox was deleted".to_owned().into()) };
    if inbox.status.0 != ActiveStatus::Active {
        return Ok("the inbox is inactive".to_owned().into());
    }
    if let Some(reason) = limits::exceeded(connection, workspace, email, now).await? {
        return Ok(reason.into());
    }
    if !may_send(inbox, &email.sender) {
        return Ok("sender is not allowed".to_owned().into());
    }
    if let Some(reason) = too_much_attached(inbox, content) {
        return Ok(reason.into());
    }
    let reason = findings.refused_by.map(|place| format!("filter {place} refused it"));
    Ok(Verdict { reason, not_understood: findings.not_understood.clone() })
}

/// An empty list lets anyone send.
fn may_send(inbox: &InboxRow, sender: &str) -> bool {
    let allowed = &inbox.allowed_recipients.0;
    allowed.is_empty() || allowed.iter().any(|address| fold(address) == fold(sender))
}

/// Pictures that the text shows in place are no attachments to whoever sent them: they count for sizes only.
fn too_much_attached(inbox: &InboxRow, content: &Content) -> Option<String> {
    if content.unreadable {
        return Some("it has too many parts to be looked at".to_owned());
    }
    let limit = |bytes: i64| u64::try_from(bytes).unwrap_or_default();
    let attached = content.attachments.iter().filter(|file| !file.embedded).count() as u64;
    let (most, largest) = (limit(inbox.attachments_max_file_number), limit(inbox.attachments_max_file_size));
    let total = limit(inbox.attachments_max_total_size);
    if !inbox.attachments_allow && attached > 0 {
        Some("attachments are not allowed".to_owned())
    } else if attached > most {
        Some(format!("it has more than {most} attachments"))
    } else if content.attachments.iter().any(|file| file.size > largest) {
        Some(format!("an attachment has more than {largest} bytes"))
    } else if content.attachments.iter().map(|file| file.size).sum::<u64>() > total {
        Some(format!("the attachments have more than {total} bytes together"))
    } else {
        None
    }
}
