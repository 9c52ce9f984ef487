//! Matching functions by their names.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};

use super::places::{MOST_COMPARED, best_in_order, pair_within_files};
use super::pool::{EntryId, Pool, grouped};
use super::{MatchMethod, MatchingState};
use crate::name::{identifiers, is_anonymous, without_hash, without_numbers};

/// Pairs functions in different files or packages whose name is unique among the remaining functions of both sides.
pub(super) fn pair_relocated(pairs: &mut MatchingState<'_>) {
    let found = unique_on_both_sides(pairs, |pool, entry| {
        let row = pool.get(entry);
        if row.by_place {
            return (!is_anonymous(&row.name)).then(|| (true, row.name.to_string()));
        }
        let (_, local) = split_package(pool.normalized(entry))?;
        Some((false, local))
    });
    if found.is_empty() {
        return;
    }
    // Several functions that moved between the same two packages or files support each other.
    let moves = |pairs: &MatchingState<'_>, (old, new): (EntryId, EntryId)| {
        (origin(pairs.old, old), origin(pairs.new, new))
    };
    let mut together: HashMap<(String, String), usize> = HashMap::new();
    for &pair in &found {
        *together.entry(moves(pairs, pair)).or_default() += 1;
    }
    let (old_origins, new_origins) = (origins(pairs.old), origins(pairs.new));
    let mut files = HashMap::new();
    for (old, new) in found {
        let (from, to) = moves(pairs, (old, new));
        // A function of the runtime did not become one of the program, whatever both are called.
        if from == to || pairs.old.may_be_renamed(old) != pairs.new.may_be_renamed(new) {
            continue;
        }
        let supported = together[&(from.clone(), to.clone())] >= SUPPORT;
        if !supported && pairs.similarity(old, new) < LEAST_SIMILARITY_OF_A_NAME {
            continue;
        }
        // If one namespace was removed and another of the same depth was added, it was renamed. Packages are folders, which
        // move.
        let depth = |origin: &str| identifiers(origin).count();
        let is_renamed = !pairs.old.get(old).by_place
            && pairs.old.get(old).name.contains("::")
            && depth(&from) == depth(&to)
            && !new_origins.contains(&from)
            && !old_origins.contains(&to);
        pairs.pair(old, new, if is_renamed { MatchMethod::Renamed } else { MatchMethod::Relocated }, 1.0);
        if pairs.old.get(old).by_place && !new_origins.contains(&from) {
            files.insert(from, to);
        }
    }
    // Functions without a name moved with their file.
    pair_within_files(pairs, &files);
}

/// This many functions that moved from one place to another need no further evidence.
const SUPPORT: usize = 3;

/// The minimum similarity of functions with a unique name; renamed functions need more.
const LEAST_SIMILARITY_OF_A_NAME: f64 = 0.4;

/// The file or package that a function is in.
fn origin(pool: &Pool<'_>, entry: EntryId) -> String {
    let row = pool.get(entry);
    if row.by_place {
        return row.file.to_string();
    }
    split_package(pool.normalized(entry)).map(|(package, _)| package).unwrap_or_default()
}

fn origins(pool: &Pool<'_>) -> HashSet<String> {
    (0..pool.len()).map(|entry| origin(pool, entry)).collect()
}

/// What compilers call functions without a name, once numbers are dropped.
const CLOSURES: [&str; 5] = ["func", "closure", "lambda", "anonfun", "gowrap"];

/// Splits a normalised name into its package and the rest, which includes the type of a method:
/// `depot.text.Json.value` is `Json.value` in `depot.text`, and `main.(*server).report` is `server.report` in `main`.
fn split_package(name: &str) -> Option<(String, String)> {
    // In `memcmp@plt`, the linker's stub of a function, `plt` is no name.
    let name = name.strip_suffix("@plt").unwrap_or(name);
    let words: Vec<&str> = identifiers(name).collect();
    let has_pointers = name.contains("(*");
    let is_type = |word: &str| {
        word.starts_with(char::is_uppercase) || (has_pointers && name.contains(&format!("(*{word})")))
    };
    // A closure has no name of its own, but that of the function that it is in.
    let last = words.iter().rposition(|word| !CLOSURES.contains(word))?;
    let types = words[..last].iter().rev().take_while(|word| is_type(word)).count();
    let (package, local) = words.split_at(last - types);
    (!package.is_empty()).then(|| (package.join("."), local.join(".")))
}

