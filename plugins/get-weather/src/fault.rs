//! Why there is no weather report: what was expected, what was found, and what to do next.

use std::fmt;
use std::time::Duration;

/// How much of a foreign text is quoted.
const QUOTED: usize = 80;

/// A request that cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// What was given cannot be a city.
    NoCity {
        /// What it is instead.
        found: String,
    },
    /// The service knows no such place.
    UnknownCity {
        /// What was asked for.
        city: String,
        /// Places of that name elsewhere.
        known: Vec<String>,
    },
    /// The environment names an address that is none.
    BadAddress {
        /// The variable.
        variable: &'static str,
        /// Its value.
        found: String,
    },
    /// No answer came: no network, no such host, a refused or broken connection.
    Unreachable {
        /// The service's host.
        host: String,
        /// What happened.
        problem: String,
    },
    /// The answer did not come in time.
    TooSlow {
        /// The service's host.
        host: String,
        /// The time it had.
        limit: Duration,
    },
    /// The service answered with an error.
    Status {
        /// The service's host.
        host: String,
        /// The HTTP status with its name.
        status: String,
        /// The service's own explanation.
        reason: Option<String>,
    },
    /// The answer is longer than any weather report.
    TooLarge {
        /// The service's host.
        host: String,
        /// The number of bytes that are read.
        limit: u64,
    },
    /// The answer is not JSON.
    NotJson {
        /// The service's host.
        host: String,
        /// Where and why it could not be read.
        problem: String,
        /// How the answer begins.
        beginning: String,
    },
    /// The answer is JSON, but lacks what is needed.
    Field {
        /// JSON pointer to the place.
        pointer: String,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
}

impl Fault {
    /// The fault of an answer that is not JSON.
    #[must_use]
    pub fn not_json(host: String, error: &serde_json::Error, body: &[u8]) -> Self {
        let beginning = quoted(&String::from_utf8_lossy(body));
        Self::NotJson {
            host,
            problem: error.to_string(),
            beginning,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::NoCity { .. } => "Pass the name of a city, e.g. 'Tokyo' or 'Portland, Oregon'.",
            Self::UnknownCity { known, .. } if known.is_empty() => {
                "Check the spelling, use the English name, or name the nearest larger city."
            }
            Self::UnknownCity { .. } => "Use one of these places, or the name alone.",
            Self::BadAddress { variable, .. } => {
                return format!(
                    "Set {variable} to the like of 'http://127.0.0.1:8080', or unset it."
                );
            }
            Self::Unreachable { .. } => "Check the network connection, then try again.",
            Self::TooSlow { .. } => "Try again in a minute.",
            Self::Status { status, .. } if status.starts_with("429") => {
                "The service limits the number of requests: wait before you try again."
            }
            Self::Status { status, .. } if status.starts_with('5') => {
                "The service has a problem of its own: try again later."
            }
            Self::Status { .. } => {
                "Trying again will not help: check the city, and the address of the service if it \
                 was set."
            }
            Self::TooLarge { .. } | Self::NotJson { .. } => {
                "Try again later; if the address of the service was set, check that Open-Meteo \
                 answers there."
            }
            Self::Field { .. } => "Try again later, or name a larger city nearby.",
        };
        hint.to_owned()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCity { found } => {
                write!(out, "The city is {found}: expected the name of a city.")
            }
            Self::UnknownCity { city, known } if known.is_empty() => write!(
                out,
                "Unknown city '{city}': the weather service found no place of that name and \
                 offered no similar one."
            ),
            Self::UnknownCity { city, known } => {
                write!(
                    out,
                    "Unknown city '{city}': the weather service knows {}.",
                    known.join("; ")
                )
            }
            Self::BadAddress { variable, found } => {
                write!(
                    out,
                    "{variable} is '{found}': expected scheme, host and port of the weather \
                     service."
                )
            }
            Self::Unreachable { host, problem } => {
                write!(
                    out,
                    "The weather service at {host} could not be reached: {problem}."
                )
            }
            Self::TooSlow { host, limit } => {
                write!(
                    out,
                    "The weather service at {host} did not answer within {} s.",
                    limit.as_secs_f64()
                )
            }
            Self::Status {
                host,
                status,
                reason,
            } => {
                write!(
                    out,
                    "The weather service at {host} answered with HTTP status {status}"
                )?;
                reason
                    .as_ref()
                    .map_or(Ok(()), |reason| write!(out, ": {reason}"))
            }
            Self::TooLarge { host, limit } => {
                write!(
                    out,
                    "The answer of the weather service at {host} is longer than {limit} bytes."
                )
            }
            Self::NotJson {
                host,
                problem,
                beginning,
            } => write!(
                out,
                "The weather service at {host} sent something else than JSON ({problem}); it \
                 begins with '{beginning}'."
            ),
            Self::Field {
                pointer,
                expected,
                found,
            } => write!(
                out,
                "The weather service's answer has no usable {pointer}: expected {expected}, found \
                 {found}."
            ),
        }
    }
}

impl std::error::Error for Fault {}

/// The beginning of a foreign text, on one line.
#[must_use]
pub fn quoted(text: &str) -> String {
    let line = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(QUOTED).collect()
}
