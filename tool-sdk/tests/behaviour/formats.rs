//! Dates, times, durations, URLs and UUIDs: what their schemas accept can be read. Text that is
//! nearly right is tried on both, and what a schema refuses though it could be read is listed.

#![cfg(all(
    feature = "chrono",
    feature = "jiff",
    feature = "url",
    feature = "uuid"
))]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use tool_sdk::chrono::{self, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use tool_sdk::jiff::{SignedDuration, Span, Timestamp, Zoned, civil};
use tool_sdk::prelude::*;
use tool_sdk::testing::{self, Plugin};
use tool_sdk::url::Url;
use tool_sdk::uuid::Uuid;

use super::agreement::validator;
use super::{called, described, properties};

taking! {
    reads_chrono_date: NaiveDate,
    reads_jiff_date: civil::Date,
    reads_chrono_time: NaiveTime,
    reads_jiff_time: civil::Time,
    reads_chrono_date_time: NaiveDateTime,
    reads_jiff_date_time: civil::DateTime,
    reads_utc: chrono::DateTime<Utc>,
    reads_offset: chrono::DateTime<FixedOffset>,
    reads_timestamp: Timestamp,
    reads_signed_duration: SignedDuration,
    reads_span: Span,
    reads_uuid: Uuid,
    reads_url: Url,
    reads_time_delta: TimeDelta,
    reads_weekday: chrono::Weekday,
    reads_zoned: Vec<Zoned>,
}

/// Checks what the schemas of all these tools accept and whatever is nearly the same.
#[track_caller]
fn check(tools: &[&str], accepted: &[&str]) {
    for tool in tools {
        let validator = validator(tool);
        let plugin = Plugin::open("", json!({})).unwrap();
        let is_valid = |text: &str| validator.is_valid(&json!({"value": text}));
        let read = |text: &str| plugin.run(tool, json!({"value": text}));
        for text in accepted {
            assert!(is_valid(text), "{tool} refuses {text:?}");
        }
        for text in accepted.iter().flat_map(|text| edited_once(text)) {
            if is_valid(&text) {
                let run = read(&text);
                assert!(run.is_ok(), "{tool} can't read {text:?}: {run:?}");
            }
        }
        let config = Config {
            cases: 2_000,
            failure_persistence: None,
            ..Config::default()
        };
        let checked = TestRunner::new(config).run(&edited_often(accepted), |text| {
            if is_valid(&text) {
                prop_assert!(read(&text).is_ok(), "{tool} can't read {text:?}");
            }
            Ok(())
        });
        checked.unwrap();
    }
}

/// Checks what the schemas refuse although the types could read it.
#[track_caller]
fn check_refused(tools: &[&str], narrower: &[&str]) {
    for tool in tools {
        let validator = validator(tool);
        for text in narrower {
            let arguments = json!({"value": text});
            assert!(!validator.is_valid(&arguments), "{tool} accepts {text:?}");
            let run = Plugin::open("", json!({})).unwrap().run(tool, arguments);
            assert!(run.is_ok(), "{tool} can't read {text:?} either");
        }
    }
}

/// What is put anywhere into a text.
fn pieces() -> Vec<&'static str> {
    let visible = "0 1 2 3 4 5 6 7 8 9 - + : . , / // ? # @ % [ ] { } _ ~ ! $ é a x A T t Z z P W D H M \
                   S Y 00 24 29 31 60 0000 9999 .5 .1234567891 +24:00 -23:59 [UTC] [::1] xn-- %zz %41 \
                   :65536 a@ 0x7f 1.5 99999999999999999999";
    ["", " ", "\n"]
        .into_iter()
        .chain(visible.split(' '))
        .collect()
}

/// Every text with one piece put between two characters or in place of one.
fn edited_once(text: &str) -> Vec<String> {
    let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
    let mut all = vec![text.to_owned(), text.to_lowercase(), text.to_uppercase()];
    for piece in pieces() {
        all.push(format!("{text}{piece}"));
        for place in &places {
            let (before, after) = text.split_at(*place);
            all.push(format!("{before}{piece}{after}"));
            let rest: String = after.chars().skip(1).collect();
            all.push(format!("{before}{piece}{rest}"));
        }
    }
    all
}

