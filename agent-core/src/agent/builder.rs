//! Describes an agent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;

use super::groups::{ToolGroup, ToolGroups};
use super::hook::{AgentHooks, FormatMessages, PrepareContext};
use super::{Agent, Conversation, Inner, Model, Settings, Talk, Terminate};
use crate::call::{AfterToolCall, Approver, Around, BeforeToolCall, Caller, Hooks, Permissions};
use crate::config::ToolExecution;
use crate::event::{Emitter, Event, EventKind, EventSink, Queued};
use crate::limits;
use crate::message::Delta;
use crate::registry::{Registry, ToolEntry};
use crate::tool::{HostTool, Isolation, Origin};

/// An agent that is being described.
#[must_use]
pub struct AgentBuilder {
    settings: Settings,
    model: Arc<dyn Model>,
    registry: Option<Registry>,
    own_tools: Vec<Arc<ToolEntry>>,
    groups: ToolGroups,
    hooks: AgentHooks,
    call_hooks: Hooks,
    permissions: Permissions,
    timeout: Duration,
    result_limit: usize,
    sinks: Vec<Box<dyn FnOnce() -> std::io::Result<Queued>>>,
    conversation: Conversation,
}

impl AgentBuilder {
    pub(super) fn new(model: Arc<dyn Model>) -> Self {
        Self {
            settings: Settings {
                name: "assistant".to_owned(),
                system_prompt: String::new(),
                tool_execution: ToolExecution::PerTool,
                max_iterations: limits::ITERATIONS,
                closing_turn: false,
                terminate: Terminate::default(),
                stream: false,
                prefix: String::new(),
                repeat_limit: None,
            },
            model,
            registry: None,
            own_tools: Vec::new(),
            groups: ToolGroups::default(),
            hooks: AgentHooks::default(),
            call_hooks: Hooks::default(),
            permissions: Permissions::default(),
            timeout: limits::TOOL_TIMEOUT,
            result_limit: limits::RESULT_TEXT,
            sinks: Vec::new(),
            conversation: Conversation::default(),
        }
    }

