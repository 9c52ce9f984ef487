//! The tab Timeline of the page: a range of time counts what the command line counts with `--from` and `--to`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::page::browser::run;
use crate::support::{fixture, prof};

fn run_prof(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = prof(folder, arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output.stdout
}

/// The page of a profile with times.
fn page_of(folder: &Path, profile: &str, options: &[&str]) -> String {
    let page = folder.join("page.html");
    run_prof(folder, &[&["flame", page.to_str().unwrap(), profile], options].concat());
    fs::read_to_string(page).unwrap()
}

/// What `prof top` says with the options of a command that the page shows.
fn top_of(folder: &Path, command: &str, profile: &str) -> Value {
    let words = shlex(command);
    let options = words.iter().skip(2).filter(|word| *word != "PROFILE" && !profile.ends_with(word.as_str()));
    let mut arguments = vec!["top", "-f", "json", "-n", "0"];
    arguments.extend(options.map(String::as_str));
    arguments.push(profile);
    let top: Value = serde_json::from_slice(&run_prof(folder, &arguments)).unwrap();
    let mut rows: Vec<(String, String, String)> = top["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap().into(), row["self"].to_string(), row["total"].to_string()))
        .collect();
    rows.sort();
    json!({ "rows": rows, "shown": top["shown"].to_string() })
}

/// The words of a command. Only single quotes occur.
pub(crate) fn shlex(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

const COUNT: &str = "
    const count = () => {
        const { rows, shown } = counted();
        return { command: page.model.command, top: { rows: rows.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)), shown } };
    };";

#[test]
#[needs(Browser)]
fn ranges_of_time_count_what_the_command_line_counts() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        "cpuprofile/node.cpuprofile",
        "speedscope/python.speedscope.json",
        "perf-script/rust.perf.txt",
        "jfr/java.jfr",
    ];
    for file in files {
        let path = fixture(file);
        let path = path.to_str().unwrap();
        let check = format!(
            "{COUNT}
            const {{ steps }} = page.data.times;
            const found = [];
            for (const [from, to] of [[0.3, 0.6], [0, 0.5], [0.71, 1], [0.5, 0.53]]) {{
                page.setRange([Math.round(from * steps), Math.max(Math.round(to * steps), Math.round(from * steps) + 1)]);
                found.push(count());
            }}
            page.setRange([Math.round(0.2 * steps), Math.round(0.8 * steps)]);
            page.addFilter('hide-frames', page.model.table()[1].name, true);
            found.push(count());
            return found;"
        );
        let found = run(&page_of(folder.path(), path, &["--embed-times", "--force"]), "", &check);
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), 5);
        let mut counted = 0;
        for state in found {
            let command = state["command"].as_str().unwrap();
            assert!(command.contains("--from ") || command.contains("--to "), "{command}");
            assert_eq!(state["top"], top_of(folder.path(), command, path), "{file}: {command}");
            counted += state["top"]["rows"].as_array().unwrap().len();
        }
        assert!(counted > 20, "{file}: {counted}");
    }
}

/// Two threads: `w` runs `work` from 0 to 40 ms and `wait` from 60 to 80 ms; `m` runs `main` from 20 to 30 ms.
const THREADS: &str = r#"{"$schema": "https://www.speedscope.app/file-format-schema.json",
"shared": {"frames": [{"name": "run"}, {"name": "work"}, {"name": "wait"}, {"name": "main"}]},
"profiles": [
{"type": "evented", "name": "w", "unit": "milliseconds", "startValue": 0, "endValue": 100, "events": [
 {"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 1, "at": 0}, {"type": "C", "frame": 1, "at": 40}, {"type": "C", "frame": 0, "at": 40},
 {"type": "O", "frame": 0, "at": 60}, {"type": "O", "frame": 2, "at": 60}, {"type": "C", "frame": 2, "at": 80}, {"type": "C", "frame": 0, "at": 80}]},
{"type": "evented", "name": "m", "unit": "milliseconds", "startValue": 0, "endValue": 100, "events": [
 {"type": "O", "frame": 3, "at": 20}, {"type": "C", "frame": 3, "at": 30}]}]}"#;

