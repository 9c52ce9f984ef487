//! How the page is read: on a phone, on paper, with a keyboard, where scripts are blocked, and how large it is.

use std::fmt::Write as _;
use std::fs;

use prof::profile::from_notation;
use prof::view::{self, PageOptions, Scope};
use serde_json::{Value, json};

use crate::page::browser::{document, run, run_sized, sheets, write};
use crate::support::{fixture, load_well, prof};

fn go_page() -> String {
    let profile = load_well(&fixture("pprof/go-cpu.pb.gz"));
    let scope = Scope::metric(profile.meta.default_metric);
    write(&view::page(
        &profile,
        &PageOptions { scope, title: "go-cpu.pb.gz".into(), ..PageOptions::default() },
    ))
}

#[test]
fn the_page_of_a_profile_is_small() {
    assert!(go_page().len() <= 110_000, "{}", go_page().len());
}

#[test]
#[needs(Browser)]
fn the_page_runs_under_its_own_policy_and_shows_the_heaviest_functions_under_a_stricter_one() {
    let page = go_page();
    let ready = document(&page);
    assert!(ready.contains("data-ready=\"1\"") && !ready.contains("id=\"static\""));
    let own = regex::Regex::new("content=\"default-src 'none';[^\"]*\"").unwrap();
    for policy in ["default-src 'self'", "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"] {
        let strict = own.replace(&page, format!("content=\"{policy}\""));
        assert_ne!(strict, page);
        let blocked = document(&strict);
        assert!(!blocked.contains("data-ready"), "{policy}");
        let (_, shown) = blocked.split_once("<div id=\"static\">").expect(policy);
        let (shown, _) = shown.split_once("<div id=\"app\"").unwrap();
        assert!(shown.contains("<svg") && shown.contains("<td>2.52s</td><td>34.9%</td>"), "{policy}");
        assert!(blocked.contains("id=\"app\" hidden"), "{policy}");
    }
}

#[test]
#[needs(Browser)]
fn a_block_has_its_numbers_on_a_phone() {
    let check = "
        const { graph } = page;
        const target = graph.widest(({ layer: { tree }, node }) => node > 0 && page.data.short(tree.name[node]).endsWith('Discounted'));
        graph.reveal(graph.rowOf(target));
        const box = graph.canvas.getBoundingClientRect();
        const [left, width] = graph.place(target);
        const at = { clientX: box.left + left + width / 2, clientY: box.top + graph.rowOf(target) * ROW - graph.scroller.scrollTop + ROW / 2, bubbles: true, cancelable: true, pointerType: 'touch', detail: 1 };
        graph.canvas.dispatchEvent(new PointerEvent('click', at));
        const sheet = document.getElementById('selection');
        const values = Array.from(sheet.querySelectorAll('.value'), (value) => [value.textContent, value.getBoundingClientRect().right <= innerWidth]);
        const low = Array.from(document.querySelectorAll('#app button:not(.name, .entry, th button), #app select')).filter((control) => control.offsetParent && control.offsetHeight < 44).map((control) => control.outerHTML.slice(0, 80));
        const row = graph.canvas.getBoundingClientRect().top + (graph.rowOf(target) + 1) * ROW - graph.scroller.scrollTop;
        const found = { seen: row <= sheet.getBoundingClientRect().top, values, low, width: innerWidth, overflow: document.documentElement.scrollWidth - innerWidth, bottom: sheet.getBoundingClientRect().bottom <= innerHeight + 1 };
        // With a filter, each number has two shares.
        page.addFilter('show-stacks', 'main', false);
        sheet.style.width = '330px';
        const { right } = sheet.getBoundingClientRect();
        const filtered = Array.from(sheet.querySelectorAll('.value'), (value) => [value.textContent, value.getBoundingClientRect().right <= right]);
        return { ...found, filtered };";
    let found = run_sized(&go_page(), "", check, (390, 844));
    let filtered = found["filtered"].as_array().unwrap();
    assert!(filtered.len() > 1 && filtered.iter().all(|value| value[1] == true), "{found}");
    assert!(found["width"].as_f64().unwrap() <= 500.0, "{found}");
    assert_eq!(found["seen"], true, "the sheet covers the block that it describes");
    let values = found["values"].as_array().unwrap();
    assert!(values.iter().all(|value| value[1] == true), "{found}");
    let texts: Vec<&str> = values.iter().map(|value| value[0].as_str().unwrap()).collect();
    assert_eq!(texts, ["self 2.52s 34.9%", "total 2.55s 35.3%", "this block 1.08s 14.9%"]);
    assert_eq!((&found["low"], &found["bottom"]), (&json!([]), &json!(true)));
    assert!(found["overflow"].as_f64().unwrap() <= 0.0, "{found}");
}

