//! Finds source files. The paths in a profile are those of the machine the program was built on.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::profile::EmbeddedSource;
use crate::sourcemap::path_of_url;
use crate::view::SourceText;

/// The places to look for source files.
#[derive(Debug, Default)]
pub struct Sources {
    /// Folders in which the path, or any end of it, is looked up.
    roots: Vec<PathBuf>,
    /// Whether the current folder is looked up only after them, because other folders were given.
    here_last: bool,
    /// Prefixes that are removed from paths first.
    trimmed: Vec<String>,
    /// The only folders in which files are read, links followed; `None` for all.
    allowed: Option<Vec<PathBuf>>,
}

/// The number of tried paths that are listed.
const LISTED: usize = 3;

/// Larger files are not read as source.
const MOST_BYTES: u64 = 16 << 20;

impl Sources {
    /// Looks in the folders given, then in those where toolchains keep sources. The prefixes `trimmed` are removed from paths first.
    pub fn new(folders: &[PathBuf], trimmed: &[String]) -> Self {
        let mut roots = folders.to_vec();
        let here_last = !roots.is_empty();
        roots.extend((!here_last).then(|| PathBuf::from(".")));
        roots.extend(toolchain_roots());
        Sources { roots, here_last, trimmed: trimmed.to_vec(), allowed: None }
    }

    /// Looks only in these folders, and reads no file outside of them, wherever links lead. Their paths are canonical.
    pub fn within(folders: Vec<PathBuf>, trimmed: &[String]) -> Self {
        let roots = folders.clone();
        Sources { roots, here_last: false, trimmed: trimmed.to_vec(), allowed: Some(folders) }
    }

    /// Whether a file may be read.
    fn allows(&self, path: &Path) -> bool {
        let Some(allowed) = &self.allowed else { return true };
        fs::canonicalize(path).is_ok_and(|real| allowed.iter().any(|folder| real.starts_with(folder)))
    }

    /// The text of the file that a profile calls `file`. A file that does not have the last line in the profile is another one.
    pub fn text_of(&self, file: &str, last_line: u32) -> SourceText {
        let (mut looked, mut another) = (Vec::new(), None);
        for path in self.candidates(file) {
            if !self.allows(&path) {
                continue;
            }
            let is_readable = fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
            if is_readable && let Ok(bytes) = fs::read(&path) {
                let text = String::from_utf8_lossy(&bytes);
                let lines: Vec<String> = text.lines().map(str::to_string).collect();
                if lines.len() >= last_line as usize {
                    return SourceText::Found(path.display().to_string(), lines);
                }
                another.get_or_insert_with(|| path.display().to_string());
            }
            if looked.len() < LISTED {
                looked.push(path.display().to_string());
            }
        }
        match another {
            Some(path) => SourceText::Another(looked, path),
            None => SourceText::Missing(looked),
        }
    }

    /// The text of a file of which a source map may have a copy. Unlike the file itself, the copy is certain to be the version
    /// that was built.
    pub fn text_or_copy(&self, file: &str, last_line: u32, copy: Option<&EmbeddedSource>) -> SourceText {
        let found = self.text_of(file, last_line);
        let Some(EmbeddedSource { from, text }) = copy else { return found };
        match &found {
            SourceText::Found(_, lines) if text.lines().eq(lines.iter().map(String::as_str)) => found,
            _ => SourceText::Found(format!("{file} in {from}"), text.lines().map(str::to_string).collect()),
        }
    }

    /// The paths to try, the most likely first: the path itself, unless a prefix was removed or it is relative to some folder
    /// and folders were given, then its ends below each root, the longest first. `/build/shop/orders/ledger.go` becomes
    /// `ROOT/build/shop/orders/ledger.go`, `ROOT/shop/orders/ledger.go`, and so on. Node.js names scripts by their URL,
    /// `file:///srv/app.mjs`.
    fn candidates<'s>(&'s self, file: &str) -> impl Iterator<Item = PathBuf> + use<'s> {
        let path = path_of_url(file);
        let trim = |text: &str| {
            self.trimmed.iter().find_map(|prefix| text.strip_prefix(prefix.as_str())).map(str::to_string)
        };
        let trimmed = trim(file).or_else(|| trim(&path));
        let relative = trimmed.as_deref().unwrap_or(&path).trim_start_matches(['/', '\\']);
        let parts: Vec<String> =
            relative.split(['/', '\\']).filter(|part| is_plain(part)).map(String::from).collect();
        let as_it_is = PathBuf::from(&*path);
        let is_tried = trimmed.is_none() && (as_it_is.is_absolute() || !self.here_last);
        let ends: Vec<PathBuf> = (0..parts.len()).map(|start| parts[start..].iter().collect()).collect();
        let here: Vec<PathBuf> =
            ends.iter().filter(|_| self.here_last).map(|end| Path::new(".").join(end)).collect();
        let under_roots = ends.into_iter().flat_map(|end| self.roots.iter().map(move |root| root.join(&end)));
        is_tried.then_some(as_it_is).into_iter().chain(under_roots).chain(here)
    }
}

/// Whether a path component stays below its folder.
fn is_plain(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".."
}

