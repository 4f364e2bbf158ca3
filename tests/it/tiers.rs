//! Isolation tiers: what a tool does and answers is the same in each of them, and what may go wrong
//! in one of a process of its own stays there.

mod conformance;
mod crashes;
mod escapes;
mod images;
mod memory;
mod starts;
mod tightened;

use agent_core::call::Caller;
use agent_core::config;
use agent_core::registry::{Configuration, Policies, Policy, Scope};
use toolsmith_tests::Project;

/// Lets a plugin of a project run in this tier from now on, with these settings besides.
async fn isolate(
    caller: &Caller,
    project: &Project,
    plugin: &str,
    isolation: config::Isolation,
    mut configuration: Configuration,
) {
    let policy = Policy {
        isolation: Some(isolation),
        ..Policy::default()
    };
    configuration.policies = Policies::default().with(project.crate_name(plugin), policy);
    caller.registry().configure(configuration);
    let refreshed = caller.registry().refresh(Scope::All, &()).await;
    refreshed.unwrap();
    let plugins = caller.registry().plugins();
    assert!(
        plugins.iter().all(|plugin| plugin.reason.is_none()),
        "{plugins:?}"
    );
}
