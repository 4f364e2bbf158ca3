//! Real builds of tiny crates. Every wait is for an event, with a deadline around it.

mod doubt;
mod edits;
mod endless;

use super::*;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

const DEADLINE: Duration = Duration::from_mins(3);

/// Remembers what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl BuildProgress for Heard {
    fn started(&self, package: &str, _: &str) {
        self.0.lock().unwrap().push(format!("started {package}"));
    }

    fn compiling(&self, crate_name: &str) {
        self.0
            .lock()
            .unwrap()
            .push(format!("compiling {crate_name}"));
    }

    /// That another test's cargo holds up this one is heard from time to time.
    fn line(&self, line: &str) {
        if !line.contains("Blocking waiting for file lock") {
            self.0.lock().unwrap().push(line.to_owned());
        }
    }
}

/// A folder of crates with a builder for them.
struct Workshop {
    folder: tempfile::TempDir,
    builder: Arc<Builder>,
}

impl Workshop {
    fn new() -> Self {
        Self::with(|_| {}, &BTreeMap::new())
    }

    fn with(change: impl FnOnce(&mut BuilderOptions), variables: &BTreeMap<&str, &str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let builder = Self::builder(folder.path(), change, variables);
        Self { folder, builder }
    }

    fn builder(
        folder: &Path,
        change: impl FnOnce(&mut BuilderOptions),
        variables: &BTreeMap<&str, &str>,
    ) -> Arc<Builder> {
        let mut options = BuilderOptions::new(
            folder.join("plugins"),
            folder.join("state"),
            folder.join("target"),
        );
        change(&mut options);
        let mut environment = BuildEnvironment::of_this_process();
        for (name, value) in variables {
            environment.set(name, value.as_ref());
        }
        Builder::with_environment(options, environment).unwrap()
    }

    /// A builder as another start of the program would have it.
    fn restarted(self, variables: &BTreeMap<&str, &str>) -> Self {
        let builder = Self::builder(self.folder.path(), |_| {}, variables);
        Self { builder, ..self }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("plugins").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// A crate of the given name, library name and answer, with a lock file.
    fn add_crate(&self, name: &str, library: &str, answer: &str) -> CrateManifest {
        self.write(
            &format!("{name}/Cargo.toml"),
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                 [lib]\nname = \"{library}\"\ncrate-type = [\"cdylib\", \"rlib\"]\n[workspace]\n"
            ),
        );
        self.write(
            &format!("{name}/Cargo.lock"),
            &format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n"),
        );
        self.write(&format!("{name}/src/lib.rs"), &answering(answer));
        CrateManifest::read(&self.path(name)).unwrap()
    }

    async fn ensure(
        &self,
        manifest: &CrateManifest,
        progress: &Heard,
    ) -> Result<Built, BuildError> {
        let cancel = CancellationToken::new();
        let building = self.builder.ensure(manifest, progress, &cancel);
        tokio::time::timeout(DEADLINE, building)
            .await
            .expect("the build ends")
    }

    /// Builds and says whether cargo ran, and which of the answers the library holds.
    async fn answer(&self, manifest: &CrateManifest) -> (bool, Vec<&'static str>) {
        let built = self.ensure(manifest, &Heard::default()).await.unwrap();
        (built.work != BuildWork::Nothing, answers(&built.library))
    }
}

fn answering(answer: &str) -> String {
    let length = answer.len();
    format!("#[no_mangle]\npub static ANSWER: [u8; {length}] = *b\"{answer}\";\n")
}

fn answers(library: &Path) -> Vec<&'static str> {
    let bytes = fs::read(library).unwrap();
    let holds = |answer: &&str| {
        bytes
            .windows(answer.len())
            .any(|part| part == answer.as_bytes())
    };
    ["answer-one", "answer-two", "answer-new"]
        .into_iter()
        .filter(holds)
        .collect()
}

