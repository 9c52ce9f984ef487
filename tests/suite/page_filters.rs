//! Filters of the page: threads and labels, the sentence that names them, and patterns.

use prof::pattern::Patterns;
use prof::profile::{Profile, from_notation};
use prof::transform::{LabelFilter, hide_labels, show_labels, show_threads};
use prof::view::{self, LabelsOptions, Scope, TopOptions};
use serde_json::{Value, json};

use crate::page::browser::{page_of, run};
use crate::page_times::shlex;
use crate::support::{fixture, load_well, prof};

/// Self and total of all functions as the command line counts them, by name.
fn top(profile: &Profile) -> Value {
    let top = view::top(profile, &TopOptions::new(Scope::metric(profile.meta.default_metric)));
    let mut rows: Vec<Value> = top
        .rows
        .iter()
        .map(|row| json!([*row.name, row.values.self_value.to_string(), row.values.total.to_string()]))
        .collect();
    rows.sort_by_key(|row| row[0].as_str().unwrap().to_owned());
    json!([top.header.shown.to_string(), rows])
}

/// Applies a label filter of the command line.
fn filtered(profile: &Profile, kind: &str, text: &str) -> Profile {
    if kind == "thread" {
        return show_threads(profile, &Patterns::parse(&[text], false).unwrap().0).0;
    }
    let filters = [LabelFilter::parse(text, false).unwrap().0];
    if kind == "label" { show_labels(profile, &filters).0 } else { hide_labels(profile, &filters).0 }
}

const COUNT: &str = "
    const count = (filters) => {
        page.change({ filters: filters.map(([kind, text]) => ({ kind, text, exact: false })) });
        const { rows, shown } = counted();
        return [shown, rows.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))];
    };";

#[test]
#[needs(Browser)]
fn threads_and_labels_filter_as_on_the_command_line() {
    let drawn = "main;a 5 {thread=main endpoint=/x}\nmain;a;b 7 {thread=main endpoint=/y}\nmain;b 11 {thread=worker-1 endpoint=/x}\nmain;b 13 {thread=worker-2}\nmain;c 17 {bytes=64B}\n 19 {thread=main}";
    let cases = [
        (
            from_notation(drawn),
            vec![
                ("label", "thread=main"),
                ("label", "endpoint=/x"),
                ("label", "endpoint"),
                ("label", "thread=~worker"),
                ("label", "bytes=64B"),
                ("hide-label", "endpoint"),
                ("hide-label", "thread=main"),
                ("thread", "worker"),
                ("thread", "^main$"),
                ("thread", "worker-1|main"),
            ],
        ),
        (
            load_well(&fixture("jfr/java.jfr")),
            vec![
                ("label", "thread=pool-1-thread-3"),
                ("thread", "pool"),
                ("hide-label", "thread=~thread-[12]"),
            ],
        ),
        (
            load_well(&fixture("pprof/go-cpu.pb.gz")),
            vec![("label", "endpoint=/orders"), ("hide-label", "endpoint")],
        ),
    ];
    for (profile, filters) in cases {
        let check = format!("{COUNT} return {}.map((filter) => count([filter]));", json!(filters));
        let found = run(&page_of(&profile), "", &check);
        for ((kind, text), found) in filters.iter().zip(found.as_array().unwrap()) {
            let expected = top(&filtered(&profile, kind, text));
            assert_ne!(expected[0], "0", "{kind} {text}");
            assert_eq!(found, &expected, "{kind} {text}");
        }
    }
}

#[test]
#[needs(Browser)]
fn several_labels_and_other_filters_combine_as_on_the_command_line() {
    let profile = from_notation(
        "main;a;x 1 {t=1 e=x}\nmain;a;y 2 {t=1 e=y}\nmain;b;x 4 {t=2 e=x}\nmain;b 8 {t=2 e=y}\nmain;a;x 16 {t=3 e=y}\nmain 32 {t=3}",
    );
    let check = format!(
        "{COUNT} return [
            count([['label', 't=1'], ['label', 't=2']]),
            count([['label', 't=1'], ['label', 't=3'], ['label', 'e=y']]),
            count([['label', 't=1'], ['label', 't=2'], ['hide-label', 'e=y'], ['hide-frames', 'x']]),
        ];"
    );
    let found = run(&page_of(&profile), "", &check);
    // By hand: the same key is "or", different keys are "and".
    let expected = json!([
        ["15", [["a", "0", "3"], ["b", "8", "12"], ["main", "0", "15"], ["x", "5", "5"], ["y", "2", "2"]]],
        ["18", [["a", "0", "18"], ["main", "0", "18"], ["x", "16", "16"], ["y", "2", "2"]]],
        ["5", [["a", "1", "1"], ["b", "4", "4"], ["main", "0", "5"]]],
    ]);
    assert_eq!(found, expected);
}

