//! The answer in one line: whose time it is, the time, its offset and the day.
//!
//! The instant is passed in, nothing here reads the clock.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

use crate::fault::Fault;
use crate::nearest;
use crate::place::{Place, Wanted};
use crate::request;
use crate::zone;

/// The local time at an instant, for a time zone or a city.
///
/// When both are given the time zone wins. The city is then the label if it lies in that zone;
/// otherwise the answer says which of the two was used, and what time it is in the city, so that
/// nobody takes one for the other.
pub fn answer(timezone: Option<&str>, city: Option<&str>, now: Timestamp) -> Result<String, Fault> {
    if let Some(text) = request::check(timezone, city) {
        return Err(Fault::Refused(text));
    }
    let city = request::given(city).map(|city| (city, Wanted::new(city)));
    let Some(timezone) = timezone else {
        let (city, wanted) = city.ok_or_else(|| refused(None))?;
        let places = wanted.find();
        let place = places
            .first()
            .ok_or_else(|| nearest::explain(city, &wanted))?;
        return labelled(place, place.zone(), now);
    };
    let local = local(timezone, now)?;
    let Some((city, wanted)) = city else {
        return Ok(format!("{timezone}: {}", written(&local)));
    };
    let places = wanted.find();
    if let Some(place) = places
        .iter()
        .find(|place| zone::is_same(place.zone(), timezone))
    {
        return labelled(place, timezone, now);
    }
    let remark = match places.first() {
        Some(place) => elsewhere(place, &local, now)?,
        None => format!("the city '{}' is not known", nearest::shortened(city)),
    };
    Ok(format!(
        "{timezone}: {} (the time zone was used: {remark})",
        written(&local)
    ))
}

/// The line for a place, with the name of the zone that was used.
fn labelled(place: &Place, zone: &str, now: Timestamp) -> Result<String, Fault> {
    Ok(format!(
        "{} ({zone}): {}",
        place.label(),
        written(&local(zone, now)?)
    ))
}

/// What to remark about a city that lies in another zone than the one that was used.
fn elsewhere(place: &Place, used: &ZonedDateTime, now: Timestamp) -> Result<String, Fault> {
    let there = local(place.zone(), now)?;
    let time = if there.datetime() == used.datetime() {
        "the same time".to_owned()
    } else {
        there.strftime("%H:%M:%S on %A").to_string()
    };
    Ok(format!(
        "{} is in {}, where it is {time}",
        place.label(),
        place.zone()
    ))
}

/// The instant in the zone of that name.
fn local(zone: &str, now: Timestamp) -> Result<ZonedDateTime, Fault> {
    zone::get(zone)
        .map(|zone: TimeZone| now.to_zoned_datetime(zone))
        .ok_or_else(|| refused(Some(zone)))
}

/// The time with its offset, its abbreviation where there is one, and the day of the week.
#[must_use]
pub fn written(local: &ZonedDateTime) -> String {
    let zone = local.time_zone().to_offset_info(local.timestamp());
    // Many zones have only their offset again in the place of an abbreviation.
    let abbreviation =
        Some(zone.abbreviation()).filter(|text| text.starts_with(char::is_alphabetic));
    let space = if abbreviation.is_some() { " " } else { "" };
    format!(
        "{}{space}{}, {}",
        local.strftime("%Y-%m-%d %H:%M:%S %:z"),
        abbreviation.unwrap_or_default(),
        local.strftime("%A")
    )
}

/// The refusal of a missing time zone, or of one that the database does not have.
fn refused(timezone: Option<&str>) -> Fault {
    Fault::Refused(request::check(timezone, None).unwrap_or_default())
}
