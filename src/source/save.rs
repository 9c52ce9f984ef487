//! Saving what was fetched, since a recording cannot be repeated.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::unit::{saturated, timestamp_seconds};

/// Names have at most this many numbers after them.
const MOST_OF_A_NAME: usize = 10_000;

/// Saves a profile in a folder, under a name that says the host, the type and the time, and returns its path. Never
/// replaces a file, and leaves no part of one.
pub(super) fn save(folder: &Path, host: &str, kind: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    create_folder(folder)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let time = timestamp_seconds(saturated(now));
    let time: String = time.chars().filter(char::is_ascii_digit).collect();
    let start = format!("{}.{}.{time}", plain(host), plain(kind));
    let part = folder.join(format!(".{start}.{}.part", process::id()));
    let written = create(&part).and_then(|mut file| file.write_all(bytes));
    let saved = written.and_then(|()| {
        for number in 1..MOST_OF_A_NAME {
            let number = if number > 1 { format!("-{number}") } else { String::new() };
            let path = folder.join(format!("{start}{number}{}", ending(bytes)));
            // A link, unlike a new name, fails if the file exists.
            match fs::hard_link(&part, &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                linked => return linked.map(|()| path),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many files of this name"))
    });
    fs::remove_file(&part)
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    saved
}

/// Profiles may hold secrets: only the user may read them.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn create(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A text as a part of a file name.
fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let text: String = text.chars().take(60).map(plain).collect();
    // Programs take names that begin with a hyphen for options.
    text.trim_start_matches('-').to_string()
}

/// The usual extension of files with this content.
fn ending(bytes: &[u8]) -> &'static str {
    let is_text = bytes[..bytes.len().min(512)]
        .iter()
        .all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace());
    match bytes {
        [0x1f, 0x8b, ..] => ".pb.gz",
        [b'F', b'L', b'R', 0, ..] => ".jfr",
        [b'{', ..] if is_text => ".json",
        _ if is_text => ".txt",
        _ => ".pb",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_look_like_options() {
        let folder = tempfile::tempdir().unwrap();
        let path = save(folder.path(), "::1-6060", "heap", b"x").unwrap();
        assert!(path.file_name().unwrap().to_str().unwrap().starts_with("1-6060.heap."));
    }

    #[test]
    fn nothing_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("prof");
        let paths: Vec<PathBuf> =
            (0..3).map(|number| save(&folder, "host:6060", "heap", &[0x1f, 0x8b, number]).unwrap()).collect();
        for (number, path) in (0..).zip(&paths) {
            assert_eq!(fs::read(path).unwrap(), [0x1f, 0x8b, number]);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(name.starts_with("host-6060.heap.2") && name.ends_with(".pb.gz"), "{name}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&paths[0]).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