/// One of the texts with several characters replaced or removed, and pieces put in.
fn edited_often(texts: &[&str]) -> impl Strategy<Value = String> {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let edit = (any::<Index>(), select(pieces()), 0..2_usize);
    (select(texts), prop::collection::vec(edit, 2..6)).prop_map(|(text, edits)| {
        edits
            .into_iter()
            .fold(text, |text, (place, piece, skipped)| {
                let characters: Vec<char> = text.chars().collect();
                let (before, after) = characters.split_at(place.index(characters.len() + 1));
                let after = after.iter().skip(skipped);
                before
                    .iter()
                    .copied()
                    .chain(piece.chars())
                    .chain(after.copied())
                    .collect()
            })
    })
}

/// The texts of a list that is written as one.
fn list(texts: &str) -> Vec<&str> {
    texts.split(" | ").collect()
}

#[test]
fn dates() {
    let tools = ["reads_chrono_date", "reads_jiff_date"];
    check(
        &tools,
        &list("2024-02-29 | 0000-01-01 | 9999-12-31 | 2023-02-28 | 1900-04-30"),
    );
    check_refused(&tools, &list("+002024-01-01 | -000001-01-01"));
    check_refused(
        &tools[..1],
        &list("2024-1-1 | +10000-01-01 | 24-01-01 | 2024-01- 01"),
    );
    check_refused(
        &tools[1..],
        &list("20240101 | 2024-01-01T00:00:00 | 2024-01-01[Asia/Tokyo]"),
    );
}

#[test]
fn times() {
    let tools = ["reads_chrono_time", "reads_jiff_time"];
    check(
        &tools,
        &list("00:00:00 | 23:59:59 | 09:30 | 12:30:45.5 | 12:30:45.123456789"),
    );
    check_refused(&tools, &["23:59:60"]);
    check_refused(
        &tools[..1],
        &list("1:02:03 | 12:30:45.1234567890 | 12: 30:45"),
    );
    check_refused(
        &tools[1..],
        &list("12 | T12:30:45 | 12:30:45,5 | 12:30:45+01:00"),
    );
}

#[test]
fn dates_with_times() {
    let tools = ["reads_chrono_date_time", "reads_jiff_date_time"];
    let accepted = "2024-02-29T09:30:00 | 0000-02-29T00:00:00 | 9999-12-31T23:59:59.999999999 | \
                    1900-02-28T12:00:00.5 | 2000-02-29T12:00:00 | 2023-11-30T12:00:00 | \
                    2023-10-31T12:00:00";
    check(&tools, &list(accepted));
    check_refused(
        &tools,
        &list("2024-01-02T23:59:60 | -000001-01-01T00:00:00"),
    );
    let chrono = "2024-1-2T03:04:05 | 2024-01-02T03:04:05.1234567891";
    check_refused(&tools[..1], &list(chrono));
    let jiff = "2024-01-02 | 2024-01-02T03:04 | 2024-01-02 03:04:05 | 2024-01-02T03:04:05+01:00";
    check_refused(&tools[1..], &list(jiff));
}

#[test]
fn points_of_time() {
    let tools = ["reads_utc", "reads_offset", "reads_timestamp"];
    let accepted = "2024-02-29T09:30:00Z | 2024-02-29t09:30:00z | 2016-12-31T23:59:60Z | \
                    2024-02-29T09:30:00.123456789-08:00 | 2016-12-31T15:59:60.5-08:00 | \
                    0000-01-01T00:00:00+23:59 | 9998-12-31T23:59:59-23:59 | 1999-12-31T23:59:59Z | \
                    2909-12-31T23:59:59Z | 2990-12-31T23:59:59Z";
    check(&tools, &list(accepted));
    let all = "9999-01-01T00:00:00Z | 2024-01-02 03:04:05Z | 2024-01-02T03:04:05+0100 | \
               2024-01-02T12:00:60Z | -000001-01-01T00:00:00Z";
    check_refused(&tools, &list(all));
    let chrono = "9999-12-31T23:59:59Z | 2024-01-02T03:04:05.1234567891Z | 2024-1-2T3:4:5 UTC";
    check_refused(&tools[..2], &list(chrono));
    let jiff = "2024-01-02T03:04:05Z[Asia/Tokyo] | 2024-01-02T03:04:05+01 | 20240102T030405Z";
    check_refused(&tools[2..], &list(jiff));
}

