//! Which place is meant: the city as it was asked for, against the places that the geocoding
//! service found.
//!
//! The short names of countries and regions are in [`crate::around`].

use serde_json::Value;

use crate::around;
use crate::fault::{Fault, quoted};
use crate::fields;

/// How many places an error offers.
const OFFERED: usize = 4;

/// More letters than the longest name of a place has.
const LONGEST: usize = 200;

/// A place with the name that the report shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// `Tokyo, Japan`
    pub label: String,
    /// Degrees north of the equator.
    pub latitude: f64,
    /// Degrees east of Greenwich.
    pub longitude: f64,
}

/// A city as it was asked for: a name, and what was added to it (`Portland, Oregon, USA`).
#[derive(Debug)]
pub struct Wanted {
    city: String,
    name: String,
    around: Vec<String>,
}

impl Wanted {
    /// Takes the text apart; the service searches for names alone.
    pub fn new(city: &str) -> Result<Self, Fault> {
        let mut parts = city
            .split([',', '(', ')'])
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let name = parts
            .next()
            .ok_or_else(|| no_city("empty".to_owned()))?
            .to_owned();
        let length = name.chars().count();
        if length > LONGEST {
            return Err(no_city(format!("{length} characters long")));
        }
        Ok(Self {
            city: quoted(city.trim()),
            name,
            around: parts.map(around::plain).collect(),
        })
    }

    /// The name to search for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many results are needed: many where the country or region chooses among them.
    #[must_use]
    pub fn enough(&self) -> u8 {
        if self.around.is_empty() { 10 } else { 100 }
    }

    /// Chooses among the places found, which the service has sorted by likeliness.
    pub fn choose(&self, answer: &Value) -> Result<Place, Fault> {
        // The service leaves `results` out when it found nothing.
        let found = match answer.get("results") {
            None if answer.is_object() => &[],
            _ => fields::list(answer, "/results")?,
        };
        let chosen = found
            .iter()
            .zip(0_usize..)
            .find(|(place, _)| self.around.iter().all(|word| lies_in(place, word)));
        let Some((place, index)) = chosen else {
            return Err(Fault::UnknownCity {
                city: self.city.clone(),
                known: offers(found),
            });
        };
        let at = |name: &str| format!("/results/{index}/{name}");
        let is_region = |word: &String| !around::is_country(place, word);
        let label = label(place, self.around.iter().any(is_region));
        Ok(Place {
            label: label.unwrap_or_else(|| self.name.clone()),
            latitude: fields::number(answer, &at("latitude"))?,
            longitude: fields::number(answer, &at("longitude"))?,
        })
    }
}

/// The fault of a text that cannot be a city.
fn no_city(found: String) -> Fault {
    Fault::NoCity { found }
}

/// Whether a word names the country or a region around a place.
fn lies_in(place: &Value, word: &str) -> bool {
    around::is_country(place, word) || around::is_region(place, word)
}

/// The name of a place with its country, and with its region where that helps to tell it from
/// others.
fn label(place: &Value, with_region: bool) -> Option<String> {
    let text = |key: &str| place.get(key).and_then(Value::as_str);
    let name = text("name")?;
    let region = text("admin1").filter(|region| with_region && *region != name);
    let country = text("country").filter(|country| *country != name);
    Some(
        [Some(name), region, country]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", "),
    )
}

/// The first few places as an error names them.
fn offers(found: &[Value]) -> Vec<String> {
    let mut offers: Vec<String> = Vec::new();
    for label in found.iter().filter_map(|place| label(place, true)) {
        if offers.len() < OFFERED && !offers.contains(&label) {
            offers.push(label);
        }
    }
    offers
}
