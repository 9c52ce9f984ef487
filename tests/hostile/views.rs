//! Shows profiles in every view and output format.

use prof::output::{
    ColorBy, Error, HtmlOptions, Style, SvgOptions, classic, csv, dot, html, json, markdown, svg, text,
};
use prof::profile::{Budget, Profile};
use prof::report::Report;
use prof::tree::By;
use prof::view::{
    FlameOptions, FocusOptions, GraphOptions, HotOptions, LabelsOptions, PageOptions, Scope, TimelineOptions,
    TimelineRows, TopOptions, TracesOptions, TreeOptions, bottom_up, findings, flame, focus, graph, hot,
    info, labels, lint, page, timeline, top, traces, tree,
};

/// The views.
pub const VIEWS: [&str; 13] = [
    "top",
    "tree",
    "tree --bottom-up",
    "hot",
    "graph",
    "focus",
    "traces",
    "labels",
    "info",
    "report",
    "lint",
    "timeline",
    "flame",
];

/// Views of larger profiles take too long for one of thousands of cases.
const MOST_FRAMES: usize = 20_000;

/// Memory that rows from the bottom up may take: they can be as many as the square of the frames, and a table
/// in Markdown takes several times as much.
const ROWS: u64 = 8 << 20;

/// Shows a profile in the view with index `view` of [`VIEWS`], in every output format. The error names a wrong sum.
pub fn show(profile: &Profile, view: usize) -> Result<(), String> {
    let metric = profile.meta.default_metric;
    if profile.meta.metrics.get(metric).is_none_or(|shown| shown.too_large) {
        return Ok(());
    }
    // The command line refuses these views, and `--by line` and `--by address`, for profiles that hold calls.
    let needs_stacks = ["hot", "traces", "labels", "timeline"].contains(&VIEWS[view]);
    if profile.calls.is_some() && needs_stacks || profile.stacks.all_frames().len() > MOST_FRAMES {
        return Ok(());
    }
    let keys = if profile.calls.is_some() {
        [By::Function, By::Name, By::File, By::Package, By::Mapping]
    } else {
        [By::Function, By::Line, By::File, By::Package, By::Address]
    };
    let by = keys[view / 2 % 5].clone();
    let scope = Scope { by, ..Scope::metric(metric) };
    let report: Report = match view {
        0 => {
            let top = top(profile, &TopOptions::new(scope));
            let sum: i128 = top.rows.iter().map(|row| i128::from(row.values.self_value)).sum();
            let same_sign = profile.samples.values[metric].iter().all(|&value| value >= 0);
            if same_sign && sum + i128::from(top.header.no_stack) != i128::from(top.header.shown) {
                return Err(format!("top: the rows sum to {sum} of {}", top.header.shown));
            }
            top.into()
        }
        1 => tree(profile, &TreeOptions::new(scope)).into(),
        2 => {
            let options = TreeOptions { budget: Budget::of(ROWS), ..TreeOptions::new(scope) };
            let Ok(tree) = bottom_up(profile, &options) else { return Ok(()) };
            tree.into()
        }
        3 => hot(profile, &HotOptions::new(scope)).into(),
        4 => graph(profile, &GraphOptions::new(scope)).into(),
        5 => {
            let name = profile.symbols.functions.ids().next().map(|id| profile.symbols.function_name(id));
            let options = FocusOptions::new(scope, name.unwrap_or("main"));
            let Ok(focus) = focus(profile, &options) else { return Ok(()) };
            focus.into()
        }
        6 => traces(profile, &TracesOptions { scope, limit: None, min_share: 0.0 }).into(),
        7 => labels(profile, &LabelsOptions { scope, limit: None, min_share: 0.0 }).into(),
        8 => info(profile, metric, Vec::new(), None).into(),
        9 => {
            let report = findings(profile, &scope);
            let found: i128 = report.findings.iter().map(|finding| i128::from(finding.value)).sum();
            let (sum, shown) = (found + i128::from(report.rest.value), i128::from(report.header.shown));
            // What is shown counts negative values without their sign.
            let is_less = has_negative_values(profile) && sum.abs() < shown;
            if sum != shown && !is_less {
                return Err(format!("report: the findings and the rest sum to {sum} of {shown}"));
            }
            report.into()
        }
        10 => lint(profile, &scope).into(),
        11 => return timelines(profile, &scope),
        _ => return pictures(profile, scope),
    };
    forms(&report)
}

fn has_negative_values(profile: &Profile) -> bool {
    profile.samples.values.iter().flatten().any(|&value| value < 0)
}

/// Shows when threads and packages were busy, if that is known: the rows and what has no time sum to all.
fn timelines(profile: &Profile, scope: &Scope) -> Result<(), String> {
    for rows_by in [TimelineRows::Thread, TimelineRows::Package] {
        let options = TimelineOptions { rows_by, bins: 7, ..TimelineOptions::new(scope.clone()) };
        let Ok(found) = timeline(profile, &options) else { return Ok(()) };
        let rows = found.rows.iter().map(|row| i128::from(row.total)).sum::<i128>();
        let shown: i128 =
            profile.samples.values[scope.metrics[0]].iter().map(|&value| i128::from(value)).sum();
        if rows + i128::from(found.untimed) != shown {
            return Err(format!("timeline: the rows sum to {rows} of {shown}"));
        }
        if found.rows.iter().any(|row| row.bins.iter().sum::<i64>() != row.total) {
            return Err("timeline: bins do not sum to their row".to_string());
        }
        forms(&found.into())?;
    }
    Ok(())
}

/// Writes a report in all of its output formats.
pub fn forms(report: &Report) -> Result<(), String> {
    let mut out = Vec::new();
    let narrow = Style { width: Some(60), short_names: true, color: true, ..Style::plain() };
    for style in [Style::plain(), narrow] {
        text(report, &style, &mut out).map_err(|error| error.to_string())?;
    }
    json(report, &mut out).map_err(|error| error.to_string())?;
    csv(report, &mut out).map_err(|error| error.to_string())?;
    markdown(report, &Style::plain(), &mut out).map_err(|error| error.to_string())?;
    if let Report::Graph(graph) = report {
        dot(graph, None, ColorBy::Package, &mut out).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn pictures(profile: &Profile, scope: Scope) -> Result<(), String> {
    let mut out = Vec::new();
    let picture = flame(profile, &FlameOptions::new(scope.clone()));
    svg(&picture, &SvgOptions::default(), &mut out).map_err(|error| error.to_string())?;
    match classic(&picture, &SvgOptions::default(), &mut out) {
        // It cannot show everything.
        Ok(()) | Err(Error::Classic(_)) => {}
        Err(error) => return Err(error.to_string()),
    }
    // A page holds stacks.
    if profile.calls.is_some() {
        return Ok(());
    }
    let page = page(profile, &PageOptions { scope, title: "title".to_string(), ..PageOptions::default() });
    html(&page, &HtmlOptions::default(), &mut out).map_err(|error| error.to_string())?;
    Ok(())
}
