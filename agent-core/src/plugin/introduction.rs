//! The first conversation with a loaded library: who it is, and whether what it says of itself
//! may be published.
//!
//! A library is asked in a helper process, once for its content. What it said is kept, and the
//! host, which maps it afterwards, only makes the connection.

use std::path::Path;

use tool_sdk::abi::{HostServices, HostTableRef, PluginModuleRef, Reply, Status, ToolIndex};
use tool_sdk::tool::{PluginDescription, StateDescription, StaticTool, ToolDescription};

use super::bridge::{host_table, outcome};
use super::verdict::Introduced;
use super::{PluginError, load, state};
use crate::ids::{PluginName, is_same_plugin, is_tool_name};
use crate::tool::{ArgumentSchema, declared};

/// Maps a library for a trial and hears what it holds. For a process that may die of it.
///
/// `package` is the package whose tools it should serve, `markers` the names that its file
/// exports.
pub(crate) fn try_out(
    library: &Path,
    plugin: &PluginName,
    package: &str,
    markers: &[String],
) -> Result<Introduced, PluginError> {
    let module = load::load(library)?;
    let introduced = introduce(module, plugin, package, markers)?;
    // A schema that can't be compiled costs its tool alone; here it may not cost the process.
    for (_, tool) in &introduced.tools {
        drop(ArgumentSchema::compile(&tool.input_schema));
    }
    state::settings_schema(&introduced.package, &introduced.states)?;
    Ok(introduced)
}

/// Connects a library that is mapped and was tried out before, with these functions of its host.
pub(crate) fn connect(
    module: PluginModuleRef,
    plugin: &str,
    host: HostTableRef,
) -> Result<(), PluginError> {
    value("connect", module.connect()(HostServices::new(plugin, host))).map(drop)
}

/// Connects a library that was just loaded, and hears what it holds.
fn introduce(
    module: PluginModuleRef,
    plugin: &PluginName,
    package: &str,
    markers: &[String],
) -> Result<Introduced, PluginError> {
    let introduction = Introduction { module };
    connect(module, plugin.as_str(), host_table())?;
    let PluginDescription { tools, states, .. } = introduction.describe()?;
    check_markers(markers, &tools)?;
    let package = own_package(&tools, package)?;
    let introduced = Introduced {
        tools: own_tools(tools, &package)?,
        states: own_states(states, &package)?,
        package,
    };
    // A tool that says of itself that it aborts was told as that by now; this would end the process.
    introduction.check_panics()?;
    Ok(introduced)
}

/// What the chosen tools of this program say of themselves, package by package. There is no
/// connection to make: logs and panics of linked code are the program's own.
pub(super) fn introduce_linked(
    module: PluginModuleRef,
    chosen: &[StaticTool],
) -> Result<Vec<Introduced>, PluginError> {
    let PluginDescription { tools, states, .. } = Introduction { module }.describe()?;
    let described: Vec<(ToolIndex, ToolDescription)> = (0..).zip(tools).collect();
    let mut packages: Vec<Introduced> = Vec::new();
    for (index, tool) in chosen.iter().filter_map(|tool| {
        let found = described.iter().find(|(index, _)| *index == tool.index());
        found.cloned()
    }) {
        check_tool(&tool)?;
        let known = packages
            .iter_mut()
            .find(|known| known.package == tool.package);
        if let Some(known) = known {
            known.tools.push((index, tool));
        } else {
            packages.push(Introduced {
                package: tool.package.clone(),
                states: own_states(states.clone(), &tool.package)?,
                tools: vec![(index, tool)],
            });
        }
    }
    Ok(packages)
}

/// The first conversation with a plugin.
struct Introduction {
    module: PluginModuleRef,
}

impl Introduction {
    fn check_panics(&self) -> Result<(), PluginError> {
        let reply = self.module.panic_on_purpose()();
        if reply.status == Status::PANIC {
            return Ok(());
        }
        let reason = "a panic on purpose was not reported".to_owned();
        Err(PluginError::Failed {
            step: "panic_on_purpose",
            reason,
        })
    }

