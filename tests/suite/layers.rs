//! Imports go in one direction: each layer may use those above it in its list, never those below; and no files use one
//! another in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::below;
use crate::support::imports::{Module, Sources, cycles};

/// Folders and the modules in them, layer by layer. Modules of one layer may use each other only if `ALLOWED` says so.
/// The first folder is the crate.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "",
        &[
            &["unit", "name", "report", "stats", "kind", "parallel"],
            &["pattern", "profile", "binary", "source", "sourcemap"],
            &["format", "transform"],
            &["tree", "dataset"],
            &["filter", "findings", "lint"],
            &["view", "output"],
            &["load"],
            &["compare"],
            &["ui"],
            &["cli"],
        ],
    ),
    (
        "cli",
        &[
            &["terminal"],
            &["options"],
            &["input"],
            &["commands"],
            &["hints"],
            &["completion", "go_pprof", "short_help"],
            &["other_tools"],
            &["mistakes"],
            &["usage"],
            &["run"],
        ],
    ),
];

/// Exceptions: the user, and the module it may use.
const ALLOWED: &[(&str, &str)] = &[
    // Rows have the verdicts of the statistics.
    ("report", "stats"),
];

/// The layer of a module in its folder, and the module's name there; `None` for what is not in the list.
fn layer_of(folder: &str, layers: &[&[&str]], module: &[String]) -> Option<(usize, String)> {
    let name = if folder.is_empty() {
        module.first()?
    } else {
        let (first, rest) = module.split_first()?;
        rest.first().filter(|_| first == folder)?
    };
    let layer = layers.iter().position(|modules| modules.contains(&name.as_str()))?;
    Some((layer, name.clone()))
}

/// Uses against the direction: the file, its module in the folder, and the module that it uses.
fn against_the_direction(folder: &str, layers: &[&[&str]]) -> Vec<(Module, String, String)> {
    let sources = Sources::read();
    let mut found = Vec::new();
    for module in sources.modules() {
        let Some((layer, name)) = layer_of(folder, layers, module) else { continue };
        for used in sources.named(module) {
            if let Some((used_layer, used)) = layer_of(folder, layers, &used)
                && used != name
                && used_layer >= layer
            {
                found.push((module.clone(), name.clone(), used));
            }
        }
    }
    found
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (folder, layers) in LAYERS {
        for (file, module, used) in against_the_direction(folder, layers) {
            if !ALLOWED.contains(&(module.as_str(), used.as_str())) {
                wrong.push(format!("{} uses {used}", file.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    for (folder, layers) in LAYERS {
        let file = if folder.is_empty() { "lib.rs".to_string() } else { format!("{folder}/mod.rs") };
        let text = fs::read_to_string(format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let words =
            text.lines().map(|line| line.trim_start_matches("pub(crate) ").trim_start_matches("pub "));
        let modules = words.filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        let without_layer: Vec<&str> =
            modules.filter(|name| !layers.iter().any(|modules| modules.contains(name))).collect();
        assert!(without_layer.is_empty(), "not in the list of layers of {file}: {without_layer:?}");
    }
}

/// Exceptions that are no longer needed must be removed.
#[test]
fn every_exception_is_used() {
    let found: Vec<(Module, String, String)> =
        LAYERS.iter().flat_map(|(folder, layers)| against_the_direction(folder, layers)).collect();
    for (module, used) in ALLOWED {
        assert!(
            found.iter().any(|use_| use_.1 == *module && use_.2 == *used),
            "{module} does not use {used}"
        );
    }
}

/// Outputs see only reports and what these consist of.
#[test]
fn outputs_do_not_use_profiles() {
    let sources = Sources::read();
    for module in sources.modules().filter(|module| module[0] == "output") {
        for used in sources.named(module) {
            let is_hidden =
                ["profile", "binary", "format", "transform", "tree", "filter", "view", "load", "cli"];
            assert!(!is_hidden.contains(&used[0].as_str()), "{} uses {}", module.join("::"), used.join("::"));
        }
    }
}

#[test]
fn files_do_not_use_one_another_in_circles() {
    let sources = Sources::read();
    let edges: BTreeMap<Module, BTreeSet<Module>> =
        sources.modules().map(|module| (module.clone(), sources.used(module))).collect();
    assert!(edges.values().map(BTreeSet::len).sum::<usize>() > 1000, "the imports are found");
    let found: Vec<Vec<String>> = cycles(&edges)
        .into_iter()
        .map(|circle| circle.iter().map(|module| module.join("::")).collect())
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// The tour of the code names only files that exist. A path may leave out the folders that the text is about.
#[test]
fn files_in_the_tour_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tour = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let folders = ["src", "tests", "docs", "examples", ".ci"];
    let files = folders.iter().flat_map(|folder| {
        below(&root.join(folder)).into_iter().map(move |file| format!("/{folder}/{file}"))
    });
    let top = fs::read_dir(root).unwrap().map(|entry| format!("/{}", entry.unwrap().file_name().display()));
    let files: Vec<String> = files.chain(top).collect();
    let is_file = |word: &&str| {
        let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
        ["rs", "js", "md", "txt", "toml", "css"].contains(&ending) && !word.contains([' ', '<', '*'])
    };
    let named: BTreeSet<&str> = tour.split('`').filter(is_file).collect();
    assert!(named.len() > 50, "only {} files are found", named.len());
    let missing: Vec<&&str> =
        named.iter().filter(|name| !files.iter().any(|file| file.ends_with(&format!("/{name}")))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
