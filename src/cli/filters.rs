//! The filters that every view shares, in the order in which they are applied.

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion::{formats_of_convert, functions, labels};
use crate::cli::failure::hinted;
use crate::cli::matching::Stages;
use crate::profile::{LoadOptions, Profile};
use crate::transform::{
    Marks, anonymize, collapse_recursion, end_before, hide_frames, hide_stacks, prune_from, show_frames,
    show_from, show_stacks, without_inlines,
};
use crate::tree::{By, join_adjacent};

/// Which stacks and frames to look at.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Keep the stacks that hold a match
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    pub(crate) show_stacks: Vec<String>,
    /// Drop the stacks that hold a match
    #[arg(long, value_name = "RE", alias = "ignore", add = ArgValueCompleter::new(functions))]
    pub(crate) hide_stacks: Vec<String>,
    /// Keep matching frames only; what the others did themselves is their caller's
    #[arg(long, value_name = "RE", alias = "show", add = ArgValueCompleter::new(functions))]
    pub(crate) show_frames: Vec<String>,
    /// Remove matching frames; what they did themselves is their caller's
    #[arg(long, value_name = "RE", alias = "hide", add = ArgValueCompleter::new(functions))]
    pub(crate) hide_frames: Vec<String>,
    /// Start stacks at the outermost match; others are dropped
    #[arg(long, value_name = "RE", alias = "show_from", add = ArgValueCompleter::new(functions))]
    pub(crate) show_from: Vec<String>,
    /// End stacks at the innermost match
    #[arg(long, value_name = "RE", alias = "prune_from", add = ArgValueCompleter::new(functions))]
    pub(crate) prune_from: Vec<String>,
    /// Keep stacks through a match; trees lay what it calls below it, flame its callers above too
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    pub(crate) focus: Vec<String>,
    /// Keep samples by label: K=V, K=~RE, K=LO:HI with units, or K
    #[arg(long, value_name = "K=V", aliases = ["tag-focus", "tagfocus"], add = ArgValueCompleter::new(labels))]
    pub(crate) label: Vec<String>,
    /// Drop samples by label
    #[arg(long, value_name = "K=V", aliases = ["tag-ignore", "tagignore"], add = ArgValueCompleter::new(labels))]
    pub(crate) hide_label: Vec<String>,
    /// Put the value of a label above every stack
    #[arg(long, value_name = "K", value_delimiter = ',', aliases = ["tag-root", "tagroot"], add = ArgValueCompleter::new(labels))]
    pub(crate) label_root: Vec<String>,
    /// Put the value of a label below every stack
    #[arg(long, value_name = "K", value_delimiter = ',', aliases = ["tag-leaf", "tagleaf"], add = ArgValueCompleter::new(labels))]
    pub(crate) label_leaf: Vec<String>,
    /// Keep threads and processes by name or id
    #[arg(long, value_name = "RE")]
    pub(crate) thread: Vec<String>,
    /// Keep samples taken at T or later: 1.5s from the start, -1.5s from the end, or a timestamp
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Keep samples taken before T
    #[arg(
        long, value_name = "T", allow_hyphen_values = true,
        add = ArgValueCompleter::new(formats_of_convert)
    )]
    pub(crate) to: Option<String>,
    /// Count inlined frames for the function they are inlined in
    #[arg(long, alias = "noinlines")]
    pub(crate) no_inlines: bool,
    /// Make one frame of direct recursion
    #[arg(long)]
    pub(crate) collapse_recursion: bool,
    /// Add the self of frames that the profiler itself put at the end of stacks to their callers; of NAME, too. Applied first
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "",
        add = ArgValueCompleter::new(functions)
    )]
    pub(crate) fold: Vec<String>,
    /// Replace what matches in the names of functions; applied before the filters that select
    #[arg(long, value_name = "RE=NEW")]
    pub(crate) rename: Vec<String>,
    /// Replace names of functions, files, binaries and the text of labels by hashes, at the end
    #[arg(long)]
    pub(crate) anonymize: bool,
    /// What the hashes start from; keep it secret, or names can be guessed
    #[arg(long, value_name = "S", requires = "anonymize", default_value = "", hide_default_value = true)]
    pub(crate) salt: String,
    /// Take patterns literally
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Keep the frames that the profile itself says to drop
    #[arg(long)]
    pub(crate) all_frames: bool,
    /// What of a stack the view wants to see; it says so, not the person.
    #[arg(skip)]
    pub(crate) around_focus: AroundFocus,
}

