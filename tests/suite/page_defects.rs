//! Defects of an earlier page and picture that no other test of the page covers.

use std::fs;
use std::path::Path;

use prof::profile::{Profile, from_notation};
use prof::view::{self, FlameOptions, PageOptions, Scope};
use serde_json::json;

use crate::page::browser::{run, run_sized, run_svg, session, sheets_of, write};
use crate::support::{fixture, load_well, prof};

fn page_of(profile: &Profile) -> String {
    let scope = Scope::metric(profile.meta.default_metric);
    write(&view::page(profile, &PageOptions { scope, title: "recorded".into(), ..PageOptions::default() }))
}

/// The page or picture that `prof` writes: its arguments begin with the command and the file.
fn written(folder: &Path, arguments: &[&str]) -> String {
    let output = prof(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(folder.join(arguments[1])).unwrap()
}

fn go() -> Profile {
    load_well(&fixture("pprof/go-cpu.pb.gz"))
}

#[test]
#[needs(Browser, Python)]
fn every_control_is_reached_and_used_with_the_keyboard_alone() {
    let found = session("keyboard", &page_of(&go()));
    let reached = found["reached"].as_array().unwrap();
    assert_eq!(found["controls"], json!(reached.len()), "{found}");
    for focus in reached {
        assert!(focus["ring"] == true && focus["seen"] == true, "{focus}");
    }
    let deeds = found["deeds"].as_object().unwrap();
    for (deed, result) in deeds {
        assert!(result[0]["ring"] == true && result[0]["seen"] == true, "{deed}: {result}");
    }
    for (deed, expected) in [
        ("zoom", json!(2)),
        ("zoom out", json!(0)),
        ("block menu", json!(true)),
        ("menu item", json!(1)),
        ("search", json!("search")),
        ("end search", json!("")),
        ("remove filter", json!(0)),
        ("tab", json!("tree")),
        ("callers", json!("focus")),
        ("graph", json!(0)),
        ("sort", json!("total")),
        ("row", json!(true)),
        ("legend", json!(true)),
        ("no legend", json!(false)),
        ("divider", json!(true)),
        ("page menu", json!(true)),
        ("close page menu", json!(false)),
        ("theme", json!(true)),
        ("help", json!(true)),
        ("close help", json!(false)),
        ("no table", json!("off")),
        ("table", json!("below")),
        ("only", json!(["show-stacks"])),
        ("undo empty", json!(true)),
    ] {
        assert_eq!(deeds[deed][1], expected, "{deed}: {found}");
    }
    assert!(deeds["next match"][1].as_str().unwrap().starts_with("1 of "), "{found}");
    assert_eq!(deeds["add filter"][1].as_array().unwrap().len(), 1, "{found}");
}

#[test]
#[needs(Browser, Python)]
fn a_screen_reader_is_told_roles_names_and_what_is_selected() {
    let found = session("listened", &page_of(&go()));
    let tabs = found["tabs"].as_object().unwrap();
    assert_eq!(tabs.keys().map(String::as_str).collect::<Vec<_>>(), ["graph", "callers", "hot", "tree"]);
    for (tab, nodes) in tabs {
        let nodes = nodes.as_array().unwrap();
        let named = |role: &str| -> Vec<&str> {
            let of_role = nodes.iter().filter(|node| node["role"] == role);
            of_role.map(|node| node["name"].as_str().unwrap()).collect()
        };
        for node in nodes {
            assert!(node["focusable"] != true || node["name"] != "", "{tab}: {node}");
        }
        for role in ["columnheader", "tab", "button", "table", "treegrid", "region", "group", "tree"] {
            // The group around the menu has the name of what opens it.
            let unnamed = named(role).iter().filter(|name| name.is_empty()).count();
            assert!(unnamed <= usize::from(role == "group"), "{tab}: {role}: {:?}", named(role));
        }
        for role in ["banner", "main", "heading", "search", "tablist"] {
            assert!(!named(role).is_empty(), "{tab}: {role}");
        }
        let is_open = |node: &&serde_json::Value| node["role"] == "tab" && node["selected"] == true;
        assert_eq!(nodes.iter().filter(is_open).count(), 1, "{tab}");
        let polite = nodes.iter().filter(|node| node["live"] == "polite").count();
        assert!(polite >= 2, "{tab}: what is selected and what was found are said");
    }
    let of = |tab: &str, role: &str| {
        let nodes = tabs[tab].as_array().unwrap();
        nodes.iter().filter(|node| node["role"] == role).cloned().collect::<Vec<_>>()
    };
    let blocks = of("graph", "treeitem");
    assert!(blocks.len() > 100, "{}", blocks.len());
    assert_eq!((&blocks[0]["name"], &blocks[0]["level"]), (&json!("all — 7.23s (100.0%)"), &json!(1)));
    assert!(blocks.iter().skip(1).all(|block| block["name"].as_str().unwrap().contains(", total ")));
    assert_eq!(of("graph", "application").len(), 1);
    assert_eq!(of("graph", "caption").len(), 1);
    // The functions, the callers and the callees.
    assert_eq!(of("callers", "caption").len(), 3);
    assert!(of("tree", "row").iter().any(|row| row["expanded"] == true && row["level"] == 1));
    assert_eq!(found["at once"], true, "what is passed by is not read");
    let said = found["said"].as_str().unwrap();
    assert!(said.contains(", total ") && !said.contains("Hide"), "{said}");
}

#[test]
fn each_way_of_rescaling_gives_another_page() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.folded"), "main;a 30\nmain;b 20\nmain;c 60\n").unwrap();
    fs::write(folder.path().join("new.folded"), "main;a 90\nmain;b 44\nmain;c 120\n").unwrap();
    let pages = ["total", "core", "none"].map(|method| {
        let words =
            ["flame", "page.html", "--force", "--normalize", method, "--base", "old.folded", "new.folded"];
        written(folder.path(), &words)
    });
    assert!(pages[0] != pages[1] && pages[1] != pages[2] && pages[0] != pages[2]);
}

