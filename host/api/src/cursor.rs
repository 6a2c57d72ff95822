//! Cursors: where a page ends, sealed so that only this API makes them and only for the same list.
//!
//! A cursor is the position of the last row and an HMAC-SHA256 over that position and everything the list depends on:
//! the operation, the tenant, path variables and filters. One that was changed, or was made for another list, does not
//! open. The page size is not part of it, so it may change from page to page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use kobana_store::page::Position;
use sha2::Sha256;
use uuid::Uuid;

/// Bytes of a position: time, then id.
const POSITION: usize = 8 + 16;

/// The key that cursors are sealed with.
#[derive(Clone)]
pub(crate) struct Cursors {
    key: [u8; 32],
}

impl Cursors {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The cursor of a position in the list that `list` describes.
    pub(crate) fn seal(&self, list: &str, position: Position) -> String {
        let mut bytes = plain(position).to_vec();
        if let Some(mac) = self.mac(list, &bytes) {
            bytes.extend_from_slice(&mac.finalize().into_bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position in a cursor that was made for the same list.
    pub(crate) fn open(&self, list: &str, cursor: &str) -> Option<Position> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (position, seal) = bytes.split_at_checked(POSITION)?;
        self.mac(list, position)?.verify_slice(seal).ok()?;
        let (time, id) = position.split_first_chunk::<8>()?;
        Some(Position { time: i64::from_be_bytes(*time), id: Uuid::from_slice(id).ok()? })
    }

    fn mac(&self, list: &str, position: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        // The position has a fixed length, so the two parts cannot run into each other.
        mac.update(position);
        mac.update(list.as_bytes());
        Some(mac)
    }
}

fn plain(position: Position) -> [u8; POSITION] {
    let mut bytes = [0; POSITION];
    let (time, id) = bytes.split_at_mut(8);
    time.copy_from_slice(&position.time.to_be_bytes());
    id.copy_from_slice(position.id.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: Position = Position { time: -5, id: Uuid::from_u128(7) };

    #[test]
    fn a_cursor_opens_for_its_own_list_only() {
        let cursors = Cursors::new([7; 32]);
        let cursor = cursors.seal("list-emails acme {}", POSITION);
        assert_eq!(cursors.open("list-emails acme {}", &cursor), Some(POSITION));
        assert_eq!(cursors.open("list-emails globex {}", &cursor), None);
        assert_eq!(Cursors::new([8; 32]).open("list-emails acme {}", &cursor), None);
    }

    #[test]
    fn no_change_of_a_cursor_goes_unnoticed() {
        let cursors = Cursors::new([7; 32]);
        let cursor = cursors.seal("list", POSITION);
        for place in 0..cursor.len() {
            for sign in ['A', 'b', '_', '='] {
                let changed: String =
                    cursor.chars().enumerate().map(|(at, old)| if at == place { sign } else { old }).collect();
                assert!(changed == cursor || cursors.open("list", &changed).is_none(), "{place}");
            }
            assert_eq!(cursors.open("list", &cursor[..place]), None);
        }
        assert_eq!(cursors.open("list", &format!("{cursor}A")), None);
    }
}
