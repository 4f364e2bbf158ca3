//! The host's log: `STATE/log/toolsmith.log`, and warnings on stderr.

use std::io::IsTerminal;
use std::path::Path;

use fs_err as fs;
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// Size at which a log is put aside when the next process starts.
const LARGEST: u64 = 10 * 1000 * 1000;

/// Starts logging. A log that can't be written is no reason not to work.
pub(super) fn start(state: &Path, quiet: bool, verbose: bool) {
    let level = match (quiet, verbose) {
        (true, _) => Level::ERROR,
        (_, true) => Level::DEBUG,
        _ => Level::WARN,
    };
    let screen = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        // That a folder which is gone can't be unwatched tells a person nothing.
        .with_filter(
            Targets::new()
                .with_default(level)
                .with_target("notify", Level::ERROR),
        );
    let chosen =
        EnvFilter::try_from_env("TOOLSMITH_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let file = open(state).map(|file| {
        let writer = std::sync::Mutex::new(file.into_parts().0);
        tracing_subscriber::fmt::layer()
            .with_writer(writer)
            .with_ansi(false)
            .with_filter(chosen)
    });
    let problem = file.as_ref().err().map(ToString::to_string);
    tracing_subscriber::registry()
        .with(screen)
        .with(file.ok())
        .try_init()
        .unwrap_or_default();
    if let Some(problem) = problem {
        tracing::warn!("no log is written: {problem}");
    }
}

fn open(state: &Path) -> std::io::Result<fs::File> {
    let folder = state.join("log");
    fs::create_dir_all(&folder)?;
    let path = folder.join("toolsmith.log");
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LARGEST) {
        fs::rename(&path, folder.join("toolsmith.old.log"))?;
    }
    fs::OpenOptions::new().create(true).append(true).open(path)
}
