//! Makes the calls of one answer: which overlap, which wait (R14).
//!
//! Calls that overlap are prepared one after the other before the first of them executes; a call
//! behind a barrier is prepared when the barrier has ended. Results come in the order of the calls,
//! whichever ends first.

use futures_util::future::join_all;

use super::{Caller, Finalized, ToolCall};
use crate::abort::AbortSignal;
use crate::config::ToolExecution;

/// What the calls of one answer came to, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// One for each call.
    pub results: Vec<Finalized>,
}

impl Batch {
    /// Whether any of the results ends the agent's loop.
    pub fn any_terminates(&self) -> bool {
        self.results.iter().any(|one| one.result.terminate)
    }

    /// Whether all of them do; an empty batch does not.
    pub fn all_terminate(&self) -> bool {
        !self.results.is_empty() && self.results.iter().all(|one| one.result.terminate)
    }
}

impl Caller {
    /// Makes the calls of one answer. Each is answered exactly once; those that an abort finds
    /// waiting are refused. `answered` hears of each as soon as it has ended.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agent_core::abort::AbortSignal;
    /// use agent_core::call::{Arguments, Caller, ToolCall};
    /// use agent_core::config::ToolExecution;
    /// use agent_core::event::Emitter;
    /// use agent_core::registry::Registry;
    /// use agent_core::tool::{FunctionTool, ToolSpec};
    /// use serde_json::json;
    /// use tool_sdk::ToolResult;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::without_plugins(Emitter::default());
    /// let spec = ToolSpec::new("ping", "Answers.", json!({"type": "object"}));
    /// let ping = FunctionTool::new(spec, |_| async { Ok(ToolResult::text("pong")) });
    /// registry.register(Arc::new(ping)).await?;
    ///
    /// let caller = Caller::new(registry, Emitter::default());
    /// let calls = [
    ///     ToolCall::new("ping", Arguments::Text("{}".to_owned())),
    ///     ToolCall::new("pong", Arguments::Text("{}".to_owned())),
    /// ];
    /// let (mode, abort) = (ToolExecution::PerTool, AbortSignal::new());
    /// let batch = caller.call_all(&calls, mode, &abort, &|_| ()).await;
    /// assert_eq!(batch.results[0].result.text(), "pong");
    /// assert!(batch.results[1].result.is_error);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_all(
        &self,
        calls: &[ToolCall],
        mode: ToolExecution,
        abort: &AbortSignal,
        answered: &(dyn Fn(&Finalized) + Sync),
    ) -> Batch {
        let mut results = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while !rest.is_empty() {
            // A call that overlaps none is alone.
            let (group, behind) = rest.split_at(self.overlapping(rest, mode).max(1));
            results.extend(self.call_together(group, abort, answered).await);
            rest = behind;
        }
        Batch { results }
    }

    /// How many of these, from the first on, may overlap.
    fn overlapping(&self, calls: &[ToolCall], mode: ToolExecution) -> usize {
        let table = self.table();
        let overlaps = |call: &&ToolCall| {
            let parallel = table
                .get(&call.name)
                .and_then(|entry| entry.spec().parallel);
            match mode {
                ToolExecution::Sequential => false,
                ToolExecution::Parallel => parallel != Some(false),
                ToolExecution::PerTool => parallel == Some(true),
            }
        };
        calls.iter().take_while(overlaps).count()
    }

    async fn call_together(
        &self,
        calls: &[ToolCall],
        abort: &AbortSignal,
        answered: &(dyn Fn(&Finalized) + Sync),
    ) -> Vec<Finalized> {
        let mut prepared = Vec::with_capacity(calls.len());
        for call in calls {
            prepared.push((call, self.prepare(call, abort).await));
        }
        let runs = prepared.into_iter().map(async |(call, prepared)| {
            let finalized = self.run(call, prepared, abort).await;
            answered(&finalized);
            finalized
        });
        join_all(runs).await
    }
}
