//! `toolsmith check`: judges and tries out a library or a crate, or every plugin of the project,
//! and tells everything that its author may want to know. Nothing is published or loaded.
//!
//! How a thing is inspected stands in `inspect`; what is said of tools that may serve in `advice`,
//! what is said of names in `names`.

mod advice;
mod names;
mod target;

use std::io::IsTerminal;
use std::path::Path;
use std::process::Stdio;

use self::target::{Around, Target};
use super::contract::{Checked, CheckedPlugin, CheckedTool, Finding, FindingLevel, Stamp};
use super::inspect::{Inspected, Inspector, Subject};
use super::output::{Colour, Output, plain};
use super::{CommandError, Exit, Global, interrupted, output};
use crate::ids::PluginName;
use crate::plugin::Reason;
use crate::registry::Index;

/// Runs the command.
pub(super) async fn run(global: &Global, path: Option<&Path>) -> Result<Exit, CommandError> {
    let check = async {
        match path {
            Some(path) => one(global, path).await,
            None => project(global).await,
        }
    };
    let (checked, exit) = tokio::select! {
        checked = check => checked?,
        () = interrupted() => return Err(CommandError::failed("interrupted")),
    };
    let stdout = std::io::stdout();
    let colour = stdout.is_terminal();
    let output = Output::new(Box::new(stdout), global.json).with_colour(colour);
    if global.json {
        output.json(&checked);
    } else {
        show(&output, &checked);
    }
    Ok(exit)
}

/// Checks a library or a crate.
async fn one(global: &Global, path: &Path) -> Result<(Checked, Exit), CommandError> {
    let around = Around::find(global, Some(path))?;
    let subject = match Target::of(path, &around.options.index)? {
        Target::Subject(subject) => subject,
        Target::Unfit { path, reason } => {
            return Ok(concluded(path, Vec::new(), vec![error(reason)]));
        }
        Target::Missing(path) => {
            let text = format!(
                "`{}` does not exist: PATH is a library, a crate's folder or its Cargo.toml",
                path.display()
            );
            if !global.json {
                return Err(CommandError::usage(text));
            }
            output::complain(&text, "");
            let findings = vec![error(Reason::new("notFound", text))];
            return Ok((concluded(path, Vec::new(), findings).0, Exit::WrongUsage));
        }
    };
    let inspector = around.inspector()?;
    let subjects = with_others(subject, &around.options.index, !global.no_build);
    let mut inspected = inspector.inspect(subjects).await.into_iter();
    let Some(this) = inspected.next() else {
        return Err(CommandError::failed("nothing was inspected"));
    };
    let others: Vec<Inspected> = inspected.collect();
    let mut findings = of(&this);
    findings.extend(other_compiler(&[&this], &around.options.plugins).await);
    let others: Vec<&Inspected> = others.iter().collect();
    findings.extend(names::conflicts(&this, &others, true));
    findings.extend(around.settings(&this));
    findings.extend(file_name(&this.path));
    for finding in &mut findings {
        finding.plugin = None;
    }
    let tools = tools(&this, None);
    let stamp = stamp(&this);
    let (checked, exit) = concluded(this.path, tools, findings);
    Ok((Checked { stamp, ..checked }, exit))
}

/// The one that is checked, and then what else of the project is at hand: names may be taken.
fn with_others(subject: Subject, index: &Index, build: bool) -> Vec<Subject> {
    let others = index.plugins.iter();
    let others = others.filter(|(name, found)| {
        !crate::ids::is_same_plugin(name.as_str(), subject.plugin.as_str())
            && found.path() != subject.found.path()
    });
    let others = others.map(|(name, found)| Subject {
        plugin: name.clone(),
        found: found.clone(),
        build: false,
    });
    let others: Vec<Subject> = others.collect();
    std::iter::once(Subject { build, ..subject })
        .chain(others)
        .collect()
}

