//! What can't be confined as it was asked for, and is refused with a reason.

use std::os::fd::AsFd as _;

use super::super::{Minimum, SandboxError, available, confine, confine_thread};
use super::{Confinement, Place, act, check};

#[test]
fn this_system_says_what_it_has() {
    let has = available(Minimum(0)).unwrap();
    assert!(available(Minimum(has.landlock)).is_ok());
    let error = available(Minimum(has.landlock + 1)).unwrap_err();
    assert!(
        matches!(error, SandboxError::TooOld { found, .. } if found == has.landlock),
        "{error}"
    );
}

#[test]
fn an_older_kernel_than_demanded_is_told_with_the_choice() {
    let error = SandboxError::TooOld {
        expected: Minimum(6),
        found: 3,
    };
    assert_eq!(
        error.to_string(),
        "a sandbox needs Landlock revision 6, this kernel has revision 3: use a newer kernel (6.12 \
         has revision 6), set `sandbox_minimum = 3` to do without what is missing, or write \
         `isolation = \"worker\"` for plugins whose code you trust"
    );
}

/// Each is confined in part when it fails; the second time in a process that is confined already.
#[test]
fn what_cant_be_granted_is_named() {
    check(
        "refusals::what_cant_be_granted_is_named",
        Place::confinement,
        &[
            // The runner of tests has one, the test the other.
            act("threads", "ok", |place| {
                let found = confine(&place.confinement(), &[]).unwrap_err();
                assert_eq!(
                    found.to_string(),
                    "a process can only be confined while it has one thread, this one has 2: confine \
                     it at its start"
                );
                Ok(())
            }),
            act("newer kernel", "ok", |place| {
                let found = refused(
                    place,
                    &Confinement {
                        minimum: Minimum(1000),
                        ..place.confinement()
                    },
                );
                assert!(found.contains("needs Landlock revision 1000"), "{found}");
                Ok(())
            }),
            act("missing folder", "ok", |place| {
                let missing = place.path("missing");
                let found = refused(
                    place,
                    &Confinement {
                        read: vec![missing.clone()],
                        ..place.confinement()
                    },
                );
                assert_eq!(
                    found,
                    format!(
                        "`{}` can't be granted to a sandbox: No such file or directory (os error \
                         2); make it, or take it out of the grants",
                        missing.display()
                    )
                );
                Ok(())
            }),
            act("scratch that is a file", "ok", |place| {
                let note = place.path("scratch/note");
                let found = refused(place, &Confinement::of(&note));
                assert!(found.contains("scratch/note` can't be granted"), "{found}");
                assert!(found.contains("not a directory"), "{found}");
                Ok(())
            }),
        ],
    );
}

fn refused(place: &Place, confinement: &Confinement) -> String {
    let kept = place.kept.as_ref().unwrap().as_fd();
    let refused = confine_thread(confinement, &[kept]);
    refused.unwrap_err().to_string()
}
