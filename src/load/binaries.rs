//! Finds the binaries that a profile refers to, and their debug information.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::ReadCache;

use crate::binary::{Address, Binary, BuildId, CodePlace, DebugFiles, Pdb, SplitPart, same_build_id};
use crate::format::UNNAMED_PROGRAM;
use crate::load::debuginfod::FileKind;
use crate::load::{Debuginfod, Observer, Unobserved};
use crate::name::base_name;

/// The folder where Linux distributions install debug information.
const SYSTEM_DEBUG: &str = "/usr/lib/debug";

/// The number of files in a folder whose build ID is checked.
const MOST_FILES: usize = 4096;

/// The places to look for binaries, in order.
pub(super) struct Binaries {
    /// Files and folders.
    places: Vec<PathBuf>,
    /// The build IDs of the files in each folder, filled in when needed.
    ids: HashMap<PathBuf, Vec<(BuildId, PathBuf)>>,
    /// Who is asked for debug information that is nowhere else.
    debuginfod: Option<Debuginfod>,
    /// Who is told what servers send.
    observer: Arc<dyn Observer>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// The binary.
    Found {
        files: Files,
        /// Whether its build ID is the one looked for. Without one in the profile, a file counts as the
        /// binary because the user named it.
        is_proven: bool,
    },
    /// A file of the same name with another build ID.
    Other {
        /// The file.
        path: PathBuf,
        /// Its build ID, if it has one.
        id: Option<BuildId>,
    },
    /// A file at the path in the profile, without proof that it is the one recorded: the profile has no build
    /// ID for it and may come from another machine.
    Unproven,
    /// Nothing.
    Missing,
}

/// A binary and the files with its debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) binary: PathBuf,
    /// The separate file with its debug information.
    pub(super) debug: Option<PathBuf>,
    /// The file with debug information that several binaries share.
    pub(super) common: Option<PathBuf>,
    /// The package of debug information that the compiler left in files of their own.
    pub(super) package: Option<PathBuf>,
    /// Folders that may have such files, besides those where the compiler left them.
    pub(super) folders: Vec<PathBuf>,
}

impl Files {
    /// Calls `read` with the binary and the files with its debug information; `None` if the binary is gone by now.
    pub(super) fn with_debug_files<T>(
        &self,
        read: impl FnOnce(&Binary<'_, &ReadCache<File>>, &DebugFiles<'_, '_, &ReadCache<File>>) -> T,
    ) -> Option<T> {
        let binary = open(&self.binary)?;
        let others = [&self.debug, &self.common, &self.package].map(|path| path.as_deref().and_then(open));
        let [debug, common, package] =
            [0, 1, 2].map(|number| others[number].as_ref().and_then(|data| Binary::parse(data).ok()));
        let part = |path: &str| self.part(path);
        let files = DebugFiles {
            debug: debug.as_ref(),
            common: common.as_ref(),
            package: package.as_ref(),
            part: &part,
        };
        Some(read(&Binary::parse(&binary).ok()?, &files))
    }

    /// The functions at these addresses in the PDB file among the files, if there is one.
    pub(super) fn in_pdb(&self, addresses: &[Address]) -> Option<Vec<Vec<CodePlace>>> {
        let of_pdb = |path: &PathBuf| {
            let data = open(path)?;
            let pdb = Pdb::parse(&data)?;
            let binary = open(&self.binary);
            let binary = binary.as_ref().and_then(|data| Binary::parse(data).ok());
            let offset = |&address: &Address| match (&binary, address) {
                (Some(binary), address) => binary.image_offset(address),
                (None, Address::Image(offset)) => u32::try_from(offset).ok(),
                (None, _) => None,
            };
            Some(pdb.functions(&addresses.iter().map(offset).collect::<Vec<_>>()))
        };
        self.debug.iter().chain([&self.binary]).find_map(of_pdb)
    }

    /// Debug information that the compiler left in a file of its own: at that path, or at another that was given.
    fn part(&self, path: &str) -> Option<SplitPart> {
        let own = is_own_path(path).then(|| PathBuf::from(path));
        let moved = self.folders.iter().map(|folder| folder.join(base_name(path)));
        own.into_iter().chain(moved).find_map(|path| SplitPart::of(&Binary::parse(&open(&path)?).ok()?))
    }
}

impl Binaries {
    /// Looks in these files and folders, in this order.
    pub(super) fn new(places: Vec<PathBuf>) -> Self {
        Binaries { places, ids: HashMap::new(), debuginfod: None, observer: Arc::new(Unobserved) }
    }

