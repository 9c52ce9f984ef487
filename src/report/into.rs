//! Each report is one of the reports that outputs print.

use crate::report::{
    AnnotatedSource, Diff, Flame, Focus, Graph, Hot, Info, Labels, Page, Report, Top, Traces, Tree, Types,
};

macro_rules! into_report {
    ($($name:ident($report:ty),)*) => {
        $(impl From<$report> for Report {
            fn from(report: $report) -> Self {
                Report::$name(report.into())
            }
        })*
    };
}

into_report! {
    Top(Top),
    Tree(Tree),
    Focus(Focus),
    Hot(Hot),
    Source(AnnotatedSource),
    Labels(Labels),
    Traces(Traces),
    Types(Types),
    Graph(Graph),
    Info(Info),
    Flame(Flame),
    Page(Page),
    Diff(Diff),
}
