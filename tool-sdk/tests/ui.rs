//! What the macros say: every case of `ui/fail` with the messages beside it. What has to compile
//! is in `accepted`: one such case here would have every case linked and not only checked.
//! `TRYBUILD=overwrite` writes the messages anew; they follow the wording of the pinned compiler.

#[test]
fn mistakes_are_explained_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*/*.rs");
}
