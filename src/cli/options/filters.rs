//! Filters that every view shares, and the order in which they are applied.

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion::{formats_of_convert, functions, labels};
use crate::cli::options::matching::Stages;
use crate::cli::terminal::failure::hinted;
use crate::profile::{LoadOptions, Profile};
use crate::transform::{
    Marks, anonymize, collapse_recursion, end_before, hide_frames, hide_stacks, prune_from, show_frames,
    show_from, show_stacks, without_inlines,
};
use crate::tree::{By, join_adjacent};

/// Options that select stacks and frames.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Keep only stacks with a matching frame
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    pub(crate) show_stacks: Vec<String>,
    /// Drop stacks with a matching frame
    #[arg(long, value_name = "RE", alias = "ignore", add = ArgValueCompleter::new(functions))]
    pub(crate) hide_stacks: Vec<String>,
    /// Keep only matching frames; the self value of removed frames moves to the caller
    #[arg(long, value_name = "RE", alias = "show", add = ArgValueCompleter::new(functions))]
    pub(crate) show_frames: Vec<String>,
    /// Remove matching frames; their self value moves to the caller
    #[arg(long, value_name = "RE", alias = "hide", add = ArgValueCompleter::new(functions))]
    pub(crate) hide_frames: Vec<String>,
    /// Start each stack at the matching frame nearest the root; drop stacks without a match
    #[arg(long, value_name = "RE", alias = "show_from", add = ArgValueCompleter::new(functions))]
    pub(crate) show_from: Vec<String>,
    /// End each stack at the matching frame nearest the leaf; keep stacks without a match unchanged
    #[arg(long, value_name = "RE", alias = "prune_from", add = ArgValueCompleter::new(functions))]
    pub(crate) prune_from: Vec<String>,
    /// Keep only stacks with a matching frame, and start them at that frame (flame: also show its callers)
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    pub(crate) focus: Vec<String>,
    /// Keep only samples with a label: K (any value), K=V, K=~RE (regular expression), or K=LO:HI (range, such as bytes=1mb:2mb)
    #[arg(long, value_name = "K=V", aliases = ["tag-focus", "tagfocus"], add = ArgValueCompleter::new(labels))]
    pub(crate) label: Vec<String>,
    /// Drop samples with a label (same syntax as --label)
    #[arg(long, value_name = "K=V", aliases = ["tag-ignore", "tagignore"], add = ArgValueCompleter::new(labels))]
    pub(crate) hide_label: Vec<String>,
    /// Prepend the label's value as the root frame of each stack
    #[arg(long, value_name = "K", value_delimiter = ',', aliases = ["tag-root", "tagroot"], add = ArgValueCompleter::new(labels))]
    pub(crate) label_root: Vec<String>,
    /// Append the label's value as the leaf frame of each stack
    #[arg(long, value_name = "K", value_delimiter = ',', aliases = ["tag-leaf", "tagleaf"], add = ArgValueCompleter::new(labels))]
    pub(crate) label_leaf: Vec<String>,
    /// Keep only threads and processes whose name or ID matches
    #[arg(long, value_name = "RE")]
    pub(crate) thread: Vec<String>,
    /// Keep only samples taken at T or later; T is 1.5s (after the start), -1.5s (before the end), or a timestamp
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Keep only samples taken before T
    #[arg(
        long, value_name = "T", allow_hyphen_values = true,
        add = ArgValueCompleter::new(formats_of_convert)
    )]
    pub(crate) to: Option<String>,
    /// Count inlined functions as part of their caller
    #[arg(long, alias = "noinlines")]
    pub(crate) no_inlines: bool,
    /// Merge a function that calls itself directly into one frame
    #[arg(long)]
    pub(crate) collapse_recursion: bool,
    /// Remove leaf frames inserted by the profiler, such as runtime.asyncPreempt, and leaf frames that match NAME; their self value moves to the caller. Applied before all other filters
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "",
        add = ArgValueCompleter::new(functions)
    )]
    pub(crate) fold: Vec<String>,
    /// Replace matches in function names with NEW; later filters see the new names
    #[arg(long, value_name = "RE=NEW")]
    pub(crate) rename: Vec<String>,
    /// Replace the names of functions, files and binaries, and the text of labels, with hashes
    #[arg(long)]
    pub(crate) anonymize: bool,
    /// Secret salt for the hashes of --anonymize, so that names cannot be guessed
    #[arg(long, value_name = "S", requires = "anonymize", default_value = "", hide_default_value = true)]
    pub(crate) salt: String,
    /// Treat patterns as literal text, not as regular expressions
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Do not apply the profile's own drop rules (drop_frames)
    #[arg(long)]
    pub(crate) all_frames: bool,
    /// The part of the stacks through `--focus` to keep. Set by the view, not on the command line.
    #[arg(skip)]
    pub(crate) focus_part: FocusPart,
}

