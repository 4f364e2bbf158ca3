//! Which cities are found, under which names, and in which zone.

use get_time::fault::Fault;
use get_time::fold::fold;
use get_time::place::{self, Wanted};
use get_time::{nearest, zone};

/// The label and zone of the place that a city means.
fn found(city: &str) -> (String, String) {
    let wanted = Wanted::new(city);
    match wanted.find().first() {
        Some(place) => (place.label(), place.zone().to_owned()),
        None => panic!("{city}: {}", nearest::explain(city, &wanted)),
    }
}

/// What is said about a city that is not known.
fn unknown(city: &str) -> Fault {
    let wanted = Wanted::new(city);
    assert!(wanted.find().is_empty(), "{city} is known");
    nearest::explain(city, &wanted)
}

#[test]
fn cities_are_found_in_their_zones() {
    for (city, label, zone) in [
        ("Tokyo", "Tokyo, Japan", "Asia/Tokyo"),
        ("Beijing", "Beijing, China", "Asia/Shanghai"),
        ("Mumbai", "Mumbai, India", "Asia/Kolkata"),
        (
            "San Francisco",
            "San Francisco, United States",
            "America/Los_Angeles",
        ),
        ("Bangalore", "Bengaluru, India", "Asia/Kolkata"),
        (
            "Washington",
            "Washington, United States",
            "America/New_York",
        ),
        ("New York", "New York, United States", "America/New_York"),
        ("Miami", "Miami, United States", "America/New_York"),
        ("Honolulu", "Honolulu, United States", "Pacific/Honolulu"),
        ("Phoenix", "Phoenix, United States", "America/Phoenix"),
        (
            "Port-au-Prince",
            "Port-au-Prince, Haiti",
            "America/Port-au-Prince",
        ),
        (
            "Buenos Aires",
            "Buenos Aires, Argentina",
            "America/Argentina/Buenos_Aires",
        ),
        ("São Paulo", "São Paulo, Brazil", "America/Sao_Paulo"),
        ("Brasilia", "Brasília, Brazil", "America/Sao_Paulo"),
        ("London", "London, United Kingdom", "Europe/London"),
        ("Munich", "Munich, Germany", "Europe/Berlin"),
        ("Geneva", "Geneva, Switzerland", "Europe/Zurich"),
        ("Kyiv", "Kyiv, Ukraine", "Europe/Kyiv"),
        ("Reykjavik", "Reykjavík, Iceland", "Atlantic/Reykjavik"),
        ("Canberra", "Canberra, Australia", "Australia/Sydney"),
        ("Ottawa", "Ottawa, Canada", "America/Toronto"),
        ("Hanoi", "Hanoi, Vietnam", "Asia/Ho_Chi_Minh"),
        ("Astana", "Astana, Kazakhstan", "Asia/Almaty"),
        ("Naypyidaw", "Nay Pyi Taw, Myanmar", "Asia/Yangon"),
        ("Singapore", "Singapore", "Asia/Singapore"),
        ("Hong Kong", "Hong Kong", "Asia/Hong_Kong"),
        ("Lord Howe", "Lord Howe, Australia", "Australia/Lord_Howe"),
        ("Troll", "Troll, Antarctica", "Antarctica/Troll"),
        ("Kathmandu", "Kathmandu, Nepal", "Asia/Kathmandu"),
        ("Nuku'alofa", "Nuku‘alofa, Tonga", "Pacific/Tongatapu"),
        ("Jan Mayen", "Jan Mayen", "Atlantic/Jan_Mayen"),
    ] {
        assert_eq!(found(city), (label.to_owned(), zone.to_owned()), "{city}");
    }
}

#[test]
fn case_accents_punctuation_and_blanks_do_not_matter() {
    for (city, label) in [
        ("  tOKYO ", "Tokyo, Japan"),
        ("sao-paulo", "São Paulo, Brazil"),
        ("SÃO PAULO", "São Paulo, Brazil"),
        // The same letters, written with combining accents.
        ("Sa\u{303}o Paulo", "São Paulo, Brazil"),
        ("port au prince", "Port-au-Prince, Haiti"),
        ("N'Djamena", "N'Djamena, Chad"),
        ("ndjamena", "N'Djamena, Chad"),
        (
            "Saint John's, Antigua and Barbuda",
            "Saint John’s, Antigua and Barbuda",
        ),
        ("St. Petersburg", "Saint Petersburg, Russia"),
        ("İSTANBUL", "Istanbul, Turkey"),
        ("łódź", "Łódź, Poland"),
        ("new_york", "New York, United States"),
        ("Xian", "Xi’an, China"),
    ] {
        assert_eq!(found(city).0, label, "{city}");
    }
}

#[test]
fn other_names_lead_to_the_city() {
    for (city, label) in [
        ("Bombay", "Mumbai, India"),
        ("Peking", "Beijing, China"),
        ("NYC", "New York, United States"),
        ("New York City", "New York, United States"),
        ("Saigon", "Ho Chi Minh City, Vietnam"),
        ("Calcutta", "Kolkata, India"),
        ("Madras", "Chennai, India"),
        ("Kiev", "Kyiv, Ukraine"),
        ("Rangoon", "Yangon, Myanmar"),
        ("München", "Munich, Germany"),
        ("Muenchen", "Munich, Germany"),
        ("Köln", "Cologne, Germany"),
        ("Wien", "Vienna, Austria"),
        ("Praha", "Prague, Czechia"),
        ("Londres", "London, United Kingdom"),
        ("東京", "Tokyo, Japan"),
        ("北京", "Beijing, China"),
        ("서울", "Seoul, South Korea"),
        ("Москва", "Moscow, Russia"),
        ("Αθήνα", "Athens, Greece"),
        ("القاهرة", "Cairo, Egypt"),
        ("Washington DC", "Washington, United States"),
        ("Mexico City", "Mexico City, Mexico"),
    ] {
        assert_eq!(found(city).0, label, "{city}");
    }
}

