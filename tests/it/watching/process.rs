//! The command `toolsmith dev`, which builds what it watches.

use super::*;

fn built(lines: &[String]) -> usize {
    let built = lines.iter().filter(|line| line.starts_with("built "));
    built.count()
}

/// g4.self-trigger: what a build writes into its own sources is no change that goes on for ever.
#[test]
fn build_that_writes_into_its_sources_does_not_build_itself_again() {
    let project = Project::new();
    project.plugin(
        "made",
        "mod generated;\n/// Says it.\n#[tool]\nfn word() -> &'static str { generated::WORD }",
    );
    project.write("plugins/made/src/generated.rs", "");
    project.write(
        "plugins/made/build.rs",
        "fn main() { std::fs::write(\"src/generated.rs\", \"pub const WORD: &str = \\\"made\\\";\").unwrap() }",
    );
    let mut dev = project.dev();
    assert_eq!(dev.call("word", ""), "made");
    std::thread::sleep(Duration::from_secs(5));
    let list = dev.ask("list");
    assert_eq!(list["plugins"][0]["generation"], 1, "{list}");
    let (code, lines) = dev.finish_with_complaints();
    assert_eq!(code, Some(0));
    // The second finds that the file it writes is as it was.
    assert!(built(&lines) <= 2, "{lines:#?}");
}

/// A folder that is not there is told once, and not every two seconds.
#[test]
fn missing_plugins_folder_does_not_fill_the_log() {
    let project = Project::new();
    let mut dev = project.dev();
    dev.ask("list");
    fs_err::remove_dir(project.plugins()).unwrap();
    dev.complaint(|line| line.contains("does not exist"));
    std::thread::sleep(Duration::from_secs(5));
    let (code, lines) = dev.finish_with_complaints();
    assert_eq!(code, Some(0));
    let again = lines.iter().filter(|line| line.contains("does not exist"));
    assert_eq!(again.count(), 0, "{lines:#?}");
    let log = project.log();
    assert_eq!(log.matches("does not exist").count(), 1, "{log}");
}