#[test]
fn durations() {
    let tools = ["reads_signed_duration", "reads_span"];
    let accepted = "PT1H30M | -PT0.5S | PT99999999H9999999999M99999999999.999999999S | PT1H1S | \
                    PT1M0.1S | PT0S";
    check(&tools, &list(accepted));
    check_refused(
        &tools,
        &list("1h 30m | +PT1H | pt1h | PT1.5H | PT0,5S | 01:02:03"),
    );
    // A `SignedDuration` has the same schema and no calendar.
    check_refused(&tools[1..], &list("P1D | P2W | P1Y2M3DT4H | P1Y2W | -P1M"));
}

#[test]
fn uuids() {
    let digits = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    check(&["reads_uuid"], &[digits, &digits.to_uppercase()]);
    let (plain, urn) = (digits.replace('-', ""), format!("urn:uuid:{digits}"));
    check_refused(&["reads_uuid"], &[&plain, &urn, &format!("{{{digits}}}")]);
}

#[test]
fn urls() {
    let accepted = "https://example.com | https://ab--c.D_e.example.com:8080/p/%41?q=a%20b#f | \
                    http://localhost:65535/ | http://user:word@a.b./ | http://1.2.3.4/ | \
                    http://[::1]:80/a | http://[::ffff:1.2.3.4] | ftp://a/b | wss://xn.example/x | \
                    file:///etc/hosts | file:////a | mailto:a@b | urn:isbn:1 | about:blank | \
                    data:text/plain,hi | x: | x:/ | x:/a | postgres://u:p@db-1.a:5432/name | \
                    s3://bucket_name/key | sqlite:///a.db | git+ssh://git@a/b";
    check(&["reads_url"], &list(accepted));
    let refused = "HTTPS://example.com | https:example.com | https:/example.com | file:a | \
                   https:///example.com | http://a!b/ | http://1.2.3/ | http://0x7f.1/ | http://3/ | \
                   http://a:/ | http://a:000080/ | http://xn--zca.com/ | http://m%C3%BCnchen.de/ | \
                   http://é.com/ | http:\\\\a | http://a/ b | file://localhost/a | file://a/b | \
                   x:// | x://1/ | x://a%41/";
    check_refused(&["reads_url"], &list(refused));
}

#[test]
fn pairs_of_numbers_and_days_of_the_week() {
    let validator = validator("reads_time_delta");
    for (value, is_accepted) in [
        (json!([90, 0]), true),
        (json!([9_223_372_036_854_774_i64, 999_999_999]), true),
        (json!([-9_223_372_036_854_774_i64, 0]), true),
        (json!([9_223_372_036_854_775_i64, 0]), false),
        (json!([i64::MIN, 0]), false),
        (json!([0, 1_000_000_000]), false),
        (json!([0, -1]), false),
    ] {
        let arguments = json!({"value": value});
        assert_eq!(validator.is_valid(&arguments), is_accepted, "{value}");
        let run = testing::run("reads_time_delta", arguments);
        assert!(run.is_ok() || !is_accepted, "{value}: {run:?}");
    }
    check(&["reads_weekday"], &["Mon", "Sun"]);
    check_refused(&["reads_weekday"], &["monday", "SUN"]);
}

#[test]
fn time_with_a_zone_is_no_argument() {
    let problem = "argument `value`: a time with a zone: no schema can say which zones there are, \
                   and which offset each has when; use `jiff::Timestamp`, or \
                   `jiff::civil::DateTime` and the name of the zone as a `String`";
    assert_eq!(described("reads_zoned")["problems"], json!([problem]));
}

