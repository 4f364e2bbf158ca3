//! What to say about a city that is not known: the closest names, or what the word is instead.
//!
//! Finding known cities is the task of [`crate::place`].

use crate::area;
use crate::fault::Fault;
use crate::place::{self, Wanted};
use crate::zone;

/// How many names are offered.
const OFFERED: usize = 4;

/// Names less alike than this have nothing to do with each other.
const ALIKE: f64 = 0.6;

/// Longer words are no city's name; comparing them with every name would only take time.
const LONGEST: usize = 60;

/// Explains why no place was found for a city.
#[must_use]
pub fn explain(city: &str, wanted: &Wanted) -> Fault {
    if zone::is_name(city) {
        return Fault::ZoneAsCity(city.to_owned());
    }
    let elsewhere = labels(place::bearing(wanted.key()));
    if !elsewhere.is_empty() {
        return Fault::NotThere {
            city: shortened(city),
            known: elsewhere,
        };
    }
    if let Some((code, country)) = area::named_country(wanted.key()) {
        let cities = labels(place::all().iter().filter(|place| place.country() == code));
        return Fault::Country { country, cities };
    }
    Fault::UnknownCity {
        city: shortened(city),
        nearest: closest(wanted.key()),
    }
}

/// The known places whose names are most alike.
fn closest(key: &str) -> Vec<String> {
    if key.is_empty() || key.chars().count() > LONGEST {
        return Vec::new();
    }
    let mut scored: Vec<(f64, &place::Place)> = place::all()
        .iter()
        .filter_map(|place| {
            let best = place
                .keys()
                .map(|known| strsim::normalized_damerau_levenshtein(key, known));
            best.max_by(f64::total_cmp)
                .filter(|score| *score >= ALIKE)
                .map(|score| (score, place))
        })
        .collect();
    // The sort is stable: among equals the most populous stays first.
    scored.sort_by(|one, other| other.0.total_cmp(&one.0));
    labels(scored.into_iter().map(|(_, place)| place))
}

/// The first few labels, each once.
fn labels<'a>(places: impl IntoIterator<Item = &'a place::Place>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for label in places.into_iter().map(place::Place::label) {
        if found.len() == OFFERED {
            break;
        }
        if !found.contains(&label) {
            found.push(label);
        }
    }
    found
}

/// The text as it is quoted: on one line, and not longer than anyone wants to read.
#[must_use]
pub fn shortened(text: &str) -> String {
    let mut line = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut short: String = line.by_ref().take(LONGEST).collect();
    if line.next().is_some() {
        short.push('…');
    }
    short
}
