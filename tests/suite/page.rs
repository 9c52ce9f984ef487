//! Tests of the interactive page, and of the script in the SVG, in a real browser: what they count, and
//! how they react to clicks and keys.
//!
//! They need Chromium (package `chromium` in Debian).

#[path = "page/browser.rs"]
pub(crate) mod browser;
#[path = "page/devtools.rs"]
pub(crate) mod devtools;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use browser::{run, run_svg, write};

use crate::support::edges::{Node, Stacks, nodes, stacks};
use crate::support::{corpus, fixture, load_file, load_well};
use prof::name::BlockLabel;
use prof::output::{HtmlOptions, SvgOptions, html, svg};
use prof::pattern::{Pattern, Patterns};
use prof::profile::{LabelSetId, LoadOptions, Mapping, Profile, ProfileBuilder, from_notation};
use prof::report::{Base, Flame, Page, Recording, Rescaling};
use prof::transform::{self, Marks};
use prof::unit::{Scale, Unit};
use prof::view::{self, BaseSide, FlameOptions, PageOptions, Scope, TopOptions};
use serde_json::{Value, json};

fn page_of(profile: &Profile, metric: usize) -> Page {
    let options =
        PageOptions { scope: Scope::metric(metric), title: "a title".into(), ..PageOptions::default() };
    view::page(profile, &options)
}

/// The expected numbers of a page: self and total of every name, the value shown, and the value without a
/// stack.
fn count(stacks: &Stacks) -> Value {
    let mut rows: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (stack, value) in stacks {
        for name in stack.iter().collect::<BTreeSet<_>>() {
            rows.entry(name).or_default().1 += value;
        }
        if let Some(leaf) = stack.last() {
            rows.entry(leaf).or_default().0 += value;
        }
    }
    let shown: i64 = stacks.iter().map(|(_, value)| value.abs()).sum();
    let no_stack: i64 = stacks.iter().filter(|(stack, _)| stack.is_empty()).map(|(_, value)| value).sum();
    let rows: Vec<Value> = rows
        .into_iter()
        .filter(|(_, pair)| *pair != (0, 0))
        .map(|(name, (own, total))| json!([name, own.to_string(), total.to_string()]))
        .collect();
    json!({ "rows": rows, "shown": shown.to_string(), "noStack": no_stack.to_string() })
}

/// Applies the filter of the command line for one function.
fn filter(profile: &Profile, kind: &str, name: &str) -> Profile {
    filter_by(profile, kind, &format!("function:^{}$", regex::escape(name)))
}

/// Applies the filter of the command line for a pattern.
fn filter_by(profile: &Profile, kind: &str, pattern: &str) -> Profile {
    let (patterns, _) = Patterns::parse(&[pattern], false).unwrap();
    let marks = Marks::new(profile, &patterns);
    let apply = match kind {
        "show-stacks" | "focus" => transform::show_stacks,
        "hide-stacks" => transform::hide_stacks,
        "hide-frames" => transform::hide_frames,
        "show-frames" => transform::show_frames,
        "show-from" => transform::show_from,
        "prune-from" => transform::prune_from,
        _ => unreachable!(),
    };
    apply(profile, &marks).0
}

/// Applies the filter of the command line; matches the pattern literally if it matches nothing as a regular
/// expression.
fn filter_literally(profile: &Profile, kind: &str, pattern: &str) -> Profile {
    let (patterns, note) = Patterns::parse(&[pattern], false).unwrap();
    if note.is_empty() && Marks::new(profile, &patterns).match_profile(profile) {
        return filter_by(profile, kind, pattern);
    }
    let patterns = Patterns::from_iter([Pattern::literal_of(pattern).unwrap()]);
    let marks = Marks::new(profile, &patterns);
    assert!(marks.match_profile(profile), "{pattern}");
    assert_eq!(kind, "show-stacks");
    transform::show_stacks(profile, &marks).0
}

#[test]
#[needs(Browser)]
fn names_copied_from_the_screen_are_found() {
    let profile = load_well(&fixture("cpuprofile/node.cpuprofile"));
    let names = [
        "waysToPay file:///srv/invoices/invoices.mjs:52:19",
        "waysToPay file:///srv/in…invoices.mjs:52:19",
        "waysToPay file:///..mjs:52:19",
        "(anonymous) file:///srv/invoices/invoices.mjs:1:1",
        "(garbage collector)",
        "handle file:///srv/invoices/invoices.mjs:58:22 (2 files)",
    ];
    let check = format!(
        "return {}.map((text) => {{
           page.change({{ filters: [{{ kind: 'show-stacks', text, exact: false }}] }});
           return counted();
         }});",
        json!(names)
    );
    let result = run(&write(&page_of(&profile, 1)), "", &check);
    for (name, counted) in names.into_iter().zip(result.as_array().unwrap()) {
        let expected = count(&stacks(&filter_literally(&profile, "show-stacks", name), 1));
        assert_ne!(expected["shown"], "0", "{name}");
        assert_eq!(by_name(counted.clone()), expected, "{name}");
    }
}

/// A profile in which the same names occur in several files and binaries, some of them inlined.
fn profile_of_places() -> Profile {
    let mut builder = ProfileBuilder::new("test", LoadOptions::default());
    builder.metric("samples", "count");
    let frames = [
        ("main.main", "main.go", "app", false),
        ("start", "", "libc.so", false),
        ("start", "", "libother.so", false),
        ("work", "a.c", "app", false),
        ("work", "b.c", "app", true),
        ("runtime.gopark", "proc.go", "app", false),
        ("epoll_wait", "", "libc.so", false),
    ];
    let frames = frames.map(|(name, file, mapping, inlined)| {
        let function = builder.named_function(name, file);
        let file = builder.string(mapping);
        let mapping = builder.mapping(Mapping { file, ..Default::default() });
        builder.frame(prof::profile::Frame { function, mapping, inlined, ..Default::default() })
    });
    let stacks: [(&[usize], i64); 6] =
        [(&[1, 0, 3], 1), (&[2, 0, 4], 2), (&[1, 0, 3, 4], 4), (&[0, 5, 6], 8), (&[2, 5], 16), (&[], 32)];
    for (stack, value) in stacks {
        let stack: Vec<_> = stack.iter().map(|&frame| frames[frame]).collect();
        let stack = builder.stack(&stack);
        builder.sample(stack, LabelSetId::default(), None, &[value]);
    }
    builder.finish().unwrap()
}

