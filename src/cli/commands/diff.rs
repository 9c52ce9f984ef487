//! `prof diff`.

mod given;
mod learn_noise;
mod test;

use std::env;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use crate::cli::commands::diff::given::given;
use crate::cli::commands::diff::test::{NoiseSource, TestArgs};
use crate::cli::commands::fit::{Attempt, fitted};
use crate::cli::commands::init;
use crate::cli::commands::outcome::Outcome;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{needs, write_timed};
use crate::cli::input::{budget, request};
use crate::cli::options::args::{InputArgs, NodeArgs, RowLimit, note, percent, warn};
use crate::cli::options::filters::{self, FilterArgs};
use crate::cli::options::layout::{LayoutArgs, Output, OutputFormat, WordingArgs};
use crate::cli::options::many::SamplingArgs;
use crate::cli::options::match_args::MatchArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::target::Target;
use crate::compare::{CompareError, CompareOptions, Compared, compare};
use crate::load::{Combine, Request, Sides, sides};
use crate::output::{Explain, evidence_notes};
use crate::profile::LoadOptions;
use crate::report::{Diff, DiffOutcome, Message, Name, Report};
use crate::stats::Incomparable;
use crate::transform::AlignError;
use crate::tree::By;
use crate::view::{DiffOptions, DiffSort, limit_rows};

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
    pub(crate) fn run(self) -> Result<Outcome> {
        if self.init {
            return init::run(self.layout.force).map(Outcome::from);
        }
        let mut output =
            self.layout.output(&self.wording, &["--base OLD NEW".to_string()], self.input.quiet)?;
        if self.test.learn_noise {
            return self.learn(&output).map(Outcome::from);
        }
        output.style.explain = match (self.explain, self.no_explain) {
            (true, _) => Explain::All,
            (_, true) => Explain::Nothing,
            _ => Explain::Most,
        };
        let (old, new) = given(&self.input.profiles, &self.old, &self.new)?;
        output.check(&self.files(&old, &new))?;
        let mut diff = self.diff(&old, &new, output.format)?;
        let code = match diff.outcome() {
            DiffOutcome::Passed => 0,
            DiffOutcome::Failed => FAILED,
            DiffOutcome::Undecided => UNDECIDED,
        };
        output.style.exit_code = Some(code);
        self.report_evidence(&mut diff, &output);
        write_timed(&self.fitted(diff, &output)?, &output, &self.input)?;
        Ok(Outcome(code))
    }

    /// All files that are read.
    fn files(&self, old: &[String], new: &[String]) -> Vec<PathBuf> {
        let profiles = old.iter().chain(new).map(PathBuf::from);
        let noise = match &self.test.noise {
            NoiseSource::Learned(path) => Some(path),
            NoiseSource::Assumed(_) => None,
        };
        let others = self.input.symbols.binaries().iter().chain(&self.test.budget).chain(noise).cloned();
        profiles.chain(others).collect()
    }

    /// Compares both sides; once more if labels may show that only the mix of work changed. Most comparisons find no change
    /// and need not read labels.
    fn diff(&self, old: &[String], new: &[String], format: OutputFormat) -> Result<Diff> {
        let (by, filters) = (self.node.by(), self.filters.filters());
        let mut needs = needs(&filters, &by);
        // A pipe cannot be read a second time.
        needs.labels |= old.iter().chain(new).any(|input| input == "-");
        let compared = self.compared(old, new, needs.clone(), Pass::First)?;
        let has_labels = compared.has_text_labels && !needs.labels;
        let diff = self.report(compared, format, Pass::First)?;
        if !has_labels || (diff.regressed == 0 && diff.improved == 0 && diff.mix.is_none()) {
            return Ok(diff);
        }
        needs.labels = true;
        self.report(self.compared(old, new, needs, Pass::WithLabels)?, format, Pass::WithLabels)
    }

    /// Loads both sides, and makes them one filtered profile.
    fn compared(&self, old: &[String], new: &[String], needs: LoadOptions, pass: Pass) -> Result<Compared> {
        let (by, filters) = (self.node.by(), self.filters.filters());
        let combine = Combine { sampling: self.choice.sampling(), ..Combine::default() };
        let old = self.input.request(old.to_vec(), combine, needs.clone(), self.filters.all_frames)?;
        let new = Request { inputs: new.to_vec(), ..old.clone() };
        let observer = old.observer.clone();
        let both = Request { inputs: [&old.inputs[..], &new.inputs].concat(), ..old.clone() };
        let new = Some(&new).filter(|new| !new.inputs.is_empty());
        let sides = sides(&old, new).map_err(|error| request::explain(error, &both))?;
        self.check(&sides, &by, pass)?;
        let matching = self.matching.options(self.test.min_tested / 100.0)?;
        let options = CompareOptions { by, matching, all_matches: self.input.verbose, keep: needs, observer };
        compare(sides, &filters, &options).map_err(|error| self.not_compared(error))
    }

    /// Fails if profiles of calls cannot answer what is asked.
    fn check(&self, sides: &Sides, by: &By, pass: Pass) -> Result<()> {
        let requirement = Requirement::Costs;
        for input in sides.all() {
            requirement.check(&input.profile, by, &[input.metric])?;
            if input.profile.calls.is_some() && self.test.budget.is_some() {
                let format = input.profile.meta.format;
                let message = format!("--budget: {format} records calls between functions, not stacks");
                return Err(hinted(message, "prof top -f json has the numbers to check"));
            }
        }
        if pass == Pass::First {
            note(requirement.note(sides.all().map(|input| &input.profile), by).as_slice(), &self.input);
        }
        Ok(())
    }

    /// Explains why the sides cannot become one profile.
    fn not_compared(&self, error: CompareError) -> anyhow::Error {
        match error {
            CompareError::Given(error) => self.matching.explain(&error),
            CompareError::Align(error, inputs) => not_aligned(&error, &inputs),
            CompareError::Filter(error) => filters::explain(error),
        }
    }

    /// Compares the sides, after printing what there is to say about them.
    fn report(&self, compared: Compared, format: OutputFormat, pass: Pass) -> Result<Diff> {
        let usual = compared.options();
        let filters = self.filters.filters();
        let mut stages = filters.stages(compared.profile.clone(), &usual.by);
        let functions = stages.matching("--function", &self.test.function).map_err(filters::explain)?;
        let budgets = match &self.test.budget {
            Some(path) => budget::rules(path, &compared, &mut stages)?,
            None => Vec::new(),
        };
        if pass == Pass::First {
            warn(&compared.profile.meta.warnings, &self.input);
            note(&compared.notes, &self.input);
            note(&stages.notes, &self.input);
        }
        let test = self.test.options(usual.test);
        let history = match &self.test.noise {
            NoiseSource::Learned(path) => {
                Some(learn_noise::history(path, &compared, &usual.by, test.normalize)?)
            }
            NoiseSource::Assumed(_) => None,
        };
        let options = DiffOptions {
            test,
            history,
            functions,
            wanted_ratio: self.test.detect,
            strict: self.test.strict,
            explain: !self.no_explain,
            limit: RowLimit { given: self.limit, text: ROWS }.rows(format, None),
            others: (format.is_for_people() && self.limit.is_none() && self.sort.is_none())
                .then_some(OTHER_ROWS),
            sort: self.sort.map(DiffSort::from),
            min_share: self.min_share.unwrap_or(0.0),
            budgets,
            ..usual
        };
        let mut clock = Clock::new(self.input.verbose);
        let diff = compared.report(&options).map_err(incomparable)?;
        clock.step("test");
        Ok(diff)
    }

    /// The report with as many rows as fit the screen, unless the number of rows was given. At least a few are kept.
    fn fitted(&self, diff: Diff, output: &Output) -> Result<Report> {
        let Some(lines) = output.lines.filter(|_| self.limit.is_none()) else {
            return Ok(diff.into());
        };
        let mut diff = diff;
        let fitted = fitted(&output.style, lines, diff.rows.len(), FEWEST_ROWS, |rows| {
            limit_rows(&mut diff, rows);
            Ok(Attempt { report: diff.clone().into(), notes: Vec::new() })
        })?;
        Ok(fitted.report)
    }

    /// Reports the quality of the evidence on standard error if the report is not printed to the terminal, and
    /// prepares the report for its format.
    fn report_evidence(&self, diff: &mut Diff, output: &Output) {
        let notes = evidence_notes(diff);
        if output.format != OutputFormat::Text || output.target != Target::Stdout {
            warn(&notes, &self.input);
        }
        match output.format {
            OutputFormat::Json => diff.header.warnings.extend(notes.into_iter().map(Message::warning)),
            OutputFormat::Github => relative_files(diff),
            _ => {}
        }
    }
}

/// Explains which of the inputs cannot be compared.
fn not_aligned(error: &AlignError, inputs: &[String]) -> anyhow::Error {
    let hint = match error {
        AlignError::Periods(_, _, number) => {
            let input = |number: usize| inputs.get(number).map_or("", String::as_str);
            format!("record {} and {} with the same settings", input(0), input(*number))
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
