//! Which arguments are accepted: at least one of them, and a time zone only by its real name.
//!
//! Whether a city is known is not decided here: that is found out when the tool runs.

use crate::zone;

/// What is said when neither a time zone nor a city was given.
const MISSING: &str = "Missing required argument: provide at least one of 'timezone' or 'city'";

/// Checks both arguments together and returns what is wrong, if anything is.
///
/// A blank city says as little as no city. A time zone that was given must be right even where the
/// city alone would do, since it is the one that wins.
#[must_use]
pub fn check(timezone: Option<&str>, city: Option<&str>) -> Option<String> {
    match timezone {
        Some(name) if zone::is_name(name) => None,
        Some(name) => Some(format!(
            "Invalid timezone format: '{name}'. Use IANA format, e.g. 'America/New_York'"
        )),
        None => given(city).is_none().then(|| MISSING.to_owned()),
    }
}

/// The city without surrounding blanks, if it says anything.
#[must_use]
pub fn given(city: Option<&str>) -> Option<&str> {
    city.map(str::trim).filter(|city| !city.is_empty())
}