#[test]
#[needs(Browser)]
fn patterns_work_as_on_the_command_line() {
    let profile = profile_of_places();
    let patterns = [
        "mapping:libc",
        "libother",
        "file:b[.]c",
        "package:libc",
        "@idle",
        "@runtime",
        "@gc",
        "function:^work$",
        "(?i)MAIN",
        "w…k",
        "main.(",
    ];
    let kinds = ["show-stacks", "hide-stacks", "hide-frames", "prune-from"];
    let cases: Vec<(&str, &str)> =
        kinds.iter().flat_map(|kind| patterns.iter().map(move |pattern| (*kind, *pattern))).collect();
    let check = format!(
        "return {}.map(([kind, text]) => {{
           page.change({{ filters: [{{ kind, text, exact: false }}] }});
           return counted();
         }});",
        json!(cases)
    );
    let result = run(&write(&page_of(&profile, 0)), "", &check);
    for ((kind, pattern), counted) in cases.into_iter().zip(result.as_array().unwrap()) {
        let expected = count(&stacks(&filter_by(&profile, kind, pattern), 0));
        assert_eq!(by_name(counted.clone()), expected, "{kind} {pattern}");
    }
}

#[test]
#[needs(Browser)]
fn a_block_is_inlined_if_it_is_in_all_of_its_stacks() {
    let check = "
        const slanted = page.graph.rows.flat().filter((block) => page.picture.look(block).isSlanted);
        return slanted.map(({ layer: { tree }, node }) => [page.data.names[tree.name[node]], tree.total[node]]);";
    let result = run(&write(&page_of(&profile_of_places(), 0)), "", check);
    let mut found = result.as_array().unwrap().clone();
    found.sort_by_key(Value::to_string);
    // `work` below `main.main` is inlined in samples worth 2 of 7; `work` below `work` in all 4.
    assert_eq!(found, [json!(["work", 4])]);
}

#[test]
#[needs(Browser)]
fn a_page_opens_with_a_focus_and_can_leave_it() {
    let profile = from_notation("main;a;a;x 4\nmain;b;a 2\nmain;b 1");
    let mut page = Vec::new();
    let options = HtmlOptions { focus: vec!["^a$".into()], by_weight: false, ..HtmlOptions::default() };
    html(&page_of(&profile, 0), &options, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let check = "
        const opened = [blocks(), location.hash];
        press('Escape');
        const left = [counted().shown, location.hash];
        location.hash = '';
        await pause();
        return { opened, left, again: counted().shown };";
    let result = run(&page, "", check);
    let expected = json!([
        [0, "main", "2", "2"],
        [1, "b", "2", "0"],
        [1, "main", "4", "4"],
        [2, "a", "6", "2"],
        [3, "a", "4", "0"],
        [4, "x", "4", "4"]
    ]);
    assert_eq!(result["opened"], json!([expected, ""]));
    assert_eq!(result["left"], json!(["7", "#filters=none"]));
    assert_eq!(result["again"], "6");
}

/// Sorts the rows by name, because the page sorts them by value.
fn by_name(mut counted: Value) -> Value {
    counted["rows"].as_array_mut().unwrap().sort_by_key(|row| row[0].as_str().unwrap().to_owned());
    counted
}

/// The page formats numbers with its own code; this covers small values and coarse resolutions too.
#[test]
#[needs(Browser)]
fn numbers_are_written_as_on_the_command_line() {
    let values: Vec<i64> =
        (0..16).flat_map(|power| [1, 5, 31, 95, 949].map(|n: i64| n * 10_i64.pow(power) / 10)).collect();
    for file in ["pprof/go-cpu.pb.gz", "pprof/go-heap.pb.gz", "collapsed/python.folded"] {
        let profile = load_file(&fixture(file)).unwrap();
        let metric = profile.meta.default_metric;
        let header = view::top(&profile, &TopOptions::new(Scope::metric(metric))).header;
        let unit = Unit::parse(&header.metric.unit);
        let scale =
            Scale::automatic(&unit, 1, header.total).with_resolution(header.metric.resolution.unwrap_or(0));
        let step = header.metric.resolution.unwrap_or(1);
        let values: Vec<i64> = values.iter().filter_map(|value| value.checked_mul(step)).collect();
        let values: Vec<i64> = values.into_iter().filter(|&value| value <= header.total).collect();
        let check = format!("return {}.map((value) => page.model.format.value(value));", json!(values));
        let result = run(&write(&page_of(&profile, metric)), "", &check);
        let expected: Vec<String> = values.iter().map(|&value| scale.format(value)).collect();
        assert!(expected.len() > 5, "{file}");
        assert_eq!(result, json!(expected), "{file}");
    }
}

const KINDS: [&str; 6] = ["show-stacks", "hide-stacks", "hide-frames", "show-frames", "show-from", "focus"];

#[test]
#[needs(Browser)]
fn the_table_equals_top_and_filters_equal_their_rules() {
    for file in ["pprof/go-cpu.pb.gz", "pprof/go-heap.pb.gz", "collapsed/python.folded"] {
        let profile = load_file(&fixture(file)).unwrap();
        let metric = profile.meta.default_metric;
        let top = view::top(&profile, &TopOptions::new(Scope::metric(metric)));
        // A heavy function in the middle of stacks, and the lightest one.
        let middle =
            top.rows.iter().filter(|row| row.values.children > 0).max_by_key(|row| row.values.self_value);
        let names = [&middle.unwrap().name, &top.rows.last().unwrap().name];
        let cases: Vec<(&str, &str)> =
            KINDS.iter().flat_map(|kind| names.iter().map(move |name| (*kind, &***name))).collect();
        let check = format!(
            "const plain = counted();
             const shown = cells();
             const filtered = {}.map(([kind, text]) => {{
               page.model.update({{ ...page.state, filters: [{{ kind, text, exact: true }}] }});
               return counted();
             }});
             return {{ plain, shown, filtered }};",
            json!(cases)
        );
        let result = run(&write(&page_of(&profile, metric)), "", &check);

        let shown = &top.header.metric;
        let scale = Scale::automatic(&Unit::parse(&shown.unit), 1, top.header.total);
        let scale = scale.with_resolution(shown.resolution.unwrap_or(0));
        for (row, expected) in result["plain"]["rows"].as_array().unwrap().iter().zip(&top.rows) {
            let values = &expected.values;
            let expected = json!([*expected.name, values.self_value.to_string(), values.total.to_string()]);
            assert_eq!(row, &expected, "{file}");
        }
        assert_eq!(result["plain"]["rows"].as_array().unwrap().len(), top.rows.len());
        for (row, expected) in result["shown"].as_array().unwrap().iter().zip(top.rows.iter().take(50)) {
            assert_eq!(row[0], scale.format(expected.values.self_value), "{file}");
            assert_eq!(row[1], prof::unit::share(expected.values.self_value, top.header.total));
            assert_eq!(row[2], scale.format(expected.values.total));
        }
        assert_eq!(by_name(result["plain"].clone()), count(&stacks(&profile, metric)), "{file}");
        for ((kind, name), counted) in cases.into_iter().zip(result["filtered"].as_array().unwrap()) {
            let expected = count(&stacks(&filter(&profile, kind, name), metric));
            assert_eq!(by_name(counted.clone()), expected, "{file} {kind} {name}");
        }
    }
}

#[test]
#[needs(Browser)]
fn click_zooms_escape_restores_and_the_address_keeps_the_state() {
    let profile = from_notation("main;a;b 6\nmain;a;c 3\nmain;d 1");
    let check = "
        const before = blocks();
        click(blockOf('a'));
        const zoomed = [blocks(), page.state.zoom.length, document.getElementById('selection').textContent];
        const hash = location.hash;
        press('Escape');
        const after = blocks();
        click(blockOf('b'));
        click(blockOf('main'));
        const ancestor = page.state.zoom.length;
        click(page.graph.rows.flat().find(({ layer, node }) => node === 0));
        const root = page.state.zoom.length;
        location.hash = hash;
        await pause();
        const again = blocks();
        page.graph.canvas.focus();
        press('Escape');
        press('Escape');
        for (const key of ['ArrowUp', 'ArrowUp', 'Enter']) press(key, page.graph.canvas);
        const keyed = page.state.zoom.map((id) => page.data.names[id]);
        return { before, zoomed, hash, after, ancestor, root, again, keyed };";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    let whole = json!([
        [0, "b", "6", "6"],
        [0, "c", "3", "3"],
        [1, "a", "9", "0"],
        [1, "d", "1", "1"],
        [2, "main", "10", "0"],
        [3, "(all)", "10", "0"]
    ]);
    assert_eq!(result["before"], whole);
    assert_eq!(
        result["zoomed"][0],
        json!([
            [0, "b", "6", "6"],
            [0, "c", "3", "3"],
            [1, "a", "9", "0"],
            [2, "main", "10", "0"],
            [3, "(all)", "10", "0"]
        ])
    );
    assert_eq!(result["zoomed"][1], 2);
    assert!(result["zoomed"][2].as_str().unwrap().starts_with("atotal 9 90.0%self 0 0.0%Focus"), "{result}");
    assert_eq!(result["after"], whole);
    assert_eq!((&result["ancestor"], &result["root"]), (&json!(1), &json!(0)));
    assert_eq!(result["again"], result["zoomed"][0]);
    assert_eq!(result["keyed"], json!(["main", "a"]));

    let check = "return [blocks(), page.state.filters.length, page.state.query, counted()];";
    let hash = "show-stacks=a&hide-frames=c&query=b&icicle=1";
    let result = run(&write(&page_of(&profile, 0)), hash, check);
    let expected =
        json!([[0, "(all)", "9", "0"], [1, "main", "9", "0"], [2, "a", "9", "3"], [3, "b", "6", "6"]]);
    assert_eq!(result[0], expected);
    assert_eq!((&result[1], &result[2]), (&json!(2), &json!("b")));
    assert_eq!(result[3]["rows"], json!([["b", "6", "6"]]));
}