#[test]
#[needs(Browser)]
fn a_click_on_a_value_filters_and_its_share_is_that_of_labels() {
    let profile = load_well(&fixture("pprof/go-cpu.pb.gz"));
    let metric = profile.meta.default_metric;
    let check = "
        const values = () => Array.from(document.querySelectorAll('#facets .value-choice'), (button) => [button.querySelector('.value-name').textContent, button.querySelector('.share-text').textContent, button.getAttribute('aria-pressed')]);
        const click = (name, shiftKey = false) => Array.from(document.querySelectorAll('#facets .value-choice')).find((button) => button.textContent.startsWith(name)).dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey }));
        const opened = values();
        click('/products');
        const filtered = [values(), counted().shown, document.getElementById('filters').textContent, location.hash];
        history.back();
        await pause();
        const back = counted().shown;
        click('no endpoint');
        const none = [page.state.filters, page.model.command];
        click('no endpoint');
        click('/orders', true);
        return { opened, filtered, back, none, hidden: page.state.filters };";
    let found = run(&page_of(&profile), "", check);
    let options = LabelsOptions { scope: Scope::metric(metric), limit: None, min_share: 0.0 };
    let labels = view::labels(&profile, &options);
    let key = labels.keys.iter().find(|key| key.key == "endpoint").unwrap();
    let total = labels.header.total;
    let none = total - key.total;
    let mut expected: Vec<(i64, String)> = key
        .values
        .iter()
        .map(|value| (value.total, json!(value.value).as_str().unwrap().to_string()))
        .collect();
    expected.push((none, "no endpoint".into()));
    expected.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
    let expected: Vec<Value> = expected
        .iter()
        .map(|(value, name)| json!([name, prof::unit::share(*value, total), "false"]))
        .collect();
    assert_eq!(found["opened"], json!(expected));
    let products = key.values.iter().find(|value| json!(value.value) == "/products").unwrap().total;
    assert_eq!(found["filtered"][1], products.to_string());
    // The other values can still be chosen, with the shares that they had.
    let pressed: Vec<Value> =
        expected.iter().map(|row| json!([row[0], row[1], (row[0] == "/products").to_string()])).collect();
    assert_eq!(found["filtered"][0], json!(pressed));
    let sentence = found["filtered"][2].as_str().unwrap();
    assert!(sentence.starts_with("Filtersendpoint = /products ×shown 1.77s, 24.5% of all"), "{sentence}");
    assert!(sentence.contains("prof top -m cpu --label endpoint=/products"), "{sentence}");
    assert_eq!(found["filtered"][3], "#label%7E=endpoint%3D%2Fproducts");
    assert_eq!(found["back"], total.to_string());
    assert_eq!(found["none"][0], json!([{ "kind": "hide-label", "text": "endpoint", "exact": false }]));
    assert!(found["none"][1].as_str().unwrap().contains("--hide-label endpoint"));
    assert_eq!(
        found["hidden"],
        json!([{ "kind": "hide-label", "text": "endpoint=/orders", "exact": false }])
    );
}

