//! Edits that need no cargo, and those that do.

use super::*;
use crate::ids::ContentHash;

/// A workshop whose cargo writes down how it was started.
struct Counted {
    workshop: Workshop,
    log: PathBuf,
}

impl Counted {
    fn new(variables: &[(&str, &str)]) -> Self {
        let workshop = Workshop::new();
        let (cargo, log) = (
            workshop.folder.path().join("cargo"),
            workshop.folder.path().join("log"),
        );
        let script = format!(
            "#!/bin/sh\necho \"$1\" >> {}\nexec cargo \"$@\"\n",
            log.display()
        );
        fs::write(&cargo, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&cargo, mode).unwrap();
        Self { workshop, log }.restarted(variables)
    }

    /// The same as another start of the program with these variables would have it.
    fn restarted(self, variables: &[(&str, &str)]) -> Self {
        let cargo = self.workshop.folder.path().join("cargo");
        let mut variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
        variables.insert("TOOLSMITH_CARGO", cargo.to_str().unwrap());
        Self {
            workshop: self.workshop.restarted(&variables),
            log: self.log,
        }
    }

    /// Builds: what had to be done, how often cargo was started for it, and the answers.
    async fn build(&self, manifest: &CrateManifest) -> (BuildWork, usize, Vec<&'static str>) {
        drop(fs::remove_file(&self.log));
        let built = self.workshop.ensure(manifest, &Heard::default()).await;
        let built = built.unwrap();
        let starts = fs::read_to_string(&self.log).unwrap_or_default();
        (built.work, starts.lines().count(), answers(&built.library))
    }

    /// Puts the library that is there into the store, as the registry does.
    fn store(&self, library: &Path) {
        let bytes = fs::read(library).unwrap();
        let store = self.workshop.folder.path().join("state/store");
        fs::create_dir_all(&store).unwrap();
        let stored = store.join(format!("{}.so", ContentHash::of(&bytes)));
        fs::write(&stored, bytes).unwrap();
        fs::write(stored.with_extension("json"), "{}").unwrap();
    }
}

const ONE: [&str; 1] = ["answer-one"];
const TWO: [&str; 1] = ["answer-two"];

#[tokio::test]
async fn only_edits_of_the_crates_own_sources_do_without_cargo() {
    let counted = Counted::new(&[]);
    let workshop = &counted.workshop;
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let built = counted.build(&manifest).await;
    assert_eq!(built, (BuildWork::Cargo, 1, ONE.to_vec()));
    let replayed = |answers: &[&'static str]| (BuildWork::Compiled, 0, answers.to_vec());
    let by_cargo = |starts, answers: &[&'static str]| (BuildWork::Cargo, starts, answers.to_vec());

    // A new module, a file that it includes, both edited.
    workshop.write("tiny/src/lib.rs", "mod inner;");
    workshop.write("tiny/src/inner.rs", &answering("answer-two"));
    assert_eq!(counted.build(&manifest).await, replayed(&TWO));
    let include = "#[no_mangle]\npub static ANSWER: &str = include_str!(\"../data/answer\");";
    workshop.write("tiny/data/answer", "answer-one");
    workshop.write("tiny/src/inner.rs", include);
    assert_eq!(counted.build(&manifest).await, replayed(&ONE));
    workshop.write("tiny/data/answer", "answer-two");
    assert_eq!(counted.build(&manifest).await, replayed(&TWO));
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Nothing, 0, TWO.to_vec())
    );

    // The manifest's description is read at compile time.
    let described = "#[no_mangle]\npub static ANSWER: &str = env!(\"CARGO_PKG_DESCRIPTION\");";
    let text = fs::read_to_string(manifest.file()).unwrap();
    let describe = |text: &str, answer: &str| {
        text.replace(
            "edition",
            &format!("description = '''\n{answer}\n'''\nedition"),
        )
    };
    fs::write(manifest.file(), describe(&text, "answer-one")).unwrap();
    workshop.write("tiny/src/lib.rs", described);
    assert_eq!(counted.build(&manifest).await, by_cargo(1, &ONE));
    workshop.write(
        "tiny/src/lib.rs",
        &format!("{described}\npub fn more() {{}}"),
    );
    assert_eq!(counted.build(&manifest).await, replayed(&ONE));
    fs::write(manifest.file(), describe(&text, "answer-two")).unwrap();
    assert_eq!(counted.build(&manifest).await, by_cargo(1, &TWO));

    // A feature, a build script.
    fs::write(
        manifest.file(),
        format!("{text}[features]\ndefault = [\"x\"]\nx = []\n"),
    )
    .unwrap();
    let featured =
        "#[cfg(feature = \"x\")]\n#[no_mangle]\npub static ANSWER: &str = \"answer-new\";";
    workshop.write("tiny/src/lib.rs", featured);
    assert_eq!(counted.build(&manifest).await, by_cargo(1, &["answer-new"]));
    workshop.write("tiny/src/lib.rs", &answering("answer-two"));
    assert_eq!(counted.build(&manifest).await, replayed(&TWO));
    workshop.write("tiny/build.rs", "fn main() {}");
    let manifest = CrateManifest::read(&workshop.path("tiny")).unwrap();
    assert_eq!(counted.build(&manifest).await.0, BuildWork::Cargo);
    workshop.write("tiny/src/lib.rs", &answering("answer-one"));
    assert_eq!(counted.build(&manifest).await, by_cargo(1, &ONE));
}

