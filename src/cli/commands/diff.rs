//! `prof diff`.

use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::fit::{Attempt, fitted};
use crate::cli::commands::init;
use crate::cli::commands::outcome::Outcome;
use crate::cli::commands::requirement::{Requirement, note_of_lines};
use crate::cli::commands::show::write_timed;
use crate::cli::input::budget::{self, Checked};
use crate::cli::input::request::explain;
use crate::cli::options::args::{
    InputArgs, LayoutArgs, NodeArgs, OutputFormat, WordingArgs, normalize, note, percent, warn,
};
use crate::cli::options::completion::functions;
use crate::cli::options::filters::{self, FilterArgs};
use crate::cli::options::many::SamplingArgs;
use crate::cli::options::match_args::MatchArgs;
use crate::cli::options::screen;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::target::Target;
use crate::compare::{fold, match_functions, matched};
use crate::filter::{FilterKind, Stages};
use crate::kind;
use crate::load::{Combine, Request, Side, Sides, sides};
use crate::output::{Explain, evidence_notes};
use crate::profile::{Label, LabelValue, LoadOptions, Profile};
use crate::report::{Diff, DiffOutcome, DiffSide, Message, Name, Report};
use crate::stats::{Incomparable, Noise, Normalization, TestOptions};
use crate::transform::{AlignError, Marks, MatchMethod, Matching};
use crate::tree::By;
use crate::unit::{Family, Unit};
use crate::view::{BudgetRule, DiffOptions, DiffSides, DiffSort, align_sides, count_calls, diff, limit_rows};

/// What changed between two sides, and whether it is more than noise
///
/// To compare repeated runs of one program, give several profiles per side with --old and --new, or one
/// folder per side. They are never added up. Scripts can read the verdict from the exit code.
#[derive(Args, Debug)]
#[command(override_usage = "prof diff [OPTIONS] OLD NEW")]
#[command(mut_arg("profiles", |option| {
    option.help("OLD and NEW: a profile, a folder of profiles, or `-` for standard input")
}))]
#[command(mut_arg("metrics", |option| option.help("Metric to compare, by name or number")))]
#[command(mut_arg("max_profiles", |option| {
    option.help("Use at most N profiles per side, chosen at random; 0 for all [default: all]")
}))]
#[command(mut_arg("format", |option| option.value_parser(every_format())))]
#[command(mut_arg("fold", |option| {
    // Known artefacts are always folded here: the option has nothing to say but the name.
    option
        .require_equals(false)
        .num_args(1)
        .help("Remove leaf frames that match NAME, as well as those inserted by the profiler; their self value moves to the caller")
}))]
#[command(after_help = "Examples:
  prof diff old.pb.gz new.pb.gz                             what changed, and whether it is noise
  prof diff --normalize per=1000,1000 old.pb.gz new.pb.gz   cost per request, 1000 per side")]
pub(crate) struct DiffCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    choice: SamplingArgs,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    wording: WordingArgs,
    /// Profiles before the change
    #[arg(long, value_name = "PROFILE", num_args = 1.., value_hint = ValueHint::AnyPath)]
    old: Vec<String>,
    /// Profiles after the change
    #[arg(long, value_name = "PROFILE", num_args = 1.., value_hint = ValueHint::AnyPath)]
    new: Vec<String>,
    /// Show at most N rows; 0 for all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Sort rows by this column instead of by verdict
    #[arg(long, value_name = "COLUMN", value_enum)]
    sort: Option<SortColumn>,
    /// Hide rows below this share on both sides, in percent
    #[arg(long, value_name = "P", value_parser = percent)]
    min_share: Option<f64>,
    /// List every cause of a change; by default, only the causes that explain most of it
    #[arg(long, conflicts_with = "no_explain")]
    explain: bool,
    /// Do not look for the causes of a change
    #[arg(long)]
    no_explain: bool,
    #[command(flatten)]
    matching: MatchArgs,
    #[command(flatten)]
    test: TestArgs,
    /// Write a budget file and a CI workflow, then exit
    ///
    /// The files are prof.toml and a workflow for GitHub (or for GitLab, in a folder with a .gitlab-ci.yml) that
    /// records the project in this folder: Go, Rust, Java, Python or Node.js. Existing files are kept unless --force
    /// is given.
    #[arg(
        long, help_heading = "Set up",
        conflicts_with_all = ["profiles", "old", "new", "metrics", "format", "output", "budget"]
    )]
    init: bool,
}

