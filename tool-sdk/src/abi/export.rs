//! The plugin's side of the root module: the functions that a host calls.
//!
//! Each one catches panics, since an unwinding that reached the host would end its process.

use std::time::Duration;

use abi_stable::export_root_module;
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::std_types::RStr;

use super::{
    HostServices, Invocation, PluginModule, PluginModuleRef, Reply, Status, TaskId, ToolIndex,
};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::private::{panic_reply, parse_args, parse_for, reply};
use crate::tool::{self, Entry, PluginDescription, ToolRecord};
use crate::{log, panic, state};

/// The root module that every plugin exports.
#[export_root_module]
pub(crate) fn root_module() -> PluginModuleRef {
    PluginModule {
        connect,
        describe,
        prepare,
        validate,
        call,
        start,
        cancel,
        panic_on_purpose,
        open,
        retire,
    }
    .leak_into_prefix()
}

fn find(index: ToolIndex) -> Result<&'static ToolRecord, ToolError> {
    usize::try_from(index)
        .ok()
        .and_then(|index| tool::sorted().get(index).copied())
        .ok_or_else(|| ToolError::new(format!("the plugin has no tool number {index}")))
}

/// Runs `body` and answers its panic.
fn guarded(body: impl FnOnce() -> Reply) -> Reply {
    panic::catch(body).unwrap_or_else(|report| panic_reply(&report))
}

extern "C" fn connect(services: HostServices) -> Reply {
    guarded(|| {
        panic::install_hook();
        log::connect(services);
        Reply::new(Status::VALUE, "null")
    })
}

extern "C" fn describe() -> Reply {
    guarded(|| {
        let description = PluginDescription {
            tools: tool::sorted().iter().map(|tool| tool.describe()).collect(),
            states: state::described(),
        };
        match serde_json::to_string(&description) {
            Ok(json) => Reply::new(Status::VALUE, json),
            Err(error) => reply(Err(error.into())),
        }
    })
}

extern "C" fn prepare(index: ToolIndex, arguments: RStr<'_>) -> Reply {
    guarded(|| {
        let prepared = find(index).and_then(|tool| {
            let args = parse_args(arguments.as_str())?;
            let args = tool
                .prepare
                .map_or(Ok(args.clone()), |prepare| prepare(args))?;
            Ok(serde_json::to_string(&args)?)
        });
        match prepared {
            Ok(json) => Reply::new(Status::VALUE, json),
            Err(error) => reply(Err(error)),
        }
    })
}

extern "C" fn validate(index: ToolIndex, arguments: RStr<'_>) -> Reply {
    guarded(|| {
        let verdict = find(index).and_then(|tool| {
            let args = parse_args(arguments.as_str())?;
            Ok(tool.validate.map_or(Ok(()), |validate| validate(&args)))
        });
        match verdict {
            Ok(Ok(())) => Reply::new(Status::VALUE, "null"),
            Ok(Err(reason)) => Reply::new(Status::TEXT, reason),
            Err(error) => reply(Err(error)),
        }
    })
}

extern "C" fn call(index: ToolIndex, invocation: Invocation<'_>) -> Reply {
    guarded(|| {
        let outcome = find(index).and_then(|tool| {
            let mut args = parse_for(tool, invocation.arguments.as_str())?;
            let states = state::current(tool.package);
            let call_id = invocation.call_id.as_str();
            let context = ToolContext::for_host(call_id, invocation.port, states);
            match tool.entry {
                Entry::Blocking(entry) => entry(&mut args, &context),
                Entry::Async(_) => Err(ToolError::new("an async tool must be started, not called")),
            }
        });
        reply(outcome)
    })
}

extern "C" fn start(index: ToolIndex, invocation: Invocation<'_>) -> TaskId {
    let port = invocation.port.clone();
    match panic::catch(|| try_start(index, invocation)) {
        Ok(Ok(task)) => task,
        Ok(Err(error)) => {
            port.complete(reply(Err(error)));
            0
        }
        Err(report) => {
            port.complete(panic_reply(&report));
            0
        }
    }
}

#[cfg(feature = "async")]
fn try_start(index: ToolIndex, invocation: Invocation<'_>) -> Result<TaskId, ToolError> {
    let tool = find(index)?;
    let Entry::Async(entry) = tool.entry else {
        return Err(ToolError::new("a plain tool must be called, not started"));
    };
    let args = parse_for(tool, invocation.arguments.as_str())?;
    let port = invocation.port;
    let states = state::current(tool.package);
    let context = ToolContext::for_host(invocation.call_id.as_str(), port.clone(), states);
    Ok(crate::runtime::start(
        move |context| entry(args, context),
        context,
        port,
    ))
}

#[cfg(not(feature = "async"))]
fn try_start(_: ToolIndex, _: Invocation<'_>) -> Result<TaskId, ToolError> {
    Err(ToolError::new(
        "this plugin was built without the feature `async` of tool-sdk",
    ))
}

extern "C" fn cancel(task: TaskId) {
    #[cfg(feature = "async")]
    log_panic("cancel", || crate::runtime::cancel(task));
    #[cfg(not(feature = "async"))]
    let _ = task;
}

extern "C" fn panic_on_purpose() -> Reply {
    // Past the hook: only the unwinding is in question, and a backtrace takes tens of milliseconds.
    guarded(|| std::panic::resume_unwind(Box::new("on purpose")))
}

extern "C" fn open(package: RStr<'_>, settings: RStr<'_>) -> Reply {
    guarded(|| {
        let opened = parse_args(settings.as_str())
            .and_then(|settings| state::open(package.as_str(), &settings));
        match opened {
            Ok(()) => Reply::new(Status::VALUE, "null"),
            Err(error) => reply(Err(error)),
        }
    })
}

extern "C" fn retire(deadline_ms: u64) {
    log_panic("retire", state::close);
    #[cfg(feature = "async")]
    log_panic("retire", || {
        crate::runtime::retire(Duration::from_millis(deadline_ms));
    });
    #[cfg(not(feature = "async"))]
    let _ = Duration::from_millis(deadline_ms);
}

fn log_panic(what: &str, body: impl FnOnce()) {
    if let Err(report) = panic::catch(body) {
        log::error(&format!("panic in {what}: {report}"));
    }
}
