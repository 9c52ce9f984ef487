//! Which file of `src` uses which: paths that begin with `crate::` or `super::`, followed through re-exports to the file that defines
//! what is used. Items behind `#[cfg(test)]` do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A path in modules, such as `["cli", "input", "paths"]`.
pub type Module = Vec<String>;

/// The files of `src` by their modules.
pub struct Sources {
    /// The text of each file without its tests.
    files: BTreeMap<Module, String>,
    /// Names that a `mod.rs` re-exports, and the modules below it that they come from.
    exports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Sources {
    pub fn read() -> Sources {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut sources = Sources { files: BTreeMap::new(), exports: BTreeMap::new() };
        for file in super::below(&root) {
            let Some(path) = file.strip_suffix(".rs").filter(|path| !is_test(path)) else { continue };
            let path = path.strip_suffix("/mod").unwrap_or(path);
            let module = path.split('/').map(str::to_string).collect();
            sources.files.insert(module, without_tests(&fs::read_to_string(root.join(&file)).unwrap()));
        }
        for module in sources.files.keys() {
            sources.exports.insert(module.clone(), sources.exports_of(module));
        }
        sources
    }

    /// All files.
    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.files.keys()
    }

    /// The paths that a file names after `crate::` and `super::`, from the root of the crate.
    pub fn named(&self, module: &Module) -> BTreeSet<Vec<String>> {
        let text = &self.files[module];
        let parent = &module[..module.len() - 1];
        let after = |word: &'static str, base: Vec<String>| {
            let paths = text.match_indices(word).flat_map(move |(at, _)| expanded(&text[at + word.len()..]));
            paths.map(move |path| [base.clone(), path].concat())
        };
        after("crate::", Vec::new()).chain(after("super::", parent.to_vec())).collect()
    }

    /// The files that define what a file uses, itself not counted.
    pub fn used(&self, module: &Module) -> BTreeSet<Module> {
        let mut used: BTreeSet<Module> =
            self.named(module).iter().filter_map(|path| self.resolve(path)).collect();
        used.remove(module);
        used
    }

    /// The file that defines what a path names.
    fn resolve(&self, path: &[String]) -> Option<Module> {
        let length = (1..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]))?;
        let (module, rest) = path.split_at(length);
        let export = rest.first().and_then(|name| self.exports[module].get(name));
        // A name may be re-exported more than once on its way.
        export.map_or(Some(module.to_vec()), |target| self.resolve(target))
    }

    /// Of `pub use paths::{Input, Paths};` in `input/mod.rs`: both names, from `input::paths`.
    fn exports_of(&self, module: &Module) -> BTreeMap<String, Vec<String>> {
        let mut names = BTreeMap::new();
        let text = &self.files[module];
        for (start, word) in ["\npub use ", "\npub(crate) use ", "\npub(super) use ", "\npub(in crate::"]
            .iter()
            .flat_map(|word| text.match_indices(word))
        {
            let rest = &text[start + word.len()..];
            let rest = if word.contains(" use ") {
                rest
            } else {
                rest.split_once(" use ").map_or("", |(_, rest)| rest)
            };
            for path in expanded(rest.trim_start_matches("self::")) {
                let (name, path) = (path.last().unwrap().clone(), path);
                let below: Vec<String> = module.iter().cloned().chain(path.iter().cloned()).collect();
                if path.len() > 1 && self.files.contains_key(&below[..=module.len()]) {
                    names.insert(name, below);
                }
            }
        }
        names
    }
}

/// The paths in `output::{csv, text::{table, Style}}`: three.
fn expanded(text: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word: String = text.chars().take_while(|&c| is_word(c)).collect();
    let rest = &text[word.len()..];
    let with_word = |path: Vec<String>| std::iter::once(word.clone()).chain(path).collect();
    if word.is_empty() {
        let Some(group) = text.strip_prefix('{') else { return Vec::new() };
        return members(group).into_iter().flat_map(|member| expanded(member.trim_start())).collect();
    }
    let below = rest.strip_prefix("::").map(expanded).unwrap_or_default();
    if below.is_empty() { vec![vec![word]] } else { below.into_iter().map(with_word).collect() }
}

/// The members of a group, given its text after the opening brace.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Leaves out each item behind `#[cfg(test)]`: as rustfmt writes it, it ends with its line or with a closing brace that is
/// indented as much as its beginning. Leaves out comments too.
fn without_tests(text: &str) -> String {
    let mut kept = String::from("\n");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        if code != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - code.len()]);
        let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
        if item.next().is_some_and(|first| !first.ends_with([';', '}'])) {
            lines.by_ref().find(|line| line.starts_with(&end));
        }
    }
    kept
}

/// Whether a file holds only the tests of another file.
fn is_test(path: &str) -> bool {
    path == "tests" || path.ends_with("/tests") || path.ends_with("_tests")
}

/// The files that use one another in a circle: each group with all its files.
pub fn cycles(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        edges.keys().map(|start| (start, reachable(start, edges))).collect();
    let mut groups: BTreeSet<BTreeSet<Module>> = BTreeSet::new();
    for (start, all) in &reached {
        let group = all.iter().filter(|other| reached.get(**other).is_some_and(|back| back.contains(*start)));
        let group: BTreeSet<Module> = group.map(|module| (*module).clone()).collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

fn reachable<'e>(start: &'e Module, edges: &'e BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'e Module> {
    let (mut found, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(module) = open.pop() {
        for next in edges.get(module).into_iter().flatten() {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{Module, cycles, expanded, without_tests};

    #[test]
    fn groups_of_paths_are_expanded() {
        let paths: Vec<String> = expanded("output::{csv, text::{table::Row, Style}};")
            .iter()
            .map(|path| path.join("::"))
            .collect();
        assert_eq!(paths, ["output::csv", "output::text::table::Row", "output::text::Style"]);
    }

    #[test]
    fn what_follows_a_test_is_kept() {
        let text = "use a;\n#[cfg(test)]\npub use b;\n#[cfg(test)]\nmod tests {\n    use c;\n}\nuse d;\n";
        assert_eq!(without_tests(text), "\nuse a;\nuse d;\n");
    }

    #[test]
    fn circles_are_found() {
        let module = |name: &str| vec![name.to_string()];
        let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")];
        let mut all: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, to) in edges {
            all.entry(module(from)).or_default().insert(module(to));
        }
        assert_eq!(cycles(&all), [BTreeSet::from([module("b"), module("c")])]);
    }
}
