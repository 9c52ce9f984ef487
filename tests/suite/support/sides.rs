//! Comparisons of two sides, for tests.

use prof::profile::{LoadOptions, Profile, from_notation};
use prof::report::{Diff, DiffRow, DiffSide, RowTest};
use prof::transform::{artefacts, fold_leaves};
use prof::tree::By;
use prof::view::{DiffOptions, DiffSides, align_sides, diff};

/// Compares profiles, each with the index of its metric, like `prof diff`.
pub fn compare(old: &[(&Profile, usize)], new: &[(&Profile, usize)], options: &DiffOptions) -> Diff {
    compare_keeping(LoadOptions::LEAST, old, new, options)
}

/// Compares drawings of stacks with labels; several drawings per side are repeated runs.
pub fn compare_labelled(old: &[String], new: &[String], options: &DiffOptions) -> Diff {
    let draw =
        |pictures: &[String]| -> Vec<Profile> { pictures.iter().map(|text| from_notation(text)).collect() };
    let (old, new) = (draw(old), draw(new));
    let old: Vec<(&Profile, usize)> = old.iter().map(|profile| (profile, 0)).collect();
    let new: Vec<(&Profile, usize)> = new.iter().map(|profile| (profile, 0)).collect();
    compare_keeping(LoadOptions { labels: true, ..LoadOptions::LEAST }, &old, &new, options)
}

fn compare_keeping(
    keep: LoadOptions,
    old: &[(&Profile, usize)],
    new: &[(&Profile, usize)],
    options: &DiffOptions,
) -> Diff {
    let all: Vec<(&Profile, usize)> = old.iter().chain(new).copied().collect();
    let (whole, size) = align_sides(&all, keep).expect("profiles that fit each other");
    let side = |profiles: &[(&Profile, usize)]| DiffSide {
        chosen: None,
        profiles: profiles.len(),
        total: profiles.iter().map(|(profile, metric)| profile.meta.metrics[*metric].total).sum(),
        ..DiffSide::default()
    };
    let sides = DiffSides::new(side(old), side(new), size);
    diff(&fold_leaves(&whole, &artefacts(&whole)).0, sides, options).expect("options in their ranges")
}

/// Compares drawings of stacks; several drawings per side are repeated runs.
pub fn compare_drawn(old: &[&str], new: &[&str], options: &DiffOptions) -> Diff {
    let draw =
        |pictures: &[&str]| -> Vec<Profile> { pictures.iter().map(|text| from_notation(text)).collect() };
    let (old, new) = (draw(old), draw(new));
    let old: Vec<(&Profile, usize)> = old.iter().map(|profile| (profile, 0)).collect();
    let new: Vec<(&Profile, usize)> = new.iter().map(|profile| (profile, 0)).collect();
    compare(&old, &new, options)
}

/// The rows that have a verdict, as `verdict name (self)`.
pub fn verdicts(diff: &Diff) -> Vec<String> {
    let word = |row: &DiffRow| {
        let measure = if row.test == RowTest::SelfCount { " (self)" } else { "" };
        format!("{} {}{measure}", row.verdict.word(), row.name)
    };
    diff.rows.iter().filter(|row| !row.verdict.word().is_empty()).map(word).collect()
}

/// The default options, but for all functions.
pub fn usual() -> DiffOptions {
    DiffOptions::new(By::Function)
}