#[test]
#[needs(Browser)]
fn the_numbers_of_a_block_are_whole_on_a_wide_screen() {
    let check = "
        const wide = page.graph.widest(({ node, layer: { tree } }) => node > 0 && page.data.names[tree.name[node]].length > 25);
        page.select(wide);
        page.addFilter('show-stacks', page.data.names[page.state.pin], true);
        const right = document.getElementById('selection').getBoundingClientRect().right;
        const values = [...document.querySelectorAll('#selection .value')];
        return [values.length, values.every((value) => value.scrollWidth <= value.clientWidth + 1 && value.getBoundingClientRect().right <= right)];";
    let found = run(&page_of(&go()), "", check);
    assert!(found[0].as_u64().unwrap() >= 2 && found[1] == true, "{found}");
}

#[test]
#[needs(Browser)]
fn a_click_on_the_focused_function_keeps_the_focus() {
    let check = "
        page.addFilter('focus', 'a', true);
        click(blockOf('a'));
        const once = page.state.filters.length;
        click(blockOf('a'));
        return [once, page.state.filters.length, counted().shown];";
    let found = run(&page_of(&from_notation("main;a;b 6\nmain;d 1\nc;a 2")), "", check);
    assert_eq!(found, json!([1, 1, "8"]));
}

#[test]
#[needs(Browser)]
fn a_change_of_colours_counts_and_grows_nothing() {
    let check = "
        const { trees, flat } = page.model;
        page.change({ color: 'file' }, true);
        page.switchTheme();
        return [page.model.trees === trees, page.model.flat === flat];";
    let found = run(&page_of(&from_notation("main;a;b 6\nmain;d 1")), "", check);
    assert_eq!(found, json!([true, true]));
}

#[test]
#[needs(Browser)]
fn the_sides_of_a_comparison_differ_and_its_colours_are_those_of_the_change() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.folded"), "main;a 30\nmain;b 60\nmain;gone 20\n").unwrap();
    fs::write(folder.path().join("new.folded"), "main;a 90\nmain;b 61\n").unwrap();
    let page = written(folder.path(), &["flame", "page.html", "--base", "old.folded", "new.folded"]);
    let check = "
        const color = document.getElementById('color');
        page.change({ tab: 'compare', side: 'new' });
        const isOfChange = () => ['grew', 'shrank', 'same'].some((kind) => page.picture.look(blockOf('a')).color === page.theme.fixed[kind]);
        const compare = [color.disabled, color.value, isOfChange()];
        page.change({ tab: 'graph' });
        const graph = [color.disabled, isOfChange()];
        const shown = () => [blocks().map(([, name, total]) => `${name} ${total}`).sort(), document.getElementById('about').textContent];
        const newSide = shown();
        page.change({ side: 'old' });
        const oldSide = shown();
        page.change({ tab: 'compare', side: 'new' });
        document.querySelector('#tabs [data-key=callers]').click();
        const callers = document.querySelector('#tabs [aria-selected=true]').dataset.key;
        document.documentElement.dataset.theme = 'dark';
        const light = (color) => [1, 3, 5].reduce((sum, at) => sum + parseInt(color.slice(at, at + 2), 16), 0);
        const { same, grew, shrank, added } = page.theme.fixed;
        return { compare, graph, newSide, oldSide, callers, dark: [grew, shrank, added].every((color) => light(color) > light(same)) };";
    let found = run(&page, "", check);
    assert_eq!(found["compare"], json!([true, "delta", true]));
    assert_eq!(found["graph"], json!([false, false]));
    assert_eq!(found["newSide"][0], json!(["(all) 151", "a 90", "b 61", "main 151"]));
    assert_eq!(found["oldSide"][0], json!(["(all) 110", "a 30", "b 60", "gone 20", "main 110"]));
    assert_ne!(found["newSide"][1], found["oldSide"][1]);
    assert_eq!(found["callers"], "callers");
    assert_eq!(found["dark"], true, "what did not change is the darkest");
}

