//! Who has signed in in a browser, and what ties a form to the browser that it was shown in.

use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use kobana_contract::Membership;
use kobana_store::people::{self, PersonRow, Standing};
use kobana_store::sea_orm::DbErr;
use kobana_store::sessions;
use uuid::Uuid;

use crate::secret;
use crate::server::{Server, now};
use crate::settings::seconds;

/// The cookie of somebody who has signed in.
const SESSION: &str = "kobana-session";
/// The cookie of somebody who has not yet, so that the login form is tied to their browser.
const VISITOR: &str = "kobana-visitor";

/// Somebody who has signed in.
pub(crate) struct Session {
    /// What the cookie says.
    pub(crate) secret: String,
    pub(crate) person: PersonRow,
    pub(crate) memberships: Vec<Membership>,
}

impl Server {
    /// Who has signed in in this browser, if they still may.
    pub(crate) async fn session(&self, jar: &CookieJar) -> Result<Option<Session>, DbErr> {
        let Some(secret) = self.cookie(jar, SESSION) else { return Ok(None) };
        let Some(person_id) = sessions::find(&self.store, &secret::hash(&secret), now()).await? else {
            return Ok(None);
        };
        let standing = people::standing(&self.store, person_id).await?;
        Ok(standing.filter(|standing| standing.person.active).map(|Standing { person, memberships }| Session {
            secret,
            person,
            memberships,
        }))
    }

    /// Signs somebody in: with a new id, whatever cookie was there before.
    pub(crate) async fn open_session(&self, jar: CookieJar, person_id: Uuid) -> Result<CookieJar, DbErr> {
        self.end_session(&jar).await?;
        let secret = secret::random();
        let at = now();
        let lifetime = seconds(self.settings.session_lifetime);
        sessions::open(&self.store, &secret::hash(&secret), person_id, at.plus_seconds(lifetime), at).await?;
        let mut cookie = self.new_cookie(SESSION, secret);
        cookie.set_max_age(time::Duration::seconds(lifetime));
        Ok(jar.remove(self.new_cookie(VISITOR, String::new())).add(cookie))
    }

    /// Signs out.
    pub(crate) async fn close_session(&self, jar: CookieJar) -> Result<CookieJar, DbErr> {
        self.end_session(&jar).await?;
        Ok(jar.remove(self.new_cookie(SESSION, String::new())))
    }

    async fn end_session(&self, jar: &CookieJar) -> Result<(), DbErr> {
        match self.cookie(jar, SESSION) {
            Some(secret) => sessions::close(&self.store, &secret::hash(&secret)).await,
            None => Ok(()),
        }
    }

    /// What ties the login form to this browser, and the cookies with it.
    pub(crate) fn visitor(&self, jar: CookieJar) -> (CookieJar, String) {
        if let Some(secret) = self.visitor_secret(&jar) {
            return (jar, secret);
        }
        let secret = secret::random();
        let cookie = self.new_cookie(VISITOR, secret.clone());
        (jar.add(cookie), secret)
    }

    /// What ties the login form to this browser, if it was shown one.
    pub(crate) fn visitor_secret(&self, jar: &CookieJar) -> Option<String> {
        self.cookie(jar, VISITOR)
    }

    fn cookie(&self, jar: &CookieJar, name: &'static str) -> Option<String> {
        jar.get(&self.cookie_name(name)).map(|cookie| cookie.value().to_owned())
    }

    /// Off loopback, the prefix keeps other hosts of the same domain from setting the cookie (RFC 6265bis §4.1.3.2).
    fn cookie_name(&self, name: &'static str) -> String {
        if self.secure { format!("__Host-{name}") } else { name.to_owned() }
    }

    fn new_cookie(&self, name: &'static str, value: String) -> Cookie<'static> {
        Cookie::build((self.cookie_name(name), value))
            .path("/")
            .http_only(true)
            .secure(self.secure)
            // Lax, since a client opens the page from elsewhere; forms carry a token of their own.
            .same_site(SameSite::Lax)
            .build()
    }
}