#[test]
#[needs(Browser)]
fn the_timeline_shows_when_each_thread_was_busy_and_in_which_calls() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("threads.speedscope.json"), THREADS).unwrap();
    let page = page_of(folder.path(), "threads.speedscope.json", &[]);
    let check = "
        const tab = document.querySelector('#tabs [data-key=timeline]');
        tab.click();
        const { timeline } = page;
        timeline.draw();
        const { times } = timeline;
        const ms = (value) => Math.round((value * times.step) / 1e6);
        const rows = times.rows.map(({ name }, row) => [name, ...[[0, 20], [20, 40], [40, 60], [60, 80], [70, 80]].map(([from, to]) => Math.round(timeline.between(row, (from * 1e6) / times.step, (to * 1e6) / times.step) * times.lasts[0] / 1e6))]);
        const calls = timeline.calls.map(({ name, depth, start, end }) => [page.data.names[name], depth, ms(timeline.step(start)), ms(timeline.step(end))]).sort((a, b) => a[2] - b[2] || a[1] - b[1]);
        // Drags from 10 ms to 70 ms.
        const { canvas } = timeline;
        const box = canvas.getBoundingClientRect();
        const at = (type, time) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: box.left + timeline.x((time * 1e6) / times.step), clientY: box.top + 40, bubbles: true, button: 0 }));
        canvas.setPointerCapture = () => {};
        at('pointerdown', 10); at('pointermove', 50); at('pointermove', 70); at('pointerup', 70);
        const dragged = [page.state.filters.map(({ kind, text }) => `${kind} ${text}`), String(page.model.flat.shown), page.model.command, document.querySelector('.timeline-range').textContent];
        // Moves its start, then all of it by a key.
        at('pointerdown', 10.01); at('pointermove', 30); at('pointerup', 30);
        const moved = page.state.filters.map(({ kind, text }) => `${kind} ${text}`);
        press('ArrowRight', canvas);
        const shifted = times.range(page.state.filters).map((step) => ms(step));
        const link = location.hash;
        page.change({ tab: 'graph' }, true);
        const graph = counted().rows.map(([name]) => name);
        press('6'); press('5');
        press('Escape');
        return { rows, calls, dragged, moved, shifted, link, graph, after: page.state.filters.length, tab: page.state.tab };";
    let found = run(&page, "", check);
    // Milliseconds in each stretch of time.
    assert_eq!(found["rows"], json!([["w", 20, 20, 0, 20, 10], ["m", 0, 10, 0, 0, 0]]));
    let calls = json!([["run", 0, 0, 40], ["work", 1, 0, 40], ["run", 0, 60, 80], ["wait", 1, 60, 80]]);
    assert_eq!(found["calls"], calls);
    // Of the samples, only those that begin in the range count, as on the command line.
    let dragged = &found["dragged"];
    assert!(dragged[2].as_str().unwrap().contains("--from 10"), "{dragged}");
    let top = top_of(folder.path(), dragged[2].as_str().unwrap(), "threads.speedscope.json");
    assert_eq!(dragged[1], top["shown"]);
    assert!(found["moved"][0].as_str().unwrap().starts_with("from 30"), "{}", found["moved"]);
    let shifted: Vec<u64> = serde_json::from_value(found["shifted"].clone()).unwrap();
    assert!(shifted[0] > 30 && shifted[1] - shifted[0] == 40, "{shifted:?}");
    assert!(found["link"].as_str().unwrap().contains("from%7E=32ms"), "{}", found["link"]);
    assert_eq!((&found["after"], &found["tab"]), (&json!(0), &json!("timeline")));
}

#[test]
#[needs(Browser)]
fn a_range_of_time_can_be_typed_and_linked_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("threads.speedscope.json"), THREADS).unwrap();
    let page = page_of(folder.path(), "threads.speedscope.json", &[]);
    let check = "
        const linked = page.state.filters.map(({ kind, text }) => `${kind} ${text}`);
        const rows = counted().rows.map(([name]) => name).sort();
        page.change({ filters: [] });
        page.addFilter('from', '0.05s', false);
        page.addFilter('to', 'noon', false);
        return { linked, rows, typed: page.state.filters.map(({ kind, text }) => `${kind} ${text}`), said: document.getElementById('toast').textContent };";
    let found = run(&page, "tab=timeline&from%7E=15ms&to%7E=35ms", check);
    // `main` is in the range; of `run` and `work`, which last from 0 to 40 ms, a part.
    let rows = json!(["main", "run", "work"]);
    assert_eq!((&found["linked"], &found["rows"]), (&json!(["from 15ms", "to 35ms"]), &rows));
    assert_eq!(found["typed"], json!(["from 50ms"]));
    assert!(found["said"].as_str().unwrap().contains("expected a time"), "{}", found["said"]);
}

/// Times that would take more than a fifth of the page are left out, which it says.
#[test]
#[needs(Browser)]
fn many_samples_have_a_timeline_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (mut script, mut state) = (String::new(), 7_u32);
    for sample in 0..40_000 {
        // Which function was running follows no rule, so it cannot be compressed well.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (second, microsecond) = (sample / 1_000, sample % 1_000 * 1_000 + state % 700);
        let function = (state >> 16) % 97;
        script += &format!(
            "app 1 [000] {second}.{microsecond:06}: 1 cycles: \n\t1 f{function} (app)\n\t2 main (app)\n\n"
        );
    }
    fs::write(folder.path().join("perf.txt"), script).unwrap();
    let check = "return [page.data.times?.time.length ?? 0, document.querySelectorAll('[data-key=timeline]').length, document.getElementById('notes').textContent.includes('--embed-times')];";
    let page = page_of(folder.path(), "perf.txt", &[]);
    assert_eq!(run(&page, "", check), json!([0, 0, true]));
    let page = page_of(folder.path(), "perf.txt", &["--embed-times", "--force"]);
    assert_eq!(run(&page, "", check), json!([40_000, 1, false]));
}

