//! Every filter, with drawings of the stacks before and after it, in one table per filter.

use prof::pattern::Patterns;
use prof::profile::{Profile, from_notation, to_notation};
use prof::transform::{
    LabelFilter, Marks, Rename, by_label, collapse_recursion, hide_frames, hide_labels, hide_stacks,
    label_leaf, label_root, prune_from, rename, show_frames, show_from, show_labels, show_stacks,
    show_threads, without_inlines,
};
use prof::tree::{By, join_adjacent};

fn patterns(texts: &[&str]) -> Patterns {
    Patterns::parse(texts, false).unwrap().0
}

/// A row of a table: patterns, stacks before, stacks after, and how many stacks match.
type Row = (&'static [&'static str], &'static str, &'static str, usize);

fn check(name: &str, filter: fn(&Profile, &Marks) -> (Profile, usize), table: &[Row]) {
    for &(texts, before, after, matches) in table {
        let profile = from_notation(before);
        let marks = Marks::new(&profile, &patterns(texts));
        let (filtered, matched) = filter(&profile, &marks);
        assert_eq!(to_notation(&filtered), lines(after), "{name} {texts:?}:\n{before}");
        assert_eq!(matched, matches, "{name} {texts:?}:\n{before}");
        assert_eq!(
            filtered.meta.metrics[0].total, profile.meta.metrics[0].total,
            "the overall total does not change"
        );
    }
}

/// A drawing without the indentation it has in this file.
fn lines(drawing: &str) -> String {
    let mut lines: Vec<&str> =
        drawing.split('\n').map(str::trim_start).filter(|line| !line.is_empty()).collect();
    // A sample without a stack starts with a blank.
    let lines: Vec<String> = lines
        .drain(..)
        .map(|line| {
            if line.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                format!(" {line}")
            } else {
                line.to_string()
            }
        })
        .collect();
    lines.join("\n")
}

#[test]
fn stacks() {
    check(
        "show-stacks",
        show_stacks,
        &[
            (&["sort"], "main;sort;cmp 3\nmain;render 8", "main;sort;cmp 3", 1),
            (
                &["cmp", "render"],
                "main;sort;cmp 3\nmain;render 8\nmain 1",
                "main;render 8\nmain;sort;cmp 3",
                2,
            ),
            (&["^a$"], "a;a;b 1\nb;a 2\nb 4", "a;a;b 1\nb;a 2", 2),
            (&["helper"], "main;work;+helper 3\nmain;work 2", "main;work;+helper 3", 1),
            (&["file:work"], "main@main.c:1;f@work.c:2 3\nmain@main.c:1 2", "main@main.c:1;f@work.c:2 3", 1),
            (&["function:work"], "main@work.c:1;f@work.c:2 3", "", 0),
            (&["^main$"], "main 3\n 2", "main 3", 1),
            (&["nothing"], "main 3", "", 0),
            (&["main"], "main -3\nmain 2 {k=v}", "main -3\nmain 2 {k=v}", 1),
        ],
    );
    check(
        "hide-stacks",
        hide_stacks,
        &[
            (&["sort"], "main;sort;cmp 3\nmain;render 8", "main;render 8", 1),
            (&["cmp", "render"], "main;sort;cmp 3\nmain;render 8\nmain 1", "main 1", 2),
            (&["^a$"], "a;a;b 1\nb;a 2\nb 4\n 8", "8\nb 4", 2),
            (&["helper"], "main;work;+helper 3\nmain;work 2", "main;work 2", 1),
            (&["nothing"], "main 3", "main 3", 0),
            (&["main"], "main 3", "", 1),
        ],
    );
}

