//! The documentation site: every page of the documentation is in it, and all links lead somewhere.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The script fails if a link leads nowhere.
#[test]
#[needs(Python, Mdbook)]
fn the_site_has_all_pages_and_no_broken_links() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3")
        .arg(root.join("scripts/site.py"))
        .args(["--prof", env!("CARGO_BIN_EXE_prof"), "--out"])
        .arg(folder.path())
        .env_remove("PROF_PROFILE")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );

    let book = folder.path().join("book");
    let documents = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<_> =
        documents.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    assert!(pages.len() > 10);
    for page in pages {
        let name = page.file_stem().unwrap().to_str().unwrap();
        assert!(book.join(format!("docs/{name}.html")).exists(), "{name}");
    }
    let gallery = fs::read_to_string(book.join("gallery.html")).unwrap();
    assert_eq!(gallery.matches("href=\"gallery/").count(), 8);
    let has_search = fs::read_dir(&book)
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_str().unwrap().starts_with("searchindex"));
    assert!(has_search);
}
