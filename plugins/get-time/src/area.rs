//! Countries and the regions that people write after a city's name.
//!
//! Contains data of `GeoNames` (<https://www.geonames.org/>), CC BY 4.0; see `data/README.md`. The
//! cities themselves are in [`crate::place`].

use std::sync::LazyLock;

use crate::fold::fold;

/// A country (`JP`) or a region of one (`US-CA`).
#[derive(Debug)]
pub struct Area {
    code: &'static str,
    name: &'static str,
    key: String,
    others: &'static str,
}

static AREAS: LazyLock<Vec<Area>> = LazyLock::new(|| {
    let rows = include_str!("../data/areas.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    rows.filter_map(read).collect()
});

/// Reads one row: code, name, other names.
fn read(row: &'static str) -> Option<Area> {
    let mut cells = row.split('\t');
    let (code, name, others) = (cells.next()?, cells.next()?, cells.next()?);
    Some(Area {
        code,
        name,
        key: fold(name),
        others,
    })
}

impl Area {
    /// The name that is shown.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a folded word names this area, by its code or by any of its names.
    fn answers_to(&self, word: &str) -> bool {
        let code = self.code.rsplit('-').next().unwrap_or(self.code);
        code.eq_ignore_ascii_case(word)
            || self.key == word
            || self.others.split(' ').any(|other| other == word)
    }
}

/// The country that a code belongs to: `US-CA` lies in `US`.
#[must_use]
pub fn country_of(code: &str) -> &str {
    code.split('-').next().unwrap_or(code)
}

/// The country of a code.
#[must_use]
pub fn country(code: &str) -> Option<&'static Area> {
    AREAS.iter().find(|area| area.code == country_of(code))
}

/// Whether a folded word names the area of this code or the country around it.
///
/// `ca` is true for places in Canada and for places in California: people write both after a city.
#[must_use]
pub fn is_called(code: &str, word: &str) -> bool {
    let around = AREAS
        .iter()
        .filter(|area| area.code == code || area.code == country_of(code));
    around.into_iter().any(|area| area.answers_to(word))
}

/// The code and name of a country that a folded word names in full, not by its two letters.
#[must_use]
pub fn named_country(word: &str) -> Option<(&'static str, &'static str)> {
    let countries = AREAS
        .iter()
        .filter(|area| !area.code.contains('-') && word.len() > 2);
    countries
        .into_iter()
        .find(|area| area.answers_to(word))
        .map(|area| (area.code, area.name))
}