#[test]
fn frames() {
    check(
        "hide-frames",
        hide_frames,
        &[
            (&["sort"], "main;sort;cmp 3\nmain;sort 4\nmain 1", "main 5\nmain;cmp 3", 2),
            (&["^a$"], "main;a;a;b;a 2\nmain;b 1", "main;b 3", 1),
            (&["work"], "main;work;+helper 3", "main;+helper 3", 1),
            (&["helper"], "main;work;+helper 3\nmain;work 2", "main;work 5", 1),
            (&["main", "work"], "main;work;+helper 3\nmain 2", "2\n+helper 3", 2),
            (&["."], "main;work 3\n 2", "5", 1),
            (&["nothing"], "main 3", "main 3", 0),
            (&["b"], "a;b 3\na -2\na;c -1", "a -2\na 3\na;c -1", 1),
            (&["b"], "a;b 3 {k=v}\na 2\na 1 {k=v}", "a 2\na 4 {k=v}", 1),
        ],
    );
    check(
        "show-frames",
        show_frames,
        &[
            (&["sort"], "main;sort;cmp 3\nmain;sort 4\nmain 1", "1\nsort 7", 2),
            (&["^a$"], "main;a;a;b;a 2\nmain;b 1\na 4", "1\na 4\na;a;a 2", 2),
            (&["helper"], "main;work;+helper 3\nmain;work 2", "2\n+helper 3", 1),
            (&["work", "main"], "main;work;+helper 3\nmain;work 2", "main;work 5", 2),
            (&["nothing"], "main 3", "3", 0),
        ],
    );
}

#[test]
fn ends_of_stacks() {
    check(
        "show-from",
        show_from,
        &[
            (&["sort"], "main;sort;cmp 3\nmain;render 8\nsort 1", "sort 1\nsort;cmp 3", 2),
            (&["^a$"], "main;a;b;a;c 2\nmain;b;a;c 1", "a;b;a;c 2\na;c 1", 2),
            (&["helper"], "main;work;+helper;leaf 3\nmain;work 2", "+helper;leaf 3", 1),
            (&["b", "c"], "main;b;c 1\nmain;c;b 2\n 4", "b;c 1\nc;b 2", 2),
            (&["nothing"], "main 3", "", 0),
        ],
    );
    check(
        "prune-from",
        prune_from,
        &[
            (&["sort"], "main;sort;cmp 3\nmain;render 8\nmain;sort 1", "main;render 8\nmain;sort 4", 2),
            (&["^a$"], "main;a;b;a;c 2\nmain;b;a 1", "main;a;b;a 2\nmain;b;a 1", 2),
            (&["helper"], "main;work;+helper;leaf 3\nmain;work 2", "main;work 2\nmain;work;+helper 3", 1),
            (&["b", "c"], "main;b;c;d 1\nmain;c;b;d 2\n 4", "4\nmain;b;c 1\nmain;c;b 2", 2),
            (&["nothing"], "main 3", "main 3", 0),
        ],
    );
}

/// Filters without patterns.
fn check_plain(name: &str, filter: impl Fn(&Profile) -> Profile, table: &[(&str, &str)]) {
    for &(before, after) in table {
        assert_eq!(to_notation(&filter(&from_notation(before))), lines(after), "{name}:\n{before}");
    }
}

#[test]
fn inlines_and_recursion() {
    check_plain(
        "no-inlines",
        without_inlines,
        &[
            ("main;work;+helper 3\nmain;work 2", "main;work 5"),
            ("main;work;+a;+b;leaf;+c 3", "main;work;leaf 3"),
            ("+a;+b;leaf 3", "+a;leaf 3"),
            (" 3", "3"),
        ],
    );
    check_plain(
        "collapse-recursion",
        collapse_recursion,
        &[
            ("main;fib;fib;fib 3\nmain;fib 2", "main;fib 5"),
            ("main;a;b;a 1\na;a;b;b;a;a 2", "a;b;a 2\nmain;a;b;a 1"),
            ("main;fib@a.c:1;fib@a.c:2 3", "main;fib@a.c:2 3"),
            ("main;fib;+fib 3", "main;+fib 3"),
            ("main;f@a.c:1;f@b.c:2 3", "main;f@b.c:2 3"),
            (" 1\nmain 2", "1\nmain 2"),
        ],
    );
}