#[test]
#[needs(Browser)]
fn focus_puts_callers_above_and_callees_below() {
    let profile = from_notation("main;a;a;x 4\nmain;a;b;a 3\nmain;b;a 2\nmain;b 1");
    let check = "
        click(blockOf('a'), 'contextmenu');
        const menu = document.getElementById('menu');
        const labels = Array.from(menu.querySelectorAll('button'), (button) => button.textContent);
        menu.querySelector('[data-action=focus]').click();
        const focused = blocks();
        const chips = document.getElementById('filters').textContent;
        const shares = cells()[0];
        click(blockOf('a'));
        return { labels, focused, chips, shares, restored: page.state.filters.length };";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    assert_eq!(
        result["labels"],
        json!(["Focus", "Show from", "Show stacks", "Hide stacks", "Hide frames", "Highlight", "Copy name"])
    );
    // Callers of the outermost `a`. They grow upwards, so their self is the value of stacks that start there.
    let expected = json!([
        [0, "main", "2", "2"],
        [1, "b", "2", "0"],
        [1, "main", "7", "7"],
        [2, "a", "9", "2"],
        [3, "a", "4", "0"],
        [3, "b", "3", "0"],
        [4, "x", "4", "4"],
        [4, "a", "3", "3"]
    ]);
    assert_eq!(result["focused"], expected);
    let chips = "Filtersfocus a ×shown 9, 90.0% of allRemove allprof top --focus exact:a PROFILECopy command";
    assert_eq!(result["chips"], chips);
    assert_eq!(result["shares"], json!(["5", "50.0%", "9", "90.0%", "100.0%", "a"]));
    assert_eq!(result["restored"], 1, "a click on the focus resets a zoom, but keeps the focus");
}

