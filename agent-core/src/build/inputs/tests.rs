//! What counts as an input, and when a look finds a change.

use super::*;
use std::time::{Duration, SystemTime};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn sources(&self) -> Sources {
        Sources {
            files: BTreeSet::from([self.path("Cargo.toml"), self.path("Cargo.lock")]),
            trees: BTreeSet::from([self.path("src")]),
        }
    }

    fn look(&self, known: Option<&Snapshot>) -> Snapshot {
        Snapshot::take(&self.sources(), known).unwrap()
    }
}

/// A snapshot that was taken long after its files were written.
fn settled(mut snapshot: Snapshot) -> Snapshot {
    snapshot.taken += 10 * crate::fingerprint::COARSE_TICK;
    snapshot
}

#[test]
fn nothing_is_read_again_while_fingerprints_are_the_same() {
    let folder = Folder::new(&[("Cargo.toml", ""), ("src/lib.rs", "one")]);
    let first = settled(folder.look(None));
    // A content that only memory holds shows whether the file is read.
    let mut known = first.clone();
    let lib = folder.path("src/lib.rs");
    known.files.get_mut(&lib).unwrap().as_mut().unwrap().hash = "remembered".to_owned();
    let second = folder.look(Some(&known));
    assert_eq!(
        (second.hash(&lib), second.moved),
        (Some("remembered"), false)
    );
    assert!(second.has_content_of(&known));
}

#[test]
fn files_written_just_before_a_look_are_read_again() {
    let folder = Folder::new(&[("src/lib.rs", "one")]);
    let first = folder.look(None);
    let second = folder.look(Some(&first));
    assert!(second.moved && second.has_content_of(&first));
}

#[test]
fn a_new_time_alone_is_no_change() {
    let folder = Folder::new(&[("src/lib.rs", "one")]);
    let first = settled(folder.look(None));
    let file = fs::File::open(folder.path("src/lib.rs")).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_hours(1))
        .unwrap();
    let second = folder.look(Some(&first));
    assert!(second.moved && second.has_content_of(&first));
}

/// Something that a person does to a folder.
type Change = (&'static str, fn(&Folder));

#[test]
fn other_contents_and_other_files_are_changes() {
    let changes: [Change; 6] = [
        ("content of the same length", |folder| {
            folder.write("src/lib.rs", "two");
        }),
        ("a file more", |folder| folder.write("src/deep/more.rs", "")),
        ("a file less", |folder| {
            fs::remove_file(folder.path("src/b.rs")).unwrap();
        }),
        ("an absent file appears", |folder| {
            folder.write("Cargo.lock", "");
        }),
        ("a file becomes a folder", |folder| {
            fs::remove_file(folder.path("src/b.rs")).unwrap();
            fs::create_dir(folder.path("src/b.rs")).unwrap();
        }),
        ("older content with its old time", |folder| {
            let lib = folder.path("src/lib.rs");
            let time = fs::metadata(&lib).unwrap().modified().unwrap();
            folder.write("src/lib.rs", "two");
            fs::File::open(&lib).unwrap().set_modified(time).unwrap();
        }),
    ];
    for (what, change) in changes {
        let folder = Folder::new(&[("Cargo.toml", ""), ("src/lib.rs", "one"), ("src/b.rs", "b")]);
        let first = settled(folder.look(None));
        change(&folder);
        assert!(!folder.look(Some(&first)).has_content_of(&first), "{what}");
    }
}

#[test]
fn hidden_files_backups_and_output_folders_are_no_sources() {
    let folder = Folder::new(&[("src/lib.rs", "one")]);
    let first = folder.look(None);
    folder.write("src/.lib.rs.swp", "");
    folder.write("src/lib.rs~", "");
    folder.write("src/target/CACHEDIR.TAG", "");
    folder.write("src/target/debug/x.rs", "");
    std::os::unix::fs::symlink(folder.path("src"), folder.path("src/loop")).unwrap();
    let paths: Vec<_> = folder.look(None).files.into_keys().collect();
    let mut expected: Vec<_> = first.files.into_keys().collect();
    expected.push(folder.path("src/loop"));
    assert_eq!(paths, expected);
}

#[test]
fn what_changed_while_the_compiler_ran_counts_as_changed_afterwards() {
    let folder = Folder::new(&[
        ("src/lib.rs", "one"),
        ("src/same.rs", "s"),
        ("Cargo.lock", "l"),
    ]);
    let before = folder.look(None);
    folder.write("src/lib.rs", "two");
    folder.write("src/new.rs", "new");
    folder.write("Cargo.lock", "written by cargo");
    let mut after = folder.look(None);
    after.doubt_what_changed_since(&before, &folder.path("Cargo.lock"));
    let later = folder.look(Some(&settled(after.clone())));
    let changed: Vec<_> = later
        .files
        .keys()
        .filter(|path| later.hash(path) != after.hash(path))
        .map(|path| path.strip_prefix(folder.0.path()).unwrap().to_owned())
        .collect();
    assert_eq!(changed, [Path::new("src/lib.rs"), Path::new("src/new.rs")]);
    assert!(!later.has_content_of(&after));
}

#[test]
fn manifests_of_packages_that_were_compiled_count() {
    let folder = Folder::new(&[
        ("Cargo.toml", "[workspace]\n"),
        ("sdk/Cargo.toml", "[package]\n"),
        ("sdk/src/lib.rs", ""),
        ("sdk/assets/a.txt", ""),
        ("target/out/gen.rs", ""),
    ]);
    let mut sources = Sources::default();
    let compiled = ["sdk/src/lib.rs", "sdk/assets", "target/out/gen.rs"];
    let compiled = compiled.iter().map(|name| folder.path(name)).collect();
    let text = "[package]\nname = \"a\"\n[lib]\ncrate-type = [\"cdylib\"]\n";
    folder.write("a/Cargo.toml", text);
    let manifest = CrateManifest::read(&folder.path("a")).unwrap();
    sources.add_compiled(&compiled, &folder.path("target"), &manifest);
    let expected = Sources {
        files: [
            "Cargo.toml",
            "sdk/Cargo.toml",
            "sdk/build.rs",
            "sdk/src/lib.rs",
        ]
        .iter()
        .map(|name| folder.path(name))
        .collect(),
        trees: BTreeSet::from([folder.path("sdk/assets")]),
    };
    assert_eq!(sources, expected);
}

#[test]
fn the_digest_depends_on_names_and_contents_below_the_folder_alone() {
    let digest = |folder: &Folder| {
        let mut hasher = blake3::Hasher::new();
        let sources = Sources {
            files: BTreeSet::new(),
            trees: BTreeSet::from([folder.path("src")]),
        };
        Snapshot::take(&sources, None)
            .unwrap()
            .digest(folder.0.path(), &mut hasher);
        hasher.finalize()
    };
    let one = Folder::new(&[("src/lib.rs", "one"), ("src/b.rs", "b")]);
    let same = Folder::new(&[("src/b.rs", "b"), ("src/lib.rs", "one")]);
    let other = Folder::new(&[("src/lib.rs", "b"), ("src/b.rs", "one")]);
    assert_eq!(digest(&one), digest(&same));
    assert_ne!(digest(&one), digest(&other));
}
