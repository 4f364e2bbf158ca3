//! A program that runs confined: a helper confines itself and then becomes it.
//!
//! Owns the start. What the program prints, how long it may run and what it means is its starter's.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::Child;

use super::client::{Environment, HelperError, Spawned, grouped, spawn};
use super::frames;
use super::helpers::{Helpers, Sandbox};
use super::program::HelperProgram;
use super::protocol::{Answer, Hello, Request};
use super::sandbox::cgroup::Group;
use crate::limits::HELPER_START;

/// A program that is confined with all that it starts.
#[derive(Debug)]
pub struct Running {
    /// Its process, which leads a group of its own. Its output is piped. It is killed when this is
    /// dropped; its children are, where the system has control groups for us.
    pub child: Child,
    /// What has to stay as long as it runs.
    pub surroundings: Surroundings,
}

/// The control group of a confined program and the folder for its own files.
#[derive(Debug)]
pub struct Surroundings {
    _group: Option<Group>,
    _scratch: Option<TempDir>,
}

impl Helpers {
    /// Starts a program, confined, in a new folder of its own, which is removed afterwards; `HOME` and
    /// `TMPDIR` name it.
    ///
    /// # Errors
    ///
    /// There is no helper program, it can't be confined as was asked for, or can't become the
    /// program. Nothing has run then.
    pub async fn run_confined(
        &self,
        sandbox: &Sandbox,
        program: PathBuf,
        arguments: Vec<OsString>,
    ) -> Result<Running, HelperError> {
        let helper = self.program().await?;
        let environment = Environment::Bare {
            variables: sandbox.variables.clone(),
            scratch: self.scratch().clone(),
        };
        let of_helper = |source| not_started(helper.path(), source);
        let Spawned {
            child,
            mut socket,
            scratch,
        } = spawn(&helper, &environment).map_err(of_helper)?;
        greet(&helper, &mut socket).await?;
        let mut confinement = sandbox.confinement.clone();
        if let Some(scratch) = &scratch {
            scratch.path().clone_into(&mut confinement.scratch);
        }
        let group = grouped(&child, Group::new(&confinement.limits));
        confinement.limits.grouped = group.is_some();
        let running = Running {
            child,
            surroundings: Surroundings {
                _group: group,
                _scratch: scratch,
            },
        };
        let request = Request::Confine(Box::new(confinement));
        match ask(&mut socket, &request).await.map_err(of_helper)? {
            Some(Answer::Confined(_)) => {}
            Some(Answer::NotConfined(reason)) => return Err(HelperError::NotConfined(reason)),
            other => return Err(HelperError::NotConfined(format!("it said {other:?}"))),
        }
        let request = Request::Run {
            program: program.clone().into_os_string(),
            arguments,
        };
        let reason = match ask(&mut socket, &request).await.map_err(of_helper)? {
            // The socket is closed by becoming the program.
            None => return Ok(running),
            Some(Answer::NotRun(reason)) => reason,
            Some(other) => format!("it said {other:?}"),
        };
        Err(not_started(&program, io::Error::other(reason)))
    }
}

async fn greet(helper: &HelperProgram, socket: &mut UnixStream) -> Result<(), HelperError> {
    let hello: Option<Hello> = hear(socket)
        .await
        .map_err(|source| not_started(helper.path(), source))?;
    let said = |hello: &Hello| format!("protocol {}, {}", hello.protocol, hello.abi);
    match hello {
        Some(hello) if hello.fits() => Ok(()),
        other => Err(HelperError::NoHelper {
            path: helper.path().to_owned(),
            expected: said(&Hello::own()),
            found: other.as_ref().map_or_else(|| "nothing".to_owned(), said),
        }),
    }
}

async fn ask(socket: &mut UnixStream, request: &Request) -> io::Result<Option<Answer>> {
    frames::send(socket, request).await?;
    hear(socket).await
}

async fn hear<T: DeserializeOwned>(socket: &mut UnixStream) -> io::Result<Option<T>> {
    let heard = tokio::time::timeout(HELPER_START, frames::receive(socket)).await;
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    Ok(heard.map_err(late)??.map(|(message, _)| message))
}

fn not_started(path: &Path, source: io::Error) -> HelperError {
    HelperError::Start {
        path: path.to_owned(),
        source,
    }
}
