//! Eight callers call without a pause while plugins are edited, built and replaced.

use toolsmith_tests::soak;

/// g4.same-path: no call fails, none is lost, and none is answered by a version that was no longer published when
/// it began; what a reload leaves behind is bounded. 1,000 reloads with `TOOLSMITH_LONG=1`.
#[test]
fn calls_do_not_notice_reloads() {
    let reloads = if std::env::var_os("TOOLSMITH_LONG").is_some() {
        "1000"
    } else {
        "100"
    };
    let report = soak(&["reloads", reloads]);
    println!("{report}");
    for none in ["failed", "lost", "stale"] {
        assert_eq!(report[none], 0, "{none}: {report}");
    }
    assert!(report["calls"].as_u64().unwrap() > 1000, "{report}");
    let left = |what: &str| report[what].as_f64().unwrap();
    // A runtime that is not shut down would leave some of each.
    assert!(left("descriptorsPerReload") < 0.5, "{report}");
    assert!(left("threadsPerReload") < 0.5, "{report}");
    // What the loader changes in a library of the debug profile, and the plugin's statics.
    assert!(left("ownKilobytesPerReload") < 2000.0, "{report}");
}
