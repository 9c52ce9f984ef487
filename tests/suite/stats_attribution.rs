//! Origins, inherited changes and moved code, in drawings of stacks.

use crate::support::has_regression;
use prof::stats::attribution::{Caller, ExcludedStacks, Side, StackSource, attribute};
use prof::stats::compare::{Cause, Comparison, Hypothesis, compare};
use prof::stats::{CountKind, Normalization, ProfileCounts, SampleCounts, SampleUnit, TestOptions, Verdict};

/// Stacks from the root to the leaf, with the samples of an old and of a new profile.
struct Drawing {
    names: Vec<&'static str>,
    stacks: Vec<(Vec<usize>, f64, f64)>,
    profiles: usize,
}

/// Small differences between the runs of a side, applied in rotation.
const WOBBLE: [f64; 3] = [1.0, 1.01, 0.99];

impl Drawing {
    /// Parses lines such as `main;run;leaf 100 120`. All profiles of a side are nearly the same.
    fn new(text: &'static str, profiles: usize) -> Self {
        let mut drawing = Self { names: Vec::new(), stacks: Vec::new(), profiles };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let mut parts = line.split_whitespace();
            let stack = parts.next().unwrap().split(';').map(|name| drawing.number(name)).collect();
            let mut count = || parts.next().unwrap().parse().unwrap();
            drawing.stacks.push((stack, count(), count()));
        }
        drawing
    }

    fn number(&mut self, name: &'static str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn find(&self, name: &str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap()
    }

    /// The samples of every stack that `wanted` accepts, in every profile.
    fn sum(&self, wanted: impl Fn(&[usize]) -> bool) -> Vec<f64> {
        let mut counts = vec![0.0; 2 * self.profiles];
        for (number, (stack, old, new)) in self.stacks.iter().enumerate().filter(|(_, s)| wanted(&s.0)) {
            let _ = stack;
            for (i, count) in counts.iter_mut().enumerate() {
                let side = if i < self.profiles { old } else { new };
                *count += (side * WOBBLE[(i + number) % WOBBLE.len()]).round();
            }
        }
        counts
    }

    fn counts(&self) -> SampleCounts {
        let own = (0..self.names.len())
            .map(|f| StackSource::counts(self, f, CountKind::SelfCount, ExcludedStacks::default()));
        let total = (0..self.names.len())
            .map(|f| StackSource::counts(self, f, CountKind::Total, ExcludedStacks::default()));
        let (own, total): (Vec<_>, Vec<_>) = (own.collect(), total.collect());
        let profile = |i: usize| ProfileCounts {
            self_counts: own.iter().map(|counts| counts[i]).collect(),
            total_counts: total.iter().map(|counts| counts[i]).collect(),
        };
        SampleCounts {
            old: (0..self.profiles).map(profile).collect(),
            new: (self.profiles..2 * self.profiles).map(profile).collect(),
            sample_unit: SampleUnit::Samples,
        }
    }

    fn compare(&self, options: &TestOptions) -> Comparison {
        let mut comparison = compare(&self.counts(), options).unwrap();
        attribute(&mut comparison, self);
        comparison
    }

    fn row<'a>(&self, comparison: &'a Comparison, name: &str, measure: CountKind) -> &'a Hypothesis {
        let function = self.find(name);
        let found =
            comparison.hypotheses.iter().find(|row| row.function == function && row.measure == measure);
        found.unwrap_or_else(|| panic!("{name} has no row"))
    }
}

impl StackSource for Drawing {
    fn may_lack_callers(&self, _function: usize) -> bool {
        true
    }

    fn counts(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        self.sum(|stack| {
            let Some(outermost) = stack.iter().position(|frame| *frame == function) else { return false };
            let ends = stack.last() == Some(&function);
            let below = &stack[outermost + 1..];
            (measure == CountKind::Total || ends)
                && !(cut.ending && ends)
                && !below.iter().any(|frame| cut.through.contains(frame))
        })
    }