/// Go's sources and module cache, the vendor folder, cargo's registry and Rust's own sources.
fn toolchain_roots() -> Vec<PathBuf> {
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
    let folder = |name: &str, below: &[&str]| -> Option<PathBuf> {
        let named = env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        named.or_else(|| below.iter().try_fold(home.clone()?, |path, part| Some(path.join(part))))
    };
    let mut roots = vec![PathBuf::from("vendor")];
    if let Some(goroot) = env::var_os("GOROOT").map(PathBuf::from) {
        roots.push(goroot.join("src"));
    }
    roots.push(PathBuf::from("/usr/local/go/src"));
    if let Some(gopath) = folder("GOPATH", &["go"]) {
        roots.push(gopath.join("pkg").join("mod"));
        roots.push(gopath.join("src"));
    }
    if let Some(cargo) = folder("CARGO_HOME", &[".cargo"]) {
        roots.extend(folders_in(&cargo.join("registry").join("src")));
    }
    if let Some(rustup) = folder("RUSTUP_HOME", &[".rustup"]) {
        let sources = |toolchain: PathBuf| toolchain.join("lib/rustlib/src/rust");
        roots.extend(folders_in(&rustup.join("toolchains")).into_iter().map(sources));
    }
    roots
}

/// The folders directly in a folder, in alphabetical order.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PREFIX: &[String] = &[];

    fn in_folder(roots: &[&Path], trimmed: &[impl ToString]) -> Sources {
        let roots: Vec<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
        Sources::new(&roots, &trimmed.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn ends_of_a_path_are_looked_for_below_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("orders")).unwrap();
        fs::write(folder.path().join("orders/ledger.go"), "package orders\n\nfunc f() {}\n").unwrap();
        let sources = in_folder(&[folder.path()], NO_PREFIX);
        match sources.text_of("/build/shop/orders/ledger.go", 1) {
            SourceText::Found(_, lines) => assert_eq!(lines, ["package orders", "", "func f() {}"]),
            other => panic!("{other:?}"),
        }
        match sources.text_of("/build/shop/orders/none.go", 1) {
            SourceText::Missing(places) => assert_eq!(places[0], "/build/shop/orders/none.go"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_without_the_last_line_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let [near, far] = ["near", "far"].map(|name| folder.path().join(name));
        for (root, text) in [(&near, "one\n"), (&far, "one\ntwo\n")] {
            fs::create_dir_all(root).unwrap();
            fs::write(root.join("main.rs"), text).unwrap();
        }
        let text = |roots: &[&Path], line| in_folder(roots, NO_PREFIX).text_of("/nowhere/main.rs", line);
        let path = |root: &Path| root.join("main.rs").display().to_string();
        match text(&[&near, &far], 2) {
            SourceText::Found(found, lines) => {
                assert_eq!((found, lines), (path(&far), vec!["one".to_string(), "two".to_string()]));
            }
            other => panic!("{other:?}"),
        }
        match text(&[&near, &far], 3) {
            SourceText::Another(looked, found) => {
                assert_eq!((looked[0].as_str(), found), ("/nowhere/main.rs", path(&near)));
            }
            other => panic!("{other:?}"),
        }
    }

    /// Both folders have an end of the path, the current one the longer.
    #[test]
    fn given_folders_are_looked_up_before_the_current_one() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("main.rs"), "fn main() {}\n").unwrap();
        for file in ["/srv/words/src/main.rs", "src/main.rs"] {
            match in_folder(&[folder.path()], NO_PREFIX).text_of(file, 1) {
                SourceText::Found(_, lines) => assert_eq!(lines, ["fn main() {}"]),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_path_that_is_trimmed_is_not_looked_for_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        for (checkout, text) in [(&old, "the old text\n"), (&new, "the new text\n")] {
            fs::create_dir_all(checkout).unwrap();
            fs::write(checkout.join("ledger.go"), text).unwrap();
        }
        let recorded = old.join("ledger.go").display().to_string();
        let found = |trimmed: &[String]| match in_folder(&[&new], trimmed).text_of(&recorded, 1) {
            SourceText::Found(_, lines) => lines.concat(),
            other => panic!("{other:?}"),
        };
        assert_eq!(found(&[]), "the old text");
        assert_eq!(found(&[old.display().to_string()]), "the new text");
    }

    #[test]
    fn scripts_are_named_by_urls() {
        for (url, path) in [
            ("file:///srv/my%20app/a%C3%A9.mjs", "/srv/my app/aé.mjs"),
            ("file://localhost/srv/app.mjs", "/srv/app.mjs"),
            ("file:///C:/app.mjs", "C:/app.mjs"),
            ("/srv/100%25.mjs", "/srv/100%25.mjs"),
            ("file:///srv/100%.mjs", "/srv/100%.mjs"),
            ("node:fs", "node:fs"),
        ] {
            assert_eq!(path_of_url(url), path);
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("app.mjs"), "serve();\n").unwrap();
        let recorded = format!("file://{}/app.mjs", folder.path().display());
        let text = |sources: Sources, file: &str| match sources.text_of(file, 1) {
            SourceText::Found(_, lines) => lines.concat(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text(in_folder(&[], NO_PREFIX), &recorded), "serve();");
        // The prefix of the path may be given, or that of the URL.
        for prefix in ["/build", "file:///build"] {
            let sources = in_folder(&[folder.path()], &[prefix.to_string()]);
            assert_eq!(text(sources, "file:///build/app.mjs"), "serve();");
        }
    }
}
