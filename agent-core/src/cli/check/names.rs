//! Names that two want, and names in `toolsmith.toml` that nothing has.

use super::super::contract::Finding;
use super::super::inspect::Inspected;
use super::{about, warning};
use crate::config::Config;
use crate::ids::{PluginName, is_same_plugin};
use crate::registry::Index;
use crate::tool::preset::arguments;
use crate::tool::problem::closest;

/// Names that the host's own tools have.
const BUILT_IN: [&str; 2] = ["listTools", "writeTool"];

/// Tools of one plugin whose names others want too. The plugin whose name comes first keeps a
/// tool's name; that it does is told only where `winner_too`.
pub(super) fn conflicts(this: &Inspected, others: &[&Inspected], winner_too: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for tool in names(this) {
        let of_tool = |code: &str, text: String| Finding {
            tool: Some(tool.to_owned()),
            ..about(&this.plugin, warning(code, text))
        };
        if BUILT_IN.contains(&tool) {
            let text = format!("tool `{tool}` can't be called: the host's own tool has that name");
            findings.push(of_tool("builtInName", text));
        }
        let rivals = others
            .iter()
            .filter(|other| names(other).any(|name| name == tool));
        let Some(rival) = rivals.map(|other| &other.plugin).min() else {
            continue;
        };
        if *rival < this.plugin {
            let text = format!("tool `{tool}` can't be called: plugin `{rival}` has that name");
            findings.push(of_tool("nameConflict", text));
        } else if winner_too {
            let text = format!(
                "plugin `{rival}` has a tool `{tool}` too, which can't be called beside this one"
            );
            findings.push(of_tool("nameConflict", text));
        }
    }
    findings
}

fn names(this: &Inspected) -> impl Iterator<Item = &str> {
    let introduced = this.introduced.iter();
    introduced.flat_map(|introduced| introduced.tools.iter().map(|(_, tool)| tool.name.as_str()))
}

/// Sections of the configuration for plugins, tools and arguments that there are not.
pub(super) fn unknown(config: &Config, index: &Index, all: &[Inspected]) -> Vec<Finding> {
    let mut findings = unknown_plugins(config, index);
    // A plugin that does not serve may have the tool.
    let is_certain = index.refused.is_empty()
        && config.mcp_servers.is_empty()
        && all.iter().all(|this| this.reasons.is_empty());
    for (name, section) in &config.tools {
        let has_tool = |this: &&Inspected| names(this).any(|tool| tool == name);
        let Some(this) = all.iter().find(has_tool) else {
            if is_certain && !BUILT_IN.contains(&name.as_str()) {
                let known = all.iter().flat_map(names);
                let text = format!("`[tools.{name}]` names no tool{}", meant(name, known));
                findings.push(Finding {
                    tool: Some(name.clone()),
                    ..warning("unknownTool", text)
                });
            }
            continue;
        };
        let tools = this.introduced.iter().flat_map(|one| &one.tools);
        for (_, tool) in tools.filter(|(_, tool)| tool.name == *name) {
            let known = || arguments(&tool.input_schema);
            for preset in section.preset.keys() {
                if known().all(|argument| argument != preset) {
                    let text = format!(
                        "`[tools.{name}] preset` names no argument `{preset}`{}",
                        meant(preset, known())
                    );
                    findings.push(Finding {
                        tool: Some(name.clone()),
                        ..about(&this.plugin, warning("unknownPreset", text))
                    });
                }
            }
        }
    }
    findings
}

fn unknown_plugins(config: &Config, index: &Index) -> Vec<Finding> {
    // A crate whose manifest can't be read is called by its folder.
    let known = || index.plugins.keys().chain(index.refused.keys());
    let is_known = |name: &str| known().any(|one| is_same_plugin(one.as_str(), name));
    let unknown = config.plugins.keys().filter(|name| !is_known(name));
    let told = unknown.map(|name| {
        let known = known().map(PluginName::as_str);
        let text = format!("`[plugins.{name}]` names no plugin{}", meant(name, known));
        let finding = warning("unknownPlugin", text);
        about(&PluginName::new(name.as_str()), finding)
    });
    told.collect()
}

fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    closest(name, known).map_or_else(String::new, |close| format!(", did you mean `{close}`?"))
}
