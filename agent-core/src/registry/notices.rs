//! What a person should know of the registry as a whole, besides the state of single plugins:
//! shown by `list` as long as it is so, and logged once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Where a notice comes from; a part of the registry that speaks again replaces what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// The configuration file.
    Configuration,
    /// Names in it that nothing has.
    Names,
    /// Libraries that stay mapped.
    Images,
}

/// All that is to be noticed now.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// A mutex, since the watcher and a reload may speak at once; held for moments only.
    by_topic: Mutex<BTreeMap<Topic, Vec<String>>>,
}

impl Notices {
    /// Replaces what was said on a topic. What is new in it is logged.
    pub(super) fn say(&self, topic: Topic, texts: Vec<String>) {
        let mut by_topic = self.by_topic.lock().unwrap_or_else(PoisonError::into_inner);
        let said = by_topic.entry(topic).or_default();
        for text in texts.iter().filter(|text| !said.contains(text)) {
            tracing::warn!("{text}");
        }
        *said = texts;
    }

    /// Everything, topic by topic.
    pub(super) fn all(&self) -> Vec<String> {
        let by_topic = self.by_topic.lock().unwrap_or_else(PoisonError::into_inner);
        by_topic.values().flatten().cloned().collect()
    }
}
