use super::*;
use crate::profile::{from_notation, to_notation};
use proptest::prelude::*;

fn matching(old: &Profile, new: &Profile) -> Matching {
    Matching::find(&[(old, 0)], &[(new, 0)], &MatchOptions::default()).unwrap()
}

fn found(old: &str, new: &str) -> Vec<String> {
    let matching = matching(&from_notation(old), &from_notation(new));
    matching
        .matches
        .iter()
        .map(|found| format!("{} = {} ({})", found.old, found.new, found.how.word()))
        .collect()
}

/// A profile whose functions are distinguished by their place, as those of JavaScript are: `name@file:line`.
fn by_place(picture: &str) -> Profile {
    with_places(picture, true)
}

/// A profile that says where functions stand; whether that distinguishes them.
fn with_places(picture: &str, by_place: bool) -> Profile {
    let mut profile = from_notation(picture);
    let mut symbols = (*profile.symbols).clone();
    let lines: Vec<u32> = symbols.frames.iter().map(|frame| frame.line).collect();
    for (frame, line) in symbols.frames.ids().zip(lines) {
        let function = symbols.functions.push(Function {
            line,
            by_place,
            ..symbols.functions[symbols.frames[frame].function]
        });
        symbols.frames[frame].function = function;
    }
    profile.symbols = Arc::new(symbols);
    profile
}

fn found_by_place(old: &str, new: &str) -> Vec<String> {
    let matching = matching(&by_place(old), &by_place(new));
    matching
        .matches
        .iter()
        .map(|found| format!("{} = {} ({})", found.old, found.new, found.how.word()))
        .collect()
}

#[test]
fn equal_names_need_no_match() {
    assert!(found("main;a 3\nmain;b 4", "main;a 9\nmain;b 1").is_empty());
}

#[test]
fn a_line_added_on_top_shifts_all_below() {
    let old = "main@a.js:1;read@a.js:9 3\nmain@a.js:1;(anonymous)@a.js:20 5\nmain@a.js:1;(anonymous)@a.js:30;read@a.js:9 9";
    let new = "main@a.js:2;read@a.js:10 3\nmain@a.js:2;(anonymous)@a.js:21 5\nmain@a.js:2;(anonymous)@a.js:31;read@a.js:10 9";
    let mut shifted = found_by_place(old, new);
    shifted.sort();
    assert_eq!(
        shifted,
        [
            "(anonymous) a.js:20 = (anonymous) a.js:21 (shifted)",
            "(anonymous) a.js:30 = (anonymous) a.js:31 (shifted)",
            "main a.js:1 = main a.js:2 (shifted)",
            "read a.js:9 = read a.js:10 (shifted)",
        ]
    );
}

/// A new name at the old place is a rename, even if the function costs five times as much, and calls something else.
#[test]
fn a_function_at_its_old_place_is_renamed_whatever_it_costs() {
    let old = "main@a.js:1;top@a.js:5 10\nmain@a.js:1;isSnake@a.js:20 100\nmain@a.js:1;end@a.js:40 300";
    let new = |main: u32, line: u32, caller: &str| {
        format!(
            "main@a.js:{main};top@a.js:{} 10\nmain@a.js:{main};{caller}snakeCase@a.js:{line};test@b.js:1 500\n\
             main@a.js:{main};{caller}end@a.js:{} 300",
            main + 4,
            main + 39
        )
    };
    let renamed = |new: &str| -> Vec<String> {
        let mut found = found_by_place(old, new);
        found.retain(|found| found.ends_with("(renamed)"));
        found
    };
    assert_eq!(renamed(&new(1, 20, "")), ["isSnake a.js:20 = snakeCase a.js:20 (renamed)"]);
    assert_eq!(renamed(&new(4, 23, "")), ["isSnake a.js:20 = snakeCase a.js:23 (renamed)"]);
    // Its own lines changed, so that only those below it moved; or those of the function above it did.
    let longer = |text: String| text.replace("end@a.js:40", "end@a.js:42");
    assert_eq!(renamed(&longer(new(1, 20, ""))), ["isSnake a.js:20 = snakeCase a.js:20 (renamed)"]);
    assert_eq!(renamed(&longer(new(1, 22, ""))), ["isSnake a.js:20 = snakeCase a.js:22 (renamed)"]);
    // At another place, or called from elsewhere, it is another function.
    assert!(renamed(&new(1, 22, "")).is_empty());
    assert!(renamed(&new(1, 20, "other@a.js:60;")).is_empty());
}

