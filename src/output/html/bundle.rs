//! Puts the modules of the page into one script, and makes that and its style small. The sources are ES modules, so that each says what it needs; a page that
//! is one file has nothing to import from, so imports and exports are dropped, and the modules follow in the order in
//! which they depend on each other.

/// The script that starts the others. They are compressed, which makes them a third as large.
const START: &str = include_str!("start.js");

/// The modules: name and source, each after those that it imports.
const MODULES: [(&str, &str); 32] = [
    ("start", START),
    ("dom", include_str!("dom.js")),
    ("format", include_str!("format.js")),
    ("pattern", include_str!("pattern.js")),
    ("labels", include_str!("labels.js")),
    ("stacks", include_str!("stacks.js")),
    ("paths", include_str!("paths.js")),
    ("data", include_str!("data.js")),
    ("heaviest", include_str!("heaviest.js")),
    ("times", include_str!("times.js")),
    ("count", include_str!("count.js")),
    ("split", include_str!("split.js")),
    ("grow", include_str!("grow.js")),
    ("sequences", include_str!("sequences.js")),
    ("label", include_str!("label.js")),
    ("theme", include_str!("theme.js")),
    ("link", include_str!("link.js")),
    ("fold", include_str!("fold.js")),
    ("model", include_str!("model.js")),
    ("canvas", include_str!("canvas.js")),
    ("picture", include_str!("picture.js")),
    ("table", include_str!("table.js")),
    ("calltree", include_str!("calltree.js")),
    ("hot", include_str!("hot.js")),
    ("source", include_str!("source.js")),
    ("blocks", include_str!("blocks.js")),
    ("pixels", include_str!("pixels.js")),
    ("timeline", include_str!("timeline.js")),
    ("filterbar", include_str!("filterbar.js")),
    ("opening", include_str!("opening.js")),
    ("outline", include_str!("outline.js")),
    ("page", include_str!("page.js")),
];

/// The script that starts the others, as it stands in the page.
pub(super) fn start() -> String {
    stripped(START)
}

/// The modules that only a page with times needs.
const OF_TIMES: [&str; 5] = ["heaviest", "times", "blocks", "pixels", "timeline"];

/// All other modules as one script, without those for what the page does not have.
pub(super) fn script(has_times: bool, has_sources: bool) -> String {
    let is_needed = |name: &str| match name {
        "start" => false,
        "source" => has_sources,
        _ => has_times || !OF_TIMES.contains(&name),
    };
    let modules = MODULES.iter().filter(|(name, _)| is_needed(name));
    "\"use strict\";\n".to_string() + &modules.map(|(_, source)| stripped(source)).collect::<String>()
}

/// The style of the page, without comments and the spaces that mean nothing.
pub(super) fn style() -> String {
    let mut style = String::new();
    for line in include_str!("page.css").lines().map(str::trim).filter(|line| !line.starts_with("/*")) {
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_sign = |letter: char| matches!(letter, '{' | '}' | ';' | ',');
            let is_needless = style.ends_with(is_sign) || letters.peek().is_some_and(|&next| is_sign(next));
            if letter == '}' && style.ends_with(';') {
                style.pop();
            }
            if letter != ' ' || !is_needless {
                style.push(letter);
            }
        }
    }
    style
}

/// A module without comments, indentation, imports and exports.
fn stripped(source: &str) -> String {
    let mut script = String::new();
    for line in source.lines() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with("import ") || line.starts_with(['/', '*']) {
            continue;
        }
        // A brace ends a statement as a line end does.
        if line.starts_with('}') && script.ends_with('\n') {
            script.pop();
        }
        squeeze(line.strip_prefix("export ").unwrap_or(line), &mut script);
        if !script.ends_with([';', ',', '{']) {
            script.push('\n');
        }
    }
    script
}

/// Appends a line without the spaces around signs. Lines with regular expressions or with templates in templates stay as
/// they are: in these, spaces and quotes mean something else.
fn squeeze(line: &str, script: &mut String) {
    const SIGNS: &str = "=<>?:&|{}(),;*![]";
    if line.contains(['/', '\\', '\'']) || ![0, 2].contains(&line.matches('`').count()) {
        script.push_str(line);
        return;
    }
    let is_sign = |letter: Option<char>| letter.is_some_and(|letter| SIGNS.contains(letter));
    let mut letters = line.chars().peekable();
    let (mut before, mut quote) = (None, None);
    while let Some(letter) = letters.next() {
        let is_needless = letter == ' ' && (is_sign(before) || is_sign(letters.peek().copied()));
        if quote.is_some() || !is_needless {
            script.push(letter);
        }
        match (letter, quote) {
            ('"' | '`', None) => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            _ => {}
        }
        before = Some(letter);
    }
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
                let keyword = ["const ", "let ", "function ", "function* ", "class "]
                    .iter()
                    .find_map(|k| rest.strip_prefix(k))?;
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
    fn spaces_are_dropped_where_they_mean_nothing() {
        let squeezed = |line| {
            let mut script = String::new();
            squeeze(line, &mut script);
            script
        };
        assert_eq!(
            squeezed("if (a === \"b = c\") return { d: e + +f };"),
            "if(a===\"b = c\")return{d:e + +f};"
        );
        assert_eq!(squeezed("for (const [a, b] of c) d ??= a in b;"), "for(const[a,b]of c)d??=a in b;");
        assert_eq!(squeezed("return c ? `${a} = \"` : b;"), "return c?`${a} = \"`:b;");
        assert_eq!(squeezed("return `${a ? `= ${b}` : c}`;"), "return `${a ? `= ${b}` : c}`;");
        assert_eq!(squeezed("text.split(/ = /);"), "text.split(/ = /);");
    }

    #[test]
    fn a_style_is_squeezed_as_well() {
        let style = style();
        assert!(style.starts_with("html,body{height: 100%}#app{height: 100%;display: flex;"), "{style}");
        assert!(!style.contains("/*") && style.matches('{').count() == style.matches('}').count());
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
