//! Every way in which the service can fail gives an error of its own, with what to do next.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use get_weather::fault::Fault;
use get_weather::lookup::weather;
use get_weather::report::Scale;
use get_weather::service::{Limits, Service};

use crate::server::{Reply, Server};

const SEARCH: &str = include_str!("../answers/tokyo.search.json");
const FORECAST: &str = include_str!("../answers/tokyo.forecast.json");

/// Limits that a test can wait for.
const SHORT: Limits = Limits {
    connect: Duration::from_millis(300),
    whole: Duration::from_millis(300),
    bytes: 1024 * 1024,
};

/// Why there is no report when the service stands at these addresses.
fn fault_at(geocoding: &str, forecast: &str, limits: Limits) -> Fault {
    let report = Service::new(geocoding, forecast, limits)
        .and_then(|service| weather(&service, "Tokyo", Scale::Celsius));
    let Err(fault) = report else {
        panic!("a report: {report:?}")
    };
    assert!(
        fault.hint().ends_with('.') && fault.hint().len() > 20,
        "{}",
        fault.hint()
    );
    fault
}

/// Why there is no report when the service answers so, with the host's address replaced in the
/// text.
fn fault(search: Reply, forecast: Reply, limits: Limits) -> (Fault, String) {
    let server = Server::start(vec![("/v1/search", search), ("/v1/forecast", forecast)]);
    let fault = fault_at(&server.base(), &server.base(), limits);
    let text = fault.to_string().replace(&server.host(), "HOST");
    (fault, text)
}

#[test]
fn an_unknown_city_says_that_nothing_similar_was_offered() {
    let nothing = Reply::ok(include_str!("../answers/nothing.search.json"));
    let (fault, text) = fault(nothing, Reply::ok(FORECAST), Limits::default());
    assert_eq!(
        text,
        "Unknown city 'Tokyo': the weather service found no place of that name and offered no similar one."
    );
    assert_eq!(
        fault.hint(),
        "Check the spelling, use the English name, or name the nearest larger city."
    );
}

#[test]
fn a_refused_connection_is_said() {
    let free = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .unwrap();
    let base = format!("http://{free}");
    let fault = fault_at(&base, &base, Limits::default());
    assert_eq!(
        fault.to_string(),
        format!("The weather service at {free} could not be reached: the connection was refused.")
    );
    assert_eq!(
        fault.hint(),
        "Check the network connection, then try again."
    );
}

#[test]
fn a_host_that_does_not_exist_is_said() {
    // The top-level domain is reserved for names that never resolve.
    let base = "http://open-meteo.invalid";
    let fault = fault_at(base, base, Limits::default());
    assert!(
        // Where no name server answers, looking up takes longer than the limit.
        matches!(&fault, Fault::TooSlow { .. })
            || fault.to_string()
                == "The weather service at open-meteo.invalid could not be reached: its name could not be resolved.",
        "{fault}"
    );
}

#[test]
fn a_server_that_does_not_speak_tls_is_said() {
    let server = Server::start(Vec::new());
    let base = server.base().replace("http:", "https:");
    let fault = fault_at(&base, &base, Limits::default());
    assert!(matches!(fault, Fault::Unreachable { .. }), "{fault}");
}

