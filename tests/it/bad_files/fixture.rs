//! Libraries that are built once for all tests of bad files, and what is made of their bytes.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use agent_core::worker::HelperProgram;
use fs_err as fs;
use serde_json::Value;
use toolsmith_tests::{DEADLINE, Dev, Project, exchanged, toolsmith};

/// Two tools of names that are equally long.
const GOOD: &str = r#"
    /// Works.
    #[tool]
    fn fine() -> String { "fine".into() }

    /// Takes its time.
    #[tool]
    fn fine_slow() -> String {
        std::thread::sleep(std::time::Duration::from_millis(400));
        "slow".into()
    }
"#;

const TWINS: &str = r"
    /// One.
    #[tool]
    fn twin_tool_a() {}

    /// The other.
    #[tool]
    fn twin_tool_b() {}
";

/// What the constructor does is said by sixteen bytes behind `toolsmith-mode:`.
const HOSTILE: &str = include_str!("hostile.rs.txt");

/// Where the mode stands, and the one that does nothing.
const MODE: &str = "toolsmith-mode:none............";

/// The name of its tool.
const TOOL: &str = "tool_of_aaaaaaaaaaaaaaaa";

/// The libraries.
pub(super) struct Libraries {
    /// `fine` and `fine_slow`.
    pub(super) good: Vec<u8>,
    /// The same with another answer of `fine`.
    pub(super) newer: Vec<u8>,
    /// Two tools of names that differ in one letter.
    pub(super) twins: Vec<u8>,
    /// Constructors of every kind.
    hostile: Vec<u8>,
}

/// Builds them at the first use.
pub(super) fn libraries() -> &'static Libraries {
    static BUILT: OnceLock<Libraries> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = Project::new();
        project.plugin("bad-good", GOOD);
        project.plugin("bad-hostile", HOSTILE);
        project.plugin("bad-newer", &GOOD.replace("\"fine\"", "\"newer\""));
        project.plugin("bad-twins", TWINS);
        let list = project.run(&["list", "--json"]).json();
        let library = |name: &str| {
            let name = project.crate_name(name);
            let hash = of(&list, &name)["hash"]
                .as_str()
                .unwrap_or_else(|| panic!("{list}"));
            fs::read(project.path().join(format!(".toolsmith/store/{hash}.so"))).unwrap()
        };
        Libraries {
            good: library("bad-good"),
            newer: library("bad-newer"),
            twins: library("bad-twins"),
            hostile: library("bad-hostile"),
        }
    })
}

/// The library whose constructor behaves in this way. Its tool is [`tool_of`] the mode.
pub(super) fn hostile(mode: &str) -> Vec<u8> {
    let chosen = format!("toolsmith-mode:{mode:.<16}");
    let bytes = exchanged(&libraries().hostile, MODE.as_bytes(), chosen.as_bytes());
    exchanged(&bytes, TOOL.as_bytes(), tool_of(mode).as_bytes())
}

/// The name of the tool of a [`hostile`] library.
pub(super) fn tool_of(mode: &str) -> String {
    format!("tool_of_{mode:a<16}").replace('-', "_")
}

/// A library of C with the stamp of the SDK.
pub(super) fn stamped(project: &Project, source: &str) -> Vec<u8> {
    let stamp = tool_sdk::abi::stamp::STAMP;
    let mut text = String::from("const char __toolsmith_stamp[] = {");
    for byte in stamp {
        write!(text, "{byte},").unwrap();
    }
    compiled(project, &format!("{text}}};\n{source}"))
}

/// A library of C.
pub(super) fn compiled(project: &Project, source: &str) -> Vec<u8> {
    project.write("source.c", source);
    let out = project.path().join("of-c.so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&out)
        .arg(project.path().join("source.c"))
        .status();
    assert!(made.unwrap().success());
    fs::read(out).unwrap()
}

/// A plugin of `list`.
pub(super) fn of<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut plugins = list["plugins"].as_array().unwrap().iter();
    let found = plugins.find(|plugin| plugin["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {list}"))
}

/// That a plugin is in this state, for a reason of one sentence that names all of `parts`.
#[track_caller]
pub(super) fn assert_state(list: &Value, name: &str, state: &str, parts: &[&str]) {
    let plugin = of(list, name);
    assert_eq!(plugin["state"], state, "{plugin}");
    let reason = plugin["reason"].as_str().unwrap_or_default();
    assert!(!reason.contains(char::is_control), "{plugin}");
    assert_eq!(reason.is_empty(), parts.is_empty(), "{plugin}");
    for part in parts {
        assert!(reason.contains(part), "{part}: {plugin}");
    }
}

/// A project of finished libraries whose processes can be told from all others.
pub(super) struct Host {
    pub(super) project: Project,
    mark: String,
}

impl Host {
    /// With the good library in it.
    pub(super) fn new() -> Self {
        let project = Project::new();
        let mark = project.crate_name("mark");
        let host = Self { project, mark };
        host.put("good", &libraries().good);
        host
    }

    /// Writes `libNAME.so`.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.project.plugins().join(format!("lib{name}.so")), bytes).unwrap();
    }

    /// The command, without builds.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.arg("--no-build").env("BAD_FILES_MARK", &self.mark);
        command
    }

    pub(super) fn dev(&self) -> Dev {
        Dev::start(self.command(&["dev", "--json"]))
    }

    /// `list`, in a process of its own.
    pub(super) fn list(&self) -> Value {
        let output = self.command(&["list", "--json"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// A helper program that notes every start, and then is the real one. Answers its path and how
    /// to count.
    pub(super) fn counting_helper(&self) -> (std::path::PathBuf, impl Fn() -> usize) {
        let counter = self.project.path().join("starts");
        let text = format!(
            "#!/bin/sh\necho start >> '{}'\nexec '{}' \"$@\"\n",
            counter.display(),
            toolsmith().display()
        );
        let count = move || {
            fs::read_to_string(&counter)
                .unwrap_or_default()
                .lines()
                .count()
        };
        (self.script("helper.sh", &text), count)
    }

    /// A script. Another process writes it, so that no child of ours holds it open for writing.
    pub(super) fn script(&self, name: &str, text: &str) -> std::path::PathBuf {
        let path = self.project.path().join(name);
        let made = Command::new("sh")
            .args([
                "-c",
                "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"",
                "sh",
                text,
            ])
            .arg(&path)
            .status();
        assert!(made.unwrap().success());
        path
    }

    /// The processes of this project, those too whose parents are gone.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mark = format!("BAD_FILES_MARK={}", self.mark);
        let marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(marked).collect()
    }

    /// Its helper processes.
    pub(super) fn helpers(&self) -> Vec<u32> {
        let is_helper = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(b"toolsmith-helper\0")
        };
        let all = self.processes().into_iter();
        all.filter(is_helper).collect()
    }

    /// Waits until none of its processes is left.
    #[track_caller]
    pub(super) fn assert_nothing_left(&self, within: Duration) {
        let begin = Instant::now();
        while !self.processes().is_empty() {
            assert!(begin.elapsed() < within, "left: {:?}", self.processes());
            std::thread::yield_now();
        }
    }
}

/// Waits until something is so.
#[track_caller]
pub(super) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The program of helpers is found where it is given.
#[test]
fn command_under_test_is_a_helper_program() {
    assert!(HelperProgram::find(Some(&toolsmith())).is_ok());
}
