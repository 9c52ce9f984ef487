//! The tabs of the page: hot sequences, source lines and the comparison.

use std::fs;
use std::path::Path;

use prof::profile::{Profile, from_notation};
use prof::view::{self, BaseSide, HotOptions, PageOptions, Scope};
use serde_json::{Value, json};

use crate::page::browser::{page_of, run};
use crate::support::{fixture, load_well, prof};

/// The heaviest path and the sequences, as `prof hot` finds them.
fn hot_of(profile: &Profile) -> Value {
    let hot = view::hot(profile, &HotOptions::new(Scope::metric(profile.meta.default_metric)));
    let path: Vec<Value> = hot
        .path
        .iter()
        .map(|step| {
            json!([*step.name, step.values.new.self_value.to_string(), step.values.new.total.to_string()])
        })
        .collect();
    let sequences: Vec<Value> = hot
        .sequences
        .iter()
        .map(|row| {
            let callers: Vec<Value> =
                row.callers.iter().map(|caller| json!([*caller.name, caller.value.to_string()])).collect();
            let frames: Vec<&str> = row.frames.iter().map(|name| &**name).collect();
            json!([frames, row.total.to_string(), row.self_value.to_string(), row.contexts, callers])
        })
        .collect();
    json!([path, sequences])
}

const HOT: &str = "
    const name = (id) => (id < 0 ? '(root)' : page.data.names[id]);
    const found = () => {
        const search = hot(page.model.paths, page.model.values, page.model.metric.zero, page.model.flat.shown);
        let slice = search.next();
        while (!slice.done) slice = search.next();
        const { path, sequences } = slice.value;
        return [
            path.map(({ id, self, total }) => [name(id), String(self), String(total)]),
            sequences.map(({ ids, total, self, contexts, callers }) => [ids.map(name), String(total), String(self), contexts, callers.map(({ id, value }) => [name(id), String(value)])]),
        ];
    };";

#[test]
#[needs(Browser)]
fn hot_sequences_are_those_of_the_command_line() {
    let recursive = crate::page::recursive_picture();
    let mut profiles = vec![
        from_notation("main;a;x;y 60\nmain;b;x;y 30\nmain;b;x;z 9\nx 1"),
        from_notation("a;f;g;f;g 4\nb;f;g 3\nc;f;g;h 5"),
        from_notation("a;f;g 4611686018427387903\nb;f;g 4611686018427387001\nb;f;g -3"),
        from_notation(&recursive),
    ];
    for file in ["pprof/go-cpu.pb.gz", "pprof/go-heap.pb.gz", "collapsed/python.folded", "jfr/java.jfr"] {
        profiles.push(load_well(&fixture(file)));
    }
    for profile in profiles {
        let expected = hot_of(&profile);
        assert_ne!(expected[0], json!([]));
        let result = run(&page_of(&profile), "", &format!("{HOT} return found();"));
        assert_eq!(result, expected);
    }
}

/// `f` takes 10 in all: 6 below `a`, which call `x`, and 4 below `b`, which call `y`.
#[test]
#[needs(Browser)]
fn a_zoom_into_a_caller_narrows_the_list_of_callees() {
    let page = page_of(&from_notation("main;a;f;x 6\nmain;b;f;y 4"));
    let check = "
        const lists = () => Array.from(document.querySelectorAll('#edges table'), (table) => [table.caption.textContent, ...Array.from(table.rows, (row) => row.textContent)]);
        page.addFilter('focus', 'f', true);
        const whole = lists();
        const caller = page.graph.rows.flat().find(({ layer, node }) => layer.isUp && page.data.names[layer.tree.name[node]] === 'a');
        page.zoomTo(caller);
        return [whole, lists(), document.querySelector('.narrowed').textContent];";
    let found = run(&page, "", check);
    assert_eq!(
        found[0],
        json!([
            ["Callers of f", "Total%Caller", "660.0%a", "440.0%b"],
            ["Callees of f", "Total%Callee", "660.0%x", "440.0%y"]
        ])
    );
    assert_eq!(
        found[1],
        json!([
            ["Callers of f", "Total%Caller", "660.0%a", "440.0%b"],
            ["Callees of f, when called through a", "Total%Callee", "6100.0%x"]
        ])
    );
    assert_eq!(found[2], "Callees: only samples called through a (6, 60.0% of the focus)");
}