/// Options of the statistical test.
#[derive(Args, Debug)]
#[command(next_help_heading = "Test")]
struct TestArgs {
    /// Test only matching functions; this needs fewer samples
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    function: Vec<String>,
    /// Accepted probability of any false alarm: 0.01, or 1%
    #[arg(long, value_name = "A", default_value = "0.01", value_parser = fraction)]
    alpha: f64,
    /// Smallest cost increase that counts, in percent
    #[arg(long, value_name = "P", default_value = "5", value_parser = percent)]
    min_effect: f64,
    /// Smallest increase that counts, in percentage points (of the old total)
    #[arg(long, value_name = "PT", default_value = "1", value_parser = percent)]
    min_points: f64,
    /// Test only functions with at least this share, in percent
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = percent)]
    min_tested: f64,
    /// Run-to-run noise: auto (measured, which takes several runs per side), steady (little), or a percentage
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = noise)]
    noise: Noise,
    /// Cost ratio that should be detectable for a function with a 10% share
    #[arg(long, value_name = "R", default_value = "1.2", value_parser = ratio)]
    detect: f64,
    /// Exit with code 3 if there is too little data to detect the --detect ratio
    #[arg(long)]
    strict: bool,
    /// Rescale the old side to make it comparable with the new: core (unchanged code costs the same), total (equal totals), per=OLD,NEW (units of work done on each side), or none [default: core for time, none for memory and counts of objects or calls]
    #[arg(long, value_name = "HOW", value_parser = normalize)]
    normalize: Option<Normalization>,
    /// File with limits on the cost of functions
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    budget: Option<PathBuf>,
}

/// The values of `--format`, including those that no other command writes.
fn every_format() -> impl TypedValueParser<Value = OutputFormat> {
    let formats = OutputFormat::value_variants().iter();
    let values = formats.filter_map(|format| Some(format.to_possible_value()?.hide(false)));
    PossibleValuesParser::new(values).try_map(|name| OutputFormat::from_str(&name, false))
}

/// The columns of `--sort`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SortColumn {
    /// The largest change first, whether up or down
    Delta,
    /// The largest cost ratio first
    Ratio,
    /// The most significant first
    Q,
    /// The most expensive on the old side first
    Old,
    /// The most expensive on the new side first
    New,
}

impl From<SortColumn> for DiffSort {
    fn from(column: SortColumn) -> Self {
        match column {
            SortColumn::Delta => DiffSort::Delta,
            SortColumn::Ratio => DiffSort::Ratio,
            SortColumn::Q => DiffSort::Q,
            SortColumn::Old => DiffSort::Old,
            SortColumn::New => DiffSort::New,
        }
    }
}

/// The default number of rows in text.
const ROWS: usize = 20;
/// The exit code if a check failed.
const FAILED: u8 = 1;
/// The exit code if there is too little evidence for a strict check.
const UNDECIDED: u8 = 3;
/// How many of these may be rows that are not significant, unless asked for more.
const OTHER_ROWS: usize = 5;
/// A small screen shows at least so many rows.
const FEWEST_ROWS: usize = 5;

/// Which time the sides are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    First,
    /// Once more, with the labels of samples. Warnings have been printed before.
    WithLabels,
}

