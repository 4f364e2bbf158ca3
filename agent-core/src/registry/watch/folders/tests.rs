//! Watches that are refused, watchers that die, and folders that change their identity.

use std::sync::Mutex;

use fs_err as fs;

use super::super::backend::{FolderWatcher, Handler, Notify};
use super::super::pace::Pace;
use super::super::shared::Shared;
use super::*;

/// A watcher that remembers what it is told, and refuses what it should.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    handler: Option<Handler>,
    starts: u32,
    /// Calls since it was last asked, `+` and `-`.
    calls: Vec<String>,
    no_start: bool,
    limit: Option<usize>,
    forbidden: Vec<PathBuf>,
}

impl Fake {
    fn with<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.0.lock().unwrap())
    }

    fn calls(&self) -> Vec<String> {
        self.with(|state| std::mem::take(&mut state.calls))
    }
}

impl Backend for Fake {
    fn start(&self, handler: Handler) -> notify::Result<Box<dyn FolderWatcher>> {
        self.with(|state| {
            state.starts += 1;
            if state.no_start {
                let error = std::io::Error::from_raw_os_error(24);
                return Err(notify::Error::io(error));
            }
            state.handler = Some(handler);
            Ok(Box::new(self.clone()) as Box<dyn FolderWatcher>)
        })
    }
}

impl FolderWatcher for Fake {
    fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        self.with(|state| {
            if state.limit == Some(0) {
                state.calls.push("full".to_owned());
                return Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch));
            }
            if state.forbidden.iter().any(|one| one == folder) {
                let error = std::io::Error::from_raw_os_error(13);
                return Err(notify::Error::io(error));
            }
            state.limit = state.limit.map(|left| left - 1);
            state.calls.push(format!("+{}", name(folder)));
            Ok(())
        })
    }

    fn unwatch(&mut self, folder: &Path) -> notify::Result<()> {
        self.with(|state| state.calls.push(format!("-{}", name(folder))));
        Ok(())
    }
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

struct Case {
    root: tempfile::TempDir,
    intake: Arc<Intake>,
    folders: Folders,
    paths: BTreeSet<PathBuf>,
}

