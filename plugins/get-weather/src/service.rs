//! The two requests to Open-Meteo: where they go, how long they may take, and what can go wrong on
//! the way.
//!
//! What the answers mean is decided in [`crate::place`] and [`crate::report`].

use std::env;
use std::io;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Uri;
use ureq::{Agent, Proxy};

use crate::fault::Fault;
use crate::report::Scale;

/// The variable that sets the address of the geocoding service.
pub const GEOCODING_VARIABLE: &str = "OPEN_METEO_GEOCODING_URL";

/// The variable that sets the address of the forecast service.
pub const FORECAST_VARIABLE: &str = "OPEN_METEO_URL";

const GEOCODING: &str = "https://geocoding-api.open-meteo.com";
const FORECAST: &str = "https://api.open-meteo.com";

const CURRENT: &str = "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,\
                       wind_speed_10m,wind_direction_10m,is_day";
const DAILY: &str =
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max";

/// How much of anything one request may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Until the connection stands.
    pub connect: Duration,
    /// For the whole request with its answer.
    pub whole: Duration,
    /// For the body of the answer.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(10),
            bytes: 1024 * 1024,
        }
    }
}

/// Open-Meteo, or what stands in for it.
#[derive(Debug, Clone)]
pub struct Service {
    geocoding: Uri,
    forecast: Uri,
    limits: Limits,
}

impl Service {
    /// The service that the environment names at this moment, by default the real one.
    pub fn from_environment() -> Result<Self, Fault> {
        let address = |variable, default: &str| {
            env::var(variable)
                .ok()
                .filter(|value| !value.is_empty())
                .unwrap_or_else(|| default.to_owned())
        };
        Self::new(
            &address(GEOCODING_VARIABLE, GEOCODING),
            &address(FORECAST_VARIABLE, FORECAST),
            Limits::default(),
        )
    }

    /// The service at these addresses (scheme, host and port).
    pub fn new(geocoding: &str, forecast: &str, limits: Limits) -> Result<Self, Fault> {
        Ok(Self {
            geocoding: base(GEOCODING_VARIABLE, geocoding)?,
            forecast: base(FORECAST_VARIABLE, forecast)?,
            limits,
        })
    }

    /// Searches for places of a name; `count` is the largest number of results.
    pub fn search(&self, name: &str, count: u8) -> Result<Value, Fault> {
        let query = [
            ("name", name.to_owned()),
            ("count", count.to_string()),
            ("language", "en".to_owned()),
            ("format", "json".to_owned()),
        ];
        self.get(&self.geocoding, "/v1/search", query)
    }

    /// Asks for the weather at a point of the earth.
    pub fn forecast(&self, latitude: f64, longitude: f64, scale: Scale) -> Result<Value, Fault> {
        let query = [
            ("latitude", latitude.to_string()),
            ("longitude", longitude.to_string()),
            ("current", CURRENT.to_owned()),
            ("daily", DAILY.to_owned()),
            ("timezone", "auto".to_owned()),
            ("forecast_days", "3".to_owned()),
            ("temperature_unit", scale.temperature_parameter().to_owned()),
            ("wind_speed_unit", scale.wind_parameter().to_owned()),
        ];
        self.get(&self.forecast, "/v1/forecast", query)
    }

    /// One request: the answer's JSON, or what went wrong.
    fn get<const N: usize>(
        &self,
        base: &Uri,
        path: &str,
        query: [(&str, String); N],
    ) -> Result<Value, Fault> {
        let host = base
            .authority()
            .map(ToString::to_string)
            .unwrap_or_default();
        let url = format!("{}{path}", base.to_string().trim_end_matches('/'));
        let failed = |error| self.explain(&host, error);
        let mut response = self
            .agent(base)
            .get(url)
            .query_pairs(query)
            .call()
            .map_err(failed)?;
        let status = response.status();
        let body = response
            .body_mut()
            .with_config()
            .limit(self.limits.bytes)
            .read_to_vec()
            .map_err(failed)?;
        let answer = serde_json::from_slice::<Value>(&body);
        // Errors have the shape `{"error":true,"reason":…}`, usually with a status that says so
        // too.
        let is_error = answer
            .as_ref()
            .is_ok_and(|answer| answer.get("error") == Some(&Value::Bool(true)));
        if is_error || !status.is_success() {
            let reason = answer
                .ok()
                .as_ref()
                .and_then(|answer| answer.get("reason")?.as_str().map(str::to_owned));
            return Err(Fault::Status {
                host,
                status: status.to_string(),
                reason,
            });
        }
        answer.map_err(|error| Fault::not_json(host, &error, &body))
    }

    /// The client for one request.
    fn agent(&self, base: &Uri) -> Agent {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(self.limits.connect))
            .timeout_global(Some(self.limits.whole))
            .user_agent(concat!("toolsmith-get-weather/", env!("CARGO_PKG_VERSION")));
        // A stand-in on this machine is out of reach for a proxy elsewhere.
        let config = config.proxy(if is_loopback(base) {
            None
        } else {
            Proxy::try_from_env()
        });
        config.build().new_agent()
    }

    /// Turns the client's error into ours.
    fn explain(&self, host: &str, error: ureq::Error) -> Fault {
        let host = host.to_owned();
        let problem = match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                return Fault::TooSlow {
                    host,
                    limit: self.limits.connect,
                };
            }
            ureq::Error::Timeout(_) => {
                return Fault::TooSlow {
                    host,
                    limit: self.limits.whole,
                };
            }
            ureq::Error::BodyExceedsLimit(limit) => return Fault::TooLarge { host, limit },
            ureq::Error::Io(error) => io_problem(&error),
            ureq::Error::HostNotFound => "its name could not be resolved".to_owned(),
            other => other.to_string(),
        };
        Fault::Unreachable { host, problem }
    }
}

/// Reads a base address.
fn base(variable: &'static str, text: &str) -> Result<Uri, Fault> {
    let bad = || Fault::BadAddress {
        variable,
        found: text.to_owned(),
    };
    let uri: Uri = text.trim_end_matches('/').parse().map_err(|_| bad())?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let is_base = uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none();
    if is_http && is_base {
        Ok(uri)
    } else {
        Err(bad())
    }
}

/// Whether an address means this machine.
fn is_loopback(base: &Uri) -> bool {
    let host = base.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// What an error of the connection means.
fn io_problem(error: &io::Error) -> String {
    // The standard library has no kind for a failed look-up, only this text.
    if error.to_string().starts_with("failed to lookup address") {
        return "its name could not be resolved".to_owned();
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "the connection was refused".to_owned(),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            "there is no way to it".to_owned()
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionAborted => {
            "the connection was closed before the answer was complete".to_owned()
        }
        _ => error.to_string(),
    }
}