#[test]
#[needs(Browser)]
fn a_zoom_on_one_side_of_a_focus_narrows_the_other() {
    let profile = from_notation("main;http;f;x 6\nmain;http;f;y 1\nmain;cli;f;x 2\ncli;f 1\nmain;z 5");
    let check = "
        page.addFilter('focus', 'f', true);
        const narrowing = () => document.querySelector('#selection .narrowed')?.textContent ?? '';
        const sizes = () => blocks().map(([row, name, total]) => `${row} ${name} ${total}`);
        const whole = [sizes(), narrowing()];
        click(blockOf('http'));
        const http = [sizes(), narrowing()];
        const scales = page.model.trees.map((tree) => tree.whole);
        press('Escape');
        click(blockOf('y'));
        const y = [sizes(), narrowing()];
        press('Escape');
        click(blockOf('cli'));
        return { whole, http, scales, y, cli: [sizes(), narrowing()], edges: document.getElementById('edges').innerText };";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    let whole = ["0 main 2", "0 main 7", "1 cli 3", "1 http 7", "2 f 10", "3 x 8", "3 y 1"];
    assert_eq!(result["whole"], json!([whole, ""]));
    let http = ["0 main 7", "1 http 7", "2 f 7", "3 x 6", "3 y 1"];
    assert_eq!(
        result["http"],
        json!([http, "Callees: only samples called through http (7, 70.0% of the focus)"])
    );
    assert_eq!(result["scales"], json!([7, 7]));
    let y = ["0 main 1", "1 http 1", "2 f 10", "3 y 1"];
    assert_eq!(result["y"], json!([y, "Callers: only samples that reach y (1, 10.0% of the focus)"]));
    let cli = ["0 main 2", "1 cli 3", "2 f 3", "3 x 2"];
    assert_eq!(
        result["cli"],
        json!([cli, "Callees: only samples called through cli (3, 30.0% of the focus)"])
    );
    // The callees are those of the 3 samples through cli; the callers stay, to choose another one.
    let edges = "Callers of f\nTotal\t%\tCaller\n7\t70.0%\thttp\n3\t30.0%\tcli\nCallees of f, when called through cli\nTotal\t%\tCallee\n2\t66.7%\tx\n1\t33.3%\t(self)";
    assert_eq!(result["edges"], edges);
}

/// Deep stacks with few names, so that all kinds of recursion are frequent.
pub(crate) fn recursive_picture() -> String {
    let mut state = 1_u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let mut lines = String::new();
    for _ in 0..300 {
        let depth = 1 + random(12);
        let stack: Vec<String> = (0..depth).map(|_| format!("f{}", random(8))).collect();
        lines += &format!("{} {}\n", stack.join(";"), 1 + random(1000));
    }
    lines
}

#[test]
#[needs(Browser)]
fn callers_and_callees_in_the_page_equal_brute_force() {
    let mut profiles = vec![("recursive".to_string(), from_notation(&recursive_picture()))];
    for file in ["pprof/go-cpu.pb.gz", "pprof/go-heap.pb.gz", "collapsed/python.folded"] {
        profiles.push((file.to_string(), load_well(&fixture(file))));
    }
    neighbours_equal_brute_force(profiles);
}

#[test]
#[needs(Browser, Corpus)]
fn callers_and_callees_of_real_profiles_equal_brute_force() {
    let real = corpus("pprof");
    let real = real.iter().filter(|path| path.metadata().unwrap().len() < 60_000).step_by(8).take(4);
    // Some files in the corpus are broken on purpose.
    let load = |path: &PathBuf| Some((path.display().to_string(), load_file(path).ok()?));
    let profiles: Vec<(String, Profile)> = real.filter_map(load).collect();
    assert!(profiles.len() > 1);
    neighbours_equal_brute_force(profiles);
}

fn neighbours_equal_brute_force(profiles: Vec<(String, Profile)>) {
    for (file, profile) in profiles {
        let metric = profile.meta.default_metric;
        let check = "
            const { data, values, metric: { zero } } = page.model;
            const paths = filtered(data, []);
            const rows = (sums) => Array.from(sums.keys())
                .filter((id) => sums[id] != 0).map((id) => [data.names[id], String(sums[id])]);
            return data.names.map((name) => {
                const marks = matching(data, [{ kind: 'focus', text: name, exact: true }]);
                const { callers, callees, itself, root, self, total, overlaps } = countNeighbours(data, paths, values, marks, zero);
                return [name, [rows(callers), rows(callees)], [itself, root, self, total].map(String), overlaps];
            });";
        let result = run(&write(&page_of(&profile, metric)), "", check);
        let expected = nodes(&stacks(&profile, metric));
        let mut compared = 0;
        for row in result.as_array().unwrap() {
            let node = expected.get(row[0].as_str().unwrap()).cloned().unwrap_or_default();
            let side = |rows: &Value| -> BTreeMap<String, i64> {
                let pair = |row: &Value| {
                    (row[0].as_str().unwrap().to_string(), row[1].as_str().unwrap().parse().unwrap())
                };
                rows.as_array().unwrap().iter().map(pair).collect()
            };
            let value = |at: usize| row[2][at].as_str().unwrap().parse::<i64>().unwrap();
            let found = Node {
                callers: side(&row[1][0]),
                callees: side(&row[1][1]),
                itself: value(0),
                root: value(1),
                self_value: value(2),
                total: value(3),
            };
            assert_eq!(found, node, "{file}: {}", row[0]);
            let sum = |side: &BTreeMap<String, i64>| side.values().sum::<i64>() + node.itself;
            let sums = [sum(&node.callers) + node.root, sum(&node.callees) + node.self_value];
            assert_eq!(row[3], json!(sums.iter().any(|sum| *sum != node.total)), "{file}: {}", row[0]);
            compared += usize::from(node != Node::default());
        }
        assert_eq!(compared, expected.values().filter(|node| **node != Node::default()).count(), "{file}");
    }
}

#[test]
#[needs(Browser)]
fn search_and_highlight_report_their_share() {
    let profile = from_notation("main;json.Encode[];json.write 3\nmain;json.write 2\nmain;idle 5\n 2");
    let check = "
        const search = document.getElementById('search');
        const matched = async (query) => {
            search.value = query;
            search.dispatchEvent(new Event('input', { bubbles: true }));
            await new Promise((resolve) => setTimeout(resolve, 300));
            return document.getElementById('matched').textContent;
        };
        const steps = history.length;
        const found = [await matched('^json[.]'), counted().rows];
        const narrowed = await matched('function:n.Enc…e');
        const literal = await matched('Encode[]');
        const anyCase = [await matched('JSON'), await matched('jSON'), await matched('file:JSON')];
        const entries = history.length - steps;
        await matched('json');
        press('n');
        const first = [document.getElementById('matched').textContent, page.data.names[page.state.pin]];
        const apply = document.getElementById('apply');
        apply.value = 'show-stacks';
        apply.dispatchEvent(new Event('change', { bubbles: true }));
        const applied = [counted().shown, location.hash];
        page.change({ filters: [{ kind: 'highlight', text: 'idle', exact: true }] });
        const lit = document.getElementById('filters').textContent;
        return { found, narrowed, literal, anyCase, entries, first, applied, lit };";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    assert_eq!(result["found"][0], "2 · 41.7%");
    assert_eq!(result["found"][1], json!([["json.write", "5", "5"], ["json.Encode[]", "0", "3"]]));
    assert_eq!(result["narrowed"], "1 · 25.0%");
    assert_eq!(result["literal"], "1 · 25.0%");
    // A search with a capital letter distinguishes case, others do not. Typing makes no steps for Back.
    assert_eq!(result["anyCase"], json!(["no match", "no match", "no match"]));
    assert_eq!(result["entries"], 0);
    assert_eq!(result["first"], json!(["1 of 2 · 41.7%", "json.Encode[]"]));
    assert_eq!(result["applied"], json!(["5", "#show-stacks%7E=%28%3Fi%29json&pin=json.Encode%5B%5D"]));
    assert!(
        result["lit"].as_str().unwrap().starts_with("Filtershighlight idle ×highlighted 5, 41.7%Remove all")
    );
}

