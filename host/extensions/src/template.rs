//! URI templates of level 1 (RFC 6570 §1.2): which template a URI was made of.

use regex::Regex;

/// A template, ready to be compared with.
#[derive(Debug)]
pub(crate) struct Template(Regex);

impl Template {
    /// Reads a template. Each variable stands for a part of one segment that is not empty. None where braces do not match or
    /// the template is too large.
    pub(crate) fn new(template: &str) -> Option<Self> {
        let mut pattern = String::from("^");
        let mut rest = template;
        while let Some((literal, after)) = rest.split_once('{') {
            let (variable, after) = after.split_once('}')?;
            let plain =
                !variable.is_empty() && variable.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.%".contains(&b));
            if !plain || literal.contains('}') {
                return None;
            }
            pattern.push_str(&regex::escape(literal));
            pattern.push_str("[^/?#]+");
            rest = after;
        }
        if rest.contains('}') {
            return None;
        }
        pattern.push_str(&regex::escape(rest));
        pattern.push('$');
        Regex::new(&pattern).ok().map(Self)
    }

    /// Whether a URI was made of it.
    pub(crate) fn leads_to(&self, uri: &str) -> bool {
        self.0.is_match(uri)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leads(template: &str, uri: &str) -> bool {
        Template::new(template).unwrap().leads_to(uri)
    }

    #[test]
    fn a_variable_is_one_segment_that_is_not_empty() {
        assert!(leads("test://template/{id}/data", "test://template/42/data"));
        assert!(leads("test://template/{id}/data", "test://template/a%2Fb/data"));
        assert!(!leads("test://template/{id}/data", "test://template//data"));
        assert!(!leads("test://template/{id}/data", "test://template/a/b/data"));
        assert!(!leads("test://template/{id}/data", "test://template/42/data/"));
        assert!(!leads("test://template/{id}/data", "xtest://template/42/data"));
        assert!(!leads("test://{id}", "test://a?b"));
        assert!(leads("test://{year}-{month}", "test://2026-07"));
        assert!(!leads("test://a.b/{id}", "test://axb/1"), "a dot is a dot");
    }

    #[test]
    fn what_is_no_template_is_none() {
        for text in ["a{", "a}", "{}", "{a{b}}", "{a b}", "a}b{c}", "{+path}", "{a,b}"] {
            assert!(Template::new(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_made_of_a_template_is_recognized(
            parts in prop::collection::vec(("[a-z/.?*+()\\[\\]^$-]{0,6}", "[A-Za-z0-9._~%-]{1,8}"), 0..5), tail in "[a-z/.]{0,6}",
        ) {
            let (mut template, mut uri) = (String::new(), String::new());
            for (number, (literal, value)) in parts.iter().enumerate() {
                template.push_str(&format!("{literal}{{v{number}}}"));
                uri.push_str(&format!("{literal}{value}"));
            }
            template.push_str(&tail);
            uri.push_str(&tail);
            prop_assert!(leads(&template, &uri));
        }
    }
}
