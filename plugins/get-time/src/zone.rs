//! The time zones: jiff's bundled copy of the IANA database, never the system's.
//!
//! Cities that do not give a zone its name are in [`crate::place`].

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The first part of the names that mean places; `Etc`, `US` and the like name rules or regions.
const CONTINENTS_AND_OCEANS: [&str; 10] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
];

/// Old names whose last part would be misread as a place: `Samoa` is the country with the zone
/// `Pacific/Apia`.
const NOT_PLACES: [&str; 4] = [
    "Australia/North",
    "Australia/South",
    "Australia/West",
    "Pacific/Samoa",
];

/// Whether this is a name of the database, exactly as the database spells it.
///
/// Old names such as `EST` and `US/Eastern` are in the database and therefore right. `asia/tokyo`
/// is refused although the lookup would find it: the rule is "the real names", other programs that
/// a model hands the name to are strict as well, and the refusal shows the right form. `EST5` and
/// `Etc/Unknown`, which are no names of the database, are refused because only the list counts, not
/// what the lookup accepts.
#[must_use]
pub fn is_name(name: &str) -> bool {
    DATABASE.available().any(|known| known.as_str() == name)
}

/// Every name of the database.
pub fn names() -> impl Iterator<Item = String> {
    DATABASE.available().map(|name| name.as_str().to_owned())
}

/// The zone of that name, if there is one.
#[must_use]
pub fn get(name: &str) -> Option<TimeZone> {
    DATABASE.get(name).ok()
}

/// Whether two names mean one zone, as `Asia/Calcutta` and `Asia/Kolkata` do.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    one == other
        || get(one)
            .zip(get(other))
            .is_some_and(|(one, other)| one == other)
}

/// The place that a zone is named after: `Port-au-Prince`, `Buenos Aires`.
#[must_use]
pub fn place_of(name: &str) -> Option<String> {
    let (continent, _) = name.split_once('/')?;
    let (_, place) = name.rsplit_once('/')?;
    let is_place = CONTINENTS_AND_OCEANS.contains(&continent) && !NOT_PLACES.contains(&name);
    is_place.then(|| place.replace('_', " "))
}