#[test]
fn a_country_or_region_may_follow() {
    for (city, label) in [
        ("Tokyo, Japan", "Tokyo, Japan"),
        ("Tokyo, JP", "Tokyo, Japan"),
        ("Tokyo (Japan)", "Tokyo, Japan"),
        ("London, UK", "London, United Kingdom"),
        ("London, England", "London, United Kingdom"),
        ("London, Canada", "London, Canada"),
        ("London, Ontario", "London, Canada"),
        ("London, ON, Canada", "London, Canada"),
        ("San Francisco, CA", "San Francisco, United States"),
        ("Portland, Maine, USA", "Portland, United States"),
        ("Washington, D.C.", "Washington, United States"),
        ("Sydney, NSW", "Sydney, Australia"),
        ("Edinburgh, Scotland", "Edinburgh, United Kingdom"),
        ("Tbilisi, Georgia", "Tbilisi, Georgia"),
        ("Atlanta, Georgia", "Atlanta, United States"),
        ("Hyderabad, Pakistan", "Hyderabad, Pakistan"),
        ("San José, Costa Rica", "San José, Costa Rica"),
    ] {
        assert_eq!(found(city).0, label, "{city}");
    }
    assert_eq!(found("Portland, Maine").1, "America/New_York");
    assert_eq!(found("Portland, OR").1, "America/Los_Angeles");
}

#[test]
fn an_ambiguous_name_means_the_most_populous_city() {
    for (city, label) in [
        ("London", "London, United Kingdom"),
        ("Hyderabad", "Hyderabad, India"),
        ("San Jose", "San Jose, United States"),
        ("Kingston", "Kingston, Jamaica"),
        ("Cambridge", "Cambridge, United Kingdom"),
    ] {
        assert_eq!(found(city).0, label, "{city}");
    }
}

#[test]
fn an_unknown_city_names_the_nearest_known_ones() {
    for (city, near) in [
        ("Tokio2", "Tokyo, Japan"),
        ("Berlim City", "Berlin, Germany"),
        ("Sidny", "Sydney, Australia"),
    ] {
        let Fault::UnknownCity { nearest, .. } = unknown(city) else {
            panic!("{city}")
        };
        assert!(
            nearest.iter().any(|name| name == near),
            "{city}: {nearest:?}"
        );
    }
    let text = unknown("Tokyoo").to_string();
    assert!(
        text.starts_with("Unknown city 'Tokyoo': expected "),
        "{text}"
    );
    assert!(text.contains("Nearest known names: Tokyo, Japan"), "{text}");
}

#[test]
fn a_name_like_no_other_is_answered_too() {
    for city in ["Qqxzzvvw", "???", "\u{1F600}"] {
        let fault = unknown(city);
        assert!(
            matches!(&fault, Fault::UnknownCity { nearest, .. } if nearest.is_empty()),
            "{fault}"
        );
        assert!(
            fault.to_string().contains("No known name is close"),
            "{fault}"
        );
        assert!(!fault.hint().is_empty());
    }
    let long = unknown(&"Timbuktu".repeat(10_000)).to_string();
    assert!(long.len() < 400, "{} bytes", long.len());
}

#[test]
fn a_city_in_the_wrong_country_is_not_answered_with_another() {
    let fault = unknown("Paris, Germany");
    assert_eq!(
        fault,
        Fault::NotThere {
            city: "Paris, Germany".into(),
            known: vec!["Paris, France".into()]
        }
    );
}

#[test]
fn a_country_or_time_zone_in_place_of_a_city_is_recognised() {
    let Fault::Country { country, cities } = unknown("japan") else {
        panic!("not a country")
    };
    assert_eq!((country, cities[0].as_str()), ("Japan", "Tokyo, Japan"));
    let fault = unknown("Europe/Berlin");
    assert_eq!(fault.hint(), "Pass 'Europe/Berlin' as 'timezone' instead.");
}

#[test]
fn every_place_lies_in_a_zone_and_country_that_exist() {
    assert!(
        place::all().len() > 1_500,
        "only {} places",
        place::all().len()
    );
    for place in place::all() {
        assert!(zone::is_name(place.zone()), "{place:?}");
        assert!(!place.label().ends_with(", "), "{place:?}");
        if !place.country().is_empty() {
            assert!(
                get_time::area::country(place.country()).is_some(),
                "{place:?}"
            );
        }
    }
}

#[test]
fn every_place_that_a_zone_is_named_after_is_known() {
    let places: Vec<String> = zone::names()
        .filter_map(|name| zone::place_of(&name))
        .collect();
    assert!(places.len() > 400, "only {} places", places.len());
    for place in places {
        assert!(!Wanted::new(&place).find().is_empty(), "{place}");
    }
}

#[test]
fn the_stored_names_are_folded_as_the_program_folds() {
    for place in place::all() {
        for key in place.keys() {
            assert_eq!(fold(key), key, "{place:?}");
        }
    }
}
