//! What all HTTP clients of this program share: how they are built, and what their errors mean.
//!
//! Owns proxies, certificates and cryptography. Does not own what is sent, nor limits other than that
//! of a connection.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;

/// How this program calls itself.
pub(crate) const USER_AGENT: &str = concat!("toolsmith/", env!("CARGO_PKG_VERSION"));

/// A client for servers like this one, by scheme and nearness. It follows no redirects, and a proxy is
/// the system's.
pub(crate) fn client(url: &Url, connect: Duration) -> reqwest::ClientBuilder {
    // A program that has chosen its cryptography keeps it: then this does nothing.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(connect)
        .redirect(Policy::none());
    if url.scheme() == "http" {
        // A machine without certificates reaches its own servers all the same.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder
}

/// Why there is no client, and what helps.
pub(crate) fn no_client(error: &reqwest::Error) -> String {
    let reason = root_cause(error);
    format!(
        "no connections can be made: {reason}; where certificates are missing, install the package \
         `ca-certificates`"
    )
}

/// Whether the server is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match address(url) {
        Some(address) => address.is_loopback(),
        None => {
            matches!(url.host_str(), Some(host) if host == "localhost" || host.ends_with(".localhost"))
        }
    }
}

/// The address that a URL names instead of a host.
pub(crate) fn address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_matches(['[', ']']).parse().ok()
}

/// Whether a server's certificate is the reason: another try does not help then.
pub(crate) fn is_distrust(error: &(dyn Error + 'static)) -> bool {
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        return matches!(tls, rustls::Error::InvalidCertificate(_));
    }
    // What an I/O error wraps is not among its sources.
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match wrapped {
        Some(wrapped) => is_distrust(wrapped),
        None => error.source().is_some_and(is_distrust),
    }
}

/// The error that all others are about.
pub(crate) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distrust_is_no_lack_of_a_server() {
        let unknown = rustls::CertificateError::UnknownIssuer;
        let distrust = io::Error::other(rustls::Error::InvalidCertificate(unknown));
        assert!(is_distrust(&io::Error::other(distrust)));
        assert!(!is_distrust(&io::Error::other(rustls::Error::DecryptError)));
        assert!(!is_distrust(&io::Error::from(
            io::ErrorKind::ConnectionRefused
        )));
    }
}