/// The sentence at the top says what a function costs in all; so does the inspector, next to the part in one block.
#[test]
#[needs(Browser)]
fn the_inspector_says_what_a_function_costs_in_all_its_blocks() {
    let page = page_of(&from_notation("main;a;f 6\nmain;b;f 3\nmain 1"));
    let check = "
        const inspect = (name) => {
            page.pin(page.data.names.indexOf(name));
            return Array.from(document.querySelectorAll('#selection .value'), (part) => part.textContent);
        };
        return [inspect('f'), inspect('a')];";
    let found = run(&page, "", check);
    let of_f = ["self 9 90.0%", "total 9 90.0%", "this block 6 60.0%"];
    let of_a = ["total 6 60.0%", "self 0 0.0%"];
    assert_eq!(found, json!([of_f, of_a]));
}

#[test]
#[needs(Browser)]
fn hot_sequences_follow_the_filters_and_lead_to_functions() {
    let profile = load_well(&fixture("pprof/go-cpu.pb.gz"));
    let check = format!(
        "{HOT}
        page.addFilter('hide-frames', 'runtime', false);
        const filtered = found();
        page.change({{ filters: [] }});
        press('3');
        const tab = [page.state.tab, document.getElementById('hot').hidden, document.querySelectorAll('#hot .path-row').length, document.querySelectorAll('#hot .sequence').length];
        const chip = document.querySelector('#hot .sequence .step');
        chip.click();
        const pinned = page.data.label(page.state.pin)[0] === chip.textContent;
        return {{ filtered, tab, pinned }};"
    );
    let result = run(&page_of(&profile), "", &check);
    let hidden = prof::transform::Marks::new(
        &profile,
        &prof::pattern::Patterns::parse(&["runtime"], false).unwrap().0,
    );
    assert_eq!(result["filtered"], hot_of(&prof::transform::hide_frames(&profile, &hidden).0));
    let all = hot_of(&profile);
    let (steps, sequences) = (all[0].as_array().unwrap().len(), all[1].as_array().unwrap().len());
    assert_eq!(result["tab"], json!(["hot", false, steps, sequences.min(20)]));
    assert_eq!(result["pinned"], true);
}

#[test]
#[needs(Browser)]
fn stacks_that_are_too_deep_to_search_are_left_to_the_command_line() {
    // A chain of k calls of a function that calls itself 7,000 times occurs in 7,000 − k places.
    let profile = from_notation(&format!("{} 1", vec!["f"; 7_000].join(";")));
    let check = "
        press('3');
        const box = document.getElementById('hot');
        while (box.querySelector('.busy')) await pause();
        return box.textContent;";
    let said = run(&page_of(&profile), "", check);
    assert!(said.as_str().unwrap().contains("prof hot"), "{said}");
}

