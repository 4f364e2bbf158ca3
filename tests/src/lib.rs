//! What the tests of the whole product share: projects in temporary folders, and the command.
//!
//! All projects build in one target directory, so that dependencies are compiled once. Libraries
//! of equally named crates would overwrite each other there, so every crate's name is unique:
//! [`Project::crate_name`] makes it so.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that can't be set up has failed"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use agent_core::abort::AbortSignal;
use agent_core::build::{Builder, BuilderOptions};
use agent_core::call::{Arguments, Caller, ToolCall};
use agent_core::event::Emitter;
use agent_core::registry::{Registry, RegistryOptions, Scope};
use agent_core::tool::ToolCallResult;
use fs_err as fs;
use memchr::memmem;
use serde_json::Value;

/// How long a test waits for something that should happen.
pub const DEADLINE: Duration = Duration::from_mins(5);

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in it")
        .to_owned()
}

/// The command.
pub fn toolsmith() -> PathBuf {
    programs().join("toolsmith-under-test")
}

/// Runs the soak to its end, and gives its report.
pub fn soak(arguments: &[&str]) -> Value {
    let soak = programs().join("toolsmith-soak");
    let output = Command::new(soak).args(arguments).output();
    Ran::of(&output.expect("the soak starts")).json()
}

/// Where all projects of the tests build.
pub fn target() -> PathBuf {
    let folder = programs().parent().map(Path::to_owned);
    folder
        .expect("programs lie two folders deep")
        .join("toolsmith-tests")
}

/// Where cargo puts programs; tests lie a folder below.
fn programs() -> PathBuf {
    let this = std::env::current_exe().expect("this program is a file");
    let folder = this.parent().expect("a file lies in a folder");
    let folder = match folder.file_name() {
        Some(name) if name == "deps" => folder.parent().unwrap_or(folder),
        _ => folder,
    };
    folder.to_owned()
}

/// A project in a temporary folder.
#[derive(Debug)]
pub struct Project {
    folder: tempfile::TempDir,
    unique: String,
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

impl Project {
    /// A project without plugins, whose new crates use the repository's SDK.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let project = Self {
            folder,
            unique: format!("{}-{number}", std::process::id()),
        };
        fs::create_dir(project.plugins()).expect("the folder is new");
        let sdk = repository().join("tool-sdk");
        project.write(
            "toolsmith.toml",
            &format!("[sdk]\npath = {:?}\n", sdk.display().to_string()),
        );
        project
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its plugins folder.
    pub fn plugins(&self) -> PathBuf {
        self.path().join("plugins")
    }

    /// Its host's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path().join(".toolsmith/log/toolsmith.log")).unwrap_or_default()
    }

    /// A crate name that no other test has: crates of all tests share one target directory. Names
    /// keep the order of `name`.
    pub fn crate_name(&self, name: &str) -> String {
        format!("{name}-{}", self.unique)
    }

    /// Writes a file, with the folders that it needs.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// A plugin crate with this source, in `plugins/NAME`.
    pub fn plugin(&self, name: &str, source: &str) {
        self.plugin_with(name, &[], source);
    }

    /// The same, with direct dependencies on these packages, each of which the SDK depends on as
    /// well, so that the template lock knows it.
    pub fn plugin_with(&self, name: &str, dependencies: &[&str], source: &str) {
        let package = self.crate_name(name);
        let sdk = repository().join("tool-sdk");
        let each = |line: fn(&&str) -> String| dependencies.iter().map(line).collect::<Vec<_>>();
        let direct = each(|name| format!("{name} = \"*\"\n")).concat();
        let mut locked = each(|name| format!(" {name:?},\n"));
        locked.push(" \"tool-sdk\",\n".to_owned());
        locked.sort_unstable();
        let manifest = format!(
            "[package]\nname = {package:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n\n\
             [dependencies]\ntool-sdk = {{ path = {:?} }}\n{direct}\n[workspace]\n",
            sdk.display().to_string(),
        );
        let lock = fs::read_to_string(sdk.join("template/Cargo.lock")).expect("a template lock");
        let entry = |name: &str, dependencies: &str| {
            format!("name = {name:?}\nversion = \"0.1.0\"\ndependencies = [\n{dependencies}]")
        };
        let lock = lock.replace(
            &entry("template", " \"tool-sdk\",\n"),
            &entry(&package, &locked.concat()),
        );
        self.write(format!("plugins/{name}/Cargo.toml"), &manifest);
        self.write(format!("plugins/{name}/Cargo.lock"), &lock);
        self.source(name, source);
    }

    /// Replaces the source of a plugin crate.
    pub fn source(&self, name: &str, source: &str) {
        let source = format!("use tool_sdk::prelude::*;\n{source}");
        self.write(format!("plugins/{name}/src/lib.rs"), &source);
    }

    /// The command with these arguments, in the project's folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(toolsmith());
        command
            .args(arguments)
            .current_dir(self.path())
            .env("TOOLSMITH_TARGET", target())
            .env_remove("TOOLSMITH_STATE")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output();
        Ran::of(&output.expect("the command starts"))
    }

    /// Starts `toolsmith dev` with JSON answers on a pipe.
    pub fn dev(&self) -> Dev {
        Dev::start(self.command(&["dev", "--json"]))
    }
}

