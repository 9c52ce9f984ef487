//! Which functions share a colour in a flame graph.
//!
//! Own code has colours, one for each package; the standard library and the runtime have a quiet one each, so that the
//! eye finds what can be changed. Where names tell no packages, files take their place, then libraries, then the names'
//! own prefixes, so that no profile is drawn in a single colour.

use hashbrown::HashMap;

use crate::name::{base_name, is_standard_library, package, prefix, split_library, split_shown, type_of};
use crate::pattern::{FrameNames, Patterns, is_runtime};
use crate::profile::{Column, FrameId};
use crate::report::{ColorGroup, Name, Tier};
use crate::tree::{KeyId, Subject};

/// What is known about a function whose colour is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owned<'a> {
    pub(super) function: &'a str,
    /// Empty if unknown.
    pub(super) file: &'a str,
    /// The binary or library; empty if unknown.
    pub(super) mapping: &'a str,
    /// The area that the function takes in the unfiltered graph.
    pub(super) area: u64,
}

/// With more files than this, folders are groups.
const FILES: usize = 8;

/// With fewer groups than this, types or functions are groups.
const FEWEST: usize = 3;

/// The groups, those of own code first and the largest first, and the group of each function. `own` are patterns of the
/// functions that are own code; without them, it is what is not known to be a library.
pub(super) fn groups(functions: &[Owned<'_>], own: Option<&Patterns>) -> (Vec<ColorGroup>, Vec<u32>) {
    let functions: Vec<Owned<'_>> = functions.iter().map(Owned::with_place).collect();
    let tiers = match own {
        Some(own) => functions.iter().map(|function| function.tier_by(own)).collect(),
        None => tiers(&functions),
    };
    let mut names = Vec::new();
    for level in [Level::Package, Level::Type, Level::Function] {
        names = level.names(&functions, &tiers);
        let distinct: hashbrown::HashSet<&str> = names.iter().flatten().map(String::as_str).collect();
        if distinct.len() >= FEWEST {
            break;
        }
    }
    ranked(&functions, &tiers, &names)
}

/// The groups of all functions of a subject, ranked by the area that they take in its flame graph.
pub(super) fn all_groups(subject: &Subject<'_>) -> (Vec<ColorGroup>, Column<KeyId, u32>) {
    let mut area = Column::<KeyId, u64>::filled(0, subject.keys.len());
    let mut add = |key: KeyId, value: i64| area[key] = area[key].saturating_add(value.unsigned_abs());
    match &subject.calls {
        Some(calls) => subject.keys.ids().for_each(|key| add(key, calls.total(key))),
        None => {
            for (stack, &value) in subject.series[0].enumerate() {
                subject.stack_keys(stack).for_each(|key| add(key, value));
            }
        }
    }
    let (keys, functions): (Vec<KeyId>, Vec<Owned<'_>>) =
        owned(subject).map(|(key, function)| (key, Owned { area: area[key], ..function })).unzip();
    let (groups, found) = groups(&functions, None);
    let mut of = Column::filled(0, subject.keys.len());
    for (key, group) in keys.into_iter().zip(found) {
        of[key] = group;
    }
    (groups, of)
}

/// The functions of a subject, without their areas.
pub(super) fn owned<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = (KeyId, Owned<'s>)> {
    let symbols = &subject.profile.symbols;
    let frames = first_frames(subject);
    let of_key = move |key| {
        let row = subject.keys.get(key);
        let mapping = frames[key].map_or("", |frame| symbols.mapping_file(symbols.frames[frame].mapping));
        let file = row.file.as_deref().unwrap_or_default();
        (key, Owned { function: &row.function, file, mapping, area: 0 })
    };
    subject.keys.ids().map(of_key)
}

/// The first frame of every key.
pub(super) fn first_frames(subject: &Subject<'_>) -> Column<KeyId, Option<FrameId>> {
    let mut first: Column<KeyId, Option<FrameId>> = Column::filled(None, subject.keys.len());
    for frame in subject.profile.symbols.frames.ids() {
        first[subject.keys.of_frame(frame)].get_or_insert(frame);
    }
    first
}

impl<'a> Owned<'a> {
    /// Takes apart names that contain their file or library: `f (x.py:82)`, `libc.so.6.clone3`.
    fn with_place(&self) -> Owned<'a> {
        let mut found = *self;
        for place in [&mut found.file, &mut found.mapping] {
            if !is_known(place) {
                *place = "";
            }
        }
        if let Some((function, place)) = split_shown(self.function) {
            found.function = function;
            if found.file.is_empty() {
                let place = place.trim_start_matches('(').trim_end_matches(')');
                found.file = place.split(':').next().unwrap_or(place);
            }
        }
        if let Some((library, function)) = split_library(found.function) {
            (found.function, found.mapping) = (function, library);
        }
        found
    }

    /// The group of a function without a package: its file or the folder of that, else its library, else the prefix of
    /// its name.
    fn without_package(&self, by_folder: bool) -> &'a str {
        if !self.file.is_empty() {
            let folder = parent(self.file);
            return if by_folder && !folder.is_empty() { folder } else { base_name(self.file) };
        }
        if self.mapping.is_empty() { prefix(self.function) } else { base_name(self.mapping) }
    }

    /// The tier where patterns say what is own code: everything else is a library or the runtime.
    fn tier_by(&self, own: &Patterns) -> Tier {
        let names = FrameNames {
            function: self.function,
            file: self.file,
            mapping: self.mapping,
            ..FrameNames::default()
        };
        match self.tier() {
            _ if own.iter().any(|pattern| pattern.matches(names)) => Tier::Own,
            Tier::Own => Tier::Library,
            tier => tier,
        }
    }

    fn tier(&self) -> Tier {
        // `[libc.so.6]` stands for code without a name.
        let unnamed = self.function.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let mapping = unnamed.filter(|_| self.mapping.is_empty()).unwrap_or(self.mapping);
        let is_kernel = self.function.ends_with("_[k]") || mapping.contains("kernel.kallsyms");
        let is_system = SYSTEM.iter().any(|library| base_name(mapping).starts_with(library));
        // `(idle)`, `(garbage collector)`, `<unknown>`: no code.
        let is_no_code = self.function == "<unknown>"
            || (self.function.starts_with('(') && !self.function.starts_with("(anonymous"));
        if is_kernel || is_system || is_no_code || is_runtime(self.function, self.file) {
            Tier::Runtime
        } else if is_standard_library(self.function, self.file) {
            Tier::Library
        } else {
            Tier::Own
        }
    }
}

