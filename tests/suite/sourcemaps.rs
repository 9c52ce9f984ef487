//! Source maps: compared with another program, and applied to recordings of bundled TypeScript.

use std::fs;
use std::path::{Path, PathBuf};

use prof::sourcemap::{Position, SourceMap};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{fixture, prof};

fn maps() -> PathBuf {
    fixture("sourcemaps")
}

/// Standard output and standard error of `prof`, which must succeed.
fn run(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = prof(folder, arguments).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    (stdout, stderr)
}

/// The functions of `prof top` that are in files of a program: name, file, line.
fn functions(arguments: &[&str]) -> Vec<(String, String, u64)> {
    let arguments = [&["top", "-f", "json", "--sort", "name"], arguments].concat();
    let report: Value = serde_json::from_str(&run(&maps(), &arguments).0).unwrap();
    let rows = report["rows"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    rows.map(|row| (text(&row["function"]), text(&row["file"]), row["line"].as_u64().unwrap_or_default()))
        .filter(|(_, file, _)| file.contains("/srv/receipts/"))
        .collect()
}

/// A recording that names scripts in `folder` instead of those where it was recorded.
fn moved(recording: &str, folder: &Path) -> PathBuf {
    let text = fs::read_to_string(maps().join(recording)).unwrap();
    let moved = folder.join(recording);
    fs::write(&moved, text.replace("/srv/receipts/", &format!("{}/", folder.display()))).unwrap();
    moved
}

#[test]
fn every_position_is_that_of_the_package_source_map() {
    for build in ["old", "new"] {
        let text = fs::read_to_string(maps().join(build).join("app.js")).unwrap();
        let map = SourceMap::parse(&fs::read(maps().join(build).join("app.js.map")).unwrap()).unwrap();
        let expected = fs::read_to_string(maps().join(format!("{build}.positions.tsv"))).unwrap();
        let mut changes = expected.lines().map(|line| line.splitn(3, '\t').collect::<Vec<_>>()).peekable();
        let mut compared = 0;
        for (line, text) in text.split('\n').enumerate() {
            let mut want = "-\t-\t-\t-";
            for column in 0..=text.encode_utf16().count() {
                let here = [(line + 1).to_string(), column.to_string()];
                if let Some(change) = changes.next_if(|change| change[..2] == here) {
                    want = change[2];
                }
                let found = map.at(Position { line: line as u32, column: column as u32 });
                let found = found.and_then(|segment| Some((segment, map.source(segment.source?)?)));
                let found = found.map_or("-\t-\t-\t-".to_string(), |(segment, source)| {
                    let name = map.name(segment).unwrap_or("-");
                    let (line, column) = (segment.original_line + 1, segment.original_column);
                    format!("{}\t{line}\t{column}\t{name}", source.name.as_deref().unwrap())
                });
                assert_eq!(found, want, "{build} {here:?}");
                compared += 1;
            }
        }
        assert_eq!(changes.next(), None);
        assert!(compared > 600, "{compared}");
    }
}

/// The functions of the program as they are in `programs/receipts`.
fn original(names: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    let function = |&(name, file, line): &(&str, &str, u64)| {
        (name.to_string(), format!("file:///srv/receipts/src/{file}.ts"), line)
    };
    names.iter().map(function).collect()
}

#[test]
fn a_minified_bundle_has_its_original_functions() {
    let found = functions(&["--sourcemaps", ".", "old.cpuprofile"]);
    let names = original(&[
        ("addTax", "pricing", 39),
        ("burnCycles", "pricing", 11),
        ("checkoutAll", "main", 3),
        ("computeDiscount", "pricing", 19),
        ("renderReceipt", "main", 15),
        ("totalWithTax", "pricing", 30),
    ]);
    let of_sources = found.iter().filter(|(_, file, _)| file.contains("/src/"));
    assert_eq!(of_sources.cloned().collect::<Vec<_>>(), names);
    // The code of the bundle itself is of no source alone.
    assert!(found.contains(&("(anonymous)".into(), "file:///srv/receipts/old/app.js".into(), 1)));
    // The same from a map inside the script, of code whose names were not changed.
    let plain = functions(&["--sourcemaps", ".", "plain.cpuprofile"]);
    let of_sources = plain.iter().filter(|(_, file, _)| file.contains("/src/"));
    assert!(
        of_sources.clone().count() >= 5 && of_sources.clone().all(|function| names.contains(function)),
        "{plain:?}"
    );
    // Without maps, the names are those of the bundle.
    let minified: Vec<String> = functions(&["old.cpuprofile"]).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(minified, ["(anonymous)", "a", "c", "l", "s", "totalWithTax", "u"]);
}

#[test]
fn known_costs_are_those_of_the_original_functions() {
    // `burnCycles` and `addTax` do the same amount of work: 400,000 rounds per receipt, in the newer build 440,000 and 800,000.
    for (recording, least, most) in [("old.cpuprofile", 0.8, 1.25), ("new.cpuprofile", 1.4, 2.2)] {
        let text = run(&maps(), &["top", "-f", "json", "--sourcemaps", ".", recording]).0;
        let report: Value = serde_json::from_str(&text).unwrap();
        let total = |name: &str| {
            let mut rows = report["rows"].as_array().unwrap().iter();
            rows.find(|row| row["function"] == name).unwrap()["total"].as_f64().unwrap()
        };
        let ratio = total("addTax") / total("burnCycles");
        assert!((least..most).contains(&ratio), "{recording}: {ratio}");
    }
}

#[test]
fn source_shows_typescript_from_the_map() {
    let text =
        run(&maps(), &["source", "^renderReceipt", "--sourcemaps", ".", "-f", "json", "plain.cpuprofile"]).0;
    let report: Value = serde_json::from_str(&text).unwrap();
    let function = &report["functions"][0];
    let source = fs::read_to_string(fixture("programs/receipts/main.ts")).unwrap();
    let source: Vec<&str> = source.lines().collect();
    let from = function["origin"]["found"].as_str().unwrap();
    assert_eq!(from, "file:///srv/receipts/src/main.ts in ./plain/app.js");
    let lines = function["lines"].as_array().unwrap();
    let of_lines = lines.iter().filter(|line| line["line"] != 0);
    for line in of_lines.clone() {
        assert_eq!(line["text"], source[line["line"].as_u64().unwrap() as usize - 1]);
    }
    let hot: Vec<u64> =
        of_lines.filter(|line| line["self"] != 0).map(|line| line["line"].as_u64().unwrap()).collect();
    // Ticks of lines 47, 48 and 50 of the bundle, and of an inlined function, which is in another file.
    assert_eq!(hot, [17, 18, 20]);
    // A line of a minified bundle has many lines of the source, so only the start of the function is known.
    let text =
        run(&maps(), &["source", "^renderReceipt", "--sourcemaps", ".", "-f", "json", "old.cpuprofile"]).0;
    let report: Value = serde_json::from_str(&text).unwrap();
    let lines = report["functions"][0]["lines"].as_array().unwrap();
    let shown: Vec<u64> = lines.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(shown[..3], [0, 15, 16]);
    assert_eq!(lines[1]["text"], source[14]);
}

#[test]
fn functions_of_two_bundles_match_by_their_original_names() {
    let arguments = ["diff", "-f", "json", "--sourcemaps", ".", "old.cpuprofile", "new.cpuprofile"];
    let report: Value = serde_json::from_str(&run(&maps(), &arguments).0).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"].as_str().unwrap().starts_with(name)).unwrap();
    // `l` and `s` in the bundles.
    for name in ["addTax ", "burnCycles ", "checkoutAll ", "renderReceipt ", "totalWithTax "] {
        let row = row(name);
        assert!(row["old"]["total"] != 0 && row["new"]["total"] != 0, "{row}");
    }
}

#[test]
fn maps_next_to_the_recorded_script_are_used_and_mentioned() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("old")).unwrap();
    for file in ["old/app.js", "old/app.js.map"] {
        fs::copy(maps().join(file), folder.path().join(file)).unwrap();
    }
    let recording = moved("old.cpuprofile", folder.path());
    let recording = recording.to_str().unwrap();
    let map = folder.path().join("old/app.js.map").display().to_string();
    let (text, note) = run(folder.path(), &["top", recording]);
    assert!(text.contains(" burnCycles"), "{text}");
    assert_eq!(note, format!("note: 6 functions of app.js named by the source map {map}\n"));
    for option in [&["--no-sourcemaps"][..], &["--symbolize", "never"]] {
        let (text, note) = run(folder.path(), &[&["top", recording], option].concat());
        assert!(!text.contains("burnCycles") && note.is_empty(), "{text}{note}");
    }
    // A script that was built again has its functions elsewhere, and possibly others at the same place.
    let newer = |name: &str| fs::read(maps().join("new").join(name)).unwrap();
    fs::write(folder.path().join("old/app.js"), newer("app.js")).unwrap();
    fs::write(folder.path().join("old/app.js.map"), newer("app.js.map")).unwrap();
    let (text, warning) = run(folder.path(), &["top", recording]);
    assert!(!text.contains("burnCycles"), "{text}");
    // `u` and `totalWithTax` are still where they were.
    let script = fs::read_to_string(maps().join("old/app.js")).unwrap();
    let column = script.find("function c(").unwrap() + "function c(".len();
    let expected = format!(
        "warning: the source map {map} is not used for app.js: the script next to it is not the one that was recorded: \
         4 of 6 functions are elsewhere in it, such as c at 1:{column}; name the folder of the right one with --sourcemaps\n"
    );
    assert_eq!(warning, expected);
    // The right one may be somewhere else.
    let right = maps().join("old").display().to_string();
    let (text, _) = run(folder.path(), &["top", recording, "--sourcemaps", &right]);
    assert!(text.contains(" burnCycles"), "{text}");
}

