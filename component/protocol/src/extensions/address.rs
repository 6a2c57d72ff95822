//! Addresses that extensions make up (RFC 3986) and their templates (RFC 6570, level 1).

/// The longest address, in bytes.
const LONGEST: usize = 512;
/// The most variables in one template.
const MOST_VARIABLES: usize = 8;
/// Schemes that are not an extension's: ours, and those that a client might act on.
const TAKEN: &[&str] = &["kobana", "data", "file", "javascript", "vbscript"];

/// Checks a URI that an extension offers a document at.
///
/// # Errors
/// What was expected.
pub(super) fn check_uri(uri: &str) -> Result<(), String> {
    check_own_scheme(uri)?;
    if is_absolute(uri) {
        Ok(())
    } else {
        Err(format!("expected an absolute URI without a fragment, such as risk://policy, of at most {LONGEST} bytes"))
    }
}

/// Checks a template: literals, and variables that each are one whole segment.
///
/// # Errors
/// What was expected.
pub(super) fn check_template(template: &str) -> Result<(), String> {
    check_own_scheme(template)?;
    let wrong = |what: &str| Err(format!("expected a URI template such as risk://emails/{{id}}: {what}"));
    let Some(names) = variables(template) else { return wrong("a brace has no partner, or is inside of another") };
    let is_name = |name: &&str| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.len() <= 32
    };
    if let Some(name) = names.iter().find(|name| !is_name(name)) {
        let name = crate::text::clean(name, 40);
        return wrong(&format!(
            "“{name}” is no variable of level 1, which is a letter or _ and at most 31 letters, digits and _"
        ));
    }
    if names.is_empty() || names.len() > MOST_VARIABLES {
        return wrong(&format!("it has 1 to {MOST_VARIABLES} variables"));
    }
    let repeated = |(index, name): (usize, &&str)| names.iter().take(index).any(|other| *other == *name);
    if names.iter().enumerate().any(repeated) {
        return wrong("a variable stands twice");
    }
    let whole = |segment: &str| {
        !segment.contains('{') || (segment.starts_with('{') && segment.find('}') == Some(segment.len() - 1))
    };
    let (scheme, path) = template.split_once(':').unwrap_or_default();
    if scheme.contains('{') || !path.split('/').all(whole) {
        return wrong("a variable is a whole segment between slashes");
    }
    if is_absolute(&names.iter().fold(template.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), "x"))) {
        Ok(())
    } else {
        wrong(&format!("what is around the variables is no absolute URI of at most {LONGEST} bytes"))
    }
}

/// A template that was checked, to find out which URIs are made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(String);

impl Template {
    /// Reads a template: literals, and variables that each are one whole segment (RFC 6570 §1.2, level 1).
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(template: &str) -> Result<Self, String> {
        check_template(template).map(|()| Self(template.to_owned()))
    }

    /// Whether a URI is made of it: the same but for the variables, in place of which there is something without `/`, `?` and `#`.
    #[must_use]
    pub fn leads_to(&self, uri: &str) -> bool {
        let (Some((scheme, template)), Some((other, uri))) = (self.0.split_once(':'), uri.split_once(':')) else {
            return false;
        };
        let stands_for =
            |variable: &str, text: &str| variable.starts_with('{') && !text.is_empty() && !text.contains(['?', '#']);
        let (mut template, mut uri) = (template.split('/'), uri.split('/'));
        let same =
            template.by_ref().all(|wanted| uri.next().is_some_and(|text| wanted == text || stands_for(wanted, text)));
        scheme == other && same && uri.next().is_none()
    }
}

/// The names of a template's variables in their order; `None` where braces do not match.
pub(super) fn variables(template: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}')?;
        if before.contains('}') || name.contains('{') {
            return None;
        }
        names.push(name);
        rest = behind;
    }
    (!rest.contains('}')).then_some(names)
}

fn check_own_scheme(uri: &str) -> Result<(), String> {
    let scheme = uri.split(':').next().unwrap_or_default();
    if TAKEN.iter().any(|taken| scheme.eq_ignore_ascii_case(taken)) {
        return Err(format!("expected a scheme of its own; it may not be any of {}", TAKEN.join(", ")));
    }
    Ok(())
}

/// Whether a text is an `absolute-URI` of RFC 3986 §4.3 with something behind its scheme.
#[must_use]
pub(super) fn is_absolute(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let mut bytes = scheme.bytes();
    let named = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&byte);
    let hex = |escape: &str| escape.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    named && uri.len() <= LONGEST && !rest.is_empty() && rest.bytes().all(allowed) && rest.split('%').skip(1).all(hex)
}

