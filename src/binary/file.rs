//! Binaries: reading their headers and locating the addresses of a profile.

use std::borrow::Cow;
use std::io::Read;

use object::{Architecture, CompressionFormat, File, Object, ObjectSection, ObjectSegment, ReadRef};

use crate::binary::build_id::BuildId;
use crate::binary::place::Address;
use crate::name::base_name;

/// A program, a library, or the debug information of one.
pub struct Binary<'data, R: ReadRef<'data>> {
    pub(super) file: File<'data, R>,
    pub(super) segments: Segments,
}

/// The parts of the file that are loaded into memory.
#[derive(Clone, Debug)]
pub(super) struct Segments(Vec<Segment>);

/// A part of the file that is loaded into memory.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: u64,
    /// Its offset and size in the file.
    offset: u64,
    size: u64,
    is_code: bool,
}

impl Segments {
    /// The address, in the linker's address space, of what is at an offset in the file.
    pub(super) fn linked(&self, offset: u64) -> Option<u64> {
        let holds = |segment: &&Segment| {
            offset.checked_sub(segment.offset).is_some_and(|within| within < segment.size)
        };
        let code = self.0.iter().filter(|segment| segment.is_code).find(holds);
        let segment = code.or_else(|| self.0.iter().find(holds))?;
        segment.address.checked_add(offset - segment.offset)
    }
}

impl<'data, R: ReadRef<'data>> Binary<'data, R> {
    /// Reads the headers. The error says why the file is not a binary.
    pub fn parse(data: R) -> Result<Self, String> {
        let file = File::parse(data).map_err(|error| error.to_string())?;
        let segments = file.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            let is_code = segment.permissions().executable();
            Segment { address: segment.address(), offset, size, is_code }
        });
        let segments = Segments(segments.collect());
        let mut binary = Binary { file, segments };
        if !binary.has_code() {
            // A file with separate debug information has the headers of the original, but different offsets.
            binary.segments.0.clear();
        }
        Ok(binary)
    }

    /// The build id, if the linker wrote one.
    pub fn build_id(&self) -> Option<BuildId> {
        let elf = || self.file.build_id().ok().flatten().and_then(BuildId::new);
        let mach = || self.file.mach_uuid().ok().flatten().and_then(|id| BuildId::new(&id));
        let pe = || self.file.pdb_info().ok().flatten().and_then(|pdb| BuildId::new(&pdb.guid()));
        elf().or_else(mach).or_else(pe)
    }

    /// Whether the file contains the code. Separate debug information has the headers of code sections, but not their
    /// bytes.
    pub fn has_code(&self) -> bool {
        let is_here = |section: object::Section<'data, '_, R>| {
            section.kind() == object::SectionKind::Text
                && section.file_range().is_some_and(|(_, size)| size > 0)
        };
        self.file.sections().any(is_here)
    }

    /// Whether it has line information.
    pub fn has_lines(&self) -> bool {
        [".debug_info", ".zdebug_info"].iter().any(|name| self.section_named(name).is_some())
    }

    /// The name of the file that debug information was moved to (`.gnu_debuglink`), or of the PDB file.
    pub fn debug_link(&self) -> Option<String> {
        let link = self.file.gnu_debuglink().ok().flatten().map(|(name, _checksum)| name);
        let pdb = || self.file.pdb_info().ok().flatten().map(|pdb| pdb.path().to_vec());
        let name = link.map(<[u8]>::to_vec).or_else(pdb)?;
        // Linkers write the whole path of a PDB file, which is one on another machine.
        let name = String::from_utf8_lossy(&name);
        Some(base_name(&name).to_string())
    }

    /// The path and build id of the file with debug information that several files share (`.gnu_debugaltlink`).
    pub fn common_link(&self) -> Option<(String, BuildId)> {
        let (path, id) = self.file.gnu_debugaltlink().ok().flatten()?;
        Some((String::from_utf8_lossy(path).into_owned(), BuildId::new(id)?))
    }

    pub(super) fn is_little_endian(&self) -> bool {
        self.file.is_little_endian()
    }

    /// An address relative to the start of the program in memory. `None` if no part of the file has it.
    pub fn image_offset(&self, address: Address) -> Option<u32> {
        u32::try_from(self.linked(address)?.checked_sub(self.file.relative_address_base())?).ok()
    }

    /// The address in the linker's address space. `None` if no part of the file has it.
    pub(super) fn linked(&self, address: Address) -> Option<u64> {
        let linked = match address {
            Address::Linked(address) => address,
            Address::Image(address) => self.image_base().checked_add(address)?,
            Address::File(offset) => self.segments.linked(offset)?,
        };
        // The lowest bit is the instruction set of the function, not part of the address.
        let is_marked = matches!(self.file.architecture(), Architecture::Arm);
        Some(if is_marked { linked & !1 } else { linked })
    }

    /// The address that addresses in Firefox profiles are relative to: the start of the code in Mach-O, the preferred
    /// base address in PE, and 0 in ELF regardless of its first segment.
    fn image_base(&self) -> u64 {
        let is_text = |segment: &object::Segment<'data, '_, R>| segment.name() == Ok(Some("__TEXT"));
        let text = self.file.segments().find(is_text).map(|segment| segment.address());
        text.unwrap_or_else(|| self.file.relative_address_base())
    }

    /// The decompressed contents of a section; empty if it is missing or corrupt.
    pub(super) fn section(&self, name: &str) -> Cow<'data, [u8]> {
        let compressed = self.section_named(name).and_then(|section| section.compressed_data().ok());
        let Some(compressed) = compressed else { return Cow::Borrowed(&[]) };
        let inflate = |reader: &mut dyn Read| {
            let mut bytes = Vec::new();
            // Decompress at most the size in the header, and allocate memory only as data arrives.
            let read = reader.take(compressed.uncompressed_size).read_to_end(&mut bytes);
            Cow::Owned(if read.is_ok() { bytes } else { Vec::new() })
        };
        match compressed.format {
            CompressionFormat::None => Cow::Borrowed(compressed.data),
            CompressionFormat::Zlib => inflate(&mut flate2::read::ZlibDecoder::new(compressed.data)),
            CompressionFormat::Zstandard => match ruzstd::decoding::StreamingDecoder::new(compressed.data) {
                Ok(mut decoder) => inflate(&mut decoder),
                Err(_) => Cow::Borrowed(&[]),
            },
            _ => Cow::Borrowed(&[]),
        }
    }

    /// The symbol table of internal functions that Fedora and others leave in stripped binaries: a small ELF file, packed
    /// with xz (`.gnu_debugdata`).
    pub(super) fn mini_debug_info(&self) -> Option<Vec<u8>> {
        /// No more is unpacked: real ones have a few megabytes.
        const MOST: u64 = 256 << 20;
        /// What unpacking may take itself: xz uses 64 MiB at most, unless told otherwise.
        const MOST_KIB: u32 = 128 << 10;
        let packed = self.section(".gnu_debugdata");
        if packed.is_empty() {
            return None;
        }
        let reader = lzma_rust2::XzReader::new_mem_limit(&*packed, false, MOST_KIB);
        let mut bytes = Vec::new();
        reader.take(MOST).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn section_named(&self, name: &str) -> Option<object::Section<'data, '_, R>> {
        self.file.section_by_name(name)
    }
}