/// Pairs functions whose names agree except for what compilers add.
pub(super) fn pair_normalised(pairs: &mut MatchingState<'_>) {
    let (old, new) = (pairs.old, pairs.new);
    let named = |pool: &Pool<'_>, entry: EntryId| !is_anonymous(&pool.get(entry).name);
    let old_left = pairs.old_left().into_iter().filter(|&entry| named(old, entry));
    let new_left = pairs.new_left().into_iter().filter(|&entry| named(new, entry));
    let new_groups = grouped(new_left, |entry| new.normalized(entry));
    let old_groups = grouped(old_left, |entry| old.normalized(entry));
    for group in old_groups.lists() {
        let others = new_groups.get(&old.normalized(group[0]));
        match (&group[..], others) {
            (_, []) => {}
            (&[one], &[other]) => {
                if may_be_alike(pairs, one, other) {
                    pair_alike(pairs, one, other);
                }
            }
            _ if is_numbered(pairs, group, others) => pair_numbered(pairs, group, others),
            _ => pair_best(pairs, group, others),
        }
    }
}

/// Whether some functions of both sides have one name but for the number that a compiler gave them.
fn is_numbered(pairs: &MatchingState<'_>, old: &[EntryId], new: &[EntryId]) -> bool {
    let of_old = old.iter().map(|&entry| without_numbers(&pairs.old.get(entry).name));
    let mut stems = of_old.chain(new.iter().map(|&entry| without_numbers(&pairs.new.get(entry).name)));
    match stems.next() {
        Some(first @ Cow::Owned(_)) => stems.all(|stem| stem == first),
        _ => false,
    }
}

/// Pairs such functions in the order of their numbers, which is that of the source: a new closure shifts all that follow, but
/// none gets past another.
fn pair_numbered(pairs: &mut MatchingState<'_>, old: &[EntryId], new: &[EntryId]) {
    if old.len() * new.len() > MOST_COMPARED {
        return;
    }
    let in_order = |pool: &Pool<'_>, entries: &[EntryId]| {
        let mut entries = entries.to_vec();
        entries.sort_by_cached_key(|&entry| numbers(&pool.get(entry).name));
        entries
    };
    let (old, new) = (in_order(pairs.old, old), in_order(pairs.new, new));
    let agreement = |old: EntryId, new: EntryId| {
        let is_same = pairs.old.get(old).name == pairs.new.get(new).name;
        pairs.similarity(old, new) + if is_same { SAME_NUMBER } else { 0.0 }
    };
    for (old, new) in best_in_order(&old, &new, agreement) {
        if may_be_alike(pairs, old, new) {
            pair_alike(pairs, old, new);
        }
    }
}

/// What the same number is worth, compared with the similarity of callers and callees: it decides between closures that are alike.
const SAME_NUMBER: f64 = 0.1;

/// The numbers in a name: 1 and 2 in `main.run.func1.2`.
fn numbers(name: &str) -> Vec<u64> {
    let digits = name.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
}

/// Whether functions with the same normalised name may be one. Where only `runtime.gcStart.func1` has samples on one side and
/// only `runtime.gcStart.func2` on the other one, few samples hit either: Go's runtime did not change, nor did Scala's library, of
/// which one side has `scala.collection.Iterator$$anon$10`. Other runtimes have names with addresses, which are others in each run.
///
/// Nor is `std::has_facet<std::ctype<char>>` what `std::has_facet<std::num_put<char>>` was: both are instances that each build has,
/// unless they are too heavy to be missed by chance.
fn may_be_alike(pairs: &MatchingState<'_>, old: EntryId, new: EntryId) -> bool {
    let is_light = || {
        let share = pairs.old.shares()[old].min(pairs.new.shares()[new]);
        share < LEAST_INSTANCE
    };
    // `hash_one::<&char>` below another function is not what `hash_one::<&u64>` was.
    let is_called_elsewhere = || pairs.callers_alike(old, new) < LEAST_CALLERS;
    let (old, new) = (&pairs.old.get(old).name, &pairs.new.get(new).name);
    let is_of_runtime = ["runtime.", "scala."].iter().any(|library| old.starts_with(library));
    let are_two = || are_instances_of_library(old, new) && (is_light() || is_called_elsewhere());
    old == new || !(is_of_runtime || are_two())
}

/// Instances of a library with less than this in common in their callers, from 0 to 1, are two.
const LEAST_CALLERS: f64 = 0.25;

/// A function with this share is not missed by chance.
const LEAST_INSTANCE: f64 = 0.005;

/// Whether two functions of a standard library of C++ or Rust have nothing in their names that a program defines, only types of
/// the library and built-in ones.
fn are_instances_of_library(old: &str, new: &str) -> bool {
    let is_of_library = |name: &str| {
        let name = name.trim_start_matches('<');
        LIBRARIES.iter().any(|library| name.starts_with(library))
    };
    if !is_of_library(old) || !is_of_library(new) {
        return false;
    }
    let (old, new): (HashSet<&str>, HashSet<&str>) = (types(old).collect(), types(new).collect());
    let is_number = |name: &str| name.starts_with(|c: char| c.is_ascii_digit());
    let is_known = |name: &&str| is_of_library(name) || BUILT_IN.contains(name) || is_number(name);
    old != new && old.union(&new).all(is_known)
}