/// Libraries of the operating system.
const SYSTEM: [&str; 8] =
    ["libc.so", "libc-", "libpthread", "ld-linux", "libm.so", "libsystem_", "[vdso]", "ntdll"];

/// The tier of each function. If own code fills less than a twentieth of the graph, the library, and if need be the
/// runtime, count as own code: one grey picture would say nothing.
fn tiers(functions: &[Owned<'_>]) -> Vec<Tier> {
    let mut tiers: Vec<Tier> = functions.iter().map(Owned::tier).collect();
    let sum = |of: &dyn Fn(&Owned<'_>) -> bool| -> u128 {
        functions.iter().filter(|function| of(function)).map(|function| u128::from(function.area)).sum()
    };
    // Where files are known, a function without one is built in: `openFileHandle` in Node.js.
    if sum(&|function| !function.file.is_empty()) * 2 > sum(&|_| true) {
        for (tier, function) in tiers.iter_mut().zip(functions) {
            let is_built_in = function.file.is_empty()
                && function.mapping.is_empty()
                && package(function.function, "").is_none();
            if is_built_in && *tier == Tier::Own {
                *tier = Tier::Runtime;
            }
        }
    }
    let area = |tiers: &[Tier], wanted: Option<Tier>| -> u128 {
        let of = functions.iter().zip(tiers).filter(|(_, tier)| wanted.is_none_or(|wanted| wanted == **tier));
        of.map(|(function, _)| u128::from(function.area)).sum()
    };
    for promoted in [Tier::Library, Tier::Runtime] {
        if area(&tiers, Some(Tier::Own)) * 20 < area(&tiers, None) {
            tiers.iter_mut().filter(|tier| **tier == promoted).for_each(|tier| *tier = Tier::Own);
        }
    }
    tiers
}

/// How fine the groups of own code are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Package,
    Type,
    Function,
}

