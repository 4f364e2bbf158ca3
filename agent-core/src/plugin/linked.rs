//! Tools that are linked into this program (`toolsmith_static!`). They run as those of a library
//! do: behind a panic guard, plain functions on the tool pool, async ones on a runtime of their
//! own.

use std::sync::Arc;

use tool_sdk::abi::this_program;
use tool_sdk::tool::StaticTool;

use super::PluginError;
use super::bridge::{Home, PluginTool};
use super::http::HttpService;
use super::introduction::introduce_linked;
use super::pool::ToolPool;
use super::state::PluginState;
use crate::ids::PluginName;

/// The chosen tools of one package that is linked into this program.
#[derive(Debug)]
pub struct LinkedPackage {
    /// The package.
    pub package: PluginName,
    /// Its tools, in the order in which they were named.
    pub tools: Vec<Arc<PluginTool>>,
    /// What they share. To be opened before the first call.
    pub state: PluginState,
}

/// Makes the tools callable, package by package. `http` says who makes the requests of a package.
pub fn linked(
    tools: &[StaticTool],
    pool: &ToolPool,
    http: impl Fn(&PluginName) -> Arc<dyn HttpService>,
) -> Result<Vec<LinkedPackage>, PluginError> {
    let module = this_program();
    let introduced = introduce_linked(module, tools)?;
    let packages = introduced.into_iter().map(|introduced| {
        let package = PluginName::new(introduced.package.as_str());
        let home = Home::new(module, package.clone(), pool.clone(), http(&package));
        let tools = introduced.tools.iter();
        let tools = tools.map(|(index, tool)| home.tool(*index, tool)).collect();
        Ok(LinkedPackage {
            package,
            tools,
            state: PluginState::new(&introduced, home.opener())?,
        })
    });
    packages.collect()
}
