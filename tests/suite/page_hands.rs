//! What hands do with the page besides clicking: the wheel, pinches, dragging; and that nothing moves unasked.

use prof::profile::{Profile, from_notation};
use prof::view::{self, BaseSide, PageOptions, Scope};
use serde_json::json;

use crate::page::browser::{run, write};

fn page_of(profile: &Profile) -> String {
    write(&view::page(profile, &PageOptions { scope: Scope::metric(0), ..PageOptions::default() }))
}

/// The page of a profile with a new and an old side.
fn compared(picture: &str) -> String {
    let base = BaseSide { metric: 1, ..BaseSide::default() };
    let scope = Scope { base: Some(base), ..Scope::metric(0) };
    write(&view::page(&from_notation(picture), &PageOptions { scope, ..PageOptions::default() }))
}

/// The middle of the block of a function, as a script.
const MIDDLE: &str = "
    const middle = (name) => {
        const block = blockOf(name);
        const box = page.graph.canvas.getBoundingClientRect();
        const [left, width] = page.graph.place(block);
        return { clientX: box.left + left + width / 2, clientY: box.top + (page.graph.rowOf(block) + 0.5) * ROW - page.graph.scroller.scrollTop, bubbles: true, cancelable: true };
    };
    const zoomed = () => page.state.zoom.map((id) => page.data.names[id]);
";

#[test]
#[needs(Browser)]
fn a_zoom_moves_for_a_moment_unless_motion_is_unwanted() {
    let check = "
        const { graph } = page;
        const before = graph.place(blockOf('b'));
        click(blockOf('b'));
        const { scale, shift } = graph.glided;
        // The zoom starts where the block was.
        const start = [shift, graph.width * scale].every((value, at) => Math.abs(value - before[at]) < 0.01);
        await new Promise((resolve) => setTimeout(resolve, 400));
        graph.draw();
        const ended = graph.glided === null && String(graph.drawnAt(blockOf('b'))) === String(graph.place(blockOf('b')));
        press('Escape');
        const back = graph.glided.scale > 1;
        graph.glided = null;
        window.matchMedia = (query) => ({ matches: query.includes('reduced-motion') });
        click(blockOf('b'));
        return { start, ended, back, still: graph.glided === null, zoomed: page.state.zoom.length };";
    let found = run(&page_of(&from_notation("main;a 6\nmain;b;c 3\nmain;b 1")), "", check);
    assert_eq!(found, json!({ "start": true, "ended": true, "back": true, "still": true, "zoomed": 2 }));
}

#[test]
#[needs(Browser)]
fn the_wheel_with_ctrl_and_a_pinch_zoom_towards_a_block_and_back() {
    let check = "
        const { canvas } = page.graph;
        const found = [];
        const wheel = (deltaY, more) => canvas.dispatchEvent(new WheelEvent('wheel', { ...middle('c'), deltaY, ...more }));
        wheel(-100, {});
        found.push(zoomed());
        // The root and `main` are as wide as everything, so the first block that differs is `b`.
        wheel(-100, { ctrlKey: true });
        found.push(zoomed());
        wheel(-100, { ctrlKey: true });
        found.push(zoomed());
        wheel(100, { ctrlKey: true });
        found.push(zoomed());
        wheel(100, { ctrlKey: true });
        found.push(zoomed());
        const { clientX, clientY } = middle('c');
        const finger = (type, pointerId, x) => canvas.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: 'touch', clientX: x, clientY, bubbles: true }));
        finger('pointerdown', 1, clientX - 10);
        finger('pointerdown', 2, clientX + 10);
        finger('pointermove', 2, clientX + 11);
        found.push(zoomed());
        finger('pointermove', 2, clientX + 30);
        found.push(zoomed());
        finger('pointermove', 2, clientX + 5);
        found.push(zoomed());
        finger('pointerup', 1, clientX);
        finger('pointerup', 2, clientX);
        return found;";
    let found =
        run(&page_of(&from_notation("main;a 6\nmain;b;c 3\nmain;b 2")), "", &format!("{MIDDLE}{check}"));
    let none: [&str; 0] = [];
    assert_eq!(
        found,
        json!([none, ["main", "b"], ["main", "b", "c"], ["main", "b"], none, none, ["main", "b"], none])
    );
}

