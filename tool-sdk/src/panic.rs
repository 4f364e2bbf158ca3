//! Catching panics with message, location and backtrace.
//!
//! A plugin has a `std` of its own, so a panic that crossed the border would end the process.
//! Every function that the host may call runs its body through [`catch`], and a panic hook that
//! belongs to this library alone remembers what happened.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use serde::{Deserialize, Serialize};

/// What a panic said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PanicReport {
    /// The message.
    pub message: String,
    /// File, line and column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The stack, where `RUST_BACKTRACE` asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backtrace: Option<String>,
}

thread_local! {
    /// How many [`catch`] frames are on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What the hook saw last on this thread.
    static LAST: RefCell<Option<PanicReport>> = const { RefCell::new(None) };
}

/// Makes panics of this library silent where they are caught, and a log line everywhere else.
///
/// Called once when a host connects; never in a statically linked program, whose hook is its own.
pub(crate) fn install_hook() {
    panic::set_hook(Box::new(|info| {
        let report = PanicReport::from_hook(info);
        if DEPTH.get() > 0 {
            LAST.with_borrow_mut(|last| *last = Some(report));
        } else {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("unnamed");
            crate::log::error(&format!("thread '{name}' panicked: {report}"));
        }
    }));
}

/// Runs `body` and turns its panic into a report.
pub fn catch<R>(body: impl FnOnce() -> R) -> Result<R, PanicReport> {
    DEPTH.set(DEPTH.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    DEPTH.set(DEPTH.get() - 1);
    result.map_err(|payload| {
        let seen = LAST.with_borrow_mut(Option::take);
        let report = seen.unwrap_or_else(|| PanicReport::from_payload(&*payload));
        drop_payload(payload);
        report
    })
}

/// Drops a panic's payload, whose own drop may panic again.
pub(crate) fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        #[expect(
            clippy::mem_forget,
            reason = "its drop panics; leaking it ends the chain"
        )]
        std::mem::forget(second);
    }
}

impl PanicReport {
    fn from_hook(info: &PanicHookInfo<'_>) -> Self {
        let backtrace = Backtrace::capture();
        let captured = backtrace.status() == BacktraceStatus::Captured;
        Self {
            location: info.location().map(ToString::to_string),
            backtrace: captured.then(|| backtrace.to_string()),
            ..Self::from_payload(info.payload())
        }
    }

    fn from_payload(payload: &(dyn Any + Send)) -> Self {
        let message = if let Some(text) = payload.downcast_ref::<&str>() {
            (*text).to_owned()
        } else if let Some(text) = payload.downcast_ref::<String>() {
            text.clone()
        } else {
            "a panic without a text".to_owned()
        };
        Self {
            message,
            location: None,
            backtrace: None,
        }
    }
}

impl std::fmt::Display for PanicReport {
    /// Message and location; the backtrace is for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.location {
            Some(location) => write!(f, " (at {location})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_text_and_string_and_nothing() {
        let caught = |body: fn()| catch(body).unwrap_err().message;
        assert_eq!(caught(|| panic!("boom")), "boom");
        assert_eq!(caught(|| panic!("boom {}", 1)), "boom 1");
        assert_eq!(caught(|| panic::panic_any(1)), "a panic without a text");
    }

    #[test]
    fn payload_whose_drop_panics_ends_there() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert!(catch(|| panic::panic_any(Bomb)).is_err());
    }
}