/// The qualified names in a name, such as `std::vector` and `shop::Cart` in `std::vector<shop::Cart>::at`, without Rust's hash.
fn types(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')));
    // What begins with colons is a part of what precedes it.
    parts
        .filter(|part| !part.starts_with("::"))
        .map(|part| without_hash(part.trim_matches(':')))
        .filter(|part| !part.is_empty())
}

/// How the names of functions and types of standard libraries begin.
const LIBRARIES: [&str; 5] = ["std::", "core::", "alloc::", "__gnu_cxx::", "__cxxabiv1::"];

/// Types and words of C++ and Rust that stand in the arguments of templates.
const BUILT_IN: [&str; 36] = [
    "as", "bool", "char", "char16_t", "char32_t", "char8_t", "const", "double", "dyn", "f32", "f64", "false",
    "float", "i128", "i16", "i32", "i64", "i8", "int", "isize", "long", "mut", "short", "signed", "str",
    "true", "u128", "u16", "u32", "u64", "u8", "unsigned", "usize", "void", "volatile", "wchar_t",
];

/// Pairs functions with the same normalised name, the best pairs first, as long as they agree well enough.
fn pair_best(pairs: &mut MatchingState<'_>, old: &[EntryId], new: &[EntryId]) {
    if old.len() * new.len() > MOST_COMPARED {
        return;
    }
    let mut candidates: Vec<(f64, EntryId, EntryId)> = Vec::new();
    let (old_words, new_words) = (words_of(pairs.old, old), words_of(pairs.new, new));
    for (&one, old_words) in old.iter().zip(&old_words) {
        for (&other, new_words) in new.iter().zip(&new_words) {
            let words = old_words.overlap(new_words);
            candidates.push((pairs.similarity(one, other) + words, one, other));
        }
    }
    let name = |&(_, old, new): &(f64, EntryId, EntryId)| {
        let (old, new) = (&pairs.old.get(old).name, &pairs.new.get(new).name);
        (old.min(new), old.max(new))
    };
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| name(a).cmp(&name(b))));
    let found: Vec<_> = candidates.into_iter().filter(|candidate| candidate.0 >= LEAST_OF_BOTH).collect();
    for (_, one, other) in found {
        let is_free = pairs.of_old[one].is_none() && pairs.of_new[other].is_none();
        if is_free && may_be_alike(pairs, one, other) {
            pair_alike(pairs, one, other);
        }
    }
}

/// The minimum sum of the similarity of neighbours and of names, of at most 2.
const LEAST_OF_BOTH: f64 = 0.8;

fn pair_alike(pairs: &mut MatchingState<'_>, old: EntryId, new: EntryId) {
    let is_same = pairs.old.get(old).name == pairs.new.get(new).name;
    pairs.pair(old, new, if is_same { MatchMethod::Same } else { MatchMethod::Normalised }, 1.0);
}

/// The identifiers of a name, sorted.
pub(super) struct Words<'n>(Vec<&'n str>);

impl<'n> Words<'n> {
    pub(super) fn new(name: &'n str) -> Self {
        let mut words: Vec<&str> = identifiers(name).collect();
        words.sort_unstable();
        Words(words)
    }

    /// The fraction of identifiers that two names have in common, from 0 to 1.
    pub(super) fn overlap(&self, other: &Words<'_>) -> f64 {
        let (mut a, mut b, mut common) = (0, 0, 0_usize);
        while let (Some(one), Some(another)) = (self.0.get(a), other.0.get(b)) {
            let order = one.cmp(another);
            common += usize::from(order.is_eq());
            a += usize::from(order.is_le());
            b += usize::from(order.is_ge());
        }
        let most = self.0.len().max(other.0.len());
        if most == 0 { 0.0 } else { common as f64 / most as f64 }
    }
}

/// The identifiers of each of some functions.
pub(super) fn words_of<'p>(pool: &'p Pool<'_>, entries: &[EntryId]) -> Vec<Words<'p>> {
    entries.iter().map(|&entry| Words::new(&pool.get(entry).name)).collect()
}

/// Pairs of unmatched functions with the same key, if the key is unique on both sides.
pub(super) fn unique_on_both_sides<K: Eq + std::hash::Hash>(
    pairs: &MatchingState<'_>,
    key: impl Fn(&Pool<'_>, EntryId) -> Option<K>,
) -> Vec<(EntryId, EntryId)> {
    let old_groups = grouped(pairs.old_left(), |entry| key(pairs.old, entry));
    let new_groups = grouped(pairs.new_left(), |entry| key(pairs.new, entry));
    let mut found = Vec::new();
    for group in old_groups.lists() {
        let &[old] = &group[..] else { continue };
        let Some(key) = key(pairs.old, old) else { continue };
        if let &[new] = new_groups.get(&Some(key)) {
            found.push((old, new));
        }
    }
    found
}