/// An enhanced trace of `DevTools` with the samples of a recording of Node.js, and a map.
fn enhanced_trace(recording: &str, map: &str) -> String {
    let mut profile: Value =
        serde_json::from_str(&fs::read_to_string(maps().join(recording)).unwrap()).unwrap();
    let mut nodes = profile["nodes"].take();
    let nodes = nodes.as_array_mut().unwrap();
    let parents: Vec<(Value, Value)> = nodes
        .iter()
        .flat_map(|node| {
            let children = node["children"].as_array().cloned().unwrap_or_default();
            children.into_iter().map(|child| (child, node["id"].clone()))
        })
        .collect();
    for (child, parent) in parents {
        let node = nodes.iter_mut().find(|node| node["id"] == child).unwrap();
        node["parent"] = parent;
    }
    let script = nodes
        .iter()
        .map(|node| node["callFrame"]["url"].as_str().unwrap())
        .find(|url| url.ends_with("app.js"));
    let map: Value = serde_json::from_str(&fs::read_to_string(maps().join(map)).unwrap()).unwrap();
    let event = |name: &str, data: Value| json!({"ph": "P", "name": name, "pid": 1, "tid": 7, "id": "0x2", "ts": 10, "args": {"data": data}});
    let chunk = json!({"cpuProfile": {"nodes": nodes, "samples": profile["samples"]}, "timeDeltas": profile["timeDeltas"]});
    let maps = json!([{"url": script, "sourceMapUrl": "app.js.map", "sourceMap": map}]);
    json!({
        "metadata": {"enhancedTraceVersion": 1, "source": "DevTools", "sourceMaps": maps},
        "traceEvents": [event("Profile", json!({"startTime": profile["startTime"]})), event("ProfileChunk", chunk)],
    })
    .to_string()
}