    /// Asks these servers for debug information that is nowhere else.
    pub(super) fn asking(mut self, debuginfod: Option<Debuginfod>, observer: Arc<dyn Observer>) -> Self {
        (self.debuginfod, self.observer) = (debuginfod, observer);
        self
    }

    /// A file of a build, from a server.
    fn ask_server(&self, id: &str, kind: FileKind) -> Option<PathBuf> {
        self.debuginfod.as_ref()?.file(id, kind, &*self.observer)
    }

    /// Finds the binary that a profile calls `file` and whose build ID is `claimed`, which is empty if the
    /// profile has none.
    pub(super) fn find(&mut self, file: &str, claimed: &str) -> Search {
        // Some recorders write something else into this field.
        let is_id =
            claimed.len() >= 8 && claimed.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let claimed = if is_id { claimed } else { "" };
        let is_proven = !claimed.is_empty();
        let (mut debug, mut other) = (None, None);
        for path in self.candidates(file, claimed) {
            let Some(about) = about(&path) else { continue };
            if !claimed.is_empty() && !about.id.as_ref().is_some_and(|id| same_build_id(claimed, id)) {
                if other.is_none() && base_name(&path.to_string_lossy()) == base_name(file) {
                    other = Some(Search::Other { path, id: about.id });
                }
                continue;
            }
            if about.has_code {
                return Search::Found { files: self.with_debug(path, &about, debug), is_proven };
            }
            debug.get_or_insert(path);
        }
        // A file of another build at the right place is not worth a warning if a server has the build that was recorded. Without
        // the program itself, debug information is of use only if the addresses are not offsets in the file.
        let is_wanted = is_proven && is_file_path(file);
        let served = |kind: FileKind| if is_wanted { self.ask_server(claimed, kind) } else { None };
        if let Some(path) = served(FileKind::Executable)
            && let Some(about) = about(&path).filter(|about| about.has_code)
        {
            return Search::Found { files: self.with_debug(path, &about, debug), is_proven };
        }
        match debug.or_else(|| served(FileKind::DebugInformation)) {
            // Debug information has the linker's addresses even without the code itself.
            Some(binary) => Search::Found { files: self.files(binary, None), is_proven },
            None if claimed.is_empty() && is_own_path(file) && about(Path::new(file)).is_some() => {
                Search::Unproven
            }
            None => other.unwrap_or(Search::Missing),
        }
    }

    /// The paths where a binary may be.
    fn candidates(&mut self, file: &str, claimed: &str) -> Vec<PathBuf> {
        let name = base_name(file);
        let mut paths = Vec::new();
        let mut folders = Vec::new();
        for place in &self.places {
            if !place.is_dir() {
                let known = place.to_string_lossy();
                let known = base_name(&known);
                let is_named = known == name || known == pdb_name(name) || name == UNNAMED_PROGRAM;
                if is_named || !claimed.is_empty() {
                    paths.push(place.clone());
                }
                continue;
            }
            folders.push(place.clone());
            paths.extend(in_bundles(place, name));
            if !claimed.is_empty() {
                paths.push(place.join(claimed));
                paths.push(place.join(claimed).join(name));
                paths.extend(by_id(place, claimed));
            }
            if is_file_path(file) {
                // The folder may be a copy of another system's root.
                paths.push(place.join(file.trim_start_matches(['/', '\\'])));
                paths.push(place.join(name));
                paths.push(place.join(pdb_name(name)));
            }
        }
        if !claimed.is_empty() {
            if is_own_path(file) {
                paths.push(PathBuf::from(file));
            }
            paths.extend(by_id(Path::new(SYSTEM_DEBUG), claimed));
            paths.extend(in_cache(claimed));
            paths.extend(folders.iter().flat_map(|folder| self.with_id(folder, claimed)));
        }
        paths
    }

