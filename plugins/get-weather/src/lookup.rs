//! The order of the work: find the city, ask for its weather, write the report.
//!
//! Each step stands in its own module; nothing is decided here.

use crate::fault::Fault;
use crate::place::Wanted;
use crate::report::{self, Scale};
use crate::service::Service;

/// The weather of a city as text.
pub fn weather(service: &Service, city: &str, scale: Scale) -> Result<String, Fault> {
    let wanted = Wanted::new(city)?;
    let place = wanted.choose(&service.search(wanted.name(), wanted.enough())?)?;
    let forecast = service.forecast(place.latitude, place.longitude, scale)?;
    report::write(&place.label, &forecast, scale)
}