    /// What the agent is called.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// The instructions at the head of every conversation.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.settings.system_prompt = prompt.into();
        self
    }

    /// The tools of this registry, as they are at each turn. The registry's sinks see the agent's
    /// events too; the agent's sinks see its own alone.
    pub fn tools(mut self, registry: Registry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// A tool of this agent alone.
    pub fn tool(mut self, tool: impl HostTool) -> Self {
        let tool = Arc::new(tool);
        let entry = ToolEntry::new(tool, Origin::Static, Isolation::None, None);
        self.own_tools.push(Arc::new(entry));
        self
    }

    /// A group of tools. Tools of no group are always shown.
    pub fn group(self, group: ToolGroup) -> Self {
        self.groups.add(group);
        self
    }

    /// Lets the model choose among the groups.
    pub fn model_chooses_groups(self) -> Self {
        self.groups.offer();
        self
    }

    /// Puts this in front of the name of every tool.
    pub fn tool_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Which calls of one answer overlap (R14).
    pub fn tool_execution(mut self, mode: ToolExecution) -> Self {
        self.settings.tool_execution = mode;
        self
    }

    /// How often the model is asked in one run, at most.
    pub fn max_iterations(mut self, count: usize) -> Self {
        self.settings.max_iterations = count.max(1);
        self
    }

    /// Asks the model once more when the limit is reached, for a last word without calls.
    pub fn closing_turn(mut self, is_on: bool) -> Self {
        self.settings.closing_turn = is_on;
        self
    }

    /// Which results of a batch end the loop (R5).
    pub fn terminate(mut self, terminate: Terminate) -> Self {
        self.settings.terminate = terminate;
        self
    }

    /// Hands out the model's answers while they come.
    pub fn stream(mut self, is_on: bool) -> Self {
        self.settings.stream = is_on;
        self
    }

    /// How often in a row the same call may be made, whether it fails or not; a further one is
    /// refused with that reason. A call that fails again and again is refused without it too.
    pub fn repeat_limit(mut self, count: usize) -> Self {
        self.settings.repeat_limit = Some(count.max(1));
        self
    }

    /// Time limit of tools that have none of their own.
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many bytes of one result's text the model sees.
    pub fn result_limit(mut self, bytes: usize) -> Self {
        self.result_limit = bytes;
        self
    }

    /// Changes what the model is to know, each time before it is asked.
    pub fn prepare_context(mut self, hook: impl PrepareContext) -> Self {
        self.hooks.prepare_context = Some(Arc::new(hook));
        self
    }

    /// Puts the context in the provider's words, instead of the model.
    pub fn format_messages(mut self, hook: impl FormatMessages) -> Self {
        self.hooks.format_messages = Some(Arc::new(hook));
        self
    }

    /// Decides before a tool runs.
    pub fn before_tool_call(mut self, hook: impl BeforeToolCall) -> Self {
        self.call_hooks.before_tool_call = Some(Arc::new(hook));
        self
    }

    /// Looks at a result before the model does.
    pub fn after_tool_call(mut self, hook: impl AfterToolCall) -> Self {
        self.call_hooks.after_tool_call = Some(Arc::new(hook));
        self
    }

    /// Stands around the execution of tools; the first that is given stands outermost.
    pub fn around(mut self, around: impl Around) -> Self {
        self.call_hooks.around.push(Arc::new(around));
        self
    }

    /// Who is asked for permission, and what needs none, instead of what was said so far.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Is asked before a tool runs that must be asked for.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.permissions = self.permissions.asking(approver);
        self
    }

    /// Tools that need not be asked for.
    pub fn allow(mut self, tools: impl IntoIterator<Item = String>) -> Self {
        self.permissions = self.permissions.allowing(tools);
        self
    }

    /// Hands out the text of the model's answers while they come, piece by piece, on a thread of its
    /// own. Whoever must know where an answer ends, or that one begins anew, takes the events: see
    /// [`sink`](Self::sink).
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// use agent_core::agent::{Agent, ScriptedModel};
    /// use agent_core::message::Reply;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, pieces) = channel();
    /// let agent = Agent::builder(ScriptedModel::new([Reply::text("Hello, Ada.")]))
    ///     .on_text(move |text| sender.send(text.to_owned()).unwrap_or_default())
    ///     .build()?;
    /// agent.run("I am Ada.").await?;
    /// drop(agent);
    /// assert_eq!(pieces.iter().collect::<Vec<_>>(), ["Hello, ", "Ada."]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_text(self, take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stream(true).sink(move |event: &Arc<Event>| {
            if let EventKind::MessageUpdate {
                delta: Delta::Text { text },
            } = &event.kind
            {
                take(text);
            }
        })
    }

    /// Takes the events of this agent, on a thread of its own, so that it may be slow. A run ends
    /// when it has seen everything, or after [`limits::SINK_TIMEOUT`].
    pub fn sink(mut self, sink: impl EventSink) -> Self {
        self.sinks.push(Box::new(move || Queued::new(sink)));
        self
    }

    /// Goes on with a conversation.
    pub fn conversation(mut self, conversation: Conversation) -> Self {
        self.conversation = conversation;
        self
    }

    /// The agent. Fails where the system gives no thread for a sink.
    pub fn build(self) -> std::io::Result<Agent> {
        let registry = self
            .registry
            .unwrap_or_else(|| Registry::without_plugins(Emitter::default()));
        let events = registry.events().child();
        let mut sinks = Vec::new();
        for open in self.sinks {
            let sink = Arc::new(open()?);
            events.add(Arc::clone(&sink));
            sinks.push(sink);
        }
        let caller = Caller::new(registry, events)
            .with_hooks(self.call_hooks)
            .with_permissions(self.permissions)
            .with_timeout(self.timeout)
            .with_result_limit(self.result_limit);
        Ok(Agent(Arc::new(Inner {
            settings: self.settings,
            model: self.model,
            caller,
            hooks: self.hooks,
            own_tools: self.own_tools,
            groups: self.groups,
            talk: Mutex::new(Talk {
                conversation: self.conversation,
                ..Talk::default()
            }),
            running: AsyncMutex::new(()),
            sinks,
        })))
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}