#[test]
#[needs(Browser)]
fn the_line_between_graph_and_table_is_dragged_or_moved_with_keys() {
    let deep = (0..60).map(|depth| format!("f{depth}")).collect::<Vec<_>>().join(";");
    let check = "
        const line = document.getElementById('divider');
        const height = () => document.getElementById('graph').clientHeight;
        const at = (type, clientY) => line.dispatchEvent(new PointerEvent(type, { clientY, bubbles: true, pointerId: 1 }));
        line.setPointerCapture = () => {};
        const usual = height();
        at('pointerdown', 600);
        at('pointermove', 450);
        const dragged = usual - height();
        at('pointerup', 450);
        at('pointermove', 100);
        const left = usual - height();
        press('ArrowDown', line);
        const down = usual - height();
        line.dispatchEvent(new MouseEvent('dblclick'));
        return { dragged, left, down, usual: usual - height(), role: line.getAttribute('role'), name: line.getAttribute('aria-label'), tab: line.tabIndex };";
    let found = run(&page_of(&from_notation(&format!("{deep};leaf 5"))), "", check);
    assert_eq!(
        found,
        json!({ "dragged": 150, "left": 150, "down": 110, "usual": 0, "role": "separator", "name": "Height of the graph", "tab": 0 })
    );
}

#[test]
#[needs(Browser)]
fn what_is_under_the_pointer_does_not_move_the_page() {
    let long = "a_function_with_a_name_that_needs_much_of_the_line".repeat(3);
    let both = format!("main;{long};b 6\nmain;c 3\nmain 1");
    let check = "
        page.addFilter('show-stacks', 'main', true);
        const names = ['main', 'c', page.data.names.find((name) => name.startsWith('a_')), 'b', 'main', 'c'];
        const top = () => document.getElementById('table-side').getBoundingClientRect().top;
        const tops = names.map((name) => (page.showSelection(blockOf(name)), top()));
        return tops.slice(3).every((at) => at === tops[3]);";
    assert_eq!(run(&page_of(&from_notation(&both)), "", check), true);
}

#[test]
#[needs(Browser)]
fn a_saved_comparison_shows_what_was_added_and_taken_away() {
    let page = compared("main;grew 60 20\nmain;shrank 20 60\nmain;same 40 40");
    let check = "
        page.openTab(4);
        const picture = new DOMParser().parseFromString(page.graph.svg('saved'), 'image/svg+xml');
        const { added } = page.theme.fixed;
        const shapes = (name) => {
            const group = [...picture.querySelectorAll('g')].find((group) => group.querySelector(':scope > title')?.textContent.startsWith(name));
            const rects = [...group.querySelectorAll('rect')];
            return [rects.map((rect) => rect.getAttribute('fill')).includes(added), rects.some((rect) => rect.hasAttribute('stroke-dasharray'))];
        };
        return { tab: page.state.tab, grew: shapes('grew'), shrank: shapes('shrank'), same: shapes('same') };";
    let found = run(&page, "", check);
    assert_eq!(
        found,
        json!({ "tab": "compare", "grew": [true, false], "shrank": [false, true], "same": [false, false] })
    );
}

#[test]
#[needs(Browser)]
fn a_cause_that_lies_in_a_callee_shows_the_function_to_blame() {
    let page = compared("main;format;print 30 10\nmain;print 5 5\nmain;other 10 10");
    let check = "
        const id = (name) => page.data.names.indexOf(name);
        page.showCause(id('format'), ['format', 'print'].map(id));
        return [page.state.zoom.map((id) => page.data.names[id]), page.data.names[page.state.pin]];";
    assert_eq!(run(&page, "", check), json!([["main", "format"], "format"]));
}