impl Level {
    /// The name of the group of each function; `None` for code that is not own.
    fn names(self, functions: &[Owned<'_>], tiers: &[Tier]) -> Vec<Option<String>> {
        let both = functions.iter().zip(tiers);
        let own: Vec<Option<&Owned<'_>>> =
            both.map(|(function, tier)| (*tier == Tier::Own).then_some(function)).collect();
        match self {
            Level::Package => by_package(&own),
            Level::Type => {
                own.iter().map(|function| function.map(|f| type_of(f.function).to_string())).collect()
            }
            Level::Function => own.iter().map(|function| function.map(|f| f.function.to_string())).collect(),
        }
    }
}

/// Whether a recorder knew a file or a binary: some write a word where they did not.
fn is_known(file: &str) -> bool {
    let word = file.trim_matches(['<', '>', '[', ']', '(', ')']);
    !word.eq_ignore_ascii_case("unknown") && !word.trim_matches('?').is_empty()
}

/// Packages, else files or their folders, else libraries, else prefixes of names.
fn by_package(own: &[Option<&Owned<'_>>]) -> Vec<Option<String>> {
    let packages: Vec<Option<String>> = own
        .iter()
        .map(|function| function.and_then(|f| package(f.function, f.file).map(std::borrow::Cow::into_owned)))
        .collect();
    let without = own.iter().zip(&packages).filter(|(_, package)| package.is_none());
    let files: hashbrown::HashSet<&str> = without
        .filter_map(|(function, _)| function.map(|f| f.file))
        .filter(|file| !file.is_empty())
        .collect();
    let by_folder = files.len() > FILES;
    let both = own.iter().zip(packages);
    both.map(|(function, package)| {
        function.map(|f| package.unwrap_or_else(|| f.without_package(by_folder).to_string()))
    })
    .collect()
}

/// Ranks the groups of own code by area. The library and the runtime are last, if there are any.
fn ranked(functions: &[Owned<'_>], tiers: &[Tier], names: &[Option<String>]) -> (Vec<ColorGroup>, Vec<u32>) {
    let mut areas: HashMap<&str, u128> = HashMap::new();
    for (function, name) in functions.iter().zip(names) {
        if let Some(name) = name {
            *areas.entry(name).or_default() += u128::from(function.area);
        }
    }
    let mut sorted: Vec<(&str, u128)> = areas.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let own = |&(name, _): &(&str, u128)| ColorGroup { name: Name::from(name), tier: Tier::Own };
    let mut groups: Vec<ColorGroup> = sorted.iter().map(own).collect();
    let rank: HashMap<&str, u32> = sorted.iter().zip(0..).map(|(&(name, _), rank)| (name, rank)).collect();
    let mut other = HashMap::new();
    for (tier, name) in [(Tier::Library, "standard library"), (Tier::Runtime, "runtime")] {
        if tiers.contains(&tier) {
            other.insert(tier, groups.len() as u32);
            groups.push(ColorGroup { name: Name::from(name), tier });
        }
    }
    let of = names.iter().zip(tiers).map(|(name, tier)| match name {
        Some(name) => rank[name.as_str()],
        None => other[tier],
    });
    let of = of.collect();
    (groups, of)
}

fn parent(path: &str) -> &str {
    path.rfind(['/', '\\']).map_or("", |at| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(functions: &[(&str, &str, &str, u64)]) -> Vec<String> {
        let owned: Vec<Owned<'_>> = functions
            .iter()
            .map(|&(function, file, mapping, area)| Owned { function, file, mapping, area })
            .collect();
        let (groups, of) = groups(&owned, None);
        let tier = |group: &ColorGroup| match group.tier {
            Tier::Own => "",
            Tier::Library => "library: ",
            Tier::Runtime => "runtime: ",
        };
        of.iter().map(|&id| &groups[id as usize]).map(|g| format!("{}{}", tier(g), g.name)).collect()
    }

    #[test]
    fn own_code_is_grouped_by_package_and_the_rest_by_tier() {
        let found = drawn(&[
            ("shop/orders.(*Ledger).Place", "/srv/orders/ledger.go", "app", 50),
            ("shop/catalog.Search", "/srv/catalog/search.go", "app", 70),
            ("main.main", "/srv/main.go", "app", 90),
            ("strings.ToLower", "/usr/local/go/src/strings/strings.go", "app", 40),
            ("runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go", "app", 30),
        ]);
        let expected =
            ["shop/orders", "shop/catalog", "main", "library: standard library", "runtime: runtime"];
        assert_eq!(found, expected);
    }

    #[test]
    fn names_that_contain_files_and_libraries_are_taken_apart() {
        let found = drawn(&[
            ("load (weather.py:82)", "", "", 9),
            ("report (report.py:3)", "", "", 8),
            ("main (app.py:1)", "", "", 7),
            ("libc.so.6.clone3", "", "", 6),
            ("do_syscall_64_[k]", "", "", 5),
        ]);
        assert_eq!(found, ["weather", "report", "app", "runtime: runtime", "runtime: runtime"]);
    }

    #[test]
    fn a_program_in_one_file_is_grouped_by_function() {
        let found = drawn(&[("f", "x.py", "", 3), ("g", "x.py", "", 2), ("h", "x.py", "", 1)]);
        assert_eq!(found, ["f", "g", "h"]);
        let classes = drawn(&[
            ("a::B::x", "", "", 1),
            ("a::B::y", "", "", 1),
            ("a::C::x", "", "", 1),
            ("a::D::z", "", "", 1),
        ]);
        assert_eq!(classes, ["a::B", "a::B", "a::C", "a::D"]);
    }

    #[test]
    fn plain_names_are_grouped_by_prefix() {
        let found = drawn(&[
            ("ssl_read", "", "", 3),
            ("ssl_write", "", "", 2),
            ("json_parse", "", "", 1),
            ("main", "", "", 9),
        ]);
        assert_eq!(found, ["ssl", "ssl", "json", "main"]);
    }

    #[test]
    fn many_files_are_grouped_by_folder() {
        let files: Vec<(String, String)> =
            (0..12).map(|n| (format!("f{n}"), format!("lib/{}/file{n}.c", ["a", "b", "c"][n % 3]))).collect();
        let rows: Vec<(&str, &str, &str, u64)> =
            files.iter().map(|(f, file)| (&**f, &**file, "", 1)).collect();
        assert_eq!(drawn(&rows)[..3], ["lib/a", "lib/b", "lib/c"]);
    }

    #[test]
    fn the_library_has_colours_where_nearly_everything_is_library() {
        let found = drawn(&[
            ("strings.ToLower", "", "", 50),
            ("bytes.Index", "", "", 40),
            ("sort.Sort", "", "", 30),
            ("main.main", "", "", 1),
        ]);
        assert_eq!(found, ["strings", "bytes", "sort", "main"]);
    }

    #[test]
    fn functions_without_a_file_are_built_in_where_files_are_known() {
        let found = drawn(&[
            ("pay", "/srv/pay.mjs", "", 50),
            ("tax", "/srv/tax.mjs", "", 50),
            ("log", "/srv/log.mjs", "", 50),
            ("openFileHandle", "", "", 5),
            ("(idle)", "", "", 5),
        ]);
        assert_eq!(found, ["pay.mjs", "tax.mjs", "log.mjs", "runtime: runtime", "runtime: runtime"]);
    }

    #[test]
    fn code_without_names_belongs_to_its_binary() {
        let found = drawn(&[
            ("[words]", "", "/bin/words", 50),
            ("[libcommon.so]", "", "/lib/libcommon.so", 40),
            ("[libwords.so]", "", "/lib/libwords.so", 30),
            ("[kernel.kallsyms]", "", "[kernel.kallsyms]", 20),
            ("malloc", "./malloc/malloc.c", "/lib/x86_64-linux-gnu/libc.so.6", 10),
        ]);
        let expected = ["words", "libcommon.so", "libwords.so", "runtime: runtime", "runtime: runtime"];
        assert_eq!(found, expected);
    }

    #[test]
    fn groups_are_ranked_by_area() {
        let owned = |function, area| Owned { function, area, ..Owned::default() };
        let functions = [owned("a.x", 1), owned("b.x", 5), owned("c.x", 3), owned("b.y", 1)];
        let (groups, _) = groups(&functions, None);
        let names: Vec<&str> = groups.iter().map(|group| &*group.name).collect();
        assert_eq!(names, ["b", "c", "a"]);
    }

    #[test]
    fn patterns_say_what_is_own_code() {
        let names = [
            "shop/orders.Place",
            "shop/catalog.Search",
            "vendor/lib.Run",
            "strings.ToLower",
            "runtime.mallocgc",
        ];
        let functions = names.map(|function| Owned { function, area: 1, ..Owned::default() });
        let (own, _) = Patterns::parse(&["^shop/", "ToLower"], false).unwrap();
        let (groups, of) = groups(&functions, Some(&own));
        let tiers: Vec<Tier> = of.iter().map(|&group| groups[group as usize].tier).collect();
        assert_eq!(tiers, [Tier::Own, Tier::Own, Tier::Library, Tier::Own, Tier::Runtime]);
    }

    #[test]
    fn types_of_methods() {
        for (name, found) in [
            ("orders.(*Ledger).Place", "orders.(*Ledger)"),
            ("com.shop.Orders.place", "com.shop.Orders"),
            ("Stock$Store$$Lambda$87+0x00007f94a4009210.apply", "Stock$Store"),
            ("a::b<c::d>::e", "a::b<c::d>"),
            ("main", "main"),
            ("Foo(int)", "Foo(int)"),
        ] {
            assert_eq!(type_of(name), found, "{name}");
        }
    }
}
