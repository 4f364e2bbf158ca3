//! Which of the places found is meant.

use get_weather::fault::Fault;
use get_weather::place::{Place, Wanted};
use serde_json::{Value, json};

/// The place that a city means among the Portlands.
fn portland(city: &str) -> Result<Place, Fault> {
    let found = serde_json::from_str(include_str!("../answers/portland.search.json"));
    let found: Value = found.unwrap_or_else(|error| panic!("{error}"));
    Wanted::new(city).and_then(|wanted| wanted.choose(&found))
}

#[test]
fn without_more_the_first_place_is_meant() {
    let place = portland("Portland").unwrap();
    assert_eq!(place.label, "Portland, United States");
    assert_eq!((place.latitude, place.longitude), (45.52345, -122.67621));
}

#[test]
fn a_region_or_country_chooses_among_places_of_one_name() {
    for (city, label) in [
        ("Portland, Maine", "Portland, Maine, United States"),
        ("portland, me", "Portland, Maine, United States"),
        ("Portland, ME, USA", "Portland, Maine, United States"),
        ("Portland (Maine)", "Portland, Maine, United States"),
        ("Portland, OR", "Portland, Oregon, United States"),
        ("Portland, United States", "Portland, United States"),
        ("Portland, US", "Portland, United States"),
        ("Portland, Australia", "Portland, Australia"),
        ("Portland, VIC", "Portland, Victoria, Australia"),
    ] {
        assert_eq!(portland(city).unwrap().label, label, "{city}");
    }
}

#[test]
fn short_names_of_countries_are_understood() {
    let found = json!({"results": [{"name": "London", "latitude": 51.5, "longitude": -0.1, "country_code": "GB",
        "country": "United Kingdom", "admin1": "England"}]});
    for city in [
        "London, UK",
        "London, U.K.",
        "London, GB",
        "London, England",
        "London, Great Britain",
    ] {
        let wanted = Wanted::new(city).unwrap();
        assert!(
            wanted
                .choose(&found)
                .unwrap()
                .label
                .ends_with("United Kingdom"),
            "{city}"
        );
        assert_eq!(wanted.name(), "London");
    }
}

#[test]
fn a_place_elsewhere_is_offered_and_not_taken() {
    let fault = portland("Portland, Germany").unwrap_err();
    assert_eq!(
        fault.to_string(),
        "Unknown city 'Portland, Germany': the weather service knows Portland, Oregon, United States; Portland, Maine, \
         United States; Portland, Victoria, Australia; Portland Cottage, Clarendon, Jamaica."
    );
    assert_eq!(fault.hint(), "Use one of these places, or the name alone.");
}

#[test]
fn a_place_without_a_country_is_named_alone() {
    let found =
        json!({"results": [{"name": "Vostok Station", "latitude": -78.5, "longitude": 106.8}]});
    assert_eq!(
        Wanted::new("vostok station")
            .unwrap()
            .choose(&found)
            .unwrap()
            .label,
        "Vostok Station"
    );
}

#[test]
fn a_blank_or_endless_city_is_refused_before_anything_is_asked() {
    for city in ["", "   ", " , ", "()"] {
        let fault = Wanted::new(city).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "The city is empty: expected the name of a city.",
            "{city:?}"
        );
    }
    let fault = Wanted::new(&"a".repeat(100_000)).unwrap_err();
    assert!(
        fault
            .to_string()
            .starts_with("The city is 100000 characters long"),
        "{fault}"
    );
}