#[test]
#[needs(Browser)]
fn a_picture_is_printed_whole() {
    let flame = view::flame(&go(), &FlameOptions::new(Scope::metric(1)));
    let mut picture = Vec::new();
    prof::output::svg(&flame, &prof::output::SvgOptions::default(), &mut picture).unwrap();
    let picture = String::from_utf8(picture).unwrap();
    assert_eq!(sheets_of("picture.svg", &picture), 1);
    let check = "
        const svg = document.documentElement;
        dispatchEvent(new Event('beforeprint'));
        // The paper is narrower than the window.
        svg.style.width = '700px';
        const edges = [...svg.querySelectorAll('.side rect')].map((rect) => rect.getBoundingClientRect());
        const left = Math.min(...edges.map(({ left }) => left));
        const right = Math.max(...edges.map(({ right }) => right));
        svg.style.width = '';
        dispatchEvent(new Event('afterprint'));
        return [left >= 0, right <= 700, right > 600, svg.hasAttribute('viewBox')];";
    assert_eq!(run_svg(&picture, check), json!([true, true, true, false]));
}

#[test]
#[needs(Browser)]
fn the_tooltip_is_never_under_the_menu_and_never_stale() {
    let check = "
        const tip = document.getElementById('tip');
        const { canvas } = page.graph;
        const over = async () => {
            const box = canvas.getBoundingClientRect();
            const [left, width] = page.graph.place(blockOf('b'));
            const y = page.graph.rowOf(blockOf('b')) * ROW - page.graph.scroller.scrollTop + 5;
            canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + left + width / 2, clientY: box.top + y, bubbles: true, pointerType: 'mouse' }));
            await new Promise((resolve) => setTimeout(resolve, 400));
            return !tip.hidden;
        };
        const found = { over: await over() };
        page.openMenu(page.data.names.indexOf('b'), 100, 100);
        found.menu = tip.hidden;
        page.closeMenu();
        await over();
        canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: 50 }));
        found.wheel = tip.hidden;
        await over();
        click(blockOf('b'));
        found.click = tip.hidden;
        await over();
        canvas.dispatchEvent(new PointerEvent('pointerleave'));
        found.leave = tip.hidden;
        return found;";
    let found = run(&page_of(&from_notation("main;a;b 6\nmain;d 1")), "", check);
    assert_eq!(found, json!({ "over": true, "menu": true, "wheel": true, "click": true, "leave": true }));
}

#[test]
#[needs(Browser)]
fn a_search_moves_nothing_and_ignores_case_unless_it_has_capitals() {
    let check = "
        const top = () => document.getElementById('graph').getBoundingClientRect().top;
        const before = top();
        const matched = document.getElementById('matched');
        const found = [];
        for (const query of ['ledger', 'LEDGER', 'Ledger']) {
            page.search(query);
            found.push(matched.textContent);
        }
        return { found, moved: top() - before };";
    let found = run(&page_of(&from_notation("main;Ledger;b 6\nmain;d 2")), "", check);
    assert_eq!(found, json!({ "found": ["1 · 75.0%", "no match", "1 · 75.0%"], "moved": 0 }));
}

#[test]
#[needs(Browser)]
fn the_chosen_theme_is_kept_and_narrow_blocks_are_counted_without_a_sum() {
    let picture = (0..6000).map(|at| format!("main;f{at} 1")).collect::<Vec<_>>().join("\n");
    let check = "
        const before = page.theme.isDark;
        page.switchTheme();
        // A reload starts without a theme.
        delete document.documentElement.dataset.theme;
        page.restoreTheme();
        return [page.theme.isDark !== before, document.getElementById('notes').textContent];";
    let found = run(&page_of(&from_notation(&picture)), "", check);
    assert_eq!(found[0], true);
    let notes = found[1].as_str().unwrap();
    assert!(notes.starts_with("6,000 blocks are too narrow to draw; zoom in to see them"), "{notes}");
    assert!(!notes.contains('%'), "{notes}");
}