/// The part of the stacks through `--focus` that a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FocusPart {
    /// The whole stack.
    #[default]
    All,
    /// From the outermost match to the leaf.
    Callees,
    /// From the root to the innermost match.
    Callers,
    /// From the outermost match to the leaf and, separately, from the root to that match.
    Both,
    /// All stacks: the view applies the focus itself.
    Untouched,
}

/// A filtered profile, and notes about the filters.
pub(crate) struct Filtered {
    pub(crate) profile: Profile,
    /// The filters as typed, in the order they were applied.
    pub(crate) typed: Vec<String>,
    /// The functions that `--focus` matches, if it was given.
    pub(crate) focus: Option<Marks>,
    /// The callers of `--focus`, for a view that draws them separately.
    pub(crate) callers: Option<Profile>,
    /// Notes on patterns that were not used as typed.
    pub(crate) notes: Vec<String>,
    /// For each metric, the value of the stacks that lost all their frames to `--hide-frames` and `--show-frames`.
    pub(crate) emptied: Vec<i64>,
}

impl FilterArgs {
    /// What has to be loaded for these filters.
    pub(crate) fn needs(&self) -> LoadOptions {
        let labels = [&self.label, &self.hide_label, &self.label_root, &self.label_leaf, &self.thread];
        LoadOptions {
            labels: labels.iter().any(|given| !given.is_empty()),
            times: self.from.is_some() || self.to.is_some(),
            ..LoadOptions::LEAST
        }
    }