    /// The files directly in a folder that have a build ID.
    fn with_id(&mut self, folder: &Path, claimed: &str) -> Vec<PathBuf> {
        let ids = self.ids.entry(folder.to_path_buf()).or_insert_with(|| {
            let mut files: Vec<PathBuf> =
                fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            files.sort();
            files.truncate(MOST_FILES);
            files.into_iter().filter_map(|path| Some((about(&path)?.id?, path))).collect()
        });
        ids.iter().filter(|(id, _)| same_build_id(claimed, id)).map(|(_, path)| path.clone()).collect()
    }

    /// Looks for the debug information of a binary, unless the binary contains it.
    fn with_debug(&self, binary: PathBuf, about: &About, found: Option<PathBuf>) -> Files {
        if about.has_lines {
            return self.files(binary, None);
        }
        let mut paths: Vec<PathBuf> = found.into_iter().collect();
        if let Some(id) = &about.id {
            let id = id.to_string();
            paths.extend(self.places.iter().flat_map(|place| by_id(place, &id)));
            paths.extend(by_id(Path::new(SYSTEM_DEBUG), &id));
            paths.extend(in_cache(&id));
        }
        let folder = binary.parent().unwrap_or(Path::new(""));
        if let Some(link) = &about.debug_link {
            paths.push(folder.join(link));
            paths.push(folder.join(".debug").join(link));
            paths.extend(self.places.iter().map(|place| place.join(link)));
            paths.extend(self.places.iter().filter(|place| place.ends_with(link)).cloned());
            paths.push(Path::new(SYSTEM_DEBUG).join(folder.strip_prefix("/").unwrap_or(folder)).join(link));
        }
        if let Some(name) = binary.file_name() {
            let places = self.places.iter().map(|place| &**place).chain([folder]);
            paths.extend(places.flat_map(|place| in_bundles(place, &name.to_string_lossy())));
        }
        let belongs = |path: &PathBuf| {
            self::about(path)
                .is_some_and(|debug| debug.has_lines && debug.id.is_some() && debug.id == about.id)
        };
        let served = || self.ask_server(&about.id.as_ref()?.to_string(), FileKind::DebugInformation);
        let debug = paths.into_iter().find(belongs).or_else(|| served().filter(belongs));
        self.files(binary, debug)
    }