#[test]
fn labels() {
    let before = "a 1 {endpoint=/users bytes=4096}\na 2 {endpoint=/orders}\nb 4 {bytes=512bytes}\nb 8 {wait=90ms}\nc 16 {wait=2s thread=main}\nc 32 {n=7 n=9}\nd 64";
    let table: &[(&[&str], &[usize], &str)] = &[
        (&["endpoint=/users"], &[1], "a 1 {bytes=4096 endpoint=/users}"),
        (&["endpoint"], &[2], "a 1 {bytes=4096 endpoint=/users}\na 2 {endpoint=/orders}"),
        (&["endpoint=/user"], &[0], ""),
        (&["endpoint=~user"], &[1], "a 1 {bytes=4096 endpoint=/users}"),
        (
            &["endpoint=/users", "endpoint=/orders"],
            &[1, 1],
            "a 1 {bytes=4096 endpoint=/users}\na 2 {endpoint=/orders}",
        ),
        (&["endpoint", "bytes"], &[2, 2], "a 1 {bytes=4096 endpoint=/users}"),
        (&["bytes=4096"], &[1], "a 1 {bytes=4096 endpoint=/users}"),
        (&["bytes=4kb"], &[1], "a 1 {bytes=4096 endpoint=/users}"),
        (&["bytes=~^4"], &[1], "a 1 {bytes=4096 endpoint=/users}"),
        (&["bytes=0.5kb:1kb"], &[1], "b 4 {bytes=512bytes}"),
        (&["bytes=512:"], &[2], "a 1 {bytes=4096 endpoint=/users}\nb 4 {bytes=512bytes}"),
        (&["bytes=:511b"], &[0], ""),
        (&["bytes=1ms:"], &[0], ""),
        (&["wait=100ms:"], &[1], "c 16 {thread=main wait=2s}"),
        (&["wait=:2s"], &[2], "b 8 {wait=90ms}\nc 16 {thread=main wait=2s}"),
        (&["wait=1kb:"], &[0], ""),
        (&["n=9"], &[1], "c 32 {n=7 n=9}"),
        (&["n=8:8.5"], &[0], ""),
        (&["n=1s:"], &[0], ""),
    ];
    let filters = |texts: &[&str]| -> Vec<LabelFilter> {
        texts.iter().map(|text| LabelFilter::parse(text, false).unwrap().0).collect()
    };
    for &(texts, matches, after) in table {
        let (filtered, matched) = show_labels(&from_notation(before), &filters(texts));
        assert_eq!(to_notation(&filtered), lines(after), "--label {texts:?}");
        assert_eq!(matched, matches, "--label {texts:?}");
    }
    let hidden = ["endpoint=/users", "wait", "n=~7"];
    let (filtered, matched) = hide_labels(&from_notation(before), &filters(&hidden));
    assert_eq!(to_notation(&filtered), "a 2 {endpoint=/orders}\nb 4 {bytes=512bytes}\nd 64");
    assert_eq!(matched, [1, 2, 1]);
    assert!(LabelFilter::parse("=x", false).is_err());
}

#[test]
fn threads() {
    let before = "a 1 {thread=main}\na 2 {thread=worker-1 tid=7}\na 4 {process=maintenance}\na 8 {name=main}";
    for (text, after, matches) in [
        ("^main$", "a 1 {thread=main}", 1),
        ("main", "a 1 {thread=main}\na 4 {process=maintenance}", 2),
        ("^7$", "a 2 {thread=worker-1 tid=7}", 1),
        ("x", "", 0),
    ] {
        let (filtered, matched) = show_threads(&from_notation(before), &patterns(&[text]));
        assert_eq!((to_notation(&filtered).as_str(), matched), (after, matches), "--thread {text}");
    }
}