#[test]
#[needs(Browser)]
fn what_the_recorder_did_not_know_is_no_group() {
    // Its recorder wrote `Unknown` as the file of C functions.
    let profile = load_well(&fixture("pprof/rust-cpu.pb.gz"));
    let check = "return page.picture.legend.map(({ name }) => name);";
    let found = run(&page_of(&profile), "", check);
    let names: Vec<&str> = found.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(names.contains(&"words") && !names.iter().any(|name| name.contains("nknown")), "{names:?}");
}

/// A function can be to blame for a change although its own runs vary too much for a verdict.
#[test]
#[needs(Browser)]
fn a_function_that_is_to_blame_is_not_drawn_as_noise() {
    let folder = tempfile::tempdir().unwrap();
    for (side, cost) in [("old", 1000), ("new", 2400)] {
        fs::create_dir(folder.path().join(side)).unwrap();
        for run in 0..5 {
            let text = format!("main;a {}\nmain;b {}\nmain;c {}\n", cost + run, 2000 + run, 3000 - run);
            fs::write(folder.path().join(side).join(format!("{run}.folded")), text).unwrap();
        }
    }
    let page = written(folder.path(), &["flame", "page.html", "--base", "old", "new"]);
    let check = "
        const { model, data, theme } = page;
        const id = data.names.indexOf('a');
        const said = () => [model.verdictOf(id), page.picture.look(blockOf('a')).color === theme.fixed.grew, data.names[model.table()[0].id]];
        const regressed = said();
        const row = model.tested.get(id);
        model.tested.set(id, { ...row, verdict: '' });
        const blamed = said();
        model.blamed = new Set();
        return { regressed, blamed, noise: said().slice(0, 2) };";
    let found = run(&page, "", check);
    assert_eq!(found["regressed"], json!(["regressed", true, "a"]));
    assert_eq!(found["blamed"], json!(["cause", true, "a"]));
    assert_eq!(found["noise"], json!(["noise", false]));
}

/// The note of a call graph, which says what is drawn, is as wide as its longest line, and so are the boxes of functions.
#[test]
#[needs(Browser, Graphviz)]
fn the_note_of_a_call_graph_stays_in_its_box() {
    let folder = tempfile::tempdir().unwrap();
    let profile = fixture("pprof/go-cpu.pb.gz");
    let picture = written(folder.path(), &["graph", "calls.svg", profile.to_str().unwrap()]);
    let check = "
        const note = [...document.querySelectorAll('.node')].find((node) => node.querySelector('title').textContent === 'legend');
        const box = note.querySelector('polygon').getBBox();
        const lines = [...note.querySelectorAll('text')].map((line) => line.getBBox());
        const isInside = (line) => line.x >= box.x && line.y >= box.y && line.x + line.width <= box.x + box.width && line.y + line.height <= box.y + box.height;
        const wider = [...document.querySelectorAll('.node')].filter((node) => {
            const width = node.querySelector('polygon')?.getBBox().width;
            return [...node.querySelectorAll('text')].some((line) => line.getBBox().width > width);
        });
        return [lines.length > 4, lines.every(isInside), wider.length];";
    assert_eq!(run_svg(&picture, check), json!([true, true, 0]));
}

/// Nothing takes space before it has something to say.
#[test]
#[needs(Browser)]
fn no_part_of_the_page_is_an_empty_strip() {
    // The line between graph and table is lower than a line of text.
    let check = "
        const parts = [...document.querySelectorAll('#app > *, .row > *, #main > *')].filter((part) => part.offsetHeight > 8);
        const isEmpty = (part) => !part.textContent.trim() && !part.querySelector('canvas, input, select, button');
        return [parts.length > 6, parts.filter(isEmpty).map((part) => part.id), document.getElementById('selection').textContent];";
    for size in [(1400, 900), (390, 844)] {
        let found = run_sized(&page_of(&go()), "", check, size);
        assert_eq!(found, json!([true, [], "all — 7.23s (100.0%)"]), "{size:?}");
    }
}