#[test]
#[needs(Browser)]
fn the_page_is_printed_on_one_sheet() {
    assert_eq!(sheets(&go_page()), 1);
    // A deep graph leaves space for fewer rows of the table.
    let deep = (0..90).map(|depth| format!("f{depth}")).collect::<Vec<_>>().join(";");
    let profile = from_notation(&format!("{deep};leaf 5"));
    let scope = Scope::metric(0);
    assert_eq!(sheets(&write(&view::page(&profile, &PageOptions { scope, ..PageOptions::default() }))), 1);
    let check = "
        page.switchTheme();
        const dark = page.theme.isDark;
        dispatchEvent(new Event('beforeprint'));
        const printed = document.querySelector('.printed');
        const [, , width, height] = printed.getAttribute('viewBox').split(' ').map(Number);
        const blocks = Array.from(printed.querySelectorAll('rect')).slice(1);
        const edge = (name, size) => Math.max(...blocks.map((block) => Number(block.getAttribute(name)) + Number(block.getAttribute(size))));
        const result = { drawn: blocks.length, all: page.graph.rows.flat().length, fits: edge('x', 'width') <= width && edge('y', 'height') <= height, light: !page.theme.isDark };
        dispatchEvent(new Event('afterprint'));
        return { ...result, restored: page.theme.isDark === dark, gone: document.querySelector('.printed') === null };";
    let found = run(&go_page(), "", check);
    assert_eq!(found["drawn"], found["all"]);
    for key in ["fits", "light", "restored", "gone"] {
        assert_eq!(found[key], true, "{key}: {found}");
    }
}

#[test]
#[needs(Browser)]
fn both_graphs_of_a_comparison_and_the_timeline_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new, java] =
        ["pprof/go-cpu-old.pb.gz", "pprof/go-cpu-new.pb.gz", "jfr/java.jfr"].map(crate::support::fixture);
    let [old, new, java] = [&old, &new, &java].map(|path| path.to_str().unwrap());
    let page = |arguments: &[&str]| {
        let output =
            prof(folder.path(), &[&["flame", "out.html", "--force"], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(folder.path().join("out.html")).unwrap()
    };
    let check = "
        dispatchEvent(new Event('beforeprint'));
        const found = Array.from(document.querySelectorAll('.printed'), (picture) => [picture.tagName, picture.parentElement.id]);
        dispatchEvent(new Event('afterprint'));
        return found;";
    let compared = run(&page(&["--base", old, new]), "tab=compare&panes=1", check);
    assert_eq!(compared, json!([["svg", "old-pane"], ["svg", ""]]));
    assert_eq!(run(&page(&[java]), "tab=timeline", check), json!([["IMG", "timeline"]]));
    // A recursion of 1,000 calls would be a line on paper.
    let deep = from_notation(&format!("{}leaf 1", "f;".repeat(1_000)));
    let scope = Scope::metric(0);
    let page = write(&view::page(&deep, &PageOptions { scope, ..PageOptions::default() }));
    let check = "
        dispatchEvent(new Event('beforeprint'));
        return document.querySelectorAll('.printed > g').length;";
    assert_eq!(run(&page, "fold=0", check), 150);
}

/// Browsers read long data faster in pieces.
#[test]
#[needs(Browser)]
fn long_data_are_read_piece_by_piece() {
    let mut state = 7_u64;
    let mut stacks = String::new();
    for value in 0..45_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(stacks, "main;f{:013x} {}", state >> 12, 1 + value % 7).unwrap();
    }
    let page = write(&view::page(
        &from_notation(&stacks),
        &PageOptions { scope: Scope::metric(0), ..PageOptions::default() },
    ));
    assert!(page.matches("<!--").count() > 1);
    let check = "
        const left = Array.from(document.body.childNodes).filter((node) => node.id === 'data' || node instanceof Comment);
        return [page.data.stacks, page.model.flat.shown, left.length > 1, left.map((node) => node.textContent).join('')];";
    let total: i32 = (0..45_000).map(|value| 1 + value % 7).sum();
    assert_eq!(run(&page, "", check), json!([45_000, total, true, ""]));
}

