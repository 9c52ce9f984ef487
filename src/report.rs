//! Reports: the results of views, as plain data that every output format prints.
//!
//! Values are integers and are never rounded or scaled here. Field names are the keys of the JSON output, which
//! scripts rely on: a change of meaning needs a new `schema`.
//! Types are `#[non_exhaustive]`: like the documents, they may gain fields.

mod assembly;
mod by_side;
mod cause;
mod chart;
mod diff;
mod findings;
mod flame;
mod focus;
mod graph;
mod group;
mod header;
mod heatmap;
mod hot;
mod info;
mod labels;
mod lint;
mod matched;
mod message;
mod noise;
mod outliers;
mod page;
mod server;
mod source;
mod timeline;
mod top;
mod traces;
mod tree;
mod trend;
mod types;
mod upgrade;
mod values;

use std::sync::Arc;

pub use assembly::{Assembly, AssemblyFunction, AssemblyLine};
pub use by_side::{BySide, BySideRow};
pub use cause::{CauseKind, CauseSummary, DiffCause, Growth, MixChange, MixKind, RowTest, TotalGrowth};
pub use chart::{Chart, ChartBand, ChartBlock, ChartFunction};
pub use diff::{
    BudgetCheck, BudgetReport, ChangedCalls, Detectable, Diff, DiffNoise, DiffOutcome, DiffRow, DiffSide,
    DiffVerdict, DoubtfulCore, EffectiveSamples, Folded, IdleProcessors, Moved, RowVerdict, SMALL_SHARE,
    SUGGESTED_RUNS, Strictness, TYPICAL_SHARE,
};
pub use findings::{Ceiling, Changes, Evidence, ExplainedCause, Finding, Findings, Remark, Rest, Sentence};
pub use flame::{Flame, FlameNode};
pub use focus::{CountedFrom, CutRows, Focus, FocusMatch, Neighbour, NeighbourKind, Overlap};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use group::{ColorGroup, Tier};
pub(crate) use header::rescaled;
pub use header::{
    Artefact, Base, Combined, Grouping, Header, Highlight, MetricName, MetricTotal, PerEvent, Recording,
    Rescaling, Selection, WhatIf,
};
pub use heatmap::{Heatmap, HeatmapCell};
pub use hot::{Hot, HotSequence, PathStep};
pub use info::{Depth, Info, InfoInput, InfoLabel, InfoMetric, InfoPeriod};
pub use labels::{LabelKey, LabelShare, LabelText, Labels};
pub use lint::{Lint, Problem, Severity};
pub use matched::Matched;
pub use message::{Message, MessageKind};
pub use noise::{CountNoise, FunctionNoise, NOISE_VERSION, NoiseHistory};
pub use outliers::{OutlierRow, Outliers, PartOfWhole};
pub use page::{
    Page, PageCallSide, PageCalls, PageFacet, PageMetric, PageName, PagePause, PagePlace, PageTimeRow,
    PageTimes,
};
pub use server::{ServerInfo, ServerProfile};
pub use source::{AnnotatedSource, Origin, OtherFile, SourceFunction, SourceLine};
pub(crate) use timeline::busy_bins;
pub use timeline::{
    TimeAxis, Timeline, TimelineFunction, TimelinePauses, TimelinePhase, TimelineRow, TimelineSeries,
};
pub use top::{Top, TopRow};
pub use traces::{Trace, Traces};
pub use tree::{Direction, HiddenBy, Tree, TreeRow};
pub use trend::{Trend, TrendPoint, TrendRise, TrendRow, TrendStep, TrendVerdict};
pub use types::{TypeRow, Types};
pub use upgrade::Upgrade;
pub use values::{Pair, PairBySide, Values};

use serde::Serialize;

/// A name as recorded in the profile; shared, because trees repeat names.
pub type Name = Arc<str>;

/// Makes the reports of all views from a list: what each is, its name, its type, and whether it has a header.
macro_rules! reports {
    ($($(#[$about:meta])* $name:ident($report:ty) $($header:ident)?,)*) => {
        /// The result of a view.
        #[derive(Clone, Debug, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Report {
            $($(#[$about])* $name(Box<$report>),)*
        }

        impl Report {
            /// The header of a report on one metric; `None` for other reports.
            pub fn header(&self) -> Option<&Header> {
                match self {
                    $(Report::$name(_report) => reports!(@header _report $($header)?, &),)*
                }
            }

            /// The same as [`Report::header`], to be modified.
            pub fn header_mut(&mut self) -> Option<&mut Header> {
                match self {
                    $(Report::$name(_report) => reports!(@header _report $($header)?, &mut),)*
                }
            }
        }

        $(impl From<$report> for Report {
            fn from(report: $report) -> Self {
                Report::$name(Box::new(report))
            }
        })*
    };
    (@header $report:ident, $($borrow:tt)*) => { None };
    (@header $report:ident header, $($borrow:tt)*) => { Some($($borrow)* $report.header) };
}

reports! {
    /// The flat view.
    Top(Top) header,
    /// The call tree, top-down or bottom-up.
    Tree(Tree) header,
    /// One function with its callers and callees.
    Focus(Focus) header,
    /// The heaviest path, and the repeated call sequences.
    Hot(Hot) header,
    /// Source lines with their values.
    Source(AnnotatedSource) header,
    /// Instructions with their values.
    Assembly(Assembly) header,
    /// Label keys and values.
    Labels(Labels) header,
    /// The values of a label that differ from the others.
    Outliers(Outliers) header,
    /// Distinct stacks.
    Traces(Traces) header,
    /// The known profile types.
    Types(Types),
    /// The call graph.
    Graph(Graph) header,
    /// The contents of the input.
    Info(Info),
    /// What a server offers.
    Server(ServerInfo),
    /// What can be concluded.
    Findings(Findings) header,
    /// What is wrong with a recording.
    Lint(Lint) header,
    /// The call tree to be drawn.
    Flame(Flame) header,
    /// The stacks of threads over time, to be drawn.
    Chart(Chart) header,
    /// When samples were taken, to be drawn.
    Heatmap(Heatmap) header,
    /// The data of the interactive page.
    Page(Page) header,
    /// Two sides compared.
    Diff(Diff) header,
    /// Budgets checked without an old side.
    Budgets(BudgetReport) header,
    /// Several builds compared with the first.
    BySide(BySide) header,
    /// A series of profiles.
    Trend(Trend) header,
    /// When the program was busy.
    Timeline(Timeline) header,
}
