//! What async-profiler adds to the names of Java's methods with its option `-a`: how each was compiled.
//!
//! ```text
//! Main.main_[0];Shop.pay_[j];Shop.sum_[i] 12
//! ```

use hashbrown::HashMap;

use crate::profile::Profile;
use crate::unit::{group_thousands, plural};

/// Interpreted, compiled by C1 and by C2, and inlined.
const MARKS: [&str; 4] = ["_[0]", "_[1]", "_[j]", "_[i]"];

/// A note if some method has several of these marks, and so several rows. The names stay as they are: the marks tell the rows apart.
pub(super) fn note_of_marks(profile: &Profile) -> Option<String> {
    let mut rows: HashMap<&str, u64> = HashMap::new();
    for id in profile.symbols.functions.ids() {
        let name = profile.symbols.function_name(id);
        if let Some(method) = MARKS.iter().find_map(|mark| name.strip_suffix(mark)) {
            *rows.entry(method).or_default() += 1;
        }
    }
    let several = rows.values().filter(|&&rows| rows > 1).count();
    let methods = plural(several as u64, "method has", "methods have");
    (several > 0).then(|| {
        format!(
            "{} {methods} several rows, one for each way of running it that async-profiler adds to its name \
             (`_[0]` interpreted, `_[1]` C1, `_[j]` compiled, `_[i]` inlined); --rename '_\\[[01ij]\\]$=' makes them one",
            group_thousands(several as i128)
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::format::{Source, load, named};
    use crate::profile::LoadOptions;

    #[test]
    fn methods_with_several_rows_are_counted() {
        let notes = |text: &str| {
            let source = &mut Source::from_bytes(text.into());
            load(source, LoadOptions::default(), named("collapsed")).unwrap().meta.notes
        };
        let several = notes("a_[0];f_[j];g_[i] 1\na_[j];f_[1] 2\na_[0];g_[i] 1\nread_[k];read 1\n");
        assert!(several[0].starts_with("2 methods have several rows"), "{several:?}");
        assert_eq!(notes("a_[0];f_[j] 1\na_[0];g_[k];g 2\n"), [""; 0]);
    }
}
