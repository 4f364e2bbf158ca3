//! The tools of a plugin that runs in a process of its own → [`HostTool`]. What they do and answer
//! is what the same tools do and answer in this process.

use std::sync::Arc;

use serde_json::Value;
use tool_sdk::abi::{Reply, ToolIndex};
use tool_sdk::tool::ToolDescription;
use tool_sdk::{ToolError, ToolResult};

use super::protocol::{Request, What};
use super::sandbox::Enforced;
use super::supervisor::{Launch, OnGivenUp, Supervisor};
use crate::ids::GenerationNumber;
use crate::plugin::bridge::{self, outcome, prepared, validated};
use crate::plugin::state::PluginState;
use crate::plugin::verdict::Introduced;
use crate::plugin::{Generation, LoadedPlugin, PluginError};
use crate::tool::{BoxFuture, Execution, HostTool, ToolSpec};

/// Starts a process for a stored library that was tried out, confined where that is asked for, and
/// takes its tools over. With them comes what is enforced.
pub async fn start_plugin(
    launch: Launch,
    introduced: &Introduced,
    number: GenerationNumber,
    on_given_up: OnGivenUp,
) -> Result<(LoadedPlugin, Option<Enforced>), PluginError> {
    let (plugin, hash) = (launch.plugin.clone(), launch.library.hash);
    let (supervisor, enforced) = Supervisor::start(launch, on_given_up).await?;
    let retired = Arc::clone(&supervisor);
    let generation = Generation::new(plugin, number, hash, move || {
        retired.retire();
    });
    let opening = Arc::clone(&supervisor);
    let opener = Box::new(move |package, settings| -> BoxFuture<'static, _> {
        let supervisor = Arc::clone(&opening);
        Box::pin(async move { supervisor.open(package, settings).await })
    });
    let tools = introduced.tools.iter();
    let tools = tools.map(|(index, tool)| worker_tool(*index, tool, &supervisor));
    let loaded = LoadedPlugin {
        generation,
        tools: tools.collect(),
        state: PluginState::new(introduced, opener)?,
        image_size: None,
    };
    Ok((loaded, enforced))
}

/// One tool of a plugin in a process of its own.
struct WorkerTool {
    spec: Arc<ToolSpec>,
    index: ToolIndex,
    what: What,
    supervisor: Arc<Supervisor>,
}

fn worker_tool(
    index: ToolIndex,
    tool: &ToolDescription,
    supervisor: &Arc<Supervisor>,
) -> Arc<dyn HostTool> {
    let what = match (tool.is_async, tool.inline) {
        (true, _) => What::Async,
        (false, true) => What::Inline,
        (false, false) => What::Blocking,
    };
    Arc::new(WorkerTool {
        spec: Arc::new(bridge::spec(tool)),
        index,
        what,
        supervisor: Arc::clone(supervisor),
    })
}

impl WorkerTool {
    async fn ask_hook(&self, what: What, arguments: &Value) -> Result<Reply, ToolError> {
        let request = |number| Request::Call {
            number,
            tool: self.index,
            what,
            call_id: String::new(),
        };
        let arguments = arguments.to_string();
        self.supervisor.ask(request, &arguments).await
    }
}

impl HostTool for WorkerTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn prepare(&self, arguments: Value) -> BoxFuture<'_, Result<Value, ToolError>> {
        let inline = self.what == What::Inline;
        Box::pin(async move {
            let reply = self.ask_hook(What::Prepare { inline }, &arguments).await?;
            prepared(reply)
        })
    }

    fn validate<'a>(
        &'a self,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        let inline = self.what == What::Inline;
        Box::pin(async move {
            let reply = self.ask_hook(What::Validate { inline }, arguments).await?;
            validated(reply)
        })
    }

    fn execute<'a>(&'a self, call: Execution<'a>) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let request = |number| Request::Call {
                number,
                tool: self.index,
                what: self.what,
                call_id: call.call_id.to_owned(),
            };
            let arguments = call.arguments_text();
            let progress = Arc::clone(&call.progress);
            let reply = self.supervisor.call(request, &arguments, progress);
            outcome(reply.await?)
        })
    }
}