impl Case {
    /// A plugins folder with a crate.
    fn new(backend: impl Backend + 'static) -> Self {
        let root = tempfile::Builder::new().prefix("root").tempdir().unwrap();
        fs::create_dir_all(root.path().join("plugins/one/src")).unwrap();
        let intake = Arc::new(Intake::new(Arc::new(Shared::default())));
        Self {
            paths: BTreeSet::from([root.path().join("plugins/one")]),
            folders: Folders::new(Box::new(backend), Arc::clone(&intake)),
            intake,
            root,
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn cover(&mut self) -> Covered {
        self.folders.cover(&Wish {
            plugins: &self.root.path().join("plugins"),
            state: Path::new("/state"),
            paths: &self.paths,
        })
    }

    fn new_folders(&mut self) -> Vec<String> {
        let covered = self.cover();
        covered.new.iter().map(|folder| name(folder)).collect()
    }

    /// Waits for an event.
    fn wait(&self) {
        let begin = std::time::Instant::now();
        while self.intake.due(&Pace::default()).is_none() {
            assert!(begin.elapsed() < Duration::from_mins(1), "no event");
            std::thread::yield_now();
        }
        drop(self.intake.take_pending());
    }
}

#[test]
fn folders_are_watched_once_while_they_stay_what_they_are() {
    let fake = Fake::default();
    let mut case = Case::new(fake.clone());
    assert_eq!(case.cover().new.len(), 4);
    assert_eq!(fake.calls().len(), 4);
    assert_eq!(case.cover().new.len(), 0);
    assert!(fake.calls().is_empty());
    fs::rename(case.path("plugins/one"), case.path("plugins/two")).unwrap();
    fs::create_dir_all(case.path("plugins/one/src")).unwrap();
    let expected = ["-one", "-src", "+one", "+src"];
    drop(case.cover());
    assert_eq!(fake.calls(), expected);
}

/// A link that leads elsewhere is another folder; two paths to one folder are one watch.
#[test]
fn links_are_followed_to_what_they_lead_to_now() {
    let fake = Fake::default();
    let mut case = Case::new(fake.clone());
    fs::rename(case.path("plugins"), case.path("a")).unwrap();
    fs::create_dir_all(case.path("b/one/src")).unwrap();
    let link = |target: &str| {
        drop(fs::remove_file(case.path("plugins")));
        std::os::unix::fs::symlink(target, case.path("plugins")).unwrap();
    };
    link("a");
    case.paths.insert(case.root.path().join("a/one/src/lib.rs"));
    fs::write(case.root.path().join("a/one/src/lib.rs"), "").unwrap();
    assert_eq!(case.cover().new.len(), 4);
    drop(fake.calls());
    fs::remove_file(case.path("plugins")).unwrap();
    std::os::unix::fs::symlink("b", case.path("plugins")).unwrap();
    let new = case.new_folders();
    assert_eq!(new, ["plugins", "one", "src", "src"]);
    let (gone, come): (Vec<_>, Vec<_>) = fake
        .calls()
        .into_iter()
        .partition(|call| call.starts_with('-'));
    assert_eq!((gone.len(), come.len()), (3, 4));
}

/// g4.watch-limit
#[test]
fn limit_of_watches_is_one_sentence_and_no_storm_of_attempts() {
    let fake = Fake::default();
    let mut case = Case::new(fake.clone());
    for number in 0..1000 {
        fs::create_dir(case.path(&format!("plugins/one/{number}"))).unwrap();
    }
    fake.with(|state| state.limit = Some(10));
    let problems = case.cover().problems;
    assert_eq!(problems.len(), 1, "{problems:#?}");
    for part in ["fs.inotify.max_user_watches", "every 2s", "raise"] {
        assert!(problems[0].contains(part), "{problems:#?}");
    }
    let calls = fake.calls();
    assert_eq!(calls.len(), 11, "one attempt beyond the limit");
    assert_eq!(calls[0], "+plugins");
    assert_eq!(case.cover().problems, problems);
    assert_eq!(fake.calls(), ["full"]);
    fake.with(|state| state.limit = None);
    let covered = case.cover();
    assert!(covered.problems.is_empty());
    assert_eq!(covered.new.len(), 1004 - 10);
}

#[test]
fn unreadable_folders_are_one_sentence() {
    let fake = Fake::default();
    let mut case = Case::new(fake.clone());
    let closed = ["plugins/one", "plugins/one/src"].map(|path| case.path(path));
    fake.with(|state| state.forbidden = closed.to_vec());
    let problems = case.cover().problems;
    assert_eq!(problems.len(), 1, "{problems:#?}");
    for part in ["plugins/one` and others", "Permission denied", "every 2s"] {
        assert!(problems[0].contains(part), "{problems:#?}");
    }
    fake.with(|state| state.forbidden.clear());
    assert!(case.cover().problems.is_empty());
}

#[tokio::test(start_paused = true)]
async fn watcher_that_can_not_be_made_is_tried_again_now_and_then() {
    let fake = Fake::default();
    fake.with(|state| state.no_start = true);
    let mut case = Case::new(fake.clone());
    for _ in 0..20 {
        let problems = case.cover().problems;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("fs.inotify.max_user_instances"));
        tokio::time::advance(SWEEP).await;
    }
    assert_eq!(fake.with(|state| state.starts), 4, "every 10 s of 40 s");
    fake.with(|state| state.no_start = false);
    tokio::time::advance(RETRY).await;
    assert!(case.cover().problems.is_empty());
}

#[tokio::test(start_paused = true)]
async fn dead_watchers_are_replaced_but_not_without_end() {
    let fake = Fake::default();
    let mut case = Case::new(fake.clone());
    drop(case.cover());
    for deaths in 1..=3 {
        drop(fake.with(|state| state.handler.take()));
        assert!(case.intake.due(&Pace::default()).is_some(), "look at once");
        let problems = case.cover().problems;
        assert!(problems[0].contains("has ended"), "{problems:#?}");
        assert_eq!(fake.with(|state| state.starts), deaths);
        tokio::time::advance(RETRY).await;
        let covered = case.cover();
        assert!(covered.problems.is_empty(), "{:#?}", covered.problems);
        assert_eq!(covered.new.len(), 4);
    }
}

/// g4.overflow: what ended unseen is watched anew.
#[test]
fn lost_events_put_every_watch_in_doubt() {
    let fake = Fake::default();
    let mut case = Case::new(fake.clone());
    drop(case.cover());
    let overflow =
        notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    fake.with(|state| state.handler.as_mut().unwrap()(Ok(overflow)));
    assert!(case.intake.due(&Pace::default()).is_some());
    assert_eq!(case.cover().new.len(), 4);
    assert_eq!(case.cover().new.len(), 0);
}

/// The system's watcher: its thread panics as notify's debouncer once did.
struct Mortal;

impl Backend for Mortal {
    fn start(&self, mut handler: Handler) -> notify::Result<Box<dyn FolderWatcher>> {
        Notify.start(Box::new(move |event| {
            let deadly = event.as_ref().is_ok_and(|event| {
                let mut paths = event.paths.iter();
                paths.any(|path| path.ends_with("deadly"))
            });
            assert!(!deadly, "this thread ends as the test wants it to");
            handler(event);
        }))
    }
}

#[test]
fn death_of_the_systems_watcher_is_noticed_and_survived() {
    let mut case = Case::new(Mortal);
    assert_eq!(case.cover().new.len(), 4);
    fs::write(case.path("plugins/libx.so"), "").unwrap();
    case.wait();
    fs::write(case.path("plugins/deadly"), "").unwrap();
    let begin = std::time::Instant::now();
    while !case.folders.live.as_ref().unwrap().has_ended() {
        assert!(begin.elapsed() < Duration::from_mins(1), "it lives");
        std::thread::yield_now();
    }
    case.folders.started = None;
    assert_eq!(case.cover().new.len(), 4);
    drop(case.intake.take_pending());
    fs::write(case.path("plugins/libx.so"), "").unwrap();
    case.wait();
}

/// Deleted and made again between two looks: often with the same inode.
#[test]
fn folder_that_was_made_again_is_watched_again() {
    let mut case = Case::new(Notify);
    for round in 0..3 {
        drop(case.cover());
        fs::remove_dir_all(case.path("plugins/one")).unwrap();
        fs::create_dir_all(case.path("plugins/one/src")).unwrap();
        case.wait();
        // Events of the removal go on to come; only the last look counts.
        let begin = std::time::Instant::now();
        let mut found = BTreeSet::new();
        while found.len() < 2 {
            found.extend(case.new_folders());
            assert!(begin.elapsed() < Duration::from_mins(1), "{found:?}");
        }
        while !case.new_folders().is_empty() {}
        drop(case.intake.take_pending());
        fs::write(case.path("plugins/one/src/lib.rs"), format!("{round}")).unwrap();
        case.wait();
    }
}

/// The system's watcher, whose thread waits while the test holds the lock.
struct Slow(Arc<Mutex<()>>);

impl Backend for Slow {
    fn start(&self, mut handler: Handler) -> notify::Result<Box<dyn FolderWatcher>> {
        let lock = Arc::clone(&self.0);
        Notify.start(Box::new(move |event| {
            drop(lock.lock().unwrap());
            handler(event);
        }))
    }
}

/// g4.overflow: more events than the system keeps.
#[test]
fn queue_that_really_overflows_is_noticed() {
    let lock = Arc::new(Mutex::new(()));
    let mut case = Case::new(Slow(Arc::clone(&lock)));
    drop(case.cover());
    let kept = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let kept: usize = kept.trim().parse().unwrap();
    {
        let _held = lock.lock().unwrap();
        // Each is created, opened and closed.
        for number in 0..kept / 3 + 1000 {
            fs::write(case.path(&format!("plugins/{number}.txt")), "").unwrap();
        }
    }
    let begin = std::time::Instant::now();
    while !case.intake.take_doubt().all {
        assert!(begin.elapsed() < Duration::from_mins(1), "no overflow");
        std::thread::yield_now();
    }
    drop(case.intake.take_pending());
    fs::write(case.path("plugins/libx.so"), "").unwrap();
    case.wait();
}