/// The folder that a build is made in is no part of what a function is, and is not worth a line in a report.
/// Go tells functions apart by name, and says where they stand. A function that does what two did has the name of neither.
#[test]
fn places_tell_renames_where_names_tell_functions_apart_too() {
    let old =
        "main@a.go:1;frame@a.go:9;degrees@a.go:20;cut@b.go:1 30\nmain@a.go:1;frame@a.go:9;end@a.go:40 30";
    let new =
        "main@a.go:1;frame@a.go:9;angle@a.go:20;fields@b.go:9 90\nmain@a.go:1;frame@a.go:9;end@a.go:50 30";
    let found = |old: &str| {
        let found = matching(&with_places(old, false), &with_places(new, false));
        let to = |name: &str| {
            found.matches.iter().find(|found| &*found.old == name).map(|found| found.new.clone())
        };
        to("degrees")
    };
    assert_eq!(found(old).as_deref(), Some("angle"));
    let two = format!("{old}\nmain@a.go:1;frame@a.go:9;minutes@a.go:30 20");
    assert_eq!(found(&two), None);
}

#[test]
fn another_folder_is_the_same_place() {
    let old = by_place("main@/srv/old/a.js:1;read@/srv/old/lib/b.js:9 3");
    let new = by_place("main@/srv/new/a.js:1;read@/srv/new/lib/b.js:9 3");
    let matching = matching(&old, &new);
    assert!(matching.matches.is_empty());
    assert_eq!(to_notation(&matching.apply_old(0, &old)), to_notation(&new));
}

#[test]
fn anonymous_functions_are_matched_by_neighbours() {
    let old =
        "main@a.js:1;(anonymous)@a.js:20;parse@b.js:1 50\nmain@a.js:1;(anonymous)@a.js:30;print@b.js:9 50";
    let new = "main@a.js:1;(anonymous)@a.js:20;log@b.js:5 2\nmain@a.js:1;(anonymous)@a.js:30;parse@b.js:1 50\nmain@a.js:1;(anonymous)@a.js:40;print@b.js:9 50";
    let mut shifted = found_by_place(old, new);
    shifted.sort();
    assert_eq!(
        shifted,
        [
            "(anonymous) a.js:20 = (anonymous) a.js:30 (shifted)",
            "(anonymous) a.js:30 = (anonymous) a.js:40 (shifted)"
        ]
    );
}

#[test]
fn functions_move_to_other_files_and_packages() {
    let old = "main@a.js:1;parse@a.js:9 30\nmain@a.js:1;print@a.js:20 70";
    let new = "main@a.js:1;parse@text.js:3 30\nmain@a.js:1;print@a.js:20 70";
    assert_eq!(found_by_place(old, new), ["parse a.js:9 = parse text.js:3 (relocated)"]);
    let old = "depot.Main.run;depot.Json.value 30\ndepot.Main.run;depot.Rounds.plan 70";
    let new = "depot.Main.run;depot.text.Json.value 30\ndepot.Main.run;depot.Rounds.plan 70";
    assert_eq!(found(old, new), ["depot.Json.value = depot.text.Json.value (relocated)"]);
}

#[test]
fn a_closure_is_not_in_another_function() {
    let old = "main;work 9000\nmain;runtime.gcMarkDone.func1 10";
    let new = "main;work 9000\nmain;runtime.gcStart.func2 10";
    assert_eq!(found(old, new), [""; 0]);
    let old = "main;work 9000\nmain;shop.serve;shop.serve.func1 10";
    let new = "main;work 9000\nmain;app/shop.serve;app/shop.serve.func2 10";
    assert!(found(old, new).contains(&"shop.serve.func1 = app/shop.serve.func2 (relocated)".to_string()));
}

