//! What mutation starts from: small inputs of each format, recorded ones, and real ones if there is a corpus.

use std::fs;
use std::path::{Path, PathBuf};

use prof::format::{FORMATS, Format, Source, WRITERS, load, recognize};
use prof::profile::LoadOptions;

use crate::needs::shared;

/// An input that a reader accepts.
pub struct Seed {
    /// Its origin.
    pub name: String,
    /// The decompressed bytes.
    pub bytes: Vec<u8>,
}

/// The inputs of `format` up to `longest` bytes: written by hand, written by us, or recorded.
pub fn seeds(format: &Format, longest: usize) -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("tests/hostile/seeds").join(format.name);
    let mut seeds: Vec<Seed> = files(&own).iter().filter_map(|path| seed(path)).collect();
    let of_format = |seed: &Seed| seed.bytes.len() <= longest && is_of_format(format, seed);
    seeds.extend(written().into_iter().filter(of_format));
    let recorded = files(&root.join("fixtures"));
    let recorded = || recorded.iter().filter_map(|path| seed(path));
    seeds.extend(recorded().filter(of_format));
    if seeds.is_empty() {
        seeds
            .extend(recorded().filter(|seed| is_of_format(format, seed)).min_by_key(|seed| seed.bytes.len()));
    }
    seeds
}

/// At most `most` readable inputs of `format` from the corpus, up to `longest` bytes each; none if there is no corpus.
pub fn real_seeds(format: &Format, longest: usize, most: usize) -> Vec<Seed> {
    let of_corpus =
        files(&shared("corpus")).into_iter().filter(|path| path.to_string_lossy().contains(format.name));
    // Some real files are corrupt; these are not used.
    let readable = of_corpus.filter_map(|path| seed(&path)).filter(|seed| {
        seed.bytes.len() <= longest && is_of_format(format, seed) && is_readable(format, seed)
    });
    readable.take(most).collect()
}

fn is_of_format(format: &Format, seed: &Seed) -> bool {
    let found = recognize(&seed.bytes[..seed.bytes.len().min(64 << 10)]);
    found.is_some_and(|(found, _)| found.name == format.name)
}

fn is_readable(format: &Format, seed: &Seed) -> bool {
    load(&mut Source::from_bytes(seed.bytes.clone()), LoadOptions::ALL, Some(format)).is_ok()
}

fn seed(path: &Path) -> Option<Seed> {
    let file = fs::File::open(path).ok()?;
    let bytes = Source::open(Box::new(file)).ok()?.read_all().ok()?;
    Some(Seed { name: path.file_name()?.to_string_lossy().into_owned(), bytes })
}

/// One small profile in every format that can be written.
fn written() -> Vec<Seed> {
    let text = "main;parse;read 3\nmain;parse 4\nmain;draw;f(int, char) 5\nmain;draw 1\nidle 9\n";
    let profile = load(&mut Source::from_bytes(text.into()), LoadOptions::ALL, None).expect("a profile");
    let write = |writer: &&prof::format::Writer| {
        let mut bytes = Vec::new();
        (writer.write)(&profile, 0, &mut bytes).expect("memory can be written");
        Seed { name: format!("written.{}", writer.name), bytes }
    };
    WRITERS.iter().map(write).collect()
}

/// All files below `folder`, in order; none where it is absent.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The formats whose readers are tested: all, or the one of that name.
pub fn formats(only: Option<&str>) -> Vec<&'static Format> {
    FORMATS.iter().copied().filter(|format| only.is_none_or(|only| only == format.name)).collect()
}
