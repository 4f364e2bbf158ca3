//! Why a try failed: the words for it, and whether another try may help.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION};
use serde_json::Value;

use super::place::Place;
use crate::agent::model::{ModelError, ModelErrorKind as Kind};
use crate::format::FormatError;
use crate::format::received;
use crate::json_text::shortened;
use crate::transport::{is_distrust, root_cause};

/// How much is shown of what is no answer, in characters.
const STARTS: usize = 100;

/// A try that failed.
pub(super) struct Failure {
    pub(super) error: ModelError,
    /// Whether another try may help.
    pub(super) again: bool,
}

impl Failure {
    fn new(kind: Kind, again: bool, text: String) -> Self {
        Self {
            error: ModelError::new(kind, text),
            again,
        }
    }

    /// The error after this many tries.
    pub(super) fn told(mut self, tried: u32) -> ModelError {
        if tried > 1 {
            let text = &self.error.message;
            self.error.message = format!("{text} (tried {tried} times)");
        }
        self.error
    }

    /// The request did not get through, or its answer broke off.
    pub(super) fn of_transport(place: &Place, error: reqwest::Error) -> Self {
        // The address may hold a key.
        let error = error.without_url();
        let (base_url, cause) = (&place.base_url, place.quoted(&root_cause(&error)));
        if is_distrust(&error) {
            let text = format!(
                "{base_url} shows a certificate that this machine does not trust: {cause}; if it is \
                 yours, add it to the system's, or name its file in the variable `SSL_CERT_FILE`"
            );
            return Self::new(Kind::Unreachable, false, text);
        }
        if error.is_connect() {
            let setting = place.setting("base_url");
            let text = format!(
                "no server answers at {base_url}: {cause}; start it, or set {setting} to where it is"
            );
            return Self::new(Kind::Unreachable, true, text);
        }
        let text = format!("the connection to {base_url} broke: {cause}");
        Self::new(Kind::Cut, true, text)
    }

    /// The server has been silent for this long.
    pub(super) fn of_silence(place: &Place, limit: Duration) -> Self {
        let (base_url, setting) = (&place.base_url, place.setting("timeout"));
        let text = format!(
            "{base_url} has said nothing for {limit:?}; if its model needs longer, raise {setting}"
        );
        Self::new(Kind::Timeout, false, text)
    }

    /// The answer is longer than any answer.
    pub(super) fn of_length(place: &Place, limit: usize) -> Self {
        let text = format!(
            "the answer of {} is longer than {limit} bytes",
            place.base_url
        );
        Self::new(Kind::Malformed, false, text)
    }

    /// The answer can't be read, or says that there is none.
    pub(super) fn of_format(place: &Place, error: &FormatError) -> Self {
        let base_url = &place.base_url;
        match error {
            FormatError::Server { code, message } => {
                let (kind, again) = judged(code);
                let words = place.quoted(message);
                let text = match kind {
                    Kind::Unauthorized => unauthorized(place, &words),
                    Kind::NotFound => no_model(place, &words),
                    _ => format!("{base_url} reports a failure: {words}"),
                };
                Self::new(kind, again, text)
            }
            FormatError::Cut => Self::new(
                Kind::Cut,
                true,
                format!("the answer of {base_url} broke off before the model had finished it"),
            ),
            other => {
                let setting = place.setting("base_url");
                let text = place.quoted(&other.to_string());
                Self::new(
                    Kind::Malformed,
                    false,
                    format!(
                        "{base_url} answers in another dialect: {text}; check {setting} and the provider"
                    ),
                )
            }
        }
    }

    /// A web page came instead of an answer.
    pub(super) fn of_page(place: &Place, status: StatusCode, page: &str) -> Self {
        let setting = place.setting("base_url");
        let again = is_passing(status);
        let kind = match status {
            _ if again => Kind::Overloaded,
            StatusCode::NOT_FOUND => Kind::NotFound,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Kind::Unauthorized,
            _ => Kind::Malformed,
        };
        let title = title(page).map(|title| format!(" \"{}\"", place.quoted(title)));
        let text = format!(
            "{} answers with a web page{} (HTTP {}) instead of a model's answer; check {setting}, \
             and the proxy if there is one",
            place.base_url,
            title.unwrap_or_default(),
            status.as_u16(),
        );
        Self::new(kind, again, text)
    }

    /// Something came that is no answer of any dialect.
    pub(super) fn of_kind(place: &Place, kind: &str, start: &str) -> Self {
        let setting = place.setting("base_url");
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let kind = if kind.is_empty() { "text" } else { kind };
        let text = format!(
            "{} gives no model's answer: expected JSON or a stream of events, found {} that starts \
             with \"{}\"; check {setting} and the provider",
            place.base_url,
            place.quoted(kind),
            shortened(&place.quoted(start), STARTS),
        );
        Self::new(Kind::Malformed, false, text)
    }

