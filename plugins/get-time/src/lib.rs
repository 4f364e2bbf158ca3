//! The tool `getTime`: the current local time of a time zone or a city, without network.
//!
//! This file owns the tool's face to the model: name, texts and arguments. What is accepted stands
//! in [`request`], which zones and cities there are in [`zone`] and [`place`], the sentence in
//! [`answer`].

pub mod answer;
pub mod area;
pub mod fault;
pub mod fold;
pub mod nearest;
pub mod place;
pub mod request;
pub mod zone;

use tool_sdk::prelude::*;

/// Get current local time for a timezone or city.
#[tool(
    name = "getTime",
    label = "Time Lookup",
    parallel = true,
    read_only,
    validate = check,
    example({"timezone": "UTC"}, pattern = r"^UTC: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    example({"city": "Tokyo"}, pattern = r"\(Asia/Tokyo\): .*\+09:00 JST"),
)]
pub fn get_time(
    /// IANA time zone, e.g. `America/New_York`; it wins when a city is given too
    timezone: Option<String>,
    /// City, e.g. `Tokyo` or `Portland, Oregon`
    city: Option<String>,
) -> Result<String> {
    answer::answer(timezone.as_deref(), city.as_deref(), jiff::Timestamp::now())
        .map_err(|fault| ToolError::new(fault.to_string()).with_hint(fault.hint()))
}

/// The rule over both arguments, asked before the tool runs.
fn check(args: &Args) -> Option<String> {
    let text = |name| args.get(name).and_then(Value::as_str);
    request::check(text("timezone"), text("city"))
}
