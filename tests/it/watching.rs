//! Changes that are seen without any command: a registry in this process watches a folder of
//! finished libraries, and only its table is read.
//!
//! Every version of the library is the same bytes with another marker, so that a change costs no
//! build.

mod folders;
mod odd;
mod process;
mod storms;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use agent_core::call::Caller;
use agent_core::event::{Emitter, Event, EventKind, EventSink};
use agent_core::registry::{PluginState, PluginStatus, Registry, RegistryOptions, Watch};
use serde_json::json;
use toolsmith_tests::{DEADLINE, Project, call, toolsmith};

/// What an event brings comes sooner; what only the sweep finds comes later.
const SOON: Duration = Duration::from_secs(1);

const MARKER: &str = "VERSION-00000000";

/// The bytes of a library whose tool `version` answers this number.
fn version(number: u32) -> Vec<u8> {
    static LIBRARY: OnceLock<(Vec<u8>, Vec<usize>)> = OnceLock::new();
    let (bytes, places) = LIBRARY.get_or_init(|| {
        let project = Project::new();
        project.plugin(
            "marked",
            &format!(
                "static MARKER: &str = {MARKER:?};\n/// Says its version.\n#[tool]\n\
                 fn version() -> String {{ std::hint::black_box(MARKER).to_owned() }}"
            ),
        );
        let list = project.run(&["list", "--json"]).json();
        let hash = list["plugins"][0]["hash"].as_str().unwrap().to_owned();
        let stored = project.path().join(format!(".toolsmith/store/{hash}.so"));
        let bytes = fs_err::read(stored).unwrap();
        let windows = bytes.windows(MARKER.len()).enumerate();
        let places: Vec<usize> = windows
            .filter(|(_, window)| *window == MARKER.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty());
        (bytes, places)
    });
    let mut bytes = bytes.clone();
    for at in places {
        bytes[*at..at + MARKER.len()].copy_from_slice(marker(number).as_bytes());
    }
    bytes
}

fn marker(number: u32) -> String {
    format!("VERSION-{number:08}")
}

/// A folder that is watched.
struct Watched {
    folder: tempfile::TempDir,
    registry: Registry,
    caller: Caller,
    changes: Changes,
    watch: Watch,
}

/// Every change of tools that was told.
#[derive(Clone, Default)]
struct Changes(Arc<Mutex<Vec<EventKind>>>);

impl EventSink for Changes {
    fn event(&self, event: &Arc<Event>) {
        if matches!(event.kind, EventKind::ToolsChanged { .. }) {
            self.0.lock().unwrap().push(event.kind.clone());
        }
    }
}

impl Changes {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Reasons of failures.
    fn failures(&self) -> Vec<String> {
        let changes = self.0.lock().unwrap();
        let failures = changes.iter().flat_map(|change| match change {
            EventKind::ToolsChanged { failed, .. } => failed.clone(),
            _ => Vec::new(),
        });
        failures.map(|failed| failed.reason).collect()
    }
}

impl Watched {
    /// Watches the folder `plugins`, which `prepare` may fill before, or make a link of.
    fn prepared(prepare: impl FnOnce(&Path)) -> Self {
        Self::named(prepare, Path::to_owned)
    }