#[test]
fn additions_of_compilers_are_ignored() {
    let old = "main;vec::push::h0123456789abcdef 30\nmain;parse.constprop.0 20\nmain;sort<int> 50";
    let new = "main;vec::push::hfedcba9876543210 30\nmain;parse 20\nmain;sort<long> 50";
    let mut all = found(old, new);
    all.sort();
    assert_eq!(
        all,
        [
            "parse.constprop.0 = parse (normalised)",
            "sort<int> = sort<long> (normalised)",
            "vec::push::h0123456789abcdef = vec::push::hfedcba9876543210 (normalised)",
        ]
    );
}

/// `run.func3` is new, and the other two closures happen to have changed their costs.
#[test]
fn closures_do_not_change_their_order() {
    let old = "main;run;run.func1 30\nmain;run;run.func2 20\nmain;other 60";
    let new = "main;run;run.func1 20\nmain;run;run.func2 31\nmain;run;run.func3 9\nmain;other 60";
    assert!(found(old, new).is_empty(), "{:?}", found(old, new));
    // Scala's library is the same on both sides, so that other numbers are other classes.
    let (old, new) = (
        "main;scala.collection.Iterator$$anon$10.next 30\nmain;a 5",
        "main;scala.collection.Iterator$$anon$3.next 30\nmain;a 5",
    );
    assert!(found(old, new).is_empty(), "{:?}", found(old, new));
}

#[test]
fn closures_are_matched_by_callers() {
    let old = "main;rank;sort;rank.func1 30\nmain;rank 10\nmain;other 60";
    let new = "main;rank;sort;rank.func2 31\nmain;rank 10\nmain;rank;rank.func1 1\nmain;other 60";
    assert_eq!(found(old, new), ["rank.func1 = rank.func2 (normalised)"]);
}

#[test]
fn a_class_with_another_name_takes_its_methods_with_it() {
    let old = "main;Rounds.plan;Rounds.gain 30\nmain;Rounds.plan;Rounds.far 30\nmain;print 40";
    let new = "main;Tours.plan;Tours.gain 30\nmain;Tours.plan;Tours.far 30\nmain;print 40";
    let all = found(old, new);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all.contains(&"Rounds.gain = Tours.gain (renamed)".to_string()));
}

#[test]
fn instances_of_a_generic_function_are_renamed_together() {
    let side = |name: &str, [one, other]: [i64; 2]| {
        format!("main;read;list::{name}<Price> {one}\nmain;read;list::{name}<Name> {other}\nmain;write 70")
    };
    // By cost alone, one would pass for the other.
    assert_eq!(
        found(&side("sort", [40, 30]), &side("order", [30, 41])),
        [
            "list::sort<Name> = list::order<Name> (renamed)",
            "list::sort<Price> = list::order<Price> (renamed)"
        ]
    );
}

/// `moves` became `pseudo`, and a new `moves` calls that.
#[test]
fn a_wrapper_may_take_the_name() {
    let old = "main;search;moves 5\nmain;search;moves;pieces 30\nmain;search;moves;pawns 15\nmain;score 50";
    let new = "main;search;moves;pseudo 5\nmain;search;moves;pseudo;pieces 30\nmain;search;moves;pseudo;pawns 15\n\
               main;search;moves;legal 25\nmain;score 50";
    assert_eq!(found(old, new), ["moves = pseudo (renamed)"]);
    assert_eq!(found(new, old), ["pseudo = moves (renamed)"]);
    // A part that was extracted leaves the rest behind, or nothing at all.
    let rest = "main;search;moves;part 5\nmain;search;moves;part;pieces 30\nmain;search;moves;pawns 15\nmain;score 50";
    assert_eq!(found(old, rest), [""; 0]);
    let all = "main;search;moves;all 5\nmain;search;moves;all;pieces 30\nmain;search;moves;all;pawns 15\nmain;score 50";
    assert_eq!(found(old, all), [""; 0]);
    // Own code is the same in all functions, unless it is called from where the old function was.
    let old = "main;search;moves 50\nmain;count;moves 20\nmain;score 50";
    let own =
        "main;search;moves;pseudo 50\nmain;count;moves;pseudo 20\nmain;search;moves;legal 25\nmain;score 50";
    assert_eq!(found(old, own), [""; 0]);
    let called =
        "main;search;moves;pseudo 50\nmain;count;pseudo 20\nmain;search;moves;legal 25\nmain;score 50";
    assert_eq!(found(old, called), ["moves = pseudo (renamed)"]);
}

