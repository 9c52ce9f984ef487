//! Zip archives of one file, in which recordings are often attached to bug reports; and those that are themselves recordings, whose
//! files are read as one, each after a line with its name.
//!
//! ```text
//! "PK\x03\x04", u16 version, u16 flags, u16 method, u32 time, u32 checksum, u32 packed size, u32 size,
//! u16 length of the name, u16 length of the rest; the name; the rest; the data; perhaps the checksum and the sizes
//! ```
//!
//! The table of contents is at the end, so the file is read as it comes, and that there is another one is noticed last.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

/// An input that is compressed.
pub(super) type Compressed = Box<dyn BufRead + Send>;

const FILE: [u8; 4] = *b"PK\x03\x04";
const CONTENTS: [u8; 4] = *b"PK\x01\x02";
const CHECKSUM: [u8; 4] = *b"PK\x07\x08";

/// What stands before the name of a file of a recording that consists of several.
pub(in crate::format) const MEMBER: &[u8] = b"\x1CVery Sleepy: ";

/// The files of which Very Sleepy's recordings consist.
const MEMBERS: [&[u8]; 4] = [b"Stats.txt", b"IPCounts.txt", b"Symbols.txt", b"Callstacks.txt"];

/// How far after a file's data the next part starts at most: after a checksum and two sizes.
const GAP: usize = 24;

/// The content of the only file of an archive.
pub(super) struct ZipReader {
    at: At,
    /// The checksum of the data so far, and the one that it should have.
    crc: Crc,
    expected: Option<u32>,
    /// Whether the checksum and the sizes come after the data.
    ends_with_checksum: bool,
    /// Whether the data belong to a folder, or to what macOS adds.
    is_skipped: bool,
    has_file: bool,
    /// Whether the archive is a recording that consists of several files.
    has_members: bool,
    /// A line to be read before the data.
    title: io::Cursor<Vec<u8>>,
}

/// Where in the archive the reader is.
enum At {
    /// Before a file or the table of contents.
    Header(Compressed),
    Stored(io::Take<Compressed>),
    Deflated(Box<DeflateDecoder<Compressed>>),
    End,
}

impl ZipReader {
    pub(super) fn new(input: impl BufRead + Send + 'static) -> Self {
        ZipReader {
            at: At::Header(Box::new(input)),
            crc: Crc::new(),
            expected: None,
            ends_with_checksum: false,
            is_skipped: false,
            has_file: false,
            has_members: false,
            title: io::Cursor::default(),
        }
    }