#[test]
#[needs(Browser)]
fn a_hostile_profile_shows_as_text() {
    let long = "<b>".repeat(4_000);
    let names = [
        "</script><script>hacked = 1</script>",
        "<img src=x onerror='hacked=1'>",
        "\"quoted\" 'name' & \u{1b}[31m\u{202e}",
        "{script}",
        "",
        "__proto__",
        "constructor",
        &long,
    ];
    let mut builder = ProfileBuilder::new("test", LoadOptions::default());
    builder.metric("<script>hacked=1</script>", "</script>");
    for name in names {
        let function = builder.named_function(name, "</script><b>.js");
        let frame = builder.frame(prof::profile::Frame { function, ..Default::default() });
        let stack = builder.stack(&[frame, frame]);
        builder.sample(stack, LabelSetId::default(), None, &[1]);
    }
    builder.warn("<script>hacked=1</script>".into());
    let profile = builder.finish().unwrap();
    let title = "</title><script>hacked = 1</script>{data}".to_string();
    let options = PageOptions { scope: Scope::metric(0), title: title.clone(), ..PageOptions::default() };
    let page = write(&view::page(&profile, &options));
    let check = "
        for (const { layer, node } of page.graph.rows.flat()) page.showSelection({ layer, node });
        page.openMenu(0, 0, 0);
        page.addFilter('show-stacks', page.data.names[1], true);
        page.removeFilter(page.state.filters[0]);
        const scripts = document.scripts.length;
        const strange = document.querySelectorAll('img, b, iframe, link').length;
        const names = counted().rows.map((row) => row[0]).sort();
        const first = Array.from(document.querySelectorAll('td .name'), (name) => name.textContent.slice(0, 60));
        return { scripts, strange, hacked: typeof hacked, title: document.title, names, first };";
    let result = run(&page, "", check);
    let mut expected = names.to_vec();
    expected.sort_unstable();
    let mut found: Vec<&str> =
        result["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(result["title"], title);
    // The data, the times, the packed style and script, the script that unpacks them and the unpacked one.
    assert_eq!((&result["scripts"], &result["strange"]), (&json!(6), &json!(0)));
    assert_eq!(result["hacked"], "undefined");
    let shown = result["first"].as_array().unwrap();
    assert!(shown.contains(&json!("\"quoted\" 'name' & \\u{1b}[31m\\u{202e}")), "{shown:?}");
}

#[test]
#[needs(Browser)]
fn values_too_large_for_doubles_are_exact() {
    let profile = from_notation("main;a 4611686018427387903\nmain;b 4611686018427387001\nmain;b -3");
    let check = "page.change({ sort: 'name' }); return counted();";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    assert_eq!(by_name(result), count(&stacks(&profile, 0)));
}

#[test]
#[needs(Browser)]
fn two_profiles_are_compared() {
    let both = from_notation("main;a 5 3\nmain;b 1 0\nmain;gone 0 2");
    let base = BaseSide { metric: 1, ..BaseSide::default() };
    let scope = Scope { base: Some(base), ..Scope::metric(0) };
    let page = write(&view::page(&both, &PageOptions { scope, ..PageOptions::default() }));
    let check = "
        const rows = () => page.model.table().map((row) => [row.name, row.self, row.total, row.delta]);
        page.change({ tab: 'compare', sort: 'name', reversed: true });
        const delta = rows();
        const notes = document.getElementById('notes').textContent;
        page.change({ side: 'old' });
        return { delta, notes, old: counted() };";
    let result = run(&page, "", check);
    let delta = json!([["a", 5, 5, 2], ["b", 1, 1, 1], ["gone", 0, 0, -2], ["main", 0, 6, 1]]);
    let mut found = result["delta"].clone();
    found.as_array_mut().unwrap().sort_by_key(|row| row[0].as_str().unwrap().to_owned());
    assert_eq!(found, delta);
    assert!(result["notes"].as_str().unwrap().contains("1 removed: gone"));
    assert_eq!(result["old"]["shown"], "5");
}

/// Three runs of a program in a folder, with these stacks besides those that stay the same.
fn write_runs(folder: &Path, more: &[(&str, i64)]) {
    std::fs::create_dir(folder).unwrap();
    let steady = [
        ("main;handle;parse", 2003),
        ("main;handle;plan", 1501),
        ("main;handle;sort", 1210),
        ("main;serve;hash", 811),
        ("main;serve;read", 613),
        ("main;serve;write", 719),
        ("main;serve;log", 405),
        ("main;serve;render", 907),
    ];
    for run in 0..3 {
        let all = steady.iter().chain(more).enumerate();
        let line = |(number, (stack, count)): (usize, &(&str, i64))| {
            let wobble = ((number as i64 * 7 + run * 5 + more.len() as i64) % 11 - 5) * count.isqrt() / 8;
            format!("{stack} {}\n", count + wobble)
        };
        std::fs::write(folder.join(format!("{run}.folded")), all.map(line).collect::<String>()).unwrap();
    }
}

#[test]
#[needs(Browser)]
fn causes_of_what_became_cheaper_are_buttons_of_another_colour() {
    let folder = tempfile::tempdir().unwrap();
    write_runs(&folder.path().join("old"), &[("main;handle;audit;note", 2405)]);
    write_runs(&folder.path().join("new"), &[]);
    let arguments = ["flame", "page.html", "--base", "old", "new"];
    let written = crate::support::prof(folder.path(), &arguments).output().unwrap();
    assert!(written.status.success(), "{written:?}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "
        const chips = Array.from(document.querySelectorAll('#causes button'));
        chips[0].click();
        const names = page.state.zoom.map((id) => page.data.names[id]);
        return { said: element('causes').textContent, names, chips: chips.map((chip) => [chip.textContent, chip.className, chip.title]) };";
    let found = run(&page, "", check);
    let [chip] = &found["chips"].as_array().unwrap()[..] else { panic!("{found}") };
    let text = |at: usize| chip[at].as_str().unwrap();
    assert!(text(0).starts_with("handle ") && text(0).contains('−'), "{found}");
    assert_eq!((text(1), text(2)), ("saves", "it no longer calls audit, which led to note"), "{found}");
    assert!(found["said"].as_str().unwrap().contains(" in total (95% CI −"), "{found}");
    assert_eq!(found["names"], json!(["main", "handle"]), "{found}");
}

#[test]
#[needs(Browser)]
fn causes_are_buttons_that_lead_to_the_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<img src=x onerror='hacked=1'>";
    write_runs(&folder.path().join("old"), &[]);
    let stack = format!("main;handle;audit;{hostile}");
    write_runs(&folder.path().join("new"), &[(&stack, 2405), ("main;serve;audit", 3)]);
    let run_prof = |arguments: &str| {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        crate::support::prof(folder.path(), &words).output().unwrap()
    };
    let diff: Value = serde_json::from_slice(&run_prof("diff old new -f json").stdout).unwrap();
    let cause = &diff["causes"][0];
    assert!(cause["explains"].as_f64().unwrap() > 0.8, "{cause}");

    let written = run_prof("flame page.html --base old new");
    assert!(written.status.success(), "{written:?}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "
        const chips = Array.from(document.querySelectorAll('#causes button'));
        const [chip] = chips;
        page.addFilter('hide-stacks', 'audit', true);
        chip.click();
        const names = page.state.zoom.map((id) => page.data.names[id]);
        return { said: element('causes').textContent, chips: chips.length, label: chip.textContent, names,
          filters: page.state.filters, hacked: typeof hacked, images: document.images.length,
          evidence: chip.title };";
    let found = run(&page, "", check);
    let label = found["label"].as_str().unwrap();
    let points = format!("+{:.1}pt", cause["points"].as_f64().unwrap());
    assert!(label.ends_with(&points), "{label} {points}");
    assert!(found["said"].as_str().unwrap().contains(" in total (95% CI "), "{found}");
    assert!(found["evidence"].as_str().unwrap().contains(hostile), "{found}");
    // The zoom leads to the function to blame, whatever was filtered before; the rest of the path is below it.
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_string()).collect()
    };
    let (path, names) = (texts(&cause["path"]), texts(&found["names"]));
    assert_eq!(path, ["handle", "audit", hostile]);
    assert_eq!(
        (&cause["function"], &names[..]),
        (&json!("handle"), &["main".to_string(), "handle".to_string()][..])
    );
    assert_eq!(found["filters"], json!([]));
    assert_eq!((&found["hacked"], &found["images"]), (&json!("undefined"), &json!(0)));

    // Without a growth there is a sentence, and without an old side nothing.
    run_prof("flame page.html --base old old");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "return [element('causes').hidden, element('causes').textContent, document.querySelectorAll('#causes button').length];";
    let found = run(&page, "", check);
    assert_eq!((&found[0], &found[2]), (&json!(false), &json!(0)));
    assert!(found[1].as_str().unwrap().starts_with("detectable with 80% power"), "{found}");
    run_prof("flame page.html --force new");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(run(&page, "", check)[0], json!(true));
}

