//! Which keys a configuration may hold, section by section, and what each of them may say.
//!
//! Owns the list of keys. Does not own the mechanics of reading, which are [`super::read`]'s.

use std::path::Path;

use toml::de::DeTable;

use super::error::{Problem, ProblemKind};
use super::read::{Fields, Node, Reader};
use super::value::{DURATION, NetworkGrant, SIZE, duration, size};
use super::{
    AgentConfig, Config, Grants, McpServerConfig, ModelConfig, PluginConfig, PluginLimits,
    SdkConfig, ServeConfig, StateConfig, ToolConfig,
};

/// Reads a whole file; what is wrong in it is left out of the result and listed beside it.
pub(super) fn read(text: &str, file: &Path) -> (Config, Vec<Problem>) {
    let mut reader = Reader::new(text, file);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        // What the parser makes of the rest of broken text is a guess; problems found in it
        // would mislead.
        for error in &errors {
            reader.syntax(error);
        }
        return (Config::default(), reader.problems);
    }
    let mut config = reader.root(table, root).unwrap_or_default();
    config.written = reader.written;
    (config, reader.problems)
}

fn root(fields: &mut Fields<'_, '_, '_, '_>) -> Config {
    Config {
        plugins: fields.take_or_default("plugins", |reader, node| reader.named(node, plugin)),
        tools: fields.take_or_default("tools", |reader, node| reader.named(node, tool)),
        mcp_servers: fields
            .take_or_default("mcpServers", |reader, node| reader.named(node, mcp_server)),
        models: fields.take_or_default("models", |reader, node| reader.named(node, model)),
        agent: fields.take_or_default("agent", agent),
        sdk: fields.take_or_default("sdk", sdk),
        state: fields.take_or_default("state", state),
        serve: fields.take_or_default("serve", serve),
        sandbox_minimum: fields.take("sandbox_minimum", |reader, node| reader.count(node, 0)),
        max_images: fields.take("max_images", |reader, node| reader.count(node, 1)),
        written: Vec::new(),
    }
}

fn plugin(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<PluginConfig> {
    reader.table(node, |fields| PluginConfig {
        isolation: fields.take("isolation", Reader::word),
        grants: fields.take_or_default("grants", grants),
        limits: fields.take_or_default("limits", limits),
        settings: fields.take_or_default("settings", |reader, node| {
            reader.named(node, Reader::secret_value)
        }),
    })
}

fn grants(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<Grants> {
    reader.table(node, |fields| Grants {
        read: fields.take_or_default("read", |reader, node| reader.list(node, Reader::path)),
        write: fields.take_or_default("write", |reader, node| reader.list(node, Reader::path)),
        network: fields.take("network", |reader, node| {
            reader.list(node, |reader, node| {
                reader.meaning(node, NetworkGrant::EXPECTED, NetworkGrant::parse)
            })
        }),
        env: fields.take_or_default("env", |reader, node| reader.list(node, Reader::string)),
        exec: fields.take_or_default("exec", Reader::boolean),
        sockets: fields.take_or_default("sockets", Reader::boolean),
    })
}

fn limits(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<PluginLimits> {
    reader.table(node, |fields| PluginLimits {
        memory: fields.take("memory", |reader, node| reader.meaning(node, SIZE, size)),
    })
}

fn tool(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<ToolConfig> {
    reader.table(node, |fields| ToolConfig {
        preset: fields.take_or_default("preset", |reader, node| {
            reader.named(node, Reader::secret_value)
        }),
        permission: fields.take("permission", Reader::word),
        timeout: fields.take("timeout", |reader, node| {
            reader.meaning(node, DURATION, duration)
        }),
    })
}

fn mcp_server(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<McpServerConfig> {
    reader.table(node, |fields| {
        if !fields.holds("command") && !fields.holds("url") {
            fields.problem(ProblemKind::Missing {
                expected: "`command` or `url`",
            });
        }
        fields.exclusive("url", "command");
        McpServerConfig {
            command: fields.take("command", Reader::template),
            args: fields
                .take_or_default("args", |reader, node| reader.list(node, Reader::template)),
            env: fields.take_or_default("env", |reader, node| reader.named(node, Reader::secret)),
            url: fields.take("url", Reader::template),
            transport: fields.take("type", Reader::word),
        }
    })
}

fn model(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<ModelConfig> {
    reader.table(node, |fields| ModelConfig {
        provider: fields.take("provider", Reader::word),
        base_url: fields.take("base_url", Reader::template),
        name: fields.take("name", Reader::template),
        api_key: fields.take("api_key", Reader::secret),
        content_when_empty: fields.take("content_when_empty", Reader::string),
        max_tokens: fields.take("max_tokens", |reader, node| reader.count(node, 1)),
        parameters: fields.take_or_default("parameters", |reader, node| {
            reader.named(node, Reader::secret_value)
        }),
        timeout: fields.take("timeout", |reader, node| {
            reader.meaning(node, DURATION, duration)
        }),
    })
}

fn agent(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<AgentConfig> {
    reader.table(node, |fields| AgentConfig {
        model: fields.take("model", Reader::string),
        mode: fields.take("mode", Reader::word),
        name: fields.take("name", Reader::template),
        system_prompt: fields.take("system_prompt", Reader::template),
        tool_execution: fields.take("tool_execution", Reader::word),
        max_iterations: fields.take("max_iterations", |reader, node| reader.count(node, 1)),
    })
}

fn sdk(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<SdkConfig> {
    reader.table(node, |fields| {
        fields.exclusive("git", "path");
        fields.exclusive("version", "path");
        fields.exclusive("version", "git");
        SdkConfig {
            path: fields.take("path", Reader::path),
            git: fields.take("git", Reader::template),
            version: fields.take("version", Reader::string),
        }
    })
}

fn state(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<StateConfig> {
    reader.table(node, |fields| StateConfig {
        dir: fields.take("dir", Reader::path),
    })
}

fn serve(reader: &mut Reader<'_>, node: Node<'_, '_>) -> Option<ServeConfig> {
    reader.table(node, |fields| ServeConfig {
        expose: fields.take_or_default("expose", |reader, node| reader.list(node, Reader::string)),
    })
}
