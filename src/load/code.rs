//! Finds the binary of a function and disassembles it.

use std::fmt;
use std::path::PathBuf;

use crate::binary::{self, Address, NoCode};
use crate::load::Symbols;
use crate::load::binaries::{Binaries, Search, is_file_path};
use crate::load::symbols::contradiction_of;
use crate::profile::Profile;
use crate::transform::address_in_file;
use crate::view::{BinaryCode, CodeSpot};

/// Why the code of a function cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeError {
    /// The code is in no file: generated while the program ran, or the kernel's.
    NoFile(String),
    /// The binary is not on this machine.
    Missing(String),
    /// The binary on this machine is another build; the reason.
    OtherBuild(String),
    /// Without a build ID in the profile, nothing proves that this file is the binary that was recorded.
    Unproven(String),
    /// The binary has nothing to show.
    NoCode(PathBuf, NoCode),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeError::NoFile(name) if name.is_empty() => f.write_str("the profile does not name its binary"),
            CodeError::NoFile(name) => write!(f, "its code is in {name}, which is not a file"),
            CodeError::Missing(file) => write!(f, "its binary {file} is not found"),
            CodeError::OtherBuild(why) => f.write_str(why),
            CodeError::Unproven(file) => {
                write!(
                    f,
                    "without a build ID in the profile, nothing proves that {file} is the binary that was recorded"
                )
            }
            CodeError::NoCode(file, why) => write!(f, "{}: {why}", file.display()),
        }
    }
}

/// Disassembles the functions at some spots of one binary of a profile, which is found as for [`Symbols`].
pub fn code(profile: &Profile, symbols: &Symbols, spots: &[CodeSpot]) -> Result<BinaryCode, CodeError> {
    let Some(&(mapping, _)) = spots.first() else { return Ok(BinaryCode::default()) };
    let row = profile.symbols.mappings[mapping];
    let [file, build_id] = [row.file, row.build_id].map(|text| profile.symbols.strings.get(text));
    if !is_file_path(file) && (build_id.is_empty() || !file.is_empty()) {
        return Err(CodeError::NoFile(file.to_string()));
    }
    let places = symbols.binaries.iter().chain(&symbols.folders).cloned().collect();
    let files = match Binaries::new(places).find(file, build_id) {
        Search::Found { files, is_proven } => {
            if !is_proven && let Some(why) = contradiction_of(&files, profile, spots) {
                return Err(CodeError::OtherBuild(why));
            }
            files
        }
        Search::Other { path, id } => {
            let id = id.map_or("none".to_string(), |id| id.to_string());
            return Err(CodeError::OtherBuild(format!(
                "{} is another build than the one recorded: its build ID is {id}, in the profile it is {build_id}",
                path.display()
            )));
        }
        Search::Unproven => return Err(CodeError::Unproven(file.to_string())),
        Search::Missing => return Err(CodeError::Missing(file.to_string())),
    };
    let addresses: Vec<Address> = spots
        .iter()
        .map(|&(mapping, address)| {
            let mapping = &profile.symbols.mappings[mapping];
            // No address of a file is as large.
            address_in_file(mapping, address).unwrap_or(Address::File(u64::MAX))
        })
        .collect();
    let code = files
        .with_debug_files(|binary, debug| binary::code(binary, debug, &addresses))
        .ok_or_else(|| CodeError::Missing(file.to_string()))?
        .map_err(|why| CodeError::NoCode(files.binary.clone(), why))?;
    Ok(BinaryCode { path: files.binary.display().to_string(), code })
}