impl DiffCommand {
    pub(crate) fn run(mut self) -> Result<Outcome> {
        if self.init {
            return init::run(self.layout.force).map(Outcome::from);
        }
        self.layout.explain = match (self.explain, self.no_explain) {
            (true, _) => Explain::All,
            (_, true) => Explain::Nothing,
            _ => Explain::Most,
        };
        let target = self.layout.target(&["--base OLD NEW".to_string()], self.input.quiet)?;
        let by = self.node.by();
        let (old, new) = self.given()?;
        let needs = self.filters.filters().needs().or(LoadOptions {
            // A pipe cannot be read a second time.
            labels: matches!(by, By::Label(_)) || old.iter().chain(&new).any(|input| input == "-"),
            times: false,
            ..LoadOptions::LEAST
        });
        target.check(&self.files(&old, &new), self.layout.force)?;
        let mut clock = Clock::new(self.input.verbose);
        let (mut diff, has_labels) = self.compare(&old, &new, needs, Pass::First, &mut clock)?;
        // Labels may show that only the mix of work changed. Most comparisons find no change and need not read them.
        if has_labels && !needs.labels && (diff.regressed > 0 || diff.improved > 0 || diff.mix.is_some()) {
            let needs = LoadOptions { labels: true, ..needs };
            diff = self.compare(&old, &new, needs, Pass::WithLabels, &mut clock)?.0;
        }
        let code = match diff.outcome() {
            DiffOutcome::Passed => 0,
            DiffOutcome::Failed => FAILED,
            DiffOutcome::Undecided => UNDECIDED,
        };
        self.layout.exit_code = Some(code);
        clock.step("test");
        self.report_evidence(&mut diff, &target);
        let report = self.fitted(Report::Diff(Box::new(diff)), &target)?;
        write_timed(&report, &self.input, &self.layout, &self.wording, &target)?;
        Ok(Outcome(code))
    }

    /// Loads and compares both sides. Also returns whether samples have labels that may tell kinds of work.
    fn compare(
        &self,
        old: &[String],
        new: &[String],
        needs: LoadOptions,
        pass: Pass,
        clock: &mut Clock,
    ) -> Result<(Diff, bool)> {
        let (by, filters) = (self.node.by(), self.filters.filters());
        let mut sides = self.load(old, new, needs)?;
        for input in sides.all() {
            Requirement::Costs.check(&input.profile, &by, &[input.metric])?;
            if input.profile.calls.is_some() && self.test.budget.is_some() {
                let format = input.profile.meta.format;
                let message = format!("--budget: {format} records calls between functions, not stacks");
                return Err(hinted(message, "prof top -f json has the numbers to check"));
            }
        }
        if by == By::Line && pass == Pass::First {
            note(note_of_lines(sides.all().map(|input| &input.profile)).as_slice(), &self.input);
        }
        // One file that holds both sides has one name for each function.
        let matching = if new.is_empty() {
            Matching::default()
        } else {
            let options = self.matching.options(self.test.min_tested / 100.0)?;
            match_functions(&mut sides, &by, &options).map_err(|error| self.matching.explain(&error))?
        };
        clock.step("match functions");
        let has_labels = sides.all().any(|input| may_have_labels(&input.profile));
        let profiles: Vec<(&Profile, usize)> =
            sides.all().map(|input| (&input.profile, input.metric)).collect();
        let (whole, size) = align_sides(&profiles, needs).map_err(|error| not_aligned(&sides, &error))?;
        // What the recorder itself left at the end of stacks is always folded, so that is not one of the filters.
        let mut stages = Stages::new(whole, self.filters.fixed_strings, &by);
        let leaves = stages.folded(&self.filters.fold).map_err(filters::explain)?;
        let Stages { profile: whole, mut notes, .. } = stages;
        let (whole, folded) = fold(&whole, &leaves, sides.old.inputs.len(), sides.new.inputs.len());
        clock.step("combine the sides");

        let filtered = filters.without(FilterKind::Fold).apply_by(whole, &by).map_err(filters::explain)?;
        let mut stages = Stages::new(filtered.profile.clone(), self.filters.fixed_strings, &by);
        let functions = stages.matching("--function", &self.test.function).map_err(filters::explain)?;
        let budgets = self.budgets(&mut stages, &sides, new.is_empty())?;
        notes.extend(stages.notes);
        notes.extend(filtered.notes);
        clock.step("filter");
        if pass == Pass::First {
            warn(&filtered.profile.meta.warnings, &self.input);
            note(&notes, &self.input);
        }

        let normalize = self.test.normalize.unwrap_or_else(|| usual_normalization(&filtered.profile));
        let options = self.options(by, functions, budgets, normalize);
        // A single file may hold both sides.
        let new = if new.is_empty() { old } else { new };
        let both = DiffSides {
            calls: count_calls(&profiles, sides.old.inputs.len(), &options.by),
            matched: matched(&matching, self.input.verbose),
            ..DiffSides::new(side(&sides.old, old.to_vec()), side(&sides.new, new.to_vec()), size)
        };
        let mut diff = diff(&filtered.profile, both, &options).map_err(incomparable)?;
        diff.header.filters = filtered.filters;
        diff.folded = folded;
        diff.shifted = matching.matches.iter().filter(|found| found.how == MatchMethod::Shifted).count();
        Ok((diff, has_labels))
    }

