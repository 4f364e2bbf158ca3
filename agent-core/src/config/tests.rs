//! The whole `toolsmith.toml`: what is read, and how mistakes are told.

mod values;

use super::*;
use serde_json::json;

const FILE: &str = "/project/toolsmith.toml";

fn parsed(text: &str) -> Config {
    Config::parse(text, Path::new(FILE)).unwrap_or_else(|error| panic!("{error}"))
}

/// Every line that is reported for a text, without the name of the file.
fn problems(text: &str) -> Vec<String> {
    let error = Config::parse(text, Path::new(FILE)).expect_err("the text has problems");
    let prefix = format!("{FILE}:");
    error
        .to_string()
        .lines()
        .map(|line| line.strip_prefix(&prefix).unwrap().to_owned())
        .collect()
}

fn no_variable(_: &str) -> Option<String> {
    None
}

const WHOLE: &str = r#"
sandbox_minimum = 6
max_images = 20

[plugins.search-wine]
isolation = "sandbox"
grants = { read = ["data"], write = [], network = ["api.example.com:443"], env = ["LANG"], exec = false }
limits = { memory = "512MiB" }
settings = { cellar = "north", rows = 3, deep = { on = true } }

[tools.bing_search]
preset = { api_key = "${BING_API_KEY}" }
permission = "ask"
timeout = "30s"

[mcpServers.time]
command = "uvx"
args = ["mcp-server-time"]
env = { TOKEN = "${TOKEN}" }

[mcpServers.far]
type = "streamable_http"
url = "https://example.com/mcp"

[models.my-qwen-max]
provider = "dashscope"
base_url = "http://127.0.0.1:11434/v1"
name = "qwen-max"
api_key = "${DASHSCOPE_API_KEY}"
content_when_empty = ""
max_tokens = 4096
parameters = { temperature = 0.2 }
timeout = "2m"

[agent]
model = "my-qwen-max"
mode = "api"
name = "Friday"
system_prompt = "You're a helpful assistant named Friday."
tool_execution = "per-tool"
max_iterations = 10

[sdk]
path = "../sdk"

[state]
dir = ".state"

[serve]
expose = ["writeTool"]
"#;

#[test]
#[expect(clippy::too_many_lines, reason = "one whole object is compared")]
fn every_section_is_read() {
    let template = |text: &str| Template::parse(text).unwrap();
    let path = |text: &str| ConfigPath::new(Path::new("/project"), template(text));
    let text = |value: &str| SecretValue::new(value::Shape::Text(template(value)));
    let plain = |value: serde_json::Value| SecretValue::new(value::Shape::Plain(value));
    let config = parsed(WHOLE);
    let expected = Config {
        plugins: BTreeMap::from([(
            "search-wine".to_owned(),
            PluginConfig {
                isolation: Some(Isolation::Sandbox),
                grants: Grants {
                    read: vec![path("data")],
                    write: Vec::new(),
                    network: Some(vec![NetworkGrant {
                        host: "api.example.com".to_owned(),
                        port: 443,
                    }]),
                    env: vec!["LANG".to_owned()],
                    exec: false,
                    sockets: false,
                },
                limits: PluginLimits {
                    memory: Some(512 << 20),
                },
                settings: BTreeMap::from([
                    ("cellar".to_owned(), text("north")),
                    (
                        "deep".to_owned(),
                        SecretValue::new(value::Shape::Table(vec![(
                            "on".to_owned(),
                            plain(json!(true)),
                        )])),
                    ),
                    ("rows".to_owned(), plain(json!(3))),
                ]),
            },
        )]),
        tools: BTreeMap::from([(
            "bing_search".to_owned(),
            ToolConfig {
                preset: BTreeMap::from([("api_key".to_owned(), text("${BING_API_KEY}"))]),
                permission: Some(Permission::Ask),
                timeout: Some(Duration::from_secs(30)),
            },
        )]),
        mcp_servers: BTreeMap::from([
            (
                "far".to_owned(),
                McpServerConfig {
                    url: Some(template("https://example.com/mcp")),
                    transport: Some(Transport::Http),
                    ..McpServerConfig::default()
                },
            ),
            (
                "time".to_owned(),
                McpServerConfig {
                    command: Some(template("uvx")),
                    args: vec![template("mcp-server-time")],
                    env: BTreeMap::from([("TOKEN".to_owned(), Secret::new(template("${TOKEN}")))]),
                    ..McpServerConfig::default()
                },
            ),
        ]),
        models: BTreeMap::from([(
            "my-qwen-max".to_owned(),
            ModelConfig {
                provider: Some(Provider::DashScope),
                base_url: Some(template("http://127.0.0.1:11434/v1")),
                name: Some(template("qwen-max")),
                api_key: Some(Secret::new(template("${DASHSCOPE_API_KEY}"))),
                content_when_empty: Some(String::new()),
                max_tokens: Some(4096),
                parameters: BTreeMap::from([("temperature".to_owned(), plain(json!(0.2)))]),
                timeout: Some(Duration::from_mins(2)),
            },
        )]),
        agent: AgentConfig {
            model: Some("my-qwen-max".to_owned()),
            mode: Some(AgentMode::Api),
            name: Some(template("Friday")),
            system_prompt: Some(template("You're a helpful assistant named Friday.")),
            tool_execution: Some(ToolExecution::PerTool),
            max_iterations: Some(10),
        },
        sdk: SdkConfig {
            path: Some(path("../sdk")),
            git: None,
            version: None,
        },
        state: StateConfig {
            dir: Some(path(".state")),
        },
        serve: ServeConfig {
            expose: vec!["writeTool".to_owned()],
        },
        sandbox_minimum: Some(6),
        max_images: Some(20),
        written: config.written.clone(),
    };
    assert_eq!(config, expected);
}

