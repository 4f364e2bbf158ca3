//! What a person should know of the registry as a whole, besides the state of single plugins:
//! shown by `list` as long as it is so, and logged once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Where a notice comes from; a part of the registry that speaks again replaces what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    /// The plugins folder.
    Folder,
    /// Watching for changes.
    Watching,
    /// The configuration file.
    Configuration,
    /// Names in it that nothing has.
    Names,
    /// Libraries that stay mapped.
    Images,
    /// What was decided of plugins that has no effect where they run.
    Policies,
}

/// How many sentences are remembered as logged.
const LOGGED: usize = 64;

/// All that is to be noticed now.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// A mutex, since the watcher and a reload may speak at once; held for moments only.
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    by_topic: BTreeMap<Topic, Vec<String>>,
    /// What comes and goes is logged once.
    logged: BTreeSet<String>,
}

impl Notices {
    /// Replaces what was said on a topic.
    pub(super) fn say(&self, topic: Topic, texts: Vec<String>) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        for text in &texts {
            if said.logged.len() >= LOGGED {
                said.logged.clear();
            }
            if said.logged.insert(text.clone()) {
                tracing::warn!("{text}");
            }
        }
        said.by_topic.insert(topic, texts);
    }

    /// Everything, topic by topic.
    pub(super) fn all(&self) -> Vec<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.by_topic.values().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_so_is_shown_and_what_was_so_is_not() {
        let notices = Notices::default();
        for round in 0..3 {
            notices.say(Topic::Images, vec!["many".to_owned()]);
            notices.say(Topic::Folder, vec!["gone".to_owned()]);
            assert_eq!(notices.all(), ["gone", "many"], "{round}");
            notices.say(Topic::Folder, Vec::new());
            assert_eq!(notices.all(), ["many"], "{round}");
        }
        for number in 0..1000 {
            notices.say(Topic::Names, vec![number.to_string()]);
        }
        assert!(notices.said.lock().unwrap().logged.len() <= LOGGED);
    }
}
