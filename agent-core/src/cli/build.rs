//! `toolsmith build`: every plugin as a finished library, in a folder that runs where there is
//! neither cargo nor rustc.
//!
//! Every library is judged and tried out before it is handed on. What of a folder may be written
//! and removed stands in `folder`.

mod folder;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::folder::Folder;
use super::context::Place;
use super::contract::{FinishedLibrary, HandedOn, Manifest, Stamp};
use super::inspect::{Inspected, Inspector, Options, Subject};
use super::output::{Output, plain};
use super::{CommandError, Exit, Global, interrupted, log, output};
use crate::build::{Profile, Trust};
use crate::event::FailedPlugin;
use crate::ids::PluginName;
use crate::plugin::store::StoredLibrary;
use crate::registry::{Found, Index, scan};

/// The folder beside the plugins folder where nobody names another.
const DEFAULT: &str = "dist";

/// Runs the command.
pub(super) async fn run(
    global: &Global,
    release: bool,
    out: Option<&Path>,
) -> Result<Exit, CommandError> {
    if release && global.no_build {
        let text =
            "--release and --no-build exclude each other: what was last built is a dev build";
        return Err(CommandError::usage(text));
    }
    let Place {
        plugins,
        state,
        config,
        ..
    } = Place::find(global)?;
    if !plugins.is_dir() {
        let text = format!("there is no plugins folder `{}`", plugins.display());
        let hint =
            "`toolsmith new NAME` makes one with a first plugin, --plugins DIR names another";
        return Err(CommandError::usage(text).with_hint(hint.to_owned()));
    }
    let folder = Folder::open(&out_of(&plugins, out)?, &plugins)?;
    log::start(&state, global.quiet, global.verbose);
    let index = scan::scan(&plugins, &Trust::of(&state)).map_err(CommandError::failed)?;
    let mut options = Options::new(plugins, state, index.clone());
    options.quiet = global.quiet;
    options.config = config;
    if release {
        options.profile = Profile::Release;
    }
    let profile = options.profile;
    let inspector = Inspector::open(options).map_err(CommandError::failed)?;
    let Sorted {
        subjects,
        mut failed,
    } = Sorted::of(&index, !global.no_build);
    let inspected = tokio::select! {
        inspected = inspector.inspect(subjects) => inspected,
        () = interrupted() => return Err(CommandError::failed("interrupted")),
    };
    let mut finished = Vec::new();
    for one in inspected {
        match hand_on(&folder, &one) {
            Ok(library) => finished.extend(library),
            Err(reason) => failed.push(FailedPlugin {
                plugin: one.plugin,
                reason,
            }),
        }
    }
    let names: Vec<&PluginName> = failed.iter().map(|one| &one.plugin).collect();
    let manifest = folder.conclude(profile.as_str(), finished, &names)?;
    Ok(show(global, &folder, &manifest, failed))
}

/// The folder to write to.
fn out_of(plugins: &Path, out: Option<&Path>) -> Result<PathBuf, CommandError> {
    match out {
        Some(out) => std::path::absolute(out).map_err(CommandError::usage),
        None => Ok(plugins.parent().unwrap_or(plugins).join(DEFAULT)),
    }
}

/// The name of a plugin's file: in it every `-` is `_`, as in cargo's own files.
fn file_of(plugin: &PluginName) -> String {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    format!("{prefix}{}{suffix}", plugin.as_str().replace('-', "_"))
}

/// What lies in the plugins folder: what can become a library, and what can't.
struct Sorted {
    subjects: Vec<Subject>,
    failed: Vec<FailedPlugin>,
}

impl Sorted {
    fn of(index: &Index, build: bool) -> Self {
        let refused = index.refused.iter();
        let mut failed: Vec<FailedPlugin> = refused
            .map(|(name, refused)| FailedPlugin {
                plugin: name.clone(),
                reason: refused.reason.clone(),
            })
            .collect();
        let mut files: BTreeMap<String, &PluginName> = BTreeMap::new();
        let mut subjects = Vec::new();
        for (name, found) in &index.plugins {
            if matches!(found, Found::Crate(manifest) if manifest.origin.is_confined()) {
                let reason = format!(
                    "a model wrote it, and a finished library does not show that: read it and run \
                     `toolsmith trust {name}`"
                );
                failed.push(FailedPlugin {
                    plugin: name.clone(),
                    reason,
                });
                continue;
            }
            let file = file_of(name);
            if let Some(first) = files.get(&file) {
                let reason = format!(
                    "its library would be `{file}`, which is that of plugin `{first}`: names must \
                     differ in more than `-` and `_`"
                );
                failed.push(FailedPlugin {
                    plugin: name.clone(),
                    reason,
                });
                continue;
            }
            files.insert(file, name);
            subjects.push(Subject {
                plugin: name.clone(),
                found: found.clone(),
                build: build && matches!(found, Found::Crate(_)),
            });
        }
        Self { subjects, failed }
    }
}

/// Puts a library into the folder; nothing for a crate that has no tools.
fn hand_on(folder: &Folder, one: &Inspected) -> Result<Option<FinishedLibrary>, String> {
    if one.is_empty {
        let text = format!(
            "`{}` declares no tool, so there is no library of it",
            one.plugin
        );
        output::say(&text);
        return Ok(None);
    }
    let (Some(stored), Some(introduced)) = (&one.library, &one.introduced) else {
        let reasons: Vec<&str> = one.reasons.iter().map(|one| one.message.as_str()).collect();
        return Err(reasons.join("; "));
    };
    let StoredLibrary {
        hash,
        size,
        judgement,
        ..
    } = stored;
    let file = file_of(&one.plugin);
    folder.put(&file, stored)?;
    let tools = introduced.tools.iter();
    Ok(Some(FinishedLibrary {
        file,
        plugin: one.plugin.clone(),
        hash: *hash,
        size: *size,
        profile: None,
        stamp: Stamp::of(judgement),
        tools: tools.map(|(_, tool)| tool.name.clone()).collect(),
    }))
}

fn show(global: &Global, folder: &Folder, manifest: &Manifest, failed: Vec<FailedPlugin>) -> Exit {
    let exit = if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    };
    for FailedPlugin { plugin, reason } in &failed {
        output::complain(&format!("plugin `{plugin}`: {}", plain(reason)), "");
    }
    let output = Output::new(Box::new(std::io::stdout()), global.json);
    let path = folder.path().to_owned();
    if global.json {
        output.json(&HandedOn {
            manifest,
            path,
            failed,
        });
        return exit;
    }
    for library in &manifest.libraries {
        let tools = library.tools.join(", ");
        let file = path.join(&library.file);
        output.text(&format!("{}: {tools}", file.display()));
    }
    exit
}