    fn callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller> {
        let mut found: Vec<(usize, usize, f64)> = Vec::new();
        for (stack, old, new) in &self.stacks {
            let Some(at) = stack.iter().rposition(|frame| *frame == function) else { continue };
            if measure == CountKind::SelfCount && at + 1 != stack.len() {
                continue;
            }
            let count = if side == Side::Old { old } else { new } * self.profiles as f64;
            for (distance, caller) in stack[..at].iter().rev().enumerate() {
                match found.iter_mut().find(|entry| entry.0 == *caller) {
                    Some(entry) => entry.2 += count,
                    None => found.push((*caller, distance, count)),
                }
            }
        }
        found.sort_by_key(|entry| entry.1);
        found.into_iter().map(|(function, _, count)| Caller { function, count }).collect()
    }

    fn leafmost(&self, functions: &[usize]) -> usize {
        let depth = |function: usize| {
            let at = |stack: &Vec<usize>| stack.iter().rposition(|frame| *frame == function);
            self.stacks.iter().filter_map(|(stack, ..)| at(stack)).max()
        };
        functions.iter().copied().max_by_key(|function| depth(*function)).unwrap()
    }
}

/// Adds unchanged work to a drawing, which costs are compared relative to.
macro_rules! with_unchanged_work {
    ($text:literal) => {
        concat!(
            $text,
            "
            main;a 900 900
            main;b 800 800
            main;c 700 700
            main;d 600 600
            main;e 500 500
            main;f 400 400
            main;g 300 300
            main;h 200 200"
        )
    };
}

#[test]
fn callers_inherit_the_change_of_their_callee() {
    let drawing = Drawing::new(
        with_unchanged_work!(
            "main;run;stage;fnv 900 1300
             main;run;stage;copy 300 300
             main;run;other 400 400"
        ),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "fnv", CountKind::SelfCount).verdict, Verdict::Regressed);
    for name in ["stage", "run"] {
        let row = drawing.row(&comparison, name, CountKind::Total);
        assert_eq!(row.verdict, Verdict::Inherits, "{name}");
        let Some(Cause::Inherits { row }) = row.cause else { panic!("{name} has no origin") };
        assert_eq!(comparison.hypotheses[row].function, drawing.find("fnv"));
    }
    assert!(has_regression(&comparison));
}

#[test]
fn a_caller_that_changed_itself_keeps_its_verdict() {
    let drawing = Drawing::new(
        with_unchanged_work!(
            "main;run;fnv 900 1300
             main;run;x1 110 160
             main;run;x2 110 160
             main;run;x3 110 160
             main;run;x4 110 160
             main;run;x5 110 160"
        ),
        5,
    );
    // Each change is too small on its own; only together are they significant.
    let options = TestOptions { min_points: 0.02, ..TestOptions::default() };
    let comparison = drawing.compare(&options);
    assert_ne!(drawing.row(&comparison, "x1", CountKind::SelfCount).verdict, Verdict::Regressed);
    assert_eq!(drawing.row(&comparison, "run", CountKind::Total).verdict, Verdict::Regressed);
}

#[test]
fn the_total_of_a_function_inherits_from_its_own_code() {
    let drawing = Drawing::new(with_unchanged_work!("main;run 900 1300\n main;run;leaf 600 600"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "run", CountKind::SelfCount).verdict, Verdict::Regressed);
    assert_eq!(drawing.row(&comparison, "run", CountKind::Total).verdict, Verdict::Inherits);
}

#[test]
fn improvements_are_inherited_too() {
    let drawing = Drawing::new(with_unchanged_work!("main;run;fnv 1300 900\n main;run;leaf 600 600"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "fnv", CountKind::SelfCount).verdict, Verdict::Improved);
    assert_eq!(drawing.row(&comparison, "run", CountKind::Total).verdict, Verdict::Inherits);
    assert!(!has_regression(&comparison));
}

