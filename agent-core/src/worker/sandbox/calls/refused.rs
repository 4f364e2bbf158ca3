//! The system calls that are answered with `EPERM`: those that were not granted, and those that
//! reach other processes or the system, which nothing grants.
//!
//! Owns the conditions. A filter sees numbers and not memory: where a pointer decides (paths,
//! addresses, the flags of `clone3`), only whether there is one can be asked.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompRule,
};

use super::{Grants, Own};

/// What nothing grants.
const ALWAYS: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_perf_event_open,
    // A thread of another process can't be told from an own one.
    libc::SYS_tkill,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Keys and memory that all processes of a user share.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    // Memory that no limit of a process counts.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // It tells the names of files in folders that can't be read.
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// What needs the grant of programs. Without it a process stays one, in the group that its parent
/// can end.
const PROGRAMS: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_pidfd_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// What Landlock checks neither by path nor on a file that is open for reading, as libraries of the
/// system are.
const MODES: &[i64] = &[
    libc::SYS_utimensat,
    libc::SYS_fchown,
    libc::SYS_fsetxattr,
    libc::SYS_fremovexattr,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fchmodat2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// What needs the grant of connections.
const SOCKETS: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// What is asked of descriptors by ordinary code. Other commands change files that are open for
/// reading only (their flags, for one), put input into a terminal, or reach drivers.
const DEVICE_COMMANDS: [u32; 12] = [
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x541b,      // FIONREAD
    0x5411,      // TIOCOUTQ
    0x5401,      // TCGETS
    0x802c_542a, // TCGETS2
    0x5413,      // TIOCGWINSZ
    0x4004_9409, // FICLONE
    0x4020_940d, // FICLONERANGE
    0xc020_660b, // FS_IOC_FIEMAP
    0x8008_6601, // FS_IOC_GETFLAGS
];

/// Says whom a descriptor sends which signal, or makes others wait who open the file.
const DESCRIPTOR_COMMANDS: [u32; 5] = [
    8,    // F_SETOWN
    10,   // F_SETSIG
    15,   // F_SETOWN_EX
    1024, // F_SETLEASE
    1026, // F_NOTIFY
];

const NEW_NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The calls that are answered as if they were done, and are not: copying a file ends with changing
/// its mode, to the one that it was made with already, and an error would be that of the copy.
pub(super) fn passed_over(grants: Grants) -> Rules {
    let mut rules = Rules::new();
    if !grants.change_modes {
        refuse_all(&mut rules, &[libc::SYS_fchmod]);
    }
    rules
}

/// The rules of the second filter.
pub(super) fn rules(grants: Grants) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    refuse_all(&mut rules, ALWAYS);
    commands(&mut rules)?;
    processes(&mut rules, grants)?;
    signals(&mut rules, grants)?;
    scheduling(&mut rules, grants.own)?;
    sockets(&mut rules, grants.raw_sockets)?;
    if !grants.change_modes {
        refuse_all(&mut rules, MODES);
    }
    Ok(rules)
}

fn commands(rules: &mut Rules) -> Result<(), BackendError> {
    rules.insert(libc::SYS_ioctl, vec![none_of(1, &DEVICE_COMMANDS)?]);
    rules.insert(libc::SYS_fcntl, one_of(1, &DESCRIPTOR_COMMANDS)?);
    // Only to ask for it.
    let asks = u64::from(u32::MAX);
    rules.insert(
        libc::SYS_personality,
        vec![is(0, Len::Dword, Op::Ne, asks)?],
    );
    Ok(())
}

fn processes(rules: &mut Rules, grants: Grants) -> Result<(), BackendError> {
    if !grants.exec {
        refuse_all(rules, PROGRAMS);
        let no_thread = bits(0, flag(libc::CLONE_THREAD), 0)?;
        rules.insert(libc::SYS_clone, vec![no_thread]);
        return Ok(());
    }
    // `CLONE_PARENT` would make the new process a child of the host.
    let flags = NEW_NAMESPACES.into_iter().chain([libc::CLONE_PARENT]);
    let set = flags.map(|wanted| bits(0, flag(wanted), flag(wanted)));
    rules.insert(libc::SYS_clone, set.collect::<Result<_, _>>()?);
    Ok(())
}