#[test]
fn the_maps_inside_an_enhanced_trace_are_used() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace.json");
    fs::write(&trace, enhanced_trace("old.cpuprofile", "old/app.js.map")).unwrap();
    let trace = trace.to_str().unwrap();
    let expected = functions(&["--sourcemaps", "old", "old.cpuprofile"]);
    assert!(expected.len() > 3, "{expected:?}");
    assert_eq!(functions(&[trace]), expected);
    let notes = run(folder.path(), &["top", trace]).1;
    assert!(notes.contains("functions of app.js named by the source map in the recording"), "{notes}");
    // They are not used if only named maps are wanted, and those come first.
    assert_eq!(functions(&["--no-sourcemaps", trace]), functions(&["--no-sourcemaps", "old.cpuprofile"]));
    fs::write(trace, enhanced_trace("old.cpuprofile", "new/app.js.map")).unwrap();
    assert_eq!(functions(&["--sourcemaps", "old", trace]), expected);
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let folder = TempDir::new().unwrap();
    let script = fs::read(maps().join("old/app.js")).unwrap();
    let map = fs::read_to_string(maps().join("old/app.js.map")).unwrap();
    let refused = |script: &[u8], map: &str| {
        fs::write(folder.path().join("app.js"), script).unwrap();
        fs::write(folder.path().join("app.js.map"), map).unwrap();
        let recording = maps().join("old.cpuprofile").display().to_string();
        let (text, warning) = run(folder.path(), &["top", &recording, "--sourcemaps", "app.js.map"]);
        assert!(!text.contains("burnCycles"), "{text}");
        warning
    };
    let warning = refused(&script, &map[..map.len() / 2]);
    assert!(
        warning.starts_with("warning: the source map app.js.map is not used for app.js: not a source map: "),
        "{warning}"
    );
    assert!(refused(&script, &map.replace("AAUO", "!")).contains("its mappings of line 1 are broken at `!`"));
    // As many lines down as no script has.
    let below = map.replace("\"mappings\": \"", &format!("\"mappings\": \"{}", ";".repeat(90)));
    assert!(refused(&script, &below).contains("it has code outside the lines of the script"));
    let with_id = [&script[..], b"//# debugId=one\n"].concat();
    assert!(
        refused(&with_id, &map.replacen('{', "{\"debugId\": \"two\",", 1))
            .contains("are of different builds")
    );
    let missing = prof(folder.path(), &["top", "x.cpuprofile", "--sourcemaps", "nowhere"]).output().unwrap();
    let message = String::from_utf8(missing.stderr).unwrap();
    assert!(message.starts_with("error: --sourcemaps nowhere: no such file or folder\n"), "{message}");
}