/// Whether a text is the address of a page that a browser can open.
#[must_use]
pub(super) fn is_page(url: &str) -> bool {
    let after = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    // A longer address than an offer's may be needed to carry what a page is told.
    let (head, fragment) = url.split_once('#').unwrap_or((url, ""));
    let plain = |text: &str| text.bytes().all(|byte| (0x21..0x7f).contains(&byte) && !b"\"<>\\^`{|}".contains(&byte));
    after.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && url.len() <= 2048
        && plain(head)
        && plain(fragment)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn uris_are_absolute_and_of_an_own_scheme() {
        for good in ["risk://policy", "test://static-text", "urn:x:1", "a+b-c.1:/x%20y?q=1&b[]=2"] {
            assert_eq!(check_uri(good), Ok(()), "{good}");
        }
        let long = format!("risk://{}", "x".repeat(LONGEST));
        for bad in [
            "",
            "policy",
            "/a",
            "risk:",
            "1a:b",
            "ri sk://a",
            "risk://a b",
            "risk://é",
            "risk://a#b",
            "risk://%",
            "risk://%4",
            "risk://{id}",
            "risk:\n",
            &long,
        ] {
            assert!(check_uri(bad).is_err(), "{bad}");
        }
        for taken in ["kobana://inbox/me", "KOBANA:x", "javascript:alert(1)", "data:text/plain,x", "file:///etc/passwd"]
        {
            assert!(check_uri(taken).unwrap_err().contains("scheme"), "{taken}");
        }
    }

    #[test]
    fn templates_have_whole_segments_for_variables() {
        for good in ["risk://emails/{id}", "test://template/{id}/data", "a:/x/{y}/{z_1}", "risk://{host}/x"] {
            assert_eq!(check_template(good), Ok(()), "{good}");
        }
        for bad in [
            "risk://emails",
            "risk://emails/{+id}",
            "risk://emails/{id*}",
            "risk://emails/{id:3}",
            "risk://emails/{a,b}",
            "risk://emails{?q}",
            "risk://emails/{}",
            "risk://emails/{id}.json",
            "risk://emails/x{id}",
            "risk://emails/{a}{b}",
            "risk://emails/{a}/{a}",
            "risk://emails/{a/b}",
            "risk://emails/{id",
            "risk://emails/id}",
            "risk://emails/{{id}}",
            "risk://e mails/{id}",
            "{scheme}://x",
            "kobana://inbox/{id}",
            "emails/{id}",
        ] {
            assert!(check_template(bad).is_err(), "{bad}");
        }
    }

    fn leads(template: &str, uri: &str) -> bool {
        Template::parse(template).unwrap().leads_to(uri)
    }

    #[test]
    fn a_variable_stands_for_one_segment_that_is_not_empty() {
        assert!(leads("test://template/{id}/data", "test://template/42/data"));
        assert!(leads("test://template/{id}/data", "test://template/a%2Fb/data"));
        assert!(leads("urn:{id}", "urn:x:1"));
        for other in [
            "test://template//data",
            "test://template/a/b/data",
            "test://template/42/data/",
            "test://template/42",
            "test://template/42?x/data",
            "test://template/42#x/data",
            "xtest://template/42/data",
            "test://Template/42/data",
            "test:",
            "",
        ] {
            assert!(!leads("test://template/{id}/data", other), "{other}");
        }
        assert!(!leads("test://{id}", "test://a?b"));
        assert!(!leads("test://a.b/{id}", "test://axb/1"), "a dot is a dot");
        assert!(Template::parse("risk://{id").is_err());
    }

    #[test]
    fn a_page_is_of_the_web() {
        for good in ["https://example.com/login?x=1#y", "http://127.0.0.1:1/"] {
            assert!(is_page(good), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "https://",
            "https:///x",
            "https://a b",
            "https://a/\n",
            "ftp://a",
            "example.com",
            "https://é",
        ] {
            assert!(!is_page(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in r"[a-z:/{}%#?.\n é]{0,40}", uri in r"[a-z:/%#?.\n é]{0,40}") {
            let _ = (check_uri(&text), is_page(&text), Template::parse(&text).is_ok_and(|template| template.leads_to(&uri)));
        }

        #[test]
        fn what_is_made_of_a_template_is_recognized(
            parts in prop::collection::vec(("(/[a-z.?*+()$-]{1,6}){0,2}", "[A-Za-z0-9._~%-]{1,8}"), 1..5), tail in "(/[a-z.]{0,6}){0,2}",
        ) {
            let (mut template, mut uri) = ("x:".to_owned(), "x:".to_owned());
            for (number, (literal, value)) in parts.iter().enumerate() {
                template.push_str(&format!("{literal}/{{v{number}}}"));
                uri.push_str(&format!("{literal}/{value}"));
            }
            template.push_str(&tail);
            uri.push_str(&tail);
            prop_assert!(leads(&template, &uri));
            uri.push_str("/more");
            prop_assert!(!leads(&template, &uri));
        }
    }
}
