//! Why there is no answer: what was found, and what to do next.
//!
//! The texts only; [`crate::nearest`] decides which case it is.

use std::fmt;

/// A request that cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The arguments are not acceptable; the text says why.
    Refused(String),
    /// No place has this name.
    UnknownCity {
        /// What was asked for.
        city: String,
        /// Known names that are close, the closest first.
        nearest: Vec<String>,
    },
    /// There are places of this name, but none in the country or region that was asked for.
    NotThere {
        /// What was asked for.
        city: String,
        /// Where places of this name are.
        known: Vec<String>,
    },
    /// The name is that of a country.
    Country {
        /// The country.
        country: &'static str,
        /// Its largest cities that are known.
        cities: Vec<String>,
    },
    /// The name is that of a time zone.
    ZoneAsCity(String),
}

impl Fault {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Refused(_) => "Pass a timezone such as 'Asia/Tokyo' or a city such as 'Tokyo'.",
            Self::UnknownCity { nearest, .. } if nearest.is_empty() => {
                "Check the spelling, name the nearest large city, or pass the IANA name of the \
                 zone as 'timezone', e.g. 'Asia/Tokyo'."
            }
            Self::UnknownCity { .. } => {
                "Use one of these names, the nearest large city, or pass the IANA name of the \
                 zone as 'timezone'."
            }
            Self::NotThere { .. } => {
                "Use one of these, or pass the IANA name of the zone as 'timezone'."
            }
            Self::Country { .. } => "Pass a city of the country.",
            Self::ZoneAsCity(zone) => return format!("Pass '{zone}' as 'timezone' instead."),
        };
        hint.to_owned()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(text) => out.write_str(text),
            Self::UnknownCity { city, nearest } => {
                write!(
                    out,
                    "Unknown city '{city}': expected a capital, a large city or a place that a \
                     time zone is named after."
                )?;
                match nearest.as_slice() {
                    [] => out.write_str(" No known name is close to it."),
                    names => write!(out, " Nearest known names: {}.", names.join("; ")),
                }
            }
            Self::NotThere { city, known } => {
                write!(
                    out,
                    "Unknown city '{city}': the known places of that name are {}.",
                    known.join("; ")
                )
            }
            Self::Country { country, cities } => {
                write!(
                    out,
                    "'{country}' is a country: expected a city, such as {}.",
                    cities.join("; ")
                )
            }
            Self::ZoneAsCity(zone) => write!(out, "'{zone}' is a time zone: expected a city."),
        }
    }
}

impl std::error::Error for Fault {}