impl Project {
    /// A host in this process: a caller over a registry of the project's plugins, built and loaded.
    pub async fn host(&self) -> Caller {
        self.host_of(None).await
    }

    /// The same, with the project's configuration file followed.
    pub async fn following_host(&self) -> Caller {
        self.host_of(Some(&self.path().join("toolsmith.toml")))
            .await
    }

    async fn host_of(&self, config: Option<&Path>) -> Caller {
        let state = self.path().join(".toolsmith");
        let trusted = target().join("trusted");
        let mut builder = BuilderOptions::new(self.plugins(), state.clone(), trusted);
        builder.sdk = Some(repository().join("tool-sdk"));
        builder.helper = Some(toolsmith());
        let builder = Builder::new(builder).expect("the folders are absolute");
        let mut options = RegistryOptions::new(self.plugins(), state);
        options.helper = Some(toolsmith());
        options.config = config.map(ToOwned::to_owned);
        let events = Emitter::default();
        let registry = Registry::open(options, Some(builder), events.clone()).expect("writable");
        registry.refresh(Scope::All, &()).await.expect("readable");
        Caller::new(registry, events)
    }
}

/// Makes one call and gives its result.
pub async fn call(caller: &Caller, tool: &str, arguments: Value) -> Arc<ToolCallResult> {
    let call = ToolCall::new(tool, Arguments::Json(arguments));
    caller.call(call, &AbortSignal::new()).await.result
}

/// A library in which every occurrence of a text is exchanged for another of the same length.
///
/// So one build gives many libraries, each with answers, names and a hash of its own.
pub fn exchanged(library: &[u8], old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Vec<u8> {
    let (old, new) = (old.as_ref(), new.as_ref());
    assert_eq!(old.len(), new.len(), "nothing may move");
    let places: Vec<usize> = memmem::find_iter(library, old).collect();
    assert!(
        !places.is_empty(),
        "`{}` is in the library",
        String::from_utf8_lossy(old)
    );
    let mut bytes = library.to_vec();
    for at in places {
        bytes.splice(at..at + old.len(), new.iter().copied());
    }
    bytes
}

/// What a command that has ended left.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What it printed as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?}\n{}", self.stdout, self.stderr))
    }
}

/// A running `toolsmith dev`. It is ended when this is dropped.
#[derive(Debug)]
pub struct Dev {
    child: Child,
    /// `None` when the input has ended.
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    complaints: Receiver<String>,
}

impl Dev {
    /// Starts a command that reads lines.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = child.stdin.take();
        let answers = lines(child.stdout.take().expect("it is piped"));
        let complaints = lines(child.stderr.take().expect("it is piped"));
        Self {
            child,
            input,
            answers,
            complaints,
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input has not ended");
        writeln!(input, "{line}")
            .and_then(|()| input.flush())
            .expect("it reads");
    }

    /// Waits for the next answer.
    pub fn answer(&self) -> Value {
        let line = self
            .answers
            .recv_timeout(DEADLINE)
            .expect("an answer within the deadline");
        serde_json::from_str(&line).expect("answers are JSON")
    }

    /// Sends a line and waits for its answer.
    pub fn ask(&mut self, line: &str) -> Value {
        self.send(line);
        self.answer()
    }

    /// Calls a tool and gives its text.
    pub fn call(&mut self, tool: &str, arguments: &str) -> String {
        text(&self.ask(&format!("call {tool} {arguments}")))
    }

    /// Asks again and again until the answer is as wished.
    pub fn ask_until(&mut self, line: &str, wished: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let answer = self.ask(line);
            if wished(&answer) {
                return answer;
            }
            assert!(begin.elapsed() < DEADLINE, "{line}: still {answer}");
        }
    }

    /// Waits for a line on stderr.
    pub fn complaint(&self, wished: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        while let Some(left) = DEADLINE.checked_sub(begin.elapsed()) {
            match self.complaints.recv_timeout(left) {
                Ok(line) if wished(&line) => return line,
                Ok(_) => {}
                Err(error) => panic!("no such line on stderr: {error}"),
            }
        }
        panic!("no such line on stderr");
    }

    /// Ends the input and waits for the end of the process. Gives its exit code.
    pub fn finish(self) -> Option<i32> {
        self.finish_with_complaints().0
    }

    /// The same, with everything on stderr that was not waited for.
    pub fn finish_with_complaints(mut self) -> (Option<i32>, Vec<String>) {
        self.input = None;
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            assert!(begin.elapsed() < DEADLINE, "dev does not end");
            std::thread::yield_now();
        };
        // The reader ends with the process's end of the pipe.
        (status.code(), self.complaints.iter().collect())
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.child.kill().expect("it is our child");
        }
        self.child.wait().expect("it is our child");
    }
}

fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The text of a result.
pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks
        .filter_map(|block| block["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// README's code is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[derive(Debug)]
pub struct Readme;

/// So is the code of the guide for people who write tools. Its tools have different names, so that
/// rustdoc can compile all examples at once.
#[cfg(doctest)]
#[doc = include_str!("../../docs/authors.md")]
#[derive(Debug)]
struct Guide;

/// And that of the guide for people who use the agent.
#[cfg(doctest)]
#[doc = include_str!("../../docs/agents.md")]
#[derive(Debug)]
struct AgentGuide;