/// What a function costs and what to do with it are on one line; only its file is cut, from its front.
#[test]
#[needs(Browser)]
fn the_selected_function_takes_one_line() {
    let check = "
        const bar = document.getElementById('selection');
        const before = bar.offsetHeight;
        page.pin(page.data.names.indexOf('runtime.mallocgc'));
        const place = bar.querySelector('.place');
        place.firstChild.textContent = `/a/long/path/that/does/not/fit/${'folder/'.repeat(40)}malloc.go`;
        const [box, text] = [place.getBoundingClientRect(), place.firstChild.getBoundingClientRect()];
        return [bar.offsetHeight === before, Math.abs(text.right - box.right) < 2, text.left < box.left];";
    assert_eq!(run_sized(&go_page(), "", check, (1440, 900)), json!([true, true, true]));
}

/// A click on a row draws the blocks of a folded run, but the rows stay where they are, so that a double click works.
#[test]
#[needs(Browser)]
fn a_click_on_a_row_does_not_move_the_table() {
    let runs = "main;net/http.a;net/http.b;net/http.c;net/http.d;net/http.e;syscall.f 9\nmain;main.work 1";
    let page = write(&view::page(
        &from_notation(runs),
        &PageOptions { scope: Scope::metric(0), ..PageOptions::default() },
    ));
    let check = "
        const row = () => document.querySelector(`#rows tr[data-id='${page.data.names.indexOf('syscall.f')}']`);
        const [before, drawn] = [row().getBoundingClientRect().top, page.graph.rows.length];
        row().click();
        return [page.graph.rows.length > drawn, row().getBoundingClientRect().top === before];";
    assert_eq!(run_sized(&page, "", check, (1440, 900)), json!([true, true]));
}

/// On a phone, the field for filters is next to the tabs.
#[test]
#[needs(Browser)]
fn filters_need_no_row_of_their_own_on_a_phone() {
    let check = "
        const [tabs, add] = ['tabs', 'add-filter'].map((id) => document.getElementById(id).getBoundingClientRect());
        return [add.left >= tabs.right, add.top < tabs.bottom, add.right <= innerWidth];";
    assert_eq!(run_sized(&go_page(), "", check, (390, 844)), json!([true, true, true]));
}

#[test]
#[needs(Browser)]
fn the_focus_of_the_keyboard_is_never_lost() {
    let profile = from_notation("main;a;b 6\nmain;a;c 3\nmain;d 1");
    let page =
        write(&view::page(&profile, &PageOptions { scope: Scope::metric(0), ..PageOptions::default() }));
    let check = "
        const focused = () => {
            const { activeElement } = document;
            return activeElement === document.body ? 'lost' : activeElement.dataset.key ?? activeElement.id;
        };
        const use = (selector) => {
            const control = document.querySelector(selector);
            control.focus();
            control.click();
            return focused();
        };
        const sorted = use('#columns [data-key=total]');
        const row = use('#rows .name');
        page.addFilter('show-stacks', 'a', true);
        const filtered = focused();
        const removed = use('#filters .chip');
        const legend = use('#legend .entry[data-key]');
        press('2');
        const callee = use('#edges .name');
        const tab = use('#tabs [data-key=graph]');
        const hidden = use('#selection .actions button:nth-child(4)');
        page.graph.canvas.focus();
        press('m', page.graph.canvas);
        press('Escape');
        return { sorted, row, filtered, removed, legend, callee, tab, hidden, menu: focused() };";
    let found = run(&page, "", check);
    let found = found.as_object().unwrap();
    assert_eq!(found.len(), 9);
    for (deed, focused) in found {
        assert!(focused != "lost" && *focused != Value::Null, "{deed}");
    }
    assert_eq!(
        (&found["sorted"], &found["tab"], &found["menu"]),
        (&json!("total"), &json!("graph"), &json!("canvas"))
    );
}

