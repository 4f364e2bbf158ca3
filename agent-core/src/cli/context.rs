//! What a command works with: the project, its configuration, the registry, a caller.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::output::{self, Output};
use super::progress::Bar;
use super::streams::{Capture, Speaker, capture};
use super::{CommandError, Global, interrupted, log};
use crate::build::{Builder, BuilderOptions};
use crate::call::{Approval, Caller, Permissions, Question};
use crate::config::{Config, FILE_NAME, Project, find_project};
use crate::event::{Emitter, Event, EventKind};
use crate::ids::PluginName;
use crate::json_text::spaced;
use crate::registry::{Registry, RegistryError, RegistryOptions, Scope, target_folder};

/// Everything that a command needs.
pub(super) struct Context {
    pub(super) caller: Caller,
    /// What need not be asked for.
    pub(super) permissions: Permissions,
    /// The tools that `--allow` names.
    pub(super) allowed: Vec<String>,
    pub(super) output: Output,
    pub(super) speaker: Speaker,
    /// The configuration as it was when the command began.
    pub(super) config: Config,
    /// Whether only what is asked for is printed.
    pub(super) quiet: bool,
    /// Set where calls are shown in another way.
    shows_calls: Arc<AtomicBool>,
    bar: Arc<Bar>,
    /// Set at the end: a build that is given up is no news then.
    closing: Arc<AtomicBool>,
    /// Taken at the end, so that the last printed lines reach the log.
    capture: Mutex<Option<Capture>>,
}

/// Folders and configuration, without anything that runs.
pub(super) struct Place {
    pub(super) plugins: PathBuf,
    pub(super) state: PathBuf,
    pub(super) config: Config,
    /// The configuration file, whether it exists or not.
    pub(super) file: Option<PathBuf>,
}

impl Place {
    /// The project that the flags name, or that the current folder lies in.
    pub(super) fn find(global: &Global) -> Result<Self, CommandError> {
        let here = std::env::current_dir().map_err(CommandError::failed)?;
        let project = find_project(&here);
        let named = global.plugins.clone().map(std::path::absolute).transpose();
        let plugins = named
            .map_err(CommandError::usage)?
            .or_else(|| project.as_ref().map(|project| project.plugins.clone()))
            .unwrap_or_else(|| here.join("plugins"));
        let file = global.config.as_deref().map(std::path::absolute);
        let file = file
            .transpose()
            .map_err(CommandError::usage)?
            .or_else(|| config_for(project, &plugins));
        let config = match &file {
            Some(file) if global.config.is_some() || file.is_file() => {
                Config::load(file).map_err(|error| {
                    let hint = error.hint();
                    CommandError::usage(error).with_hint(hint)
                })?
            }
            _ => Config::default(),
        };
        let state = config
            .state_dir(&plugins, &|name| std::env::var(name).ok())
            .map_err(CommandError::usage)?;
        Ok(Self {
            plugins,
            state,
            config,
            file,
        })
    }
}

/// Where the project's configuration is or would be, if its plugins are the ones that are used.
fn config_for(project: Option<Project>, plugins: &std::path::Path) -> Option<PathBuf> {
    project
        .filter(|project| project.plugins == plugins)
        .map(|project| project.root.join(FILE_NAME))
}