#[test]
fn a_renamed_function_has_moved() {
    let drawing = Drawing::new(
        with_unchanged_work!("main;run;parse 900 0\n main;run;decode 0 905\n main;run 100 100"),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    let row = drawing.row(&comparison, "decode", CountKind::SelfCount);
    assert_eq!(row.verdict, Verdict::Moved);
    let (caller, from) = (Some(drawing.find("run")), Some(drawing.find("parse")));
    assert_eq!(row.cause, Some(Cause::Moved { caller, from, loser: None }));
    assert!(row.ratio.is_none() && row.ratio_high.is_none() && row.ratio_low.is_some());
    assert_eq!(drawing.row(&comparison, "parse", CountKind::SelfCount).verdict, Verdict::Moved);
    assert!(!has_regression(&comparison));
}

#[test]
fn renames_are_found_with_shares_and_with_one_pair() {
    let drawing = Drawing::new(
        with_unchanged_work!("main;run;parse 900 0\n main;run;decode 0 905\n main;run 100 100"),
        1,
    );
    let options = TestOptions {
        normalize: Normalization::Total,
        noise: prof::stats::Noise::Steady,
        ..TestOptions::default()
    };
    let comparison = drawing.compare(&options);
    assert_eq!(drawing.row(&comparison, "decode", CountKind::SelfCount).verdict, Verdict::Moved);
}

#[test]
fn a_renamed_function_that_grew_is_a_regression() {
    let drawing = Drawing::new(
        with_unchanged_work!("main;run;parse 500 0\n main;run;decode 0 1500\n main;run 100 100"),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "decode", CountKind::SelfCount).verdict, Verdict::Regressed);
}

#[test]
fn code_extracted_from_its_caller_has_moved() {
    let drawing = Drawing::new(with_unchanged_work!("main;run;step 900 450\n main;run;step;helper 0 450"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "helper", CountKind::SelfCount).verdict, Verdict::Moved);
    assert!(!has_regression(&comparison));
}

#[test]
fn code_that_neighbours_trade_has_moved() {
    // Stacks by frame pointers lack the caller of a leaf, so `helper` seems to be called by `run`; and in both directions.
    for (step, helper) in [("900 450", "0 450"), ("450 900", "450 0")] {
        let text = format!("main;run 3000 3100\n main;run;step {step}\n main;run;helper {helper}\n");
        let text = String::leak(text + with_unchanged_work!(""));
        let drawing = Drawing::new(text, 5);
        let comparison = drawing.compare(&TestOptions::default());
        let (gained, lost) = if helper == "0 450" { ("helper", "step") } else { ("step", "helper") };
        let row = drawing.row(&comparison, gained, CountKind::SelfCount);
        let (caller, loser) = (Some(drawing.find("run")), Some(drawing.find(lost)));
        assert_eq!(row.cause, Some(Cause::Moved { caller, from: None, loser }), "{text}");
        assert!(!has_regression(&comparison));
    }
}

#[test]
fn a_faster_neighbour_hides_no_regression() {
    // `run` costs what it did before, but neither function is new or gone.
    let drawing = Drawing::new(with_unchanged_work!("main;run;fnv 900 1500\n main;run;leaf 1400 800"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "fnv", CountKind::SelfCount).verdict, Verdict::Regressed);
    assert_eq!(drawing.row(&comparison, "leaf", CountKind::SelfCount).verdict, Verdict::Improved);
}

#[test]
fn code_that_was_extracted_and_costs_more_is_a_regression_of_where_it_was() {
    // `helper` seems to have moved, because `step` grew by less than half of it; but that is 45 % more than before.
    let drawing =
        Drawing::new(with_unchanged_work!("main;run;step 900 300\n main;run;step;helper 0 1000"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "helper", CountKind::SelfCount).verdict, Verdict::Moved);
    assert_eq!(drawing.row(&comparison, "step", CountKind::Total).verdict, Verdict::Regressed);
}

#[test]
fn extracted_code_that_costs_a_little_more_has_moved() {
    // A call more: both together cost 5 % more, which is within the noise.
    let drawing = Drawing::new(with_unchanged_work!("main;run;step 900 500\n main;run;step;helper 0 445"), 3);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "helper", CountKind::SelfCount).verdict, Verdict::Moved);
    // A new function that its caller did not make room for.
    let drawing = Drawing::new(with_unchanged_work!("main;run;step 900 895\n main;run;step;helper 0 445"), 3);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "helper", CountKind::SelfCount).verdict, Verdict::Regressed);
}

