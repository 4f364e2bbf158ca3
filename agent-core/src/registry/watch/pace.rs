//! When to look: soon after an event, but not at every event of what makes noise.
//!
//! A look costs, and finds nothing where a log is written into a crate's folder or a program
//! touches a file again and again. So each source of events has a pause of its own, which grows as
//! long as looks that it caused find nothing; what others do is seen at once all the same.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::SWEEP;
use super::events::Source;

/// How long after an event nothing of its source may come before the folder is looked at: several
/// files are often saved together.
pub(super) const SETTLE: Duration = Duration::from_millis(4);

/// How long a stream of events may put a look off.
const SETTLE_AT_MOST: Duration = Duration::from_millis(50);

/// How often a source may cause a look that finds nothing before it counts as noise.
const FREE_LOOKS: u32 = 3;

/// The first pause of a source that makes noise; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(25);

/// How many times the duration of a look passes before noise causes the next.
const SHARE: u32 = 4;

/// Events that were not yet looked after.
#[derive(Debug, Default)]
pub(super) struct Pending(BTreeMap<Source, Span>);

#[derive(Clone, Copy, Debug)]
struct Span {
    first: Instant,
    last: Instant,
}

impl Pending {
    pub(super) fn add(&mut self, source: Source, now: Instant) {
        let new = Span {
            first: now,
            last: now,
        };
        self.0.entry(source).or_insert(new).last = now;
    }

    /// When to look after them; never where there is none.
    pub(super) fn due(&self, pace: &Pace) -> Option<Instant> {
        let due = |(source, span): (&Source, &Span)| {
            let settled = (span.last + SETTLE).min(span.first + SETTLE_AT_MOST);
            settled.max(pace.not_before(source, span.first))
        };
        self.0.iter().map(due).min()
    }
}

/// What looks found, by the source that caused them.
#[derive(Debug, Default)]
pub(super) struct Pace(BTreeMap<Source, Noise>);

#[derive(Clone, Copy, Debug)]
struct Noise {
    /// Looks in a row that found nothing.
    idle: u32,
    /// When the last of them ended.
    looked: Instant,
    /// How long it took.
    took: Duration,
}

impl Noise {
    fn pause(&self) -> Duration {
        let beyond = self.idle.saturating_sub(FREE_LOOKS);
        if beyond == 0 {
            return Duration::ZERO;
        }
        let grown = FIRST_PAUSE.saturating_mul(1 << (beyond - 1).min(16));
        grown.max(self.took.saturating_mul(SHARE)).min(SWEEP)
    }

    /// Whether the source was quiet for so long before an event that it is no noise any more.
    fn is_over_at(&self, event: Instant) -> bool {
        event.saturating_duration_since(self.looked) > self.pause() + SWEEP
    }
}

impl Pace {
    fn not_before(&self, source: &Source, event: Instant) -> Instant {
        match self.0.get(source) {
            Some(noise) if !noise.is_over_at(event) => noise.looked + noise.pause(),
            _ => event,
        }
    }

    /// A look has ended that all these events caused.
    pub(super) fn looked(
        &mut self,
        after: Pending,
        began: Instant,
        ended: Instant,
        found_change: bool,
    ) {
        for (source, span) in after.0 {
            if found_change {
                self.0.remove(&source);
                continue;
            }
            let known = self.0.get(&source);
            let idle = known
                .filter(|noise| !noise.is_over_at(span.first))
                .map_or(0, |noise| noise.idle);
            let noise = Noise {
                idle: idle.saturating_add(1),
                looked: ended,
                took: ended.saturating_duration_since(began),
            };
            self.0.insert(source, noise);
        }
        // Names that were seen once and never again.
        self.0.retain(|_, noise| !noise.is_over_at(ended));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn known(path: &str) -> Source {
        Source::Known(path.into())
    }

    /// Looks that happen while `source` makes an event each millisecond.
    fn looks(source: &Source, for_long: Duration, took: Duration, finds: bool) -> u32 {
        let (mut pace, mut pending) = (Pace::default(), Pending::default());
        let begin = Instant::now();
        let (mut now, mut looks) = (begin, 0);
        while now < begin + for_long {
            pending.add(source.clone(), now);
            if pending.due(&pace).is_some_and(|due| due <= now) {
                looks += 1;
                pace.looked(std::mem::take(&mut pending), now, now + took, finds);
                now += took;
            }
            now += MILLISECOND;
        }
        looks
    }

    #[test]
    fn stream_of_events_neither_puts_looks_off_for_ever_nor_makes_it_spin() {
        let minute = Duration::from_mins(1);
        let noisy = looks(&known("log"), minute, MILLISECOND, false);
        assert!((25..50).contains(&noisy), "{noisy}");
        let costly = looks(&known("log"), minute, 300 * MILLISECOND, false);
        assert!((25..45).contains(&costly), "{costly}");
        let useful = looks(&known("lib.rs"), Duration::from_secs(1), MILLISECOND, true);
        assert!((15..=20).contains(&useful), "{useful}");
    }

    #[test]
    fn noise_of_one_source_puts_off_no_other_and_ends() {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        let due = |pace: &Pace, source: &Source, now| {
            let mut pending = Pending::default();
            pending.add(source.clone(), now);
            let due = pending.due(pace).unwrap();
            (due.saturating_duration_since(now), pending)
        };
        let noise = known("log");
        for _ in 0..20 {
            let (wait, pending) = due(&pace, &noise, now);
            now += wait;
            pace.looked(pending, now, now, false);
        }
        assert_eq!(due(&pace, &noise, now).0, SWEEP);
        assert_eq!(due(&pace, &known("lib.rs"), now).0, SETTLE);
        now += SWEEP * 2 + MILLISECOND;
        assert_eq!(due(&pace, &noise, now).0, SETTLE);
        let (_, pending) = due(&pace, &noise, now);
        pace.looked(pending, now, now, true);
        assert!(pace.0.is_empty(), "{pace:?}");
    }

    #[test]
    fn saves_close_together_are_one_look() {
        let (pace, mut pending) = (Pace::default(), Pending::default());
        let begin = Instant::now();
        assert_eq!(pending.due(&pace), None);
        for step in 0..5 {
            pending.add(known("lib.rs"), begin + step * 3 * MILLISECOND);
        }
        let last = begin + 12 * MILLISECOND;
        assert_eq!(pending.due(&pace), Some(last + SETTLE));
    }
}