#[tokio::test]
async fn an_edit_of_a_dependency_or_of_what_both_read_is_cargos() {
    let counted = Counted::new(&[]);
    let workshop = &counted.workshop;
    let manifest = workshop.add_crate("tiny", "tiny", "");
    let text = fs::read_to_string(manifest.file()).unwrap();
    fs::write(
        manifest.file(),
        format!("{text}[dependencies]\ndep = {{ path = \"../dep\" }}\n"),
    )
    .unwrap();
    workshop.write(
        "dep/Cargo.toml",
        "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    let shared = "pub const ANSWER: &str = include_str!(\"../../tiny/src/shared.txt\");";
    workshop.write("dep/src/lib.rs", shared);
    workshop.write("tiny/src/shared.txt", "answer-one");
    let source = "pub const OWN: &str = include_str!(\"shared.txt\");\n\
                  #[no_mangle]\npub static ANSWER: &str = dep::ANSWER;\n";
    workshop.write("tiny/src/lib.rs", source);
    // Files as young as these are not sure at first.
    assert_eq!(counted.build(&manifest).await.0, BuildWork::Cargo);
    counted.build(&manifest).await;
    workshop.write("tiny/src/lib.rs", &format!("{source}pub fn f() {{}}"));
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Compiled, 0, ONE.to_vec())
    );
    workshop.write("tiny/src/shared.txt", "answer-two");
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Cargo, 1, TWO.to_vec())
    );
    workshop.write("dep/src/lib.rs", "pub const ANSWER: &str = \"answer-new\";");
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Cargo, 1, vec!["answer-new"])
    );
}

#[tokio::test]
async fn another_value_of_a_variable_that_is_read_is_cargos() {
    let mut counted = Counted::new(&[("WHICH", "answer-one"), ("CC", "cc")]);
    let manifest = counted.workshop.add_crate("tiny", "tiny", "answer-one");
    counted.build(&manifest).await;
    let source = "#[no_mangle]\npub static ANSWER: Option<&str> = option_env!(\"WHICH\");\n";
    counted.workshop.write("tiny/src/lib.rs", source);
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Compiled, 0, ONE.to_vec())
    );
    counted = counted.restarted(&[("WHICH", "answer-two"), ("CC", "cc")]);
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Cargo, 1, TWO.to_vec())
    );
    // What rustup says to cargo's compilers is unknown here.
    let source = format!("{source}pub const R: Option<&str> = option_env!(\"RUSTUP_X\");");
    counted.workshop.write("tiny/src/lib.rs", &source);
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Cargo, 1, TWO.to_vec())
    );
}

#[tokio::test]
async fn a_broken_edit_is_told_by_cargo_and_loses_nothing() {
    let counted = Counted::new(&[]);
    let workshop = &counted.workshop;
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    counted.build(&manifest).await;
    workshop.write("tiny/src/lib.rs", &answering("answer-two"));
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Compiled, 0, TWO.to_vec())
    );
    workshop.write("tiny/src/lib.rs", "broken");
    let error = workshop
        .ensure(&manifest, &Heard::default())
        .await
        .unwrap_err();
    assert!(matches!(error, BuildError::Compile { .. }), "{error}");
    // The library of before is still there, and still the right one after an undo.
    let state = workshop.folder.path().join("state");
    assert_eq!(
        answers(&Builder::built_before(&state, &manifest).unwrap()),
        TWO
    );
    workshop.write("tiny/src/lib.rs", &answering("answer-two"));
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Nothing, 0, TWO.to_vec())
    );
    // Warnings are counted without cargo too.
    workshop.write(
        "tiny/src/lib.rs",
        &format!("{}fn unused() {{}}\n", answering("answer-one")),
    );
    let built = workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    assert_eq!((built.work, built.warnings), (BuildWork::Compiled, 1));
}