#[test]
#[needs(Browser)]
fn the_old_side_has_its_own_header_and_is_rescaled() {
    let both = from_notation("main;a 6 1\nmain;gone 0 2");
    let mut options =
        PageOptions { scope: Scope::metric(0), title: "new.folded".into(), ..PageOptions::default() };
    let mut about = Base::default();
    about.inputs = vec!["old.folded".into()];
    about.recording = Recording { duration_ns: Some(3_000_000_000), ..Recording::default() };
    let normalize = Rescaling { method: "total", ratio: 2.0, reason: None };
    options.scope.base = Some(BaseSide { metric: 1, normalize, about });
    let page = write(&view::page(&both, &options));
    let check = "
        const about = () => Array.from(document.getElementById('about').children, (line) => line.textContent).join(' · ');
        const side = () => [about(), counted(), blocks()];
        const opened = side();
        const deltas = page.model.table().map((row) => [row.name, row.delta]);
        page.change({ side: 'old' });
        return { opened, deltas, old: side(), options: Array.from(element('side').options, (o) => o.value) };";
    let result = run(&page, "", check);
    let base = "base old.folded · samples 3 in 3.00s · rescaled × 2.000 (total)";
    assert_eq!(result["opened"][0], format!("samples 6 · {base}"));
    assert_eq!(result["deltas"], json!([["a", 4], ["main", 0], ["gone", -4]]));
    assert_eq!(result["old"][0], base);
    assert_eq!(
        result["old"][1],
        json!({ "rows": [["gone", "4", "4"], ["a", "2", "2"], ["main", "0", "6"]], "shown": "6", "noStack": "0" })
    );
    let blocks =
        json!([[0, "a", "2", "2"], [0, "gone", "4", "4"], [1, "main", "6", "0"], [2, "(all)", "6", "0"]]);
    assert_eq!(result["old"][2], blocks);
    assert_eq!(result["options"], json!(["new", "old"]));
}

#[test]
#[needs(Browser)]
fn labels_show_functions_and_tooltips_show_places() {
    let profile = from_notation("<module> (x.py:3);serve (app.py:82) 6");
    let check = "
        const blocks = page.graph.rows.flat().filter(({ node }) => node > 0);
        return blocks.map((block) => [fitLabel(page.picture.look(block).label, 400, page.graph.ruler).text, page.picture.describe(block).slice(0, 2)]);";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    let expected = json!([["serve", ["serve", "app.py:82"]], ["<module> x.py:3", ["<module>", "x.py:3"]]]);
    assert_eq!(result, expected);
}

