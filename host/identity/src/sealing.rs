//! What a caller carries between two calls and brings again, unread and unchanged: the state of an extension that has asked
//! something (protocol.md §15.1).
//!
//! It is sealed like a confirmation, by the same keys, for the same time and for one use, but under a version of its own: the one
//! is never taken for the other. What it holds can be neither read nor altered on the way.

use kobana_contract::{Caller, Timestamp};
use kobana_store::confirmations;

use crate::confirmation::{self, LIFETIME, call, row, unavailable};
use crate::{Action, Confirmations, Redemption};

/// The form of sealed contents.
const VERSION: &str = "s1";
/// The longest content in bytes; sealed it is a third longer.
pub const LONGEST_SEALED: usize = 64 * 1024;

impl Confirmations {
    /// Seals bytes, at most [`LONGEST_SEALED`], that this caller is to bring again for this action. None if there are more.
    #[must_use]
    pub fn seal(&self, caller: &Caller, action: &Action, content: &[u8]) -> Option<String> {
        self.seal_at(caller, action, content, Timestamp::now())
    }

    fn seal_at(&self, caller: &Caller, action: &Action, content: &[u8], now: Timestamp) -> Option<String> {
        if content.len() > LONGEST_SEALED {
            return None;
        }
        let expires_at = now.plus_seconds(LIFETIME);
        let plain = [&expires_at.0.to_be_bytes()[..], &call(action), &row(action), content].concat();
        self.keys().seal(VERSION, &plain, &bound(caller))
    }

    /// Opens what was sealed, and spends it. What does not open, is of another action or has expired is not spent; what is of
    /// another version of the action is.
    ///
    /// # Errors
    /// [`Redemption`].
    pub async fn open(&self, caller: &Caller, state: &str, action: &Action) -> Result<Vec<u8>, Redemption> {
        self.open_at(caller, state, action, Timestamp::now()).await
    }

    async fn open_at(
        &self,
        caller: &Caller,
        state: &str,
        action: &Action,
        now: Timestamp,
    ) -> Result<Vec<u8>, Redemption> {
        let (nonce, plain) = self.keys().open(VERSION, state, &bound(caller)).ok_or(Redemption::Invalid)?;
        let sealed = Sealed::read(&plain).ok_or(Redemption::Invalid)?;
        if sealed.call != call(action) {
            return Err(Redemption::Invalid);
        }
        if sealed.expires_at <= now {
            return Err(Redemption::Expired);
        }
        let fresh =
            confirmations::spend(self.store(), &nonce, sealed.expires_at, None, now).await.map_err(unavailable)?;
        match (fresh, sealed.row == row(action)) {
            (false, _) => Err(Redemption::Invalid),
            (true, false) => Err(Redemption::Changed),
            (true, true) => Ok(sealed.content.to_vec()),
        }
    }
}

/// Whom it is for. The form is bound too, or one could be passed off as the other.
fn bound(caller: &Caller) -> String {
    format!("{VERSION}|{}", confirmation::bound(caller))
}

/// What was sealed, once it is open.
struct Sealed<'a> {
    expires_at: Timestamp,
    call: [u8; 32],
    row: [u8; 32],
    content: &'a [u8],
}

impl<'a> Sealed<'a> {
    fn read(plain: &'a [u8]) -> Option<Self> {
        let (expires_at, rest) = plain.split_first_chunk::<8>()?;
        let (call, rest) = rest.split_first_chunk::<32>()?;
        let (row, content) = rest.split_first_chunk::<32>()?;
        Some(Self { expires_at: Timestamp(i64::from_be_bytes(*expires_at)), call: *call, row: *row, content })
    }
}

#[cfg(test)]
mod tests {
    use kobana_contract::Choice;
    use uuid::Uuid;

    use super::*;
    use crate::Answer;
    use crate::confirmation::tests::{action, caller, confirmations, key};

