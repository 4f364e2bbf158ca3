//! What the macros say: every case of `ui/fail` with the messages beside it, and what has to
//! compile in `ui/pass`. `TRYBUILD=overwrite` writes the messages anew; they follow the wording
//! of the pinned compiler.

#[test]
fn mistakes_are_explained_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*/*.rs");
    cases.compile_fail("tests/ui/fail/*/*.rs");
}
