//! Loads pages from disk for the tests of the page, runs a script in each, and returns its result as JSON.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use prof::output::{HtmlOptions, html};
use prof::profile::Profile;
use prof::report::Page;
use prof::view::{self, PageOptions, Scope};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::devtools::Tab;

/// Writes the page to a string.
pub(crate) fn write(page: &Page) -> String {
    let mut out = Vec::new();
    let options = HtmlOptions { icicle: false, by_weight: false, ..HtmlOptions::default() };
    html(page, &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The page of a profile, in its usual metric.
pub(crate) fn page_of(profile: &Profile) -> String {
    let scope = Scope::metric(profile.meta.default_metric);
    write(&view::page(profile, &PageOptions { scope, ..PageOptions::default() }))
}

/// Loads a page and runs `check`, the body of an asynchronous JavaScript function. Panics
/// if the page or the script reports an error, or if the page makes a network request.
pub(crate) fn run(page: &str, hash: &str, check: &str) -> Value {
    run_sized(page, hash, check, WINDOW)
}

/// Like [`run`], in a window of this size.
pub(crate) fn run_sized(page: &str, hash: &str, check: &str, size: (u32, u32)) -> Value {
    check_in("page.html", page, hash, check, size)
}

/// Like [`run`], for an SVG.
pub(crate) fn run_svg(picture: &str, check: &str) -> Value {
    check_in("picture.svg", picture, "", check, WINDOW)
}

/// The policy of the page does not concern the script of the check.
fn check_in(name: &str, text: &str, hash: &str, check: &str, size: (u32, u32)) -> Value {
    let (before, after) = (include_str!("before.js"), include_str!("after.js"));
    let tab = Tab::open(size);
    tab.call("Runtime.addBinding", &json!({ "name": "finished" }));
    tab.prepare(&format!("{before}\n{after}\nrun(async () => {{{check}}});"));
    let _folder = visit(&tab, name, text, hash);
    let payload = tab.wait_for("Runtime.bindingCalled")["payload"].take();
    let mut results: Value = serde_json::from_str(payload.as_str().unwrap()).unwrap();
    assert_eq!(results["faults"], json!([]));
    assert_eq!(results["requests"], json!([]));
    results["result"].take()
}

/// Loads a file with this text.
fn visit(tab: &Tab, name: &str, text: &str, hash: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    tab.visit(&format!("file://{}#{hash}", file.display()));
    folder
}

/// A tab in which a page has done all that it does by itself.
fn settled(name: &str, text: &str) -> Tab {
    let tab = Tab::open(WINDOW);
    let _folder = visit(&tab, name, text, "");
    tab.wait_for("Emulation.virtualTimeBudgetExpired");
    tab
}

/// The document that a page becomes.
pub(crate) fn document(page: &str) -> String {
    let html = settled("page.html", page).value("document.documentElement.outerHTML");
    html.as_str().unwrap().to_string()
}

/// What a session of `tests/suite/page/NAME.py` found on a page. It uses real keys, unlike [`run`].
pub(crate) fn session(name: &str, page: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = root.join("tests/suite/page").join(name).with_extension("py");
    let mut python = Command::new("python3");
    python.arg(script).arg(file).env("PYTHONPATH", root.join("scripts")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The number of sheets of paper that a page takes.
pub(crate) fn sheets(page: &str) -> usize {
    sheets_of("page.html", page)
}

/// The number of sheets of paper that a file takes.
pub(crate) fn sheets_of(name: &str, text: &str) -> usize {
    let printing = json!({ "printBackground": true, "displayHeaderFooter": true, "preferCSSPageSize": true });
    let pdf = settled(name, text).call("Page.printToPDF", &printing)["data"].take();
    let pdf = base64::engine::general_purpose::STANDARD.decode(pdf.as_str().unwrap()).unwrap();
    regex::Regex::new(r"/Type\s*/Page\b").unwrap().find_iter(&String::from_utf8_lossy(&pdf)).count()
}

const WINDOW: (u32, u32) = (1400, 900);
