//! Where a model is: its address and its key, and how a person finds them in the configuration.

use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::dialect::Dialect;
use crate::json_text::{one_line, shortened};
use crate::transport::{address, is_loopback};

/// The version of the interface that Anthropic's servers are asked for.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// How much of a server's words is told, in characters.
const QUOTED: usize = 500;

/// A shorter key is none: people write any word where a server asks for a key and looks at none.
const SHORTEST_KEY: usize = 8;

pub(super) struct Place {
    /// Where requests go.
    pub(super) endpoint: Url,
    /// The address as messages show it: without credentials and query, which may hold a key.
    pub(super) base_url: String,
    /// The model's name at the server.
    pub(super) model: String,
    pub(super) key: Option<String>,
    /// The section of the configuration, such as `models.mine`.
    pub(super) section: Option<String>,
    /// The variable that the key was taken from, where the configuration holds none.
    pub(super) key_variable: Option<&'static str>,
}

impl Place {
    /// The key of the configuration that a person should look at.
    pub(super) fn setting(&self, key: &str) -> String {
        match &self.section {
            Some(section) => format!("`{section}.{key}`"),
            None => format!("`{key}`"),
        }
    }

    /// Where the key comes from, or could come from.
    pub(super) fn key_setting(&self) -> String {
        match self.key_variable {
            Some(variable) => format!("the environment variable `{variable}`"),
            None => self.setting("api_key"),
        }
    }

    /// A foreign text on one line and without the key, which some servers repeat.
    pub(super) fn quoted(&self, text: &str) -> String {
        let text = one_line(text);
        let text = match &self.key {
            Some(key) if key.len() >= SHORTEST_KEY => text.replace(key.as_str(), "***"),
            _ => text,
        };
        shortened(&text, QUOTED)
    }

    /// Whether the address names a version, as those of `OpenAI`'s dialect do.
    pub(super) fn has_version(&self) -> bool {
        let mut segments = self.endpoint.path_segments().into_iter().flatten();
        segments.any(|segment| {
            segment
                .strip_prefix('v')
                .is_some_and(|version| version.starts_with(|letter: char| letter.is_ascii_digit()))
        })
    }

    /// What every request carries; `None` if the key has letters that no header can hold.
    pub(super) fn headers(&self, dialect: Dialect) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        if dialect == Dialect::Anthropic {
            let name = HeaderName::from_static("anthropic-version");
            headers.insert(name, HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        if let Some(key) = &self.key {
            let (name, value) = match dialect {
                Dialect::OpenAi => (AUTHORIZATION, format!("Bearer {key}")),
                Dialect::Anthropic => (HeaderName::from_static("x-api-key"), key.clone()),
            };
            let mut value = HeaderValue::try_from(value).ok()?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Some(headers)
    }
}

/// The address that requests go to; a base address may have a slash at its end, or be the whole
/// address already. The error says what was expected.
pub(super) fn endpoint(base_url: &str, dialect: Dialect) -> Result<Url, &'static str> {
    const EXPECTED: &str = "an address that begins with `http://` or `https://`";
    let mut url = Url::parse(base_url.trim()).map_err(|_| EXPECTED)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(EXPECTED);
    }
    let path = dialect.path();
    let present: Vec<String> = url
        .path_segments()
        .into_iter()
        .flatten()
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect();
    // The longest beginning of the path that the address ends with is there already.
    let shared = (1..=path.len())
        .rev()
        .filter_map(|length| path.get(..length))
        .find(|beginning| {
            present.ends_with(
                &beginning
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>(),
            )
        })
        .map_or(0, <[_]>::len);
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty();
        segments.extend(path.iter().skip(shared));
    }
    Ok(url)
}

/// An address as messages show it.
pub(super) fn shown(base_url: &str) -> String {
    let text = one_line(base_url);
    let (scheme, rest) = text.split_once("://").unwrap_or(("", &text));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{host}{path}")
        .trim_end_matches('/')
        .to_owned()
}

/// Whether the server is on this machine or in a network of its owner's, where a key may travel
/// without encryption.
pub(super) fn is_near(url: &Url) -> bool {
    let near = match address(url) {
        Some(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
        Some(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
        None => url.host_str().is_some_and(|host| {
            // Names of a container's neighbours have no dot.
            let ends = |end: &str| host.ends_with(end);
            !host.contains('.') || ends(".local") || ends(".internal") || ends(".lan")
        }),
    };
    near || is_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_where_the_base_address_says_in_each_of_its_spellings() {
        for (dialect, base, expected) in [
            (
                Dialect::OpenAi,
                "http://127.0.0.1:11434/v1",
                "http://127.0.0.1:11434/v1/chat/completions",
            ),
            (
                Dialect::OpenAi,
                "http://127.0.0.1:11434/v1/",
                "http://127.0.0.1:11434/v1/chat/completions",
            ),
            (
                Dialect::OpenAi,
                " http://h/v1/chat/completions",
                "http://h/v1/chat/completions",
            ),
            (
                Dialect::OpenAi,
                "https://h/x?api-version=1",
                "https://h/x/chat/completions?api-version=1",
            ),
            (Dialect::OpenAi, "http://h", "http://h/chat/completions"),
            (
                Dialect::Anthropic,
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                Dialect::Anthropic,
                "https://h/anthropic/",
                "https://h/anthropic/v1/messages",
            ),
            (Dialect::Anthropic, "https://h/v1", "https://h/v1/messages"),
            (
                Dialect::Anthropic,
                "https://h/v1/messages",
                "https://h/v1/messages",
            ),
        ] {
            let found = endpoint(base, dialect).map(String::from);
            assert_eq!(found.as_deref(), Ok(expected), "{base}");
        }
        for base in ["localhost:11434/v1", "h/v1", "", "file:///v1", "ftp://h"] {
            assert!(endpoint(base, Dialect::OpenAi).is_err(), "{base}");
        }
    }

    #[test]
    fn addresses_are_shown_without_what_may_be_secret() {
        assert_eq!(
            shown("https://me:hunter2@h/v1/?key=hunter2#hunter2"),
            "https://h/v1"
        );
        assert_eq!(shown("me:hunter2@localhost:1/v1"), "localhost:1/v1");
        assert_eq!(shown("no address"), "no address");
    }

    #[test]
    fn near_is_what_its_owner_runs() {
        for (url, loopback, near) in [
            ("http://127.0.0.1:1/v1", true, true),
            ("http://[::1]:1/v1", true, true),
            ("http://localhost/v1", true, true),
            ("http://192.168.1.7/v1", false, true),
            ("http://[fd00::1]/v1", false, true),
            ("http://vllm:8000/v1", false, true),
            ("http://box.local/v1", false, true),
            ("http://8.8.8.8/v1", false, false),
            ("http://api.example.com/v1", false, false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(
                (is_loopback(&url), is_near(&url)),
                (loopback, near),
                "{url}"
            );
        }
    }
}
