//! Files that were not granted.

use super::{Attempt, check, escape, of_root};

const READING: [Attempt; 18] = [
    escape("list the home folder", "EACCES"),
    escape("read a private file", "EACCES"),
    of_root("read the passwords", "EACCES"),
    escape("list the processes", "EACCES"),
    escape("read another plugin's source", "EACCES"),
    escape("list the store", "EACCES"),
    escape("read another plugin's library", "EACCES"),
    escape("read the configuration", "EACCES"),
    escape("read another process's folder", "EACCES"),
    escape("read by ..", "EACCES"),
    escape("read by /proc/self/root", "EACCES"),
    escape("read by a folder's descriptor", "EACCES"),
    escape("read by a file's descriptor", "EACCES"),
    escape("read by a symlink", "EACCES"),
    escape("write by a symlink", "EACCES"),
    escape("read by a hard link", "EACCES"),
    escape("link into its folder", "EXDEV"),
    escape("watch a folder", "EPERM"),
];

const CHANGING: [Attempt; 25] = [
    escape("make a file", "EACCES"),
    escape("write a file", "EACCES"),
    escape("append to a file", "EACCES"),
    escape("shorten a file", "EACCES"),
    escape("rename a file", "EACCES"),
    escape("move a file out", "EACCES"),
    escape("move a file in", "EACCES"),
    escape("remove a file", "EACCES"),
    escape("make a folder", "EACCES"),
    escape("remove a folder", "EACCES"),
    escape("make a symlink", "EACCES"),
    escape("make a socket", "EPERM"),
    of_root("make a device", "EACCES"),
    escape("change a mode", "EPERM"),
    escape("change a mode by its descriptor", "EPERM"),
    escape("change an owner", "EPERM"),
    escape("change times", "EPERM"),
    escape("set an attribute", "EPERM"),
    // It does nothing there, and says that it went well: `std::fs::copy` makes this call.
    escape("change the mode of its library", "ok"),
    escape("change the owner of its library", "EPERM"),
    escape("change the times of its library", "EPERM"),
    escape("set an attribute of its library", "EPERM"),
    escape("set flags of its library", "EPERM"),
    escape("take a lease of its library", "EPERM"),
    of_root("write its library", "EACCES"),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_granted_is_not_read_on_any_way() {
    check(&READING).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_granted_is_not_changed_on_any_way() {
    check(&CHANGING).await;
}