#[tokio::test]
async fn undone_edits_bring_the_stored_library_back() {
    let counted = Counted::new(&[]);
    let workshop = &counted.workshop;
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let first = workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    counted.store(&first.library);
    // The young files of the first build are sure only now.
    let edit = |answer: &str| workshop.write("tiny/src/lib.rs", &answering(answer));
    edit("answer-two");
    let second = workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    counted.store(&second.library);

    let heard = Heard::default();
    for (answer, expected) in [
        ("answer-one", ONE),
        ("answer-two", TWO),
        ("answer-one", ONE),
    ] {
        edit(answer);
        assert_eq!(
            counted.build(&manifest).await,
            (BuildWork::Restored, 0, expected.to_vec())
        );
        assert_eq!(
            counted.build(&manifest).await,
            (BuildWork::Nothing, 0, expected.to_vec())
        );
        workshop.ensure(&manifest, &heard).await.unwrap();
    }
    assert_eq!(heard.take(), Vec::<String>::new());

    // A later edit is built, although cargo's own output is another version.
    edit("answer-new");
    assert_eq!(
        counted.build(&manifest).await,
        (BuildWork::Compiled, 0, vec!["answer-new"])
    );
    // A comment in the manifest makes cargo run, which has the first version only.
    let text = fs::read_to_string(manifest.file()).unwrap();
    fs::write(manifest.file(), format!("{text}# more\n")).unwrap();
    let built = counted.build(&manifest).await;
    assert_eq!((built.0, built.2), (BuildWork::Cargo, vec!["answer-new"]));

    // What the store no longer has, or has broken, is built again.
    fs::write(manifest.file(), text).unwrap();
    let store = workshop.folder.path().join("state/store");
    fs::write(store.join(format!("{}.so", second.library_hash)), "broken").unwrap();
    edit("answer-two");
    assert_eq!(counted.build(&manifest).await.2, TWO);
    fs::remove_dir_all(&store).unwrap();
    edit("answer-one");
    let built = counted.build(&manifest).await;
    assert_eq!((built.0, built.2), (BuildWork::Compiled, ONE.to_vec()));
}

#[tokio::test]
async fn only_so_many_builds_are_remembered() {
    let counted = Counted::new(&[]);
    let workshop = &counted.workshop;
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let first = workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    counted.store(&first.library);
    let file = workshop
        .folder
        .path()
        .join("state/builds/tiny.history.json");
    let history =
        || -> serde_json::Value { serde_json::from_slice(&fs::read(&file).unwrap()).unwrap() };
    let mut most = 0;
    for number in 0..crate::limits::BUILD_HISTORY {
        let source = format!("{}// {number}", answering("answer-two"));
        workshop.write("tiny/src/lib.rs", &source);
        assert_eq!(counted.build(&manifest).await.0, BuildWork::Compiled);
        most = history()["builds"].as_array().unwrap().len().max(most);
    }
    assert_eq!(most, crate::limits::BUILD_HISTORY);
    assert_eq!(history()["sources"].as_array().unwrap().len(), 1);
    workshop.write("tiny/src/lib.rs", &answering("answer-one"));
    assert_eq!(counted.build(&manifest).await.0, BuildWork::Compiled);
}

/// An rlib beside the cdylib would make cargo leave link-time optimisation out.
#[tokio::test]
async fn only_the_cdylib_is_made_whatever_the_manifest_names() {
    for profile in [Profile::Dev, Profile::Release] {
        let workshop = Workshop::with(|options| options.profile = profile, &BTreeMap::new());
        let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
        let text = fs::read_to_string(manifest.file()).unwrap();
        assert!(text.contains("\"rlib\""));
        for answer in ["answer-one", "answer-two"] {
            workshop.write("tiny/src/lib.rs", &answering(answer));
            assert_eq!(workshop.answer(&manifest).await, (true, vec![answer]));
        }
        let mut folders = vec![workshop.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                let path = entry.path();
                assert_ne!(
                    path.extension(),
                    Some("rlib".as_ref()),
                    "{}",
                    path.display()
                );
            }
        }
        // Every kind of build is remembered under its profile.
        assert!(!workshop.answer(&manifest).await.0);
    }
}