#[test]
#[needs(Browser)]
fn a_typed_filter_is_completed() {
    let profile = from_notation(
        "main;json.Encode;write 6 {endpoint=/orders}\nmain;json.Decode 3 {endpoint=/products}\nmain;idle 1",
    );
    let check = "
        const field = document.getElementById('add-filter');
        const type = (text) => {
            field.value = text;
            field.dispatchEvent(new Event('input', { bubbles: true }));
            return Array.from(document.querySelectorAll('#suggestions .suggestion'), (row) => row.innerText.replaceAll('\\n', ' '));
        };
        const enter = () => press('Enter', field);
        const verbs = type('');
        const names = type('hide frames json');
        enter();
        const hidden = page.state.filters;
        const labels = type('label ord');
        enter();
        const both = [counted().shown, page.state.filters.at(-1)];
        page.change({ filters: [] });
        const verb = type('foc');
        enter();
        const completed = field.value;
        type('show stacks ^json[.]');
        press('ArrowUp', field);
        enter();
        const pattern = page.state.filters;
        const refused = type('label colour=red').length;
        page.addFilter('label', 'colour=red', false);
        const said = document.getElementById('toast').textContent;
        return { verbs, names, hidden, labels, both, verb, completed, pattern, refused, said, kept: page.state.filters.length };";
    let found = run(&page_of(&profile), "", check);
    assert_eq!(found["verbs"].as_array().unwrap().len(), 11);
    let names =
        json!(["hide frames json.Encode 60.0%", "hide frames json.Decode 30.0%", "json as a pattern"]);
    assert_eq!(found["names"], names);
    assert_eq!(found["hidden"], json!([{ "kind": "hide-frames", "text": "json.Encode", "exact": true }]));
    assert_eq!(found["labels"], json!(["endpoint=/orders 60.0%"]));
    assert_eq!(found["both"], json!(["6", { "kind": "label", "text": "endpoint=/orders", "exact": false }]));
    assert_eq!(
        (&found["verb"][0], &found["completed"]),
        (&json!("focus callers above, callees below"), &json!("focus "))
    );
    assert_eq!(found["pattern"], json!([{ "kind": "show-stacks", "text": "^json[.]", "exact": false }]));
    assert_eq!(found["refused"], 0);
    assert_eq!(
        (&found["said"], &found["kept"]),
        (&json!("colour=red: no sample has the label colour"), &json!(1))
    );
}

#[test]
#[needs(Browser)]
fn a_pattern_that_only_the_command_line_can_evaluate_is_refused() {
    let profile = from_notation("main;a 6\nmain;b 3");
    let check = "
        page.addFilter('show-stacks', '(?x) a  # comment', false);
        const typed = [page.state.filters.length, document.getElementById('toast').textContent];
        location.hash = 'hide-stacks~=' + encodeURIComponent('[a-c&&b]') + '&show-stacks~=b';
        await pause();
        return { typed, linked: [page.state.filters, counted().shown, document.getElementById('toast').textContent] };";
    let found = run(&page_of(&profile), "", check);
    let why = "a flag within a regular expression works only on the command line";
    assert_eq!(found["typed"], json!([0, format!("(?x) a  # comment: {why}")]));
    let left = json!([{ "kind": "show-stacks", "text": "b", "exact": false }]);
    let why = "[a-c&&b]: the intersection of sets of letters works only on the command line";
    assert_eq!(found["linked"], json!([left, "3", why]));
}

/// The name of one function can be the short name of another: `^syscall.Read$` matches both.
#[test]
#[needs(Browser)]
fn the_command_for_one_function_selects_only_that_one() {
    let text = "main;syscall.Read 5\nmain;internal/syscall.Read 7\nmain;:main 11\nmain;f…g 13\nmain;fxg 17\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.folded"), text).unwrap();
    let flame = prof(folder.path(), &["flame", "out.html", "a.folded"]).output().unwrap();
    assert!(flame.status.success());
    let page = std::fs::read_to_string(folder.path().join("out.html")).unwrap();
    let check = "
        return ['syscall.Read', ':main', 'f…g'].map((name) => {
            page.change({ filters: [] });
            page.addFilter('show-stacks', name, true);
            return [page.model.command, Number(page.model.flat.shown)];
        });";
    let found = run(&page, "", check);
    assert_eq!(found[0][0], "prof top --show-stacks exact:syscall.Read a.folded");
    for (row, expected) in found.as_array().unwrap().iter().zip([5, 11, 13]) {
        let words = shlex(row[0].as_str().unwrap());
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).chain(["-f", "json"]).collect();
        let output = prof(folder.path(), &arguments).output().unwrap();
        let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!([&row[1], &counted["shown"]], [&json!(expected), &json!(expected)], "{words:?}");
    }
}