    /// Whether no filter was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.typed().is_empty()
    }

    /// Applies the filters, always in the same order, and groups frames by `by`.
    pub(crate) fn apply(&self, profile: Profile, by: &By) -> Result<Filtered> {
        if profile.calls.is_some() {
            return self.apply_to_calls(profile, by);
        }
        let mut stages = Stages::new(profile, self.fixed_strings, by);
        stages.fold(&self.fold)?;
        stages.rename(&self.rename)?;
        stages.label_frames(&self.label_root, &self.label_leaf)?;
        stages.show_labels(&self.label)?;
        stages.hide_labels(&self.hide_label)?;
        stages.show_threads(&self.thread)?;
        stages.show_times(self.from.as_deref(), self.to.as_deref())?;
        stages.show("--show-stacks", &self.show_stacks, show_stacks)?;
        stages.hide("--hide-stacks", &self.hide_stacks, hide_stacks)?;
        let without_frames = |profile: &Profile| -> Vec<i64> {
            (0..profile.meta.metrics.len()).map(|metric| profile.no_stack(metric)).collect()
        };
        let hides_frames = !self.hide_frames.is_empty() || !self.show_frames.is_empty();
        let before = if hides_frames { without_frames(&stages.profile) } else { Vec::new() };
        stages.hide("--hide-frames", &self.hide_frames, hide_frames)?;
        stages.show("--show-frames", &self.show_frames, show_frames)?;
        let emptied = if hides_frames { without_frames(&stages.profile) } else { Vec::new() };
        let emptied =
            emptied.iter().zip(before).map(|(after, before)| after.saturating_sub(before)).collect();
        stages.show("--show-from", &self.show_from, show_from)?;
        stages.hide("--prune-from", &self.prune_from, prune_from)?;
        if self.no_inlines {
            stages.profile = without_inlines(&stages.profile);
        }
        if self.collapse_recursion {
            stages.profile = collapse_recursion(&stages.profile);
        }
        let mut focus = match self.focus_part {
            FocusPart::Untouched => {
                stages.show("--focus", &self.focus, |profile, _| (profile.clone(), 0))?;
                None
            }
            _ => stages.show("--focus", &self.focus, show_stacks)?,
        };
        let mut callers = None;
        if let Some(marks) = &focus {
            if self.focus_part == FocusPart::Both {
                callers = Some(end_before(&stages.profile, marks).0);
            }
            stages.profile = match self.focus_part {
                FocusPart::All | FocusPart::Untouched => stages.profile,
                FocusPart::Callees | FocusPart::Both => show_from(&stages.profile, marks).0,
                FocusPart::Callers => prune_from(&stages.profile, marks).0,
            };
        }
        if self.anonymize {
            // Last, so that patterns match the original names.
            let hide = |profile: &Profile| anonymize(profile, &self.salt);
            (stages.profile, callers) = (hide(&stages.profile), callers.as_ref().map(hide));
        }
        match by {
            By::Label(key) => {
                stages.by_label(key)?;
                // The nodes are label values now, so there is no function to focus on.
                (focus, callers) = (None, None);
            }
            by => {
                let join = |profile: &Profile| join_adjacent(profile, by);
                (stages.profile, callers) = (join(&stages.profile), callers.as_ref().map(join));
            }
        }
        let typed = self.typed();
        Ok(Filtered { profile: stages.profile, typed, focus, callers, notes: stages.notes, emptied })
    }

    /// Renames the functions of a profile that holds calls. All other filters need stacks and are refused.
    fn apply_to_calls(&self, profile: Profile, by: &By) -> Result<Filtered> {
        // Profilers that count calls leave no artefacts, so `--fold` without a name has nothing to do.
        let fold = self.fold.iter().filter(|name| !name.is_empty()).cloned().collect();
        let others = FilterArgs { rename: Vec::new(), anonymize: false, fold, ..self.clone() };
        if let Some(filter) = others.typed().first() {
            let format = profile.meta.format;
            let message = format!("{filter}: {format} records calls between functions, not whole stacks");
            return Err(hinted(message, "prof focus FUNC shows the callers and callees of a function"));
        }
        let mut stages = Stages::new(profile, self.fixed_strings, by);
        stages.rename(&self.rename)?;
        if self.anonymize {
            stages.profile = anonymize(&stages.profile, &self.salt);
        }
        Ok(Filtered {
            profile: stages.profile,
            typed: self.typed(),
            focus: None,
            callers: None,
            notes: stages.notes,
            emptied: Vec::new(),
        })
    }

    /// The filters as they could be typed, in the order they are applied.
    fn typed(&self) -> Vec<String> {
        let mut typed = Vec::new();
        let named =
            |name: &String| if name.is_empty() { String::new() } else { format!("={}", quoted(name)) };
        typed.extend(self.fold.iter().map(|name| format!("--fold{}", named(name))));
        let mut add = |option: &str, values: &[String]| {
            typed.extend(values.iter().map(|value| format!("{option} {}", quoted(value))));
        };
        add("--rename", &self.rename);
        add("--label-root", &self.label_root);
        add("--label-leaf", &self.label_leaf);
        add("--label", &self.label);
        add("--hide-label", &self.hide_label);
        add("--thread", &self.thread);
        add("--from", self.from.as_slice());
        add("--to", self.to.as_slice());
        add("--show-stacks", &self.show_stacks);
        add("--hide-stacks", &self.hide_stacks);
        add("--hide-frames", &self.hide_frames);
        add("--show-frames", &self.show_frames);
        add("--show-from", &self.show_from);
        add("--prune-from", &self.prune_from);
        if self.focus_part != FocusPart::Untouched {
            add("--focus", &self.focus);
        }
        let flags = [
            (self.no_inlines, "--no-inlines"),
            (self.collapse_recursion, "--collapse-recursion"),
            (self.anonymize, "--anonymize"),
        ];
        typed.extend(flags.iter().filter(|(given, _)| *given).map(|(_, option)| (*option).to_string()));
        typed
    }
}

/// Quotes a value for a shell.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,…".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_string();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}
