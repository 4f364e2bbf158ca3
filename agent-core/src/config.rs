//! The whole `toolsmith.toml`: its types, where it lies, and what of it is served.
//!
//! Owns the shape of the file. Does not own the meaning of a section: whoever serves it takes the
//! values from here and expands `${VAR}` when it uses them, so that an unset variable hurts only
//! what needs it.
//!
//! A file is read in three steps. `read` walks the parsed text and collects every problem of the
//! file with its place; `sections` says which keys exist and what each may hold; the list
//! `NOT_SERVED` names the keys that are part of the file's shape and that nothing serves yet.

mod error;
mod project;
mod read;
mod scalar;
mod sections;
mod value;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;

pub use self::error::{ConfigError, Problem, ProblemKind};
pub use self::project::{Project, find_project};
pub use self::value::{
    ConfigPath, Environment, NetworkGrant, Secret, SecretValue, Template, Unset,
};
pub use self::words::{AgentMode, Isolation, Permission, Provider, ToolExecution, Transport};

use self::read::Written;

/// The name of the configuration file.
pub const FILE_NAME: &str = "toolsmith.toml";

/// The variable that names the state folder where the configuration does not.
pub const STATE_VARIABLE: &str = "TOOLSMITH_STATE";

/// Keys that parse and validate and that nothing serves yet; `*` stands for any name.
///
/// Whoever begins to serve a section removes its line here, and nothing else.
const NOT_SERVED: &[&[&str]] = &[
    &["mcpServers", "*"],
    &["sdk", "git"],
    &["sdk", "version"],
    &["serve"],
];

/// Everything a `toolsmith.toml` says; each part of it may be absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// Settings of plugins, by the name of their crate.
    pub plugins: BTreeMap<String, PluginConfig>,
    /// Settings of tools, by the name of the tool.
    pub tools: BTreeMap<String, ToolConfig>,
    /// MCP servers whose tools are offered beside our own, by a name for each.
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
    /// Models that an agent may use, by a name for each.
    pub models: BTreeMap<String, ModelConfig>,
    /// How the agent loop runs.
    pub agent: AgentConfig,
    /// Which SDK new plugin crates depend on.
    pub sdk: SdkConfig,
    /// Where the host keeps what it must remember.
    pub state: StateConfig,
    /// What the MCP server shows.
    pub serve: ServeConfig,
    /// Lowest Landlock revision that still counts as a sandbox.
    pub sandbox_minimum: Option<u32>,
    /// Replaced libraries of one plugin that may stay mapped in the host.
    pub max_images: Option<usize>,
    /// The keys that the file holds, with their places, in the order they were read.
    written: Vec<Written>,
}

/// `[plugins.NAME]`: how far one plugin is trusted, and what it is given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PluginConfig {
    /// Where the plugin's code runs.
    pub isolation: Option<Isolation>,
    /// What a sandboxed plugin may reach; `network` is for every plugin.
    pub grants: Grants,
    /// What an isolated plugin may use up.
    pub limits: PluginLimits,
    /// What the plugin's own state is opened with.
    pub settings: BTreeMap<String, SecretValue>,
}

/// `grants` of a plugin: what a person allowed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Files and folders that may be read.
    pub read: Vec<ConfigPath>,
    /// Files and folders that may be written.
    pub write: Vec<ConfigPath>,
    /// Hosts and ports that may be connected to. Where it is absent, a sandboxed plugin reaches none
    /// and any other plugin all.
    pub network: Option<Vec<NetworkGrant>>,
    /// Environment variables that are handed on.
    pub env: Vec<String>,
    /// Whether other programs may be started.
    pub exec: bool,
    /// Whether it may connect by itself, to everyone: the kernel can't tell one host from another.
    pub sockets: bool,
}

/// `limits` of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginLimits {
    /// Memory in bytes.
    pub memory: Option<u64>,
}

/// `[tools.NAME]`: what a person decided about one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolConfig {
    /// Arguments that are always these and that no model sees.
    pub preset: BTreeMap<String, SecretValue>,
    /// Whether the tool runs, is asked for, or is refused.
    pub permission: Option<Permission>,
    /// How long a call may run.
    pub timeout: Option<Duration>,
}