    /// The same with a folder that the registry knows under a name of its own.
    fn named(prepare: impl FnOnce(&Path), name: impl FnOnce(&Path) -> PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("project")).unwrap();
        prepare(&folder.path().join("project"));
        let changes = Changes::default();
        let events = Emitter::new(vec![Box::new(changes.clone())]);
        let plugins = name(&folder.path().join("project/plugins"));
        let mut options = RegistryOptions::new(plugins, folder.path().join("state"));
        options.helper = Some(toolsmith());
        let registry = Registry::open(options, None, events.clone()).unwrap();
        let watch = registry.watch(Arc::new(()));
        Self {
            folder,
            caller: Caller::new(registry.clone(), events),
            registry,
            changes,
            watch,
        }
    }

    /// Watches an empty folder.
    fn new() -> Self {
        Self::prepared(|project| fs_err::create_dir(project.join("plugins")).unwrap())
    }

    /// Watches a folder with the first version of the library, which serves.
    async fn serving() -> Self {
        let watched = Self::new();
        watched.save("libmarked.so", 1);
        watched.serves(1).await;
        watched
    }

    fn plugins(&self) -> PathBuf {
        self.folder.path().join("project/plugins")
    }

    /// Saves a version by renaming a temporary file, as careful editors do.
    fn save(&self, name: &str, number: u32) {
        let temporary = self.plugins().join(".saving");
        fs_err::write(&temporary, version(number)).unwrap();
        fs_err::rename(temporary, self.plugins().join(name)).unwrap();
    }

    /// Waits until this is so, without a command.
    async fn until(&self, what: &str, wished: impl Fn() -> bool) {
        let begin = Instant::now();
        while !wished() {
            assert!(
                begin.elapsed() < DEADLINE,
                "{what}: {:#?}, notices {:?}",
                self.registry.plugins(),
                self.registry.notices(),
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// What the tool answers now, if there is one.
    async fn answer(&self) -> Option<String> {
        self.registry.table().get("version")?;
        let result = call(&self.caller, "version", json!({})).await;
        (!result.is_error).then(|| toolsmith_tests::text(&serde_json::to_value(&*result).unwrap()))
    }

    /// Waits until this version answers, and gives how long it took.
    async fn serves(&self, number: u32) -> Duration {
        let begin = Instant::now();
        while self.answer().await != Some(marker(number)) {
            assert!(
                begin.elapsed() < DEADLINE,
                "{number} does not serve: {:#?}",
                self.registry.plugins()
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        begin.elapsed()
    }

    /// Events arrive, and not only the sweep: after each of some saves, the version serves; the
    /// quickest was soon there. The sweep alone would need about two seconds each time.
    async fn sees_saves(&self, name: &str, from: u32) {
        let mut quickest = DEADLINE;
        for number in from..from + 4 {
            self.save(name, number);
            quickest = quickest.min(self.serves(number).await);
        }
        assert!(quickest < SOON, "{quickest:?}");
    }

    fn plugin(&self, name: &str) -> Option<PluginStatus> {
        let mut plugins = self.registry.plugins().into_iter();
        plugins.find(|plugin| plugin.name.as_str() == name)
    }

    async fn is_gone(&self) {
        let tool = || self.registry.table().get("version").is_none();
        self.until("the tool is still there", tool).await;
    }

    async fn fails(&self, name: &str) -> String {
        let failed = || {
            self.plugin(name)
                .is_some_and(|plugin| plugin.state == PluginState::Failed)
        };
        self.until("it does not fail", failed).await;
        self.plugin(name).unwrap().reason.unwrap()
    }

    /// Waits until no look follows another: a file that is cut while a look runs is seen cut.
    async fn rests(&self) {
        let mut before = None;
        while before.replace(self.watch.looks()) != Some(self.watch.looks()) {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    /// Waits until the folder was looked at so many times more.
    async fn looked(&self, times: u64) {
        let wished = self.watch.looks() + times;
        let looked = || self.watch.looks() >= wished;
        self.until("it does not look", looked).await;
    }
}

/// g4.atomic-save: not only the first replacement of a file is seen.
#[tokio::test(flavor = "multi_thread")]
async fn every_atomic_save_is_seen() {
    let watched = Watched::serving().await;
    watched.sees_saves("libmarked.so", 2).await;
    watched.sees_saves("libmarked.so", 6).await;
    assert_eq!(watched.plugin("marked").unwrap().generation.0, 9);
    assert_eq!(watched.changes.count(), 9);
    assert_eq!(watched.changes.failures(), [""; 0]);
}

/// g4.partial-write, g4.overwrite-in-place
#[tokio::test(flavor = "multi_thread")]
async fn library_that_is_written_slowly_is_loaded_once_it_is_whole() {
    let watched = Watched::serving().await;
    watched.rests().await;
    let bytes = version(2);
    let path = watched.plugins().join("libmarked.so");
    let mut file = fs_err::File::create(path).unwrap();
    for chunk in bytes.chunks(bytes.len() / 8 + 1) {
        file.write_all(chunk).unwrap();
        let pause = Instant::now() + Duration::from_millis(600);
        while Instant::now() < pause {
            assert_eq!(watched.answer().await, Some(marker(1)));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    drop(file);
    let took = watched.serves(2).await;
    assert!(took < SOON, "{took:?}");
    assert_eq!(watched.changes.failures(), [""; 0]);
    assert_eq!(watched.changes.count(), 2);
    assert_eq!(watched.plugin("marked").unwrap().generation.0, 2);
}

/// g4.partial-write: a library that never was there before.
#[tokio::test(flavor = "multi_thread")]
async fn new_library_that_is_written_slowly_is_no_failure() {
    let watched = Watched::new();
    watched.rests().await;
    let path = watched.plugins().join("libmarked.so");
    let mut file = fs_err::File::create(path).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    for chunk in version(1).chunks(4 << 20) {
        file.write_all(chunk).unwrap();
        watched.looked(1).await;
    }
    watched.looked(1).await;
    drop(file);
    watched.serves(1).await;
    assert_eq!(watched.changes.failures(), [""; 0]);
    assert_eq!(watched.changes.count(), 1);
}

/// g4.debounce
#[tokio::test(flavor = "multi_thread")]
async fn ten_saves_at_once_end_with_the_last() {
    let watched = Watched::serving().await;
    for number in 2..12 {
        let path = watched.plugins().join("libmarked.so");
        fs_err::write(path, version(number)).unwrap();
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    watched.serves(11).await;
    watched.looked(2).await;
    assert_eq!(watched.answer().await, Some(marker(11)));
    // A look that runs while the next save begins may find a file that was just cut.
    let loaded = watched.plugin("marked").unwrap().generation.0;
    assert!(loaded <= 11, "{loaded}");
    assert_eq!(watched.plugin("marked").unwrap().state, PluginState::Live);
}

/// g4.deregister
#[tokio::test(flavor = "multi_thread")]
async fn tool_goes_with_its_file_and_comes_back() {
    let watched = Watched::serving().await;
    let mut quickest = DEADLINE;
    for number in 2..5 {
        fs_err::remove_file(watched.plugins().join("libmarked.so")).unwrap();
        let begin = Instant::now();
        watched.is_gone().await;
        quickest = quickest.min(begin.elapsed());
        assert!(watched.plugin("marked").is_none());
        watched.save("libmarked.so", number);
        watched.serves(number).await;
    }
    assert!(quickest < SOON, "{quickest:?}");
}
