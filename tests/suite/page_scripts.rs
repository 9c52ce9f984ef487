//! The scripts of the page that count, run by Node.js without a browser, against the same vectors as the library.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use prof::name::{block_labels, clean, short_names};
use prof::pattern::{FrameNames, Pattern, Patterns};
use prof::profile::Profile;
use prof::report::{Page, PageName};
use prof::transform::Marks;
use prof::view::{self, PageOptions, Scope};
use serde_json::{Value, json};

use crate::page::browser::write;
use crate::support::{below, corpus_root, fixture, load_file};

/// Runs a script that may import the modules of the page, and returns what it prints, as JSON.
fn node(script: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/output/html");
    for file in fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "js") {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    // The sources are ES modules, which Node.js takes from here.
    fs::write(folder.path().join("package.json"), "{\"type\": \"module\"}").unwrap();
    // A part of the page looks for its data when it is loaded.
    let script = format!("globalThis.document = {{ getElementById: () => null }};\n{script}");
    fs::write(folder.path().join("check.js"), script).unwrap();
    let output = Command::new("node").arg("check.js").current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const TEXTS: [&str; 22] = [
    "main",
    "main.main",
    "runtime.mallocgc",
    "gob.(*Decoder).Decode",
    "a::b<c::d>::e",
    "operator[]",
    "Größe::messen",
    "größe",
    "имя.функция",
    "関数",
    "f1",
    "f٣",
    "f_1 (x.py:82)",
    "x-y",
    "x^y",
    "tab\there",
    "two\nlines",
    "{{closure}}",
    "café cafe\u{301}",
    "ſtraße K",
    "a&b",
    "",
];

const PATTERNS: &[&str] = &[
    "main",
    "^main$",
    "MAIN",
    "(?i)MAIN",
    "(?i)GRÖSSE",
    "(?i)größe",
    "(?i)STRASSE",
    "(?i)k",
    r"\w+",
    r"^\w+$",
    r"\bmain\b",
    r"\Bain",
    r"f\d",
    r"f[\d]$",
    r"f[[:digit:]]",
    r"[^\w.]",
    r"[[:^alpha:]]",
    r"\s",
    r"[\s_]",
    r"\S+\s\S+",
    r"\pL+",
    r"^\p{L}+$",
    r"\p{Greek}",
    r"\P{L}",
    r"\x6dain",
    r"\x{444}",
    r"\u0444",
    r"\Amain\z",
    "ma.n",
    "two.lines",
    "(?s)two.lines",
    "(?m)^lines$",
    "(?m)two$",
    r"x\-y",
    r"x\^y",
    "[]]",
    "[^]]",
    "[x-]y",
    "[-x]",
    "[]a]",
    r"operator\[\]",
    "operator[]",
    "operator]",
    "}",
    r"\{\{closure",
    "{{closure}}",
    "a{2}",
    "f{1,}",
    "(?P<n>main)",
    "(?<n>main)",
    "(?:a|b)",
    "gob.(*Decoder).Decode",
    "gob…Decode",
    "a&b",
    "[a&b]",
    r"\#",
    r"\'",
    r"\1",
    "(?=main)",
    r"(?<!x)y",
    r"\Q.\E",
    "*",
];

/// Labels lose the package, then the type; what has no name of its own keeps the function that it is in.
#[test]
#[needs(Node)]
fn labels_of_blocks_keep_the_identifier() {
    let script = "
        import { fitLabel, forms } from './label.js';
        // Letters are half as wide as the font is high.
        const ruler = { width: (text) => 6 * text.length, small: (text, size) => (text.length * size) / 2 };
        const names = ['catalog.(*Catalog).Discounted', 'halves.<listcomp>', 'total.<genexpr>', 'a::run::{{closure}}', 'main.serve.func1'];
        const fitted = names.map((name) => [200, 80, 72, 60, 45, 30, 14].map((width) => fitLabel({ texts: forms(name), place: '' }, width, ruler)?.text ?? ''));
        const label = (width) => fitLabel({ texts: ['Encoder'] }, width, ruler);
        console.log(JSON.stringify({ fitted, wide: label(72), narrow: label(47.5), small: label(36), nothing: label(13) }));";
    let found = node(script);
    assert_eq!(
        found["fitted"],
        json!([
            [
                "catalog.(*Catalog).Discounted",
                "Discounted",
                "Discounted",
                "Discounted",
                "Discoun…",
                "Disc…",
                ""
            ],
            ["halves.<listcomp>", "halves[…]", "halves[…]", "halves[…]", "halves[…]", "halv…", ""],
            ["total.<genexpr>", "total(…)", "total(…)", "total(…)", "total(…)", "tota…", ""],
            ["a::run::{{closure}}", "run {…}", "run {…}", "run {…}", "run {…}", "run…", ""],
            ["main.serve.func1", "serve.func1", "serve.func1", "serve.func1", "serve.f…", "serv…", ""],
        ])
    );
    assert_eq!(found["wide"], json!({ "text": "Encoder", "size": 12, "left": 5 }));
    assert_eq!(found["narrow"], json!({ "text": "Encoder", "size": 12, "left": 3 }));
    assert_eq!(found["small"], json!({ "text": "Encoder", "size": 9, "left": 2.5 }));
    assert_eq!(found["nothing"], Value::Null);
}

/// A filter that hides few of many frames leaves the others as they are; the sums are those of one that looks at each frame.
#[test]
#[needs(Node)]
fn frames_that_few_stacks_have_are_hidden_as_any_others() {
    let script = "
        const { countFlat } = await import('./count.js');
        const { pathsOf } = await import('./data.js');
        const { Nodes, Paths, filtered } = await import('./paths.js');
        let state = 7;
        const random = (below) => (state = (state * 16807) % 2147483647) % below;
        const names = Array.from({ length: 60 }, (_, id) => `f${id}`);
        const stacks = Array.from({ length: 900 }, () => Array.from({ length: 1 + random(14) }, () => (random(40) ? random(20) : 20 + random(40))));
        stacks.push([], [59], [0, 59, 1], [59, 59]);
        const compare = (a, b) => {
            for (let at = 0; ; at++) {
                if (a[at] === undefined || b[at] === undefined) return a.length - b.length;
                if (a[at] !== b[at]) return a[at] - b[at];
            }
        };
        stacks.sort(compare);
        const [shared, further, places] = [[], [], [0]];
        stacks.forEach((stack, at) => {
            const before = stacks[at - 1] ?? [];
            let common = 0;
            while (common < stack.length && stack[common] === before[common]) common++;
            shared.push(common);
            further.push(stack.length - common);
            places.push(...stack.slice(common));
        });
        const values = Int32Array.from(stacks, () => 1 + random(9));
        const paths = pathsOf(shared, further, Uint32Array.from(places), null, names.length);
        const data = { count: names.length, idOf: (name) => names.indexOf(name), paths, places: { name: Uint32Array.from(names.keys()) }, sets: new Map(), label_sets: [[]] };
        let [wrong, cut] = [0, 0];
        for (let hidden = 20; hidden < 60; hidden++) {
            // From then on, the sums of all stacks are known.
            if (hidden === 40) countFlat(data, paths, values, 0);
            const left = filtered(data, [{ kind: 'hide-frames', text: names[hidden], exact: true }]);
            const { places, parent, end, repeats } = left.nodes;
            if (left.hidden.length) cut++;
            const again = new Nodes(places, parent, null, names.length);
            if (String(again.end) !== String(end)) wrong++;
            if (again.repeats.some((is, node) => places[node] !== hidden && is !== repeats[node])) wrong++;
            if (String(new Paths(again, left.leaf).below(values, 0)) !== String(left.below(values, 0))) wrong++;
            const [self, total] = [new Float64Array(60), new Float64Array(60)];
            stacks.forEach((stack, at) => {
                const kept = stack.filter((id) => id !== hidden);
                if (kept.length) self[kept.at(-1)] += values[at];
                for (const id of new Set(kept)) total[id] += values[at];
            });
            const found = countFlat(data, left, values, 0);
            if (String(found.self) !== String(self) || String(found.total) !== String(total)) wrong++;
            // Stacks that few others share are added up, or taken away, without looking at all nodes.
            for (const kind of ['show-stacks', 'hide-stacks', 'focus']) {
                const kept = filtered(data, [{ kind, text: names[hidden], exact: true }]);
                const [self, total] = [new Float64Array(60), new Float64Array(60)];
                stacks.forEach((stack, at) => {
                    if (stack.includes(hidden) === (kind === 'hide-stacks')) return;
                    if (stack.length) self[stack.at(-1)] += values[at];
                    for (const id of new Set(stack)) total[id] += values[at];
                });
                const found = countFlat(data, kept, values, 0);
                if (String(found.self) !== String(self) || String(found.total) !== String(total)) wrong++;
                const sums = new Float64Array(kept.nodes.length);
                kept.leaf.forEach((leaf, at) => {
                    for (let node = leaf; node > 0; node = kept.nodes.parent[node]) sums[node] += values[at];
                });
                if (String(sums.slice(1)) !== String(kept.below(values, 0).slice(1))) wrong++;
                if (kind === 'focus' && kept.roots.some((root) => places[root] !== hidden || kept.anchor[root] !== root)) wrong++;
            }
        }
        console.log(JSON.stringify([wrong, cut > 20]));";
    assert_eq!(node(script), json!([0, true]));
}

/// The first picture is drawn from ranges of stacks, and its totals come with the page. Both are as after a filter, for which
/// the page looks at all nodes.
#[test]
#[needs(Node)]
fn whole_stacks_are_counted_as_those_of_a_filter() {
    let files = [
        "pprof/go-cpu.pb.gz",
        "pprof/rust-cpu.pb.gz",
        "collapsed/python.folded",
        "cpuprofile/node.cpuprofile",
        "jfr/java.jfr",
    ];
    let pages: Vec<String> =
        files.iter().map(|file| data_of(&page_of(&load_file(&fixture(file)).unwrap()))).collect();
    let script = format!(
        "const {{ countFlat }} = await import('./count.js');
         const {{ load, pathsOf }} = await import('./data.js');
         const {{ growTree }} = await import('./grow.js');
         const {{ Paths }} = await import('./paths.js');
         const {{ downwards }} = await import('./split.js');
         const text = (value) => JSON.stringify(value, (_, part) => typeof part === 'bigint' ? String(part) : ArrayBuffer.isView(part) ? Array.from(part, String) : part);
         let [trees, wrong] = [0, []];
         const check = (data, values, old, zero, what) => {{
             const {{ nodes }} = data.paths;
             const root = Math.ceil(nodes.length / 3);
             const some = nodes.length > 1 ? data.paths.divided([root]) : [];
             const third = data.paths.where((_, stack) => stack % 3 === 0);
             for (const [which, paths] of [data.paths, ...some, third].entries()) checkPaths(data, paths, values, old, zero, [what, which]);
         }};
         const checkPaths = (data, paths, values, old, zero, what) => {{
             const kept = new Paths(paths.nodes, paths.leaf);
             if (text(countFlat(data, paths, values, zero)) !== text(countFlat(data, kept, values, zero))) wrong.push([what, 'sums']);
             if (text(paths.below(values, zero)) !== text(kept.below(values, zero))) wrong.push([what, 'nodes']);
             const options = {{ names: data.count, inlined: data.places.inlined, pixels: 1000, byWeight: true, zoom: [] }};
             const grow = (paths, more) => growTree(downwards(paths), values, old, zero, {{ ...options, ...more }});
             const {{ name }} = grow(kept, {{}});
             for (const more of [{{}}, {{ byWeight: false, pixels: 20 }}, {{ zoom: name.slice(1, 3) }}, {{ zoom: name.slice(1, 6) }}]) {{
                 trees++;
                 if (text(grow(paths, more)) !== text(grow(kept, more))) wrong.push([what, more]);
             }}
         }};
         for (const [number, page] of {}.entries()) {{
             const data = await load(page);
             for (const {{ values, zero }} of data.metrics) check(data, values, null, zero, number);
         }}
         // Stacks that are not sorted, some without frames, some the beginning of the one before; places that share a name.
         let state = 5;
         const random = (below) => (state = (state * 16807) % 2147483647) % below;
         for (let round = 0; round < 40; round++) {{
             const stacks = Array.from({{ length: 60 }}, () => Array.from({{ length: random(7) }}, () => random(6)));
             if (round % 2) stacks.sort((a, b) => (String(a) < String(b) ? -1 : 1));
             const shared = stacks.map((stack, at) => {{
                 const differs = stack.findIndex((place, depth) => place !== (stacks[at - 1] ?? [])[depth]);
                 return differs < 0 ? stack.length : differs;
             }});
             const further = stacks.map((stack, at) => stack.length - shared[at]);
             const places = Uint32Array.from([0, ...stacks.flatMap((stack, at) => stack.slice(shared[at]))]);
             const nameOf = round % 3 ? null : Uint8Array.from([0, 1, 1, 2, 3, 0]);
             const data = {{ count: 6, places: {{ inlined: Uint8Array.from([0, 1, 0, 0, 1, 1]) }}, paths: pathsOf(shared, further, places, nameOf, 6) }};
             const values = Int32Array.from(stacks, () => random(9) - (round % 4 ? 0 : 4));
             check(data, values, round % 5 ? null : Int32Array.from(stacks, () => random(9)), 0, `random ${{round}}`);
         }}
         console.log(JSON.stringify([trees, wrong]));",
        json!(pages)
    );
    let found = node(&script);
    assert!(found[0].as_u64().unwrap() > 720);
    assert_eq!(found[1], json!([]));
}

#[test]
#[needs(Node)]
fn patterns_match_what_they_match_on_the_command_line() {
    let script = format!(
        "const {{ parseRegex, Unsupported }} = await import('./pattern.js');
         const texts = {};
         const found = {}.map((pattern) => {{
             try {{
                 const regex = parseRegex(pattern);
                 return regex && texts.map((text) => regex.test(text));
             }} catch (error) {{
                 return error instanceof Unsupported ? 'refused' : String(error);
             }}
         }});
         console.log(JSON.stringify(found));",
        json!(TEXTS),
        json!(PATTERNS)
    );
    let found = node(&script);
    let mut refused = Vec::new();
    for (pattern, found) in PATTERNS.iter().zip(found.as_array().unwrap()) {
        // A note says that an invalid expression is matched literally.
        let (parsed, note) = Pattern::parse(pattern, false).unwrap();
        let matches = |text: &&str| parsed.matches(FrameNames { function: text, ..FrameNames::default() });
        let expected =
            if note.is_some() { Value::Null } else { json!(TEXTS.iter().map(matches).collect::<Vec<_>>()) };
        if found == "refused" {
            refused.push(*pattern);
        } else {
            assert_eq!(found, &expected, "{pattern}");
        }
    }
    // JavaScript calls scripts by another name.
    assert_eq!(refused, [r"\p{Greek}"]);
}

#[test]
#[needs(Node)]
fn patterns_that_javascript_cannot_express_are_refused() {
    let patterns = [
        "(?x)a b",
        "(?i:a)b",
        "a(?i)b",
        "[a-z&&[^b]]",
        "[a--b]",
        "[a~~b]",
        r"\bx\b{start}",
        r"\<main",
        "a**",
        "(?U)a+",
    ];
    let script = format!(
        "const {{ whyUnsupported }} = await import('./pattern.js');
         console.log(JSON.stringify({}.map((pattern) => whyUnsupported(pattern))));",
        json!(patterns)
    );
    for (pattern, why) in patterns.iter().zip(node(&script).as_array().unwrap()) {
        assert!(why.as_str().unwrap().ends_with("works only on the command line"), "{pattern}: {why}");
    }
}

/// Stacks with few names, so that names recur, and filters of all kinds, counted by brute force.
#[test]
#[needs(Node)]
fn filters_and_sums_equal_brute_force() {
    let mut state = 7_u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let names: Vec<String> = (0..6).map(|n| format!("f{n}")).collect();
    let stacks: Vec<(Vec<usize>, i64)> = (0..200)
        .map(|_| {
            let depth = random(9);
            ((0..depth).map(|_| random(6) as usize).collect(), i64::from(random(100)) - 20)
        })
        .collect();
    let kinds = ["show-stacks", "hide-stacks", "hide-frames", "show-frames", "show-from", "prune-from"];
    let cases: Vec<(&str, usize)> =
        kinds.iter().flat_map(|kind| (0..6).map(move |name| (*kind, name))).collect();
    let script = format!(
        "const {{ countFlat }} = await import('./count.js');
         const {{ pathsOf }} = await import('./data.js');
         const {{ filtered }} = await import('./paths.js');
         const stacks = {};
         const names = {};
         const shared = stacks.map(([stack], index) => {{
             const before = index ? stacks[index - 1][0] : [];
             const at = stack.findIndex((frame, depth) => frame !== before[depth]);
             return at < 0 ? stack.length : at;
         }});
         const further = stacks.map(([stack], index) => stack.length - shared[index]);
         const frames = stacks.flatMap(([stack], index) => stack.slice(shared[index]));
         const paths = pathsOf(Uint32Array.from(shared), Uint32Array.from(further), Uint32Array.from([0, ...frames]), null, names.length);
         const none = new Uint32Array(names.length);
         const places = {{ name: Uint32Array.from(names.keys()), isName: true, file: none, files: [''], mapping: none, mappings: [''], package: none, packages: [''], inlined: new Uint8Array(names.length) }};
         const data = {{ count: names.length, idOf: (name) => names.indexOf(name), places, paths, sets: new Map(), facets: [], label_sets: [[]], labelSet: new Uint32Array(stacks.length) }};
         const values = Float64Array.from(stacks.map(([, value]) => value));
         const found = {}.map(([kind, name]) => {{
             const {{ self, total, shown, noStack }} = countFlat(data, filtered(data, [{{ kind, text: names[name], exact: true }}]), values, 0);
             return [Array.from(self), Array.from(total), shown, noStack];
         }});
         console.log(JSON.stringify(found));",
        json!(stacks),
        json!(names),
        json!(cases)
    );
    let found = node(&script);
    for ((kind, name), found) in cases.iter().zip(found.as_array().unwrap()) {
        assert_eq!(found, &brute_force(&stacks, kind, *name), "{kind} f{name}");
    }
}

/// Self and total of all names, what is shown, and what has no stack.
fn brute_force(stacks: &[(Vec<usize>, i64)], kind: &str, name: usize) -> Value {
    let (mut own, mut total, mut shown, mut no_stack) = (vec![0; 6], vec![0; 6], 0, 0);
    for (stack, value) in stacks {
        let has = stack.contains(&name);
        let kept: Vec<usize> = match kind {
            "show-stacks" | "hide-stacks" if has == (kind == "show-stacks") => stack.clone(),
            "hide-frames" => stack.iter().copied().filter(|&frame| frame != name).collect(),
            "show-frames" => stack.iter().copied().filter(|&frame| frame == name).collect(),
            "show-from" if has => stack.iter().copied().skip_while(|&frame| frame != name).collect(),
            "prune-from" => {
                let end = stack.iter().rposition(|&frame| frame == name).map_or(stack.len(), |last| last + 1);
                stack[..end].to_vec()
            }
            _ => continue,
        };
        shown += value.abs();
        match kept.last() {
            Some(&leaf) => own[leaf] += value,
            None => no_stack += value,
        }
        (0..6).filter(|frame| kept.contains(frame)).for_each(|frame| total[frame] += value);
    }
    json!([own, total, shown, no_stack])
}

fn page_of(profile: &Profile) -> Page {
    let scope = Scope::metric(profile.meta.default_metric);
    view::page(profile, &PageOptions { scope, ..PageOptions::default() })
}

/// The packed data of a page.
fn data_of(page: &Page) -> String {
    let written = write(page);
    let (_, data) = written.split_once("id=\"data\">").unwrap();
    // What is long goes on in comments.
    let (first, rest) = data.split_once("</script>").unwrap();
    let (rest, _) = rest.split_once("<script").unwrap();
    let more = rest.split("<!--").skip(1).map(|piece| piece.split_once("-->").unwrap().0);
    std::iter::once(first).chain(more).collect()
}

/// Whether a pattern matches something: as a regular expression, or else literally.
fn is_found(profile: &Profile, text: &str) -> bool {
    let matches = |patterns: &Patterns| Marks::new(profile, patterns).match_profile(profile);
    let (patterns, note) = Patterns::parse(&[text], false).unwrap();
    let literally = || matches(&Patterns::from_iter([Pattern::literal_of(text).unwrap()]));
    (note.is_empty() && matches(&patterns)) || literally()
}

/// Names are shown in several forms: in full, shortened, and on blocks together with their place. Each finds the function
/// when it is pasted back, both on the command line and in the page.
#[test]
#[needs(Corpus, Node)]
fn names_of_all_formats_can_be_pasted_back_as_patterns() {
    let root = corpus_root();
    let mut of_folder = BTreeMap::<String, usize>::new();
    let mut files = vec![fixture("cpuprofile/node.cpuprofile"), fixture("collapsed/python.folded")];
    files.extend(below(&root).into_iter().filter_map(|path| {
        let count = of_folder.entry(path.split('/').next()?.to_string()).or_default();
        let is_small = root.join(&path).metadata().ok()?.len() < 100_000;
        *count += usize::from(is_small);
        (is_small && *count <= 4).then(|| root.join(path))
    }));
    let (mut pages, mut profiles) = (Vec::new(), Vec::new());
    for file in files {
        let Ok(profile) = load_file(&file) else { continue };
        let page = page_of(&profile);
        if !page.names.is_empty() {
            pages.push(data_of(&page));
            profiles.push((file, profile, page));
        }
    }
    assert!(profiles.len() > 60, "{}", profiles.len());
    let script = format!(
        "const {{ load }} = await import('./data.js');
         const {{ matching, whyUnsupported }} = await import('./pattern.js');
         const lost = [];
         for (const [number, text] of {}.entries()) {{
             const data = await load(text);
             const step = Math.ceil(data.count / 60);
             const names = new Set(Array.from({{ length: data.count }}, (_, id) => data.full(id)));
             for (let id = 0; id < data.count; id += step) {{
                 for (const shown of new Set([data.full(id), data.short(id), data.label(id).join(' ').trim()])) {{
                     // What JavaScript cannot express is refused in words.
                     if (whyUnsupported(shown)) continue;
                     // A block labelled `<main> simple.rb` may be that of `/srv/simple.rb`; typed, it is the function with this name.
                     if (shown !== data.full(id) && names.has(shown)) continue;
                     const marks = matching(data, [{{ text: shown, exact: false }}]);
                     if (!marks.some((is, place) => is && data.places.name[place] === id)) lost.push([number, shown]);
                 }}
             }}
         }}
         console.log(JSON.stringify(lost));",
        json!(pages)
    );
    let found = node(&script);
    let lost: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{}: {}", profiles[row[0].as_u64().unwrap() as usize].0.display(), row[1]))
        .collect();
    assert!(lost.is_empty(), "the page: {lost:#?}");
    for (file, profile, page) in &profiles {
        // Names without samples are in no row.
        let used: BTreeSet<u32> = page.frames.iter().map(|&place| page.places[place as usize].name).collect();
        let rows: Vec<&PageName> = used.iter().map(|&name| &page.names[name as usize]).collect();
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        let pairs: Vec<(&str, &str)> = rows.iter().map(|row| (&*row.name, &*row.function)).collect();
        let labels = block_labels(&pairs).into_iter().map(|label| format!("{} {}", label.name, label.place));
        let labels = labels.map(|label| label.trim_end().to_string());
        let full = names.iter().map(|name| clean(name).into_owned());
        let shown = short_names(&names).into_iter().chain(full).chain(labels);
        // The block of all small calls of a page is no function.
        for name in shown.step_by(names.len().div_ceil(10).max(1)).filter(|name| name != "(small calls)") {
            assert!(is_found(profile, &name), "{}: {name}", file.display());
        }
    }
}

/// The part of the graph that is drawn in the colours of own code. Where all is grey, the colours say nothing.
#[test]
#[needs(Corpus)]
fn no_real_profile_is_drawn_all_in_grey() {
    let root = corpus_root();
    let (mut drawn, mut mostly_grey) = (0, Vec::new());
    for path in below(&root) {
        let file = root.join(&path);
        if file.metadata().unwrap().len() > 1_000_000 {
            continue;
        }
        let Ok(profile) = load_file(&file) else { continue };
        let page = page_of(&profile);
        let (mut own, mut all, mut start) = (0_u128, 0_u128, 0);
        for (&end, value) in page.ends.iter().zip(&page.values[page.default_metric]) {
            for &place in &page.frames[start..end as usize] {
                let group = page.names[page.places[place as usize].name as usize].group;
                let area = u128::from(value.unsigned_abs());
                all += area;
                if page.groups[group as usize].tier == prof::report::Tier::Own {
                    own += area;
                }
            }
            start = end as usize;
        }
        drawn += usize::from(all > 0);
        if own * 20 < all {
            mostly_grey.push(path);
        }
    }
    assert!(drawn > 200, "{drawn}");
    assert!(mostly_grey.is_empty(), "more than 95% grey: {mostly_grey:#?}");
}