    /// Loads the profiles of both sides.
    fn load(&self, old: &[String], new: &[String], needs: LoadOptions) -> Result<Sides> {
        let combine = Combine { sampling: self.choice.sampling(), ..Combine::default() };
        let all_frames = self.filters.all_frames;
        let old = self.input.request(old.to_vec(), combine, needs, all_frames)?;
        let new = self.input.request(new.to_vec(), combine, needs, all_frames)?;
        let both = Request { inputs: [&old.inputs[..], &new.inputs].concat(), ..old.clone() };
        let new = Some(&new).filter(|new| !new.inputs.is_empty());
        sides(&old, new).map_err(|error| explain(error, &both))
    }

    /// The inputs of both sides as given.
    fn given(&self) -> Result<(Vec<String>, Vec<String>)> {
        let positional = &self.input.profiles;
        let (old, new) = (&self.old, &self.new);
        match (&positional[..], old.is_empty(), new.is_empty()) {
            ([old, new], true, true) => Ok((vec![old.clone()], vec![new.clone()])),
            ([both], true, true) => Ok((vec![both.clone()], Vec::new())),
            ([], false, false) => Ok((old.clone(), new.clone())),
            ([], true, true) => {
                Err(hinted("diff: no profiles given", "name the two sides: prof diff OLD NEW"))
            }
            ([one], false, true) => Ok((old.clone(), vec![one.clone()])),
            ([one], true, false) => Ok((vec![one.clone()], new.clone())),
            ([], ..) => {
                let missing = if old.is_empty() { "--old" } else { "--new" };
                Err(hinted(format!("diff: {missing} is missing"), "prof diff --old OLD... --new NEW..."))
            }
            (several, true, true) => {
                let message = format!("diff: {} profiles given for two sides", several.len());
                Err(hinted(message, hint_at_sides(several)))
            }
            (extra, ..) => {
                let message = format!("diff: {} is on neither side", extra.join(" "));
                Err(hinted(message, "prof diff --old OLD... --new NEW..."))
            }
        }
    }

    /// All files that are read.
    fn files(&self, old: &[String], new: &[String]) -> Vec<PathBuf> {
        let profiles = old.iter().chain(new).map(PathBuf::from);
        let others = self.input.symbols.binaries().iter().chain(&self.test.budget).cloned();
        profiles.chain(others).collect()
    }

    /// Reads the budgets to check.
    fn budgets(&self, stages: &mut Stages, sides: &Sides, is_one_file: bool) -> Result<Vec<BudgetRule>> {
        let Some(path) = &self.test.budget else { return Ok(Vec::new()) };
        let names = sides.all().flat_map(|input| {
            // In a file that holds both sides, the other metrics are the two sides.
            let all = &input.profile.meta.metrics;
            if is_one_file { &all[input.metric..=input.metric] } else { &all[..] }
        });
        let metrics: BTreeSet<String> = names.map(|metric| metric.name.clone()).collect();
        let metrics: Vec<String> = metrics.into_iter().collect();
        let has_values =
            sides.new.inputs.iter().any(|input| input.profile.meta.metrics[input.metric].total > 0);
        budget::rules(path, &mut Checked { stages, metrics: &metrics, has_values })
    }

    /// The report with as many rows as fit the screen, unless the number of rows was given. At least a few are kept.
    fn fitted(&self, mut report: Report, target: &Target) -> Result<Report> {
        let Some(lines) = screen::lines(&self.layout, target).filter(|_| self.limit.is_none()) else {
            return Ok(report);
        };
        let Report::Diff(diff) = &mut report else { return Ok(report) };
        let style = screen::style(&self.layout, &self.wording, true);
        let fitted = fitted(&style, lines, diff.rows.len(), FEWEST_ROWS, |rows| {
            limit_rows(diff, rows);
            Ok(Attempt { report: Report::Diff(diff.clone()), notes: Vec::new(), is_fixed: false })
        })?;
        Ok(fitted.report)
    }