#[test]
#[needs(Browser)]
fn source_lines_are_those_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let code = folder.path().join("code");
    fs::create_dir(&code).unwrap();
    fs::write(code.join("sum.go"), "package sum\n\nfunc add() {\n\t<b>x</b>\n\ty := 1\n}\n").unwrap();
    let profile = from_notation(
        "main@main.go:9;add@sum.go:4 30\nmain@main.go:9;add@sum.go:4;helper@sum.go:1;add@sum.go:4 10\nmain@main.go:9;add@sum.go:5 2\nmain@main.go:9;add@sum.go:5;helper@sum.go:1;add@sum.go:4 7\nmain@main.go:9 1",
    );
    let pprof = prof::format::writer_named("pprof").unwrap();
    let mut bytes = Vec::new();
    (pprof.write)(&profile, 0, &mut bytes).unwrap();
    fs::write(folder.path().join("cpu.pb"), bytes).unwrap();
    let run_prof = |arguments: &str| {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let output = prof(folder.path(), &words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let lines: Value =
        serde_json::from_slice(&run_prof("source add --source-path code -f json cpu.pb")).unwrap();
    run_prof("flame page.html --embed-source --source-path code cpu.pb");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "
        const tab = Array.from(document.querySelectorAll('#tabs button'), (button) => button.textContent).at(-1);
        page.pin(page.data.names.indexOf('add'));
        page.openTab(4);
        const rows = Array.from(document.querySelectorAll('#source tr:has(.code)'), (row) => Array.from(row.cells, (cell) => cell.textContent));
        const lines = () => page.source.rows(page.data.sources[0]).map(({ number, text, self, total }) => [number, String(self), String(total), text]);
        const all = lines();
        page.addFilter('hide-stacks', 'helper', false);
        const filtered = lines();
        page.change({ filters: [] });
        page.addFilter('show-from', 'add', false);
        page.addFilter('prune-from', 'helper', false);
        return { tab, rows, all, filtered, others: lines(), strange: document.querySelectorAll('b').length };";
    let found = run(&page, "", check);
    assert_eq!((&found["tab"], &found["strange"]), (&json!("Source"), &json!(0)));
    let expected = |lines: &Value| -> Vec<Value> {
        let lines = lines["functions"][0]["lines"].as_array().unwrap();
        let row = |line: &Value| {
            json!([line["line"], line["self"].to_string(), line["total"].to_string(), line["text"]])
        };
        lines.iter().map(row).collect()
    };
    assert_eq!(found["all"], json!(expected(&lines)));
    assert_eq!(found["all"].as_array().unwrap().len(), 6);
    // 30 + 10 + 7 of 50; a recursive call counts once.
    assert_eq!(found["rows"][3], json!(["47", "47", "94.0%", "4", "    <b>x</b>"]));
    // With filters, the lines are those of `prof source` with the same filters.
    let filtered = |options: &str| -> Value {
        let command = format!("source ^add$ --source-path code -f json {options} cpu.pb");
        let lines: Value = serde_json::from_slice(&run_prof(&command)).unwrap();
        json!(expected(&lines))
    };
    assert_eq!(found["filtered"], filtered("--hide-stacks helper"));
    assert_eq!(found["others"], filtered("--show-from add --prune-from helper"));
    assert_ne!(found["others"], found["all"]);
    // Without the option, the page has no source.
    run_prof("flame page.html --force cpu.pb");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(
        run(
            &page,
            "",
            "return [page.data.sources.length, document.querySelectorAll('#tabs button').length];"
        ),
        json!([0, 4])
    );
}

/// The page of a comparison whose old side is rescaled.
fn compared(picture: &str, method: &'static str, ratio: f64) -> String {
    let mut scope = Scope::metric(0);
    let mut about = prof::report::Base::default();
    about.inputs = vec!["old.folded".into()];
    let normalize = prof::report::Rescaling { method, ratio, reason: None };
    scope.base = Some(BaseSide { metric: 1, normalize, about });
    let page = view::page(&from_notation(picture), &PageOptions { scope, ..PageOptions::default() });
    let options = prof::output::HtmlOptions { color_by: prof::output::ColorBy::Delta, ..Default::default() };
    let mut out = Vec::new();
    prof::output::html(&page, &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
#[needs(Browser)]
fn both_panes_have_the_same_scale_order_and_zoom() {
    // The new side is twice as expensive, and its heaviest function is another one.
    let page = compared("main;a;x 10 40\nmain;b 90 5\nmain;c 20 15", "none", 1.0);
    let check = "
        page.change({ panes: true });
        const blocks = (graph) => graph.rows.flat().filter(({ node }) => node > 0).map((block) => {
            const { layer: { tree }, node } = block;
            const [left, width] = graph.place(block);
            return [page.data.names[tree.name[node]], tree.total[node], left, width];
        });
        const both = [blocks(page.oldGraph), blocks(page.graph)];
        const width = page.graph.width;
        const old = page.oldGraph.rows.flat().find(({ layer: { tree }, node }) => page.data.names[tree.name[node]] === 'a');
        page.zoomTo(old);
        const zoomed = [blocks(page.oldGraph), blocks(page.graph)].map((list) => list.map(([name, total]) => [name, total]));
        page.hover(page.data.names.indexOf('x'));
        return { both, width, zoomed, twins: [page.graph.twin, page.oldGraph.twin], heads: ['old-head', 'new-head'].map((id) => document.getElementById(id).textContent) };";
    let found = run(&page, "", check);
    let both: Vec<Vec<Value>> = serde_json::from_value(found["both"].clone()).unwrap();
    let width = found["width"].as_f64().unwrap();
    let names = |side: usize| {
        both[side].iter().map(|block| block[0].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    // Siblings are ordered by the sum of both sides: b 95, a 50, c 35.
    assert_eq!(
        (names(0), names(1)),
        (
            ["main", "b", "a", "c", "x"].map(String::from).to_vec(),
            ["main", "b", "a", "c", "x"].map(String::from).to_vec()
        )
    );
    for block in both.iter().flatten() {
        let scale = width / 120.0;
        let (total, drawn) = (block[1].as_f64().unwrap(), block[3].as_f64().unwrap());
        assert!((drawn - total * scale).abs() < 1e-6, "{block}");
    }
    assert_eq!(
        found["zoomed"],
        json!([[["main", 60], ["a", 40], ["x", 40]], [["main", 120], ["a", 10], ["x", 10]]])
    );
    assert_eq!(found["twins"], json!([4, 4]));
    assert_eq!(found["heads"], json!(["before 60", "after 120"]));
}

#[test]
#[needs(Browser)]
fn what_is_gone_is_drawn_as_wide_as_it_was() {
    let page = compared("main;a 60 60\nmain;b;gone 0 30\nmain;b;left 10 10", "none", 1.0);
    let check = "
        const width = page.graph.width;
        return page.graph.rows.flat().map((block) => {
            const { layer: { tree }, node } = block;
            const { kept = 1, isTaken = false } = page.picture.look(block);
            return [node ? page.data.names[tree.name[node]] : 'all', Math.round(100 * page.graph.place(block)[1] / width), Math.round(100 * kept), isTaken];
        });";
    let found = run(&page, "", check);
    // The graph is as wide as 60 + 10 and the 30 that are gone. What is left of `b` is a quarter.
    let expected = json!([
        ["all", 100, 100, false],
        ["main", 100, 70, true],
        ["a", 60, 100, false],
        ["b", 40, 25, true],
        ["gone", 30, 0, true],
        ["left", 10, 100, false],
    ]);
    assert_eq!(found, expected);
}

#[test]
#[needs(Browser)]
fn the_old_side_can_be_rescaled_in_the_page() {
    let page = compared("main;a 60 20\nmain;b 40 20", "core", 1.5);
    let check = "
        const side = (normalize) => {
            page.change({ normalize, side: 'old' });
            return [counted().rows, document.getElementById('about').textContent];
        };
        const opened = page.model.table().find((row) => row.name === 'a').delta;
        const options = Array.from(element('normalize').options, (option) => option.value);
        const sides = options.map(side);
        const command = page.model.command;
        return { opened, options, sides, command };";
    let found = run(&page, "", check);
    // 60 − 20 × 1.5.
    assert_eq!((&found["opened"], &found["options"]), (&json!(30), &json!(["core", "none", "total"])));
    let rows = |a: &str, main: &str| json!([["a", a, a], ["b", a, a], ["main", "0", main]]);
    assert_eq!(found["sides"][0][0], rows("30", "60"));
    assert_eq!(found["sides"][1], json!([rows("20", "40"), "base old.folded · samples 40"]));
    assert_eq!(
        found["sides"][2],
        json!([rows("50", "100"), "base old.folded · samples 40 · rescaled × 2.500 (total)"])
    );
    assert!(found["command"].as_str().unwrap().contains("--normalize total"));
}

/// Five runs on each side, in which one function became more expensive.
fn write_sides(folder: &Path) {
    for (side, cost) in [("old", 1000), ("new", 2400)] {
        fs::create_dir(folder.join(side)).unwrap();
        for run in 0..5_i64 {
            let line = |(at, (stack, count)): (i64, (&str, i64))| {
                format!("{stack} {}\n", count + ((at * 7 + run * 5 + cost) % 11 - 5) * count.isqrt() / 9)
            };
            let stacks = [
                ("main;serve;parse", 2000),
                ("main;serve;digest", cost),
                ("main;serve;render", 3100),
                ("main;serve;log", 1700),
                ("main;serve;read", 2600),
            ];
            let text: String = (0..).zip(stacks).map(line).collect();
            fs::write(folder.join(side).join(format!("{run}.folded")), text).unwrap();
        }
    }
}

#[test]
#[needs(Browser)]
fn verdicts_of_the_test_are_in_the_table_and_choose_the_colours() {
    let folder = tempfile::tempdir().unwrap();
    write_sides(folder.path());
    let run_prof = |arguments: &str| {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        prof(folder.path(), &words).output().unwrap().stdout
    };
    let diff: Value = serde_json::from_slice(&run_prof("diff old new -f json")).unwrap();
    run_prof("flame page.html --base old new");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "
        const rows = Array.from(document.querySelectorAll('#rows tr[data-id]'), (row) => [page.data.names[row.dataset.id], row.querySelector('.verdict').textContent]);
        const colour = (name) => page.picture.look(blockOf(name)).color;
        const { grew, same } = page.theme.fixed;
        const colours = ['digest', 'parse'].map((name) => ({ [grew]: 'grew', [same]: 'same' })[colour(name)]);
        return { tab: page.state.tab, rows, colours };";
    let found = run(&page, "", check);
    assert_eq!(found["tab"], "compare");
    assert_eq!(found["colours"], json!(["grew", "same"]));
    let verdict_of = |name: &str| {
        let row = diff["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        match (row["tested"].as_bool().unwrap(), row["verdict"].as_str().unwrap()) {
            (false, _) => "",
            (true, "") => "noise",
            (true, verdict) => verdict,
        }
        .to_string()
    };
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows[0], json!(["digest", "regressed"]));
    for row in rows {
        assert_eq!(row[1], verdict_of(row[0].as_str().unwrap()), "{row}");
    }
}

#[test]
#[needs(Browser)]
fn units_fit_what_filters_leave() {
    // Two hours and three milliseconds.
    let mut profile = from_notation("main;a 7200000000000\nmain;b 3000000\nmain;b;c 40000");
    profile.meta.metrics[0].unit = "nanoseconds".into();
    let unit = prof::unit::Unit::parse("nanoseconds");
    let check = "
        const row = (name) => cells().find((cells) => cells.at(-1) === name);
        const all = [row('a')[2], row('c')[2]];
        page.addFilter('show-stacks', 'b', true);
        return { all, shown: [row('b')[2], row('c')[2], row('main')[2]], about: document.getElementById('about').textContent };";
    let found = run(&page_of(&profile), "", check);
    let [all, shown] = [7_200_003_040_000, 3_040_000].map(|sum| prof::unit::Scale::automatic(&unit, 1, sum));
    assert_eq!(found["all"], json!([all.format(7_200_000_000_000), all.format(40_000)]));
    let values = [3_040_000, 40_000, 3_040_000].map(|value| shown.format(value));
    assert_eq!(found["shown"], json!(values));
    assert_ne!(values[0], all.format(3_040_000));
    assert!(found["about"].as_str().unwrap().contains(&all.format(7_200_003_040_000)), "{found}");
}

#[test]
#[needs(Browser)]
fn rows_name_the_main_caller_and_the_table_moves() {
    let profile = from_notation("main;a;x 3\nmain;b;x 5\nmain;b;x;a;x 4\nmain;x 2\nidle 1");
    let check = "
        const callers = () => Object.fromEntries(Array.from(document.querySelectorAll('#rows tr[data-id]'), (row) => [page.data.names[row.dataset.id], row.querySelector('td.caller').textContent]));
        const all = callers();
        page.addFilter('hide-frames', 'b', true);
        const hidden = callers();
        document.querySelector('#rows td.caller button').click();
        const pinned = page.data.names[page.state.pin];
        const side = document.getElementById('table-side');
        const seen = [];
        for (let count = 0; count < 3; count++) {
            press('t');
            const [graph, table] = [document.getElementById('graph-side'), side].map((part) => part.getBoundingClientRect());
            seen.push(table.width === 0 ? 'off' : table.left >= graph.right ? 'beside' : table.top >= graph.bottom ? 'below' : 'over');
        }
        return { all, hidden, pinned, first: Object.values(hidden)[0], seen };";
    let found = run(&page_of(&profile), "", check);
    // Of x, 9 come from b and 3 from a: the recursion is below the first call of x.
    assert_eq!(found["all"], json!({ "x": "b", "a": "x", "b": "main", "main": "", "idle": "" }));
    assert_eq!(found["hidden"], json!({ "x": "main", "a": "x", "main": "", "idle": "" }));
    assert_eq!(found["pinned"], found["first"]);
    assert_eq!(found["seen"], json!(["beside", "off", "below"]));
}
