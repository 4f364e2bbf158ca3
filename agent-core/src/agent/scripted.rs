//! A model that says what it was told to say: for tests and examples.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::model::{DeltaSink, Model, ModelError, ModelErrorKind};
use crate::message::{Block, Delta, Prompt, Reply};
use crate::tool::BoxFuture;

/// Gives its replies one after the other and keeps what it was asked. Clones are the same model.
///
/// ```
/// use agent_core::agent::ScriptedModel;
/// use agent_core::message::Reply;
///
/// let model = ScriptedModel::new([Reply::text("Hello")]);
/// assert!(model.prompts().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Result<Reply, ModelError>>,
    prompts: Vec<Prompt>,
}

impl ScriptedModel {
    /// A model with these replies.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let model = Self::default();
        model.lock().replies.extend(replies.into_iter().map(Ok));
        model
    }

    /// Adds a reply, or an error in its place.
    pub fn then(&self, reply: Result<Reply, ModelError>) {
        self.lock().replies.push_back(reply);
    }

    /// Everything that it was asked.
    pub fn prompts(&self) -> Vec<Prompt> {
        self.lock().prompts.clone()
    }

    fn next(&self, prompt: Prompt) -> Result<Reply, ModelError> {
        let mut script = self.lock();
        script.prompts.push(prompt);
        let asked = script.prompts.len();
        script.replies.pop_front().unwrap_or_else(|| {
            let text = format!("the script has no reply number {asked}");
            Err(ModelError::new(ModelErrorKind::Other, text))
        })
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for ScriptedModel {
    fn complete(&self, prompt: Prompt) -> BoxFuture<'_, Result<Reply, ModelError>> {
        Box::pin(async { self.next(prompt) })
    }

    /// Text comes word by word.
    fn stream<'a>(
        &'a self,
        prompt: Prompt,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let reply = self.next(prompt)?;
            let texts = reply.content.iter().filter_map(Block::as_text);
            for word in texts.flat_map(|text| text.split_inclusive(' ')) {
                let text = word.to_owned();
                deltas(Delta::Text { text });
                tokio::task::yield_now().await;
            }
            Ok(reply)
        })
    }
}
