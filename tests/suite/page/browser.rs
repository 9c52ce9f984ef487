//! Runs headless Chromium for the tests of the page: it loads a page from disk, runs a script in it, and
//! returns the script's result as JSON.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use prof::output::{HtmlOptions, html};
use prof::profile::Profile;
use prof::report::Page;
use prof::view::{self, PageOptions, Scope};
use serde_json::Value;

use crate::support::needs;

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
    let before = include_str!("before.js");
    let after = include_str!("after.js");
    // The policy names the page's own scripts; the script of the check needs leave.
    let policy = regex::Regex::new("script-src [^;]*;").unwrap();
    let page = policy.replace(page, "script-src 'unsafe-inline';");
    let page = page.replacen("<head>", &format!("<head><script>{before}</script>"), 1);
    let tail = format!("<script>{after}\nrun(async () => {{{check}}});</script>\n</body>");
    let (head, end) = page.rsplit_once("</body>").unwrap();
    results(&load("page.html", &format!("{head}{tail}{end}"), hash, size, &["--dump-dom"]))
}

/// The document that a page becomes, with the policy that it has.
pub(crate) fn document(page: &str) -> String {
    load("page.html", page, "", WINDOW, &["--dump-dom"])
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
    let folder = tempfile::tempdir().unwrap();
    let pdf = folder.path().join("page.pdf");
    load(name, text, "", WINDOW, &[&format!("--print-to-pdf={}", pdf.display())]);
    let pdf = String::from_utf8_lossy(&std::fs::read(pdf).unwrap()).into_owned();
    regex::Regex::new(r"/Type\s*/Page\b").unwrap().find_iter(&pdf).count()
}

const WINDOW: (u32, u32) = (1400, 900);

/// Like [`run`], for an SVG.
pub(crate) fn run_svg(picture: &str, check: &str) -> Value {
    let before = include_str!("before.js");
    let after = include_str!("after.js");
    let script =
        format!("<script><![CDATA[{before}\n{after}\nrun(async () => {{{check}}});]]></script></svg>");
    let head = picture.trim_end().strip_suffix("</svg>").unwrap();
    results(&load("picture.svg", &format!("{head}{script}"), "", WINDOW, &["--dump-dom"]))
}

/// Loads a file and returns what the browser writes to standard output.
fn load(name: &str, text: &str, hash: &str, (width, height): (u32, u32), flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();

    let log = folder.path().join("log");
    let dump = folder.path().join("dump");
    let mut command = Command::new(needs::browser());
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args([&format!("--window-size={width},{height}"), "--virtual-time-budget=60000"]).args(flags);
    command.arg(format!("--user-data-dir={}", folder.path().join("user").display()));
    command.arg(format!("file://{}#{hash}", file.display()));
    command.stdout(std::fs::File::create(&dump).unwrap());
    command.stderr(std::fs::File::create(&log).unwrap()).stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_mins(5) {
            child.kill().unwrap();
            panic!("chromium does not exit: {}", std::fs::read_to_string(&log).unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::read_to_string(&dump).unwrap()
}

/// The result of the check in the document that was dumped.
fn results(dump: &str) -> Value {
    let (_, results) = dump.rsplit_once("id=\"test-results\">").expect("the check finishes");
    let (results, _) = results.split_once('<').unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(results).unwrap();
    let mut results: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(results["faults"], serde_json::json!([]));
    assert_eq!(results["requests"], serde_json::json!([]));
    results["result"].take()
}