/// Functions for checks of a picture: they see and do what a reader can.
const IN_PICTURE: &str = "
    const svg = document.documentElement;
    const nameOf = (rect) => rect.firstChild.textContent.split('\\n')[0];
    const all = () => Array.from(svg.querySelectorAll('.side rect'));
    const block = (name) => all().find((rect) => nameOf(rect).startsWith(name));
    const label = (name) => {
        const next = block(name).nextElementSibling;
        return next?.tagName === 'text' ? next.textContent : '';
    };
    const percent = (rect) => {
        const drawn = Number(rect.getAttribute('width'));
        const width = drawn < 2 ? drawn * 1.5 : drawn + 1;
        return Math.round(100 * width / (svg.getBoundingClientRect().width - 20));
    };
    const seen = (left_out = ' ') => all()
        .filter((rect) => getComputedStyle(rect).display !== 'none' && !nameOf(rect).includes(left_out))
        .map((rect) => nameOf(rect) + ' ' + percent(rect)).sort();
    const click = (element) => element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    const text = (name) => svg.querySelector('.' + name).textContent;
    const searchFor = (pattern) => {
        window.prompt = () => pattern;
        if (text('search') === 'Reset search') click(svg.querySelector('.search'));
        click(svg.querySelector('.search'));
    };
    const marked = (name) => all().filter((rect) => rect.classList.contains(name)).map(nameOf).sort();";

fn picture_of(flame: &Flame) -> String {
    let mut picture = Vec::new();
    svg(flame, &SvgOptions::default(), &mut picture).unwrap();
    String::from_utf8(picture).unwrap()
}

#[test]
#[needs(Browser)]
fn tooltips_mark_artefacts() {
    let profile = from_notation("main;work;runtime.asyncPreempt 4\nmain;work 2");
    let check = "
        const blocks = page.graph.rows.flat().filter(({ node }) => node > 0);
        return blocks.map((block) => page.picture.describe(block).includes('profiler artefact: its self belongs to the caller'));";
    let result = run(&write(&page_of(&profile, 0)), "", check);
    let marked: Vec<bool> = result.as_array().unwrap().iter().map(|is| is.as_bool().unwrap()).collect();
    assert_eq!(marked.iter().filter(|&&is| is).count(), 1, "{marked:?}");
}

#[test]
#[needs(Browser)]
fn the_picture_zooms_and_searches() {
    let profile = from_notation("main;x/a.(*T).f;b 6\nmain;x/a.(*T).f;c 3\nmain;d 1");
    let flame = view::flame(&profile, &FlameOptions::new(Scope::metric(0)));
    let check = format!(
        "{IN_PICTURE}
        const labels = [label('x/a.(*T).f'), label('b')];
        click(block('x/a.(*T).f'));
        const zoomed = [seen(), marked('ancestor')];
        searchFor('^[bd]$');
        const inside = text('matched');
        press('Escape');
        const restored = seen();
        const matched = [text('matched'), marked('found'), marked('other').length];
        searchFor('T).f');
        const literal = text('matched');
        click(block('d'));
        const query = Array.from(new URL(location.href).searchParams);
        press('Escape');
        click(svg.querySelector('.search'));
        const still = [marked('found'), marked('other'), text('matched'), location.search];
        block('b').dispatchEvent(new PointerEvent('pointerover', {{ bubbles: true }}));
        const details = text('details');
        const least = svg.style.minWidth;
        svg.style.minWidth = '';
        svg.style.width = '30px';
        dispatchEvent(new Event('resize'));
        const narrow = [seen(), label('main')];
        return {{ labels, zoomed, inside, restored, matched, literal, query, still, details, least, narrow }};"
    );
    let result = run_svg(&picture_of(&flame), &check);
    assert_eq!(result["labels"], json!(["a.(*T).f", "b"]));
    let zoomed = ["b 67", "c 33", "main 100", "x/a.(*T).f 100"];
    assert_eq!(result["zoomed"], json!([zoomed, ["all — 10 (100.0%)", "main"]]));
    assert_eq!(result["inside"], "Matched: 66.7%");
    let whole = json!(["b 60", "c 30", "d 10", "main 100", "x/a.(*T).f 90"]);
    assert_eq!(result["restored"], whole);
    // Blocks other than `b` and `d` are dimmed until the search ends. Escape resets only the zoom.
    assert_eq!(result["matched"], json!(["Matched: 70.0%", ["b", "d"], 4]));
    assert_eq!(result["literal"], "Matched: 90.0%");
    assert_eq!(result["query"], json!([["search", "T).f"], ["zoom", "2"]]));
    assert_eq!(result["still"], json!([[], [], "", ""]));
    assert_eq!(result["details"], "b · total 6 60.0% · self 6 60.0%");
    // A narrow window scrolls, but a picture can be as narrow as a page wants it.
    assert_eq!(result["least"], "800px");
    assert_eq!(result["narrow"], json!([whole, ""]));
}

#[test]
#[needs(Browser)]
fn the_picture_is_read_with_keys_and_its_controls_stay_on_the_screen() {
    let deep: Vec<String> = (0..200).map(|depth| format!("f{depth}")).collect();
    let deep = deep.join(";");
    let profile = from_notation(&format!("main;Ledger;b 6\nmain;Ledger;c 3\nmain;{deep} 1"));
    let flame = view::flame(&profile, &FlameOptions::new(Scope::metric(0)));
    let check = format!(
        "{IN_PICTURE}
        const focused = () => nameOf(document.activeElement);
        const reached = Array.from(svg.querySelectorAll('[tabindex]'), (element) => element.textContent.split('\\n')[0]);
        const root = svg.querySelector('.side rect[tabindex]');
        root.focus();
        const walk = [focused()];
        for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowRight']) {{
            press(key, document.activeElement);
            walk.push(focused());
        }}
        press('ArrowLeft', document.activeElement);
        const details = text('details');
        press('Enter', document.activeElement);
        const zoomed = seen('f');
        press('Escape', document.activeElement);
        searchFor('ledger');
        const ignoring = marked('found');
        searchFor('lEdger');
        const minding = marked('found');
        const tip = block('b').firstChild.textContent.split('\\n');
        const places = () => ['search', 'details'].map((name) => svg.querySelector('.' + name).getBoundingClientRect()).map(({{ top, bottom }}) => top >= 0 && bottom <= innerHeight);
        // Without a screen, the browser may not send the event.
        const scroll = (y) => {{
            scrollTo(0, y);
            dispatchEvent(new Event('scroll'));
        }};
        scroll(0);
        const before = places();
        scroll(1500);
        return {{ reached, walk, details, zoomed, ignoring, minding, tip, before, scrolled: scrollY > 1000, after: places() }};"
    );
    let result = run_svg(&picture_of(&flame), &check);
    assert_eq!(result["reached"], json!(["Reset zoom", "Search", "all — 10 (100.0%)"]));
    // Up is towards the callees. Of several blocks above, the widest is next.
    let walk = json!(["all — 10 (100.0%)", "main", "Ledger", "b", "c", "Ledger", "f0", "f0"]);
    assert_eq!(result["walk"], walk);
    assert_eq!(result["details"], "Ledger · total 9 90.0%");
    assert_eq!(result["zoomed"], json!(["Ledger 100", "all — 10 (100.0%) 100", "b 67", "c 33", "main 100"]));
    assert_eq!((&result["ignoring"], &result["minding"]), (&json!(["Ledger"]), &json!([])));
    assert_eq!(result["tip"], json!(["b", "total 6 60.0%", "self 6 60.0%"]));
    assert_eq!(
        (&result["before"], &result["scrolled"], &result["after"]),
        (&json!([true, true]), &json!(true), &json!([true, true]))
    );
}