/// `[mcpServers.NAME]`: a server to start (`command`) or to reach (`url`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServerConfig {
    /// The program of a server that is started.
    pub command: Option<Template>,
    /// The program's arguments.
    pub args: Vec<Template>,
    /// Environment variables of the started server.
    pub env: BTreeMap<String, Secret>,
    /// The address of a server that runs elsewhere.
    pub url: Option<Template>,
    /// How the server is spoken to, where that can't be seen from the rest.
    pub transport: Option<Transport>,
}

/// `[models.NAME]`: one model behind one service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelConfig {
    /// Whose dialect the service speaks.
    pub provider: Option<Provider>,
    /// The service's address, where it is not the provider's own.
    pub base_url: Option<Template>,
    /// The model's name at the service, where it is not the section's own name.
    pub name: Option<Template>,
    /// The key that the service asks for.
    pub api_key: Option<Secret>,
    /// The content of an assistant message that holds only calls, for services that insist on text.
    pub content_when_empty: Option<String>,
    /// Tokens that one answer may have.
    pub max_tokens: Option<u32>,
    /// What goes into the body of every request as it is.
    pub parameters: BTreeMap<String, SecretValue>,
    /// How long the service may be silent.
    pub timeout: Option<Duration>,
}

/// `[agent]`: how the loop of questions and calls runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentConfig {
    /// The model to use, by its name in `[models]`.
    pub model: Option<String>,
    /// Whether calls go through the provider's API or through the prompt.
    pub mode: Option<AgentMode>,
    /// What the agent is called.
    pub name: Option<Template>,
    /// The instruction at the head of every conversation.
    pub system_prompt: Option<Template>,
    /// Whether the calls of one turn may run beside each other.
    pub tool_execution: Option<ToolExecution>,
    /// Turns after which the loop must end.
    pub max_iterations: Option<u32>,
}

/// `[sdk]`: where new plugin crates find `tool-sdk`; at most one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SdkConfig {
    /// The folder of the `tool-sdk` crate.
    pub path: Option<ConfigPath>,
    /// The address of a repository that holds the crate.
    pub git: Option<Template>,
    /// A published version of the crate.
    pub version: Option<String>,
}

/// `[state]`: where the host remembers builds, verdicts and private copies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateConfig {
    /// The folder.
    pub dir: Option<ConfigPath>,
}

/// `[serve]`: what the MCP server shows to clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServeConfig {
    /// Tools that are shown although they are held back by default.
    pub expose: Vec<String>,
}

impl Config {
    /// Reads a file and refuses what is wrong in it and what nothing serves yet.
    ///
    /// Every problem of the file is reported at once, in the order of its lines.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let path = std::path::absolute(path).map_err(ConfigError::Read)?;
        let text = fs::read_to_string(&path).map_err(ConfigError::Read)?;
        let (config, mut problems) = sections::read(&text, &path);
        problems.extend(config.unsupported());
        Self::judged(config, problems, path)
    }

    /// Reads the text of a file that lies at `path`, sections that nothing serves yet included.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let (config, problems) = sections::read(text, path);
        Self::judged(config, problems, path.to_path_buf())
    }

    /// What the file holds and nothing serves yet.
    pub fn unsupported(&self) -> Vec<Problem> {
        self.written
            .iter()
            .filter(|written| NOT_SERVED.iter().any(|pattern| written.matches(pattern)))
            .map(|written| written.problem(ProblemKind::NotSupported))
            .collect()
    }

    /// The folder in which the host remembers things: `[state] dir`, else the variable
    /// [`STATE_VARIABLE`], else `.toolsmith` beside the plugins folder.
    pub fn state_dir(
        &self,
        plugins: &Path,
        environment: Environment<'_>,
    ) -> Result<PathBuf, Unset> {
        if let Some(dir) = &self.state.dir {
            return dir.resolve(environment);
        }
        let named = environment(STATE_VARIABLE)
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from);
        let dir = named.unwrap_or_else(|| plugins.parent().unwrap_or(plugins).join(".toolsmith"));
        Ok(std::path::absolute(&dir).unwrap_or(dir))
    }

    fn judged(
        config: Self,
        mut problems: Vec<Problem>,
        path: PathBuf,
    ) -> Result<Self, ConfigError> {
        if problems.is_empty() {
            return Ok(config);
        }
        problems.sort_by_key(|problem| (problem.line, problem.column));
        Err(ConfigError::Invalid { path, problems })
    }
}

#[cfg(test)]
mod tests;