/// A production server has the script, and the build the map.
#[test]
fn a_map_without_its_script_is_chosen_by_its_functions() {
    let folder = TempDir::new().unwrap();
    for (build, place) in [("new", "a"), ("old", "b")] {
        fs::create_dir(folder.path().join(place)).unwrap();
        fs::copy(maps().join(build).join("app.js.map"), folder.path().join(place).join("app.js.map"))
            .unwrap();
    }
    for (recording, used) in [("old.cpuprofile", "b/app.js.map"), ("new.cpuprofile", "a/app.js.map")] {
        let recording = maps().join(recording).display().to_string();
        let (text, note) = run(folder.path(), &["top", &recording, "--sourcemaps", "a", "--sourcemaps", "b"]);
        assert!(text.contains(" burnCycles") && text.contains(" addTax"), "{text}");
        assert!(note.ends_with(&format!(" functions of app.js named by the source map {used}\n")), "{note}");
    }
}

/// What is shared publicly says nothing about the sources.
#[test]
fn anonymised_profiles_do_not_mention_sources() {
    let (text, _) =
        run(&maps(), &["top", "--anonymize", "--sourcemaps", ".", "-f", "json", "old.cpuprofile"]);
    for word in ["app.js", "pricing", "burnCycles"] {
        assert!(!text.replace("old.cpuprofile", "").contains(word), "{word}: {text}");
    }
}

/// A package may have a map for each of its hundred scripts.
#[test]
fn maps_that_are_refused_for_one_reason_get_one_warning() {
    let folder = TempDir::new().unwrap();
    let map = json!({ "version": 3, "sources": ["x.ts"], "names": [], "mappings": "AAAA" }).to_string();
    let mut nodes = vec![json!({
        "id": 1, "children": [2, 3],
        "callFrame": { "functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1 },
    })];
    for (id, name) in [(2, "a.js"), (3, "b.js")] {
        let script = folder.path().join(name);
        fs::write(&script, format!("work();\n//# sourceMappingURL={name}.map\n")).unwrap();
        fs::write(folder.path().join(format!("{name}.map")), &map).unwrap();
        let url = format!("file://{}", script.display());
        nodes.push(json!({
            "id": id, "hitCount": 1,
            "callFrame": { "functionName": "", "scriptId": name, "url": url, "lineNumber": 0, "columnNumber": 0 },
        }));
    }
    let profile =
        json!({ "nodes": nodes, "startTime": 0, "endTime": 30, "samples": [2, 3], "timeDeltas": [10, 10] });
    fs::write(folder.path().join("x.cpuprofile"), profile.to_string()).unwrap();
    let (_, warning) = run(folder.path(), &["top", "x.cpuprofile"]);
    let expected = format!(
        "warning: 2 source maps, such as {}, are not used for their scripts: no function with a name shows that the \
         script is the one that was recorded; name the folder of the right ones with --sourcemaps\n",
        folder.path().join("a.js.map").display()
    );
    assert_eq!(warning, expected);
}