#[test]
fn nothing_is_a_configuration_too() {
    assert_eq!(parsed(""), Config::default());
}

#[test]
fn sections_that_nothing_serves_are_named_once_each_in_order() {
    let mut unsupported = parsed(WHOLE).unsupported();
    unsupported.sort_by_key(|problem| problem.line);
    let lines: Vec<String> = unsupported
        .iter()
        .map(|problem| format!("{}: {problem}", problem.line))
        .collect();
    assert_eq!(
        lines,
        [
            "16: `mcpServers.time` is not supported yet",
            "21: `mcpServers.far` is not supported yet",
            "49: `serve` is not supported yet",
        ]
    );
}

#[test]
fn loading_serves_what_is_served_and_refuses_the_rest_with_the_other_problems() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    fs::write(
        &file,
        "[tools.a]\ntimeout = \"2m\"\n[sdk]\npath = \"s\"\n[state]\ndir = \"d\"\n",
    )
    .unwrap();
    let config = Config::load(&file).unwrap();
    assert_eq!(config.tools["a"].timeout, Some(Duration::from_mins(2)));
    assert_eq!(
        config.sdk.path.unwrap().resolve(&no_variable),
        Ok(std::path::absolute(folder.path().join("s")).unwrap())
    );

    fs::write(&file, "[serve]\nexpose = 3\n[tools.a]\ntimeuot = \"2m\"\n").unwrap();
    let error = Config::load(&file).unwrap_err();
    let place = file.display();
    assert_eq!(
        error.to_string(),
        format!(
            "{place}:1:2: `serve` is not supported yet\n\
             {place}:2:10: `serve.expose` must be a list, found an integer\n\
             {place}:4:1: unknown key `tools.a.timeuot`, did you mean `timeout`?"
        )
    );
    assert_eq!(
        error.hint().as_deref(),
        Some(
            "remove `serve` until a version supports it\n\
             known beside `tools.a.timeuot`: permission, preset, timeout"
        )
    );
    assert!(matches!(
        Config::load(&folder.path().join("none")),
        Err(ConfigError::Read(_))
    ));
}

#[test]
fn unknown_keys_name_the_closest_one_and_their_place() {
    assert_eq!(
        problems(
            "[tool.x]\ntimeout = \"1s\"\n\
             [models.a]\nbaseUrl = \"x\"\n\
             [plugins.\"a b\".grants]\nreads = []\n\
             [agent]\nzebra = 1\n\
             [mcp_servers.x]\n"
        ),
        [
            "1:2: unknown key `tool`, did you mean `tools`?",
            "4:1: unknown key `models.a.baseUrl`, did you mean `base_url`?",
            "6:1: unknown key `plugins.\"a b\".grants.reads`, did you mean `read`?",
            "8:1: unknown key `agent.zebra`",
            "9:2: unknown key `mcp_servers`, did you mean `mcpServers`?",
        ]
    );
}

