//! A host with the plugin that tries to get out, and what it must not reach.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_core::call::Caller;
use agent_core::config::Isolation;
use agent_core::registry::{PluginStatus, Scope};
use fs_err as fs;
use serde_json::{Value, json};
use toolsmith_tests::{DEADLINE, Project, call};

use super::plugin::library;

/// What only the host knows.
static SECRET: &str = "secret of the host";

/// What is in the folder outside besides what `Site` makes there.
const FILES: [&str; 12] = [
    "private",
    "linked",
    "for-link",
    "for-write",
    "for-append",
    "for-shorten",
    "for-rename",
    "for-move",
    "for-remove",
    "for-attributes",
    "scratch-of-another/note",
    "granted/note",
];

/// A project with the plugin in one tier, its host, and the surroundings.
pub(super) struct Site {
    pub(super) project: Project,
    pub(super) caller: Caller,
    isolation: Isolation,
    pub(super) tcp: TcpListener,
    udp: UdpSocket,
    abstract_name: String,
    private: File,
    _services: (UnixListener, UnixListener),
}

impl Site {
    /// With these lines besides in the plugin's configuration.
    pub(super) async fn new(isolation: Isolation, settings: &str) -> Self {
        let project = Project::new();
        let outside = project.path().join("outside");
        for name in FILES {
            project.write(Path::new("outside").join(name), name);
        }
        for folder in ["for-rmdir", "for-mount", "own"] {
            fs::create_dir(outside.join(folder)).unwrap();
        }
        project.write("plugins/other/src/lib.rs", "// Of another plugin.");
        project.write(".toolsmith/store/other.so", "of another plugin");
        let bytes = library(&project.path().join("mapped"));
        fs::write(project.plugins().join("libescape.so"), bytes).unwrap();
        configure(&project, isolation, settings);
        let private = File::open(outside.join("private")).unwrap();
        // What is started from now on inherits it.
        rustix::io::fcntl_setfd(&private, rustix::io::FdFlags::empty()).unwrap();
        let abstract_name = project.crate_name("toolsmith-escape");
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        Self {
            caller: project.following_host().await,
            isolation,
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            _services: (
                UnixListener::bind(outside.join("socket")).unwrap(),
                UnixListener::bind_addr(&address).unwrap(),
            ),
            abstract_name,
            private,
            project,
        }
    }

    /// Changes the configuration, and looks at it as a reload does.
    pub(super) async fn configure(&self, isolation: Isolation, settings: &str) {
        configure(&self.project, isolation, settings);
        let refreshed = self.caller.registry().refresh(Scope::All, &()).await;
        refreshed.unwrap();
    }

    /// How one act of the tool goes.
    pub(super) async fn attempt(&self, act: &str) -> String {
        let arguments = json!({"act": act, "place": self.place()});
        self.text("attempt", arguments).await
    }

    /// What a tool answers, or why it does not.
    pub(super) async fn text(&self, tool: &str, arguments: Value) -> String {
        let called = call(&self.caller, tool, arguments);
        let result = tokio::time::timeout(DEADLINE, called).await;
        result.unwrap().text()
    }

    fn place(&self) -> Value {
        let root = self.project.path();
        let free = (self.isolation != Isolation::Sandbox).then(|| root.join("outside/own"));
        json!({
            "root": root,
            "home": std::env::home_dir().unwrap(),
            "scratch": free,
            "library": self.stored(),
            "host": std::process::id(),
            "secret_at": SECRET.as_ptr().addr(),
            "host_descriptor": self.private.as_raw_fd(),
            "tcp": self.tcp.local_addr().unwrap().port(),
            "udp": self.udp.local_addr().unwrap().port(),
            "abstract_name": self.abstract_name,
        })
    }

    /// The plugin's library in the store.
    fn stored(&self) -> PathBuf {
        let hash = self.status().hash.unwrap();
        let store = self.project.path().join(".toolsmith/store");
        store.join(format!("{hash}.so"))
    }

    pub(super) fn status(&self) -> PluginStatus {
        let plugins = self.caller.registry().plugins();
        let mut plugins = plugins.into_iter();
        plugins
            .find(|plugin| plugin.name.as_str() == "escape")
            .unwrap()
    }

    /// Everything that the tool could change: what is in the folder outside, and its own library.
    pub(super) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        see(&self.project.path().join("outside"), &mut seen);
        see(&self.stored(), &mut seen);
        seen
    }

    /// The plugin serves, in the process that it had or in another one.
    pub(super) async fn assert_alive(&self) {
        let pid = self.text("pid", json!({})).await;
        assert!(pid.parse::<u32>().is_ok(), "{pid}");
        assert_eq!(self.status().reason, None);
    }
}

/// Waits until something is so.
pub(super) async fn wait_until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let reached = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let reached = tokio::time::timeout(DEADLINE, reached).await;
    reached.unwrap_or_else(|_| panic!("{what}"));
}

fn configure(project: &Project, isolation: Isolation, settings: &str) {
    let text = format!("[plugins.escape]\nisolation = \"{isolation}\"\n{settings}\n");
    project.write("toolsmith.toml", &text);
}

fn see(path: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let text = format!(
        "mode {:o}, owner {}, links {}, {} bytes, content of {}.{}, the rest of {}.{}",
        metadata.mode(),
        metadata.uid(),
        metadata.nlink(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec()
    );
    seen.insert(path.to_owned(), text);
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            see(&entry.unwrap().path(), seen);
        }
    }
}