    #[tokio::test]
    async fn content_comes_back_once() {
        let (seal, ana, score) = (confirmations(vec![key("a", 1)]).await, caller(), action("score", "v1"));
        for content in [&b""[..], &[0xff; LONGEST_SEALED]] {
            let state = seal.seal(&ana, &score, content).unwrap();
            assert_eq!(seal.open(&ana, &state, &score).await.unwrap(), content);
            assert_eq!(seal.open(&ana, &state, &score).await, Err(Redemption::Invalid));
        }
        assert_eq!(seal.seal(&ana, &score, &[0; LONGEST_SEALED + 1]), None);
    }

    #[tokio::test]
    async fn of_many_at_once_one_opens_it() {
        let (seal, ana, score) = (confirmations(vec![key("a", 1)]).await, caller(), action("score", "v1"));
        let state = seal.seal(&ana, &score, b"state").unwrap();
        let tries = (0..32).map(|_| {
            let (seal, ana, state, score) = (seal.clone(), ana.clone(), state.clone(), score.clone());
            tokio::spawn(async move { seal.open(&ana, &state, &score).await.is_ok() })
        });
        let mut won = 0;
        for tried in tries.collect::<Vec<_>>() {
            won += u32::from(tried.await.unwrap());
        }
        assert_eq!(won, 1);
    }

    #[tokio::test]
    async fn in_other_hands_for_other_calls_or_altered_it_stays_shut_and_unspent() {
        let (seal, ana, score) = (confirmations(vec![key("a", 1)]).await, caller(), action("score", "v1"));
        let state = seal.seal(&ana, &score, b"state").unwrap();
        let others = [
            Caller { person_id: Uuid::now_v7(), ..ana.clone() },
            Caller { organization_id: Uuid::now_v7(), ..ana.clone() },
            Caller { client: "other".into(), ..ana.clone() },
            Caller { choice: Choice::Picked(1), ..ana.clone() },
            Caller { choice: Choice::Open, ..ana.clone() },
        ];
        for other in &others {
            assert_eq!(seal.open(other, &state, &score).await, Err(Redemption::Invalid));
        }
        assert_eq!(seal.open(&ana, &state, &action("other", "v1")).await, Err(Redemption::Invalid));
        for position in 0..state.len() {
            let mut altered = state.clone().into_bytes();
            altered[position] = if altered[position] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(seal.open(&ana, &altered, &score).await, Err(Redemption::Invalid), "{position}");
        }
        assert_eq!(seal.open(&ana, &state, &score).await.unwrap(), b"state");
    }

    #[tokio::test]
    async fn another_version_and_a_late_return_say_so() {
        let (seal, ana, score) = (confirmations(vec![key("a", 1)]).await, caller(), action("score", "v1"));
        let state = seal.seal(&ana, &score, b"state").unwrap();
        let later = Timestamp::now().plus_seconds(LIFETIME + 1);
        assert_eq!(seal.open_at(&ana, &state, &score, later).await, Err(Redemption::Expired));
        assert_eq!(seal.open(&ana, &state, &action("score", "v2")).await, Err(Redemption::Changed));
        assert_eq!(seal.open(&ana, &state, &score).await, Err(Redemption::Invalid));
    }

    #[tokio::test]
    async fn it_confirms_nothing_and_a_confirmation_holds_nothing() {
        let (seal, ana, delete) = (confirmations(vec![key("a", 1)]).await, caller(), action("delete", "v1"));
        let sealed = seal.seal(&ana, &delete, b"").unwrap();
        assert_eq!(seal.redeem(&ana, &sealed, &delete, Answer::Accepted).await, Err(Redemption::Invalid));
        let relabelled = sealed.replacen("s1.", "v1.", 1);
        assert_eq!(seal.redeem(&ana, &relabelled, &delete, Answer::Accepted).await, Err(Redemption::Invalid));
        let question = seal.issue(&ana, &delete).unwrap();
        assert_eq!(seal.open(&ana, &question, &delete).await, Err(Redemption::Invalid));
        let relabelled = question.replacen("v1.", "s1.", 1);
        assert_eq!(seal.open(&ana, &relabelled, &delete).await, Err(Redemption::Invalid));
    }
}
