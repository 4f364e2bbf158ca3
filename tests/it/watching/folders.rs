//! Folders that are moved, replaced, reached through links, or not there.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

/// Makes `link` lead to `target` in one step, as `ln -sfn` and deployments do.
fn relink(target: &Path, link: &Path) {
    let new = link.with_extension("new");
    symlink(target, &new).unwrap();
    fs_err::rename(new, link).unwrap();
}

fn library(folder: &Path, number: u32) {
    fs_err::create_dir_all(folder).unwrap();
    fs_err::write(folder.join("libmarked.so"), version(number)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_folder_may_go_and_come_back() {
    let watched = Watched::serving().await;
    let away = watched.folder.path().join("away");
    for round in 0..2 {
        fs_err::rename(watched.plugins(), &away).unwrap();
        watched.is_gone().await;
        let notices = watched.registry.notices();
        assert!(notices[0].contains("does not exist"), "{notices:?}");
        fs_err::rename(&away, watched.plugins()).unwrap();
        watched.serves(1 + 5 * round).await;
        assert_eq!(watched.registry.notices(), [""; 0]);
        watched.sees_saves("libmarked.so", 3 + 5 * round).await;
    }
}

/// Moved away and back between two looks: the watch has ended, the folder is the same.
#[tokio::test(flavor = "multi_thread")]
async fn short_absence_of_the_plugins_folder_blinds_nobody() {
    let watched = Watched::serving().await;
    let away = watched.folder.path().join("away");
    for round in 0..3 {
        fs_err::rename(watched.plugins(), &away).unwrap();
        fs_err::rename(&away, watched.plugins()).unwrap();
        watched.looked(1).await;
        watched.sees_saves("libmarked.so", 10 * (round + 1)).await;
    }
    assert_eq!(watched.changes.failures(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_that_is_replaced_is_watched_anew() {
    let watched = Watched::serving().await;
    let (plugins, root) = (watched.plugins(), watched.folder.path());
    library(&root.join("other"), 10);
    fs_err::rename(&plugins, root.join("old")).unwrap();
    fs_err::rename(root.join("other"), &plugins).unwrap();
    watched.serves(10).await;
    watched.sees_saves("libmarked.so", 11).await;

    // Made again, with the same inode maybe.
    fs_err::remove_dir_all(&plugins).unwrap();
    library(&plugins, 20);
    watched.serves(20).await;
    watched.sees_saves("libmarked.so", 21).await;

    // The folder above it.
    library(&root.join("next/plugins"), 30);
    fs_err::rename(root.join("project"), root.join("before")).unwrap();
    fs_err::rename(root.join("next"), root.join("project")).unwrap();
    watched.serves(30).await;
    watched.sees_saves("libmarked.so", 31).await;

    // What happens in the folders that were there before is nobody's business.
    let changes = watched.changes.count();
    library(&root.join("before/plugins"), 40);
    library(&root.join("old"), 41);
    watched.looked(2).await;
    assert_eq!(watched.changes.count(), changes);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_to_libraries_are_followed() {
    let watched = Watched::new();
    let root = watched.folder.path();
    for number in 1..=4 {
        library(&root.join(format!("release{number}")), number);
    }
    let link = watched.plugins().join("libmarked.so");
    let mut quickest = DEADLINE;
    for number in 1..=4 {
        relink(&root.join(format!("release{number}/libmarked.so")), &link);
        quickest = quickest.min(watched.serves(number).await);
    }
    assert!(quickest < SOON, "{quickest:?}");
    // Where the link leads a new version is saved.
    let mut quickest = DEADLINE;
    for number in 5..9 {
        let target = root.join("release4");
        fs_err::write(target.join("new"), version(number)).unwrap();
        fs_err::rename(target.join("new"), target.join("libmarked.so")).unwrap();
        quickest = quickest.min(watched.serves(number).await);
    }
    assert!(quickest < SOON, "{quickest:?}");
    // A link that leads nowhere keeps what served.
    relink(Path::new("/nowhere/libmarked.so"), &link);
    watched.fails("marked").await;
    assert_eq!(watched.answer().await, Some(marker(8)));
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_folder_may_be_a_link_that_is_swapped() {
    let watched = Watched::prepared(|project| {
        for (name, number) in [("a", 1), ("b", 10), ("c", 20)] {
            library(&project.join(name), number);
        }
        symlink("a", project.join("plugins")).unwrap();
    });
    watched.serves(1).await;
    watched.sees_saves("libmarked.so", 2).await;
    let project = watched.folder.path().join("project");
    for (name, number) in [("b", 10), ("c", 20)] {
        relink(Path::new(name), &project.join("plugins"));
        watched.serves(number).await;
        watched.sees_saves("libmarked.so", number + 1).await;
    }
}

/// A folder that is made after the host was started.
#[tokio::test(flavor = "multi_thread")]
async fn plugins_folder_may_come_later() {
    let watched = Watched::prepared(|_| {});
    watched.looked(1).await;
    let notices = watched.registry.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let named = watched.plugins().display().to_string();
    assert!(notices[0].contains(&named), "{notices:?}");
    assert!(notices[0].contains("does not exist"), "{notices:?}");
    fs_err::create_dir(watched.plugins()).unwrap();
    watched.save("libmarked.so", 1);
    watched.serves(1).await;
    assert_eq!(watched.registry.notices(), [""; 0]);
    watched.sees_saves("libmarked.so", 2).await;
}

/// Read-only, and not readable: root may do both, so what binds is found out first.
#[tokio::test(flavor = "multi_thread")]
async fn closed_folders_are_told_and_heal() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    let watched = Watched::serving().await;
    let mode = |path: &Path, mode| {
        fs_err::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let plugins = watched.plugins();
    mode(&plugins, 0o555);
    watched.looked(1).await;
    assert_eq!(watched.registry.notices(), [""; 0]);
    assert_eq!(watched.answer().await, Some(marker(1)));

    mode(&plugins, 0o000);
    let binds = fs_err::read_dir(&plugins).is_err();
    watched.looked(2).await;
    let notices = watched.registry.notices();
    if binds {
        assert!(notices.iter().any(|one| one.contains("Permission denied")));
    } else {
        // This user may read everything.
        assert_eq!(notices, [""; 0]);
    }
    assert_eq!(watched.answer().await, Some(marker(1)), "it goes on");
    mode(&plugins, 0o755);

    let closed = plugins.join("closed");
    fs_err::create_dir(&closed).unwrap();
    mode(&closed, 0o000);
    let reason = watched.fails("closed").await;
    assert!(reason.contains("closed"), "{reason}");
    watched.looked(2).await;
    let told = watched.registry.notices();
    let told = told.iter().filter(|one| one.contains("can't be watched"));
    assert_eq!(told.count(), usize::from(binds));
    mode(&closed, 0o755);
    let healed = || watched.registry.notices().is_empty();
    watched.until("the notice stays", healed).await;
    watched.sees_saves("libmarked.so", 2).await;
}

/// Events name absolute paths, whatever the registry was given.
#[tokio::test(flavor = "multi_thread")]
async fn plugins_folder_may_have_a_relative_name() {
    let prepare = |project: &Path| fs_err::create_dir(project.join("plugins")).unwrap();
    let watched = Watched::named(prepare, |path| {
        let here = std::env::current_dir().unwrap();
        let up = here.components().skip(1).map(|_| "..");
        let relative = up
            .collect::<PathBuf>()
            .join(path.strip_prefix("/").unwrap());
        assert!(relative.is_relative() && relative.is_dir());
        relative
    });
    watched.save("libmarked.so", 1);
    watched.serves(1).await;
    watched.sees_saves("libmarked.so", 2).await;
}
