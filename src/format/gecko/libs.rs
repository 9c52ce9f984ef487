//! The libraries of a profile.

use crate::format::ParseError;
use crate::format::json::{Json, Kind};
use crate::profile::{Addresses, Mapping, MappingId, ProfileBuilder};

/// Libraries, in the order of the file.
#[derive(Default)]
pub(super) struct Libs {
    libs: Vec<Lib>,
    /// Indexes of the libraries whose addresses are known, by start address.
    by_start: Vec<usize>,
}

#[derive(Default)]
struct Lib {
    mapping: MappingId,
    /// Its start address in memory; only raw profiles have it.
    start: u64,
    end: u64,
    offset: u64,
}

impl Libs {
    /// Reads a list of libraries; in the oldest profiles, it is a string that contains JSON.
    pub(super) fn read(json: &mut Json, builder: &mut ProfileBuilder) -> Result<Libs, ParseError> {
        if json.kind()? == Kind::String {
            let text = json.string()?;
            return Libs::read(&mut Json::new(super::NAME, text.as_bytes()), builder);
        }
        let mut libs = Libs::default();
        json.array()?;
        while json.element()? {
            libs.libs.push(read_lib(json, builder)?);
        }
        libs.by_start = (0..libs.libs.len()).filter(|&lib| libs.libs[lib].end > 0).collect();
        libs.by_start.sort_by_key(|&lib| libs.libs[lib].start);
        Ok(libs)
    }

    /// The mapping of library number `lib`.
    pub(super) fn mapping(&self, lib: usize) -> MappingId {
        self.libs.get(lib).map_or(MappingId::default(), |lib| lib.mapping)
    }

    /// The mapping that contains `address`, and the address relative to its start. An address outside all known libraries
    /// is returned unchanged.
    pub(super) fn find(&self, address: u64) -> (MappingId, u64) {
        let after = self.by_start.partition_point(|&lib| self.libs[lib].start <= address);
        let lib = after.checked_sub(1).map(|at| &self.libs[self.by_start[at]]);
        match lib.filter(|lib| address < lib.end) {
            Some(lib) => (lib.mapping, (address - lib.start).saturating_add(lib.offset)),
            None => (MappingId::default(), address),
        }
    }
}

fn read_lib(json: &mut Json, builder: &mut ProfileBuilder) -> Result<Lib, ParseError> {
    let mut lib = Lib::default();
    let (mut name, mut path, mut debug_name, mut code_id, mut breakpad_id) = Default::default();
    let address = |json: &mut Json| json.number_if_any().map(|number| number.unwrap_or(0.0) as u64);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "name" => name = json.text_if_any()?.unwrap_or_default(),
            "path" => path = json.text_if_any()?.unwrap_or_default(),
            "debugName" => debug_name = json.text_if_any()?.unwrap_or_default(),
            "codeId" => code_id = json.text_if_any()?.unwrap_or_default(),
            "breakpadId" => breakpad_id = json.text_if_any()?.unwrap_or_default(),
            "start" => lib.start = address(json)?,
            "end" => lib.end = address(json)?,
            "offset" => lib.offset = address(json)?,
            _ => json.skip()?,
        }
    }
    // A Breakpad id is the build id followed by a digit for its age. On Linux, it contains only half of the build id.
    // On Windows it identifies the PDB file: 32 digits and the age.
    let is_pdb = debug_name.to_ascii_lowercase().ends_with(".pdb");
    let of_pdb = breakpad_id.get(..32).filter(|_| is_pdb);
    let build_id = if let Some(of_pdb) = of_pdb {
        of_pdb
    } else if code_id.is_empty() {
        breakpad_id.get(..breakpad_id.len().saturating_sub(1)).unwrap_or_default()
    } else {
        &code_id
    };
    let file = builder.string(if path.is_empty() { &name } else { &path });
    let build_id = builder.string(&build_id.to_ascii_lowercase());
    lib.mapping =
        builder.mapping(Mapping { file, build_id, addresses: Addresses::Image, ..Mapping::default() });
    Ok(lib)
}
