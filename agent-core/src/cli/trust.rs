//! `toolsmith trust NAME`: a person vouches for a plugin that a model wrote.

use super::context::Place;
use super::contract::Trusting;
use super::output::{Output, plain};
use super::{CommandError, Exit, Global, output};
use crate::registry::trust::{TrustError, Vouched, vouch_for};

pub(super) fn run(global: &Global, name: &str) -> Result<Exit, CommandError> {
    let Place { plugins, state, .. } = Place::find(global)?;
    let vouched = vouch_for(&plugins, &state, name).map_err(|error| match error {
        TrustError::Unknown { .. } => CommandError::usage(error),
        _ => CommandError::failed(error),
    })?;
    let output = Output::new(Box::new(std::io::stdout()), global.json);
    if global.json {
        output.json(&Trusting::of(name, &vouched));
        return Ok(Exit::Done);
    }
    match vouched {
        Vouched::Trusted { path, .. } => {
            let path = plain(&path.display().to_string());
            output.text(&format!("`{name}` is trusted as it is now: {path}"));
            output::say(
                "it is built without a sandbox and runs in this process with your rights, unless \
                 toolsmith.toml says otherwise; when a file of it changes, it is a model's again",
            );
        }
        Vouched::Already { .. } => output.text(&format!("`{name}` is trusted already")),
        Vouched::NotWritten { .. } => output.text(&format!(
            "`{name}` was not written by a model: there is nothing to trust"
        )),
    }
    Ok(Exit::Done)
}
