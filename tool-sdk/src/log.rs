//! Forwards this library's `log` and `tracing` lines to the host.
//!
//! A plugin has its own copy of both crates' global state, so without this its lines would go
//! nowhere. Nothing here formats colours or times; that is the host's affair.

use std::fmt::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span;

use crate::abi::{HostServices, LogLevel};

/// Set once, when the host connects.
static HOST: OnceLock<HostServices> = OnceLock::new();

/// Sends everything that this library logs to the host from now on.
pub(crate) fn connect(services: HostServices) {
    if HOST.set(services).is_ok() {
        // An author may have installed a logger or a subscriber in a constructor: it stays.
        if log::set_logger(&Forward).is_ok() {
            log::set_max_level(log::LevelFilter::Trace);
        }
        tracing::subscriber::set_global_default(Forward).unwrap_or_default();
    }
}

/// One line to the host, to the subscriber of the program that the tool is linked into, or to
/// stderr where there is neither.
pub(crate) fn line(level: LogLevel, target: &str, message: &str) {
    match HOST.get() {
        Some(HostServices { plugin, table }) => {
            table.log()(plugin.as_rstr(), level, target.into(), message.into());
        }
        None if tracing::dispatcher::has_been_set() => match level {
            LogLevel::ERROR => tracing::error!(target: "plugin", origin = target, "{message}"),
            LogLevel::WARN => tracing::warn!(target: "plugin", origin = target, "{message}"),
            LogLevel::INFO => tracing::info!(target: "plugin", origin = target, "{message}"),
            LogLevel::DEBUG => tracing::debug!(target: "plugin", origin = target, "{message}"),
            _ => tracing::trace!(target: "plugin", origin = target, "{message}"),
        },
        #[expect(
            clippy::print_stderr,
            reason = "a tool that runs without a host has nothing else"
        )]
        None => eprintln!("{target}: {message}"),
    }
}

/// One error line of the SDK itself.
pub(crate) fn error(message: &str) {
    line(LogLevel::ERROR, "tool_sdk", message);
}

struct Forward;

impl log::Log for Forward {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let level = match record.level() {
            log::Level::Error => LogLevel::ERROR,
            log::Level::Warn => LogLevel::WARN,
            log::Level::Info => LogLevel::INFO,
            log::Level::Debug => LogLevel::DEBUG,
            log::Level::Trace => LogLevel::TRACE,
        };
        line(level, record.target(), &record.args().to_string());
    }

    fn flush(&self) {}
}

impl tracing::Subscriber for Forward {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        // Spans only group lines; the host groups by call already.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        span::Id::from_u64(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let metadata = event.metadata();
        let level = match *metadata.level() {
            tracing::Level::ERROR => LogLevel::ERROR,
            tracing::Level::WARN => LogLevel::WARN,
            tracing::Level::INFO => LogLevel::INFO,
            tracing::Level::DEBUG => LogLevel::DEBUG,
            tracing::Level::TRACE => LogLevel::TRACE,
        };
        let mut text = EventText::default();
        event.record(&mut text);
        line(
            level,
            metadata.target(),
            &format!("{}{}", text.message, text.fields),
        );
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// An event's message, and its other fields as ` name=value`.
#[derive(Default)]
struct EventText {
    message: String,
    fields: String,
}

impl Visit for EventText {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
        written.unwrap_or_default();
    }
}