/// Checks every plugin of the project.
async fn project(global: &Global) -> Result<(Checked, Exit), CommandError> {
    let around = Around::find(global, None)?;
    let inspector: Inspector = around.inspector()?;
    let index = &around.options.index;
    let subjects = index.plugins.iter().map(|(name, found)| Subject {
        plugin: name.clone(),
        found: found.clone(),
        build: !global.no_build,
    });
    let all = inspector.inspect(subjects.collect()).await;
    let mut findings = Vec::new();
    for (name, refused) in &index.refused {
        let code = if refused.conflict {
            "nameTaken"
        } else {
            "manifest"
        };
        let reason = error(Reason::new(code, refused.reason.clone()));
        findings.push(about(name, reason));
    }
    for this in &all {
        let others: Vec<&Inspected> = all
            .iter()
            .filter(|other| other.plugin != this.plugin)
            .collect();
        findings.extend(of(this));
        findings.extend(names::conflicts(this, &others, false));
        findings.extend(around.settings(this));
    }
    let them: Vec<&Inspected> = all.iter().collect();
    findings.extend(other_compiler(&them, &around.options.plugins).await);
    findings.extend(names::unknown(&around.config, index, &all));
    let of_project: Vec<CheckedTool> = all
        .iter()
        .flat_map(|this| tools(this, Some(&this.plugin)))
        .collect();
    let of_one = |name: &PluginName| {
        let errors = findings
            .iter()
            .filter(|one| one.level == FindingLevel::Error);
        !errors
            .into_iter()
            .any(|one| one.plugin.as_ref() == Some(name))
    };
    let plugins: Vec<CheckedPlugin> = all
        .iter()
        .map(|this| CheckedPlugin {
            name: this.plugin.clone(),
            path: this.path.clone(),
            ok: of_one(&this.plugin),
            stamp: stamp(this),
        })
        .collect();
    let (checked, exit) = concluded(around.options.plugins.clone(), of_project, findings);
    let plugins = Some(plugins);
    Ok((Checked { plugins, ..checked }, exit))
}

fn concluded(
    path: std::path::PathBuf,
    tools: Vec<CheckedTool>,
    findings: Vec<Finding>,
) -> (Checked, Exit) {
    let ok = findings
        .iter()
        .all(|finding| finding.level == FindingLevel::Warning);
    let checked = Checked {
        path,
        ok,
        stamp: None,
        tools,
        findings,
        plugins: None,
    };
    (checked, if ok { Exit::Done } else { Exit::Failed })
}

/// What is to be said of one plugin by itself.
fn of(this: &Inspected) -> Vec<Finding> {
    let mut findings: Vec<Finding> = this.reasons.iter().cloned().map(error).collect();
    if let Some(introduced) = &this.introduced {
        findings.extend(
            introduced
                .tools
                .iter()
                .flat_map(|(_, tool)| advice::on(tool)),
        );
    }
    let has_none = this
        .introduced
        .as_ref()
        .is_some_and(|introduced| introduced.tools.is_empty());
    if this.is_empty || has_none {
        let text = "it declares no tool: put `#[tool]` on a function";
        findings.push(warning("noTools", text));
    }
    let findings = findings.into_iter();
    findings.map(|one| about(&this.plugin, one)).collect()
}

/// Finished libraries of another compiler work; their author may want to build them anew.
async fn other_compiler(all: &[&Inspected], folder: &Path) -> Vec<Finding> {
    let finished = all.iter().filter(|this| !this.is_built);
    let finished = finished.filter_map(|this| Some((&this.plugin, this.library.as_ref()?)));
    let finished: Vec<_> = finished.collect();
    if finished.is_empty() {
        return Vec::new();
    }
    let Some(here) = compiler(folder).await else {
        return Vec::new();
    };
    let others = finished.into_iter().filter_map(|(plugin, library)| {
        let found = &library.judgement.rustc;
        (*found != here).then(|| {
            let text = format!(
                "it was built with {found}, the compiler in use is {here}: it works as it is"
            );
            about(plugin, warning("otherCompiler", text))
        })
    });
    others.collect()
}