#[test]
fn labels_as_frames() {
    let before = "main;work 3 {endpoint=/users}\nmain;work 4 {endpoint=/orders}\nmain 1\nmain;+x 5 {endpoint=/users bytes=64}\n 2 {endpoint=/users}";
    let endpoint = "{endpoint=/users}";
    let (root, matched) = label_root(&from_notation(before), &["endpoint"]).unwrap();
    let want = format!(
        "/orders;main;work 4 {{endpoint=/orders}}\n/users 2 {endpoint}\n/users;main;+x 5 {{bytes=64 endpoint=/users}}\n/users;main;work 3 {endpoint}\nmain 1"
    );
    assert_eq!((to_notation(&root), matched), (want, vec![4]));
    let (leaf, matched) = label_leaf(&from_notation(before), &["endpoint", "bytes", "none"]).unwrap();
    let want = format!(
        "/users 2 {endpoint}\nmain 1\nmain;+x;/users;64 5 {{bytes=64 endpoint=/users}}\nmain;work;/orders 4 {{endpoint=/orders}}\nmain;work;/users 3 {endpoint}"
    );
    assert_eq!((to_notation(&leaf), matched), (want, vec![4, 1, 0]));
    let (by, matched) = by_label(&from_notation(before), "endpoint").unwrap();
    let want = format!(
        "(no endpoint) 1\n/orders 4 {{endpoint=/orders}}\n/users 5 {{bytes=64 endpoint=/users}}\n/users 5 {endpoint}"
    );
    assert_eq!((to_notation(&by), matched), (want, 4));
    let (several, _) = by_label(&from_notation("main 3 {n=7ms n=9ms}"), "n").unwrap();
    assert_eq!(to_notation(&several), "7 ms,9 ms 3 {n=7ms n=9ms}");
}

#[test]
fn renames() {
    for (text, fixed, before, after, matches) in [
        (
            r"\[.*\]=[…]",
            false,
            "main;List[int].Len 3\nmain;List[str].Len 2",
            "main;List[…].Len 2\nmain;List[…].Len 3",
            2,
        ),
        (r"^(\w+)::.*=$1", false, "a::b;a::c 3", "a;a 3", 2),
        ("a.b=$1", true, "a.b;axb 3", "$1;axb 3", 1),
        ("operator===eq", false, "operator==;x 3", "eq;x 3", 1),
        ("none=x", false, "main 3", "main 3", 0),
        ("exact:f(x)=g", false, "f(x);f(x)y 3", "g;f(x)y 3", 1),
        ("function:^f=g", false, "f;af 3", "g;af 3", 1),
        ("function:a=b", true, "function:a;a 3", "b;a 3", 1),
        (
            "@gc=collector",
            false,
            "main;runtime.gcBgMarkWorker;runtime.gcDrain 3",
            "main;collector;collector 3",
            2,
        ),
        ("file:x=y", false, "file:x 3", "y 3", 1),
    ] {
        let (renamed, matched) = rename(&from_notation(before), &Rename::parse(text, fixed).unwrap());
        assert_eq!((to_notation(&renamed).as_str(), matched), (after, matches), "--rename {text}");
    }
    assert!(Rename::parse("no sign", false).is_none() && Rename::parse("(=x", false).is_none());
}

#[test]
fn nodes_wider_than_functions_join() {
    let before = "main@main.go:1;a@x.go:1;b@x.go:2;c@y.go:3;a@x.go:1 3";
    for (by, after) in [
        (By::File, "main@main.go:1;b@x.go:2;c@y.go:3;a@x.go:1 3"),
        (By::Line, before),
        (By::Mapping, "a@x.go:1 3"),
    ] {
        assert_eq!(to_notation(&join_adjacent(&from_notation(before), &by)), after, "{by:?}");
    }
    let before = "main.main;net/http.a;net/http.b;main.f 3";
    let joined = join_adjacent(&from_notation(before), &By::Package);
    assert_eq!(to_notation(&joined), "main.main;net/http.b;main.f 3");
}
