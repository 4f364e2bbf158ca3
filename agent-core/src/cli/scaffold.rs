//! `toolsmith new`: a plugin crate that is ready to build.

use super::context::Place;
use super::contract::Made;
use super::output::Output;
use super::{CommandError, Exit, Global, output};
use crate::build::{sdk, template};

pub(super) fn new(global: &Global, name: &str) -> Result<Exit, CommandError> {
    let Place {
        plugins,
        state,
        config,
        ..
    } = Place::find(global)?;
    let configured = config.sdk.path.as_ref();
    let configured = configured
        .map(|path| path.resolve(&|name| std::env::var(name).ok()))
        .transpose()
        .map_err(CommandError::usage)?;
    let sdk = sdk::resolve(configured.as_deref(), &plugins, &state).map_err(|error| {
        let hint = error.hint();
        CommandError::failed(error).with_hint(hint)
    })?;
    let project = plugins.parent().unwrap_or(&plugins);
    let request = template::NewCrate {
        name,
        plugins: &plugins,
        project,
        sdk: &sdk,
    };
    let path = template::create(request).map_err(|error| {
        let hint = error.hint();
        let refused = match error {
            template::NewCrateError::Io(_) => CommandError::failed(error),
            _ => CommandError::usage(error),
        };
        refused.with_hint(hint)
    })?;
    let output = Output::new(Box::new(std::io::stdout()), global.json);
    if global.json {
        output.json(&Made {
            path,
            package: Some(name.to_owned()),
        });
    } else {
        output.text(&format!("{}", path.display()));
        output::say("its tool is in src/lib.rs; `toolsmith list` builds it and shows its name");
    }
    Ok(Exit::Done)
}