/// A library that a plugins folder would not be seen to hold.
fn file_name(path: &Path) -> Option<Finding> {
    let suffix = std::env::consts::DLL_SUFFIX;
    let is_fit = path.is_dir() || path.to_string_lossy().ends_with(suffix);
    (!is_fit).then(|| {
        let text = format!("its name does not end in `{suffix}`, so no plugins folder serves it");
        warning("fileName", text)
    })
}

/// What `rustc` calls itself, where there is one.
async fn compiler(folder: &Path) -> Option<String> {
    let folder = folder.ancestors().find(|folder| folder.is_dir())?;
    let output = tokio::process::Command::new("rustc")
        .arg("--version")
        .current_dir(folder)
        // A look at a library fetches no toolchain.
        .env("RUSTUP_AUTO_INSTALL", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn stamp(this: &Inspected) -> Option<Stamp> {
    let library = this.library.as_ref()?;
    Some(Stamp::of(&library.judgement))
}

fn tools(this: &Inspected, plugin: Option<&PluginName>) -> Vec<CheckedTool> {
    let introduced = this.introduced.iter();
    let tools = introduced.flat_map(|introduced| &introduced.tools);
    let shown = tools.map(|(_, tool)| CheckedTool {
        name: tool.name.clone(),
        label: tool.label.clone(),
        description: tool.description.clone(),
        plugin: plugin.cloned(),
        parallel: tool.parallel,
        is_async: tool.is_async,
        max_concurrent: tool.max_concurrent,
        timeout_ms: tool.timeout_ms,
        deprecated: tool.deprecated.clone(),
        presets: tool.presets.clone(),
    });
    shown.collect()
}

fn error(reason: Reason) -> Finding {
    let Reason {
        code,
        message,
        tool,
    } = reason;
    Finding {
        level: FindingLevel::Error,
        code,
        message,
        plugin: None,
        tool,
        pointer: None,
    }
}

fn warning(code: &str, message: impl Into<String>) -> Finding {
    Finding {
        level: FindingLevel::Warning,
        ..error(Reason::new(code, message))
    }
}

fn about(plugin: &PluginName, finding: Finding) -> Finding {
    Finding {
        plugin: Some(plugin.clone()),
        ..finding
    }
}

/// One line for each finding, and one for the whole.
fn show(output: &Output, checked: &Checked) {
    for finding in &checked.findings {
        output.text(&line(output, finding));
    }
    let count = |level: FindingLevel, name: &str| {
        let findings = checked.findings.iter();
        match findings.filter(|one| one.level == level).count() {
            0 => None,
            1 => Some(format!("1 {name}")),
            count => Some(format!("{count} {name}s")),
        }
    };
    let ok = checked.ok.then(|| output.coloured(Colour::Green, "ok"));
    let errors = count(FindingLevel::Error, "error");
    let warnings = count(FindingLevel::Warning, "warning");
    let parts: Vec<String> = ok.into_iter().chain(errors).chain(warnings).collect();
    let path = checked.path.display().to_string();
    output.text(&format!("{}: {}", plain(&path), parts.join(", ")));
}

fn line(output: &Output, finding: &Finding) -> String {
    let level = match finding.level {
        FindingLevel::Error => output.coloured(Colour::Red, "error"),
        FindingLevel::Warning => "warning".to_owned(),
    };
    let plugin = finding.plugin.as_ref().map(|name| format!("{name}: "));
    let pointer = finding.pointer.as_ref().map(|at| format!(" (at {at})"));
    let text = format!(
        "{}{}{} [{}]",
        plugin.unwrap_or_default(),
        finding.message,
        pointer.unwrap_or_default(),
        finding.code
    );
    format!("{level}: {}", plain(&text))
}
