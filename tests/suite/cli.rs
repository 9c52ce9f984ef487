//! Documents that run: every `console` block of these files is a command line and what it prints.

#[test]
fn documents_show_what_is_printed() {
    let documents = trycmd::TestCases::new();
    documents.case("README.md").case("docs/*.md").case("tests/documents/*.md");
    documents.register_bin("cargo", trycmd::schema::Bin::Ignore);
}
