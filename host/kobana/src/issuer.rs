//! Settings of a foreign issuer of access tokens, and the source of tokens that they make.

use kobana_identity::{FetchError, ForeignIssuer, IssuerSettings, SignatureAlgorithm};
use kobana_store::Store;
use serde::Deserialize;

use crate::failure::Failure;

/// A foreign issuer. With one, the embedded authorization server is off.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Issuer {
    /// Its URL, exactly as it calls itself; none where the embedded authorization server issues.
    pub(crate) url: Option<String>,
    /// What has to be among the values of `aud`; the endpoint's URL, if left out.
    audience: Option<String>,
    /// The claim that says who it is: `email`, `sub`, or another one that holds an e-mail address.
    person_claim: String,
    /// The claim that holds the scopes.
    scope_claim: String,
    /// Seconds by which its clock may differ.
    clock_skew: u64,
    /// Names of the algorithms that its signatures may be made with.
    algorithms: Vec<String>,
}

impl Default for Issuer {
    fn default() -> Self {
        Self {
            url: None,
            audience: None,
            person_claim: "email".to_owned(),
            scope_claim: "scope".to_owned(),
            clock_skew: 30,
            algorithms: SignatureAlgorithm::ALL.iter().map(ToString::to_string).collect(),
        }
    }
}

/// More would make tokens outlive their end for long.
const LARGEST_SKEW: u64 = 300;

impl Issuer {
    /// The settings of the issuer at `url`, checked.
    fn checked(&self, url: &str, resource: &str) -> Result<IssuerSettings, Failure> {
        let wrong = |name: &str, expected: &str| Failure::Config(format!("issuer.{name}: expected {expected}"));
        for (name, claim) in [("person_claim", &self.person_claim), ("scope_claim", &self.scope_claim)] {
            if claim.is_empty() {
                return Err(wrong(name, "the name of a claim"));
            }
        }
        if self.clock_skew > LARGEST_SKEW {
            return Err(wrong("clock_skew", "0 to 300 seconds"));
        }
        let algorithms = self.algorithms.iter().map(|name| SignatureAlgorithm::named(name)).collect::<Option<Vec<_>>>();
        let known = SignatureAlgorithm::ALL.map(|algorithm| algorithm.to_string()).join(", ");
        let algorithms = algorithms.filter(|algorithms| !algorithms.is_empty());
        Ok(IssuerSettings {
            url: url.to_owned(),
            audience: self.audience.clone().unwrap_or_else(|| resource.to_owned()),
            person_claim: self.person_claim.clone(),
            scope_claim: self.scope_claim.clone(),
            clock_skew: self.clock_skew,
            algorithms: algorithms.ok_or_else(|| wrong("algorithms", &format!("some of {known}")))?,
        })
    }

    /// The source of its tokens, if there is one. An issuer that cannot be asked now is asked again when its first token comes;
    /// one that calls itself something else keeps the server from starting.
    pub(crate) async fn open(&self, store: &Store, resource: &str) -> Result<Option<ForeignIssuer>, Failure> {
        let Some(url) = &self.url else { return Ok(None) };
        let refused = |error: FetchError| Failure::Config(format!("issuer.url: {error}"));
        let issuer = ForeignIssuer::new(self.checked(url, resource)?, store.clone()).map_err(refused)?;
        match issuer.prepare().await {
            Ok(()) => {}
            Err(error) if error.is_temporary() => {
                tracing::warn!(%error, "the issuer's keys cannot be fetched yet; its tokens are refused until they can");
            }
            Err(error) => return Err(refused(error)),
        }
        Ok(Some(issuer))
    }
}