#[test]
fn a_name_that_both_sides_have_is_not_renamed() {
    let old = "main;a 50\nmain;b 50";
    let new = "main;b 50\nmain;c 50";
    assert_eq!(found(old, new), ["a = c (renamed)"]);
}

#[test]
fn functions_of_the_language_and_the_system_are_not_renamed() {
    // A sampler hits one on this side, and another one on that side.
    let pairs = [
        ("java.util.HashMap.getNode", "java.util.HashMap.putVal"),
        ("runtime.mallocgcSmallScanNoHeaderSC3", "runtime.mallocgcSmallNoScanSC5"),
        ("core::fmt::num::imp::fmt", "core::str::count::do_count_chars"),
    ];
    let side = |name: &str| format!("main;read;{name} 30\nmain;write 70");
    for (old, new) in pairs {
        assert_eq!(found(&side(old), &side(new)), Vec::<String>::new());
    }
    assert_eq!(found(&side("shop.count"), &side("shop.tally")).len(), 1);
}

#[test]
fn two_that_could_be_it_are_none() {
    assert!(found("main;a 50\nmain;b 50", "main;x 50\nmain;y 50").is_empty());
}

#[test]
fn hidden_classes_of_several_runs_are_one() {
    let run =
        |number: u32| from_notation(&format!("Main.main;Main$$Lambda${number}+0x00007f00{number:08}.run 9"));
    let (old, new) = ([run(101), run(102)], [run(103), run(104)]);
    let old_side: Vec<SideProfile<'_>> = old.iter().map(|profile| (profile, 0)).collect();
    let new_side: Vec<SideProfile<'_>> = new.iter().map(|profile| (profile, 0)).collect();
    let matching = Matching::find(&old_side, &new_side, &MatchOptions::default()).unwrap();
    assert!(matching.matches.is_empty());
    for number in 0..2 {
        assert_eq!(to_notation(&matching.apply_old(number, &old[number])), "Main.main;Main$$Lambda.run 9");
        assert_eq!(to_notation(&matching.apply_new(number, &new[number])), "Main.main;Main$$Lambda.run 9");
    }
}

#[test]
fn pairs_that_are_given_come_first() {
    let (old, new) = (from_notation("main;a 50\nmain;b 50"), from_notation("main;x 50\nmain;y 50"));
    let given = |pairs: &[(&str, &str)]| MatchOptions {
        given: pairs.iter().map(|&(old, new)| (old.to_string(), new.to_string())).collect(),
        ..MatchOptions::default()
    };
    let find = |options: &MatchOptions| Matching::find(&[(&old, 0)], &[(&new, 0)], options);
    let matching = find(&given(&[("a", "y")])).unwrap();
    let all: Vec<_> = matching.matches.iter().map(|found| (&*found.old, &*found.new, found.how)).collect();
    assert!(all.contains(&("a", "y", MatchMethod::Given)), "{all:?}");
    let unknown = GivenError::Unknown { name: "z".to_string(), side: "new" };
    assert_eq!(find(&given(&[("a", "z")])).unwrap_err(), unknown);
    let twice = GivenError::Twice { name: "y".to_string(), side: "new" };
    assert_eq!(find(&given(&[("a", "y"), ("b", "y")])).unwrap_err(), twice);
    let exact = MatchOptions { exact: true, ..MatchOptions::default() };
    assert!(find(&exact).unwrap().matches.is_empty());
}