/// Shares are of the sum of the values without their signs, but sums keep them: 50 - 80 + 30 - 5 - 20 = -25 of 185.
#[test]
#[needs(Browser)]
fn negative_values_keep_their_signs() {
    let profile = from_notation("main;a 50\nmain;b -80\nmain;b;c 30\nmain;d -5\n -20");
    let check = "
        const texts = (rows) => Array.from(document.querySelectorAll(rows), (row) => Array.from(row.cells, (cell) => cell.textContent).join(' ').trim());
        const all = texts('#rows tr').at(-1).trim();
        const legend = document.querySelector('#legend button').textContent;
        const opening = document.getElementById('opening').textContent;
        page.addFilter('highlight', 'b', true);
        const highlighted = page.model.litValue;
        page.change({ filters: [] });
        page.addFilter('focus', 'b', true);
        return { all, legend, opening, highlighted, edges: texts('#edges tr') };";
    let found = run(&page_of(&profile), "", check);
    assert!(found["all"].as_str().unwrap().starts_with("-25 -13.5%"), "{found}");
    assert!(found["legend"].as_str().unwrap().contains('b'), "{found}");
    assert!(found["opening"].as_str().unwrap().starts_with("-43% of "), "{found}");
    assert_eq!(found["highlighted"], -50, "{found}");
    let edges =
        ["Total % Caller", "-50  main", "Total % Callee", "30  c", "-80  (self)"].map(|row| json!(row));
    assert_eq!(found["edges"], json!(edges), "{found}");
}

/// The call tree of a recursion of 20,000 calls had a row for each.
#[test]
#[needs(Browser)]
fn a_deep_call_tree_opens_in_parts() {
    let profile = from_notation(&format!("main;{}leaf 1", "f;".repeat(1_000)));
    let check = "
        press('4');
        const rows = () => document.getElementById('tree-rows').rows;
        const opened = rows().length;
        const last = rows()[opened - 1];
        const isClosed = last.getAttribute('aria-expanded');
        last.click();
        const more = rows().length;
        // A row that was opened with others closes as any other.
        rows()[opened - 1].click();
        return { opened, isClosed, more, closed: rows().length };";
    let found = run(&page_of(&profile), "", check);
    assert_eq!(found, json!({ "opened": 201, "isClosed": "false", "more": 401, "closed": 201 }));
}

/// Searching a million stacks takes seconds, in which the page answered nothing.
#[test]
#[needs(Browser)]
fn the_search_for_sequences_lets_the_page_answer() {
    // 500 chains through the same 60 calls.
    let calls: Vec<String> = (0..60).map(|call| format!("f{}", call % 7)).collect();
    let chain = calls.join(";");
    let stacks: Vec<String> = (0..500).map(|start| format!("s{start};{chain} 1")).collect();
    let check = "
        press('3');
        const box = document.getElementById('hot');
        const busy = box.textContent;
        press('1');
        const tab = page.state.tab;
        press('3');
        while (box.querySelector('.busy')) await pause();
        return { busy, tab, found: box.textContent };";
    let found = run(&page_of(&from_notation(&stacks.join("\n"))), "", check);
    assert_eq!([&found["busy"], &found["tab"]], ["Searching …", "graph"]);
    assert!(found["found"].as_str().unwrap().contains("Heaviest path"), "{found}");
}

#[test]
#[needs(Browser)]
fn a_tab_names_the_panel_that_it_opens() {
    let check = "
        return Array.from(document.querySelectorAll('#tabs button'), (tab) => {
            tab.click();
            const open = document.querySelector(`#tabs [data-key=${tab.dataset.key}]`);
            const panel = document.getElementById(open.getAttribute('aria-controls'));
            return [tab.dataset.key, panel.getAttribute('role'), panel.hidden];
        });";
    let found = run(&page_of(&go()), "", check);
    let tabs = ["graph", "callers", "hot", "tree"].map(|tab| json!([tab, "tabpanel", false]));
    assert_eq!(found, json!(tabs));
}

/// The cost was ×1.59 beside columns of 4.45s and 2.26s, which are 1.97 times as much.
#[test]
#[needs(Browser)]
fn a_comparison_says_what_its_costs_compare() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["pprof/go-cpu-old.pb.gz", "pprof/go-cpu-new.pb.gz"].map(fixture);
    let [old, new] = [&old, &new].map(|path| path.to_str().unwrap());
    let page = written(folder.path(), &["flame", "out.html", "--base", old, new]);
    let found = run(&page, "tab=compare", "return document.getElementById('notes').textContent;");
    let said = "Verdict and Cost compare the sides after the old one is multiplied by 1.239, so that unchanged code costs the \
                same on both sides; “Old side” changes only the other columns";
    assert!(found.as_str().unwrap().contains(said), "{found}");
}
