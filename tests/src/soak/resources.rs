//! What a process holds, as the kernel counts it.

use fs_err as fs;

/// What the process holds.
#[derive(Debug)]
pub(crate) struct Resources {
    /// Memory in kilobytes, pages of mapped libraries included.
    pub(crate) resident: u64,
    /// The same without pages that are as they are in their files.
    pub(crate) own: u64,
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
    /// Child processes, ended ones that nobody has waited for included.
    pub(crate) children: u64,
}

impl Resources {
    pub(crate) fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).map_or(0, Iterator::count);
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kilobytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.split_whitespace().nth(1));
            number
                .and_then(|text| text.parse().ok())
                .unwrap_or_default()
        };
        Self {
            resident: kilobytes("VmRSS"),
            own: kilobytes("RssAnon"),
            descriptors: count("/proc/self/fd") as u64,
            threads: count("/proc/self/task") as u64,
            children: children(),
        }
    }
}

fn children() -> u64 {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_own = |process: &fs::DirEntry| {
        let status = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // Behind the name, which may hold anything, stand the state and the parent.
        let behind = status.rsplit_once(')').map(|(_, behind)| behind);
        behind.and_then(|behind| behind.split_whitespace().nth(1)) == Some(&own)
    };
    processes.filter(is_own).count() as u64
}
