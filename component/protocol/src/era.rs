//! Which protocol a request speaks: one pure function, the same for every caller (protocol.md §1.3; decisions 3 and 13).

use crate::error::Error;
use crate::json::{self, Value};

/// The key of `params._meta` whose presence makes a request modern.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// A protocol revision that this server speaks. Revisions are matched by name, never compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Stateless: version and capabilities ride on every request.
    V2026_07_28,
    /// Handshake.
    V2025_06_18,
    /// Handshake.
    V2025_03_26,
}

impl Version {
    /// Every revision, the newest first.
    pub const ALL: &'static [Self] = &[Self::V2026_07_28, Self::V2025_06_18, Self::V2025_03_26];
    /// What a client speaks that does not say (founding page, Versões de protocolo), and what a handshake falls back to.
    pub const DEFAULT: Self = Self::V2025_06_18;

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2026_07_28 => "2026-07-28",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_03_26 => "2025-03-26",
        }
    }

    /// The revision of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|version| version.as_str() == name)
    }

    /// The handshake revision of a name.
    #[must_use]
    pub fn legacy(name: &str) -> Option<Self> {
        Self::parse(name).filter(|version| !version.is_modern())
    }

    /// Whether the revision is stateless.
    #[must_use]
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

/// What `params._meta` says of the version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Nothing: the request is of the handshake era, unless its header says otherwise.
    Absent,
    /// A version.
    Version(String),
    /// Something that is no text.
    Malformed,
}

impl Claim {
    /// The claim of the value at [`VERSION_KEY`]. Its presence counts, whatever it holds: a modern request with a fault
    /// is an error, never a request of the other era.
    #[must_use]
    pub(crate) fn of(value: Option<Value<'_>>) -> Self {
        match value {
            None => Self::Absent,
            Some(value) => json::string(value).map_or(Self::Malformed, |text| Self::Version(text.into_owned())),
        }
    }
}

/// Decides the revision of a request by its header `MCP-Protocol-Version` and its claim.
///
/// # Errors
/// The refusals of protocol.md §2, steps 13 to 17, the earliest first.
pub(crate) fn decide(header: Option<&str>, claim: &Claim) -> Result<Version, Error> {
    let modern = Version::V2026_07_28;
    match (claim, header) {
        (Claim::Absent, None) => Ok(Version::DEFAULT),
        (Claim::Absent, Some(named)) => match Version::parse(named) {
            Some(version) if version.is_modern() => {
                Err(Error::Envelope(format!("MCP-Protocol-Version {named} needs params._meta with {VERSION_KEY}")))
            }
            Some(version) => Ok(version),
            None => Err(Error::UnsupportedVersion { requested: named.to_owned() }),
        },
        (Claim::Malformed, _) => Err(Error::Envelope(format!("{VERSION_KEY} must be a string"))),
        (Claim::Version(claimed), Some(named)) if claimed != named => {
            Err(Error::HeaderMismatch("MCP-Protocol-Version differs from the version in params._meta".to_owned()))
        }
        (Claim::Version(claimed), _) if claimed != modern.as_str() => {
            Err(Error::UnsupportedVersion { requested: claimed.clone() })
        }
        (Claim::Version(_), None) => Err(Error::HeaderMismatch("MCP-Protocol-Version is missing".to_owned())),
        (Claim::Version(_), Some(_)) => Ok(modern),
    }
}

/// Decides whether a notification is taken, and under which revision (protocol.md D23): no header rules hold for it, only a
/// version that nobody here speaks is refused.
///
/// # Errors
/// [`Error::UnsupportedVersion`].
pub(crate) fn decide_notification(header: Option<&str>, claim: &Claim) -> Result<Version, Error> {
    let claimed = match claim {
        Claim::Version(claimed) => Some(claimed.as_str()),
        Claim::Absent | Claim::Malformed => None,
    };
    let known =
        |name: &str| Version::parse(name).ok_or_else(|| Error::UnsupportedVersion { requested: name.to_owned() });
    let header = header.map(known).transpose()?;
    let claimed = claimed.map(known).transpose()?;
    Ok(claimed.or(header).unwrap_or(Version::DEFAULT))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outcome(header: Option<&str>, claim: Option<&str>) -> Result<&'static str, i32> {
        let claim = claim.map_or(Claim::Absent, |text| Claim::Version(text.to_owned()));
        decide(header, &claim).map(Version::as_str).map_err(|error| error.code())
    }

    #[test]
    fn the_table_of_headers_and_claims() {
        let table = [
            (None, None, Ok("2025-06-18")),
            (Some("2025-06-18"), None, Ok("2025-06-18")),
            (Some("2025-03-26"), None, Ok("2025-03-26")),
            (Some("2026-07-28"), None, Err(-32602)),
            (Some("2025-11-25"), None, Err(-32022)),
            (Some(""), None, Err(-32022)),
            (Some("2025-06-18, 2025-06-18"), None, Err(-32022)),
            (Some("2026-07-28"), Some("2026-07-28"), Ok("2026-07-28")),
            (None, Some("2026-07-28"), Err(-32020)),
            (None, Some("1999-01-01"), Err(-32022)),
            (Some("1999-01-01"), Some("1999-01-01"), Err(-32022)),
            (Some("2026-07-28"), Some("v999.0.0"), Err(-32020)),
            (Some("1999-01-01"), Some("2026-07-28"), Err(-32020)),
            (Some("2025-06-18"), Some("2025-06-18"), Err(-32022)),
            (Some("2025-06-18"), Some("2026-07-28"), Err(-32020)),
        ];
        for (header, claim, expected) in table {
            assert_eq!(outcome(header, claim), expected, "header {header:?}, claim {claim:?}");
        }
        assert_eq!(decide(Some("2026-07-28"), &Claim::Malformed).unwrap_err().code(), -32602);
        assert_eq!(decide(None, &Claim::Malformed).unwrap_err().code(), -32602);
    }

    #[test]
    fn a_notification_is_refused_only_for_a_version_nobody_speaks() {
        let claim = |text: &str| Claim::Version(text.to_owned());
        assert_eq!(decide_notification(Some("2026-07-28"), &Claim::Absent).unwrap(), Version::V2026_07_28);
        assert_eq!(decide_notification(None, &claim("2026-07-28")).unwrap(), Version::V2026_07_28);
        assert_eq!(decide_notification(None, &Claim::Malformed).unwrap(), Version::DEFAULT);
        assert_eq!(decide_notification(Some("1999-01-01"), &Claim::Absent).unwrap_err().code(), -32022);
        assert_eq!(decide_notification(None, &claim("1999-01-01")).unwrap_err().code(), -32022);
    }

    proptest! {
        #[test]
        fn a_claim_never_ends_in_the_handshake_era(header in proptest::option::of(".*"), claim in ".*") {
            if let Ok(version) = decide(header.as_deref(), &Claim::Version(claim)) {
                prop_assert!(version.is_modern());
            }
        }

        #[test]
        fn without_a_claim_no_request_is_modern(header in proptest::option::of(".*|2026-07-28")) {
            if let Ok(version) = decide(header.as_deref(), &Claim::Absent) {
                prop_assert!(!version.is_modern());
            }
        }

        #[test]
        fn a_version_is_served_only_under_its_exact_name(name in "20[0-9]{2}-[0-9]{2}-[0-9]{2}|.*") {
            let served = Version::ALL.iter().any(|version| version.as_str() == name);
            prop_assert_eq!(Version::parse(&name).is_some(), served);
        }
    }
}