impl Context {
    /// Opens the project. Nothing is built or loaded yet.
    pub(super) fn open(global: &Global) -> Result<Self, CommandError> {
        let Place {
            plugins,
            state,
            config,
            file,
        } = Place::find(global)?;
        if !plugins.is_dir() {
            let text = format!("there is no plugins folder `{}`", plugins.display());
            let hint =
                "`toolsmith new NAME` makes one with a first plugin, --plugins DIR names another";
            return Err(CommandError::usage(text).with_hint(hint.to_owned()));
        }
        log::start(&state, global.quiet, global.verbose);
        let speaker = Speaker::default();
        let capture = capture(speaker.clone()).map_err(CommandError::failed)?;
        let real = capture.real().map_err(CommandError::failed)?;
        let colour = real.is_terminal();
        let output = Output::new(Box::new(real), global.json).with_colour(colour);
        let builder = if global.no_build {
            None
        } else {
            Some(builder(&plugins, &state, &config)?)
        };
        let bar = Arc::new(Bar::new(!global.quiet && std::io::stderr().is_terminal()));
        let shown = Arc::clone(&bar);
        let quiet = global.quiet;
        let closing = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&closing);
        let shows_calls = Arc::new(AtomicBool::new(false));
        let elsewhere = Arc::clone(&shows_calls);
        let events = Emitter::new(vec![Box::new(move |event: &Arc<Event>| {
            if !closed.load(Ordering::Relaxed) {
                shown.clear();
                report(event, quiet, elsewhere.load(Ordering::Relaxed));
            }
        })]);
        let mut options = RegistryOptions::new(plugins, state);
        options.config = file;
        let registry =
            Registry::open(options, builder, events.clone()).map_err(CommandError::failed)?;
        let permissions = Permissions::default().allowing(global.allow.iter().cloned());
        let caller = Caller::new(registry, events).with_permissions(permissions.clone());
        Ok(Self {
            caller,
            permissions,
            allowed: global.allow.clone(),
            output,
            speaker,
            config,
            quiet,
            shows_calls,
            bar,
            closing,
            capture: Mutex::new(Some(capture)),
        })
    }

    /// A caller for what a person types: that is consent (the configuration may deny it still).
    pub(super) fn consenting(&self) -> Caller {
        let consent = |_: Question| async { Approval::Once };
        let permissions = self.permissions.clone().asking(consent);
        self.caller.clone().with_permissions(permissions)
    }

    /// Leaves it to the command to show calls.
    pub(super) fn show_calls_elsewhere(&self) {
        self.shows_calls.store(true, Ordering::Relaxed);
    }

    /// Brings the tools to what the plugins folder says.
    pub(super) async fn refresh(&self, scope: Scope<'_>) -> Result<(), CommandError> {
        self.unless_interrupted(self.caller.registry().refresh(scope, &*self.bar))
            .await
    }

    /// Brings one plugin, or all, to what the plugins folder says, but does not wait for it any longer
    /// than this; it goes on then. Whether it is done.
    pub(super) async fn refresh_within(
        &self,
        plugin: Option<&PluginName>,
        limit: Duration,
    ) -> Result<bool, CommandError> {
        let (registry, bar) = (self.caller.registry().clone(), Arc::clone(&self.bar));
        let plugin = plugin.cloned();
        let work = tokio::spawn(async move {
            let scope = plugin.as_ref().map_or(Scope::All, Scope::Only);
            registry.refresh(scope, &*bar).await
        });
        let done = tokio::select! {
            done = work => match done {
                Ok(done) => done.map(|()| true).map_err(CommandError::failed),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            () = interrupted() => Err(CommandError::failed("interrupted")),
            () = tokio::time::sleep(limit) => Ok(false),
        };
        self.bar.clear();
        done
    }

    /// Brings one tool to what the plugins folder says, touching as few plugins as possible.
    pub(super) async fn refresh_for(&self, tool: &str) -> Result<(), CommandError> {
        self.refresh(Scope::Tool(tool)).await
    }

    /// A build that is given up ends cargo with all it has started: that runs in a process group of
    /// its own, which the terminal's interrupt does not reach.
    async fn unless_interrupted(
        &self,
        work: impl Future<Output = Result<(), RegistryError>>,
    ) -> Result<(), CommandError> {
        let done = tokio::select! {
            done = work => done.map_err(CommandError::failed),
            () = interrupted() => Err(CommandError::failed("interrupted")),
        };
        self.bar.clear();
        done
    }

    /// Brings the plugin of a known tool up to date, or every plugin for an unknown one.
    pub(super) async fn refresh_known(&self, tool: &str) -> Result<(), CommandError> {
        let table = self.caller.registry().table();
        match table.get(tool).map(|entry| entry.plugin().cloned()) {
            Some(Some(plugin)) => self.refresh(Scope::Only(&plugin)).await,
            Some(None) => Ok(()),
            None => self.refresh(Scope::All).await,
        }
    }

    /// Gives stdout back and lets the last printed lines reach the log.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        drop(
            self.capture
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

fn builder(
    plugins: &std::path::Path,
    state: &std::path::Path,
    config: &Config,
) -> Result<Arc<Builder>, CommandError> {
    let target = target_folder(plugins).join("trusted");
    let options = BuilderOptions::new(plugins.to_owned(), state.to_owned(), target);
    let mut options = options.configured(config);
    options.colour = std::io::stderr().is_terminal();
    Builder::new(options).map_err(CommandError::failed)
}

/// Tells a person what happens, on stderr.
fn report(event: &Event, quiet: bool, shows_calls: bool) {
    match &event.kind {
        EventKind::ToolExecutionUpdate { partial_result, .. } if !quiet && !shows_calls => {
            output::say(&partial_text(partial_result));
        }
        // On a terminal there is a line that shows the progress.
        EventKind::BuildStart { plugin } if !quiet && !std::io::stderr().is_terminal() => {
            output::say(&format!("building {plugin} …"));
        }
        EventKind::BuildEnd {
            plugin,
            ok: false,
            diagnostics: Some(diagnostics),
            ..
        } => {
            output::say(diagnostics.trim_end());
            output::complain(&format!("`{plugin}` was not built"), "");
        }
        EventKind::BuildEnd {
            plugin,
            ok: true,
            duration_ms,
            ..
        } if !quiet => {
            output::say(&format!("built {plugin} in {duration_ms} ms"));
        }
        _ => {}
    }
}

/// A partial result on one line: `{"status": "…"}` is what most tools send.
pub(super) fn partial_text(partial: &serde_json::Value) -> String {
    match partial {
        serde_json::Value::String(text) => text.clone(),
        other => spaced(other),
    }
}
