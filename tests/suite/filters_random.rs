//! Compares every filter, and sequences of them in the documented order, with a naive implementation that goes through
//! samples one by one, on random profiles.

use std::collections::BTreeMap;

use crate::support::naive;
use prof::pattern::Patterns;
use prof::profile::{Frame, Label, LabelValue, LoadOptions, Profile, ProfileBuilder};
use prof::transform::{
    LabelFilter, Marks, collapse_recursion, hide_frames, hide_labels, hide_stacks, label_leaf, label_root,
    prune_from, show_frames, show_from, show_labels, show_stacks, show_threads, without_inlines,
};
use prof::view::{Scope, TopOptions, top};
use proptest::prelude::*;

/// A sample: its frames, root first, each with whether it is inlined, its labels, and its value.
#[derive(Clone, Debug, PartialEq)]
struct Sample {
    frames: Vec<(String, bool)>,
    labels: Vec<(&'static str, String)>,
    value: i64,
}

/// A filter with its arguments; functions are numbers.
#[derive(Clone, Debug)]
enum Filter {
    LabelRoot,
    LabelLeaf,
    ShowLabels(Vec<u8>),
    HideLabels(Vec<u8>),
    ShowThreads(u8),
    ShowStacks(Vec<u8>),
    HideStacks(Vec<u8>),
    HideFrames(Vec<u8>),
    ShowFrames(Vec<u8>),
    ShowFrom(Vec<u8>),
    PruneFrom(Vec<u8>),
    WithoutInlines,
    CollapseRecursion,
    Focus(Vec<u8>),
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let frame =
        (0..5u8, prop::bool::weighted(0.2)).prop_map(|(function, inlined)| (format!("f{function}"), inlined));
    let labels = (prop::option::of(0..3u8), prop::option::of(0..2u8)).prop_map(|(endpoint, thread)| {
        let endpoint = endpoint.map(|number| ("endpoint", format!("e{number}")));
        endpoint.into_iter().chain(thread.map(|number| ("thread", format!("t{number}")))).collect()
    });
    let sample = (prop::collection::vec(frame, 0..8), labels, -3..10i64)
        .prop_map(|(frames, labels, value)| Sample { frames, labels, value });
    prop::collection::vec(sample, 0..20)
}

fn filters() -> impl Strategy<Value = Vec<Filter>> {
    let some = || prop::collection::vec(0..5u8, 1..3);
    let maybe = |filter: BoxedStrategy<Filter>| prop::option::weighted(0.25, filter);
    (
        (
            maybe(Just(Filter::LabelRoot).boxed()),
            maybe(Just(Filter::LabelLeaf).boxed()),
            maybe(prop::collection::vec(0..3u8, 1..3).prop_map(Filter::ShowLabels).boxed()),
            maybe(prop::collection::vec(0..3u8, 1..3).prop_map(Filter::HideLabels).boxed()),
            maybe((0..2u8).prop_map(Filter::ShowThreads).boxed()),
            maybe(some().prop_map(Filter::ShowStacks).boxed()),
            maybe(some().prop_map(Filter::HideStacks).boxed()),
        ),
        (
            maybe(some().prop_map(Filter::HideFrames).boxed()),
            maybe(some().prop_map(Filter::ShowFrames).boxed()),
            maybe(some().prop_map(Filter::ShowFrom).boxed()),
            maybe(some().prop_map(Filter::PruneFrom).boxed()),
            maybe(Just(Filter::WithoutInlines).boxed()),
            maybe(Just(Filter::CollapseRecursion).boxed()),
            maybe(some().prop_map(Filter::Focus).boxed()),
        ),
    )
        .prop_map(|((a, b, c, d, e, f, g), (h, i, j, k, l, m, n))| {
            [a, b, c, d, e, f, g, h, i, j, k, l, m, n].into_iter().flatten().collect()
        })
}

fn profile(samples: &[Sample]) -> Profile {
    let mut builder =
        ProfileBuilder::new("drawn", LoadOptions { labels: true, times: false, ..LoadOptions::LEAST });
    builder.metric("samples", "count");
    for sample in samples {
        let frame = |builder: &mut ProfileBuilder, (name, inlined): &(String, bool)| {
            let function = builder.named_function(name, "");
            builder.frame(Frame { function, inlined: *inlined, ..Frame::default() })
        };
        let frames: Vec<_> = sample.frames.iter().map(|drawn| frame(&mut builder, drawn)).collect();
        let stack = builder.stack(&frames);
        let label = |builder: &mut ProfileBuilder, (key, value): &(&str, String)| Label {
            key: builder.string(key),
            value: LabelValue::Text(builder.string(value)),
        };
        let mut labels: Vec<Label> = sample.labels.iter().map(|drawn| label(&mut builder, drawn)).collect();
        let labels = builder.label_set(&mut labels);
        builder.sample(stack, labels, None, &[sample.value]);
    }
    builder.finish().unwrap()
}

/// Applies a filter as the command line does.
fn filtered(profile: &Profile, filter: &Filter) -> Profile {
    let marks = |functions: &[u8]| {
        let texts: Vec<String> = functions.iter().map(|number| format!("^f{number}$")).collect();
        Marks::new(profile, &Patterns::parse(&texts, false).unwrap().0)
    };
    let labels = |values: &[u8]| -> Vec<LabelFilter> {
        values
            .iter()
            .map(|value| LabelFilter::parse(&format!("endpoint=e{value}"), false).unwrap().0)
            .collect()
    };
    match filter {
        Filter::LabelRoot => label_root(profile, &["endpoint", "thread"]).unwrap().0,
        Filter::LabelLeaf => label_leaf(profile, &["endpoint", "thread"]).unwrap().0,
        Filter::ShowLabels(values) => show_labels(profile, &labels(values)).0,
        Filter::HideLabels(values) => hide_labels(profile, &labels(values)).0,
        Filter::ShowThreads(number) => {
            show_threads(profile, &Patterns::parse(&[format!("t{number}")], false).unwrap().0).0
        }
        Filter::ShowStacks(functions) | Filter::Focus(functions) => show_stacks(profile, &marks(functions)).0,
        Filter::HideStacks(functions) => hide_stacks(profile, &marks(functions)).0,
        Filter::HideFrames(functions) => hide_frames(profile, &marks(functions)).0,
        Filter::ShowFrames(functions) => show_frames(profile, &marks(functions)).0,
        Filter::ShowFrom(functions) => show_from(profile, &marks(functions)).0,
        Filter::PruneFrom(functions) => prune_from(profile, &marks(functions)).0,
        Filter::WithoutInlines => without_inlines(profile),
        Filter::CollapseRecursion => collapse_recursion(profile),
    }
}

/// Applies a filter to one sample; `None` if the sample is dropped.
fn naively(mut sample: Sample, filter: &Filter) -> Option<Sample> {
    let has = |functions: &[u8], name: &str| functions.iter().any(|number| name == format!("f{number}"));
    let label = |key: &str| sample.labels.iter().find(|(own, _)| *own == key).map(|(_, value)| value.clone());
    let endpoint = label("endpoint");
    let is_endpoint = |values: &[u8]| values.iter().any(|value| endpoint == Some(format!("e{value}")));
    let holds = |functions: &[u8]| sample.frames.iter().any(|(name, _)| has(functions, name));
    let values =
        || endpoint.iter().cloned().chain(label("thread")).map(|value| (value, false)).collect::<Vec<_>>();
    let stays = match filter {
        Filter::ShowLabels(values) => is_endpoint(values),
        Filter::HideLabels(values) => !is_endpoint(values),
        Filter::ShowThreads(number) => label("thread") == Some(format!("t{number}")),
        Filter::ShowStacks(functions) | Filter::Focus(functions) | Filter::ShowFrom(functions) => {
            holds(functions)
        }
        Filter::HideStacks(functions) => !holds(functions),
        _ => true,
    };
    if !stays {
        return None;
    }
    match filter {
        Filter::LabelRoot => sample.frames = [values(), sample.frames.clone()].concat(),
        Filter::LabelLeaf => sample.frames = [sample.frames.clone(), values()].concat(),
        Filter::HideFrames(functions) => sample.frames.retain(|(name, _)| !has(functions, name)),
        Filter::ShowFrames(functions) => sample.frames.retain(|(name, _)| has(functions, name)),
        Filter::ShowFrom(functions) => {
            while !has(functions, &sample.frames[0].0) {
                sample.frames.remove(0);
            }
        }
        Filter::PruneFrom(functions) if holds(functions) => {
            while !has(functions, &sample.frames.last().unwrap().0) {
                sample.frames.pop();
            }
        }
        Filter::WithoutInlines => {
            let mut place = 0;
            sample.frames.retain(|(_, inlined)| {
                place += 1;
                place == 1 || !inlined
            });
        }
        Filter::CollapseRecursion => {
            let mut at = 1;
            while at < sample.frames.len() {
                if sample.frames[at - 1].0 == sample.frames[at].0 {
                    sample.frames.remove(at - 1);
                } else {
                    at += 1;
                }
            }
        }
        _ => {}
    }
    Some(sample)
}

/// The values of all samples by stack and labels. Positive and negative values are summed separately, because they must
/// not cancel.
fn summed(samples: &[Sample]) -> BTreeMap<String, (i64, i64)> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.value != 0) {
        let sum = sums.entry(format!("{:?} {:?}", sample.frames, sample.labels)).or_default();
        sum.0 += sample.value.max(0);
        sum.1 += sample.value.min(0);
    }
    sums
}

