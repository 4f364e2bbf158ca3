//! Files: what Landlock opens and what it does not, and the calls that it does not check.

use std::fs::{File, FileTimes, OpenOptions, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::SystemTime;

use std::{fs, io};

use super::{Place, act, check};

#[test]
fn only_granted_files_are_read() {
    check(
        "files::only_granted_files_are_read",
        Place::confinement,
        &[
            act("outside", "EACCES", |place| read(place, "outside/note")),
            act("list outside", "EACCES", |place| {
                fs::read_dir(place.path("outside")).map(drop)
            }),
            act("by ..", "EACCES", |place| {
                read(place, "scratch/../outside/note")
            }),
            act("through the working folder", "EACCES", |place| {
                read(place, "/proc/self/cwd/../outside/note")
            }),
            act("through the root of the process", "EACCES", |place| {
                let note = place.path("outside/note");
                let note = note.strip_prefix("/").unwrap();
                fs::read(std::path::Path::new("/proc/self/root").join(note)).map(drop)
            }),
            act("accounts", "EACCES", |place| read(place, "/etc/passwd")),
            act("granted folder", "ok", |place| read(place, "readable/note")),
            act("granted file", "ok", |place| read(place, "library.so")),
            act("writable folder", "ok", |place| {
                read(place, "writable/note")
            }),
            act("scratch", "ok", |place| read(place, "scratch/note")),
        ],
    );
}

#[test]
fn environments_of_other_processes_are_not_read() {
    check(
        "files::environments_of_other_processes_are_not_read",
        Place::confinement,
        &[
            act("environment", "EACCES", |place| {
                fs::read(format!("/proc/{}/environ", place.parent)).map(drop)
            }),
            act("command line", "EACCES", |place| {
                fs::read(format!("/proc/{}/cmdline", place.parent)).map(drop)
            }),
            act("all processes", "EACCES", |_| {
                fs::read_dir("/proc").map(drop)
            }),
            act("itself", "ok", |_| fs::read("/proc/self/status").map(drop)),
            act("own threads", "ok", |_| {
                fs::read_dir("/proc/self/task").map(drop)
            }),
        ],
    );
}

#[test]
fn only_granted_files_are_written() {
    check(
        "files::only_granted_files_are_written",
        Place::confinement,
        &[
            act("new file outside", "EACCES", |place| {
                fs::write(place.path("outside/new"), "x")
            }),
            act("file in a readable folder", "EACCES", |place| {
                fs::write(place.path("readable/note"), "x")
            }),
            act("new folder", "EACCES", |place| {
                fs::create_dir(place.path("readable/new"))
            }),
            act("shorten", "EACCES", |place| {
                let note = OpenOptions::new()
                    .write(true)
                    .open(place.path("outside/note"))?;
                note.set_len(0)
            }),
            act("remove", "EACCES", |place| {
                fs::remove_file(place.path("outside/note"))
            }),
            act("library", "EACCES", |place| {
                fs::write(place.path("library.so"), "x")
            }),
            act("scratch", "ok", |place| {
                fs::create_dir(place.path("scratch/new"))?;
                fs::write(place.path("scratch/new/file"), "x")?;
                fs::rename(place.path("scratch/new/file"), place.path("scratch/moved"))?;
                fs::remove_file(place.path("scratch/moved"))?;
                fs::remove_dir(place.path("scratch/new"))
            }),
            act("writable folder", "ok", |place| {
                fs::write(place.path("writable/note"), "x")
            }),
        ],
    );
}

#[test]
fn no_link_leads_out_of_scratch() {
    check(
        "files::no_link_leads_out_of_scratch",
        Place::confinement,
        &[
            act("read through a symlink", "EACCES", |place| {
                symlink(place.path("outside/note"), place.path("scratch/symlink"))?;
                read(place, "scratch/symlink")
            }),
            act("write through a symlink", "EACCES", |place| {
                fs::write(place.path("scratch/symlink"), "x")
            }),
            act("hard link in", "EXDEV", |place| {
                fs::hard_link(place.path("outside/note"), place.path("scratch/link"))
            }),
            act("move in", "EACCES", |place| {
                fs::rename(place.path("outside/note"), place.path("scratch/moved"))
            }),
            act("hard link out", "EACCES", |place| {
                fs::hard_link(place.path("scratch/note"), place.path("outside/link"))
            }),
        ],
    );
}

/// Landlock does not check them, so the filter refuses them, or passes them over.
#[test]
fn modes_and_times_are_not_changed() {
    check(
        "files::modes_and_times_are_not_changed",
        Place::confinement,
        &[
            act("mode outside", "EPERM", |place| {
                fs::set_permissions(place.path("outside/note"), Permissions::from_mode(0o600))
            }),
            act("owner outside", "EPERM", |place| {
                std::os::unix::fs::chown(place.path("outside/note"), None, None)
            }),
            // Nothing is said of it, and nothing is done.
            act("mode of an open file", "PermissionDenied", |place| {
                let note = File::open(place.path("scratch/note"))?;
                note.set_permissions(Permissions::from_mode(0o640))?;
                match note.metadata()?.permissions().mode() & 0o777 {
                    0o640 => Ok(()),
                    _ => Err(io::ErrorKind::PermissionDenied.into()),
                }
            }),
            act("times of an open file", "EPERM", |place| {
                let note = File::open(place.path("scratch/note"))?;
                note.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH))
            }),
            act("copy", "ok", |place| {
                fs::copy(place.path("readable/note"), place.path("scratch/copy")).map(drop)
            }),
        ],
    );
}

#[test]
fn modes_are_changed_where_that_is_granted() {
    check(
        "files::modes_are_changed_where_that_is_granted",
        |place| super::Confinement {
            change_modes: true,
            ..place.confinement()
        },
        &[act("mode", "ok", |place| {
            fs::set_permissions(place.path("writable/note"), Permissions::from_mode(0o700))
        })],
    );
}

#[test]
fn inherited_descriptors_are_closed() {
    check(
        "files::inherited_descriptors_are_closed",
        Place::confinement,
        &[
            act("inherited", "ENOENT", |place| {
                fs::read_link(format!("/proc/self/fd/{}", place.inherited)).map(drop)
            }),
            act("kept", "ok", |place| {
                io::read_to_string(place.kept.as_ref().unwrap()).map(drop)
            }),
        ],
    );
}

fn read(place: &Place, path: &str) -> io::Result<()> {
    fs::read(place.path(path)).map(drop)
}
