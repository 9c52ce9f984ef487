//! `--anonymize`: names replaced by hashes, so that a profile can be shared publicly.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::profile::{Function, LabelSets, LabelValue, Mapping, Profile, StringId, Symbols};

/// Replaces the names of functions, files and binaries, build ids, and the text of labels by hashes of
/// `salt` and the name. Equal names get equal hashes in every profile, so profiles that were anonymised with
/// the same salt can still be compared. Comments and the patterns of frames to drop are removed.
///
/// Label keys, numbers, units and metrics are kept. Without a secret salt, anyone who guesses a name can check
/// the guess.
pub fn anonymize(profile: &Profile, salt: &str) -> Profile {
    let hasher = Hasher { salt };
    let mut symbols = Symbols::clone(&profile.symbols);
    let functions = profile.symbols.functions.map(|function| {
        let name = hasher.replace(&mut symbols, function.name, "f_");
        let file = hasher.replace(&mut symbols, function.file, "file_");
        Function { name, file, ..*function }
    });
    let mappings = profile.symbols.mappings.map(|mapping| {
        let file = hasher.replace(&mut symbols, mapping.file, "binary_");
        let build_id = hasher.replace(&mut symbols, mapping.build_id, "");
        Mapping { file, build_id, ..*mapping }
    });
    let label_sets = hasher.labels(profile, &mut symbols);
    symbols.functions = functions;
    symbols.mappings = mappings;
    let mut anonymous =
        Profile { symbols: Arc::new(symbols), label_sets: Arc::new(label_sets), ..profile.clone() };
    anonymous.meta.comments.clear();
    anonymous.meta.drop_frames.clear();
    anonymous.meta.keep_frames.clear();
    // Notes name scripts.
    anonymous.meta.notes.clear();
    anonymous.meta.sources.clear();
    anonymous
}

/// What stands for the name of an input, which may be the path of a customer's folder: `input_` and its hash.
pub fn anonymous_input(name: &str, salt: &str) -> String {
    format!("input_{}", Hasher { salt }.hash(name))
}

struct Hasher<'a> {
    salt: &'a str,
}

impl Hasher<'_> {
    /// The replacement for the string `id`; it starts with `kind`. The empty string stays empty.
    fn replace(&self, symbols: &mut Symbols, id: StringId, kind: &str) -> StringId {
        if id == StringId::default() {
            return id;
        }
        let new = format!("{kind}{}", self.hash(symbols.strings.get(id)));
        symbols.strings.intern(&new)
    }

    /// The first 64 bits of the hash. With a million names, a collision occurs in one of 37 million profiles.
    fn hash(&self, text: &str) -> String {
        // The length prefix separates salt and text: "ab" + "c" must not equal "a" + "bc".
        let mut hash = Sha256::new();
        hash.update((self.salt.len() as u64).to_le_bytes());
        hash.update(self.salt.as_bytes());
        hash.update(text.as_bytes());
        let digits = hash.finalize()[..8].iter().fold(0u64, |digits, &byte| digits << 8 | u64::from(byte));
        format!("{digits:016x}")
    }

    fn labels(&self, profile: &Profile, symbols: &mut Symbols) -> LabelSets {
        let mut replaced = LabelSets::clone(&profile.label_sets);
        replaced.map_values(|value| match value {
            LabelValue::Text(text) => LabelValue::Text(self.replace(symbols, text, "v_")),
            number @ LabelValue::Number(..) => number,
        });
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn equal_names_get_equal_hashes_and_another_salt_gives_others() {
        let profile = from_notation("main;a@a.c:1 3 {user=anna bytes=4096}\nmain;main 2 {user=anna}");
        let anonymous = anonymize(&profile, "salt");
        let names = |profile: &Profile| -> Vec<String> {
            profile.symbols.frames.ids().map(|frame| profile.symbols.frame_name(frame).to_string()).collect()
        };
        assert!(names(&anonymous).iter().all(|name| name.len() == 18 && name.starts_with("f_")));
        assert_eq!(names(&anonymous), names(&anonymize(&profile, "salt")));
        assert_ne!(names(&anonymous), names(&anonymize(&profile, "")));
        let drawing = to_notation(&anonymous);
        assert!(drawing.contains("bytes=4096") && drawing.contains("user=v_"), "{drawing}");
        for gone in ["main", "anna", "a.c"] {
            assert!(!drawing.contains(gone), "{drawing}");
        }
        let hash = Hasher { salt: "" }.hash("main");
        assert_eq!(hash, Hasher { salt: "" }.hash("main"));
        assert_ne!(Hasher { salt: "ab" }.hash("c"), Hasher { salt: "a" }.hash("bc"));
    }
}
