//! Processes of plugins that end again and again leave nothing behind.

use serde_json::Value;
use toolsmith_tests::soak;

/// 10,000 starts with `TOOLSMITH_LONG=1`.
#[test]
fn each_start_answers_right_and_leaves_nothing() {
    let is_long = std::env::var_os("TOOLSMITH_LONG").is_some();
    let starts = if is_long { 10_000 } else { 300 };
    let report = soak(&["starts", &starts.to_string()]);
    println!("{report}");
    assert_eq!(report["wrong"], Value::Array(Vec::new()), "{report}");
    assert_eq!(report["failed"], 0, "{report}");
    assert!(report["calls"].as_u64().unwrap() > 1000, "{report}");
    // Each start is a process of its own.
    assert!(report["processes"].as_u64().unwrap() >= starts, "{report}");
    for tier in report["tiers"].as_array().unwrap() {
        let left = |what: &str| tier["left"][what].as_u64().unwrap();
        // Threads of the pool come and go with the callers, a process may wait for work.
        assert!(left("children") <= 1, "{report}");
        assert!(left("threads") <= 4, "{report}");
        assert!(left("descriptors") <= 8, "{report}");
        // One for the process that serves, one for the one that waits.
        assert!(left("scratchFolders") <= 2, "{report}");
        assert!(left("ownKilobytes") < 16 * 1024, "{report}");
    }
}
