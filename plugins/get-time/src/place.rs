//! The cities: a bundled table, and the places that the zone database is named after.
//!
//! Contains data of `GeoNames` (<https://www.geonames.org/>), CC BY 4.0; see `data/README.md`. What
//! is said about a city that is not here stands in [`crate::nearest`].

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::area;
use crate::fold::fold;
use crate::zone;

/// A city or another place, and the zone whose time is kept there.
#[derive(Debug)]
pub struct Place {
    name: String,
    key: String,
    /// The code of the country or region; empty where only the zone database knows the place.
    area: &'static str,
    zone: String,
    others: &'static str,
}

/// All places in the order of their rank: by population, then those that only the zone database
/// knows.
static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let rows = include_str!("../data/places.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut places: Vec<Place> = rows.filter_map(read).collect();
    let taken: HashSet<String> = places
        .iter()
        .flat_map(Place::keys)
        .map(str::to_owned)
        .collect();
    let named_after = zone::names().filter_map(|zone| {
        let name = zone::place_of(&zone)?;
        Some(Place {
            key: fold(&name),
            name,
            area: "",
            zone,
            others: "",
        })
    });
    places.extend(named_after.filter(|place| !taken.contains(&place.key)));
    places
});

/// Reads one row: name, area, zone, other names.
fn read(row: &'static str) -> Option<Place> {
    let mut cells = row.split('\t');
    let (name, area, zone, others) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    Some(Place {
        name: name.to_owned(),
        key: fold(name),
        area,
        zone: zone.to_owned(),
        others,
    })
}

impl Place {
    /// The name with the country: `Tokyo, Japan`, but `Singapore` alone.
    #[must_use]
    pub fn label(&self) -> String {
        match area::country(self.area).map(area::Area::name) {
            Some(country) if fold(country) != self.key => format!("{}, {country}", self.name),
            _ => self.name.clone(),
        }
    }

    /// The IANA name of the zone.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// The code of the country that the place lies in; empty where that is not known.
    #[must_use]
    pub fn country(&self) -> &str {
        area::country_of(self.area)
    }

    /// Every folded name of the place, its own first.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.key.as_str())
            .chain(self.others.split(' ').filter(|other| !other.is_empty()))
    }
}

/// Every place, the most populous first.
#[must_use]
pub fn all() -> &'static [Place] {
    &PLACES
}

/// A city as it was asked for: a name, and the country or region where one was added.
#[derive(Debug)]
pub struct Wanted {
    key: String,
    around: Vec<String>,
    whole: String,
}

impl Wanted {
    /// Takes `Tokyo`, `Tokyo, Japan`, `San Francisco, CA, USA` or `Tokyo (JP)` apart.
    #[must_use]
    pub fn new(city: &str) -> Self {
        let mut parts = city
            .split([',', ';', '(', ')'])
            .map(fold)
            .filter(|part| !part.is_empty());
        Self {
            key: parts.next().unwrap_or_default(),
            around: parts.collect(),
            whole: fold(city),
        }
    }

    /// The folded name of the city alone.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Every place that is meant, the likeliest first: those that bear the name themselves, then
    /// those that have it as another name, each group by population.
    #[must_use]
    pub fn find(&self) -> Vec<&'static Place> {
        let mut found = bearing(&self.key);
        found.retain(|place| {
            self.around
                .iter()
                .all(|word| area::is_called(place.area, word))
        });
        if found.is_empty() && self.whole != self.key {
            // `Washington, D.C.` is a name by itself.
            found = bearing(&self.whole);
        }
        found
    }
}

/// Every place with this folded name, wherever it lies.
#[must_use]
pub fn bearing(key: &str) -> Vec<&'static Place> {
    let own = PLACES.iter().filter(|place| place.key == key);
    let other = PLACES
        .iter()
        .filter(|place| place.key != key && place.keys().any(|known| known == key));
    own.chain(other).collect()
}
