//! Connections, and requests that the host makes.

use std::time::Duration;

use agent_core::config::Isolation;
use serde_json::json;

use super::site::Site;
use super::{Attempt, check, escape, of_root, try_all};
use crate::http::server::Server;

const CONNECTIONS: [Attempt; 11] = [
    escape("connect by TCP", "EPERM"),
    escape("listen for TCP", "EPERM"),
    escape("send by UDP", "EPERM"),
    escape("resolve a name", "address not available"),
    escape("connect to a local service", "EPERM"),
    escape("connect to a service without a file", "EPERM"),
    escape("make a pair for datagrams", "EPERM"),
    escape("make a stream pair", "ok"),
    escape("make a netlink socket", "EPERM"),
    of_root("make a raw socket", "EPERM"),
    of_root("make a packet socket", "EPERM"),
];

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_connected_to() {
    check(&CONNECTIONS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_sockets_granted_the_internet_is_reached_and_local_services_are_not() {
    let site = Site::new(Isolation::Sandbox, "grants.sockets = true").await;
    let expected = [
        ("connect by TCP", "ok"),
        ("listen for TCP", "ok"),
        ("send by UDP", "ok"),
        ("resolve a name", "ok"),
        ("connect to a local service", "EPERM"),
        ("connect to a service without a file", "EPERM"),
        ("make a netlink socket", "EPERM"),
        ("make a raw socket", "EPERM"),
    ];
    try_all(&site, "with sockets", expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_asks_only_servers_that_are_granted() {
    let server = Server::start().await;
    let site = Site::new(Isolation::Sandbox, "").await;
    let ask = json!({"url": server.url("/x")});
    let refused = site.text("ask", ask.clone()).await;
    let needed = format!("127.0.0.1:{}", server.port);
    let grant = format!("grants.network = [\"{needed}\"]");
    assert!(refused.contains("may not reach"), "{refused}");
    assert!(refused.contains(&grant), "{refused}");
    assert_eq!(server.lines(), [""; 0]);

    let pid = site.text("pid", json!({})).await;
    site.configure(Isolation::Sandbox, &grant).await;
    assert_eq!(site.text("ask", ask).await, "GET /x ");
    // It holds for the process that runs.
    assert_eq!(site.text("pid", json!({})).await, pid);
}

/// A request that the process makes behind the back of what the host has put into it is checked like
/// every other.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_request_is_refused_by_the_host() {
    let (granted, other) = (Server::start().await, Server::start().await);
    let forge = json!({"url": granted.url("/x"), "instead": other.url("/forged")});
    let site = Site::new(Isolation::Worker, "").await;
    assert_eq!(site.text("forge", forge.clone()).await, "GET /x ");
    other.until(1, 0).await;

    let grant = format!("grants.network = [\"127.0.0.1:{}\"]", granted.port);
    let site = Site::new(Isolation::Sandbox, &grant).await;
    assert_eq!(site.text("forge", forge).await, "GET /x ");
    // What is made at all is made at once.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(other.lines().len(), 1);
    site.assert_alive().await;
}