#[test]
fn wrong_values_say_what_was_expected_and_found() {
    assert_eq!(
        problems(
            r#"max_images = 0
sandbox_minimum = "six"
tools = 3
[plugins.a]
isolation = "sandboxed"
grants = { network = ["https://x", "ok:80", "x:0"], exec = "no", read = [1, ""] }
limits.memory = "512 megs"
[models]
"é" = { provider = "open-ai", name = 1.5 }
[agent]
max_iterations = -1
system_prompt = "${UNCLOSED"
"#
        ),
        [
            "1:14: `max_images` must be a whole number of at least 1, found 0",
            "2:19: `sandbox_minimum` must be a whole number of at least 0, found a string",
            "3:9: `tools` must be a table, found an integer",
            "5:13: `plugins.a.isolation` must be one of \"in-process\", \"worker\", \"sandbox\", found \"sandboxed\"",
            "6:23: `plugins.a.grants.network` must be a host and a port such as \"api.example.com:443\", found \"https://x\"",
            "6:45: `plugins.a.grants.network` must be a host and a port such as \"api.example.com:443\", found \"x:0\"",
            "6:60: `plugins.a.grants.exec` must be true or false, found a string",
            "6:74: `plugins.a.grants.read` must be a string, found an integer",
            "6:77: `plugins.a.grants.read` must be a path, found \"\"",
            "7:17: `plugins.a.limits.memory` must be a size such as \"64kB\" or \"512MiB\", found \"512 megs\"",
            "9:20: `models.\"é\".provider` must be one of \"openai\", \"dashscope\", \"anthropic\", \"gemini\", found \"open-ai\"",
            "9:38: `models.\"é\".name` must be a string, found a float",
            "11:18: `agent.max_iterations` must be a whole number of at least 1, found -1",
            "12:17: `agent.system_prompt` must be text in which every `${` is closed by `}`, found \"${UNCLOSED\"",
        ]
    );
}

#[test]
fn keys_that_exclude_each_other_or_lack_something_are_refused() {
    assert_eq!(
        problems(
            "[mcpServers.a]\nargs = []\n\
             [mcpServers.b]\ncommand = \"x\"\nurl = \"y\"\n\
             [sdk]\npath = \"p\"\nversion = \"1\"\n"
        ),
        [
            "1:1: `mcpServers.a` needs `command` or `url`",
            "5:7: `mcpServers.b.url` excludes `command`, which stands beside it",
            "8:11: `sdk.version` excludes `path`, which stands beside it",
        ]
    );
}

#[test]
fn broken_text_is_reported_by_line_without_quoting_it() {
    let lines = problems("[agent]\nmodel = \n[state]\ndir = \"hunter2\nx = 1\n");
    assert_eq!(
        lines.iter().map(|line| &line[..2]).collect::<Vec<_>>(),
        ["2:", "4:"]
    );
    assert!(
        lines.iter().all(|line| !line.contains("hunter2")),
        "{lines:?}"
    );
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let config = parsed("[state]\ndir = \"${WHERE:-a}/b\"\n");
    let dir =
        |environment: Environment<'_>| config.state_dir(Path::new("/project/plugins"), environment);
    assert_eq!(dir(&no_variable), Ok(PathBuf::from("/project/a/b")));
    assert_eq!(
        dir(&|_| Some("/abs".to_owned())),
        Ok(PathBuf::from("/abs/b"))
    );
}

#[test]
fn the_state_folder_is_configured_or_named_or_beside_the_plugins() {
    let plugins = Path::new("/project/plugins");
    let named = |name: &str| (name == STATE_VARIABLE).then(|| "/var/state".to_owned());
    let config = Config::default();
    assert_eq!(
        config.state_dir(plugins, &named),
        Ok(PathBuf::from("/var/state"))
    );
    assert_eq!(
        config.state_dir(plugins, &no_variable),
        Ok(PathBuf::from("/project/.toolsmith"))
    );
}
