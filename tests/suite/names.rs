//! Names copied from the screen: the displayed name of a function, used as a pattern, finds that function.

use std::collections::BTreeSet;

use prof::name::{clean, fit, short_names};
use prof::pattern::{Pattern, Patterns};
use prof::profile::{Profile, from_notation};
use prof::tree::{self, By};
use prof::view::{FocusOptions, Scope, TopOptions, focus, top};

use crate::support::{corpus, fixture, load_file, load_well, prof};

const RECORDED: &[&str] = &[
    "austin/python.austin",
    "collapsed/python.folded",
    "cpuprofile/node.cpuprofile",
    "dhat/c.dhat.json",
    "jfr/java.jfr",
    "perf-script/rust.perf.txt",
    "pprof/go-cpu.pb.gz",
    "pprof/rust-cpu.pb.gz",
    "pstats/python.pstats",
    "speedscope/python.speedscope.json",
];

/// The forms in which each of `names` may be displayed: full, short, and truncated to several widths.
fn shown(names: &[String]) -> Vec<(String, BTreeSet<String>)> {
    let short = short_names(names);
    let forms = names.iter().zip(short).map(|(full, short)| {
        let mut forms = BTreeSet::new();
        for form in [full, &short].map(|form| clean(form).into_owned()) {
            for width in [24, 48] {
                forms.insert(fit(&form, width, "…"));
            }
            forms.insert(format!("{form} (31 files)"));
            forms.insert(form);
        }
        (full.clone(), forms)
    });
    forms.collect()
}

/// Checks the heaviest functions of a profile.
fn check(profile: &Profile, by: &By, tried: usize, what: &str) {
    let metric = profile.meta.default_metric;
    let scope = Scope { by: by.clone(), ..Scope::metric(metric) };
    let rows = top(profile, &TopOptions::new(scope.clone())).rows;
    let names: Vec<String> = rows.iter().take(tried).map(|row| row.name.to_string()).collect();
    for (full, forms) in shown(&names) {
        for form in forms.iter().filter(|form| !form.is_empty()) {
            let found = focus(profile, &FocusOptions::new(scope.clone(), form));
            let found = found.unwrap_or_else(|error| panic!("{what}: focus {form}: {error:?}"));
            let holds = *found.name == *full || found.matches.iter().any(|found| *found.name == *full);
            // A truncated name may match something else as a regular expression, which has precedence.
            let is_other_regex = form.contains('…') && found.header.warnings.is_empty();
            if is_other_regex && !holds {
                continue;
            }
            assert!(holds, "{what}: focus {form} does not find {full}, but {:?}", found.matches);
            if *form == full {
                assert_eq!(*found.name, *full, "{what}: an exact name matches that function alone");
            }
            assert!(is_meant(profile, by, form, &full), "{what}: --show-stacks {form} does not find {full}");
        }
    }
}

/// Whether `pattern`, used in a filter, matches frames of the node called `name`.
fn is_meant(profile: &Profile, by: &By, pattern: &str, name: &str) -> bool {
    let marks = |pattern: Pattern| tree::marks(profile, &Patterns::from_iter([pattern]), by);
    let keys = prof::tree::Keys::new(profile, by);
    let regex = marks(Pattern::parse(pattern, false).unwrap().0);
    let marks =
        if regex.match_profile(profile) { regex } else { marks(Pattern::literal_of(pattern).unwrap()) };
    let frames = profile.symbols.frames.ids().filter(|&frame| **keys.name(keys.of_frame(frame)) == *name);
    frames.into_iter().any(|frame| marks.contain(frame))
}

#[test]
fn names_of_recorded_profiles_are_found() {
    for path in RECORDED {
        let profile = load_well(&fixture(path));
        for (by, tried) in [(By::Function, 8), (By::Line, 3), (By::File, 2), (By::Package, 2)] {
            check(&profile, &by, tried, &format!("{path} {by:?}"));
        }
    }
}

#[test]
#[needs(Corpus)]
fn names_of_the_corpus_are_found() {
    for folder in ["cpuprofile", "collapsed", "callgrind", "speedscope", "dtrace"] {
        let files = corpus(folder);
        for path in files {
            let is_small = path.metadata().unwrap().len() < 1 << 20;
            if let (true, Ok(profile)) = (is_small, load_file(&path)) {
                check(&profile, &By::Function, 3, &path.display().to_string());
            }
        }
    }
}

#[test]
fn names_with_characters_of_expressions_are_found() {
    let picture = "[libc.so.6];f(int);f[int];\"quoted\";a*b+c?;^$;x|y;{closure};it's;two;\\q 1\nf;[l] 2";
    check(&from_notation(picture), &By::Function, 20, "made up");
}

#[test]
fn the_program_accepts_displayed_names() {
    let folder = fixture("");
    let name = "waysToPay file:///srv/invoices/invoices.mjs:52:19";
    for arguments in [
        ["top", "--show-stacks", name, "cpuprofile/node.cpuprofile"].as_slice(),
        &[
            "top",
            "--show-stacks",
            "waysToPay file:///srv/in…invoices.mjs:52:19",
            "cpuprofile/node.cpuprofile",
        ],
        &["focus", name, "cpuprofile/node.cpuprofile"],
        &[
            "top",
            "--by",
            "line",
            "--hide-frames",
            "gauss /usr/lib/python3.11/random.py:5",
            "speedscope/python.speedscope.json",
        ],
    ] {
        let output = prof(&folder, arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
    }
    let output = prof(&folder, &["top", "--show-stacks", name, "-f", "json", "cpuprofile/node.cpuprofile"]);
    let json: serde_json::Value = serde_json::from_slice(&{ output }.output().unwrap().stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(json["shown"], row["total"], "every stack shown holds the function");
}
