//! Whole reports from whole answers, and the words of the weather codes.

use get_weather::lookup::weather;
use get_weather::report::{self, Scale};
use get_weather::service::{Limits, Service};
use get_weather::wmo;
use serde_json::{Value, json};

use crate::server::{Reply, Server};

/// The report for a city when the service answers with these two texts, and what the service was
/// asked.
fn replay(city: &str, scale: Scale, search: &str, forecast: &str) -> (String, Vec<String>) {
    let server = Server::start(vec![
        ("/v1/search", Reply::ok(search)),
        ("/v1/forecast", Reply::ok(forecast)),
    ]);
    let service = Service::new(&server.base(), &server.base(), Limits::default());
    let report = service.and_then(|service| weather(&service, city, scale));
    match report {
        Ok(report) => (report, server.asked()),
        Err(fault) => panic!("{fault} {}", fault.hint()),
    }
}

#[test]
fn tokyo_is_reported_in_degrees_celsius() {
    let (report, asked) = replay(
        "Tokyo",
        Scale::Celsius,
        include_str!("../answers/tokyo.search.json"),
        include_str!("../answers/tokyo.forecast.json"),
    );
    assert_eq!(
        report,
        "Weather in Tokyo, Japan: clear sky, 22°C\n\
         Feels like 21°C, humidity 56%, wind 11 km/h from the northwest\n\
         Local time 2026-11-30 18:00 (Asia/Tokyo, night)\n\
         Forecast:\n\
         - 2026-11-30: mainly clear, 12 to 23°C, 3% chance of precipitation\n\
         - 2026-12-01: slight rain, 12 to 18°C, 78% chance of precipitation\n\
         - 2026-12-02: overcast, 9 to 15°C, 20% chance of precipitation"
    );
    assert_eq!(
        asked[0],
        "/v1/search?name=Tokyo&count=10&language=en&format=json"
    );
    let forecast = asked[1].replace("%2C", ",");
    let (path, query) = forecast.split_once('?').unwrap();
    assert_eq!(path, "/v1/forecast");
    let query: Vec<&str> = query.split('&').collect();
    for parameter in [
        "latitude=35.6895",
        "longitude=139.69171",
        "timezone=auto",
        "forecast_days=3",
        "temperature_unit=celsius",
        "wind_speed_unit=kmh",
        "daily=weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max",
    ] {
        assert!(
            query.contains(&parameter),
            "{parameter} is not in {query:?}"
        );
    }
    assert_eq!(asked.len(), 2);
}

#[test]
fn tokyo_is_reported_in_degrees_fahrenheit() {
    let (report, asked) = replay(
        "tokyo",
        Scale::Fahrenheit,
        include_str!("../answers/tokyo.search.json"),
        include_str!("../answers/tokyo.fahrenheit.json"),
    );
    assert!(
        report.starts_with("Weather in Tokyo, Japan: clear sky, 72°F\n"),
        "{report}"
    );
    assert!(
        report.contains("Feels like 70°F, humidity 56%, wind 7 mph from the northwest"),
        "{report}"
    );
    assert!(
        report.contains("- 2026-11-30: mainly clear, 54 to 74°F, 3% chance"),
        "{report}"
    );
    assert!(
        asked[1].contains("temperature_unit=fahrenheit&wind_speed_unit=mph"),
        "{}",
        asked[1]
    );
}

#[test]
fn sao_paulo_is_asked_for_in_percent_encoding() {
    let (report, asked) = replay(
        "São Paulo",
        Scale::Celsius,
        include_str!("../answers/sao-paulo.search.json"),
        include_str!("../answers/sao-paulo.forecast.json"),
    );
    assert_eq!(
        report,
        "Weather in São Paulo, Brazil: thunderstorm, 20°C\n\
         Feels like 21°C, humidity 94%, wind 3 km/h from the southeast\n\
         Local time 2026-11-30 06:00 (America/Sao_Paulo, day)\n\
         Forecast:\n\
         - 2026-11-30: thunderstorm, 18 to 27°C, 100% chance of precipitation\n\
         - 2026-12-01: slight rain showers, 18 to 25°C, 94% chance of precipitation\n\
         - 2026-12-02: partly cloudy, 17 to 28°C, 41% chance of precipitation"
    );
    assert!(
        asked[0].starts_with("/v1/search?name=S%C3%A3o%20Paulo&"),
        "{}",
        asked[0]
    );
}

