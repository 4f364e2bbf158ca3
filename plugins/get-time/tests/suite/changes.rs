//! Local times around changes of the clocks, compared with an independent implementation.

use std::collections::HashSet;

use get_time::answer::answer;
use jiff::Timestamp;

#[test]
fn both_sides_of_a_change_agree_with_an_independent_conversion_to_the_second() {
    let rows: Vec<Vec<&str>> = include_str!("../data/changes.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    let zones: HashSet<&str> = rows.iter().map(|row| row[0]).collect();
    assert!(zones.len() >= 20, "only {} zones", zones.len());
    for row in &rows {
        let [zone, second, local, offset, abbreviation, day] = row[..] else {
            panic!("{row:?}")
        };
        let now = Timestamp::from_second(second.parse().unwrap()).unwrap();
        // A zone without an abbreviation repeats its offset in that place, which an answer leaves
        // out.
        let abbreviation = if abbreviation.starts_with(['+', '-']) {
            String::new()
        } else {
            format!(" {abbreviation}")
        };
        let expected = format!("{zone}: {local} {offset}{abbreviation}, {day}");
        assert_eq!(
            answer(Some(zone), None, now).unwrap(),
            expected,
            "at {second}"
        );
    }
}
