//! The clients that connections are made with: one for each kind of server, shared by all plugins.

use reqwest::{Client, Url};
use tokio::sync::OnceCell;
use tool_sdk::{ErrorKind, ToolError};

use crate::{limits, transport};

/// Made when they are first needed: certificates are read from the disk.
#[derive(Default)]
pub(super) struct Clients {
    plain: OnceCell<Client>,
    plain_here: OnceCell<Client>,
    encrypted: OnceCell<Client>,
    encrypted_here: OnceCell<Client>,
}

impl Clients {
    /// The client for this server.
    pub(super) async fn of(&self, url: &Url) -> Result<&Client, ToolError> {
        let client = match (url.scheme(), transport::is_loopback(url)) {
            ("http", false) => &self.plain,
            ("http", true) => &self.plain_here,
            (_, false) => &self.encrypted,
            (_, true) => &self.encrypted_here,
        };
        client.get_or_try_init(|| make(url.clone())).await
    }
}

async fn make(url: Url) -> Result<Client, ToolError> {
    let work = move || transport::client(&url, limits::HTTP_CONNECT).build();
    let built = tokio::task::spawn_blocking(work).await?;
    built.map_err(|error| ToolError::of(ErrorKind::Unavailable, transport::no_client(&error)))
}