/// `parseNum` and `parseNumber` have the same callers and the same cost, so they would be matched.
#[test]
fn a_function_can_be_said_to_have_no_match() {
    let old = from_notation("main;read;parseNum 30\nmain;write 70");
    let new = from_notation("main;read;parseNumber 31\nmain;write 69");
    let found = |old_name: &str, new_name: &str| {
        let given = vec![(old_name.to_string(), new_name.to_string())];
        let options = MatchOptions { given, ..MatchOptions::default() };
        Matching::find(&[(&old, 0)], &[(&new, 0)], &options).map(|matching| matching.matches)
    };
    assert_eq!(found("parseNum", "parseNumber").unwrap().len(), 1);
    assert_eq!(found("parseNum", ""), Ok(Vec::new()));
    assert_eq!(found("", "parseNumber"), Ok(Vec::new()));
    let one_row = |side: &'static str| Err(GivenError::OneRow { name: "write".to_string(), side });
    assert_eq!(found("write", ""), one_row("new"));
    assert_eq!(found("", "write"), one_row("old"));
}

#[test]
fn functions_of_both_sides_cannot_be_swapped() {
    let old = from_notation("main;a 30\nmain;b 50\nmain;c 20\nmain;d 5");
    let new = from_notation("main;a 31\nmain;b 49\nmain;c 20\nmain;e 5");
    let found_by = |exact: bool, pairs: &[(&str, &str)]| {
        let given = pairs.iter().map(|(old, new)| (old.to_string(), new.to_string())).collect();
        let options = MatchOptions { exact, given, ..MatchOptions::default() };
        Matching::find(&[(&old, 0)], &[(&new, 0)], &options).map(|_| ())
    };
    let found = |pairs: &[(&str, &str)]| found_by(false, pairs);
    let cycle =
        |names: &[&str]| Err(GivenError::Cycle { names: names.iter().map(ToString::to_string).collect() });
    assert_eq!(found(&[("a", "b"), ("b", "a")]), cycle(&["a", "b", "a"]));
    assert_eq!(found(&[("c", "b"), ("b", "a"), ("a", "c")]), cycle(&["a", "c", "b", "a"]));
    // A function is its own match, and a chain that ends in a new name is a chain of renames.
    assert_eq!(found(&[("a", "a"), ("b", "b")]), Ok(()));
    assert_eq!(found(&[("a", "b"), ("b", "c"), ("c", "e")]), Ok(()));
    // Without a match, `c` of the old side would be counted with `d`, which got its name.
    assert_eq!(found_by(true, &[("d", "c")]), Err(GivenError::OneRow { name: "c".to_string(), side: "old" }));
}

/// A program: each function calls some of those after it, and stacks are walks through it.
fn program() -> impl Strategy<Value = Vec<(Vec<usize>, i64)>> {
    prop::collection::vec((prop::collection::vec(1..4_usize, 1..8), 1..500_i64), 20..80).prop_map(|walks| {
        let walk = |steps: &Vec<usize>| {
            let mut at = 0;
            let mut stack = vec![0];
            for step in steps {
                at = at * 2 + step;
                stack.push(at % 40);
            }
            stack
        };
        walks.iter().map(|(steps, value)| (walk(steps), *value)).collect()
    })
}