/// In the dark, own code has the dark colours, and all labels can be read.
#[test]
#[needs(Browser)]
fn the_picture_has_a_dark_theme() {
    let profile = from_notation("a.f;runtime.g 5\nb.f 3\nc.f 2");
    let flame = view::flame(&profile, &FlameOptions::new(Scope::metric(0)));
    let picture = picture_of(&flame)
        .replace("prefers-color-scheme", "min-width:1px) and (prefers-color-scheme")
        .replace("(min-width:1px) and (prefers-color-scheme:dark)", "(min-width:1px)")
        .replace("(min-width:1px) and (prefers-color-scheme: dark)", "(min-width:1px)");
    let check = "
        const colors = {};
        for (const rect of document.querySelectorAll('.side rect')) {
            const text = rect.nextElementSibling;
            colors[rect.firstChild.textContent.split('\\n')[0]] = [getComputedStyle(rect).fill, getComputedStyle(text).fill];
        }
        return [colors, getComputedStyle(document.querySelector('.background')).fill];";
    let found = run_svg(&picture, check);
    let rgb = |code: u32| format!("rgb({}, {}, {})", code >> 16, code >> 8 & 255, code & 255);
    let light = rgb(0xf2_f4f7);
    let expected = json!({
        "a.f": [rgb(0x57_68b2), light],
        "b.f": [rgb(0x7e_4009), light],
        "c.f": [rgb(0x1a_7c79), light],
        "runtime.g": [rgb(0x3b_434d), light],
        "all — 10 (100.0%)": [rgb(0x2a_2f36), light],
    });
    assert_eq!(found, json!([expected, rgb(0x14_171b)]));
}

#[test]
#[needs(Browser)]
fn the_address_of_a_picture_keeps_zoom_and_search() {
    let profile = from_notation("main;a;b 6\nmain;c 4");
    let flame = view::flame(&profile, &FlameOptions::new(Scope::metric(0)));
    // The address is set before the picture's own script runs.
    let start = "<script>history.replaceState(null, '', '?zoom=2&amp;search=b');</script><script>";
    let picture = picture_of(&flame).replacen("<script>", start, 1);
    let check = format!("{IN_PICTURE} return [seen(), text('matched')];");
    let result = run_svg(&picture, &check);
    assert_eq!(result, json!([["a 100", "b 100", "main 100"], "Matched: 100.0%"]));
}

#[test]
#[needs(Browser)]
fn a_zoom_in_the_picture_of_a_focus_affects_one_side_and_says_so() {
    let profile = from_notation("main;a;x;y 3\nz;main;a;a 2\nb;a 1");
    let (patterns, _) = Patterns::parse(&["^a$"], false).unwrap();
    let marks = Marks::new(&profile, &patterns);
    let mut options = FlameOptions::new(Scope::metric(0));
    options.scope.callers = Some(transform::end_before(&profile, &marks).0);
    let flame = view::flame(&transform::show_from(&profile, &marks).0, &options);
    let check = format!(
        "{IN_PICTURE}
        const shown = () => [seen('—'), label('callers above')];
        const whole = shown();
        click(block('main'));
        const callers = shown();
        click(block('x'));
        const callees = shown();
        press('Escape');
        const restored = shown();
        click(block('x'));
        click(svg.querySelector('.reset'));
        const reset = shown();
        searchFor('^(main|x)$');
        return {{ whole, callers, callees, restored, reset, matched: text('matched') }};"
    );
    let result = run_svg(&picture_of(&flame), &check);
    let label = "callers above, callees below — 6 (100.0%)";
    let whole = json!([["a 100", "a 33", "b 17", "main 83", "x 50", "y 50", "z 33"], label]);
    assert_eq!(result["whole"], whole);
    let callers = ["a 100", "a 33", "main 100", "x 50", "y 50", "z 40"];
    let note = "zoomed into callers only; callees still show the whole focus";
    assert_eq!(result["callers"], json!([callers, note]));
    let callees = ["a 100", "b 17", "main 83", "x 100", "y 100", "z 33"];
    let note = "zoomed into callees only; callers still show the whole focus";
    assert_eq!(result["callees"], json!([callees, note]));
    assert_eq!(result["restored"], whole);
    assert_eq!(result["reset"], whole);
    assert_eq!(result["matched"], "Matched: callers 83.3%, callees 50.0%");
}

#[test]
#[needs(Browser)]
fn labels_are_the_same_before_and_after_the_script() {
    let names = [
        "runtime.mallocgc",
        "flate.(*huffmanBitWriter).writeTokens",
        "std::map<a::b, c::d>::insert(x::y const&)",
        "waysToPayWithoutQualification",
        "trailing.dot.",
        "関数.関数関数",
        "ключ::значение",
        "emoji.🦀🦀🦀",
        "e\u{301}te\u{301}.cafe\u{301}",
        "f",
        "",
    ];
    let rooms = 0..45;
    let fitted = |name: &str, place: &str| {
        let label = BlockLabel { name: name.into(), place: place.into() };
        rooms.clone().map(|room| label.fit(room)).collect::<Vec<_>>()
    };
    let expected: Vec<_> =
        names.iter().flat_map(|name| [fitted(name, ""), fitted(name, "app.mjs:52")]).collect();
    let check = format!(
        "const rooms = Array.from({{ length: 45 }}, (_, room) => room);
        const fitted = (label) => rooms.map((room) => fitLabel(label, room));
        return {}.flatMap((name) => [fitted([name, '']), fitted([name, 'app.mjs:52'])]);",
        json!(names)
    );
    let flame = view::flame(&from_notation("main 1"), &FlameOptions::new(Scope::metric(0)));
    let result = run_svg(&picture_of(&flame), &check);
    assert_eq!(result, json!(expected));
}
