//! Floods of events, and noise that means nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Does something again and again on a thread of its own, until it is dropped.
struct Noise(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Noise {
    fn make(mut noise: impl FnMut(u32) + Send + 'static) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            for number in 0.. {
                if end.load(Ordering::Relaxed) {
                    break;
                }
                noise(number);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self(ended, Some(thread))
    }
}

impl Drop for Noise {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

/// g4.overflow
#[tokio::test(flavor = "multi_thread")]
async fn twenty_thousand_files_hide_no_plugin() {
    let watched = Watched::new();
    let folder = watched.plugins();
    for number in 0..20_000 {
        if number == 10_000 {
            fs_err::write(folder.join("libmarked.so"), version(1)).unwrap();
        }
        fs_err::write(folder.join(format!("note-{number}.txt")), "x").unwrap();
    }
    watched.serves(1).await;
    assert_eq!(watched.registry.plugins().len(), 1);
    // A look stays cheap, so saves are seen as soon as ever.
    watched.sees_saves("libmarked.so", 2).await;
    let begin = Instant::now();
    let trust = agent_core::build::Trust::of(&folder.with_file_name(".toolsmith"));
    let index = agent_core::registry::scan::scan(&folder, &trust).unwrap();
    assert_eq!(index.plugins.len(), 1);
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert_eq!(watched.registry.notices(), [""; 0]);
}

/// The same bytes are the same version, whatever their time says.
#[tokio::test(flavor = "multi_thread")]
async fn touch_without_a_change_loads_nothing() {
    let watched = Watched::serving().await;
    let path = watched.plugins().join("libmarked.so");
    for seconds in 0..5 {
        let file = fs_err::File::options().write(true).open(&path).unwrap();
        let time = std::time::SystemTime::now() + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
        drop(file);
        watched.looked(1).await;
    }
    fs_err::write(&path, version(1)).unwrap();
    watched.looked(2).await;
    assert_eq!(watched.plugin("marked").unwrap().generation.0, 1);
    assert_eq!(watched.changes.count(), 1);
}

/// Reading the folder and its files wakes nobody, nor do the host's own looks.
#[tokio::test(flavor = "multi_thread")]
async fn reading_is_no_change() {
    let watched = Watched::serving().await;
    watched.looked(2).await;
    let before = watched.watch.looks();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        drop(fs_err::read(watched.plugins().join("libmarked.so")).unwrap());
        assert_eq!(fs_err::read_dir(watched.plugins()).unwrap().count(), 1);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let looks = watched.watch.looks() - before;
    assert!(looks <= 3, "{looks} looks in three seconds");
}

/// Looks in three seconds while there is such noise, and saves that are seen through it.
async fn looks_under_noise(name: &str, noise: impl FnMut(&Path, u32) + Send + 'static) -> u64 {
    let watched = Watched::serving().await;
    let (folder, mut noise) = (watched.plugins(), noise);
    fs_err::create_dir_all(folder.join("crate/src")).unwrap();
    fs_err::write(folder.join("crate/Cargo.toml"), "[package]\nname = \"c\"").unwrap();
    watched.looked(2).await;
    let noise = Noise::make(move |number| noise(&folder, number));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = watched.watch.looks();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let looks = watched.watch.looks() - before;
    watched.sees_saves("libmarked.so", 2).await;
    drop(noise);
    assert!(looks >= 1, "{name}: it does not look any more");
    looks
}

#[tokio::test(flavor = "multi_thread")]
async fn log_in_a_crates_folder_keeps_nobody_busy() {
    let looks = looks_under_noise("log", |folder, number| {
        let log = folder.join("crate/debug.log");
        fs_err::write(log, number.to_string()).unwrap();
    });
    let looks = looks.await;
    assert!(looks <= 10, "{looks} looks in three seconds");
}

#[tokio::test(flavor = "multi_thread")]
async fn storm_of_renames_keeps_nobody_busy() {
    let looks = looks_under_noise("renames", |folder, number| {
        let (old, new) = (format!("note-{number}"), format!("note-{}", number + 1));
        if number == 0 {
            fs_err::write(folder.join(&old), "").unwrap();
        }
        fs_err::rename(folder.join(old), folder.join(new)).unwrap();
    });
    let looks = looks.await;
    assert!(looks <= 10, "{looks} looks in three seconds");
}

#[tokio::test(flavor = "multi_thread")]
async fn library_that_is_touched_without_end_keeps_nobody_busy() {
    let looks = looks_under_noise("touch", |folder, _| {
        let file = fs_err::File::options()
            .create(true)
            .append(true)
            .open(folder.join("libempty.so"));
        drop(file.unwrap());
    });
    let looks = looks.await;
    assert!(looks <= 10, "{looks} looks in three seconds");
}
