//! Which executable helpers are.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fs_err as fs;

use super::client::HelperError;

/// The variable that names the program.
pub const VARIABLE: &str = "TOOLSMITH_HELPER";

/// The command's name.
const COMMAND: &str = "toolsmith";

/// Set when this program has said that it can be a helper.
pub(super) static THIS_CAN: AtomicBool = AtomicBool::new(false);

/// An executable that can be a helper, kept open.
#[derive(Debug)]
pub struct HelperProgram {
    /// Its path when it was opened, for messages.
    path: PathBuf,
    /// `None` where an open file can't be run.
    file: Option<fs::File>,
}

impl HelperProgram {
    /// The program that was `given`, else the one that [`VARIABLE`] names, else this one if its
    /// `main` called [`helper::init`](super::helper::init), else `toolsmith` beside this one or in
    /// `PATH`.
    pub fn find(given: Option<&Path>) -> Result<Self, HelperError> {
        if let Some(path) = given {
            return Self::open(path);
        }
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            return Self::open(Path::new(&path));
        }
        let this = std::env::current_exe();
        if THIS_CAN.load(Ordering::Relaxed) {
            // What was started, even if another file has its name by now.
            let running = Path::new("/proc/self/exe");
            return match this {
                _ if running.exists() => Self::open(running),
                Ok(path) => Self::open(&path),
                Err(error) => Err(HelperError::Program {
                    path: running.to_owned(),
                    source: error,
                }),
            };
        }
        let beside = this.ok().and_then(|this| Some(this.parent()?.to_owned()));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = beside.into_iter().chain(std::env::split_paths(&path));
        let name = format!("{COMMAND}{}", std::env::consts::EXE_SUFFIX);
        let found = folders.map(|folder| folder.join(&name));
        match found
            .filter(|path| path.is_file())
            .find_map(|path| Self::open(&path).ok())
        {
            Some(program) => Ok(program),
            None => Err(HelperError::NoProgram),
        }
    }

    fn open(path: &Path) -> Result<Self, HelperError> {
        let failed = |source| HelperError::Program {
            path: path.to_owned(),
            source,
        };
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut start = [0; 2];
        let is_script = file.read_exact(&mut start).is_ok() && &start == b"#!";
        // A script's interpreter opens it by name.
        let can_run_open = cfg!(target_os = "linux") && !is_script;
        Ok(Self {
            path: path.to_owned(),
            file: can_run_open.then_some(file),
        })
    }

    /// The path to show.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path to start.
    pub(super) fn executable(&self) -> PathBuf {
        match &self.file {
            // Looked up by the child, which has the same descriptors until it has started.
            Some(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            None => self.path.clone(),
        }
    }

    /// The name that it is shown by in lists of processes.
    pub(super) fn name() -> &'static OsStr {
        OsStr::new("toolsmith-helper")
    }
}
