//! Build ids: what a linker writes into a binary to identify it.

use std::fmt::{self, Write};

/// The build id of a binary: the GNU build id of ELF, the UUID of Mach-O.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BuildId(Vec<u8>);

impl BuildId {
    /// The id of these bytes; `None` if there are none, or zeros only.
    pub(crate) fn new(bytes: &[u8]) -> Option<BuildId> {
        bytes.iter().any(|&byte| byte != 0).then(|| BuildId(bytes.to_vec()))
    }

    /// Its first half in Breakpad's form: a GUID, whose first three parts are little-endian.
    fn breakpad(&self) -> String {
        let mut guid = self.0.clone();
        guid.resize(16, 0);
        guid[0..4].reverse();
        guid[4..6].reverse();
        guid[6..8].reverse();
        BuildId(guid).to_string()
    }
}

/// Lower-case hexadecimal.
impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whether `claimed`, the id in a profile, is the id of a binary. `perf` pads short ids with zeros, and Firefox
/// profiles may use Breakpad's form.
pub fn same_build_id(claimed: &str, id: &BuildId) -> bool {
    let mut plain = String::new();
    for c in claimed.chars().filter(|c| *c != '-') {
        let _ = plain.write_char(c.to_ascii_lowercase());
    }
    let id_text = id.to_string();
    let filling = plain.strip_prefix(&*id_text);
    filling.is_some_and(|rest| rest.bytes().all(|byte| byte == b'0')) || plain == id.breakpad()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_in_all_their_forms() {
        let id = BuildId::new(&[0x0b, 0x1c, 0x2d, 0x3e, 0x4f, 0x50, 0x61, 0x72, 0x83]).unwrap();
        for same in [
            "0b1c2d3e4f50617283",
            "0B1C2D3E4F50617283",
            "0b1c2d3e4f5061728300000000000000",
            "3e2d1c0b504f72618300000000000000",
        ] {
            assert!(same_build_id(same, &id), "{same}");
        }
        for other in ["", "0b1c2d3e4f506172", "0b1c2d3e4f5061728301", "go/abc"] {
            assert!(!same_build_id(other, &id), "{other}");
        }
        assert_eq!(BuildId::new(&[0; 20]), None);
    }
}
