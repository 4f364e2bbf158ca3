//! Why a request has no answer, in the words of a tool's author.

use std::time::Duration;

use tool_sdk::{ErrorKind, ToolError};

use crate::json_text::{one_line, shortened};
use crate::transport::{is_distrust, root_cause};

/// How much of a cause is told, in characters.
const QUOTED: usize = 300;

/// The request did not get through, or its answer broke off.
pub(super) fn of_transport(origin: &str, error: reqwest::Error) -> ToolError {
    // The address may hold a key.
    let error = error.without_url();
    let cause = shortened(&one_line(&root_cause(&error)), QUOTED);
    if is_distrust(&error) {
        let text =
            format!("{origin} shows a certificate that this machine does not trust: {cause}");
        let hint = "if it is yours, add it to the system's, or name its file in `SSL_CERT_FILE`";
        return ToolError::of(ErrorKind::Unavailable, text).with_hint(hint);
    }
    if error.is_connect() {
        let text = format!("no server answers at {origin}: {cause}");
        return ToolError::of(ErrorKind::Unavailable, text);
    }
    ToolError::new(format!("the connection to {origin} broke: {cause}"))
}

/// The time for the exchange is over.
pub(super) fn of_time(origin: &str, limit: Duration) -> ToolError {
    let text = format!("{origin} has not answered whole within {limit:?}");
    ToolError::of(ErrorKind::Timeout, text)
        .with_hint("the tool's author can give it longer: `.timeout(…)`")
}

/// The answer is too long.
pub(super) fn of_size(origin: &str, limit: u64) -> ToolError {
    ToolError::new(format!(
        "the answer of {origin} is longer than {limit} bytes"
    ))
    .with_hint("ask for less; the tool's author can allow more: `.max_size(…)`")
}

/// The plugin has too many requests open.
pub(super) fn of_number(limit: usize) -> ToolError {
    let text =
        format!("the plugin has {limit} requests open already, which is the most it may have");
    ToolError::of(ErrorKind::Unavailable, text).with_hint(FEWER)
}

/// The bodies of the plugin's requests are too long together.
pub(super) fn of_bodies(limit: usize) -> ToolError {
    let text = format!(
        "the bodies of the plugin's open requests would have more than {limit} bytes together"
    );
    ToolError::of(ErrorKind::Unavailable, text).with_hint(FEWER)
}

const FEWER: &str = "the tool's author can wait for answers before asking for more";

/// The request was sent on too often.
pub(super) fn of_redirects(origin: &str, limit: usize) -> ToolError {
    ToolError::new(format!(
        "the request was sent on more than {limit} times, at last by {origin}"
    ))
}
