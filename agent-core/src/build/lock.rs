//! One builder at a time for each target directory, across processes.
//!
//! Owns the lock file. Does not own the order within a process, which is [`super::queue`]'s.
//!
//! The lock is held while one crate is built and not for as long as a process lives: while
//! `toolsmith dev` runs, another `toolsmith` still builds what it needs, and finds what the first
//! one has built.

use std::fs::TryLockError;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use fs_err as fs;

use super::BuildProgress;
use super::error::BuildError;
use crate::limits::BUILD_LOCK_POLL;

/// The right of this process to build, until it is dropped: closing the file unlocks it, and so
/// does the end of the process, whatever ended it.
#[derive(Debug)]
pub(super) struct BuildLock {
    _file: fs::File,
}

impl BuildLock {
    /// Waits until no other process builds, and says once for whom.
    pub(super) async fn acquire(
        path: &Path,
        limit: Duration,
        progress: &dyn BuildProgress,
    ) -> Result<Self, BuildError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let waiting = async {
            let mut told = false;
            while !is_locked(&file)? {
                if !told {
                    progress.line(&waiting_for(holder(&mut file), path));
                    told = true;
                }
                // No event tells when another process unlocks a file, and a blocking lock could
                // not be given up.
                tokio::time::sleep(BUILD_LOCK_POLL).await;
            }
            Ok::<(), io::Error>(())
        };
        let Ok(outcome) = tokio::time::timeout(limit, waiting).await else {
            return Err(BuildError::Busy {
                holder: holder(&mut file),
                limit,
            });
        };
        outcome?;
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        Ok(Self { _file: file })
    }
}

fn is_locked(file: &fs::File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The process that wrote its number into the file.
fn holder(file: &mut fs::File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn waiting_for(holder: Option<u32>, path: &Path) -> String {
    let holder = holder.map_or_else(
        || "another process".to_owned(),
        |holder| format!("process {holder}"),
    );
    format!(
        "waiting for {holder}, which builds in the same folder (lock file `{}`)",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Keeps what it hears, and a lock that it gives up at the first word.
    #[derive(Default)]
    struct Listener {
        lines: Mutex<Vec<String>>,
        lock: Mutex<Option<BuildLock>>,
    }

    impl BuildProgress for Listener {
        fn line(&self, line: &str) {
            self.lines.lock().unwrap().push(line.to_owned());
            drop(self.lock.lock().unwrap().take());
        }
    }

    #[tokio::test]
    async fn a_second_builder_waits_and_names_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/build.lock");
        let limit = Duration::from_mins(1);
        let first = BuildLock::acquire(&path, limit, &()).await.unwrap();
        let own = std::process::id();
        let short = Duration::from_millis(1);
        let error = BuildLock::acquire(&path, short, &()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("process {own} still builds in the same folder after 0 s")
        );

        let listener = Listener {
            lock: Mutex::new(Some(first)),
            ..Listener::default()
        };
        BuildLock::acquire(&path, limit, &listener).await.unwrap();
        assert_eq!(
            *listener.lines.lock().unwrap(),
            [format!(
                "waiting for process {own}, which builds in the same folder (lock file `{}`)",
                path.display()
            )]
        );
    }
}
