//! Puts the modules of the page into one script. The sources are ES modules, so that each says what it needs; a page that
//! is one file has nothing to import from, so imports and exports are dropped, and the modules follow in the order in
//! which they depend on each other.

/// The modules: name and source, each after those that it imports.
const MODULES: [(&str, &str); 14] = [
    ("dom", include_str!("dom.js")),
    ("format", include_str!("format.js")),
    ("data", include_str!("data.js")),
    ("count", include_str!("count.js")),
    ("label", include_str!("label.js")),
    ("theme", include_str!("theme.js")),
    ("link", include_str!("link.js")),
    ("model", include_str!("model.js")),
    ("canvas", include_str!("canvas.js")),
    ("picture", include_str!("picture.js")),
    ("table", include_str!("table.js")),
    ("calltree", include_str!("calltree.js")),
    ("opening", include_str!("opening.js")),
    ("page", include_str!("page.js")),
];

/// The script without comments and indentation.
pub(super) fn script() -> String {
    let mut script = String::from("\"use strict\";\n");
    for line in MODULES.iter().flat_map(|(_, source)| source.lines()) {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with("import ") || line.starts_with(['/', '*']) {
            continue;
        }
        script += line.strip_prefix("export ").unwrap_or(line);
        script.push('\n');
    }
    script
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// The names that a module declares on its top level, and whether it exports them.
    fn declared(source: &str) -> Vec<(&str, bool)> {
        source
            .lines()
            .filter_map(|line| {
                let exported = line.strip_prefix("export ");
                let rest = exported.unwrap_or(line);
                let rest = rest.strip_prefix("async ").unwrap_or(rest);
                let keyword =
                    ["const ", "let ", "function ", "class "].iter().find_map(|k| rest.strip_prefix(k))?;
                let end = keyword.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(keyword.len());
                Some((&keyword[..end], exported.is_some()))
            })
            .collect()
    }

    #[test]
    fn modules_import_only_what_earlier_ones_export() {
        let mut exported: HashMap<&str, Vec<&str>> = HashMap::new();
        for (module, source) in MODULES {
            for line in source.lines().filter(|line| line.starts_with("import ")) {
                let (names, from) = line.split_once("} from \"./").expect(line);
                let from = from.strip_suffix(".js\";").expect(line);
                for name in names.trim_start_matches("import {").split(',').map(str::trim) {
                    let known = exported.get(from).unwrap_or_else(|| panic!("{module} comes before {from}"));
                    assert!(known.contains(&name), "{from} does not export {name}, which {module} imports");
                }
            }
            let names = declared(source).into_iter().filter(|(_, exported)| *exported).map(|(name, _)| name);
            exported.insert(module, names.collect());
        }
    }

    #[test]
    fn modules_share_no_names() {
        let mut owner: HashMap<&str, &str> = HashMap::new();
        for (module, source) in MODULES {
            for (name, _) in declared(source) {
                let other = owner.insert(name, module);
                assert_eq!(other, None, "{module} and {other:?} both declare {name}");
            }
        }
    }
}
