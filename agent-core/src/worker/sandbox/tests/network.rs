//! Connections.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};

use super::{Confinement, Place, act, check};

#[test]
fn nobody_is_connected_to() {
    check(
        "network::nobody_is_connected_to",
        Place::confinement,
        &[
            act("TCP", "EPERM", connect),
            act("TCP server", "EPERM", |_| {
                TcpListener::bind("127.0.0.1:0").map(drop)
            }),
            act("UDP", "EPERM", send),
            act("socket in the file system", "EPERM", |place| {
                UnixStream::connect(place.path("socket")).map(drop)
            }),
            act("abstract socket", "EPERM", |_| abstract_socket()),
            act("pair of datagram sockets", "EPERM", |_| {
                UnixDatagram::pair().map(drop)
            }),
            act("connected pair", "ok", |_| UnixStream::pair().map(drop)),
        ],
    );
}

/// The services of the system stay closed: they do for anyone what he may do.
#[test]
fn only_the_internet_is_connected_to_where_that_is_granted() {
    check(
        "network::only_the_internet_is_connected_to_where_that_is_granted",
        |place| Confinement {
            raw_sockets: true,
            ..place.confinement()
        },
        &[
            act("TCP", "ok", connect),
            act("TCP server", "ok", |_| {
                TcpListener::bind("127.0.0.1:0").map(drop)
            }),
            act("UDP", "ok", send),
            act("socket in the file system", "EPERM", |place| {
                UnixStream::connect(place.path("socket")).map(drop)
            }),
            act("abstract socket", "EPERM", |_| abstract_socket()),
        ],
    );
}

fn connect(place: &Place) -> io::Result<()> {
    TcpStream::connect(("127.0.0.1", place.tcp)).map(drop)
}

fn send(place: &Place) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.send_to(b"x", ("127.0.0.1", place.udp)).map(drop)
}

fn abstract_socket() -> io::Result<()> {
    let name = format!("sandbox-test-{}", std::process::id());
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?).map(drop)
}