#[test]
fn extracted_code_is_no_regression_if_its_caller_grew_by_chance() {
    // `escape` costs 1.4 times as much, at p < 5 %, which may be chance where many functions are tested.
    let drawing = Drawing::new(
        "main;run;escape 17 6
         main;run;escape;grow 12 0
         main;run;escape;byte 0 18
         main;run;escape;byte;grow 0 18
         main;a 300 300
         main;b 250 250
         main;c 200 200
         main;d 150 150
         main;e 120 120
         main;f 90 90",
        3,
    );
    let comparison = drawing.compare(&TestOptions::default());
    let caller = drawing.row(&comparison, "escape", CountKind::Total);
    assert!(caller.increase.p < 0.05 && caller.increase.q >= 0.01, "{:?}", caller.increase);
    for measure in [CountKind::Total, CountKind::SelfCount] {
        assert_eq!(drawing.row(&comparison, "byte", measure).verdict, Verdict::Moved, "{measure:?}");
    }
    assert!(!has_regression(&comparison));
}

#[test]
fn own_code_moves_with_the_callees_that_it_was_extracted_with() {
    // `sum` and the calls of `at` were taken out of `blur`, whose own code lost less than `sum` has.
    let drawing = Drawing::new(
        with_unchanged_work!(
            "main;blur 900 760
             main;blur;at 800 0
             main;blur;sum 0 400
             main;blur;sum;at 0 540"
        ),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    for measure in [CountKind::Total, CountKind::SelfCount] {
        assert_eq!(drawing.row(&comparison, "sum", measure).verdict, Verdict::Moved, "{measure:?}");
    }
    assert!(!has_regression(&comparison));
}

#[test]
fn what_one_function_lost_explains_only_as_much() {
    // Two new functions, each of which has what `step` lost.
    let drawing = Drawing::new(
        with_unchanged_work!(
            "main;run;step 1000 500
             main;run;one 0 520
             main;run;two 0 500"
        ),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    assert!(has_regression(&comparison));
    // Of two functions that have half of it each, neither is more expensive.
    let drawing = Drawing::new(
        with_unchanged_work!(
            "main;run;step 1500 500
             main;run;one 0 500
             main;run;two 0 500"
        ),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    assert!(!has_regression(&comparison));
}

#[test]
fn a_loss_elsewhere_excuses_nothing() {
    let drawing = Drawing::new(
        with_unchanged_work!(
            "main;run;step 900 1350
             main;serve;helper 450 0
             main;serve;other 600 600"
        ),
        5,
    );
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "step", CountKind::SelfCount).verdict, Verdict::Regressed);
}

#[test]
fn a_large_new_function_is_a_regression_and_a_small_one_is_new() {
    let drawing = Drawing::new(with_unchanged_work!("main;run;check 0 400\n main;run;step 900 900"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "check", CountKind::SelfCount).verdict, Verdict::Regressed);
    // Three samples cannot show anything.
    let drawing = Drawing::new("main;x 0 3\n main;y 3 0\n main;a 9 9\n main;b 9 9", 1);
    let comparison = drawing.compare(&TestOptions::default());
    assert_eq!(drawing.row(&comparison, "x", CountKind::SelfCount).verdict, Verdict::New);
    assert_eq!(drawing.row(&comparison, "y", CountKind::SelfCount).verdict, Verdict::Removed);
}

#[test]
fn a_chain_is_named_after_its_leaf() {
    let drawing =
        Drawing::new(with_unchanged_work!("main;outer;inner;x 300 500\n main;outer;inner;y 300 300"), 5);
    let comparison = drawing.compare(&TestOptions::default());
    let row = drawing.row(&comparison, "inner", CountKind::Total);
    assert_eq!(row.same_counts, [drawing.find("outer"), drawing.find("inner")]);
}
