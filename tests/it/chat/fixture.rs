//! What the tests of `toolsmith chat` share: the example of the documents, projects with finished
//! plugins and a model, and a chat that is on.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use toolsmith_tests::{DEADLINE, Project, Ran, repository};

use super::replies::Answer;
use super::server::{KEY, MODEL, Server};

pub(crate) const SYSTEM: &str = "You are a helpful assistant.";
pub(crate) const QUESTION: &str = "What's the weather in Tokyo?";
pub(crate) const RESULT: &str = "Weather in Tokyo: Sunny, 22°C";
pub(crate) const LAST: &str = "The weather in Tokyo is sunny, 22°C.";

/// The model's part in the example.
pub(crate) fn weather_script() -> [Answer; 2] {
    let call = Answer::calling("call_1", "getWeather", json!({"city": "Tokyo"}));
    [call, Answer::saying(LAST)]
}

/// `getWeather` of the documents as a plugin.
pub(crate) const WEATHER: &str = r#"
/// Fetch current weather and forecast for a given city.
#[tool(name = "getWeather", label = "Weather Lookup")]
fn get_weather(
    /// City name
    city: String,
) -> String {
    format!("Weather in {city}: Sunny, 22°C")
}
"#;

/// Tools of every kind that a chat must deal with.
const OTHERS: &str = r#"
/// Erases a folder.
#[tool(destructive = true)]
fn erase(
    /// Which.
    folder: String,
) -> String {
    format!("erased {folder}")
}

/// Works in steps.
#[tool]
fn steps(ctx: &ToolContext) -> String {
    ctx.progress(json!({"status": "Fetching data..."}));
    "Done!".to_owned()
}

/// Writes to stdout.
#[tool]
fn chatter() -> String {
    println!("printed by a tool");
    "said".to_owned()
}

/// Searches with a key that is preset.
#[tool]
fn search(
    /// What for.
    question: String,
    /// The key.
    api_key: String,
) -> String {
    format!("{question}: a key of {} letters", api_key.len())
}

/// Waits for a second call, but not for ever.
#[tool(timeout = "10m")]
fn meet(
    /// How long, in milliseconds.
    patience_ms: u64,
) -> &'static str {
    static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    CALLS.fetch_add(1, order);
    let begin = std::time::Instant::now();
    while CALLS.load(order) < 2 {
        if begin.elapsed().as_millis() >= u128::from(patience_ms) {
            return "alone";
        }
        std::thread::yield_now();
    }
    "met"
}

/// Waits until nobody waits for it, and writes down both.
#[tool]
async fn wait(
    /// A folder for what is written down.
    folder: String,
    ctx: &ToolContext,
) -> Result<String> {
    std::fs::write(format!("{folder}/started"), "")?;
    ctx.aborted().await;
    std::fs::write(format!("{folder}/told"), "")?;
    Err("stopped".into())
}
"#;

/// The library of the plugin with all these tools, built once.
fn library() -> &'static [u8] {
    static LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let project = Project::new();
        project.plugin("all", &format!("{WEATHER}{OTHERS}"));
        let ran = project.run(&["build", "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let built = ran.json();
        let file = built["libraries"][0]["file"].as_str().unwrap();
        fs_err::read(project.path().join("dist").join(file)).unwrap()
    });
    &LIBRARY
}

/// A project with this configuration besides what every project of the tests says.
pub(crate) fn project(configuration: &str) -> Project {
    let project = Project::new();
    configure(&project, configuration);
    project
}

/// Replaces the configuration.
pub(crate) fn configure(project: &Project, configuration: &str) {
    let sdk = repository().join("tool-sdk").display().to_string();
    let text = format!("{configuration}\n[sdk]\npath = {sdk:?}\n");
    project.write("toolsmith.toml", &text);
}

/// The section of the server's model.
pub(crate) fn model_section(server: &Server) -> String {
    format!(
        "[models.mine]\nprovider = \"{}\"\nname = \"{MODEL}\"\nbase_url = \"{}\"\napi_key = \"${{CHAT_KEY}}\"\n",
        server.dialect().name(),
        server.url,
    )
}

/// A project whose one model is at the server, without plugins.
pub(crate) fn talking(server: &Server) -> Project {
    project(&model_section(server))
}

/// The same with the plugin of many tools.
pub(crate) fn equipped(server: &Server) -> Project {
    let project = talking(server);
    fs_err::write(project.plugins().join("all.so"), library()).unwrap();
    project
}

/// The command, with the key in its environment and no other.
pub(crate) fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(&["chat"]);
    command.args(arguments).env("CHAT_KEY", KEY);
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DASHSCOPE_API_KEY"] {
        command.env_remove(name);
    }
    command
}

/// Runs the command to its end.
pub(crate) fn chat(project: &Project, arguments: &[&str]) -> Ran {
    Chat::start(command(project, arguments).stdin(Stdio::null())).finish()
}

/// Runs the command to its end with these lines on stdin.
pub(crate) fn chat_with(project: &Project, arguments: &[&str], lines: &str) -> Ran {
    let mut chat = Chat::start(command(project, arguments).stdin(Stdio::piped()));
    chat.type_in(lines);
    chat.finish()
}

/// A text that grows while somebody writes it.
#[derive(Clone, Default)]
pub(crate) struct Growing(Arc<(Mutex<String>, Condvar)>);

impl Growing {
    /// Follows a stream to its end.
    fn follow(&self, mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<()> {
        let own = self.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            while let Ok(read) = stream.read(&mut part)
                && read > 0
            {
                bytes.extend(&part[..read]);
                *own.0.0.lock().unwrap() = String::from_utf8_lossy(&bytes).into_owned();
                own.0.1.notify_all();
            }
        })
    }

    pub(crate) fn so_far(&self) -> String {
        self.0.0.lock().unwrap().clone()
    }

    /// Waits until the text is as wished.
    pub(crate) fn wait(&self, is_there: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        let mut text = self.0.0.lock().unwrap();
        while !is_there(&text) {
            let left = DEADLINE.checked_sub(begin.elapsed());
            let left = left.unwrap_or_else(|| panic!("not within the deadline: {text}"));
            text = self.0.1.wait_timeout(text, left).unwrap().0;
        }
        text.clone()
    }

    pub(crate) fn wait_for(&self, part: &str) -> String {
        self.wait(|text| text.contains(part))
    }
}

/// A chat that is on. It is ended when this is dropped.
pub(crate) struct Chat {
    child: Child,
    input: Option<ChildStdin>,
    pub(crate) stdout: Growing,
    pub(crate) stderr: Growing,
    readers: Vec<std::thread::JoinHandle<()>>,
}

impl Chat {
    /// Starts a command with what it prints on pipes.
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (Growing::default(), Growing::default());
        let readers = vec![
            stdout.follow(child.stdout.take().unwrap()),
            stderr.follow(child.stderr.take().unwrap()),
        ];
        Self {
            input: child.stdin.take(),
            child,
            stdout,
            stderr,
            readers,
        }
    }

    pub(crate) fn type_in(&mut self, text: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_ref()).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends the input, and waits for the end.
    pub(crate) fn finish(mut self) -> Ran {
        self.input = None;
        let status = self.wait();
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        Ran {
            code: status.code(),
            stdout: self.stdout.so_far(),
            stderr: self.stderr.so_far(),
        }
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            let (out, err) = (self.stdout.so_far(), self.stderr.so_far());
            assert!(begin.elapsed() < DEADLINE, "no end: {out}\n{err}");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}
