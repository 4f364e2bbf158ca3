//! The text of the answer, from the forecast service's JSON.
//!
//! Needed are the place's current temperature and weather, and the days of the forecast. Everything
//! else is left out where the service has no value for it.

use std::borrow::Cow;

use serde_json::Value;

use crate::fault::Fault;
use crate::fields;
use crate::wmo;

/// The scale of temperatures; wind speeds go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Degrees Celsius, kilometres per hour.
    Celsius,
    /// Degrees Fahrenheit, miles per hour.
    Fahrenheit,
}

impl Scale {
    /// The service's word for the unit of temperatures.
    #[must_use]
    pub fn temperature_parameter(self) -> &'static str {
        match self {
            Self::Celsius => "celsius",
            Self::Fahrenheit => "fahrenheit",
        }
    }

    /// The service's word for the unit of wind speeds: whoever counts in Fahrenheit counts in
    /// miles.
    #[must_use]
    pub fn wind_parameter(self) -> &'static str {
        match self {
            Self::Celsius => "kmh",
            Self::Fahrenheit => "mph",
        }
    }
}

/// The signs of the units that an answer is in.
struct Signs {
    degree: String,
    speed: String,
}

impl Signs {
    /// The answer's own units are believed before the ones that were asked for.
    fn of(answer: &Value, scale: Scale) -> Self {
        let (degree, speed) = match scale {
            Scale::Celsius => ("°C", "km/h"),
            Scale::Fahrenheit => ("°F", "mph"),
        };
        let sign = |name: &str, asked: &str| {
            fields::text(answer, &format!("/current_units/{name}"))
                .unwrap_or(asked)
                .replace("mp/h", "mph")
        };
        Self {
            degree: sign("temperature_2m", degree),
            speed: sign("wind_speed_10m", speed),
        }
    }
}

/// Writes the report for a place.
pub fn write(label: &str, answer: &Value, scale: Scale) -> Result<String, Fault> {
    let signs = Signs::of(answer, scale);
    let weather = wmo::word(fields::code(answer, "/current/weather_code")?);
    let temperature = round(fields::number(answer, "/current/temperature_2m")?);
    let mut text = format!(
        "Weather in {label}: {weather}, {temperature}{}",
        signs.degree
    );
    for line in [details(answer, &signs), moment(answer)]
        .into_iter()
        .flatten()
    {
        text.push('\n');
        text.push_str(&line);
    }
    text.push_str("\nForecast:");
    for (index, day) in fields::list(answer, "/daily/time")?.iter().enumerate() {
        text.push('\n');
        text.push_str(&forecast(answer, index, day, &signs));
    }
    Ok(text)
}

/// How it feels, the humidity and the wind, as far as they are known.
fn details(answer: &Value, signs: &Signs) -> Option<String> {
    let value = |name: &str| fields::number(answer, &format!("/current/{name}")).ok();
    let feels = value("apparent_temperature")
        .map(|degrees| format!("feels like {}{}", round(degrees), signs.degree));
    let humidity =
        value("relative_humidity_2m").map(|percent| format!("humidity {}%", round(percent)));
    let wind = value("wind_speed_10m").map(|speed| {
        let from =
            value("wind_direction_10m").map(|degrees| format!(" from the {}", direction(degrees)));
        // Where the air hardly moves, its direction says nothing.
        let from = from.filter(|_| speed >= 0.5).unwrap_or_default();
        format!("wind {} {}{from}", round(speed), signs.speed)
    });
    let known: Vec<String> = [feels, humidity, wind].into_iter().flatten().collect();
    (!known.is_empty()).then(|| capitalised(&known.join(", ")))
}

/// When the current values were taken, in the place's own time.
fn moment(answer: &Value) -> Option<String> {
    let time = fields::text(answer, "/current/time")
        .ok()?
        .replace('T', " ");
    let zone = fields::text(answer, "/timezone").ok()?;
    let light = match fields::code(answer, "/current/is_day") {
        Ok(0) => ", night",
        Ok(_) => ", day",
        Err(_) => "",
    };
    Some(format!("Local time {time} ({zone}{light})"))
}

/// The line of one day.
fn forecast(answer: &Value, index: usize, day: &Value, signs: &Signs) -> String {
    let value = |name: &str| answer.pointer(&format!("/daily/{name}/{index}"));
    let degrees = |name: &str| value(name).and_then(Value::as_f64).map(round);
    let weather = value("weather_code").and_then(fields::whole).map(wmo::word);
    let range = match (degrees("temperature_2m_min"), degrees("temperature_2m_max")) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}{}", signs.degree)),
        (Some(low), None) => Some(format!("at least {low}{}", signs.degree)),
        (None, Some(high)) => Some(format!("up to {high}{}", signs.degree)),
        (None, None) => None,
    };
    let chance = value("precipitation_probability_max").and_then(Value::as_f64);
    let chance = chance.map(|percent| format!("{}% chance of precipitation", round(percent)));
    let known: Vec<String> = [weather.map(Cow::into_owned), range, chance]
        .into_iter()
        .flatten()
        .collect();
    let values = if known.is_empty() {
        "no values".to_owned()
    } else {
        known.join(", ")
    };
    format!("- {}: {values}", day.as_str().unwrap_or("unknown day"))
}

/// The nearest whole number, without the sign of a zero.
fn round(number: f64) -> String {
    format!("{:.0}", number.round() + 0.0)
}

/// The point of the compass that a direction in degrees is nearest to.
fn direction(degrees: f64) -> &'static str {
    const POINTS: [&str; 8] = [
        "north",
        "northeast",
        "east",
        "southeast",
        "south",
        "southwest",
        "west",
        "northwest",
    ];
    let turned = (degrees / 45.0).round().rem_euclid(8.0);
    let nearest = POINTS
        .iter()
        .zip(0_u8..)
        .find(|(_, index)| (f64::from(*index) - turned).abs() < 0.5);
    nearest.map_or("north", |(point, _)| point)
}

/// The text with a capital letter at its beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
