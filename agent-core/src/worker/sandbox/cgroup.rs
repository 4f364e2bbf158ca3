//! A control group (version 2) for a confined process: the parent's side.
//!
//! Owns finding a place where groups can be made, making one and removing it. It never changes
//! groups that it has not made: where the system did not delegate the controllers of memory and
//! of processes there is no group, and the limits of a process have to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fs_err as fs;

use super::Limits;

/// How often, and how long apart, a group is tried to be removed whose processes are ending.
const REMOVALS: (u32, Duration) = (20, Duration::from_millis(5));

/// A control group of its own. What is in it is killed, and it is removed, when this is dropped.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
}

impl Group {
    /// Makes a group with the limits of memory and of processes.
    ///
    /// # Errors
    ///
    /// Says why none can be made: no control groups of version 2, or none that is delegated.
    pub fn new(limits: &Limits) -> io::Result<Self> {
        Self::beneath(&parent()?, limits.memory, Some(limits.processes))
    }

    /// Makes a group with a limit of memory alone, in bytes.
    ///
    /// # Errors
    ///
    /// As [`Group::new`].
    pub fn of_memory(bytes: u64) -> io::Result<Self> {
        Self::beneath(&parent()?, Some(bytes), None)
    }

    fn beneath(parent: &Path, memory: Option<u64>, processes: Option<u64>) -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("toolsmith-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        // Removed again when one of the limits is refused.
        let group = Self { folder };
        if let Some(memory) = memory {
            group.set("memory.max", &memory.to_string())?;
            // Swapping out is no way around the limit. There may be no swap to switch off.
            drop(group.set("memory.swap.max", "0"));
        }
        if let Some(processes) = processes {
            group.set("pids.max", &processes.to_string())?;
        }
        Ok(group)
    }

    /// Moves a process into it; what the process starts is in it as well. Its own
    /// [`Limits::grouped`] is then to be true.
    pub fn add(&self, process: u32) -> io::Result<()> {
        self.set("cgroup.procs", &process.to_string())
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.folder.join(file), value)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Since Linux 5.14; before that the parent ends what it has started by its process group.
        drop(self.set("cgroup.kill", "1"));
        let (tries, pause) = REMOVALS;
        for _ in 0..tries {
            if std::fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(pause);
        }
        tracing::warn!(group = %self.folder.display(), "a control group could not be removed");
    }
}

/// Whether a group can be made, or why none can. A group is made for it, and removed.
pub fn available() -> Result<(), String> {
    let limits = Limits {
        memory: Some(1 << 30),
        ..Limits::default()
    };
    let made = Group::new(&limits);
    made.map(drop).map_err(|error| error.to_string())
}

/// The group beneath which groups can be made: that of this process, or the one it is in. In a
/// group with processes the kernel allows no controllers for those beneath, so it is the second on
/// most systems.
fn parent() -> io::Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let own = own_folder(&mounts, &groups)
        .ok_or_else(|| io::Error::other("there are no control groups of version 2"))?;
    let places = own.ancestors().take(2);
    let mut delegated = places.filter(|place| has_controllers(place));
    delegated.next().map(Path::to_owned).ok_or_else(|| {
        io::Error::other(format!(
            "`{}` has no controllers of memory and processes that are delegated",
            own.display()
        ))
    })
}

/// Where the group of this process is seen.
fn own_folder(mounts: &str, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounted = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let is_second = after.split(' ').next() == Some("cgroup2");
        // Number, parent, device, root within it, where it is mounted.
        is_second.then(|| before.split(' ').nth(4)).flatten()
    })?;
    Some(Path::new(mounted).join(path.trim_start_matches('/')))
}

fn has_controllers(folder: &Path) -> bool {
    let listed = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |wanted: &str| listed.split_whitespace().any(|found| found == wanted);
    has("memory") && has("pids")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_group_is_found_where_it_is_mounted() {
        let mounts = "30 23 0:26 / /sys rw - sysfs sysfs rw\n\
                      35 30 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let groups = "1:name=systemd:/x\n0::/user.slice/app.slice/run-7.scope\n";
        let expected = Path::new("/sys/fs/cgroup/user.slice/app.slice/run-7.scope");
        assert_eq!(own_folder(mounts, groups).as_deref(), Some(expected));
        assert_eq!(own_folder(mounts, "3:memory:/x\n"), None);
        assert_eq!(
            own_folder("30 23 0:26 / /sys rw - sysfs sysfs rw\n", groups),
            None
        );
    }

    #[test]
    fn only_a_group_with_both_controllers_has_groups_beneath() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_controllers(folder.path()));
        for (listed, enough) in [
            ("memory", false),
            ("cpu pids", false),
            ("cpu memory pids", true),
        ] {
            fs::write(folder.path().join("cgroup.subtree_control"), listed).unwrap();
            assert_eq!(has_controllers(folder.path()), enough, "{listed}");
        }
    }

    /// In a plain folder, where files are made by being written: what the kernel would be told.
    #[test]
    fn limits_and_processes_are_written_into_a_group_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let group = Group::beneath(parent.path(), Some(4096), Some(7)).unwrap();
        group.add(42).unwrap();
        let read = |file: &str| fs::read_to_string(group.folder.join(file)).unwrap();
        assert_eq!(read("memory.max"), "4096");
        assert_eq!(read("pids.max"), "7");
        assert_eq!(read("cgroup.procs"), "42");
        assert_eq!(group.folder.parent(), Some(parent.path()));
        let group = Group::beneath(parent.path(), Some(4096), None).unwrap();
        assert!(!group.folder.join("pids.max").exists());
    }
}
