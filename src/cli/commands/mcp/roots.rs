//! The folders that a server may read.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::terminal::failure::hinted;
use crate::source::is_url;

/// The folders that a server may read, and whether it may fetch addresses.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    /// Their canonical paths; the first one is the working directory.
    folders: Vec<PathBuf>,
    allow_network: bool,
}

/// A folder with more files than this, below it or deeper, is not searched for links that lead out of it, but refused.
const MOST_FILES: usize = 100_000;

impl Roots {
    /// These folders, or the working directory if there are none.
    pub(super) fn new(folders: &[PathBuf], allow_network: bool) -> Result<Roots> {
        let here = [PathBuf::from(".")];
        let folders = if folders.is_empty() { &here } else { folders };
        let canonical = |folder: &PathBuf| {
            let real = fs::canonicalize(folder).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => hinted(
                    format!("--root {}: no such folder", folder.display()),
                    "name the folder of the profiles",
                ),
                _ => anyhow::Error::new(error).context(format!("--root {}", folder.display())),
            })?;
            if real.is_dir() {
                return Ok(real);
            }
            Err(hinted(
                format!("--root {}: not a folder", folder.display()),
                "name the folder of the profiles",
            ))
        };
        Ok(Roots { folders: folders.iter().map(canonical).collect::<Result<_>>()?, allow_network })
    }

    /// The folders.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Fails unless a profile may be read: a regular file or a folder inside of the roots, wherever links lead, or an address if
    /// these are allowed. What is outside is refused whether it exists or not.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        if is_url(name) {
            let hint = "the server was started without --allow-network";
            return if self.allow_network { Ok(()) } else { Err(hinted("addresses are not fetched", hint)) };
        }
        if name == "-" {
            let hint = "name a file or a folder";
            return Err(hinted("-: standard input carries the protocol, so it is not a profile", hint));
        }
        let path = self.folders[0].join(name);
        let real = nearest_real(&path).filter(|real| self.contain(real) && self.contain_lexically(&path));
        if real.is_none() {
            return Err(self.outside(name));
        }
        match fs::metadata(&path) {
            Ok(about) if about.is_dir() => self.check_folder(&path),
            Ok(about) if !about.is_file() => {
                Err(hinted(format!("{name}: not a regular file"), "only files and folders are read"))
            }
            // What does not exist is for the command to report.
            _ => Ok(()),
        }
    }

    fn contain(&self, real: &Path) -> bool {
        self.folders.iter().any(|folder| real.starts_with(folder))
    }

    /// Whether a path stays inside if `..` is taken literally: what a missing folder would lead to is not known.
    fn contain_lexically(&self, path: &Path) -> bool {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(plain.pop()),
                Component::CurDir => {}
                part => plain.push(part),
            }
        }
        // A root that was named through a link is known by its real path only.
        self.contain(&plain) || fs::canonicalize(path).is_ok()
    }

    /// Fails if a link somewhere in a folder leads outside, because reading the folder would follow it.
    fn check_folder(&self, folder: &Path) -> Result<()> {
        let mut seen = 0;
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let unreadable = || format!("{}", folder.display());
            for entry in fs::read_dir(&folder).with_context(unreadable)? {
                let entry = entry.with_context(unreadable)?;
                seen += 1;
                if seen > MOST_FILES {
                    let message = format!("{}: more than {MOST_FILES} files", folder.display());
                    return Err(hinted(message, "name a folder inside of it"));
                }
                let (kind, path) = (entry.file_type().with_context(unreadable)?, entry.path());
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() && !fs::canonicalize(&path).is_ok_and(|real| self.contain(&real))
                {
                    return Err(self.outside(&path.display().to_string()));
                }
            }
        }
        Ok(())
    }

    fn outside(&self, name: &str) -> anyhow::Error {
        let folders: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        hinted(
            format!("{name}: outside of the folders that this server may read"),
            format!("they are {}; prof mcp --root DIR adds one", folders.join(", ")),
        )
    }
}

/// The real path of a file, or of the nearest folder above it that exists.
fn nearest_real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|path| match fs::canonicalize(path) {
        Ok(real) => Some(Some(real)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => None,
        // A link that leads nowhere, a circle of links, a file that is taken for a folder.
        Err(_) => Some(None),
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_root_cannot_be_left() {
        use std::os::unix::fs::symlink;

        let all = tempfile::tempdir().unwrap();
        let (root, outside) = (all.path().join("root"), all.path().join("outside"));
        for folder in [&root.join("inner"), &root.join("runs"), &root.join("clean"), &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(root.join("cpu.folded"), "main 1\n").unwrap();
        fs::write(root.join("clean/cpu.folded"), "main 1\n").unwrap();
        fs::write(outside.join("secret"), "main 1\n").unwrap();
        symlink("../outside", root.join("link")).unwrap();
        symlink("../outside/secret", root.join("secret")).unwrap();
        symlink("../../outside/secret", root.join("runs/a.folded")).unwrap();
        symlink("/dev/zero", root.join("zero")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        symlink("cpu.folded", root.join("same")).unwrap();
        symlink(&root, all.path().join("alias")).unwrap();
        let roots = Roots::new(&[all.path().join("alias")], false).unwrap();
        let path = |name: &str| all.path().join(name).display().to_string();
        for inside in
            ["cpu.folded", "./inner/../cpu.folded", "same", "clean", "missing.folded", "inner/missing/x", "."]
        {
            // `.` holds links that lead outside.
            assert_eq!(roots.check(inside).is_ok(), inside != ".", "{inside}");
        }
        assert!(roots.check(&path("root/cpu.folded")).is_ok(), "an absolute path inside");
        for wrong in [
            "..",
            "../outside/secret",
            "../outside/missing",
            "inner/../../outside/secret",
            "missing/../../outside/secret",
            "link",
            "link/secret",
            "link/missing",
            "secret",
            "runs",
            "zero",
            "dangling",
            "circle",
            "/dev/stdin",
            "/etc/passwd",
            "/etc/missing",
            "/proc/self/environ",
            "-",
            "http://localhost:1/",
            "a\0b",
        ] {
            assert!(roots.check(wrong).is_err(), "{wrong}");
        }
        assert!(roots.check(&path("outside/secret")).is_err());
    }
}