/// 20 samples of `work`, then 20 of `epoll_wait`, 10 ms apart: what only waits has no height, but dots.
#[test]
#[needs(Browser)]
fn idle_stretches_and_pauses_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let sample = |(number, name): (usize, &str)| {
        format!("app 10/11 50.{:06}: 10000000 cpu-clock:\n\t401000 {name} (/bin/app)\n\n", number * 10_000)
    };
    let names = std::iter::repeat_n("work", 20).chain(std::iter::repeat_n("native_safe_halt", 20));
    let text: String = names.enumerate().map(sample).collect();
    fs::write(folder.path().join("idle.perf.txt"), text).unwrap();
    let check = "
        document.querySelector('#tabs [data-key=timeline]').click();
        const { timeline } = page;
        timeline.draw();
        const { times } = timeline;
        const part = (from, to) => [timeline.between(0, from * times.steps, to * times.steps), timeline.idleBetween(0, from * times.steps, to * times.steps)].map((value) => Math.round((value * times.lasts[page.state.metric]) / 1e7));
        // The lowest and the highest filled pixel of a column of the first row.
        const filled = (at) => {
            const { data, width } = timeline.pixels.image;
            const dense = timeline.pixels.dense;
            let count = 0;
            for (let y = Math.round(34 * dense); y < Math.round(45 * dense); y++) for (let x = Math.round(at * width); x < Math.round((at + 0.05) * width); x++) count += data[4 * (y * width + x) + 3] === 255 ? 1 : 0;
            return count > 0;
        };
        const tip = timeline.tipLines(timeline.width * 0.75, 30);
        return { parts: [part(0, 0.5), part(0.5, 1)], heights: [filled(0.2), filled(0.7)], tip, pauses: times.pauses };";
    let found = run(&page_of(folder.path(), "idle.perf.txt", &[]), "", check);
    assert_eq!(found["parts"], json!([[20, 0], [20, 20]]));
    assert_eq!(found["heights"], json!([true, false]));
    assert!(found["tip"][1].as_str().unwrap().ends_with(": 0% of one CPU, idle"), "{}", found["tip"]);
    assert_eq!(found["pauses"], json!([]));
    let check = "
        document.querySelector('#tabs [data-key=timeline]').click();
        const { timeline } = page;
        timeline.draw();
        const { times } = timeline;
        const longest = times.pauses.reduce((one, other) => (other[1] > one[1] ? other : one));
        const middle = (longest[0] + longest[1] / 2 - times.from) / times.step;
        return { count: times.pauses.length, longest: longest.slice(1), tip: timeline.tipLines(timeline.x(middle), 30) };";
    let path = fixture("jfr/pauses.jfr.gz");
    let found =
        run(&page_of(folder.path(), path.to_str().unwrap(), &["--embed-times", "--force"]), "", check);
    assert_eq!(
        (&found["count"], &found["longest"]),
        (&json!(47), &json!([91_730_963, "Allocation Failure"]))
    );
    assert_eq!(found["tip"][2], "GC pause of 91.7ms: Allocation Failure");
}

/// Each thread has allocations between the samples of its CPU time: these do not end a sample, nor say how often it is sampled.
#[test]
#[needs(Browser)]
fn samples_of_other_metrics_do_not_cut_those_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let check = "
        const { times, metrics } = page.data;
        const period = (name) => Math.round((times.period(times.rows[0], metrics.findIndex((metric) => metric.name === name)) * times.step) / 1e6);
        return ['samples', 'cpu', 'alloc_space'].map(period);";
    let path = fixture("jfr/java.jfr");
    let found = run(&page_of(folder.path(), path.to_str().unwrap(), &["--embed-times"]), "", check);
    assert_eq!(found, json!([32, 32, 8]));
}

/// Dragging a range would add another one to the page's command, which takes only one.
#[test]
fn a_page_of_a_range_has_no_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let java = fixture("jfr").join("java.jfr");
    let times_of = |options: &[&str]| {
        let page = page_of(folder.path(), java.to_str().unwrap(), &[&["--force"], options].concat());
        let element = page.split_once("id=\"times\"").unwrap().1;
        element.split_once('>').unwrap().1.split_once('<').unwrap().0.len()
    };
    assert!(times_of(&[]) > 1000);
    assert_eq!(times_of(&["--from", "1s"]), 0);
    assert_eq!(times_of(&["--embed-times", "--to", "1s"]), 0);
}