#[tokio::test]
async fn cargo_runs_when_something_has_changed_and_only_then() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let heard = Heard::default();
    let first = workshop.ensure(&manifest, &heard).await.unwrap();
    assert_eq!(first.work, BuildWork::Cargo);
    assert_eq!(answers(&first.library), ["answer-one"]);
    assert_eq!(first.inputs_hash.len(), 64);
    assert!(first.inputs.contains(&workshop.path("tiny/src/lib.rs")));
    let said = heard.take();
    assert_eq!(said[..2], ["started tiny", "compiling tiny"]);

    let second = workshop.ensure(&manifest, &heard).await.unwrap();
    let expected = Built {
        work: BuildWork::Nothing,
        duration: second.duration,
        ..first.clone()
    };
    assert_eq!(second, expected);
    assert!(heard.take().is_empty());

    let workshop = workshop.restarted(&BTreeMap::new());
    assert_eq!(
        workshop.answer(&manifest).await,
        (false, vec!["answer-one"])
    );

    workshop.write("tiny/src/lib.rs", &answering("answer-two"));
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    assert_eq!(
        workshop.answer(&manifest).await,
        (false, vec!["answer-two"])
    );

    workshop.write("tiny/src/new.rs", "");
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    assert_eq!(
        workshop.answer(&manifest).await,
        (false, vec!["answer-two"])
    );

    workshop.builder.forget("tiny").unwrap();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    workshop.builder.forget("never-built").unwrap();
}

#[tokio::test]
async fn older_content_with_its_old_time_is_built_again() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let source = workshop.path("tiny/src/lib.rs");
    let long_ago = SystemTime::now() - Duration::from_hours(24);
    let restore = |answer: &str| {
        workshop.write("tiny/src/lib.rs", &answering(answer));
        fs::File::open(&source)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    };
    restore("answer-one");
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
    workshop.write("tiny/src/lib.rs", &answering("answer-two"));
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    restore("answer-one");
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
    assert_eq!(
        workshop.answer(&manifest).await,
        (false, vec!["answer-one"])
    );
}

#[tokio::test]
async fn a_library_that_nobody_remembers_is_not_trusted() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    workshop.write("tiny/src/lib.rs", &answering("answer-two"));
    let built = workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    let long_ago = SystemTime::now() - Duration::from_hours(24);
    workshop.write("tiny/src/lib.rs", &answering("answer-one"));
    let source = fs::File::open(workshop.path("tiny/src/lib.rs")).unwrap();
    source.set_modified(long_ago).unwrap();
    fs::remove_dir_all(workshop.folder.path().join("state")).unwrap();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));

    // A library that changed or went is made again.
    fs::remove_file(&built.library).unwrap();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
}

#[tokio::test]
async fn crates_with_libraries_of_one_name_never_get_each_others() {
    let workshop = Workshop::new();
    let one = workshop.add_crate("one", "same", "answer-one");
    let two = workshop.add_crate("two", "same", "answer-two");
    // Cargo writes both to one place.
    for is_built in [true, false] {
        assert_eq!(workshop.answer(&one).await, (is_built, vec!["answer-one"]));
        assert_eq!(workshop.answer(&two).await, (is_built, vec!["answer-two"]));
    }
}

#[tokio::test]
async fn files_outside_the_crate_that_the_compiler_reads_count() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    workshop.write("outside.txt", "answer-two");
    let include = "#[no_mangle]\npub static ANSWER: &str = include_str!(\"../../outside.txt\");\n";
    workshop.write("tiny/src/lib.rs", include);
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    let time = fs::metadata(workshop.path("outside.txt"))
        .unwrap()
        .modified()
        .unwrap();
    workshop.write("outside.txt", "answer-new");
    fs::File::open(workshop.path("outside.txt"))
        .unwrap()
        .set_modified(time)
        .unwrap();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-new"]));
    assert_eq!(
        workshop.answer(&manifest).await,
        (false, vec!["answer-new"])
    );
}

#[tokio::test]
async fn variables_that_the_crate_reads_count() {
    let workshop = Workshop::with(|_| {}, &BTreeMap::from([("WHICH", "answer-one")]));
    let manifest = workshop.add_crate("tiny", "tiny", "");
    workshop.write(
        "tiny/src/lib.rs",
        "#[no_mangle]\npub static ANSWER: &str = env!(\"WHICH\");\n",
    );
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
    let other = BTreeMap::from([("WHICH", "answer-one"), ("UNRELATED", "x")]);
    let workshop = workshop.restarted(&other);
    assert_eq!(
        workshop.answer(&manifest).await,
        (false, vec!["answer-one"])
    );
    let workshop = workshop.restarted(&BTreeMap::from([("WHICH", "answer-two")]));
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
}

