//! The line that the model reads, at a fixed instant.

use get_time::answer::answer;
use get_time::fault::Fault;
use jiff::Timestamp;

/// The answer at 2026-11-30 09:04:05 UTC, or the error's text.
fn at(timezone: Option<&str>, city: Option<&str>) -> String {
    let Ok(now) = "2026-11-30T09:04:05Z".parse::<Timestamp>() else {
        panic!("the instant is not readable")
    };
    answer(timezone, city, now).unwrap_or_else(|fault: Fault| format!("error: {fault}"))
}

#[test]
fn a_city_is_named_with_country_and_zone() {
    assert_eq!(
        at(None, Some("Tokyo")),
        "Tokyo, Japan (Asia/Tokyo): 2026-11-30 18:04:05 +09:00 JST, Monday"
    );
    assert_eq!(
        at(None, Some(" singapore")),
        "Singapore (Asia/Singapore): 2026-11-30 17:04:05 +08:00, Monday"
    );
}

#[test]
fn a_zone_stands_alone() {
    assert_eq!(
        at(Some("America/New_York"), None),
        "America/New_York: 2026-11-30 04:04:05 -05:00 EST, Monday"
    );
    assert_eq!(
        at(Some("UTC"), None),
        "UTC: 2026-11-30 09:04:05 +00:00 UTC, Monday"
    );
    assert_eq!(
        at(Some("Pacific/Kiritimati"), Some("")),
        "Pacific/Kiritimati: 2026-11-30 23:04:05 +14:00, Monday"
    );
    assert_eq!(
        at(Some("Asia/Kathmandu"), None),
        "Asia/Kathmandu: 2026-11-30 14:49:05 +05:45, Monday"
    );
}

#[test]
fn a_city_in_the_zone_is_its_label() {
    assert_eq!(
        at(Some("Asia/Tokyo"), Some("osaka")),
        "Osaka, Japan (Asia/Tokyo): 2026-11-30 18:04:05 +09:00 JST, Monday"
    );
    // An old name of the same zone.
    assert_eq!(
        at(Some("Asia/Calcutta"), Some("Mumbai")),
        "Mumbai, India (Asia/Calcutta): 2026-11-30 14:34:05 +05:30 IST, Monday"
    );
    // The zone tells which London is meant.
    assert_eq!(
        at(Some("America/Toronto"), Some("London")),
        "London, Canada (America/Toronto): 2026-11-30 04:04:05 -05:00 EST, Monday"
    );
}

#[test]
fn a_city_outside_the_zone_is_said_to_be_so() {
    assert_eq!(
        at(Some("America/Los_Angeles"), Some("Auckland")),
        "America/Los_Angeles: 2026-11-30 01:04:05 -08:00 PST, Monday (the time zone was used: Auckland, New Zealand \
         is in Pacific/Auckland, where it is 22:04:05 on Monday)"
    );
    assert_eq!(
        at(Some("Europe/Berlin"), Some("Vienna")),
        "Europe/Berlin: 2026-11-30 10:04:05 +01:00 CET, Monday (the time zone was used: Vienna, Austria is in \
         Europe/Vienna, where it is the same time)"
    );
    assert_eq!(
        at(Some("America/New_York"), Some("Hoboken")),
        "America/New_York: 2026-11-30 04:04:05 -05:00 EST, Monday (the time zone was used: the city 'Hoboken' is not \
         known)"
    );
}

#[test]
fn an_answer_has_one_line_whatever_was_asked() {
    let answer = at(Some("UTC"), Some("Hobo\nken\u{7}"));
    assert!(
        answer.ends_with("(the time zone was used: the city 'Hobo ken ' is not known)"),
        "{answer}"
    );
}

#[test]
fn called_without_the_check_it_refuses_the_same_arguments() {
    assert_eq!(
        at(None, None),
        "error: Missing required argument: provide at least one of 'timezone' or 'city'"
    );
    assert_eq!(
        at(Some("EST5"), Some("Tokyo")),
        "error: Invalid timezone format: 'EST5'. Use IANA format, e.g. 'America/New_York'"
    );
    assert!(at(None, Some("Atlantis")).starts_with("error: Unknown city 'Atlantis'"));
}

#[test]
fn the_tool_is_an_ordinary_function() {
    let text = get_time::get_time(Some("UTC".into()), None).unwrap();
    assert!(text.starts_with("UTC: 20"), "{text}");
}
