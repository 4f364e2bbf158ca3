//! The tool `getWeather`: current weather and a short forecast of a city, from Open-Meteo.
//!
//! This file owns the tool's face to the model: name, texts and arguments. The order of the work
//! stands in [`lookup`], the two requests in [`service`], the text of the answer in [`report`].

pub mod around;
pub mod fault;
pub mod fields;
pub mod lookup;
pub mod place;
pub mod report;
pub mod service;
pub mod wmo;

use tool_sdk::prelude::*;

// Units of the answer.
#[tool_type]
#[serde(rename_all = "lowercase")]
pub enum Units {
    // Degrees Celsius, and kilometres per hour.
    Celsius,
    // Degrees Fahrenheit, and miles per hour.
    Fahrenheit,
}

impl From<Units> for report::Scale {
    fn from(units: Units) -> Self {
        match units {
            Units::Celsius => Self::Celsius,
            Units::Fahrenheit => Self::Fahrenheit,
        }
    }
}

/// Fetch current weather and forecast for a given city.
#[tool(
    name = "getWeather",
    label = "Weather Lookup",
    parallel = true,
    read_only,
    open_world
)]
pub fn get_weather(
    /// City name
    city: String,
    // The words say it all, so a model reads nothing more about them.
    #[arg(default = "celsius")] units: Units,
) -> Result<String> {
    service::Service::from_environment()
        .and_then(|service| lookup::weather(&service, &city, units.into()))
        .map_err(|fault| ToolError::new(fault.to_string()).with_hint(fault.hint()))
}
