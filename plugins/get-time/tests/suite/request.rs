//! What the check over both arguments accepts (Y18, R1).

use get_time::request::check;
use get_time::zone;

const MISSING: &str = "Missing required argument: provide at least one of 'timezone' or 'city'";

/// Y18, to the byte.
#[test]
fn y18_texts_are_kept_to_the_byte() {
    let invalid = |name: &str| {
        Some(format!(
            "Invalid timezone format: '{name}'. Use IANA format, e.g. 'America/New_York'"
        ))
    };
    assert_eq!(check(None, None).as_deref(), Some(MISSING));
    assert_eq!(check(None, Some("")).as_deref(), Some(MISSING));
    assert_eq!(check(Some("EST5"), None), invalid("EST5"));
    assert_eq!(check(Some(""), None), invalid(""));
    assert_eq!(check(Some("Asia/Tokyo"), None), None);
    assert_eq!(check(None, Some("Tokyo")), None);
}

/// R1: the real names pass, and nothing else.
#[test]
fn r1_exactly_the_real_names_pass() {
    for name in [
        "America/New_York",
        "UTC",
        "Etc/GMT+5",
        "America/Port-au-Prince",
        "EST",
        "EST5EDT",
        "US/Eastern",
    ] {
        assert_eq!(check(Some(name), None), None, "{name}");
    }
    for name in [
        "EST5",
        "Foo/Bar",
        "asia/tokyo",
        "AMERICA/NEW_YORK",
        "utc",
        "Etc/Unknown",
        " Asia/Tokyo",
        "Asia/Tokyo ",
        "America/New York",
        "Asia",
        "Asia/",
        "/etc/localtime",
        "../Asia/Tokyo",
        "+09:00",
        "GMT+9",
        "Asia/Tokyo\0",
        "posixrules",
        "localtime",
        "Tokyo",
    ] {
        assert!(check(Some(name), None).is_some(), "{name} was accepted");
    }
}

#[test]
fn every_name_of_the_database_passes_and_gives_a_time() {
    let now = jiff::Timestamp::UNIX_EPOCH;
    let names: Vec<String> = zone::names().collect();
    assert!(names.len() > 590, "only {} names", names.len());
    for name in names {
        assert_eq!(check(Some(&name), None), None, "{name}");
        let answer = get_time::answer::answer(Some(&name), None, now).unwrap();
        assert!(answer.starts_with(&format!("{name}: 19")), "{answer}");
    }
}

#[test]
fn a_blank_city_counts_as_none() {
    assert_eq!(check(None, Some("  \t ")).as_deref(), Some(MISSING));
    assert_eq!(check(Some("Asia/Tokyo"), Some("")), None);
}

#[test]
fn a_wrong_time_zone_is_refused_even_beside_a_city() {
    assert!(check(Some("Foo/Bar"), Some("Tokyo")).is_some());
    assert!(check(Some(""), Some("Tokyo")).is_some());
}