    fn options(
        &self,
        by: By,
        functions: Option<Marks>,
        budgets: Vec<BudgetRule>,
        normalize: Normalization,
    ) -> DiffOptions {
        let rows = if self.layout.format.is_for_people() { ROWS } else { 0 };
        DiffOptions {
            by,
            test: TestOptions {
                alpha: self.test.alpha,
                min_effect: self.test.min_effect / 100.0,
                min_points: self.test.min_points / 100.0,
                min_tested: self.test.min_tested / 100.0,
                noise: self.test.noise,
                normalize,
                check_scale: true,
                functions: None,
            },
            functions,
            wanted_ratio: self.test.detect,
            strict: self.test.strict,
            explain: !self.no_explain,
            limit: Some(self.limit.unwrap_or(rows)).filter(|&limit| limit > 0),
            others: (self.layout.format.is_for_people() && self.limit.is_none() && self.sort.is_none())
                .then_some(OTHER_ROWS),
            sort: self.sort.map(DiffSort::from),
            min_share: self.min_share.unwrap_or(0.0),
            budgets,
        }
    }

    /// Reports the quality of the evidence on standard error if the report is not printed to the terminal, and
    /// prepares the report for its format.
    fn report_evidence(&self, diff: &mut Diff, target: &Target) {
        let format = self.layout.format;
        let notes = evidence_notes(diff);
        if format != OutputFormat::Text || *target != Target::Stdout {
            warn(&notes, &self.input);
        }
        match format {
            OutputFormat::Json => diff.header.warnings.extend(notes.into_iter().map(Message::warning)),
            OutputFormat::Github => relative_files(diff),
            _ => {}
        }
    }
}

/// What is compared unless `--normalize` says otherwise: memory and counts as recorded, time per unit of unchanged code.
fn usual_normalization(whole: &Profile) -> Normalization {
    let is_quantity = whole.meta.metrics.first().is_some_and(|metric| {
        Unit::parse(&metric.unit).family() == Family::Bytes || kind::is_quantity(&metric.name)
    });
    if is_quantity { Normalization::Run } else { Normalization::Core }
}

/// Whether samples have labels with text, which may tell kinds of work. Labels that were not read may be such.
fn may_have_labels(profile: &Profile) -> bool {
    let sets = &profile.label_sets;
    let is_text = |label: &Label| matches!(label.value, LabelValue::Text(_));
    let is_read = sets.len() > 1;
    let has_text = || sets.ids().any(|set| sets.labels(set).iter().any(is_text));
    profile.meta.labelled_rows > 0 && (!is_read || has_text())
}

fn side(side: &Side, given: Vec<String>) -> DiffSide {
    let inputs = &side.inputs;
    DiffSide {
        inputs: given,
        profiles: inputs.len(),
        chosen: side.chosen.clone(),
        duration_ns: inputs
            .iter()
            .filter_map(|input| input.profile.meta.duration_ns)
            .reduce(i64::saturating_add),
        // Values are counted once both sides are combined.
        ..DiffSide::default()
    }
}

/// How to say which profiles are on which side. Where their names fall into two groups, as those of `old*.pb.gz new*.pb.gz`
/// and `old/1 old/2 new/1` do, these are the sides; nothing else tells.
fn hint_at_sides(profiles: &[String]) -> String {
    let group = |name: &String| name.replace(|c: char| c.is_ascii_digit(), "");
    let is_old = |group: &str| ["old", "before", "base", "main"].iter().any(|word| group.contains(word));
    let mut groups: Vec<String> = Vec::new();
    for name in profiles.iter().map(group) {
        if !groups.contains(&name) {
            groups.push(name);
        }
    }
    let [first, second] = &groups[..] else {
        return "say which side each profile is on: prof diff --old OLD... --new NEW...; \
                or put each side in a folder: prof diff OLD_FOLDER NEW_FOLDER"
            .to_string();
    };
    // A shell sorts names: `new1 new2 old1 old2`.
    let swapped = is_old(second) && !is_old(first);
    let (old, new): (Vec<&String>, Vec<&String>) =
        profiles.iter().partition(|name| (group(name) == *first) != swapped);
    let list = |side: &[&String]| side.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
    format!("if these are the sides: prof diff --old {} --new {}", list(&old), list(&new))
}