    fn describe(&self) -> Result<PluginDescription, PluginError> {
        let json = value("describe", self.module.describe()())?;
        serde_json::from_str(&json).map_err(|error| PluginError::Failed {
            step: "describe",
            reason: error.to_string(),
        })
    }
}

pub(super) fn value(step: &'static str, reply: Reply) -> Result<String, PluginError> {
    if reply.status == Status::VALUE {
        return Ok(reply.body.into_string());
    }
    let reason = match outcome(reply) {
        Ok(_) => "it answered out of turn".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(PluginError::Failed { step, reason })
}

fn check_markers(markers: &[String], tools: &[ToolDescription]) -> Result<(), PluginError> {
    let mut registered: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    registered.sort_unstable();
    registered.dedup();
    if markers
        .iter()
        .map(String::as_str)
        .eq(registered.iter().copied())
    {
        return Ok(());
    }
    let (exported, registered) = (markers.join(", "), registered.join(", "));
    Err(PluginError::LostTools {
        exported,
        registered,
    })
}

/// The package whose tools the library serves. It may contain tools of crates that it merely
/// depends on.
fn own_package(tools: &[ToolDescription], package: &str) -> Result<String, PluginError> {
    let mut packages: Vec<&str> = tools.iter().map(|tool| tool.package.as_str()).collect();
    packages.dedup();
    match packages.as_slice() {
        [] => Ok(package.to_owned()),
        [only] => Ok((*only).to_owned()),
        several => match several.iter().find(|one| is_same_plugin(one, package)) {
            Some(own) => Ok((*own).to_owned()),
            None => Err(PluginError::NoOwnTools {
                expected: package.to_owned(),
                found: several.join(", "),
            }),
        },
    }
}

/// The tools of the library's own package, with their indices.
fn own_tools(
    tools: Vec<ToolDescription>,
    package: &str,
) -> Result<Vec<(ToolIndex, ToolDescription)>, PluginError> {
    let numbered = (0..).zip(tools).filter(|(_, tool)| tool.package == package);
    let mut own: Vec<(ToolIndex, ToolDescription)> = numbered.collect();
    own.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    // All at once: an author mends several in one go.
    let bad: Vec<PluginError> = own
        .iter()
        .filter_map(|(_, tool)| check_tool(tool).err())
        .collect();
    if let Some(error) = PluginError::all(bad) {
        return Err(error);
    }
    let twins = own.windows(2).find_map(|pair| match pair {
        [(_, one), (_, other)] => declared::twins(one, other),
        _ => None,
    });
    match twins {
        Some((tool, reason)) => Err(PluginError::BadTool { tool, reason }),
        None => Ok(own),
    }
}

fn own_states(
    states: Vec<StateDescription>,
    package: &str,
) -> Result<Vec<StateDescription>, PluginError> {
    let own = states
        .into_iter()
        .filter(|state| is_same_plugin(&state.package, package));
    let own: Vec<StateDescription> = own.collect();
    own.iter().try_for_each(check_state)?;
    Ok(own)
}

fn check_state(state: &StateDescription) -> Result<(), PluginError> {
    if state.problems.is_empty() {
        return Ok(());
    }
    let StateDescription {
        opens, file, line, ..
    } = state;
    Err(PluginError::BadState {
        reason: format!("`{opens}` ({file}:{line}): {}", state.problems.join("; ")),
    })
}

fn check_tool(tool: &ToolDescription) -> Result<(), PluginError> {
    if !tool.unwinds {
        return Err(PluginError::PanicAborts {
            tool: tool.name.clone(),
        });
    }
    if !is_tool_name(&tool.name) {
        let reason = "expected a name of 1 to 64 letters, digits, `_` or `-`".to_owned();
        return Err(PluginError::BadTool {
            tool: tool.name.clone(),
            reason,
        });
    }
    declared::check(tool).map_err(|reason| PluginError::BadTool {
        tool: tool.name.clone(),
        reason,
    })
}
