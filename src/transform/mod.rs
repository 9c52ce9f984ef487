//! Functions from profile to profile.
//!
//! A filter does not change its input but makes a new profile, which shares the unchanged tables. It also
//! returns how many stacks it matched, so that filters that match nothing can be reported. Percentages still
//! refer to the totals of the profile as loaded. A stack that loses all its frames keeps its value.

mod adjacent;
mod align;
mod anonymize;
mod average;
mod compact;
mod contradictions;
mod copier;
mod drop_frames;
mod engine;
mod fold;
mod frames;
mod idle;
mod inlines;
mod interval;
mod label_frames;
mod labels;
mod latency;
mod marks;
mod matching;
mod merge;
mod merge_error;
mod metric_units;
mod metrics;
mod multiples;
mod order;
mod originals;
mod rename;
mod row_order;
mod stacks;
mod symbolize;
mod times;
mod trim;
mod unresolved;
mod wall;
mod what_if;

pub use adjacent::{collapse, collapse_recursion};
pub use align::{AlignError, ProfileMetric, align};
pub(crate) use align::{AlignedInput, align_owned};
pub use anonymize::{anonymize, anonymous_input};
pub use average::average;
pub use compact::compact;
pub use contradictions::{Contradiction, NamedAddresses, contradiction, named_addresses};
pub use drop_frames::drop_frames;
pub use fold::{artefacts, fold_leaves, foldable};
pub use frames::{hide_frames, show_frames};
pub use idle::{IdleStacks, idle_stacks, note_idle};
pub use inlines::without_inlines;
pub(crate) use interval::{quantile, sampling_interval};
pub use label_frames::{by_label, label_leaf, label_root};
pub use labels::{LabelFilter, THREAD_KEYS, hide_labels, show_labels, show_threads};
pub use latency::{LatencyError, by_latency};
pub use marks::Marks;
pub use matching::{
    FunctionMatch, GivenError, LibraryUpgrade, MatchMethod, MatchOptions, Matching, SideProfile,
};
pub use merge::{Sum, merge};
pub use merge_error::MergeError;
pub(crate) use metric_units::common_divisor;
pub use metrics::pick_metrics;
pub use multiples::note_multiples;
pub(crate) use order::samples_back;
pub use originals::{Original, with_originals};
pub use rename::{Rename, rename};
pub(crate) use row_order::stacks_by_row;
pub use stacks::{hide_stacks, show_stacks};
#[cfg(test)]
pub(crate) use symbolize::FRAMES_REBUILT;
pub use symbolize::{CodePlaces, address_in_file, symbolize, unnamed_addresses, unnamed_mappings};
pub use times::{RecordingSpan, TimeError, TimePoint, WhyEmpty, show_times};
pub use trim::{end_before, prune_from, show_from};
pub use unresolved::{Unresolved, UnresolvedBinary, unresolved};
pub use wall::{NoWaits, waiting_of, waits_of_stacks, with_wall};
pub use what_if::{Factor, split_recorded, what_if};
