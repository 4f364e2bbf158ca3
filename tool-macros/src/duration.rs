//! Durations as authors write them: `"500ms"`, `"30s"`, `"2m"`, `"1h"`.

/// The duration in milliseconds, or what is wrong with it and what to write.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    let advice = "write a whole number and a unit: `500ms`, `30s`, `2m` or `1h`";
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => return Err(format!("`{text}` has no unit: {advice}")),
        _ => return Err(format!("`{text}` is no duration: {advice}")),
    };
    if number.is_empty() {
        return Err(format!("`{text}` has no number: {advice}"));
    }
    match number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
    {
        Some(0) => Err("a limit of no time at all lets no call succeed".to_owned()),
        Some(milliseconds) => Ok(milliseconds),
        None => Err(format!("`{text}` is longer than a clock can count")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_milliseconds_seconds_minutes_and_hours() {
        for (text, expected) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("30 s", 30_000),
        ] {
            assert_eq!(milliseconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_says_what_to_write() {
        for (text, expected) in [
            ("", "has no unit"),
            ("30", "has no unit"),
            ("s", "has no number"),
            ("-1s", "is no duration"),
            ("1.5s", "is no duration"),
            ("30 seconds", "is no duration"),
            ("0s", "no time at all"),
            ("18446744073709551615h", "longer than a clock can count"),
            ("99999999999999999999s", "longer than a clock can count"),
        ] {
            let message = milliseconds(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
