//! The kinds of filters.

use crate::profile::LoadOptions;

/// What a filter does. The order of the variants is the order in which filters are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FilterKind {
    /// Removes leaf frames that the profiler itself inserted, and those that match.
    Fold,
    /// `RE=NEW`: replaces matches in function names. Later filters see the new names.
    Rename,
    /// Prepends the value of this label as the root frame of each stack.
    LabelRoot,
    /// Appends the value of this label as the leaf frame of each stack.
    LabelLeaf,
    /// Keeps only samples with a label, such as `key=value`.
    Label,
    /// Drops samples with a label.
    HideLabel,
    /// Keeps only matching threads and processes.
    Thread,
    /// Keeps only samples taken at this time or later.
    From,
    /// Keeps only samples taken before this time.
    To,
    /// `RE=0.5`: multiplies the values of the stacks with a matching frame.
    WhatIf,
    /// Keeps only stacks with a matching frame.
    ShowStacks,
    /// Drops stacks with a matching frame.
    HideStacks,
    /// Removes matching frames; their self value moves to the caller.
    HideFrames,
    /// Keeps only matching frames; the self value of removed frames moves to the caller.
    ShowFrames,
    /// Starts each stack at the matching frame nearest the root; drops stacks without a match.
    ShowFrom,
    /// Ends each stack at the matching frame nearest the leaf.
    PruneFrom,
    /// Counts inlined functions as part of their caller.
    NoInlines,
    /// Merges a function that calls itself directly into one frame.
    CollapseRecursion,
    /// Keeps only stacks with a matching frame, and the part of them that a view shows.
    Focus,
    /// Replaces names with hashes; the text is the salt.
    Anonymize,
}

impl FilterKind {
    /// All kinds, in the order in which they are applied.
    pub const ALL: [FilterKind; 20] = [
        FilterKind::Fold,
        FilterKind::Rename,
        FilterKind::LabelRoot,
        FilterKind::LabelLeaf,
        FilterKind::Label,
        FilterKind::HideLabel,
        FilterKind::Thread,
        FilterKind::From,
        FilterKind::To,
        FilterKind::WhatIf,
        FilterKind::ShowStacks,
        FilterKind::HideStacks,
        FilterKind::HideFrames,
        FilterKind::ShowFrames,
        FilterKind::ShowFrom,
        FilterKind::PruneFrom,
        FilterKind::NoInlines,
        FilterKind::CollapseRecursion,
        FilterKind::Focus,
        FilterKind::Anonymize,
    ];

    /// The option on the command line.
    pub fn option(self) -> &'static str {
        match self {
            FilterKind::Fold => "--fold",
            FilterKind::Rename => "--rename",
            FilterKind::LabelRoot => "--label-root",
            FilterKind::LabelLeaf => "--label-leaf",
            FilterKind::Label => "--label",
            FilterKind::HideLabel => "--hide-label",
            FilterKind::Thread => "--thread",
            FilterKind::From => "--from",
            FilterKind::To => "--to",
            FilterKind::WhatIf => "--what-if",
            FilterKind::ShowStacks => "--show-stacks",
            FilterKind::HideStacks => "--hide-stacks",
            FilterKind::HideFrames => "--hide-frames",
            FilterKind::ShowFrames => "--show-frames",
            FilterKind::ShowFrom => "--show-from",
            FilterKind::PruneFrom => "--prune-from",
            FilterKind::NoInlines => "--no-inlines",
            FilterKind::CollapseRecursion => "--collapse-recursion",
            FilterKind::Focus => "--focus",
            FilterKind::Anonymize => "--anonymize",
        }
    }

    /// Whether the filter is described without its text: it has none, or it is a secret.
    pub(super) fn is_flag(self) -> bool {
        matches!(self, FilterKind::NoInlines | FilterKind::CollapseRecursion | FilterKind::Anonymize)
    }

    /// Whether the text is a pattern of frames.
    pub fn takes_pattern(self) -> bool {
        (FilterKind::ShowStacks..=FilterKind::PruneFrom).contains(&self) || self == FilterKind::Focus
    }

    /// What has to be loaded.
    pub(super) fn needs(self) -> LoadOptions {
        LoadOptions {
            labels: (FilterKind::LabelRoot..=FilterKind::Thread).contains(&self),
            times: matches!(self, FilterKind::From | FilterKind::To),
            ..LoadOptions::LEAST
        }
    }
}
