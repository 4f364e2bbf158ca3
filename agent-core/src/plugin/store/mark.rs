//! A mark beside a stored library while a host maps it, for one that survives its trial and ends
//! the host: else every start would end the same way.
//!
//! The mark holds the process and how many have ended in a row while they mapped the library. A host
//! may be ended by something else just then, so the first end says nothing.

use std::path::PathBuf;

use fs_err as fs;

use crate::plugin::PluginError;

/// The ending of its name, behind the library's hash.
pub(super) const EXTENSION: &str = "mapping";

/// How many hosts in a row may end.
const ENDS: u32 = 2;

/// Present as long as a library is being mapped.
#[derive(Debug)]
pub(in crate::plugin) struct MapMark(PathBuf);

impl MapMark {
    /// Sets the mark; an error if too many hosts have ended under it.
    pub(super) fn set(path: PathBuf) -> Result<Self, PluginError> {
        let ends = match fs::read_to_string(&path).ok().and_then(|text| read(&text)) {
            // Another host that is at it.
            Some((process, ends)) if is_another(process) => ends,
            Some((_, ends)) => ends + 1,
            None => 0,
        };
        if ends >= ENDS {
            return Err(PluginError::Quarantined(format!(
                "it was tried out well and then ended the host that loaded it, {ends} times in a row"
            )));
        }
        // A library that can't be marked is loaded all the same.
        drop(fs::write(&path, format!("{} {ends}", std::process::id())));
        Ok(Self(path))
    }

    /// Forgets what happened, so that the library is loaded once more.
    pub(super) fn forget(path: PathBuf) {
        drop(fs::remove_file(path));
    }
}

impl Drop for MapMark {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

fn read(text: &str) -> Option<(u32, u32)> {
    let (process, ends) = text.split_once(' ')?;
    Some((process.parse().ok()?, ends.parse().ok()?))
}

fn is_another(process: u32) -> bool {
    let number = i32::try_from(process).ok();
    let number = number.and_then(rustix::process::Pid::from_raw);
    process != std::process::id()
        && number.is_some_and(|number| rustix::process::test_kill_process(number).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_that_ends_its_hosts_is_refused_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mark");
        drop(MapMark::set(path.clone()).unwrap());
        assert!(!path.exists());
        // Two hosts that are gone: no process has this number.
        for ends in [0, 1] {
            fs::write(&path, format!("4194305 {ends}")).unwrap();
            let set = MapMark::set(path.clone());
            assert_eq!(set.is_ok(), ends + 1 < ENDS, "{set:?}");
            fs::write(&path, format!("4194305 {ends}")).unwrap();
        }
        MapMark::forget(path.clone());
        drop(MapMark::set(path.clone()).unwrap());
        // A host that is alive says nothing, nor does what is no mark.
        for other in [
            format!("{} 1", std::os::unix::process::parent_id()),
            "?".to_owned(),
        ] {
            fs::write(&path, other).unwrap();
            drop(MapMark::set(path.clone()).unwrap());
        }
    }
}
