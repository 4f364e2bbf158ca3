//! The answer to a request, and what a tool makes of it.

use std::fmt;

use serde::de::DeserializeOwned;

use crate::abi::http::ResponseHead;
use crate::error::ToolError;

/// How much of a server's words goes into an error, in characters.
const QUOTED: usize = 300;

/// What a server answered, whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    head: ResponseHead,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn of(head: ResponseHead, body: Vec<u8>) -> Self {
        Self { head, body }
    }

    /// An answer as tests give it: see [`testing::run_answering`](crate::testing::run_answering).
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let head = ResponseHead {
            status,
            origin: "the server".to_owned(),
            ..ResponseHead::default()
        };
        Self::of(head, body.into())
    }

    /// The same answer with one more header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        let header = (name.to_ascii_lowercase(), value.into());
        self.head.headers.push(header);
        self
    }

    /// The status, such as 200.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Whether the status is one of success: 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.head.status)
    }

    /// The answer, if its status is one of success.
    ///
    /// # Errors
    /// Names the server, the status and the beginning of the body.
    pub fn error_for_status(self) -> Result<Self, ToolError> {
        if self.is_success() {
            return Ok(self);
        }
        let (origin, status) = (&self.head.origin, self.head.status);
        let words = shortened(&String::from_utf8_lossy(&self.body));
        let colon = if words.is_empty() { "" } else { ": " };
        let text = format!("{origin} answers with status {status}{colon}{words}");
        Err(ToolError::new(text))
    }

    /// The first header of this name, in whatever letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers();
        headers.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }

    /// Every header, by its name in small letters.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let headers = self.head.headers.iter();
        headers.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The body as text.
    ///
    /// # Errors
    /// It is no UTF-8; [`Response::bytes`] has it all the same.
    pub fn text(&self) -> Result<&str, ToolError> {
        let text = std::str::from_utf8(&self.body).map_err(|error| {
            let text = format!(
                "the answer of {} is no UTF-8 text: {error}",
                self.described()
            );
            ToolError::new(text)
        })?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// The body read as JSON.
    ///
    /// # Errors
    /// It is no JSON, or JSON of another shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_str(self.text()?).map_err(|error| self.unexpected(&error))
    }

    /// The body.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The body, given away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.body
    }

    fn unexpected(&self, error: &serde_json::Error) -> ToolError {
        let words = shortened(&String::from_utf8_lossy(&self.body));
        let from = self.described();
        let text = format!("the answer of {from} is not the expected JSON: {error}");
        ToolError::new(text).with_hint(format!("it begins with: {words}"))
    }

    /// The server, and what it says that it sent.
    fn described(&self) -> String {
        let (origin, status) = (&self.head.origin, self.head.status);
        match self.header("content-type") {
            Some(kind) => format!("{origin} (status {status}, {kind})"),
            None => format!("{origin} (status {status})"),
        }
    }
}

impl fmt::Debug for Response {
    /// Without headers and body, which may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.head.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The beginning of a text on one line.
fn shortened(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= QUOTED {
        return words;
    }
    let beginning: String = words.chars().take(QUOTED).collect();
    format!("{beginning}…")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn failures_name_the_server_the_status_and_its_words() {
        let response = Response::new(404, "no such\n  city");
        assert_eq!(
            response.error_for_status().unwrap_err().message(),
            "the server answers with status 404: no such city"
        );
        let silent = Response::new(500, "").error_for_status().unwrap_err();
        assert_eq!(silent.message(), "the server answers with status 500");
        let long = Response::new(500, "x".repeat(1000));
        let long = long.error_for_status().unwrap_err();
        assert!(long.message().ends_with("xx…"), "{long}");
        assert!(long.message().len() < 400, "{long}");
        assert!(Response::new(204, "").error_for_status().is_ok());
    }

    #[test]
    fn json_of_another_shape_is_shown() {
        let page = Response::new(200, "<html>").with_header("Content-Type", "text/html");
        let error = page.json::<Value>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the answer of the server (status 200, text/html) is not the expected JSON: expected value \
             at line 1 column 1\nit begins with: <html>"
        );
        assert_eq!(page.header("CONTENT-type"), Some("text/html"));
        let marked = Response::new(200, "\u{feff}{\"a\": 1}");
        assert_eq!(marked.json::<Value>().unwrap(), json!({"a": 1}));
        let latin = Response::new(200, b"caf\xe9".to_vec());
        assert!(latin.text().unwrap_err().message().contains("no UTF-8"));
        assert_eq!(latin.bytes(), b"caf\xe9");
    }
}