    /// The server refuses.
    pub(super) fn of_status(
        place: &Place,
        status: StatusCode,
        headers: &HeaderMap,
        body: &str,
    ) -> Self {
        let (code, words) = said(place, body);
        let base_url = &place.base_url;
        let http = format!("HTTP {}", status.as_u16());
        let words = if words.is_empty() {
            http
        } else {
            format!("{words} ({http})")
        };
        let refuses = |kind, text: String| Self::new(kind, false, text);
        let failure = match status {
            _ if status.is_redirection() => {
                let target = headers.get(LOCATION).and_then(|to| to.to_str().ok());
                let target = super::place::shown(target.unwrap_or("an unknown address"));
                let (target, setting) = (place.quoted(&target), place.setting("base_url"));
                refuses(
                    Kind::NotFound,
                    format!(
                        "{base_url} sends on to {target}, where the key must not follow by itself; \
                         if that is the server, write its address in {setting}"
                    ),
                )
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                refuses(Kind::Unauthorized, unauthorized(place, &words))
            }
            _ if names_no_model(&code) => refuses(Kind::NotFound, no_model(place, &words)),
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                refuses(Kind::NotFound, not_found(place, &words))
            }
            StatusCode::TOO_MANY_REQUESTS => Self::new(
                Kind::RateLimited,
                !is_used_up(&code),
                format!("{base_url} takes no more requests now: {words}"),
            ),
            _ if is_passing(status) => Self::new(
                Kind::Overloaded,
                true,
                format!("{base_url} can't answer now: {words}"),
            ),
            _ => refuses(
                Kind::Refused,
                format!("{base_url} refuses the request: {words}"),
            ),
        };
        failure.heeding(headers)
    }

    /// Both big providers say themselves whether another try helps, and when.
    fn heeding(mut self, headers: &HeaderMap) -> Self {
        let told = headers.get("x-should-retry");
        self.again &= told.is_none_or(|told| told != "false");
        self.error.retry_after = super::retry::retry_after(headers, jiff::Timestamp::now());
        self
    }
}

fn unauthorized(place: &Place, words: &str) -> String {
    let (base_url, setting) = (&place.base_url, place.key_setting());
    if place.key.is_some() {
        format!("{base_url} refuses the key: {words}; check {setting}")
    } else {
        format!("{base_url} asks for a key: {words}; set {setting}")
    }
}

fn no_model(place: &Place, words: &str) -> String {
    let (base_url, model, setting) = (&place.base_url, &place.model, place.setting("name"));
    format!("{base_url} has no model \"{model}\": {words}; check {setting}")
}

fn not_found(place: &Place, words: &str) -> String {
    let (base_url, setting) = (&place.base_url, place.setting("base_url"));
    if place.has_version() {
        let (model, name) = (&place.model, place.setting("name"));
        return format!(
            "{base_url} has no model \"{model}\", or no chat there: {words}; check {name} and {setting}"
        );
    }
    format!(
        "{base_url} has no chat there: {words}; {setting} may lack `/v1` at its end, as in \
         \"{base_url}/v1\""
    )
}

/// The code and the words of a refusal; text that is no JSON is the words.
fn said(place: &Place, body: &str) -> (String, String) {
    let value = received::parse(body).unwrap_or(Value::Null);
    if let Some(FormatError::Server { code, message }) = received::failure(&value) {
        return (code, place.quoted(&message));
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let words = text("message").or_else(|| text("detail")).unwrap_or(body);
    let code = text("code").unwrap_or_default();
    (code.to_owned(), place.quoted(words))
}

/// What a failure within an answer means, by the server's word for it.
fn judged(code: &str) -> (Kind, bool) {
    match code {
        "authentication_error" | "permission_error" | "invalid_api_key" | "401" | "403" => {
            (Kind::Unauthorized, false)
        }
        "rate_limit_error" | "rate_limit_exceeded" | "429" => (Kind::RateLimited, true),
        "invalid_request_error" | "400" | "413" => (Kind::Refused, false),
        "overloaded_error"
        | "api_error"
        | "server_error"
        | "internal_server_error"
        | "timeout_error"
        | "500"
        | "502"
        | "503"
        | "504"
        | "529" => (Kind::Overloaded, true),
        code if names_no_model(code) => (Kind::NotFound, false),
        code if is_used_up(code) => (Kind::RateLimited, false),
        _ => (Kind::Other, false),
    }
}

fn names_no_model(code: &str) -> bool {
    ["model_not_found", "model_not_exist", "ModelNotFound"].contains(&code)
}

/// Waiting does not help an account without money.
fn is_used_up(code: &str) -> bool {
    ["insufficient_quota", "billing_error", "Arrearage"].contains(&code)
}

/// Statuses that pass: conflicts, timeouts, and whatever is wrong on the server's side.
fn is_passing(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS
    ) || status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

/// Whether a body is a web page.
pub(super) fn is_page(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

fn title(page: &str) -> Option<&str> {
    let (_, after) = page.split_once("<title>")?;
    let (title, _) = after.split_once("</title>")?;
    Some(title.trim()).filter(|title| !title.is_empty())
}
