//! Reports: the results of views, as plain data that every output format prints.
//!
//! Values are integers and are never rounded or scaled here. Field names are the keys of the JSON output, which
//! scripts rely on: a change of meaning needs a new `schema`.
//! Types are `#[non_exhaustive]`: like the documents, they may gain fields.

mod cause;
mod diff;
mod flame;
mod focus;
mod graph;
mod header;
mod hot;
mod info;
mod into;
mod labels;
mod message;
mod page;
mod source;
mod top;
mod traces;
mod tree;
mod types;
mod values;

use std::sync::Arc;

pub use cause::{CauseKind, DiffCause, Growth, MixChange, MixKind, TotalGrowth};
pub use diff::{
    BudgetCheck, Detectable, Diff, DiffNoise, DiffOutcome, DiffRow, DiffSide, DiffVerdict, DoubtfulCore,
    EffectiveSamples, Folded, Matched, Moved, RowTest, RowVerdict, Strictness, TYPICAL_SHARE,
};
pub use flame::{Flame, FlameNode};
pub use focus::{CountedFrom, CutRows, Focus, FocusMatch, Neighbour, NeighbourKind, Overlap};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use header::{
    Artefact, Base, Combined, Grouping, Header, Highlight, MetricName, MetricTotal, PerEvent, Recording,
    Rescaling, Selection,
};
pub use hot::{Hot, HotSequence, PathStep};
pub use info::{Depth, Info, InfoInput, InfoLabel, InfoMetric, InfoPeriod};
pub use labels::{LabelKey, LabelShare, LabelText, Labels};
pub use message::{Message, MessageKind};
pub use page::{Page, PageMetric, PageName, PagePlace};
pub use source::{AnnotatedSource, Origin, SourceFunction, SourceLine};
pub use top::{Top, TopRow};
pub use traces::{Trace, Traces};
pub use tree::{Direction, Tree, TreeRow};
pub use types::{TypeRow, Types};
pub use values::{ByMetric, Pair, Values};

use serde::Serialize;

/// A name as recorded in the profile; shared, because trees repeat names.
pub type Name = Arc<str>;

/// The result of a view.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Report {
    /// The flat view.
    Top(Top),
    /// The call tree, top-down or bottom-up.
    Tree(Tree),
    /// One function with its callers and callees.
    Focus(Focus),
    /// The heaviest path, and the repeated call sequences.
    Hot(Hot),
    /// Source lines with their values.
    Source(AnnotatedSource),
    /// Label keys and values.
    Labels(Labels),
    /// Distinct stacks.
    Traces(Traces),
    /// The known profile types.
    Types(Types),
    /// The call graph.
    Graph(Graph),
    /// The contents of the input.
    Info(Info),
    /// The call tree to be drawn.
    Flame(Flame),
    /// The data of the interactive page.
    Page(Page),
    /// Two sides compared.
    Diff(Box<Diff>),
}

impl Report {
    /// The header of a report on one metric; `None` for other reports.
    pub fn header(&self) -> Option<&Header> {
        match self {
            Report::Top(report) => Some(&report.header),
            Report::Tree(report) => Some(&report.header),
            Report::Focus(report) => Some(&report.header),
            Report::Hot(report) => Some(&report.header),
            Report::Source(report) => Some(&report.header),
            Report::Labels(report) => Some(&report.header),
            Report::Traces(report) => Some(&report.header),
            Report::Graph(report) => Some(&report.header),
            Report::Flame(report) => Some(&report.header),
            Report::Page(report) => Some(&report.header),
            Report::Info(_) | Report::Types(_) => None,
            Report::Diff(report) => Some(&report.header),
        }
    }

    /// The same as [`Report::header`], to be modified.
    pub fn header_mut(&mut self) -> Option<&mut Header> {
        match self {
            Report::Top(report) => Some(&mut report.header),
            Report::Tree(report) => Some(&mut report.header),
            Report::Focus(report) => Some(&mut report.header),
            Report::Hot(report) => Some(&mut report.header),
            Report::Source(report) => Some(&mut report.header),
            Report::Labels(report) => Some(&mut report.header),
            Report::Traces(report) => Some(&mut report.header),
            Report::Graph(report) => Some(&mut report.header),
            Report::Flame(report) => Some(&mut report.header),
            Report::Page(report) => Some(&mut report.header),
            Report::Info(_) | Report::Types(_) => None,
            Report::Diff(report) => Some(&mut report.header),
        }
    }
}