#[tokio::test]
async fn a_broken_edit_tells_its_line_and_a_repair_builds() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    workshop.write(
        "tiny/src/lib.rs",
        "// one\n\npub fn broken() -> u32 { \"text\" }\nfn unused() {}\n",
    );
    let error = workshop
        .ensure(&manifest, &Heard::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`tiny` does not compile: src/lib.rs:3:26: mismatched types"
    );
    assert!(error.details()[0].starts_with("error[E0308]: mismatched types\n"));
    let BuildError::Compile {
        errors,
        inputs_hash,
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(
        (errors.len(), errors[0].code.as_deref()),
        (1, Some("E0308"))
    );

    // The same content fails with the same hash, so that it can be told once.
    let again = workshop
        .ensure(&manifest, &Heard::default())
        .await
        .unwrap_err();
    assert!(matches!(again, BuildError::Compile { inputs_hash: hash, .. } if hash == inputs_hash));

    workshop.write(
        "tiny/src/lib.rs",
        &format!("{}fn unused() {{}}\n", answering("answer-two")),
    );
    let built = workshop.ensure(&manifest, &Heard::default()).await.unwrap();
    assert_eq!(
        (answers(&built.library), built.warnings),
        (vec!["answer-two"], 1)
    );
}

#[tokio::test]
async fn colours_are_only_in_messages_for_terminals() {
    for colour in [false, true] {
        let workshop = Workshop::with(|options| options.colour = colour, &BTreeMap::new());
        let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
        workshop.write("tiny/src/lib.rs", "broken");
        let error = workshop
            .ensure(&manifest, &Heard::default())
            .await
            .unwrap_err();
        assert_eq!(error.details()[0].contains('\u{1b}'), colour);
    }
}

#[tokio::test]
async fn lock_files_are_written_where_that_is_allowed_and_never_in_silence() {
    let keep = Workshop::with(|options| options.lock = LockPolicy::Keep, &BTreeMap::new());
    let manifest = keep.add_crate("tiny", "tiny", "answer-one");
    let lock = keep.path("tiny/Cargo.lock");
    let other = fs::read_to_string(&lock).unwrap().replace("0.1.0", "0.2.0");
    fs::write(&lock, &other).unwrap();
    let error = keep.ensure(&manifest, &Heard::default()).await.unwrap_err();
    assert!(matches!(&error, BuildError::LockOutOfDate { lock: named, .. } if *named == lock));
    assert_eq!(fs::read_to_string(&lock).unwrap(), other);
    fs::remove_file(&lock).unwrap();
    let error = keep.ensure(&manifest, &Heard::default()).await.unwrap_err();
    assert!(matches!(&error, BuildError::LockMissing { lock: named, .. } if *named == lock));
    assert!(!lock.exists());

    let follow = Workshop::new();
    let manifest = follow.add_crate("tiny", "tiny", "answer-one");
    let lock = follow.path("tiny/Cargo.lock");
    let heard = Heard::default();
    let said = |why: &str| {
        format!(
            "the lock file `{}` {why}, cargo writes it now",
            lock.display()
        )
    };
    fs::write(&lock, &other).unwrap();
    follow.ensure(&manifest, &heard).await.unwrap();
    assert!(heard.take().contains(&said("does not fit the manifest")));
    assert_eq!(follow.answer(&manifest).await, (false, vec!["answer-one"]));
    fs::remove_file(&lock).unwrap();
    follow.ensure(&manifest, &heard).await.unwrap();
    assert!(heard.take().contains(&said("does not exist")));
    assert_eq!(follow.answer(&manifest).await, (false, vec!["answer-one"]));
}

#[tokio::test]
async fn a_missing_cargo_is_named() {
    let variables = BTreeMap::from([("TOOLSMITH_CARGO", "/no/such/cargo")]);
    let workshop = Workshop::with(|_| {}, &variables);
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let error = workshop
        .ensure(&manifest, &Heard::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the program `/no/such/cargo` was not found"
    );
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn an_sdk_that_this_program_does_not_have_is_named() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let sdk = workshop.folder.path().join("state/sdk");
    let manifest = CrateManifest {
        sdk: Some(sdk.join("0.0.1-old/tool-sdk")),
        ..manifest
    };
    let error = workshop
        .ensure(&manifest, &Heard::default())
        .await
        .unwrap_err();
    let BuildError::SdkMissing {
        expected, found, ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(expected, sdk.join("0.0.1-old/tool-sdk"));
    assert!(found.starts_with(&sdk) && found.is_dir());
}

#[tokio::test]
async fn a_crate_that_builds_other_things_says_so() {
    // Cargo is asked for a cdylib; one that makes none is no cargo.
    let variables = BTreeMap::from([("TOOLSMITH_CARGO", "/bin/true")]);
    let workshop = Workshop::with(|_| {}, &variables);
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let error = workshop
        .ensure(&manifest, &Heard::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cargo built `tiny` and reported no cdylib, expected .so, found nothing"
    );
}