/// What of the stacks through `--focus` a view wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AroundFocus {
    /// The whole stack.
    #[default]
    All,
    /// What is called from the outermost match, itself on top.
    Callees,
    /// What leads to the innermost match, itself at the end.
    Callers,
    /// What is called from the outermost match, and apart from it what leads there.
    Both,
    /// All stacks: the view applies the focus itself.
    Untouched,
}

/// A filtered profile, and what was said about filtering it.
pub(crate) struct Filtered {
    pub(crate) profile: Profile,
    /// The filters as typed, in the order they were applied.
    pub(crate) typed: Vec<String>,
    /// What `--focus` means, where it was given.
    pub(crate) focus: Option<Marks>,
    /// What leads to `--focus`, where the view draws that apart.
    pub(crate) callers: Option<Profile>,
    /// Patterns that were taken otherwise than typed.
    pub(crate) notes: Vec<String>,
}

impl FilterArgs {
    /// What the filters need to have loaded.
    pub(crate) fn needs(&self) -> LoadOptions {
        let labels = [&self.label, &self.hide_label, &self.label_root, &self.label_leaf, &self.thread];
        LoadOptions {
            labels: labels.iter().any(|given| !given.is_empty()),
            times: self.from.is_some() || self.to.is_some(),
            ..LoadOptions::LEAST
        }
    }

    /// Whether none was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.typed().is_empty()
    }

    /// Applies the filters, whatever the order they were typed in, and makes frames what `by` says.
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
        stages.hide("--hide-frames", &self.hide_frames, hide_frames)?;
        stages.show("--show-frames", &self.show_frames, show_frames)?;
        stages.show("--show-from", &self.show_from, show_from)?;
        stages.hide("--prune-from", &self.prune_from, prune_from)?;
        if self.no_inlines {
            stages.profile = without_inlines(&stages.profile);
        }
        if self.collapse_recursion {
            stages.profile = collapse_recursion(&stages.profile);
        }
        let mut focus = match self.around_focus {
            AroundFocus::Untouched => {
                stages.show("--focus", &self.focus, |profile, _| (profile.clone(), 0))?;
                None
            }
            _ => stages.show("--focus", &self.focus, show_stacks)?,
        };
        let mut callers = None;
        if let Some(marks) = &focus {
            if self.around_focus == AroundFocus::Both {
                callers = Some(end_before(&stages.profile, marks).0);
            }
            stages.profile = match self.around_focus {
                AroundFocus::All | AroundFocus::Untouched => stages.profile,
                AroundFocus::Callees | AroundFocus::Both => show_from(&stages.profile, marks).0,
                AroundFocus::Callers => prune_from(&stages.profile, marks).0,
            };
        }
        if self.anonymize {
            // Last, so that patterns are about the names as they were.
            let hide = |profile: &Profile| anonymize(profile, &self.salt);
            (stages.profile, callers) = (hide(&stages.profile), callers.as_ref().map(hide));
        }
        match by {
            By::Label(key) => {
                stages.by_label(key)?;
                // The nodes are values now, and no view starts at functions.
                (focus, callers) = (None, None);
            }
            by => {
                let join = |profile: &Profile| join_adjacent(profile, by);
                (stages.profile, callers) = (join(&stages.profile), callers.as_ref().map(join));
            }
        }
        Ok(Filtered { profile: stages.profile, typed: self.typed(), focus, callers, notes: stages.notes })
    }

    /// Renames the functions of a profile that holds calls; other filters are about stacks.
    fn apply_to_calls(&self, profile: Profile, by: &By) -> Result<Filtered> {
        // Profilers that count calls leave no artefacts, so that `--fold` alone asks for nothing.
        let fold = self.fold.iter().filter(|name| !name.is_empty()).cloned().collect();
        let others = FilterArgs { rename: Vec::new(), anonymize: false, fold, ..self.clone() };
        if let Some(filter) = others.typed().first() {
            let format = profile.meta.format;
            let message = format!(
                "{filter}: {format} holds calls between functions; what stands on one stack is not known"
            );
            return Err(hinted(message, "prof focus FUNC shows what calls a function, and what it calls"));
        }
        let mut stages = Stages::new(profile, self.fixed_strings, by);
        stages.rename(&self.rename)?;
        if self.anonymize {
            stages.profile = anonymize(&stages.profile, &self.salt);
        }
        let (focus, callers) = (None, None);
        Ok(Filtered { profile: stages.profile, typed: self.typed(), focus, callers, notes: stages.notes })
    }

    /// The filters as typed, in the order they are applied.
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
        if self.around_focus != AroundFocus::Untouched {
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

/// A value as it can be typed into a shell.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,…".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_string();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}
