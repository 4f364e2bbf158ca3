//! What `docs/security.md` promises is tested: each row of a table whose last column is headed `test`
//! names tests there, and those exist.

use std::collections::BTreeSet;

use super::source::{Source, sources};

/// The rows of such tables: the line, and the tests that it names.
fn rows(text: &str) -> Vec<(usize, Vec<&str>)> {
    let (mut rows, mut of_tests) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        let Some(row) = line.strip_prefix('|') else {
            of_tests = false;
            continue;
        };
        let last = row.trim_end().trim_end_matches('|').rsplit('|').next();
        let last = last.unwrap_or_default().trim();
        if last == "test" {
            of_tests = true;
        } else if of_tests && !last.starts_with("---") {
            let names = last.split('`').skip(1).step_by(2);
            rows.push((number + 1, names.collect()));
        }
    }
    rows
}

/// What is wrong with them, one line each.
fn wrong(text: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (line, names) in rows(text) {
        if names.is_empty() {
            wrong.push(format!("{line}: a promise without a test"));
        }
        let missing = names.into_iter().filter(|name| !tests.contains(*name));
        wrong.extend(missing.map(|name| format!("{line}: there is no test `{name}`")));
    }
    wrong
}

#[test]
fn every_promise_of_safety_names_tests_that_exist() {
    let path = toolsmith_tests::repository().join("docs/security.md");
    let text = fs_err::read_to_string(path).unwrap();
    assert!(rows(&text).len() > 30, "{}", rows(&text).len());
    let tests = sources().iter().flat_map(Source::tests).collect();
    let wrong = wrong(&text, &tests);
    assert!(wrong.is_empty(), "docs/security.md:\n{}", wrong.join("\n"));
}

#[test]
fn a_promise_without_a_test_is_found() {
    let source = Source::new(
        "a.rs",
        "//! x\n#[test]\nfn one() {}\n#[tokio::test(flavor = \"x\")]\nasync fn two() {}\n\
         #[cfg(test)]\nmod tests { fn helper() {} #[test]\n#[cfg(y)]\nfn three() {} }\nfn four() {}",
    );
    assert_eq!(source.tests(), ["one", "two", "three"]);
    let tests = source.tests().into_iter().collect();
    let text = "| a | test |\n|---|---|\n| x | `one`, `four` |\n| `y` | |\n| z | see `two` |\n\n\
                | a | b |\n|---|---|\n| x | `five` |\n";
    let expected = ["3: there is no test `four`", "4: a promise without a test"];
    assert_eq!(wrong(text, &tests), expected);
}