    /// Reads what comes before the next file's data.
    fn header(&mut self, mut input: Compressed) -> io::Result<At> {
        let signature = self.signature(&mut input)?;
        if self.expected.take().is_some_and(|expected| expected != self.crc.sum()) {
            return Err(io::Error::new(ErrorKind::InvalidData, "the checksum is wrong"));
        }
        if signature == CONTENTS {
            return if self.has_file { Ok(At::End) } else { Err(unsupported("the archive has no files")) };
        }
        let mut fields = [0; 26];
        input.read_exact(&mut fields)?;
        let short = |at: usize| u16::from_le_bytes([fields[at], fields[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let (flags, method) = (short(2), short(4));
        let (crc, packed) = (long(10), long(14));
        let mut name = vec![0; short(22).into()];
        input.read_exact(&mut name)?;
        let mut rest = vec![0; short(24).into()];
        input.read_exact(&mut rest)?;
        self.is_skipped = name.ends_with(b"/") || name.starts_with(b"__MACOSX/");
        let is_member = MEMBERS.contains(&name.as_slice());
        self.has_members |= is_member && !self.has_file;
        if self.has_members {
            self.is_skipped = !is_member;
            if is_member {
                self.title = io::Cursor::new(
                    [b"\n", MEMBER, &name, b"\n"].concat()[usize::from(!self.has_file)..].to_vec(),
                );
                self.has_file = true;
            }
        } else if !self.is_skipped && std::mem::replace(&mut self.has_file, true) {
            return Err(unsupported("the archive has several files; extract it and pass the profile inside"));
        }
        self.crc.reset();
        self.ends_with_checksum = flags & 8 != 0;
        self.expected = (!self.ends_with_checksum).then_some(crc);
        let packed = if packed == u32::MAX { large_size(&rest).unwrap_or(0) } else { packed.into() };
        match method {
            _ if flags & 1 != 0 => Err(unsupported("the archive is encrypted; extract it first")),
            0 if !self.ends_with_checksum => Ok(At::Stored(input.take(packed))),
            8 => Ok(At::Deflated(Box::new(DeflateDecoder::new(input)))),
            _ => Err(unsupported("the archive uses an unknown compression; extract it first")),
        }
    }

    /// The signature of the next file or of the table of contents.
    fn signature(&mut self, input: &mut Compressed) -> io::Result<[u8; 4]> {
        let mut signature = [0; 4];
        input.read_exact(&mut signature)?;
        if std::mem::take(&mut self.ends_with_checksum) {
            if signature == CHECKSUM {
                input.read_exact(&mut signature)?;
            }
            self.expected = Some(u32::from_le_bytes(signature));
            input.read_exact(&mut signature)?;
        }
        for _ in 0..GAP {
            if [FILE, CONTENTS].contains(&signature) {
                return Ok(signature);
            }
            signature.rotate_left(1);
            input.read_exact(&mut signature[3..])?;
        }
        Err(io::Error::new(
            ErrorKind::InvalidData,
            "a file is not followed by another or by the table of contents",
        ))
    }
}

/// The packed size of a file of 4 GiB and more, which comes after the name.
fn large_size(mut rest: &[u8]) -> Option<u64> {
    while let Some((&[a, b, c, d], field)) = rest.split_first_chunk::<4>() {
        let field = field.split_at_checked(u16::from_le_bytes([c, d]).into())?;
        if u16::from_le_bytes([a, b]) == 1 {
            return Some(u64::from_le_bytes(field.0.get(8..16)?.try_into().ok()?));
        }
        rest = field.1;
    }
    None
}

fn unsupported(message: &str) -> io::Error {
    io::Error::new(ErrorKind::Unsupported, message)
}

impl Read for ZipReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let count = self.title.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let (count, input) = match std::mem::replace(&mut self.at, At::End) {
                At::End => return Ok(0),
                At::Header(input) => {
                    self.at = self.header(input)?;
                    continue;
                }
                At::Stored(mut data) => match data.read(buffer)? {
                    0 => (0, data.into_inner()),
                    count => {
                        self.at = At::Stored(data);
                        (count, Box::new(io::empty()) as Compressed)
                    }
                },
                At::Deflated(mut data) => match data.read(buffer)? {
                    0 => (0, data.into_inner()),
                    count => {
                        self.at = At::Deflated(data);
                        (count, Box::new(io::empty()) as Compressed)
                    }
                },
            };
            if count == 0 {
                self.at = At::Header(input);
                continue;
            }
            self.crc.update(&buffer[..count]);
            if !self.is_skipped {
                return Ok(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{LoadError, Source};

    /// An archive as `zip` writes it; `streamed` puts checksums after the data.
    fn zip(files: &[(&str, &[u8])], method: u16, streamed: bool) -> Vec<u8> {
        let mut archive = Vec::new();
        for (name, data) in files {
            let mut crc = Crc::new();
            crc.update(data);
            let mut packed = Vec::new();
            if method == 8 {
                let deflater = flate2::bufread::DeflateEncoder::new(*data, flate2::Compression::fast());
                { deflater }.read_to_end(&mut packed).unwrap();
            } else {
                packed.extend(*data);
            }
            let ends = [crc.sum(), packed.len() as u32, data.len() as u32].map(u32::to_le_bytes).concat();
            archive.extend(FILE);
            archive.extend([20, 0, if streamed { 8 } else { 0 }, 0]);
            archive.extend(method.to_le_bytes());
            archive.extend([0; 4]);
            archive.extend(if streamed { vec![0; 12] } else { ends.clone() });
            archive.extend([name.len() as u8, 0, 0, 0]);
            archive.extend(name.as_bytes());
            archive.extend(&packed);
            if streamed {
                archive.extend(CHECKSUM);
                archive.extend(ends);
            }
        }
        archive.extend(CONTENTS);
        archive.extend([0; 42]);
        archive
    }

    fn unzip(archive: &[u8]) -> Result<Vec<u8>, LoadError> {
        Source::open(Box::new(io::Cursor::new(archive.to_vec())))?.read_all()
    }

    #[test]
    fn the_only_file_of_an_archive_is_read() {
        let text = b"main;work 3\n".repeat(10_000);
        for (method, streamed) in [(0, false), (8, false), (8, true)] {
            let archive =
                zip(&[("a/", b""), ("a/stacks.txt", &text), ("__MACOSX/._x", b"junk")], method, streamed);
            assert_eq!(unzip(&archive).unwrap(), text, "{method}, {streamed}");
        }
        let nested = zip(&[("b.zip", &zip(&[("stacks.txt", &text)], 8, true))], 0, false);
        let mut source = Source::open(Box::new(io::Cursor::new(nested))).unwrap();
        assert_eq!((source.read_all().unwrap(), source.encoding()), (text, &["zip", "zip"][..]));
    }

    #[test]
    fn the_files_of_a_recording_are_read_as_one() {
        let files: [(&str, &[u8]); 4] = [
            ("Stats.txt", b"Samples: 2"),
            ("minidump.dmp", b"junk"),
            ("Symbols.txt", b"sym1\n"),
            ("Version 0.82 required", b"0.82"),
        ];
        let text = b"\x1CVery Sleepy: Stats.txt\nSamples: 2\n\x1CVery Sleepy: Symbols.txt\nsym1\n";
        for (method, streamed) in [(0, false), (8, true)] {
            assert_eq!(unzip(&zip(&files, method, streamed)).unwrap(), text);
        }
    }

    #[test]
    fn other_archives_are_refused() {
        let text = b"main;work 3\n".repeat(10_000);
        let error = |archive: &[u8]| unzip(archive).unwrap_err().to_string();
        let several = zip(&[("a.txt", &text), ("b.txt", &text)], 8, true);
        let message = "zip: the archive has several files; extract it and pass the profile inside";
        assert_eq!(error(&several), message);
        assert_eq!(error(&zip(&[("a/", b"")], 0, false)), "zip: the archive has no files");
        let one = zip(&[("a.txt", &text)], 8, false);
        let mut encrypted = one.clone();
        encrypted[6] = 1;
        assert_eq!(error(&encrypted), "zip: the archive is encrypted; extract it first");
        let mut other = one.clone();
        other[8] = 12;
        assert_eq!(error(&other), "zip: the archive uses an unknown compression; extract it first");
        let mut wrong = one.clone();
        wrong[14] ^= 1;
        assert!(error(&wrong).contains("the checksum is wrong"), "{}", error(&wrong));
        for length in 5..one.len() - 46 {
            let error = error(&one[..length]);
            assert!(
                error.contains("file is truncated: the compressed stream is incomplete"),
                "{length}: {error}"
            );
        }
    }
}