/// The samples of a profile, converted back.
fn read_back(profile: &Profile) -> Vec<Sample> {
    let (symbols, samples) = (&profile.symbols, &profile.samples);
    let text = |id| symbols.strings.get(id).to_string();
    let sample = |row: usize| {
        let frames = profile.stacks.frames(samples.stack[row]).iter();
        let labels = profile.label_sets.labels(samples.labels[row]).iter();
        let mut labels: Vec<(&'static str, String)> = labels
            .map(|label| {
                let LabelValue::Text(value) = label.value else { panic!("no numbers here") };
                (if text(label.key) == "endpoint" { "endpoint" } else { "thread" }, text(value))
            })
            .collect();
        labels.sort_unstable();
        Sample {
            frames: frames
                .map(|&frame| (symbols.frame_name(frame).to_string(), symbols.frames[frame].inlined))
                .collect(),
            labels,
            value: samples.values[0][row],
        }
    };
    (0..samples.len()).map(sample).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn filters_agree_with_the_naive_implementation(samples in samples(), filters in filters()) {
        let whole: i64 = samples.iter().map(|sample| sample.value.abs()).sum();
        let mut fast = profile(&samples);
        let mut slow = samples;
        for filter in &filters {
            fast = filtered(&fast, filter);
            slow = slow.into_iter().filter_map(|sample| naively(sample, filter)).collect();
            prop_assert_eq!(summed(&read_back(&fast)), summed(&slow), "after {:?}", filter);
        }
        let shown: i64 = slow.iter().map(|sample| sample.value.abs()).sum();
        prop_assert_eq!(fast.shown_total(0), shown);
        prop_assert_eq!(fast.meta.metrics[0].total, whole);

        let naive_samples = slow.iter().map(|sample| naive::Sample {
            stack: sample.frames.iter().rev().map(|(name, _)| name.clone()).collect(),
            values: vec![sample.value],
        });
        let naive = naive::Profile { metrics: vec!["samples".into()], samples: naive_samples.collect() };
        let counted = top(&fast, &TopOptions::new(Scope::metric(0)));
        let rows: BTreeMap<String, (i64, i64)> =
            counted.rows.iter().map(|row| (row.name.to_string(), (row.values.self_value, row.values.total))).collect();
        prop_assert_eq!(rows, naive::flat(&naive, 0).1);
    }
}
