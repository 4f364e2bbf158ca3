//! Changes that cargo can't notice, since files did not become younger.

use super::*;

/// Gives a file a content and keeps its time from long ago. Says the time.
fn restore(path: &Path, text: &str) -> SystemTime {
    let long_ago = SystemTime::now() - Duration::from_hours(24);
    fs::write(path, text).unwrap();
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(long_ago).unwrap();
    fs::metadata(path).unwrap().modified().unwrap()
}

fn time(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// A workshop with a crate that depends on a package in another folder.
fn with_dependency() -> (Workshop, CrateManifest) {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "");
    let text = fs::read_to_string(manifest.file()).unwrap();
    let depends = "[dependencies]\ndep = { path = \"../../outside/dep\" }\n";
    fs::write(manifest.file(), format!("{text}{depends}")).unwrap();
    let dep = "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    workshop.write("../outside/dep/Cargo.toml", dep);
    workshop.write(
        "../outside/dep/src/lib.rs",
        "pub const ANSWER: &str = \"answer-one\";",
    );
    let source = "#[no_mangle]\npub static ANSWER: &str = dep::ANSWER;\n";
    workshop.write("tiny/src/lib.rs", source);
    (workshop, manifest)
}

#[tokio::test]
async fn an_old_time_in_a_dependency_hides_nothing() {
    for with_edit in [false, true] {
        let (workshop, manifest) = with_dependency();
        assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
        let dep = workshop.path("../outside/dep/src/lib.rs");
        let then = restore(&dep, "pub const ANSWER: &str = \"answer-two\";");
        if with_edit {
            // Cargo compiles the crate for its own edit, with the dependency that it has.
            let source = fs::read_to_string(&manifest.source).unwrap();
            fs::write(&manifest.source, format!("{source}pub fn f() {{}}\n")).unwrap();
        }
        assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
        assert_eq!(
            workshop.answer(&manifest).await,
            (false, vec!["answer-two"])
        );
        assert_eq!(time(&dep), then);
    }
}

#[tokio::test]
async fn an_old_time_of_what_a_build_script_reads_hides_nothing() {
    for (with_edit, says_it) in [(false, true), (true, true), (true, false)] {
        let workshop = Workshop::new();
        workshop.add_crate("tiny", "tiny", "");
        let rerun = if says_it {
            "println!(\"cargo::rerun-if-changed=answer.txt\");"
        } else {
            ""
        };
        let script = format!(
            "fn main() {{ {rerun} let answer = std::fs::read_to_string(\"answer.txt\").unwrap(); \
             println!(\"cargo::rustc-env=ANSWER={{answer}}\"); }}"
        );
        workshop.write("tiny/build.rs", &script);
        let data = workshop.path("tiny/answer.txt");
        restore(&data, "answer-one");
        let source = "#[no_mangle]\npub static ANSWER: &str = env!(\"ANSWER\");\n";
        workshop.write("tiny/src/lib.rs", source);
        let manifest = CrateManifest::read(&workshop.path("tiny")).unwrap();
        assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
        let then = restore(&data, "answer-two");
        if with_edit {
            workshop.write("tiny/src/lib.rs", &format!("{source}pub fn f() {{}}\n"));
        }
        assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
        assert_eq!(
            workshop.answer(&manifest).await,
            (false, vec!["answer-two"])
        );
        assert_eq!(time(&data), then);
    }
}

#[tokio::test]
async fn an_old_time_after_a_build_without_cargo_hides_nothing() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let source = manifest.source.clone();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
    // Built by the crate's own compiler; cargo has the first version, and no younger file.
    let then = restore(&source, &answering("answer-two"));
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    let text = fs::read_to_string(manifest.file()).unwrap();
    fs::write(manifest.file(), format!("{text}# a comment\n")).unwrap();
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    assert_eq!(time(&source), then);
}

#[tokio::test]
async fn an_old_time_beside_every_package_hides_nothing() {
    let (workshop, manifest) = with_dependency();
    workshop.write("../outside/answer.txt", "answer-one");
    let include = "pub const ANSWER: &str = include_str!(\"../../answer.txt\");";
    workshop.write("../outside/dep/src/lib.rs", include);
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-one"]));
    let data = workshop.path("../outside/answer.txt");
    let then = restore(&data, "answer-two");
    assert_eq!(workshop.answer(&manifest).await, (true, vec!["answer-two"]));
    assert_eq!(time(&data), then);
}

#[tokio::test]
async fn files_of_the_future_are_built_and_stay_so() {
    let workshop = Workshop::new();
    let manifest = workshop.add_crate("tiny", "tiny", "answer-one");
    let tomorrow = SystemTime::now() + Duration::from_hours(24);
    for answer in ["answer-one", "answer-two", "answer-new"] {
        workshop.write("tiny/src/lib.rs", &answering(answer));
        let source = fs::File::options()
            .append(true)
            .open(&manifest.source)
            .unwrap();
        source.set_modified(tomorrow).unwrap();
        assert_eq!(workshop.answer(&manifest).await, (true, vec![answer]));
        assert_eq!(workshop.answer(&manifest).await, (false, vec![answer]));
        assert!(time(&manifest.source) > SystemTime::now());
    }
}

#[tokio::test]
async fn what_another_plugin_had_compiled_of_a_dependency_is_not_taken_for_the_present_one() {
    for with_old_time in [false, true] {
        let (workshop, one) = with_dependency();
        let text = fs::read_to_string(one.file()).unwrap();
        let source = fs::read_to_string(&one.source).unwrap();
        workshop.write("two/Cargo.toml", &text.replace("tiny", "second"));
        workshop.write("two/src/lib.rs", &source);
        let two = CrateManifest::read(&workshop.path("two")).unwrap();
        let dep = workshop.path("../outside/dep/src/lib.rs");
        let word = |answer: &str| format!("pub const ANSWER: &str = \"{answer}\";");
        // Files as young as these are not sure at first.
        for _ in 0..2 {
            assert_eq!(workshop.answer(&one).await.1, ["answer-one"]);
        }
        fs::write(&dep, word("answer-two")).unwrap();
        assert_eq!(workshop.answer(&two).await, (true, vec!["answer-two"]));
        // The first plugin never saw the second content, and is edited when the first is back.
        if with_old_time {
            restore(&dep, &word("answer-one"));
        } else {
            fs::write(&dep, word("answer-one")).unwrap();
        }
        fs::write(&one.source, format!("{source}pub fn f() {{}}\n")).unwrap();
        assert_eq!(workshop.answer(&one).await, (true, vec!["answer-one"]));
        assert_eq!(workshop.answer(&two).await, (true, vec!["answer-one"]));
    }
}
