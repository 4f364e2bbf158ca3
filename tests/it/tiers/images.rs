//! Libraries that were replaced stay mapped in the host: after some of them a plugin moves to a
//! process of its own, unless a person said where it runs.

use agent_core::call::Caller;
use agent_core::config;
use agent_core::registry::{Configuration, PluginStatus, Policies, Policy, Scope};
use agent_core::tool::Isolation;
use fs_err as fs;
use serde_json::json;
use toolsmith_tests::{Project, call, exchanged};

const SUBJECT: &str = r#"
    /// What serves, and where.
    #[tool]
    fn version() -> String { format!("version-000 in {}", std::process::id()) }
"#;

/// Versions of a plugin that come and go as files of one name.
struct Site {
    project: Project,
    caller: Caller,
    library: Vec<u8>,
}

impl Site {
    /// At most two replaced libraries may stay mapped.
    async fn new(isolation: Option<config::Isolation>) -> Self {
        let maker = Project::new();
        maker.plugin("subject", SUBJECT);
        let name = format!("lib{}.so", maker.crate_name("subject").replace('-', "_"));
        let built = maker.host().await.registry().plugins();
        assert!(built[0].reason.is_none(), "{built:?}");
        let folder = toolsmith_tests::target().join("trusted/debug");
        let library = fs::read(folder.join(name)).unwrap();
        let project = Project::new();
        let caller = project.host().await;
        let site = Self {
            project,
            caller,
            library,
        };
        site.decide(isolation);
        site
    }

    fn decide(&self, isolation: Option<config::Isolation>) {
        let policy = Policy {
            isolation,
            ..Policy::default()
        };
        let mut configuration = Configuration::default();
        configuration.max_images = Some(2);
        configuration.policies = Policies::default().with("subject", policy);
        self.caller.registry().configure(configuration);
    }

    async fn refresh(&self) -> PluginStatus {
        let registry = self.caller.registry();
        registry.refresh(Scope::All, &()).await.unwrap();
        registry.plugins().remove(0)
    }

    /// Brings in a version. Answers how the plugin stands, and the process that answers.
    async fn version(&self, number: u32) -> (PluginStatus, u32) {
        let text = format!("version-{number:03}");
        let bytes = exchanged(&self.library, "version-000", &text);
        let new = self.project.path().join("new");
        fs::write(&new, bytes).unwrap();
        fs::rename(new, self.project.plugins().join("subject.so")).unwrap();
        let status = self.refresh().await;
        assert!(status.reason.is_none(), "{status:?}");
        let answer = call(&self.caller, "version", json!({})).await.text();
        let (version, process) = answer.split_once(" in ").unwrap();
        assert_eq!(version, text);
        (status, process.parse().unwrap())
    }

    fn notices(&self) -> String {
        self.caller.registry().notices().join("\n")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plugin_that_has_filled_the_host_moves_to_a_process_of_its_own() {
    let site = Site::new(None).await;
    let own = std::process::id();
    for number in 1..=2 {
        let (status, process) = site.version(number).await;
        assert_eq!((status.isolation, process), (Isolation::InProcess, own));
        assert_eq!(site.notices(), "");
    }
    let mut before = own;
    for number in 3..=5 {
        let (status, process) = site.version(number).await;
        assert_eq!(status.isolation, Isolation::Worker);
        assert_eq!(status.mapped_images, 2, "the host maps no more of them");
        assert!(![own, before].contains(&process));
        before = process;
        let told = site.notices();
        for part in [
            "2 replaced libraries of plugin `subject` stay mapped",
            "its newer versions run in a process of their own",
            "`[plugins.subject]`",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    // Looking again is no new version.
    assert_eq!(site.refresh().await.generation.0, 5);
    // A person's word counts, with what it costs.
    site.decide(Some(config::Isolation::InProcess));
    let status = site.refresh().await;
    assert_eq!(
        (status.isolation, status.mapped_images),
        (Isolation::InProcess, 3)
    );
    assert!(!site.notices().contains("process of their own"));
}

#[tokio::test(flavor = "multi_thread")]
async fn plugin_that_a_person_keeps_in_the_host_stays_there_and_the_notice_says_so() {
    let site = Site::new(Some(config::Isolation::InProcess)).await;
    for number in 1..=4 {
        let (status, process) = site.version(number).await;
        let mapped = usize::try_from(number).unwrap();
        assert_eq!(
            (status.isolation, status.mapped_images, process),
            (Isolation::InProcess, mapped, std::process::id())
        );
        assert_eq!(site.notices().contains("stay mapped"), number > 2);
        assert!(!site.notices().contains("process of"));
    }
}
