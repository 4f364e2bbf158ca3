//! Calls that change the system, or open much of the kernel.

use super::{Attempt, Free, check, escape, faulty, of_root};

const CALLS: [Attempt; 20] = [
    escape("leave the descriptors", "EPERM"),
    of_root("leave the host's name", "EPERM"),
    faulty("enter a namespace", Free::Always("EBADF"), "EPERM"),
    of_root("change the root", "EPERM"),
    faulty("exchange the root", Free::Root("EFAULT"), "EPERM"),
    of_root("mount", "EPERM"),
    of_root("clone a tree of mounts", "EPERM"),
    of_root("name the host", "EPERM"),
    escape("find the keyring", "EPERM"),
    escape("add a key", "EPERM"),
    faulty("use bpf", Free::Root("EINVAL"), "EPERM"),
    of_root("use io_uring", "EPERM"),
    of_root("handle faults", "EPERM"),
    faulty("measure events", Free::Root("EFAULT"), "EPERM"),
    of_root("read the kernel's log", "EPERM"),
    escape("change the personality", "EPERM"),
    escape("name a file by its handle", "ENOSYS"),
    faulty("open a file by its handle", Free::Root("EINVAL"), "EPERM"),
    escape("make a file in memory", "EPERM"),
    escape("share memory", "EPERM"),
];

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_change_the_system_or_open_much_of_the_kernel_are_refused() {
    check(&CALLS).await;
}
