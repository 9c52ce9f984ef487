//! The text reports of `prof diff`: shares, budgets, widths.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr;

use crate::support::needs::shared;
use crate::support::sides::{compare, usual};
use crate::support::{files, fixture, load_well, prof};
use prof::output::{self, Style};
use prof::profile::Profile;
use prof::report::Report;
use prof::view::DiffOptions;

fn run(arguments: &[&str]) -> Output {
    prof(Path::new(env!("CARGO_MANIFEST_DIR")), arguments).output().unwrap()
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The two sides of a file with two weights, and of pprof files.
fn pairs() -> Vec<Vec<String>> {
    let path = |name: &str| fixture(name).display().to_string();
    vec![
        vec![path("collapsed/before-after.folded")],
        vec![path("pprof/go-cpu-old.pb.gz"), path("pprof/go-cpu-new.pb.gz")],
        vec![path("pprof/go-heap-earlier.pb.gz"), path("pprof/go-heap.pb.gz")],
        vec![path("pprof/go-mutex.pb.gz"), path("pprof/go-mutex.pb.gz")],
    ]
}

fn folded(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Percent with one decimal, rounded half away from zero.
fn percent(value: i64, whole: i64) -> String {
    let tenths = (i128::from(value) * 2000 + i128::from(whole)) / (2 * i128::from(whole));
    if tenths == 0 && value != 0 { "<0.1%".to_string() } else { format!("{}.{}%", tenths / 10, tenths % 10) }
}

#[test]
fn every_share_is_of_the_total_of_its_own_side() {
    for pair in pairs() {
        for normalize in ["core", "total", "none", "per=1000,1300"] {
            let with = |format: &str| -> String {
                let mut arguments = vec!["diff", "-q", "-n", "0", "--normalize", normalize, "-f", format];
                arguments.extend(pair.iter().map(String::as_str));
                text_of(&run(&arguments).stdout)
            };
            let document: Value = serde_json::from_str(&with("json")).unwrap();
            let totals = ["old", "new"].map(|side| document[side]["total"].as_i64().unwrap());
            let mut expected: HashMap<String, [String; 2]> = HashMap::new();
            for row in document["rows"].as_array().unwrap() {
                let test = row["test"].as_str().unwrap();
                let shares = [("old", totals[0]), ("new", totals[1])]
                    .map(|(side, total)| percent(row[side][test].as_i64().unwrap(), total));
                let suffix = if test == "self" { " (self)" } else { "" };
                expected.insert(format!("{}{suffix}", row["name"].as_str().unwrap()), shares);
            }
            let text = with("text");
            let mut compared = 0;
            for line in text.lines() {
                let mut shares = line.split_whitespace().filter(|word| word.ends_with('%'));
                let (Some(old), Some(new)) = (shares.next(), shares.next()) else { continue };
                let Some((_, shares)) = expected.iter().find(|(name, _)| {
                    line.strip_suffix(name.as_str()).is_some_and(|before| before.ends_with("  "))
                }) else {
                    continue;
                };
                assert_eq!([old, new], [&shares[0], &shares[1]], "{normalize}: {line}\n{text}");
                compared += 1;
            }
            assert!(compared > 2, "{normalize}: {text}");
            for form in ["markdown", "github", "junit"] {
                let text = with(form).replace("%25", "%");
                // The confidence level of an interval is not a share.
                for word in
                    text.replace("95% CI", "").split(|c: char| !c.is_ascii_digit() && !".%".contains(c))
                {
                    let number = word.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
                    assert!(
                        number.is_none_or(|number| number <= 100.0),
                        "{form} {normalize}: {word}\n{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn one_total_has_one_value_in_all_forms_of_a_report() {
    let folder = TempDir::new().unwrap();
    // hash has 1,611 of 10,112 samples on the new side: 15.93 %, and 811 of 9,307 on the old one: 8.71 %.
    let budget = folded(&folder, "budget.toml", "[[budget]]\nfunction = '^hash$'\nself = '12 %'\n");
    let profile = fixture("collapsed/before-after.folded").display().to_string();
    for form in ["text", "markdown", "github", "junit"] {
        let output = run(&["diff", "-q", "-f", form, "--budget", &budget, &profile]);
        assert_eq!(output.status.code(), Some(1));
        let report = text_of(&output.stdout).replace("%25", "%");
        let lines: Vec<&str> = report.lines().filter(|line| line.contains("hash")).collect();
        assert!(lines.len() >= 2, "{form}: {report}");
        for line in lines.iter().filter(|line| line.contains('%') && !line.contains("testcase")) {
            assert!(line.contains("15.9%"), "{form}: {line}");
            assert!(!line.contains("17.3%"), "{form}: {line}");
        }
        assert!(report.contains("8.7%"), "{form}: {report}");
        // Rescaled values are labelled as such, once.
        if ["text", "markdown"].contains(&form) {
            assert_eq!(
                report.replace('\n', " ").matches("compare the values as recorded").count(),
                1,
                "{report}"
            );
        }
    }
}

#[test]
fn a_budget_that_no_function_matches_is_an_error_unless_it_is_optional() {
    let folder = TempDir::new().unwrap();
    let profile = fixture("collapsed/before-after.folded").display().to_string();
    let check = |budget: &str| {
        let budget = folded(&folder, "budget.toml", budget);
        run(&["diff", "--budget", &budget, &profile])
    };
    let misspelt = check("[[budget]]\nfunction = 'hahs'\ntotal = '12 %'\n");
    assert_eq!(misspelt.status.code(), Some(2), "{}", text_of(&misspelt.stdout));
    let said = text_of(&misspelt.stderr);
    assert!(said.contains("budget.toml: the budget of `hahs`: nothing matches"), "{said}");
    let near = check("[[budget]]\nfunction = 'hashh'\ntotal = '12 %'\n");
    assert!(text_of(&near.stderr).contains("did you mean hash?"), "{}", text_of(&near.stderr));
    assert_eq!(text_of(&near.stdout), "");
    let optional = check(
        "[[budget]]\nfunction = 'hahs'\ntotal = '12 %'\noptional = true\n[[budget]]\nfunction = 'hash'\ntotal = '50 %'\n",
    );
    assert_eq!(optional.status.code(), Some(1), "`hash` regressed");
    let said = text_of(&optional.stdout).replace('\n', " ");
    assert!(said.contains("within budget: no function matches `hahs`; the budget is optional"), "{said}");
    assert!(!said.contains("0.0% (") && !said.contains("is -0"), "{said}");
    // An invalid regular expression is matched literally, as everywhere.
    let literal = check("[[budget]]\nfunction = 'hash('\ntotal = '12 %'\n");
    assert_eq!(literal.status.code(), Some(2));
}

#[test]
fn a_budget_whose_metric_has_no_value_is_an_error() {
    let folder = TempDir::new().unwrap();
    let (full, empty) =
        (folded(&folder, "full.folded", "main;a 5\n"), folded(&folder, "empty.folded", "main;a 0\n"));
    let budget = |name: &str, more: &str| {
        folded(&folder, name, &format!("[[budget]]\nfunction = 'a'\ntotal = '12 %'\n{more}\n"))
    };
    let status = |budget: &str, old: &str, new: &str| {
        let output = run(&["diff", "--budget", budget, old, new]);
        (output.status.code(), text_of(&output.stderr))
    };
    let (code, said) = status(&budget("plain.toml", ""), &full, &empty);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the new side has no values of samples"), "{said}");
    assert_eq!(status(&budget("optional.toml", "optional = true"), &full, &empty).0, Some(0));
    let (code, said) = status(&budget("unknown.toml", "metric = 'smaples'"), &full, &full);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("did you mean samples"), "{said}");
    // A metric of other profiles: the budget would never be checked.
    let (code, said) = status(&budget("other.toml", "metric = 'inuse_space'"), &full, &full);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the inputs' metric is samples"), "{said}");
    let (code, said) = status(&budget("both.toml", "metric = 'inuse_space'\noptional = true"), &full, &full);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 of 1 budgets not checked: not for the metric samples"), "{said}");
}

#[test]
fn a_limit_without_a_unit_is_an_error_where_units_differ() {
    let folder = TempDir::new().unwrap();
    let v8 = fixture("cpuprofile/node.cpuprofile").to_string_lossy().into_owned();
    let status = |limit: &str| {
        let budget = folded(
            &folder,
            "budget.toml",
            &format!("[[budget]]\nfunction = 'waysToPay'\nself = '{limit}'\n"),
        );
        let output = run(&["diff", "--budget", &budget, &v8, &v8]);
        (output.status.code(), text_of(&output.stderr))
    };
    let (code, said) = status("250");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the unit is missing") && said.contains(r#"self = "250 ms""#), "{said}");
    assert_eq!(status("250 s").0, Some(0));
}

/// Whether a JSON document contains a negative zero.
fn has_negative_zero(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.as_f64().is_some_and(|number| number == 0.0 && number.is_sign_negative())
        }
        Value::Array(values) => values.iter().any(has_negative_zero),
        Value::Object(values) => values.values().any(has_negative_zero),
        _ => false,
    }
}

#[test]
fn no_number_is_a_zero_with_a_sign_or_infinite_or_none() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| folded(&folder, name, text);
    let (full, empty) = (file("full", "main;a 5\nmain;b 7\n"), file("empty", "main;a 0\n"));
    let (tiny, huge) =
        (file("tiny", "main;a 1\n"), file("huge", &format!("main;a {}\nmain;b 1\n", i64::MAX / 4)));
    let budget = file("budget.toml", "[[budget]]\nfunction = 'nothing'\ntotal = '0 %'\noptional = true\n");
    let mut all = pairs();
    for (old, new) in [(&full, &empty), (&empty, &full), (&empty, &empty), (&tiny, &huge), (&huge, &tiny)] {
        all.push(vec![old.clone(), new.clone()]);
    }
    for pair in all {
        for normalize in ["core", "total", "none", "per=1e-50,1e50", "per=1e50,1e-50"] {
            for form in ["text", "json", "csv", "markdown", "github", "junit"] {
                let mut arguments = vec!["diff", "--min-points=-0", "--normalize", normalize, "-f", form];
                arguments.extend(["--budget", &budget]);
                arguments.extend(pair.iter().map(String::as_str));
                let output = run(&arguments);
                let said = text_of(&output.stdout);
                assert!([Some(0), Some(1)].contains(&output.status.code()), "{}", text_of(&output.stderr));
                for word in said.split(|c: char| c.is_whitespace() || ",:|;<>(\"".contains(c)) {
                    let word = word.replace('−', "-");
                    assert!(!["NaN", "inf", "-inf"].contains(&&*word), "{arguments:?}: {said}");
                    let number = word.trim_end_matches(['%', 'p', 't']).trim_start_matches('×');
                    let zero =
                        number.starts_with('-') && number.parse::<f64>().is_ok_and(|number| number == 0.0);
                    assert!(!zero, "{arguments:?}: {word} in {said}");
                }
                if form == "json" {
                    assert!(!has_negative_zero(&serde_json::from_str(&said).unwrap()), "{said}");
                }
            }
        }
    }
}

/// The profiles of both sides of real comparisons.
fn real_pairs() -> Vec<[Vec<PathBuf>; 2]> {
    let mut found = Vec::new();
    for (name, runs) in
        [("long250", ["A-00", "A-01"]), ("steady250", ["A-00", "A-01"]), ("aa-steady", ["A-001", "A-003"])]
    {
        let sides = runs.map(|run| shared("ab").join(name).join(format!("{run}.pb.gz")));
        found.push(sides.map(|side| vec![side]));
    }
    let changes = fs::read_dir(shared("changes")).unwrap();
    for folder in changes.map(|entry| entry.unwrap().path()) {
        let sides = ["old", "new"].map(|side| folder.join(side));
        if sides.iter().all(|side| side.is_dir()) {
            // Two runs are enough to fill every column.
            found.push(sides.map(|side| files(&side).into_iter().take(2).collect()));
        }
    }
    found
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_row_loses_what_tells_it_apart() {
    let fixtures = [
        ["pprof/go-cpu-old.pb.gz", "pprof/go-cpu-new.pb.gz"],
        ["pprof/go-heap-earlier.pb.gz", "pprof/go-heap.pb.gz"],
        ["cpuprofile/node.cpuprofile", "cpuprofile/node.cpuprofile"],
        ["pstats/python.pstats", "pstats/python.pstats"],
    ];
    lines_fit(fixtures.iter().map(|pair| pair.map(|name| vec![fixture(name)])).collect());
}

#[test]
#[needs(Runs, Builds)]
fn no_line_of_a_real_comparison_is_wider_than_the_terminal() {
    lines_fit(real_pairs());
}

fn lines_fit(pairs: Vec<[Vec<PathBuf>; 2]>) {
    for pair in pairs {
        let load = |side: &[PathBuf]| -> Vec<Profile> { side.iter().map(|path| load_well(path)).collect() };
        let (old, new) = (load(&pair[0]), load(&pair[1]));
        let metrics = |side: &'static str| -> Vec<(&Profile, usize)> {
            let profiles = if side == "old" { &old } else { &new };
            profiles.iter().map(|profile| (profile, profile.meta.default_metric)).collect()
        };
        let options = DiffOptions { limit: Some(40), ..usual() };
        let diff = Report::Diff(Box::new(compare(&metrics("old"), &metrics("new"), &options)));
        for short_names in [true, false] {
            let text = |width: Option<usize>| {
                let mut bytes = Vec::new();
                let style = Style { width, short_names, ..Style::plain() };
                output::text(&diff, &style, &mut bytes).unwrap();
                text_of(&bytes)
            };
            let full = text(None);
            for width in [60, 80, 100, 120, 200] {
                let narrow = text(Some(width));
                for line in narrow.lines() {
                    assert!(line.width() <= width, "{pair:?} {width}: {line}");
                }
                // `(self)` is never truncated: it occurs as often as in the full output.
                let count = |text: &str| text.matches("(self)").count();
                assert_eq!(count(&narrow), count(&full), "{pair:?} {width}:\n{narrow}");
                // Nor is the last part of a name, even if the name continues on the next line.
                let unbroken = without_blanks(&narrow);
                for line in full.lines().filter(|line| line.ends_with(" (self)")) {
                    let name = line.trim_end_matches(" (self)");
                    let last = name.rsplit([' ', '.', '/', ':', '\\']).next().unwrap();
                    assert!(
                        unbroken.contains(&format!("{last}(self)")),
                        "{last} of {pair:?} {width}:\n{narrow}"
                    );
                }
            }
        }
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn rows_that_differ_only_in_what_is_cut_stay_apart() {
    let folder = TempDir::new().unwrap();
    let long =
        |name: &str| format!("com.example.{name}.warehouse.inventory.StockService.recalculateEverything");
    let side = |first: i64| {
        let rows = [("alpha", 400), ("beta", 390), ("gamma", 380), ("delta", first)];
        rows.map(|(name, count)| format!("main;{} {count}\n", long(name))).concat()
    };
    let (old, new) = (folded(&folder, "old", &side(300)), folded(&folder, "new", &side(900)));
    for width in ["60", "80", "100"] {
        let output = run(&["diff", "-q", "--width", width, &old, &new]);
        // Without whitespace, a name that is wrapped is complete.
        let text = without_blanks(&text_of(&output.stdout));
        for name in ["alpha", "beta", "gamma", "delta"] {
            assert!(text.contains(&format!("{}(self)", long(name))), "{width}: {text}");
        }
    }
}

#[test]
fn packages_are_compared_per_unit_of_unchanged_functions() {
    // Three packages are too few to tell what did not change, but their nine functions are not: one of them costs 3 times.
    let side = |parse: i64| {
        let packages = ["a", "b", "c"].iter().enumerate();
        let line = |(number, package): (usize, &&str)| {
            let function = |f: usize| {
                let value = if (number, f) == (0, 0) { parse } else { 2000 + 100 * (number * 3 + f) as i64 };
                format!("main;example.com/{package}.f{f} {value}\n")
            };
            (0..3).map(function).collect::<String>()
        };
        packages.map(line).collect::<String>()
    };
    let folder = TempDir::new().unwrap();
    let (old, new) = (folded(&folder, "old.folded", &side(2000)), folded(&folder, "new.folded", &side(6000)));
    let report = |by: &[&str]| -> Value {
        let shared = ["diff", "-q", "--noise", "steady", "-f", "json", &old, &new];
        serde_json::from_slice(&run(&[&shared, by].concat()).stdout).unwrap()
    };
    let (functions, packages) = (report(&[]), report(&["--by", "package"]));
    assert_eq!(functions["normalize"], packages["normalize"]);
    assert_eq!(functions["normalize"]["reason"], Value::Null);
    let ratio = functions["normalize"]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn matched_functions_have_short_names_where_all_others_have() {
    let folder = TempDir::new().unwrap();
    let side = |name: &str| format!("main;example.com/shop/{name} 300\nmain;example.com/shop/cart.Add 400\n");
    let old = folded(&folder, "old.folded", &side("cart.Total"));
    let new = folded(&folder, "new.folded", &side("cart.Sum"));
    let given = folded(&folder, "given", "example.com/shop/cart.Total = example.com/shop/cart.Sum\n");
    let shown =
        |names: &str| text_of(&run(&["diff", "-q", "--names", names, "--match", &given, &old, &new]).stdout);
    assert!(shown("short").contains("matched: cart.Total → cart.Sum (given)"), "{}", shown("short"));
    assert!(shown("full").contains("matched: example.com/shop/cart.Total →"), "{}", shown("full"));
}

/// Everything became 1.5 times as long, and `f` three times. The lines of the sides show +63.7% (18,031 after 11,012).
#[test]
fn growth_after_rescaling_names_the_recorded_growth() {
    let folder = tempfile::tempdir().unwrap();
    let side = |other: u32, f: u32| {
        let line = |name: char| format!("main;{name}0 {other}\n");
        let lines: String = ('a'..='j').map(line).collect();
        lines + &format!("main;f {f}\n")
    };
    let old = folded(&folder, "old.folded", &side(1001, 1002));
    let new = folded(&folder, "new.folded", &side(1503, 3001));
    let text = text_of(&run(&["diff", "--noise", "steady", &old, &new]).stdout);
    assert!(text.contains("+9.1% in total after rescaling (95% CI "), "{text}");
    assert!(text.contains("; +63.7% as recorded): 1 cause explains"), "{text}");
    let text = text_of(&run(&["diff", "--noise", "steady", "--normalize", "none", &old, &new]).stdout);
    assert!(text.contains("as recorded, not rescaled") && !text.contains("as recorded)"), "{text}");
}

/// The new runs are 1.5 times as long; that there are two of them does not change the factor that people see.
#[test]
fn the_factor_is_that_of_a_run_if_sides_have_different_numbers_of_runs() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, other: u32| {
        let line = |name: char| format!("main;{name}0 {other}\n");
        let lines: String = ('a'..='k').map(line).collect();
        folded(&folder, name, &(lines + &format!("main;{name} 1\n")))
    };
    let (old, new) = (side("old.folded", 1001), [side("one.folded", 1503), side("two.folded", 1503)]);
    let text = text_of(&run(&["diff", "--noise", "steady", "--old", &old, "--new", &new[0], &new[1]]).stdout);
    assert!(text.contains("the old one is multiplied by 1.50"), "{text}");
    // Or everything costs 1.5 times as much.
    let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.contains("if all runs did the same work, use --normalize none"), "{text}");
}

/// Calls of single runs cannot be tested, but their differences are those of the recorded values.
#[test]
fn untested_changes_are_not_rescaled() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let program = |g: u32| {
        format!(
            "events: Ir\n\nfn=main\n1 10\ncfn=f\ncalls=100 1\n1 1000\ncfn=g\ncalls={g} 1\n1 50\n\nfn=f\n1 1000\n\nfn=g\n1 50\n"
        )
    };
    std::fs::write(here.join("old.callgrind"), program(1)).unwrap();
    std::fs::write(here.join("new.callgrind"), program(41)).unwrap();
    let words = ["diff", "-q", "-f", "json", "-n", "0", "-m", "calls", "old.callgrind", "new.callgrind"];
    let output = prof(here, &words).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = |name: &str| {
        report["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let (f, g) = (row("f"), row("g"));
    assert_eq!((&f["delta"]["self"], &g["delta"]["self"]), (&0.into(), &40.into()), "{f} {g}");
    // Points are parts of the old total, 101 calls.
    let points = |row: &serde_json::Value| row["points"].as_f64().unwrap();
    assert!(points(&f).abs() < 1e-9 && (points(&g) - 4000.0 / 101.0).abs() < 1e-9, "{f} {g}");
}

/// Six functions were renamed, of which the report names five.
#[test]
fn every_match_can_be_listed() {
    let folder = TempDir::new().unwrap();
    let lines = |line: &dyn Fn(u8) -> String| (1..=6).map(line).collect::<String>();
    let side = |word: &str| lines(&|number| format!("main;{word}{number} 30{number}\n"));
    let old = folded(&folder, "old.folded", &side("a"));
    let new = folded(&folder, "new.folded", &side("b"));
    let pairs = lines(&|number| format!("a{number} = b{number}\n"));
    let given = folded(&folder, "given", &pairs);
    let shown = |option: &str| text_of(&run(&["diff", option, "--match", &given, &old, &new]).stdout);
    let (short, all) = (shown("-q"), shown("-v"));
    assert!(short.contains(" · 1 more (-v lists all)") && short.matches("(given)").count() == 5, "{short}");
    assert!(!all.contains(" more (") && all.matches("(given)").count() == 6, "{all}");
}
