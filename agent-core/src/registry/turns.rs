//! How many calls of one tool run at the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// The turns that calls of limited tools wait for. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<Known>>);

/// By the tool's name and its limit.
type Known = BTreeMap<(String, u32), Arc<Semaphore>>;

impl Turns {
    /// The turns of a tool. One that is loaded again under the same limit has the same ones: calls
    /// of its old version may still run, and the limit is about both.
    pub(super) fn of(&self, tool: &str, limit: u32) -> Arc<Semaphore> {
        // A limit of none would be a tool that can't be called.
        let limit = limit.max(1);
        let permits = usize::try_from(limit).unwrap_or(Semaphore::MAX_PERMITS);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let turns = known.entry((tool.to_owned(), limit));
        let new = || Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Arc::clone(turns.or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_those_of_the_name_and_the_limit() {
        let turns = Turns::default();
        let first = turns.of("a", 2);
        assert!(Arc::ptr_eq(&first, &turns.clone().of("a", 2)));
        assert!(!Arc::ptr_eq(&first, &turns.of("b", 2)));
        assert!(!Arc::ptr_eq(&first, &turns.of("a", 3)));
        assert_eq!(turns.of("a", 0).available_permits(), 1);
        assert_eq!(
            turns.of("a", u32::MAX).available_permits(),
            u32::MAX as usize
        );
    }
}
