//! Filters on hostile input: lines such as `hide-frames a+b`, an empty line, and stacks in the collapsed format.
//!
//! Whatever the patterns and the stacks, a filter makes a profile whose ids are within their tables; one that changes frames
//! keeps the sum of the values; and the stacks that a pattern shows and those that it hides are all stacks.

use prof::format::{Source, load, named};
use prof::pattern::Patterns;
use prof::profile::{Budget, LoadOptions, Profile};
use prof::transform::{
    Marks, Rename, collapse_recursion, end_before, hide_frames, hide_stacks, prune_from, rename, show_frames,
    show_from, show_stacks, without_inlines,
};

use crate::check::{guarded, ids_are_sound};
use crate::views;

/// Memory that the stacks may take.
const MEMORY: u64 = 64 << 20;

/// What mutation starts from, and what counts as a word.
pub const WORDS: &[&str] = &[
    "show-stacks ",
    "hide-stacks ",
    "show-frames ",
    "hide-frames ",
    "show-from ",
    "prune-from ",
    "end-before ",
    "rename ",
    "collapse-recursion",
    "no-inlines",
    "function:",
    "file:",
    "module:",
    "^",
    "$",
    ".*",
    "(",
    "|",
    ";",
    " 1\n",
    "\n\n",
    "@idle",
    "=$1",
];

/// Applies the filters of an input one after the other, and shows what is left in view number `view`.
pub fn check(bytes: &[u8], view: usize) -> Result<(), String> {
    guarded(|| apply(bytes, view))
}

fn apply(bytes: &[u8], view: usize) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let Some((filters, stacks)) = text.split_once("\n\n") else { return Ok(()) };
    let options = LoadOptions { budget: Budget::of(MEMORY), ..LoadOptions::ALL };
    let mut source = Source::from_bytes(stacks.as_bytes().to_vec());
    let Ok(mut profile) = load(&mut source, options, named("collapsed")) else { return Ok(()) };
    // The command line refuses metrics whose total does not fit in 64 bits.
    if profile.meta.metrics.iter().any(|metric| metric.too_large) {
        return Ok(());
    }
    for line in filters.lines().take(6) {
        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
        profile = filtered(&profile, name, argument)?;
    }
    views::show(&profile, view)
}

fn filtered(profile: &Profile, name: &str, argument: &str) -> Result<Profile, String> {
    let before = sum(profile);
    let marks = Patterns::parse(&[argument], false).map(|(patterns, _)| Marks::new(profile, &patterns));
    let (after, keeps_values) = match (name, marks) {
        ("collapse-recursion", _) => (collapse_recursion(profile), true),
        ("no-inlines", _) => (without_inlines(profile), true),
        ("rename", _) => match Rename::parse(argument, false) {
            Some(renaming) => (rename(profile, &renaming).0, true),
            None => (profile.clone(), true),
        },
        ("hide-frames", Ok(marks)) => (hide_frames(profile, &marks).0, true),
        ("show-frames", Ok(marks)) => (show_frames(profile, &marks).0, true),
        ("show-from", Ok(marks)) => (show_from(profile, &marks).0, false),
        ("prune-from", Ok(marks)) => (prune_from(profile, &marks).0, true),
        ("end-before", Ok(marks)) => (end_before(profile, &marks).0, false),
        ("show-stacks" | "hide-stacks", Ok(marks)) => {
            let (shown, hidden) = (show_stacks(profile, &marks).0, hide_stacks(profile, &marks).0);
            ids_are_sound(&hidden)?;
            if sum(&shown) + sum(&hidden) != before {
                return Err(format!(
                    "parts: {argument} shows {} and hides {} of {before}",
                    sum(&shown),
                    sum(&hidden)
                ));
            }
            (if name == "show-stacks" { shown } else { hidden }, false)
        }
        _ => (profile.clone(), true),
    };
    ids_are_sound(&after)?;
    if keeps_values && sum(&after) != before {
        return Err(format!("values: {name} {argument} leaves {} of {before}", sum(&after)));
    }
    Ok(after)
}

/// Σ |value| of the first metric.
fn sum(profile: &Profile) -> i128 {
    let values = profile.samples.values.first().into_iter().flatten();
    values.map(|&value| i128::from(value).abs()).sum()
}
