//! Checking whether a binary is the recorded one, using the names that the profile already has for some of its
//! addresses.

use std::collections::BTreeMap;

use crate::binary::CodePlace;
use crate::name::{identifiers, normalized};
use crate::profile::{FunctionId, MappingId, Profile};

/// The functions that a profile names, by mapping and address. An address has several if calls were inlined.
pub type NamedAddresses = BTreeMap<MappingId, BTreeMap<u64, Vec<FunctionId>>>;

/// The addresses for which the profile has names.
pub fn named_addresses(profile: &Profile) -> NamedAddresses {
    let symbols = &profile.symbols;
    let unnamed = symbols.unnamed_frames();
    let mut named = NamedAddresses::new();
    for (_, frame) in symbols.frames.enumerate().filter(|&(id, frame)| frame.address != 0 && !unnamed[id]) {
        let functions = named.entry(frame.mapping).or_default().entry(frame.address).or_default();
        if !functions.contains(&frame.function) {
            functions.push(frame.function);
        }
    }
    named
}

/// How the names in a binary differ from those in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The number of addresses that both have a name for.
    pub compared: usize,
    /// The number of these at which the names differ.
    pub different: usize,
    /// The first such address.
    pub address: u64,
    /// The name in the profile.
    pub recorded: String,
    /// The name in the binary.
    pub found: String,
}

/// Compares the names in a profile with those in a binary at the same addresses. `None` if at least half of them
/// agree: a few may differ even in the right binary, because a function can have several names (`malloc`,
/// `__libc_malloc`).
pub fn contradiction<'a>(
    addresses: impl Iterator<Item = (u64, Vec<&'a str>, &'a [CodePlace])>,
) -> Option<Contradiction> {
    let mut compared = 0;
    let mut different = 0;
    let mut first = None;
    for (address, names, places) in addresses {
        let (Some(name), Some(place)) = (names.first(), places.first()) else { continue };
        compared += 1;
        let is_known = |name: &str| places.iter().any(|place| is_same_function(name, &place.function));
        if !names.iter().any(|name| is_known(name)) {
            different += 1;
            first.get_or_insert_with(|| (address, name.to_string(), place.function.clone()));
        }
    }
    let (address, recorded, found) = first.filter(|_| different * 2 > compared)?;
    Some(Contradiction { compared, different, address, recorded, found })
}

/// Whether two names, written by different tools, can refer to the same function: `qsort` and
/// `std::qsort(int*)`, `memcpy` and `__memcpy_avx`.
fn is_same_function(a: &str, b: &str) -> bool {
    /// Shorter words occur within others by chance.
    const TELLING: usize = 4;
    let [a, b] = [a, b].map(normalized);
    let last = |name: &str| identifiers(name).last().unwrap_or(name).trim_matches('_').to_string();
    let (a, b) = (last(&a), last(&b));
    let is_within = |part: &str, whole: &str| part.len() >= TELLING && whole.contains(part);
    a == b || is_within(&a, &b) || is_within(&b, &a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(function: &str) -> CodePlace {
        CodePlace { function: function.into(), ..CodePlace::default() }
    }

    #[test]
    fn names_of_one_function_agree_however_they_are_written() {
        for (a, b) in [
            ("qsort", "std::qsort(int*, int*)"),
            ("memcpy", "__memcpy_avx_unaligned"),
            ("work", "work.constprop.0"),
            ("shop::price::h0123456789abcdef", "shop::price"),
            ("main.(*Cart[int]).Add", "main.(*Cart[go.shape.int]).Add"),
        ] {
            assert!(is_same_function(a, b) && is_same_function(b, a), "{a} {b}");
        }
        for (a, b) in [("read", "write"), ("get", "forget"), ("shop::price", "shop::total")] {
            assert!(!is_same_function(a, b) && !is_same_function(b, a), "{a} {b}");
        }
    }

    #[test]
    fn most_names_must_agree() {
        let [order, main] = [[place("order")], [place("main")]];
        let compare = |rows: &[(&'static str, &'static [&'static str])]| {
            let rows: Vec<(u64, Vec<&str>, Vec<CodePlace>)> = rows
                .iter()
                .zip(1..)
                .map(|((name, places), at)| {
                    (at, vec![*name], places.iter().map(|name| place(name)).collect())
                })
                .collect();
            contradiction(rows.iter().map(|(at, names, places)| (*at, names.clone(), &places[..])))
        };
        assert_eq!(compare(&[("order", &["order"]), ("sort", &["main"])]), None);
        // What the binary has no name for says nothing.
        assert_eq!(compare(&[("order", &[]), ("sort", &[])]), None);
        let found = compare(&[("order", &["order"]), ("sort", &["main"]), ("read", &["write", "main"])]);
        let want = Contradiction {
            compared: 3,
            different: 2,
            address: 2,
            recorded: "sort".into(),
            found: "main".into(),
        };
        assert_eq!(found, Some(want));
        // Where calls were inlined, one name is enough.
        let names = vec![(7, vec!["mix", "order"], &order[..]), (8, vec!["main"], &main[..])];
        assert_eq!(contradiction(names.into_iter()), None);
    }
}