/// Explains which profiles cannot be compared.
fn not_aligned(sides: &Sides, error: &AlignError) -> anyhow::Error {
    let hint = match error {
        AlignError::Periods(_, _, number) => {
            let names: Vec<&str> = sides.all().map(|input| input.name.as_str()).collect();
            format!(
                "record {} and {} with the same settings",
                names.first().copied().unwrap_or_default(),
                names.get(*number).copied().unwrap_or_default()
            )
        }
        AlignError::Merge(_) => {
            "choose another metric with --metric; prof info lists the metrics of a profile".to_string()
        }
        AlignError::Overflow(_) => "choose another metric with --metric, or use fewer inputs".to_string(),
    };
    hinted(error.to_string(), hint)
}

/// Adds what to do about profiles that cannot be compared.
fn incomparable(error: Incomparable) -> anyhow::Error {
    let hint = "are both sides profiles of the same program? prof top --base OLD NEW compares any two";
    if matches!(error, Incomparable::NothingInCommon(..)) {
        hinted(error.to_string(), hint)
    } else {
        error.into()
    }
}

/// Makes the file paths of rows relative to the checked-out repository, as annotations need them.
fn relative_files(diff: &mut Diff) {
    let root = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from).or_else(|| env::current_dir().ok());
    let Some(root) = root.filter(|root| !root.as_os_str().is_empty()) else { return };
    let relative = |file: &mut Option<Name>| {
        let inner = file.as_ref().and_then(|file| std::path::Path::new(&**file).strip_prefix(&root).ok());
        if let Some(inner) = inner.map(|inner| inner.to_string_lossy().replace('\\', "/")) {
            *file = Some(inner.into());
        }
    };
    diff.rows.iter_mut().for_each(|row| relative(&mut row.file));
    diff.causes.iter_mut().for_each(|cause| relative(&mut cause.file));
}

/// Parses a probability: `0.01` or `1%`.
fn fraction(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    match value {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number between 0 and 1, or a percentage".to_string()),
    }
}

fn noise(text: &str) -> Result<Noise, String> {
    match text {
        "auto" => Ok(Noise::Auto),
        "steady" => Ok(Noise::Steady),
        _ if text.ends_with('%') => percent(text).map(|percent| Noise::Fixed(percent / 100.0)),
        _ => Err("expected auto, steady, or a percentage such as 3%".to_string()),
    }
}

/// Parses a ratio above one: `1.2`, `x1.2`, `×1.2`.
fn ratio(text: &str) -> Result<f64, String> {
    match text.trim_start_matches(['x', '×']).parse::<f64>() {
        Ok(ratio) if ratio > 1.0 && ratio.is_finite() => Ok(ratio),
        _ => Err("expected a ratio above 1, such as 1.2".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_guessed_from_names_only() {
        let hint = |names: &str| hint_at_sides(&names.split(' ').map(String::from).collect::<Vec<_>>());
        let sides =
            |old: &str, new: &str| format!("if these are the sides: prof diff --old {old} --new {new}");
        assert_eq!(hint("old1.gz old2.gz new1.gz"), sides("old1.gz old2.gz", "new1.gz"));
        assert_eq!(hint("new1.gz new2.gz old1.gz"), sides("old1.gz", "new1.gz new2.gz"));
        assert_eq!(hint("A-001.gz B-002.gz A-003.gz"), sides("A-001.gz A-003.gz", "B-002.gz"));
        assert_eq!(hint("a/1.gz b/1.gz b/2.gz b/3.gz"), sides("a/1.gz", "b/1.gz b/2.gz b/3.gz"));
        for unclear in ["a b c", "a b c d", "cpu1.gz cpu2.gz cpu3.gz"] {
            assert!(
                hint(unclear).starts_with("say which side each profile is on: prof diff --old"),
                "{unclear}"
            );
        }
    }

    #[test]
    fn options_are_read_as_documented() {
        assert_eq!(fraction("1%"), Ok(0.01));
        assert_eq!(fraction("0.05"), Ok(0.05));
        assert!(fraction("1").is_err() && fraction("x").is_err());
        assert_eq!(noise("3%"), Ok(Noise::Fixed(0.03)));
        assert!(noise("3").is_err());
        assert_eq!(ratio("×1.5"), Ok(1.5));
        assert!(ratio("1").is_err());
        assert_eq!(normalize("per=10,12"), Ok(Normalization::Per { old: 10.0, new: 12.0 }));
        assert!(normalize("per=10").is_err() && normalize("per=0,1").is_err());
    }
}
