//! Names that are still as in the symbol table, because the stacks were collapsed without demangling: `_ZN4node5StartEiPPc`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::name::{demangle, is_mangled};
use crate::profile::{FunctionId, Profile};

/// Replaces the names that are mangled as a whole. With anything added, as in `_Z4workv_[k]`, a name is what somebody made
/// of it, and stays.
pub(super) fn demangle_names(profile: &mut Profile) {
    let demangled: Vec<(FunctionId, String)> = profile
        .symbols
        .functions
        .ids()
        .filter_map(|id| Some((id, demangled(profile.symbols.function_name(id))?)))
        .collect();
    if demangled.is_empty() {
        return;
    }
    let symbols = Arc::make_mut(&mut profile.symbols);
    for (id, name) in demangled {
        symbols.functions[id].name = symbols.strings.intern(&name);
    }
}

/// The name in the source, if `name` is a symbol of C++ or Rust.
fn demangled(name: &str) -> Option<String> {
    match is_mangled(name).then(|| demangle(name))? {
        Cow::Owned(demangled) => Some(demangled),
        Cow::Borrowed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::format::{Source, load, named};
    use crate::profile::{LoadOptions, to_notation};

    #[test]
    fn only_whole_symbols_are_demangled() {
        let text = "main;_ZN4node5StartEiPPc;_RNvC1a1f 1\nmain;_Z4workv_[k];x`_Z1fv;_start 2\n_ZN1a1f17h0123456789abcdefE 3\n";
        let mut source = Source::from_bytes(text.into());
        let profile = load(&mut source, LoadOptions::default(), named("collapsed")).unwrap();
        let expected = "a::f 3\nmain;_Z4workv_[k];x`_Z1fv;_start 2\nmain;node::Start(int, char**);a::f 1";
        assert_eq!(to_notation(&profile), expected);
    }
}