/// To itself only, but for those that may have children, where Landlock keeps signals inside.
fn signals(rules: &mut Rules, grants: Grants) -> Result<(), BackendError> {
    if grants.exec && grants.signals_scoped {
        return Ok(());
    }
    let own = grants.own.pid;
    let group = if grants.own.leads_group {
        vec![own, 0, own.wrapping_neg()]
    } else {
        vec![own]
    };
    rules.insert(libc::SYS_kill, vec![none_of(0, &group)?]);
    for call in [
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        rules.insert(call, vec![none_of(0, &[own])?]);
    }
    refuse_all(rules, &[libc::SYS_pidfd_send_signal]);
    Ok(())
}

/// Priorities and limits of itself only; 0 is the caller.
fn scheduling(rules: &mut Rules, own: Own) -> Result<(), BackendError> {
    let itself = [0, own.pid];
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(call, vec![none_of(0, &itself)?]);
    }
    // The first argument says whether the second is a process, a group or a user.
    for (call, process) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
        let of_many = none_of(0, &[process])?;
        rules.insert(call, vec![of_many, none_of(1, &itself)?]);
    }
    Ok(())
}

/// A connected pair reaches nobody else and every runtime has one, so it needs no grant. One of
/// datagrams could be sent to anyone: its kinds are told apart by bits, 1 (stream) and 5 (sequence
/// of packets) stay.
fn sockets(rules: &mut Rules, granted: bool) -> Result<(), BackendError> {
    let local = libc::AF_UNIX.cast_unsigned();
    rules.insert(
        libc::SYS_socketpair,
        vec![
            none_of(0, &[local])?,
            bits(1, 0b0001, 0)?,
            bits(1, 0b0010, 0b0010)?,
            bits(1, 0b1000, 0b1000)?,
        ],
    );
    if !granted {
        refuse_all(rules, SOCKETS);
        return Ok(());
    }
    // Not those of the system's own services, which do for anyone what he may do. Of the kinds, 1
    // (stream) and 2 (datagrams) stay.
    let internet = [libc::AF_INET, libc::AF_INET6].map(i32::cast_unsigned);
    rules.insert(
        libc::SYS_socket,
        vec![
            none_of(0, &internet)?,
            bits(1, 0b0011, 0b0011)?,
            bits(1, 0b0100, 0b0100)?,
            bits(1, 0b1000, 0b1000)?,
        ],
    );
    Ok(())
}

fn refuse_all(rules: &mut Rules, calls: &[i64]) {
    rules.extend(calls.iter().map(|call| (*call, Vec::new())));
}

fn flag(flag: i32) -> u64 {
    u64::from(flag.cast_unsigned())
}

fn is(argument: u8, length: Len, operator: Op, value: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, length, operator, value)?;
    SeccompRule::new(vec![condition])
}

/// Of the bits `mask`, exactly `value` are set.
fn bits(argument: u8, mask: u64, value: u64) -> Result<SeccompRule, BackendError> {
    is(argument, Len::Dword, Op::MaskedEq(mask), value)
}

/// One rule for each value.
fn one_of(argument: u8, values: &[u32]) -> Result<Vec<SeccompRule>, BackendError> {
    let each = values.iter().map(|value| u64::from(*value));
    each.map(|value| is(argument, Len::Dword, Op::Eq, value))
        .collect()
}

/// One rule: the argument is another value than all of these.
fn none_of(argument: u8, values: &[u32]) -> Result<SeccompRule, BackendError> {
    let each = values.iter().map(|value| u64::from(*value));
    let others = each.map(|value| SeccompCondition::new(argument, Len::Dword, Op::Ne, value));
    SeccompRule::new(others.collect::<Result<_, _>>()?)
}
