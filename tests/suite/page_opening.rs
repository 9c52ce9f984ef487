//! The sentence at the top of the page: each of its clauses is a number of the command line.

use prof::profile::from_notation;
use serde_json::{Value, json};

use crate::page::browser::{page_of, run};
use crate::support::{fixture, load_well, prof};

/// The parts of the sentence, with names in full.
const PARTS: &str = "
    const parts = () => opening(page.model).map((part) => (typeof part === 'string' ? part : { name: page.data.names[part.id] }));
";

fn sentence(picture: &str, check: &str) -> Value {
    let text = "const text = () => document.getElementById('opening').textContent.trim();";
    run(&page_of(&from_notation(picture)), "", &format!("{text}{check}"))
}

#[test]
#[needs(Browser)]
fn kinds_of_work_are_said_with_the_call_that_leads_to_them() {
    let picture = "
        main.main;main.run;encoding/json.Marshal;runtime.mallocgc 300
        main.main;main.run;main.work 500
        main.main;main.run;main.read;runtime.mallocgc 100
        main.main;main.other;main.rest 100";
    let check = "
        const all = text();
        page.addFilter('show-stacks', 'runtime.mallocgc', true);
        const filtered = text();
        page.change({ filters: [] });
        page.addFilter('hide-stacks', 'encoding/json.Marshal', true);
        return [all, filtered, text()];";
    let found = sentence(picture, check);
    assert_eq!(
        found[0],
        "50% of samples are in main.work itself, called only by main.run; 40% in allocation, mostly below json.Marshal; 10% in main.rest itself."
    );
    // That everything shown allocates is no news.
    let filtered = found[1].as_str().unwrap();
    assert!(filtered.starts_with("100% of the samples shown are in runtime.mallocgc itself"), "{filtered}");
    assert!(!filtered.contains("allocation"), "{filtered}");
    assert!(found[2].as_str().unwrap().contains("14% in allocation;"), "{found}");
}

#[test]
#[needs(Browser)]
fn the_nearest_own_caller_is_named_where_a_library_calls() {
    let picture = "
        main.main;main.run;sort.Slice;sort.insertion;sort.insertion;main.less 950
        main.main;main.other;sort.Slice;sort.insertion;main.less 50
        main.main;main.rest 200";
    let found = sentence(picture, "return text();");
    let first = "83% of samples are in main.less itself, reached almost always from main.run; 17% in main.rest itself.";
    assert_eq!(found, first);
}

#[test]
#[needs(Browser)]
fn few_samples_and_work_that_is_spread_wide_are_said() {
    let spread: Vec<String> = (0..40).map(|at| format!("main.main;main.run;main.f{at} 5")).collect();
    let found = sentence(&spread.join("\n"), "return text();");
    assert_eq!(
        found,
        "100% of samples are in main.run and what it calls; spread wide: no function has more than 3% itself."
    );
    let found = sentence("main.main;main.work 15\nmain.main 5", "return text();");
    let warning = "Only 20 samples: shares may be off by ±16 percentage points; ";
    assert!(found.as_str().unwrap().starts_with(warning), "{found}");
}

/// What `prof` prints as JSON.
fn report(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = prof(folder.path(), arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[needs(Browser)]
fn each_clause_is_what_top_and_focus_say() {
    let kinds = [
        ("garbage collection", "@gc"),
        ("allocation", "@alloc"),
        ("waiting", "@idle"),
        ("locks", "@lock"),
        ("system calls", "@syscall"),
    ];
    let mut said = String::new();
    for file in [
        "pprof/go-cpu.pb.gz",
        "pprof/rust-cpu.pb.gz",
        "austin/python.austin",
        "jfr/java.jfr",
        "cpuprofile/node.cpuprofile",
        "collapsed/rust.folded",
    ] {
        let path = fixture(file);
        let path = path.to_str().unwrap();
        let parts = run(&page_of(&load_well(&fixture(file))), "", &format!("{PARTS} return parts();"));
        let parts = parts.as_array().unwrap();
        let text = |at: usize| parts.get(at).and_then(Value::as_str).unwrap_or_default();
        let name = |at: usize| parts.get(at).and_then(|part| part["name"].as_str());
        let top = report(&["top", "-f", "json", path]);
        let whole = top["shown"].as_f64().unwrap();
        let row = |top: &Value, name: &str, key: &str| {
            let rows = top["rows"].as_array().unwrap();
            rows.iter().find(|row| row["name"] == name).map_or(0.0, |row| row[key].as_f64().unwrap())
        };
        let percent = |text: &str| {
            let number = text.trim_start_matches("; ").split('%').next().unwrap();
            number.parse::<i64>().ok()
        };
        for at in 0..parts.len() {
            said += text(at);
            let Some(stated) = percent(text(at)) else { continue };
            let through = |pattern: &str| report(&["top", "-f", "json", "--show-stacks", pattern, path]);
            if let Some(name) = name(at + 1) {
                let key = if text(at + 2).starts_with(" itself") { "self" } else { "total" };
                assert_eq!(
                    stated,
                    (100.0 * row(&top, name, key) / whole).round() as i64,
                    "{file}: {parts:?}"
                );
                let Some(caller) = parts.get(at + 3).and_then(|part| part["name"].as_str()) else { continue };
                let least = match text(at + 2) {
                    words if words.contains("only") => 0.995,
                    words if words.contains("almost always") => 0.9,
                    words if words.contains("mostly") => 0.5,
                    _ => continue,
                };
                let part = if text(at + 2).contains("called") {
                    let focus = report(&["focus", name, "-f", "json", path]);
                    let callers = focus["callers"].as_array().unwrap();
                    let value = callers.iter().find(|row| row["name"] == caller).unwrap();
                    value["value"].as_f64().unwrap() / focus["total"].as_f64().unwrap()
                } else {
                    let below = through(&format!("^{}$", regex::escape(name)));
                    row(&below, caller, "total") / below["shown"].as_f64().unwrap()
                };
                assert!(part >= least, "{file}: {part} of {name} from {caller}: {parts:?}");
            } else if let Some((_, set)) = kinds.iter().find(|(kind, _)| text(at).contains(kind)) {
                let of_kind = through(set);
                let shown = of_kind["shown"].as_f64().unwrap();
                assert_eq!(stated, (100.0 * shown / whole).round() as i64, "{file}: {parts:?}");
                if let Some(above) = name(at + 1) {
                    assert!(row(&of_kind, above, "total") / shown >= 1.0 / 3.0, "{file}: {parts:?}");
                }
            }
        }
    }
    for words in ["itself", "called", "reached", "garbage collection"] {
        assert!(said.contains(words), "no sentence says {words}: {said}");
    }
    assert_ne!(json!(said), json!(""));
}
