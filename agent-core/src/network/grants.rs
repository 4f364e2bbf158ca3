//! Whether a plugin may reach a server.

use reqwest::Url;
use tool_sdk::{ErrorKind, ToolError};

use crate::config::{FILE_NAME, NetworkGrant};
use crate::ids::PluginName;
use crate::tool::Isolation;
use crate::transport::address;

/// The grant that a server needs.
pub(super) fn needed(url: &Url) -> Option<NetworkGrant> {
    let host = if let Some(address) = address(url) {
        address.to_string()
    } else {
        let host = url.host_str()?;
        host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
    };
    let port = url.port_or_known_default()?;
    Some(NetworkGrant { host, port })
}

/// Refuses a server that is not granted, with the line that would grant it.
pub(super) fn check(
    plugin: &PluginName,
    isolation: Isolation,
    granted: Option<Vec<NetworkGrant>>,
    url: &Url,
) -> Result<(), ToolError> {
    let mut granted = match granted {
        None if isolation != Isolation::Sandbox => return Ok(()),
        granted => granted.unwrap_or_default(),
    };
    let Some(needed) = needed(url) else {
        let text = format!("plugin `{plugin}` names no server that could be granted");
        return Err(ToolError::of(ErrorKind::Denied, text));
    };
    if granted.contains(&needed) {
        return Ok(());
    }
    let text = format!("plugin `{plugin}` may not reach {needed}");
    granted.push(needed);
    let list: Vec<String> = granted.iter().map(|grant| format!("\"{grant}\"")).collect();
    let list = list.join(", ");
    let hint = format!(
        "a person can allow it: write `grants.network = [{list}]` under `[plugins.{plugin}]` in \
         {FILE_NAME}"
    );
    Err(ToolError::of(ErrorKind::Denied, text).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(host: &str, port: u16) -> NetworkGrant {
        NetworkGrant {
            host: host.to_owned(),
            port,
        }
    }

    fn granted() -> Vec<NetworkGrant> {
        vec![
            grant("api.example.com", 443),
            grant("127.0.0.1", 8080),
            grant("::1", 80),
            grant("xn--mnchen-3ya.example", 443),
        ]
    }

    #[test]
    fn grants_are_exact_in_host_and_port_however_the_address_is_spelled() {
        let plugin = PluginName::new("wine");
        for (url, is_granted) in [
            ("https://api.example.com/x?y", true),
            ("https://API.Example.COM./x", true),
            ("https://api.example.com:443", true),
            ("http://api.example.com:443", true),
            ("https://münchen.example", true),
            ("http://127.0.0.1:8080", true),
            ("http://2130706433:8080", true),
            ("http://0x7f.1:8080", true),
            ("http://[::1]", true),
            ("http://[0:0:0:0:0:0:0:1]:80", true),
            ("http://api.example.com", false),
            ("https://api.example.com:8443", false),
            ("https://example.com", false),
            ("https://x.api.example.com", false),
            ("https://api.example.com.evil.test", false),
            ("https://api.example.com..", false),
            ("https://evil.test/api.example.com:443", false),
            ("https://evil.test/?api.example.com", false),
            ("https://evil.test#@api.example.com", false),
            ("https://evil.test\\@api.example.com", false),
            ("http://127.0.0.1", false),
            ("http://127.0.0.2:8080", false),
            ("http://localhost:8080", false),
            ("http://[::ffff:127.0.0.1]:8080", false),
            ("http://[::1]:8080", false),
        ] {
            let url = Url::parse(url).unwrap();
            let checked = check(&plugin, Isolation::InProcess, Some(granted()), &url);
            assert_eq!(checked.is_ok(), is_granted, "{url}");
        }
    }

    #[test]
    fn without_grants_only_a_sandbox_reaches_nothing() {
        let (plugin, url) = (PluginName::new("wine"), Url::parse("http://h").unwrap());
        for (isolation, granted, expected) in [
            (Isolation::InProcess, None, true),
            (Isolation::None, None, true),
            (Isolation::Worker, None, true),
            (Isolation::Sandbox, None, false),
            (Isolation::InProcess, Some(vec![]), false),
            (Isolation::Worker, Some(vec![]), false),
            (Isolation::Sandbox, Some(vec![grant("h", 80)]), true),
        ] {
            let checked = check(&plugin, isolation, granted.clone(), &url);
            assert_eq!(checked.is_ok(), expected, "{isolation:?} {granted:?}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_write() {
        let plugin = PluginName::new("wine");
        let refusal = |granted, url: &str| {
            let url = Url::parse(url).unwrap();
            check(&plugin, Isolation::Sandbox, granted, &url).unwrap_err()
        };
        let error = refusal(None, "https://api.example.com/secret?key=secret");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert_eq!(
            error.to_string(),
            "plugin `wine` may not reach api.example.com:443\na person can allow it: write \
             `grants.network = [\"api.example.com:443\"]` under `[plugins.wine]` in toolsmith.toml"
        );
        let more = refusal(Some(vec![grant("h", 1)]), "http://[::1]");
        let hint = more.hint().unwrap();
        assert!(hint.contains("[\"h:1\", \"[::1]:80\"]"), "{hint}");
    }
}
