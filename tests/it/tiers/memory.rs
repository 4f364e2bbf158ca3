//! What a plugin may use up where it has a process of its own.

use agent_core::config::{Isolation, PluginLimits};
use agent_core::registry::{Configuration, Policies, Policy, Scope};
use serde_json::json;
use tool_sdk::ErrorKind;
use toolsmith_tests::{Project, call};

const GREEDY: &str = r"
    /// Uses so many megabytes.
    #[tool]
    fn take(megabytes: usize) -> usize {
        let pages = vec![1_u8; megabytes << 20];
        std::hint::black_box(&pages).len() >> 20
    }

    /// Who it is.
    #[tool]
    fn pid() -> u32 { std::process::id() }
";

/// Of a limit of 64 MB some room beside it is for the process itself.
#[tokio::test(flavor = "multi_thread")]
async fn memory_is_limited_in_every_process_of_its_own_and_free_in_the_host() {
    let project = Project::new();
    project.plugin("greedy", GREEDY);
    let caller = project.host().await;
    let registry = caller.registry();
    let mut pids = vec![std::process::id().to_string()];
    for (isolation, memory, is_free) in [
        (Isolation::InProcess, Some(64 << 20), true),
        (Isolation::Worker, None, true),
        (Isolation::Worker, Some(64 << 20), false),
        (Isolation::Sandbox, Some(64 << 20), false),
    ] {
        let policy = Policy {
            isolation: Some(isolation),
            limits: PluginLimits { memory },
            ..Policy::default()
        };
        let mut configuration = Configuration::default();
        configuration.policies = Policies::default().with(project.crate_name("greedy"), policy);
        registry.configure(configuration);
        registry.refresh(Scope::All, &()).await.unwrap();
        let status = &registry.plugins()[0];
        assert_eq!(status.reason, None);
        let enforced = serde_json::to_value(status).unwrap()["enforced"].to_string();
        let is_shown = ["memory: control group", "memory: limit of the process"]
            .iter()
            .any(|means| enforced.contains(means));
        assert_eq!(is_shown, !is_free, "{isolation}: {enforced}");

        let pid = call(&caller, "pid", json!({})).await.text();
        if isolation != Isolation::InProcess {
            assert!(
                !pids.contains(&pid),
                "{isolation}: another limit, another process"
            );
            pids.push(pid);
        }
        let little = call(&caller, "take", json!({"megabytes": 32})).await;
        assert_eq!(little.text(), "32", "{isolation}");
        let much = call(&caller, "take", json!({"megabytes": 512})).await;
        if is_free {
            assert_eq!(much.text(), "512", "{isolation}");
        } else {
            let kind = much.error.as_ref().map(|error| error.kind);
            assert_eq!(
                kind,
                Some(ErrorKind::Crashed),
                "{isolation}: {}",
                much.text()
            );
            let again = call(&caller, "take", json!({"megabytes": 32})).await;
            assert_eq!(again.text(), "32", "{isolation}");
        }
    }
}