#[test]
fn reykjavik_has_no_negative_zero_and_a_day_without_all_values() {
    let (report, _) = replay(
        "Reykjavik",
        Scale::Celsius,
        include_str!("../answers/reykjavik.search.json"),
        include_str!("../answers/reykjavik.forecast.json"),
    );
    assert_eq!(
        report,
        "Weather in Reykjavík, Iceland: slight snow showers, 0°C\n\
         Feels like -7°C, humidity 81%, wind 34 km/h from the north\n\
         Local time 2026-11-30 09:00 (Atlantic/Reykjavik, night)\n\
         Forecast:\n\
         - 2026-11-30: heavy snow showers, -3 to 1°C, 91% chance of precipitation\n\
         - 2026-12-01: heavy snowfall, -6 to 0°C, 88% chance of precipitation\n\
         - 2026-12-02: slight snowfall, -7 to -3°C"
    );
}

#[test]
fn signs_in_a_name_do_not_become_parts_of_the_query() {
    let (_, asked) = replay(
        "a&count=1#?+%41/\u{e9}\n=b",
        Scale::Celsius,
        include_str!("../answers/tokyo.search.json"),
        include_str!("../answers/tokyo.forecast.json"),
    );
    assert_eq!(
        asked[0],
        "/v1/search?name=a%26count%3D1%23%3F%2B%2541%2F%C3%A9%0A%3Db&count=10&language=en&format=json"
    );
}

#[test]
fn every_documented_weather_code_has_its_word() {
    let documented = [
        0, 1, 2, 3, 45, 48, 51, 53, 55, 56, 57, 61, 63, 65, 66, 67, 71, 73, 75, 77, 80, 81, 82, 85,
        86, 95, 96, 99,
    ];
    let mut words: Vec<String> = documented
        .iter()
        .map(|code| wmo::word(*code).into_owned())
        .collect();
    for code in 0..=120 {
        let is_number = wmo::word(code) == format!("weather code {code}");
        assert_eq!(
            is_number,
            !documented.contains(&code),
            "{code}: {}",
            wmo::word(code)
        );
    }
    words.sort();
    words.dedup();
    assert_eq!(words.len(), documented.len(), "two codes share a word");
}

#[test]
fn values_that_the_service_does_not_know_are_left_out() {
    let mut answer: Value =
        serde_json::from_str(include_str!("../answers/tokyo.forecast.json")).unwrap();
    answer["current"]["apparent_temperature"] = Value::Null;
    answer["current"]["relative_humidity_2m"] = Value::Null;
    answer["current"]["wind_direction_10m"] = Value::Null;
    answer["current"]["is_day"] = Value::Null;
    answer["current"]["weather_code"] = json!(4);
    answer["daily"]["temperature_2m_min"] = json!([null, -0.2, null]);
    answer["daily"]["temperature_2m_max"] = json!([7.5, null, null]);
    answer["daily"]["weather_code"] = json!([3.0, null, null]);
    answer["daily"]["precipitation_probability_max"] = Value::Null;
    assert_eq!(
        report::write("Here", &answer, Scale::Celsius).unwrap(),
        "Weather in Here: weather code 4, 22°C\n\
         Wind 11 km/h\n\
         Local time 2026-11-30 18:00 (Asia/Tokyo)\n\
         Forecast:\n\
         - 2026-11-30: overcast, up to 8°C\n\
         - 2026-12-01: at least 0°C\n\
         - 2026-12-02: no values"
    );
}

#[test]
fn the_answer_tells_its_units_itself() {
    let answer: Value =
        serde_json::from_str(include_str!("../answers/tokyo.forecast.json")).unwrap();
    let report = report::write("Here", &answer, Scale::Fahrenheit).unwrap();
    assert!(
        report.starts_with("Weather in Here: clear sky, 22°C"),
        "{report}"
    );
}

#[test]
fn a_wind_has_the_nearest_of_eight_directions() {
    let mut answer: Value =
        serde_json::from_str(include_str!("../answers/tokyo.forecast.json")).unwrap();
    for (degrees, point) in [
        (0, "north"),
        (22, "north"),
        (23, "northeast"),
        (90, "east"),
        (337, "northwest"),
        (338, "north"),
        (360, "north"),
    ] {
        answer["current"]["wind_direction_10m"] = json!(degrees);
        let report = report::write("Here", &answer, Scale::Celsius).unwrap();
        assert!(
            report.contains(&format!(" from the {point}\n")),
            "{degrees}: {report}"
        );
    }
    answer["current"]["wind_speed_10m"] = json!(0.2);
    let report = report::write("Here", &answer, Scale::Celsius).unwrap();
    assert!(report.contains("wind 0 km/h\n"), "{report}");
}