#[test]
fn a_silent_service_is_given_up_at_the_limit() {
    let begin = Instant::now();
    let (fault, text) = fault(Reply::Silence, Reply::Silence, SHORT);
    assert_eq!(
        text,
        "The weather service at HOST did not answer within 0.3 s."
    );
    assert_eq!(fault.hint(), "Try again in a minute.");
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_service_that_sends_too_slowly_is_given_up_at_the_limit() {
    let (_, text) = fault(Reply::ok(SEARCH), Reply::Drip, SHORT);
    assert_eq!(
        text,
        "The weather service at HOST did not answer within 0.3 s."
    );
}

#[test]
fn the_services_own_explanation_is_shown() {
    let refused =
        r#"{"error":true,"reason":"Latitude must be in range of -90 to 90°. Given: 135.0."}"#;
    let (fault, text) = fault(
        Reply::ok(SEARCH),
        Reply::Answer("400 Bad Request", refused.into()),
        Limits::default(),
    );
    assert_eq!(
        text,
        "The weather service at HOST answered with HTTP status 400 Bad Request: Latitude must be in range of -90 to \
         90°. Given: 135.0."
    );
    assert!(
        fault.hint().starts_with("Trying again will not help"),
        "{}",
        fault.hint()
    );
}

#[test]
fn each_class_of_status_has_its_own_advice() {
    let limit = br#"{"error":true,"reason":"Minutely API request limit exceeded. Please try again in one minute."}"#;
    for (status, body, advice) in [
        (
            "429 Too Many Requests",
            limit.as_slice(),
            "wait before you try again",
        ),
        (
            "502 Bad Gateway",
            b"<html>502 Bad Gateway</html>".as_slice(),
            "try again later",
        ),
        (
            "500 Internal Server Error",
            b"".as_slice(),
            "try again later",
        ),
        ("404 Not Found", b"not found".as_slice(), "check the city"),
    ] {
        let (fault, text) = fault(
            Reply::Answer(status, body.to_vec()),
            Reply::ok(FORECAST),
            Limits::default(),
        );
        assert!(text.contains(&format!("HTTP status {status}")), "{text}");
        assert!(fault.hint().contains(advice), "{status}: {}", fault.hint());
    }
}

#[test]
fn an_error_with_a_good_status_is_an_error() {
    let refused = r#"{"error":true,"reason":"Out of service"}"#;
    let (_, text) = fault(Reply::ok(SEARCH), Reply::ok(refused), Limits::default());
    assert_eq!(
        text,
        "The weather service at HOST answered with HTTP status 200 OK: Out of service"
    );
}

#[test]
fn broken_json_is_quoted() {
    let (fault, text) = fault(
        Reply::ok("<html>Sign in to the Wi-Fi</html>"),
        Reply::ok(FORECAST),
        Limits::default(),
    );
    assert_eq!(
        text,
        "The weather service at HOST sent something else than JSON (expected value at line 1 column 1); it begins \
         with '<html>Sign in to the Wi-Fi</html>'."
    );
    assert!(matches!(fault, Fault::NotJson { .. }));
    let half = FORECAST.get(..FORECAST.len() / 2).unwrap();
    let (_, text) = self::fault(Reply::ok(SEARCH), Reply::ok(half), Limits::default());
    assert!(
        text.contains("something else than JSON (EOF while parsing"),
        "{text}"
    );
    assert!(text.len() < 300, "{text}");
}

#[test]
fn an_answer_that_breaks_off_is_said() {
    let (fault, text) = fault(Reply::Truncated, Reply::ok(FORECAST), Limits::default());
    assert!(matches!(fault, Fault::Unreachable { .. }), "{fault:?}");
    assert!(text.contains("HOST could not be reached: "), "{text}");
}

#[test]
fn an_endless_answer_is_cut_off() {
    let (fault, text) = fault(
        Reply::ok(vec![b' '; 1024 * 1024 + 1]),
        Reply::ok(FORECAST),
        Limits::default(),
    );
    assert_eq!(
        text,
        "The answer of the weather service at HOST is longer than 1048576 bytes."
    );
    assert!(matches!(fault, Fault::TooLarge { .. }));
}

#[test]
fn a_missing_or_null_field_is_named() {
    for (from, to, text) in [
        (
            "\"temperature_2m\":22.4",
            "\"temperature_2m\":null",
            "no usable /current/temperature_2m: expected a number, found null.",
        ),
        (
            "\"weather_code\":0,",
            "",
            "no usable /current/weather_code: expected a whole number, found nothing.",
        ),
        (
            "\"weather_code\":0,",
            "\"weather_code\":\"sunny\",",
            "no usable /current/weather_code: expected a whole number, found a text.",
        ),
        (
            "\"daily\":{",
            "\"dayly\":{",
            "no usable /daily/time: expected a list, found nothing.",
        ),
    ] {
        assert!(FORECAST.contains(from), "{from}");
        let (fault, found) = fault(
            Reply::ok(SEARCH),
            Reply::ok(FORECAST.replace(from, to)),
            Limits::default(),
        );
        assert!(found.ends_with(text), "{found}");
        assert!(matches!(fault, Fault::Field { .. }));
    }
    let search = SEARCH.replace("\"latitude\":35.6895,", "");
    let (_, found) = fault(Reply::ok(search), Reply::ok(FORECAST), Limits::default());
    assert!(found.contains("no usable /results/0/latitude"), "{found}");
    let (_, found) = fault(Reply::ok("[]"), Reply::ok(FORECAST), Limits::default());
    assert!(
        found.ends_with("no usable /results: expected a list, found nothing."),
        "{found}"
    );
}

#[test]
fn an_address_that_is_none_names_its_variable() {
    for address in [
        "localhost:8080",
        "ftp://example.com",
        "http://",
        "",
        "http://a?b=c",
        "http://a b",
    ] {
        let fault = fault_at("http://127.0.0.1:1", address, SHORT);
        assert!(
            fault
                .to_string()
                .starts_with(&format!("OPEN_METEO_URL is '{address}': expected")),
            "{fault}"
        );
    }
    let fault = fault_at("nonsense", "http://127.0.0.1:1", SHORT);
    assert!(
        fault
            .to_string()
            .starts_with("OPEN_METEO_GEOCODING_URL is 'nonsense'"),
        "{fault}"
    );
}

#[test]
fn a_slash_at_the_end_of_an_address_does_no_harm() {
    let server = Server::start(vec![
        ("/v1/search", Reply::ok(SEARCH)),
        ("/v1/forecast", Reply::ok(FORECAST)),
    ]);
    let base = format!("{}/", server.base());
    let service = Service::new(&base, &base, Limits::default()).unwrap();
    assert!(
        weather(&service, "Tokyo", Scale::Celsius)
            .unwrap()
            .starts_with("Weather in Tokyo, Japan: clear sky, 22°C")
    );
}
