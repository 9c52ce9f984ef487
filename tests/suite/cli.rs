//! Documents with examples that are run: each `console` block is a command line and its output.

#[test]
fn documents_show_what_is_printed() {
    let documents = trycmd::TestCases::new();
    documents.case("README.md").case("docs/*.md").case("tests/documents/*.md");
    documents.register_bin("cargo", trycmd::schema::Bin::Ignore);
}
