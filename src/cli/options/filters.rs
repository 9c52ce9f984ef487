//! Options for the filters that every view shares.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion::{formats_of_convert, functions, labels};
use crate::cli::options::what_if::WhatIfArgs;
use crate::cli::terminal::failure::hinted;
use crate::filter::{Filter, FilterError, FilterKind, Filters};
use crate::pattern::containing;

/// Options that select stacks and frames.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Keep only stacks with a matching frame (repeatable: any of the patterns)
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
    /// Keep only stacks with a matching frame. tree starts them at the outermost match, and bottom-up lists only matching functions; the other views keep the callers (--show-from removes them)
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
    /// Keep only samples taken at T or later; T is 1.5s (after the start), -1.5s (before the end), or a timestamp; start and end are those of each recording that is compared
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
    /// Remove leaf frames inserted by the profiler, such as runtime.asyncPreempt, and leaf frames that match NAME (--fold=NAME); their self value moves to the caller. Applied before all other filters
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "",
        add = ArgValueCompleter::new(functions)
    )]
    pub(crate) fold: Vec<String>,
    /// Replace matches in function names with NEW, or the whole names of exact:NAME and of a set such as @gc; later filters see the new names
    #[arg(long, value_name = "RE=NEW")]
    pub(crate) rename: Vec<String>,
    /// Replace the names of functions, files, binaries and inputs, and the text of labels, with hashes
    #[arg(long)]
    pub(crate) anonymize: bool,
    /// Secret salt for the hashes of --anonymize, so that names cannot be guessed
    #[arg(long, value_name = "S", requires = "anonymize", default_value = "", hide_default_value = true)]
    pub(crate) salt: String,
    /// Treat patterns as literal text, not as regular expressions; prefixes such as file: are literal, too
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Show the frames that the profile asks to hide (drop_frames of pprof)
    #[arg(long)]
    pub(crate) all_frames: bool,
}

impl FilterArgs {
    /// The options given, as words of a command line that may have further patterns. Literal text becomes a regular expression,
    /// so that -F does not apply to those.
    pub(crate) fn repeated(&self, what_if: &WhatIfArgs) -> Vec<String> {
        let flags = self.all_frames.then(|| "--all-frames".to_string());
        let filters = self.filters_with(what_if);
        let literal = |filter: &Filter| {
            let text = match filter.text.rsplit_once('=') {
                _ if !self.fixed_strings => filter.text.clone(),
                Some((pattern, factor)) if filter.kind == FilterKind::WhatIf => {
                    format!("{}={factor}", containing(pattern))
                }
                _ if filter.kind.takes_pattern() => containing(&filter.text),
                _ => filter.text.clone(),
            };
            Filter { text, ..filter.clone() }
        };
        filters.list().iter().flat_map(|filter| literal(filter).words()).chain(flags).collect()
    }

    /// The functions that `--fold` names, as words of a command line.
    pub(crate) fn folds_repeated(&self) -> Vec<String> {
        let mut words = self.repeated(&WhatIfArgs::default());
        words.retain(|word| word.starts_with("--fold="));
        words
    }

    /// The filters given.
    pub(crate) fn filters(&self) -> Filters {
        self.filters_with(&WhatIfArgs::default())
    }

    /// The filters given, and changes of costs.
    pub(crate) fn filters_with(&self, what_if: &WhatIfArgs) -> Filters {
        let lists = [
            (FilterKind::Fold, &self.fold[..]),
            (FilterKind::Rename, &self.rename),
            (FilterKind::LabelRoot, &self.label_root),
            (FilterKind::LabelLeaf, &self.label_leaf),
            (FilterKind::Label, &self.label),
            (FilterKind::HideLabel, &self.hide_label),
            (FilterKind::Thread, &self.thread),
            (FilterKind::From, self.from.as_slice()),
            (FilterKind::To, self.to.as_slice()),
            (FilterKind::ShowStacks, &self.show_stacks),
            (FilterKind::HideStacks, &self.hide_stacks),
            (FilterKind::HideFrames, &self.hide_frames),
            (FilterKind::ShowFrames, &self.show_frames),
            (FilterKind::ShowFrom, &self.show_from),
            (FilterKind::PruneFrom, &self.prune_from),
            (FilterKind::Focus, &self.focus),
        ];
        let flags = [
            (self.no_inlines, FilterKind::NoInlines, ""),
            (self.collapse_recursion, FilterKind::CollapseRecursion, ""),
            (self.anonymize, FilterKind::Anonymize, &*self.salt),
        ];
        let texts = |(kind, texts): (FilterKind, &'_ [String])| {
            texts.iter().map(|text| (kind, text.clone())).collect::<Vec<_>>()
        };
        let flags = flags.iter().filter(|(is_given, ..)| *is_given);
        let flags = flags.map(|(_, kind, text)| (*kind, (*text).to_string()));
        let typed = lists.into_iter().flat_map(texts).chain(flags).chain(what_if.filters());
        Filters::typed(typed, self.fixed_strings)
    }
}

/// The error of a filter, in the terms of the command line.
pub(crate) fn explain(error: FilterError) -> anyhow::Error {
    match error.hint() {
        Some(hint) => hinted(error.to_string(), hint),
        None => anyhow::Error::new(error),
    }
}