fn picture(program: &[(Vec<usize>, i64)], name: impl Fn(usize) -> String) -> String {
    let line = |(stack, value): &(Vec<usize>, i64)| {
        format!("{} {value}", stack.iter().map(|&function| name(function)).collect::<Vec<_>>().join(";"))
    };
    program.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Names without anything in common.
fn mangled(function: usize, seed: u64) -> String {
    let mixed = (function as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ seed;
    format!("q{:016x}", mixed.wrapping_mul(0xff51_afd7_ed55_8ccd))
}

/// With every name replaced, only callers, callees and cost are left. What is said then is right in 98 of 100.
#[test]
fn code_of_the_kernel_and_of_system_libraries_is_not_renamed() {
    let old = "main;read;lock_a!BINARY+0x10 300\nmain;write 700";
    let new = "main;read;unlock_b!BINARY+0x90 310\nmain;write 690";
    let found_in = |binary: &str| found(&old.replace("BINARY", binary), &new.replace("BINARY", binary));
    for binary in ["[kernel.kallsyms]", "/usr/lib/x86_64-linux-gnu/libc.so.6"] {
        assert!(found_in(binary).is_empty(), "{binary}");
    }
    assert_eq!(found_in("/srv/server"), ["lock_a = unlock_b (renamed)"]);
}

#[test]
fn renamed_functions_are_found_without_any_name() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut right, mut wrong, mut heavy) = (0, 0, 0);
    for seed in 0..60 {
        let program = program().new_tree(&mut runner).unwrap().current();
        let old = from_notation(&picture(&program, |function| format!("f{function}")));
        let new = from_notation(&picture(&program, |function| mangled(function, seed)));
        let matching = matching(&old, &new);
        for found in &matching.matches {
            let function: usize = found.old[1..].parse().unwrap();
            if found.new == mangled(function, seed) { right += 1 } else { wrong += 1 }
        }
        heavy += old.symbols.functions.len();
    }
    assert!(right * 100 >= (right + wrong) * 98, "{right} right, {wrong} wrong");
    assert!(right * 2 >= heavy, "{right} of {heavy} found");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Order says nothing, and no function is matched twice; the sides may be swapped.
    #[test]
    fn one_to_one_symmetric_and_in_any_order(program in program(), other in program(), seed in 0..9_u64) {
        let name = |function: usize| if function.is_multiple_of(3) { format!("f{function}") } else { mangled(function, seed) };
        let old = from_notation(&picture(&program, |function| format!("f{function}")));
        let mut changed = program.clone();
        changed.extend(other.iter().take(3).cloned());
        let new = from_notation(&picture(&changed, name));
        changed.reverse();
        let shuffled = from_notation(&picture(&changed, name));
        let pairs = |found: &Matching, swapped: bool| {
            let mut pairs: Vec<(String, String)> = found.matches.iter().map(|found| {
                if swapped { (found.new.clone(), found.old.clone()) } else { (found.old.clone(), found.new.clone()) }
            }).collect();
            pairs.sort();
            pairs
        };
        let there = pairs(&matching(&old, &new), false);
        prop_assert_eq!(&there, &pairs(&matching(&new, &old), true));
        prop_assert_eq!(&there, &pairs(&matching(&old, &shuffled), false));
        for side in [0, 1] {
            let mut names: Vec<&String> = there.iter().map(|pair| if side == 0 { &pair.0 } else { &pair.1 }).collect();
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), there.len());
        }
    }

    /// All functions of a file shifted by as many lines, in another folder, are the same ones.
    #[test]
    fn shifted_lines_and_folders_are_no_difference(program in program(), shift in 1..50_u32) {
        let place = |folder: &'static str, shift: u32| move |function: usize| {
            let name = if function % 4 == 3 { "(anonymous)".to_string() } else { format!("f{function}") };
            format!("{name}@{folder}/m{}.js:{}", function % 5, function as u32 * 10 + 1 + shift)
        };
        let old = by_place(&picture(&program, place("/srv/old", 0)));
        let new = by_place(&picture(&program, place("/srv/new", shift)));
        let named = |profile: &Profile| {
            let symbols = &profile.symbols;
            let mut names: Vec<(String, u32)> = symbols.functions.iter()
                .filter(|function| function.by_place)
                .map(|function| (symbols.strings.get(function.name).to_string(), function.line))
                .collect();
            names.sort();
            names
        };
        let matching = matching(&old, &new);
        prop_assert_eq!(named(&matching.apply_old(0, &old)), named(&new));
    }
}

