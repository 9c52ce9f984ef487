//! Pages of profiles that record calls between functions, and folded runs of library calls: what is approximated or left
//! out of the picture changes no number.

use std::collections::BTreeMap;
use std::fs;

use prof::profile::from_notation;
use prof::unit::group_thousands;
use prof::view::{self, FocusOptions, PageOptions, Scope, TopOptions};
use serde_json::{Value, json};

use crate::page::browser::{run, write};
use crate::support::{fixture, load_well, prof};

/// Self and total of every function.
fn rows(rows: impl Iterator<Item = (String, i64, i64)>) -> Value {
    let rows = rows.filter(|(_, own, total)| (*own, *total) != (0, 0));
    let sorted: BTreeMap<String, Value> =
        rows.map(|(name, own, total)| (name, json!([own.to_string(), total.to_string()]))).collect();
    json!(sorted)
}

#[test]
#[needs(Browser)]
fn the_page_of_calls_shows_the_numbers_of_top_and_focus() {
    for file in ["callgrind/c.callgrind", "pstats/python.pstats"] {
        let profile = load_well(&fixture(file));
        let scope = Scope::metric(profile.meta.default_metric);
        let top = view::top(&profile, &TopOptions::new(scope.clone()));
        let row =
            |row: &prof::report::TopRow| (row.name.to_string(), row.values.self_value, row.values.total);
        let expected = rows(top.rows.iter().map(row));
        let page = view::page(&profile, &PageOptions { scope: scope.clone(), ..PageOptions::default() });
        let check = "
            const { data } = page;
            const list = (values) => Object.fromEntries(Array.from(values.keys()).filter((id) => values[id] != 0).map((id) => [data.names[id], String(values[id])]));
            const rows = Object.fromEntries(page.model.table().map((row) => [row.name, [String(row.self), String(row.total)]]));
            const said = document.getElementById('approximate').textContent;
            const tabs = Array.from(document.querySelectorAll('#tabs button'), (tab) => tab.dataset.key);
            const drawn = page.graph.rows.flat().length;
            const at = Array.from(document.querySelectorAll('#columns th'), (head) => head.textContent).indexOf('Calls');
            const lines = Array.from(document.querySelectorAll('#rows tr[data-id]'));
            const calls = Object.fromEntries(lines.map((line) => [data.names[line.dataset.id], line.children[at].textContent]));
            const edges = {};
            for (const name of Object.keys(rows)) {
                page.model.update({ ...page.state, filters: [{ kind: 'focus', text: name, exact: true }] });
                const { callers, callees, itself, root, self, total } = page.model.edges;
                edges[name] = [list(callers), list(callees), String(itself), String(root), String(self), String(total)];
            }
            page.change({ filters: [{ kind: 'hide-frames', text: Object.keys(rows)[0], exact: true }] });
            return { rows, said, tabs, drawn, calls, edges, filtered: document.getElementById('approximate').textContent };";
        let found = run(&write(&page), "", check);
        assert_eq!(found["rows"], expected, "{file}");
        assert!(found["drawn"].as_u64().unwrap() > 10, "{file}: the graph is empty");
        // How often functions are called is a column of `top`, which the page takes over.
        let counted = view::top_with_calls(&profile, &TopOptions::new(scope.clone()));
        for (name, calls) in found["calls"].as_object().unwrap() {
            let row = counted.rows.iter().find(|row| &*row.name == name.as_str()).unwrap();
            assert_eq!(*calls, json!(group_thousands(row.calls.unwrap().into())), "{file}: {name}");
        }
        assert!(found["calls"].as_object().unwrap().len() > 5, "{file}");
        let said = found["said"].as_str().unwrap();
        assert!(
            said.starts_with("The graph is approximated from calls") && said.contains("table is exact"),
            "{said}"
        );
        assert!(found["filtered"].as_str().unwrap().contains("all numbers are approximate"));
        // Sequences need stacks.
        assert_eq!(found["tabs"], json!(["graph", "callers", "tree"]));
        for name in expected.as_object().unwrap().keys() {
            let options = FocusOptions { fixed: true, ..FocusOptions::new(scope.clone(), name) };
            let focus = view::focus(&profile, &options).unwrap();
            let list = |rows: &[prof::report::Neighbour], special: &str| {
                let mut found = rows.iter().filter(|row| &*row.name == special);
                found.next().map_or(0, |row| row.value).to_string()
            };
            let plain = |rows: &[prof::report::Neighbour]| -> BTreeMap<String, String> {
                let named = rows.iter().filter(|row| !["(root)", "(itself)", "(self)"].contains(&&*row.name));
                named.map(|row| (row.name.to_string(), row.value.to_string())).collect()
            };
            let new = focus.values.new;
            let expected = json!([
                plain(&focus.callers),
                plain(&focus.callees),
                list(&focus.callers, "(itself)"),
                list(&focus.callers, "(root)"),
                new.self_value.to_string(),
                new.total.to_string()
            ]);
            assert_eq!(found["edges"][name], expected, "{file}: {name}");
        }
    }
}

