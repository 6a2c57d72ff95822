//! The language of the pages.

use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;

/// A language that the pages speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Portuguese,
    English,
}

impl Language {
    /// The one that the browser likes best (RFC 9110 §12.5.4), English where it likes neither.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
        let mut best = (0, Self::English);
        for (quality, language) in lines.flat_map(|line| line.split(',')).filter_map(weighed) {
            // Of two that are liked as much, the one that stands first.
            if quality > best.0 {
                best = (quality, language);
            }
        }
        best.1
    }

    /// What `lang` says of the page.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
        }
    }
}

/// A language that the pages speak, and how much it is liked, in thousandths.
fn weighed(range: &str) -> Option<(u16, Language)> {
    let (tag, quality) = range.split_once(';').map_or((range, None), |(tag, quality)| (tag, Some(quality)));
    let language = match tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "pt" => Language::Portuguese,
        "en" => Language::English,
        _ => return None,
    };
    let quality = quality.map_or(Some(1_000), |text| thousandths(text.trim().strip_prefix("q=")?));
    Some((quality?, language))
}

/// `0`, `0.8`, `1.000` (RFC 9110 §12.4.2).
fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let fraction: u16 = format!("{fraction:0<3}").parse().ok()?;
    match whole {
        "0" => Some(fraction),
        "1" => Some(1_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_language_liked_best_is_spoken() {
        use Language::{English, Portuguese};
        for (header, expected) in [
            ("pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", Portuguese),
            ("en-US,en;q=0.9,pt-BR;q=0.8", English),
            ("en;q=0.5, PT", Portuguese),
            ("de-DE,de;q=0.9,pt;q=0.1", Portuguese),
            ("de-DE,fr", English),
            ("pt;q=0", English),
            ("pt;q=NaN,en", English),
            ("pt;q=2", English),
            ("pt;q=0.9999", English),
            ("ptx", English),
            ("", English),
            (",,;;=,", English),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, HeaderValue::from_static(header))]);
            assert_eq!(Language::of(&headers), expected, "{header}");
        }
        assert_eq!(Language::of(&HeaderMap::new()), English);
    }
}