#[test]
#[needs(Browser)]
fn each_side_of_a_comparison_is_described_by_its_own_recording() {
    // `the_old_side_has_its_own_header_and_is_rescaled` covers the header; this covers the controls that have no effect.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.folded"), "main;a 30\nmain;b 20\n").unwrap();
    fs::write(folder.path().join("new.folded"), "main;a 50\nmain;b 21\n").unwrap();
    let written =
        prof(folder.path(), &["flame", "page.html", "--base", "old.folded", "new.folded"]).output().unwrap();
    assert!(written.status.success(), "{written:?}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let check = "
        const colour = document.getElementById('color');
        const colours = () => page.graph.rows.flat().map((block) => page.picture.look(block).color);
        const compare = [colour.disabled, colour.value];
        const change = colours();
        page.change({ tab: 'graph' });
        return { compare, graph: [colour.disabled, colour.value], differs: String(colours()) !== String(change) };";
    let found = run(&page, "", check);
    let expected = json!({ "compare": [true, "delta"], "graph": [false, "package"], "differs": true });
    assert_eq!(found, expected);
}

#[test]
#[cfg(unix)]
fn the_page_is_opened_in_the_browser_or_its_path_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    fs::write(folder.path().join("cpu.folded"), "main;work 30\n").unwrap();
    let open = |browser: &str| {
        let mut command = prof(folder.path(), &["open", "cpu.folded"]);
        command.env("TMPDIR", &temporary).env("BROWSER", browser);
        let output = command
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env("SSH_CONNECTION", "x")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    // A browser that prints what it is given.
    assert!(open("cat").starts_with("<!DOCTYPE html>"));
    for browser in ["", "there-is-no-such-browser"] {
        let printed = open(browser);
        let page = std::path::Path::new(printed.trim_end());
        assert!(page.starts_with(&temporary) && page.ends_with("cpu.folded.html"), "{printed}");
        assert!(fs::read_to_string(page).unwrap().contains("<title>cpu.folded</title>"));
    }
    // Nothing is left of a page that could not be written.
    let before = fs::read_dir(&temporary).unwrap().count();
    let failed = prof(folder.path(), &["open", "missing.pb.gz"]).env("TMPDIR", &temporary).output().unwrap();
    assert_eq!(failed.status.code(), Some(2));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), before);
}

#[test]
#[needs(Browser)]
fn an_empty_result_says_so_and_offers_to_undo() {
    let profile = from_notation("main;a;b 6\nmain;a;c 3\nmain;d 1");
    let page =
        write(&view::page(&profile, &PageOptions { scope: Scope::metric(0), ..PageOptions::default() }));
    let check = "
        const box = document.getElementById('empty');
        const said = () => (box.hidden ? '' : box.textContent);
        page.addFilter('hide-stacks', 'd', true);
        page.addFilter('hide-stacks', 'main', true);
        const empty = said();
        box.querySelector('button').click();
        await pause();
        const undone = [said(), counted().shown];
        page.addFilter('hide-stacks', 'main', true);
        box.querySelectorAll('button')[1].click();
        page.search('LEDGER');
        return { empty, undone, cleared: [said(), counted().shown], notes: document.getElementById('notes').textContent, matched: document.getElementById('matched').textContent };";
    let found = run(&page, "", check);
    assert_eq!(found["empty"], "No samples are left after these filters.UndoRemove all filters");
    assert_eq!((&found["undone"], &found["cleared"]), (&json!(["", "9"]), &json!(["", "10"])));
    assert_eq!(found["matched"], "no match");
    assert!(found["notes"].as_str().unwrap().starts_with("no function matches the search"), "{found}");
}

#[test]
fn a_mean_is_not_titled_as_a_sum() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.folded"), "main;a 30\n").unwrap();
    fs::write(folder.path().join("b.folded"), "main;a 50\n").unwrap();
    let title = |arguments: &[&str]| {
        let words = [&["flame", "page.html", "--force"], arguments, &["a.folded", "b.folded"]].concat();
        assert!(prof(folder.path(), &words).output().unwrap().status.success());
        let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
        let (_, rest) = page.split_once("<title>").unwrap();
        rest.split_once("</title>").unwrap().0.to_string()
    };
    assert_eq!(title(&[]), "2 profiles, summed");
    assert_eq!(title(&["--merge", "mean"]), "2 profiles, averaged");
}
