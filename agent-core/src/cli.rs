//! The `toolsmith` command: arguments, exit codes, and which file does what.
//!
//! Everything that a person or a program reads on stdout goes through `output`; everything else
//! goes to stderr and to the host's log.

mod build;
mod call;
mod chat;
mod check;
mod context;
mod contract;
mod dev;
mod inspect;
mod list;
mod log;
mod output;
mod progress;
mod scaffold;
mod schema;
mod streams;
mod test;
mod trust;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use context::Context;

/// Native tools for language-model agents, hot-reloaded.
#[derive(Debug, Parser)]
#[command(name = "toolsmith", version, about)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Flags of every command.
#[derive(Clone, Debug, Args)]
struct Global {
    /// Folder of plugin crates, finished libraries, or both.
    #[arg(long, global = true, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Configuration file instead of the project's `toolsmith.toml`.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON for programs.
    #[arg(long, global = true)]
    json: bool,
    /// Use libraries as they were last built.
    #[arg(long, global = true)]
    no_build: bool,
    /// Allow this tool without asking, for this run.
    #[arg(long, global = true, value_name = "NAME")]
    allow: Vec<String>,
    /// Say less on stderr.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more on stderr.
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build every plugin, load, watch: a console, or one command a line from a pipe.
    Dev,
    /// The tools in order, and the plugins with their state.
    List,
    /// Call a tool once.
    Call {
        /// Name of the tool.
        name: String,
        /// The arguments: JSON, `@FILE`, or `-` for standard input.
        arguments: Option<String>,
    },
    /// What a model is shown of the tools.
    Schema {
        /// Name of one tool.
        name: Option<String>,
        /// Whose dialect.
        #[arg(long, value_enum, default_value_t = schema::Format::Mcp)]
        format: schema::Format,
    },
    /// Run the examples that tools declare.
    Test {
        /// Name of one tool or of one plugin.
        name: Option<String>,
    },
    /// Judge and try out a library or a crate, and tell its author what is wrong with it.
    Check {
        /// A library, a crate's folder or its Cargo.toml; without it every plugin of the project.
        path: Option<PathBuf>,
    },
    /// Make every plugin a finished library; a folder of them runs without cargo.
    Build {
        /// Optimise them.
        #[arg(long)]
        release: bool,
        /// The folder to write them to [default: `dist` beside the plugins folder].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Talk with a language model that may call the tools.
    Chat(chat::Options),
    /// Vouch for a plugin that a model wrote, as it is now: it is built and runs as one of your own.
    Trust {
        /// Name of the plugin.
        name: String,
    },
    /// Make a plugin crate.
    New {
        /// Name of the crate, in kebab-case.
        name: String,
    },
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Done,
    Failed,
    WrongUsage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::WrongUsage => 2,
        })
    }
}

/// What goes wrong before a tool is called.
#[derive(Debug)]
struct CommandError {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl CommandError {
    fn failed(error: impl std::fmt::Display) -> Self {
        Self {
            exit: Exit::Failed,
            message: error.to_string(),
            hint: None,
        }
    }

    fn usage(error: impl std::fmt::Display) -> Self {
        Self {
            exit: Exit::WrongUsage,
            message: error.to_string(),
            hint: None,
        }
    }

    fn with_hint(self, hint: impl Into<Option<String>>) -> Self {
        Self {
            hint: hint.into(),
            ..self
        }
    }
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    crate::helper::init();
    allow_open_files();
    let cli = Cli::parse();
    let json = cli.global.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain("the runtime could not be started", &error.to_string());
            return Exit::Failed.into();
        }
    };
    let result = runtime.block_on(run(cli));
    // Tools that never return must not keep the process.
    runtime.shutdown_background();
    match result {
        Ok(exit) => exit.into(),
        Err(CommandError {
            exit,
            message,
            hint,
        }) => {
            if json {
                contract::Refusal::new(&message, hint.as_deref()).print();
            }
            output::complain(&message, hint.as_deref().unwrap_or_default());
            exit.into()
        }
    }
}

/// Waits until somebody wants the command to end: by the terminal's interrupt, or as services and
/// terminals that close do. What was started is ended in any case.
async fn interrupted() {
    tokio::select! {
        () = signalled(SignalKind::interrupt()) => {}
        () = terminated() => {}
    }
}

/// Gives tools that were told to stop the time that they have for it, before the process ends.
async fn let_tools_stop() {
    tokio::time::sleep(crate::limits::LAST_CALLS).await;
}

/// Waits until the process is told to end.
async fn terminated() {
    tokio::select! {
        () = signalled(SignalKind::terminate()) => {}
        () = signalled(SignalKind::hangup()) => {}
    }
}

async fn signalled(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signal) => _ = signal.recv().await,
        // Then the system ends the process by itself.
        Err(_) => std::future::pending().await,
    }
}

/// Files that may be open at once, where the system allows so many.
const OPEN_FILES: u64 = 65_536;

/// Raises the number of files that may be open to what the system allows: every generation of a
/// plugin may hold some for good, and the usual limit is as low as 1,024.
fn allow_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Where there is no limit, programs that close every possible descriptor would take for ever.
    let enough = maximum.map_or(OPEN_FILES, |maximum| maximum.min(OPEN_FILES));
    if current.is_some_and(|current| current < enough) {
        let current = Some(enough);
        // Where that is not allowed, the limit stays as it is.
        _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

async fn run(cli: Cli) -> Result<Exit, CommandError> {
    let Cli { global, command } = cli;
    match command.unwrap_or(Command::Dev) {
        Command::New { name } => scaffold::new(&global, &name),
        Command::Trust { name } => trust::run(&global, &name),
        Command::Check { path } => check::run(&global, path.as_deref()).await,
        Command::Build { release, out } => build::run(&global, release, out.as_deref()).await,
        Command::Dev => in_project(&global, dev::run).await,
        Command::List => in_project(&global, list::run).await,
        Command::Call { name, arguments } => {
            let call =
                async |context: &Context| call::run(context, &name, arguments.as_deref()).await;
            in_project(&global, call).await
        }
        Command::Schema { name, format } => {
            let show =
                async |context: &Context| schema::run(context, name.as_deref(), format).await;
            in_project(&global, show).await
        }
        Command::Chat(options) => {
            let chat = async |context: &Context| chat::run(context, &options).await;
            in_project(&global, chat).await
        }
        Command::Test { name } => {
            let test = async |context: &Context| test::run(context, name.as_deref()).await;
            in_project(&global, test).await
        }
    }
}

/// Runs a command that needs the project's tools.
async fn in_project(
    global: &Global,
    command: impl AsyncFnOnce(&Context) -> Result<Exit, CommandError>,
) -> Result<Exit, CommandError> {
    let context = Context::open(global)?;
    let exit = command(&context).await;
    context.close();
    match exit {
        Ok(Exit::Done) if context.output.has_failed() => Ok(Exit::Failed),
        exit => exit,
    }
}
