//! Reports: what a view found, as plain data with integers, ready to be printed in any form.
//!
//! Values are never rounded or scaled here. Field names are the keys of the JSON output, which is a
//! promise to scripts: a change of meaning needs a new `schema`.

mod diff;
mod flame;
mod focus;
mod graph;
mod header;
mod hot;
mod info;
mod labels;
mod page;
mod source;
mod top;
mod traces;
mod tree;
mod types;
mod values;

use std::sync::Arc;

pub use diff::{
    BudgetCheck, Detectable, Diff, DiffAbout, DiffNoise, DiffRow, DiffSide, DiffVerdict, Folded, Matched,
    Moved, RowAbout, RowTest, RowVerdict,
};
pub use flame::{Flame, FlameNode};
pub use focus::{CutRows, Focus, FocusMatch, Neighbour, NeighbourKind, Overlap, StackInfo};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use header::{About, Artefact, Base, BaseAbout, Header, Highlight, MetricName, MetricTotal, Normalize};
pub use hot::{Hot, HotSequence, PathStep};
pub use info::{Depth, Info, InfoAbout, InfoInput, InfoLabel, InfoMetric};
pub use labels::{LabelKey, LabelShare, LabelText, Labels};
pub use page::{Page, PageMetric, PageName, PagePlace};
pub use source::{AnnotatedSource, Origin, SourceFunction, SourceLine};
pub use top::{Top, TopRow};
pub use traces::{Trace, Traces};
pub use tree::{Direction, Tree, TreeRow};
pub use types::{TypeRow, Types};
pub use values::{ByMetric, Pair, Values};

use serde::Serialize;

/// A name as the profile has it; shared, since a tree repeats names.
pub type Name = Arc<str>;

/// What a view found.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// The flat view.
    Top(Top),
    /// The call tree, from either end.
    Tree(Tree),
    /// One function between its callers and its callees.
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
    /// What is in the input.
    Info(Info),
    /// The call tree to be drawn.
    #[serde(skip)]
    Flame(Flame),
    /// Everything the interactive page needs.
    #[serde(skip)]
    Page(Page),
    /// Two sides compared.
    Diff(Box<Diff>),
}

impl Report {
    /// What the report is about, where it is about one metric.
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

    /// [`Report::header`], to complete it.
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