    /// The binary, its debug information, and the files that this refers to.
    fn files(&self, binary: PathBuf, debug: Option<PathBuf>) -> Files {
        let common = common(debug.as_deref().unwrap_or(&binary));
        let with_package = |path: &Path| {
            let mut package = path.as_os_str().to_owned();
            package.push(".dwp");
            PathBuf::from(package)
        };
        let mut folders: Vec<PathBuf> = binary.parent().map(Path::to_path_buf).into_iter().collect();
        folders.extend(self.places.iter().filter(|place| place.is_dir()).cloned());
        let next_to = [Some(&binary), debug.as_ref()].into_iter().flatten().map(|path| with_package(path));
        let named = binary.file_name().map(|name| with_package(Path::new(name)));
        let elsewhere = folders.iter().flat_map(|folder| named.iter().map(|name| folder.join(name)));
        let package = next_to.chain(elsewhere).find(|path| path.is_file());
        Files { binary, debug, common, package, folders }
    }
}

/// The information in the headers of a file.
struct About {
    id: Option<BuildId>,
    has_code: bool,
    has_lines: bool,
    debug_link: Option<String>,
}

/// `None` if the file is not a binary or does not exist.
fn about(path: &Path) -> Option<About> {
    let data = open(path)?;
    let Ok(binary) = Binary::parse(&data) else {
        let id = Some(Pdb::parse(&data)?.build_id());
        return Some(About { id, has_code: false, has_lines: true, debug_link: None });
    };
    Some(About {
        id: binary.build_id(),
        has_code: binary.has_code(),
        has_lines: binary.has_lines(),
        debug_link: binary.debug_link(),
    })
}

/// The name of the PDB file of a program: `shop.pdb` of `shop.exe`.
fn pdb_name(program: &str) -> String {
    format!("{}.pdb", program.rsplit_once('.').map_or(program, |(stem, _)| stem))
}

/// Opens a file to be read in parts.
pub(super) fn open(path: &Path) -> Option<ReadCache<File>> {
    open_file(path).map(ReadCache::new)
}

/// Opens a file. Devices and pipes, which a profile may also name, are not opened.
pub(super) fn open_file(path: &Path) -> Option<File> {
    let is_file = fs::metadata(path).ok()?.is_file();
    is_file.then(|| File::open(path).ok()).flatten()
}

/// The shared file of debug information that `debug` links to.
fn common(debug: &Path) -> Option<PathBuf> {
    let data = open(debug)?;
    let (link, id) = Binary::parse(&data).ok()?.common_link()?;
    let sibling = debug.parent().unwrap_or(Path::new("")).join(link);
    let paths = [sibling].into_iter().chain(by_id(Path::new(SYSTEM_DEBUG), &id.to_string()));
    paths.into_iter().find(|path| path.is_file())
}

/// The paths of debug information in bundles of macOS: a folder may be such a bundle, or have some.
fn in_bundles(folder: &Path, name: &str) -> [PathBuf; 2] {
    const INSIDE: &str = "Contents/Resources/DWARF";
    [folder.to_path_buf(), folder.join(format!("{name}.dSYM"))].map(|bundle| bundle.join(INSIDE).join(name))
}

/// The paths of a build ID in a folder of debug information: `.build-id/ab/cdef….debug`.
fn by_id(folder: &Path, id: &str) -> Vec<PathBuf> {
    let id = id.to_ascii_lowercase();
    let Some((first, rest)) = id.split_at_checked(2) else { return Vec::new() };
    let folder = folder.join(".build-id").join(first);
    vec![folder.join(rest), folder.join(format!("{rest}.debug"))]
}

/// The paths of a build ID in the cache in which `perf record` keeps what it recorded: the binary, its debug information,
/// and code that the kernel lends to programs.
fn in_cache(id: &str) -> Vec<PathBuf> {
    let Some(home) = std::env::var_os("HOME") else { return Vec::new() };
    let folders = by_id(&Path::new(&home).join(".debug"), id);
    let Some(folder) = folders.first() else { return Vec::new() };
    ["elf", "debug", "vdso"].into_iter().map(|name| folder.join(name)).collect()
}

/// Whether the name of a mapping may be a file: `[vdso]`, `//anon` and `/dev/zero` are not.
pub(super) fn is_file_path(file: &str) -> bool {
    let is_other = ["[", "//anon", "/anon_hugepage", "/dev/", "/memfd:", "/SYSV", "anon_inode:"];
    !file.is_empty() && !file.ends_with("(deleted)") && !is_other.iter().any(|start| file.starts_with(start))
}

/// Whether a path in a profile may be a file on this machine.
pub(super) fn is_own_path(file: &str) -> bool {
    is_file_path(file) && Path::new(file).is_absolute() && !is_network_path(file)
}

/// Whether opening a path may contact another machine, which the author of a profile must not be able to
/// choose.
fn is_network_path(file: &str) -> bool {
    file.starts_with("//") || file.starts_with(r"\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_looked_for() {
        for file in ["/bin/server", r"C:\bin\server.exe", "server"] {
            assert!(is_file_path(file), "{file}");
        }
        for other in ["", "[vdso]", "//anon", "/dev/zero (deleted)", "/tmp/x (deleted)", "/memfd:jit"] {
            assert!(!is_file_path(other), "{other}");
        }
        assert!(is_network_path(r"\\host\share\x.dll") && is_network_path("//host/x"));
    }

    #[test]
    fn ids_lead_to_files() {
        let paths = by_id(Path::new("/d"), "ABcdef01");
        assert_eq!(paths[1], Path::new("/d/.build-id/ab/cdef01.debug"));
        assert_eq!(by_id(Path::new("/d"), "a"), Vec::<PathBuf>::new());
    }
}
