//! Values that are expanded or converted: secrets, templates, durations, sizes, grants.

use super::*;

#[test]
fn secrets_are_in_no_message_and_no_debug_output() {
    let text = r#"
[tools.a]
preset = { key = "hunter2", list = ["hunter2"], broken = "hunter2${" , nan = nan }
[models.a]
api_key = "hunter2"
[mcpServers.a]
command = "c"
env = { T = "hunter2", U = 3, V = "hunter2${}" }
[plugins.a.settings]
password = "hunter2"
"#;
    assert_eq!(
        problems(text),
        [
            "3:58: `tools.a.preset.broken` must be text in which every `${` is closed by `}`, found other text",
            "3:78: `tools.a.preset.nan` must be a number that JSON can express, found a float",
            "8:28: `mcpServers.a.env.U` must be a string, found an integer",
            "8:35: `mcpServers.a.env.V` must be text in which `${…}` names a variable (a dollar sign is written `$$`), found other text",
        ]
    );
    let (config, _) = sections::read(text, Path::new(FILE));
    assert!(!format!("{config:?}").contains("hunter2"));
    let key = config.models["a"].api_key.as_ref().unwrap();
    assert_eq!(
        (key.to_string(), key.expand(&no_variable)),
        ("***".into(), Ok("hunter2".into()))
    );
}

#[test]
fn templates_take_variables_defaults_and_dollar_signs() {
    let environment = |name: &str| match name {
        "USER" => Some("ada".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let expand = |text: &str| Template::parse(text).unwrap().expand(&environment);
    let unset = |variable: &str| {
        Err(Unset {
            variable: variable.to_owned(),
        })
    };
    for (text, expected) in [
        ("plain", Ok("plain".to_owned())),
        ("", Ok(String::new())),
        ("${USER}", Ok("ada".to_owned())),
        ("<${USER}-${USER}>", Ok("<ada-ada>".to_owned())),
        ("${NONE:-/tmp/x}/y", Ok("/tmp/x/y".to_owned())),
        ("${NONE:-}", Ok(String::new())),
        ("${EMPTY}", Ok(String::new())),
        ("${EMPTY:-full}", Ok("full".to_owned())),
        ("${USER:-other}", Ok("ada".to_owned())),
        (
            "$$5, $${USER}, $5, 5$",
            Ok("$5, ${USER}, $5, 5$".to_owned()),
        ),
        ("$$$${USER}", Ok("$${USER}".to_owned())),
        ("$$${USER}", Ok("$ada".to_owned())),
        ("${USER}${NONE}", unset("NONE")),
    ] {
        assert_eq!(expand(text), expected, "{text}");
    }
    for broken in ["${", "${USER", "${}", "${1X}", "${A B}", "${:-x}"] {
        assert!(Template::parse(broken).is_err(), "{broken}");
    }
    assert_eq!(
        Unset {
            variable: "KEY".into()
        }
        .to_string(),
        "the environment variable `KEY` is not set"
    );
}

#[test]
fn secret_values_expand_inside_lists_and_tables() {
    let config = parsed(
        "[plugins.a]\nsettings = { t = { l = [\"${X}\", 0x10, 1.5, false], d = 2026-01-02 } }\n",
    );
    let value = &config.plugins["a"].settings["t"];
    assert_eq!(
        value.expand(&|_| Some("x".to_owned())),
        Ok(json!({"l": ["x", 16, 1.5, false], "d": "2026-01-02"}))
    );
    assert_eq!(
        value.expand(&no_variable),
        Err(Unset {
            variable: "X".to_owned()
        })
    );
}

#[test]
fn durations_and_sizes_have_units() {
    for (text, expected) in [
        ("500ms", Some(Duration::from_millis(500))),
        ("30s", Some(Duration::from_secs(30))),
        ("2m", Some(Duration::from_mins(2))),
        ("1h", Some(Duration::from_hours(1))),
        (" 5 s ", Some(Duration::from_secs(5))),
        ("0s", None),
        ("30", None),
        ("s", None),
        ("-1s", None),
        ("1.5s", None),
        ("99999999999999999999s", None),
        ("18446744073709551615h", None),
    ] {
        assert_eq!(value::duration(text), expected, "{text}");
    }
    for (text, expected) in [
        ("1B", Some(1)),
        ("64kB", Some(64_000)),
        ("64KiB", Some(65_536)),
        ("512MiB", Some(512 << 20)),
        ("2GB", Some(2_000_000_000)),
        ("0MiB", None),
        ("512", None),
        ("512mb", None),
        ("99999999999GiB", None),
    ] {
        assert_eq!(value::size(text), expected, "{text}");
    }
}

#[test]
fn network_grants_are_one_host_and_one_port() {
    let grant = |host: &str, port| {
        Some(NetworkGrant {
            host: host.to_owned(),
            port,
        })
    };
    for (text, expected) in [
        ("api.example.com:443", grant("api.example.com", 443)),
        ("Example.COM:1", grant("example.com", 1)),
        ("127.0.0.1:8080", grant("127.0.0.1", 8080)),
        ("[::1]:80", grant("::1", 80)),
        ("example.com.:443", grant("example.com", 443)),
        (".:443", None),
        ("*:443", None),
        ("::1:80", None),
        ("*.example.com:443", None),
        ("example.com", None),
        ("example.com:", None),
        ("example.com:70000", None),
        (":80", None),
        ("http://example.com:80", None),
    ] {
        assert_eq!(NetworkGrant::parse(text), expected, "{text}");
    }
    for text in ["api.example.com:443", "[::1]:80"] {
        let shown = NetworkGrant::parse(text).unwrap().to_string();
        assert_eq!(shown, text);
    }
}
