//! How long to wait before a request is sent again.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::limits;

/// A pause that doubles from try to try, somewhere between its half and its whole, so that clients
/// that failed together do not come back together.
pub(super) fn back_off(first: Duration, tried: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(tried.saturating_sub(1));
    let longest = first.saturating_mul(doubled).min(limits::MODEL_RETRY_AFTER);
    longest.mul_f64(0.5 + fastrand::f64() / 2.0)
}

/// How long the server asks to wait: in milliseconds or seconds, or until a date.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    if let Some(milliseconds) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    if let Some(seconds) = number(RETRY_AFTER.as_str()) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = headers.get(RETRY_AFTER)?.to_str().ok()?;
    let until = DateTimeParser::new().parse_timestamp(date.trim()).ok()?;
    // A date that has passed asks for no wait.
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit() {
        let first = Duration::from_secs(1);
        for (tried, longest) in [(1, 1), (2, 2), (3, 4), (9, 60), (90, 60)] {
            let pause = back_off(first, tried);
            let longest = Duration::from_secs(longest);
            assert!(
                pause >= longest / 2 && pause <= longest,
                "{tried}: {pause:?}"
            );
        }
    }

    #[test]
    fn wait_is_given_in_three_ways() {
        let now: Timestamp = "2026-12-01T10:00:00Z".parse().unwrap();
        let check = |name: &'static str, value: &'static str, expected: Option<u64>| {
            let headers =
                HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, now), expected, "{name}: {value}");
        };
        check("retry-after-ms", "1500", Some(1500));
        check("retry-after", "7", Some(7000));
        check("retry-after", "0.5", Some(500));
        check("retry-after", "Tue, 01 Dec 2026 10:00:30 GMT", Some(30_000));
        check("retry-after", "Tue, 01 Dec 2026 09:00:00 GMT", Some(0));
        check("retry-after", "soon", None);
        check("retry-after", "-5", None);
        check("other", "7", None);
    }
}