/// A meeting.
#[tool_type]
struct Meeting {
    /// When it begins
    begins: NaiveDateTime,
    takes: SignedDuration,
    #[schemars(regex(pattern = r"^https://"))]
    link: Option<Url>,
    days: Vec<NaiveDate>,
    until: Option<NaiveTime>,
}

/// Plan.
#[tool]
fn plans(
    meeting: Meeting,
    /// How long to wait
    delay: Option<TimeDelta>,
    #[arg(description = "No sooner than this")] after: civil::Time,
    format: Uuid,
) -> Meeting {
    let _ = (delay, after, format);
    meeting
}

#[test]
fn formats_that_json_schema_lacks_have_an_example() {
    let schema = properties("plans");
    let meeting = &schema["meeting"]["properties"];
    let begins = "When it begins\nFor example `2024-03-31T09:30:00`.";
    assert_eq!(meeting["begins"]["description"], begins);
    assert_eq!(meeting["begins"].get("format"), None);
    assert_eq!(meeting["takes"]["description"], "For example `PT1H30M`.");
    assert_eq!(
        meeting["days"]["items"],
        json!({"type": "string", "format": "date"})
    );
    assert_eq!(meeting["until"]["type"], json!(["string", "null"]));
    let delay = "How long to wait\nFor example `[90, 0]`: seconds and nanoseconds.";
    assert_eq!(schema["delay"]["description"], delay);
    let after = "No sooner than this\nFor example `09:30:00`.";
    assert_eq!(schema["after"]["description"], after);
    assert_eq!(
        schema["format"],
        json!({"type": "string", "format": "uuid"})
    );
}

#[test]
fn patterns_of_the_author_stay() {
    let link = properties("plans")["meeting"]["properties"]["link"].take();
    assert_eq!(link["pattern"], "^https://");
    let validator = validator("plans");
    let mut meeting = json!({
        "begins": "2024-03-31T09:30:00", "takes": "PT1H", "days": ["2024-03-31"], "until": null,
    });
    for (link, is_accepted) in [
        (json!("https://example.com/"), true),
        (json!(null), true),
        (json!("http://example.com/"), false),
        (json!("https://:80/"), false),
    ] {
        meeting["link"] = link;
        let arguments = json!({
            "meeting": meeting, "after": "09:30", "format": "67e55044-10b1-426f-9247-bb680e5fe0c8",
        });
        assert_eq!(validator.is_valid(&arguments), is_accepted, "{meeting}");
        if is_accepted {
            assert!(testing::run("plans", arguments).is_ok());
        }
    }
}

#[test]
fn what_is_no_date_is_refused_with_an_example() {
    assert_eq!(
        called("reads_chrono_date", json!({"value": "2023-02-29"})),
        "error: /value: expected something like `2024-03-31`, got \"2023-02-29\": input is out of \
         range"
    );
}

#[tool_type]
#[derive(Clone)]
struct Answer {
    zoned: Zoned,
    span: Span,
    negative: SignedDuration,
    time: NaiveTime,
    civil: civil::DateTime,
    late: chrono::DateTime<Utc>,
    url: Url,
    delta: TimeDelta,
}

#[tool]
fn answers() -> Answer {
    Answer {
        zoned: "2024-03-31T09:30:00.5+02:00[Europe/Berlin]"
            .parse()
            .unwrap(),
        span: "P1Y2M3W4DT5H6M7.8S".parse().unwrap(),
        negative: "-PT2562047788015215H30M7.5S".parse().unwrap(),
        time: "09:30:00.25".parse().unwrap(),
        civil: "2024-02-29T09:30:00".parse().unwrap(),
        late: "9999-12-31T23:59:59.999Z".parse().unwrap(),
        url: "http://xn--zca.com/".parse().unwrap(),
        delta: TimeDelta::seconds(-1),
    }
}

#[test]
fn a_result_may_hold_what_an_argument_may_not() {
    let description = described("answers");
    assert_eq!(description.get("problems"), None);
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&description["outputSchema"])
        .unwrap();
    let answer = testing::run("answers", json!({}))
        .unwrap()
        .result
        .structured_content
        .unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&answer)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);
}