/// The old page wrote the self of the function at the root as the total of every block.
#[test]
#[needs(Browser)]
fn bottom_up_self_and_total_are_those_of_the_function() {
    let check = "
        page.change({ inverted: true });
        const values = (name) => page.picture.lines(blockOf(name));
        return { b: values('b'), a: values('a'), wide: document.getElementById('wide').textContent };";
    let found = run(&page_of(&from_notation("main;a;b 6\nmain;a 3\nmain;b 1")), "", check);
    assert_eq!(found["b"], json!(["self 7 70.0%", "total 7 70.0%"]));
    // Nearest to the root is the block of its own self; its total includes what it calls.
    assert_eq!(found["a"], json!(["self 3 30.0%", "total 9 90.0%"]));
    assert!(
        found["wide"].as_str().unwrap().starts_with("Bottom-up: each function with its callers."),
        "{found}"
    );
}

#[test]
#[needs(Browser)]
fn a_link_works_on_the_page_of_another_recording() {
    // The other recording has other numbers for the same names, and lacks one.
    let check = "
        const names = (ids) => ids.map((id) => page.data.names[id]);
        return [names(page.state.zoom), names([page.state.pin]), String(page.model.flat.shown), document.getElementById('toast').textContent];";
    let link = "zoom=main&zoom=gone&pin=work&show-stacks=work";
    let first = run(&page_of(&from_notation("main;gone;work 6\nmain;b 1")), link, check);
    assert_eq!(first, json!([["main", "gone"], ["work"], "6", ""]));
    let other = from_notation("aaa;bbb 2\nmain;ccc;work 5\nmain;ddd 1\nzzz 3");
    assert_eq!(
        run(&page_of(&other), link, check),
        json!([["main"], ["work"], "5", "Not in this profile: gone"])
    );
}

#[test]
#[needs(Browser)]
fn a_link_with_filters_and_settings_that_the_page_lacks_is_read_without_them() {
    let check = "
        const { side, sort, color, normalize, filters } = page.state;
        return [[side, sort, color, normalize], filters, String(page.model.flat.shown), document.getElementById('toast').textContent];";
    let link = "side=old&normalize=per&sort=verdict&color=none&show-stacks=gone&from=1s&label=t%3D1&thread=7";
    let found =
        run(&page_of(&from_notation("main;work 5 {t=1 process=7}\nmain 2 {t=2 process=7}")), link, check);
    assert_eq!(found[0], json!(["new", "self", "package", "none"]));
    // Labels and threads are patterns, however the link spells them.
    let filters = [("label", "t=1"), ("thread", "7")];
    let filters = filters.map(|(kind, text)| json!({ "kind": kind, "text": text, "exact": false }));
    assert_eq!(found[1], json!(filters));
    assert_eq!(found[2], "5");
    let said = "gone: no function of this profile has this name. 1s: this page does not say when its samples were taken. \
                Not in this profile: old, per, verdict, none";
    assert_eq!(found[3], said);
}

#[test]
#[needs(Browser)]
fn labels_of_faded_blocks_can_be_read_in_both_themes() {
    let check = "
        const channels = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
        const light = (color) => {
            const [r, g, b] = color.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const over = (top, below, alpha) => top.map((value, at) => value * alpha + below[at] * (1 - alpha));
        const lowest = (theme) => {
            document.documentElement.dataset.theme = theme;
            const { fixed } = page.theme;
            const { own, library, runtime } = page.data[theme];
            const contrasts = [...own, library, runtime].flatMap((color) => [fixed.dim, ANCESTOR].map((alpha) => {
                const block = over(channels(color), channels(fixed.paper), alpha);
                const label = over(channels(fixed.ink), block, Math.max(alpha, FAINTEST_LABEL));
                const [a, b] = [light(block), light(label)];
                return Math.max(a, b) / Math.min(a, b);
            }));
            return [contrasts.length, Math.min(...contrasts)];
        };
        return ['light', 'dark'].map(lowest);";
    let found = run(&page_of(&from_notation("main 1")), "", check);
    for theme in found.as_array().unwrap() {
        assert_eq!(theme[0], 38, "{found}");
        assert!(theme[1].as_f64().unwrap() >= 4.5, "{found}");
    }
}
