//! What plugins reach of the network through the host: HTTP requests, made for them.
//!
//! Owns the check of every hop against the grants of a plugin, redirects and limits. Does not own the
//! way of a request from the tool to here, which is `plugin::http`'s.
//!
//! A grant is one host and one port, exactly: no wildcards, no subdomains, no other spelling of an
//! address. It is a name, not an address: where a name leads is the business of the machine's resolver,
//! so a granted name that is made to point into the own network is followed there. What a plugin does
//! with sockets of its own is not seen here; only a sandbox keeps it from having any.
//!
//! Proxies are the system's, as for models, and none for servers on this machine. Nothing that may be
//! secret is logged or told in an error: of an address scheme, host and port.

#[cfg(feature = "http")]
mod clients;
#[cfg(feature = "http")]
mod exchange;
#[cfg(feature = "http")]
mod failure;
#[cfg(feature = "http")]
mod grants;
#[cfg(feature = "http")]
mod request;
#[cfg(all(test, feature = "http"))]
mod tests;

use std::fmt;
use std::sync::Arc;

use tool_sdk::ToolError;

use crate::config::NetworkGrant;
use crate::ids::PluginName;
use crate::plugin::{HttpRequest, HttpResponse, HttpService};
use crate::tool::{BoxFuture, Isolation};

/// Says which servers a plugin is granted; `None` where nobody decided it.
pub type GrantsOf = dyn Fn(&PluginName) -> Option<Vec<NetworkGrant>> + Send + Sync;

/// Makes the requests of plugins. Clones share connections and limits.
#[derive(Clone)]
pub struct Network(Arc<Shared>);

struct Shared {
    /// Asked for every hop, so that what a person decides holds at once.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "nothing is reached without the feature")
    )]
    grants: Box<GrantsOf>,
    #[cfg(feature = "http")]
    clients: clients::Clients,
    #[cfg(feature = "http")]
    turns: exchange::Turns,
}

impl Network {
    /// Plugins reach what these grants say.
    pub fn new(
        grants: impl Fn(&PluginName) -> Option<Vec<NetworkGrant>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            grants: Box::new(grants),
            #[cfg(feature = "http")]
            clients: clients::Clients::default(),
            #[cfg(feature = "http")]
            turns: exchange::Turns::default(),
        }))
    }

    /// The requests of one plugin. Where nobody granted it anything, a sandboxed one reaches nothing,
    /// and any other everything.
    pub fn of(&self, plugin: &PluginName, isolation: Isolation) -> Arc<dyn HttpService> {
        Arc::new(PluginNetwork {
            network: Arc::clone(&self.0),
            plugin: plugin.clone(),
            isolation,
        })
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

/// The network as one plugin has it.
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "nothing is reached without the feature")
)]
struct PluginNetwork {
    network: Arc<Shared>,
    plugin: PluginName,
    isolation: Isolation,
}

impl HttpService for PluginNetwork {
    #[cfg(feature = "http")]
    fn fetch(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        Box::pin(self.make(request))
    }

    #[cfg(not(feature = "http"))]
    fn fetch(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        let text = "this host was built without the feature `http` of agent-core, so it makes no \
                    HTTP requests for tools";
        let error = ToolError::of(tool_sdk::ErrorKind::Unavailable, text);
        Box::pin(async { Err(error) })
    }
}