/// Two builds of a program whose functions are of every kind: the same, numbered closures of one function, many without
/// a name in one file, moved to another package, and changed only in their generic arguments.
fn builds(functions: usize) -> [Profile; 2] {
    [0, 1].map(|build| {
        let mut picture = String::new();
        for number in 0..functions {
            let package = if build == 1 && number % 50 == 7 { "text/fresh" } else { "text/json" };
            let argument = if number % 50 == 9 { build } else { 0 };
            let line = if number % 2 == 0 { number } else { number + build };
            let names = [
                format!("main.work{number}"),
                format!("main.outer.func{}", number + build),
                format!("(anonymous)@app.js:{}", line + 1),
                format!("{package}.read{number}"),
                format!("Store{number}<Row{argument}>::at"),
            ];
            picture.push_str(&format!("main;{} {}\n", names[number % 5], 1 + number % 3));
        }
        let mut profile = from_notation(&picture);
        let mut symbols = (*profile.symbols).clone();
        for frame in symbols.frames.ids() {
            let (line, function) = (symbols.frames[frame].line, symbols.frames[frame].function);
            let by_place = symbols.function_name(function) == "(anonymous)";
            let row = Function { line, by_place, ..symbols.functions[function] };
            symbols.frames[frame].function = symbols.functions.push(row);
        }
        profile.symbols = Arc::new(symbols);
        profile
    })
}

#[test]
fn twice_the_functions_is_at_most_twice_the_work() {
    let steps = |functions: usize| {
        let [old, new] = builds(functions);
        pool::STEPS.set(0);
        assert!(!matching(&old, &new).matches.is_empty());
        pool::STEPS.get()
    };
    let (once, twice) = (steps(20_000), steps(40_000));
    assert!(twice <= 2 * once + 100, "{once} and {twice}");
    assert!(once <= 20 * 20_000, "{once}");
}

/// Both builds have both instances, of which each happened to be hit once.
#[test]
fn rare_instances_of_a_library_are_not_each_other() {
    let sides = |old: &str, new: &str, own: u32| {
        found(
            &format!("main;work 9000\nmain;start;{old} {own}\nmain;start 40"),
            &format!("main;work 9000\nmain;start;{new} {own}\nmain;start 40"),
        )
    };
    let (ctype, put) = ("std::has_facet<std::ctype<char> >", "std::has_facet<std::num_put<char, long> >");
    assert!(sides(ctype, put, 1).is_empty());
    // A heavy one is not missed by chance.
    assert_eq!(sides(ctype, put, 900), [format!("{ctype} = {put} (normalised)")]);
    let below_two = |of_old: &str, of_new: &str| {
        found(
            &format!("main;work 9000\nmain;load;{of_old} 300\nmain;load 40\nmain;draw 900"),
            &format!("main;work 9000\nmain;load 40\nmain;draw;{of_new} 300\nmain;draw 900"),
        )
    };
    let hash = "<std::hash::random::RandomState as core::hash::BuildHasher>::hash_one::<&";
    assert!(below_two(&format!("{hash}u64>"), &format!("{hash}char>")).is_empty());
    // Types of the program may have been renamed, and Rust's hashes always are.
    let of_program = ["std::vector<shop::Cart>::at", "std::vector<shop::Basket>::at"];
    assert_eq!(sides(of_program[0], of_program[1], 1), [of_program.join(" = ") + " (normalised)"]);
    let hashed = ["alloc::vec::push::h0123456789abcdef", "alloc::vec::push::hfedcba9876543210"];
    assert_eq!(sides(hashed[0], hashed[1], 1), [hashed.join(" = ") + " (normalised)"]);
}

#[test]
fn another_line_is_another_anonymous_function_where_nothing_moved() {
    let side = |line: u32, below: u32| {
        format!("main@a.js:1;(anonymous)@a.js:{line} 5\nmain@a.js:1 9\nmain@a.js:1;last@a.js:{below} 9")
    };
    let unmoved = found_by_place(&side(20, 40), &side(21, 40));
    assert!(unmoved.is_empty(), "{unmoved:?}");
    // With another column, one neighbour is enough; here, a line may have been added between the two.
    let last = |line: u32| format!("main@a.js:1;(anonymous)@a.js:{line} 5\nmain@a.js:1 9");
    assert_eq!(found_by_place(&last(20), &last(21)), ["(anonymous) a.js:20 = (anonymous) a.js:21 (shifted)"]);
    let shifted = found_by_place(&side(20, 40), &side(21, 41));
    assert!(
        shifted.contains(&"(anonymous) a.js:20 = (anonymous) a.js:21 (shifted)".to_string()),
        "{shifted:?}"
    );
}