/// The same program before and after: `parse` became more expensive, and `check` is no longer called.
const OLD_CALLS: &str = "events: Ir\n\nfn=main\n1 10\ncfn=parse\ncalls=1 1\n2 60\ncfn=check\ncalls=1 1\n3 30\n\nfn=parse\n1 40\ncfn=check\ncalls=1 1\n2 20\n\nfn=check\n1 50\n";
const NEW_CALLS: &str = "events: Ir\n\nfn=main\n1 12\ncfn=parse\ncalls=1 1\n2 180\n\nfn=parse\n1 170\ncfn=next\ncalls=1 1\n2 10\n\nfn=next\n1 10\n";

#[test]
#[needs(Browser)]
fn the_page_of_two_profiles_of_calls_shows_both_sides_exactly() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [("old.callgrind", OLD_CALLS), ("new.callgrind", NEW_CALLS)] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    let output =
        prof(folder.path(), &["flame", "page.html", "--base", "old.callgrind", "new.callgrind"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "
        const { data } = page;
        const rows = Object.fromEntries(page.model.table().map((row) => [row.name, [row.self, row.total, row.other.self, row.other.total]]));
        page.addFilter('focus', 'parse', true);
        const cells = (row) => Array.from(row.cells, (cell) => cell.textContent);
        const edges = Array.from(document.querySelectorAll('#edges table'), (table) => Array.from(table.rows, cells));
        const said = document.getElementById('approximate').textContent;
        const tabs = Array.from(document.querySelectorAll('#tabs button'), (tab) => tab.dataset.key);
        page.change({ tab: 'compare', filters: [], panes: true });
        return { rows, edges, said, tabs, panes: [page.oldGraph, page.graph].map((graph) => graph.rows.flat().length) };";
    let found = run(&page, "", check);
    // Self and total of the new side, then of the old one, as the files record them.
    let rows = json!({ "main": [12, 192, 10, 100], "parse": [170, 180, 40, 60], "check": [0, 0, 50, 50], "next": [10, 10, 0, 0] });
    assert_eq!(found["rows"], rows);
    let head = |last| json!(["Total", "%", "Old", "Change", last]);
    assert_eq!(found["edges"][0], json!([head("Caller"), ["180", "100.0%", "60", "+120", "main"]]));
    let callees = json!([
        head("Callee"),
        ["0", "0.0%", "20", "\u{2212}20", "check"],
        ["10", "5.6%", "0", "+10", "next"],
        ["170", "94.4%", "40", "+130", "(self)"]
    ]);
    assert_eq!(found["edges"][1], callees);
    assert!(found["said"].as_str().unwrap().contains("Callers and callees below are exact"));
    assert_eq!(found["tabs"], json!(["graph", "callers", "tree", "compare"]));
    assert!(found["panes"][0].as_u64().unwrap() >= 4 && found["panes"][1].as_u64().unwrap() >= 4);
}

/// `main.go` calls a chain of five functions of the runtime, one of which also calls `main.other`.
const CHAIN: &str = "main.go;runtime.a;runtime.b;runtime.c;runtime.d;runtime.e;main.work 60
main.go;runtime.a;runtime.b;runtime.c;runtime.d;runtime.e 20
main.go;net.x;net.y;net.z;main.work 10
main.go;main.a;main.b;main.c;main.d;main.e 7
main.go 3";

const BLOCKS: &str = "
    const shown = () => page.graph.rows.flat().filter(({ node }) => node > 0).map((block) => {
        const { layer: { tree }, node } = block;
        const nodes = tree.runs.get(node) ?? [node];
        return [page.graph.rowOf(block), nodes.map((node) => page.data.names[tree.name[node]]).join(' '), tree.total[node], tree.self[nodes.at(-1)]];
    });
    const chainOf = (first) => page.graph.rows.flat().find((block) => block.layer.tree.runs.has(block.node) && page.data.names[block.layer.tree.name[block.node]] === first);";

#[test]
#[needs(Browser)]
fn a_run_of_library_calls_is_one_row_that_opens() {
    let profile = from_notation(CHAIN);
    let page = view::page(&profile, &PageOptions { scope: Scope::metric(0), ..PageOptions::default() });
    let check = format!(
        "{BLOCKS}
        const folded = shown();
        const table = counted();
        const label = page.picture.look(chainOf('runtime.a')).label.texts[0];
        const tip = page.picture.describe(chainOf('runtime.a'));
        const note = document.getElementById('notes').textContent;
        click(chainOf('runtime.a'));
        const opened = shown();
        const zoom = page.state.zoom.length;
        page.change({{ fold: false }}, true);
        const flat = shown();
        const link = location.hash;
        const same = JSON.stringify(counted()) === JSON.stringify(table);
        document.getElementById('fold').click();
        const again = shown();
        page.pin(page.data.names.indexOf('runtime.c'));
        const pinned = shown();
        return {{ folded, opened, flat, again, pinned, label, tip, note, zoom, same, link }};"
    );
    let found = run(&write(&page), "", &check);
    let own = |row: u32| {
        [
            json!([row, "main.a", 7, 0]),
            json!([row - 1, "main.b", 7, 0]),
            json!([row - 2, "main.c", 7, 0]),
            json!([row - 3, "main.d", 7, 0]),
            json!([row - 4, "main.e", 7, 7]),
        ]
    };
    let sorted = |value: &Value| {
        let mut rows: Vec<String> = value.as_array().unwrap().iter().map(Value::to_string).collect();
        rows.sort();
        rows
    };
    let expected = |rows: Vec<Value>| {
        let mut rows: Vec<String> = rows.iter().map(Value::to_string).collect();
        rows.sort();
        rows
    };
    // The root is at the bottom, on the last row. Own calls and three library calls are never folded.
    let folded = [
        json!([5, "main.go", 100, 3]),
        json!([4, "runtime.a runtime.b runtime.c runtime.d runtime.e", 80, 20]),
        json!([3, "main.work", 60, 60]),
        json!([4, "net.x", 10, 0]),
        json!([3, "net.y", 10, 0]),
        json!([2, "net.z", 10, 0]),
        json!([1, "main.work", 10, 10]),
    ];
    assert_eq!(sorted(&found["folded"]), expected(folded.into_iter().chain(own(4)).collect()));
    let flat = [
        json!([6, "main.go", 100, 3]),
        json!([5, "runtime.a", 80, 0]),
        json!([4, "runtime.b", 80, 0]),
        json!([3, "runtime.c", 80, 0]),
        json!([2, "runtime.d", 80, 0]),
        json!([1, "runtime.e", 80, 20]),
        json!([0, "main.work", 60, 60]),
        json!([5, "net.x", 10, 0]),
        json!([4, "net.y", 10, 0]),
        json!([3, "net.z", 10, 0]),
        json!([2, "main.work", 10, 10]),
    ];
    let flat = expected(flat.into_iter().chain(own(5)).collect());
    for way in ["opened", "flat", "pinned"] {
        assert_eq!(sorted(&found[way]), flat, "{way}");
    }
    assert_eq!(found["again"], found["folded"]);
    assert_eq!((&found["zoom"], &found["same"]), (&json!(0), &json!(true)));
    assert_eq!(found["label"], "runtime.a → 3 more → runtime.e");
    assert!(found["link"].as_str().unwrap().contains("fold=0"));
    let tip: Vec<&str> = found["tip"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(tip[..5], ["runtime.a", "runtime.b", "runtime.c", "runtime.d", "runtime.e"]);
    assert_eq!(tip[5..7], ["total 80 80.0%", "self 20 20.0%"]);
    assert!(found["note"].as_str().unwrap().contains("1 run of library calls folded"));
}

#[test]
#[needs(Browser)]
fn what_is_folded_is_found_and_reached_by_keys() {
    let profile = from_notation(CHAIN);
    let page = view::page(&profile, &PageOptions { scope: Scope::metric(0), ..PageOptions::default() });
    let check = format!(
        "{BLOCKS}
        page.search('runtime.c');
        const isHit = page.picture.look(chainOf('runtime.a')).isHit;
        page.step(1);
        const selected = page.data.names[page.graph.cursor.layer.tree.name[page.graph.cursor.node]];
        page.search('');
        page.change({{ pin: -1 }}, true);
        const canvas = page.graph.canvas;
        page.graph.setCursor(chainOf('runtime.a'));
        press('Enter', canvas);
        const opened = page.model.trees[0].runs.size;
        press('Enter', canvas);
        const zoomed = page.state.zoom.map((id) => page.data.names[id]);
        return {{ isHit, selected, opened, zoomed }};"
    );
    let found = run(&write(&page), "", &check);
    assert_eq!(
        found,
        json!({ "isHit": true, "selected": "runtime.c", "opened": 0, "zoomed": ["main.go", "runtime.a"] })
    );
}
