//! `prof diff`.

mod budgets;
mod by_side;
mod given;
mod learn_noise;
mod test;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};

use crate::cli::commands::diff::given::given;
use crate::cli::commands::diff::test::{NoiseSource, TestArgs};
use crate::cli::commands::fit::{Attempt, fitted};
use crate::cli::commands::init;
use crate::cli::commands::outcome::{FAILED, Outcome};
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{needs, write};
use crate::cli::input::request;
use crate::cli::options::args::{InputArgs, NodeArgs, RowLimit, percent, say};
use crate::cli::options::filters::{self, FilterArgs};
use crate::cli::options::layout::{LayoutArgs, Output, OutputFormat, WordingArgs};
use crate::cli::options::many::SamplingArgs;
use crate::cli::options::match_args::MatchArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::target::Target;
use crate::compare::{CompareError, CompareOptions, Compared, compare};
use crate::filter::Stages;
use crate::load::{Combine, Error, Request, SideInput, Sides, sides};
use crate::output::{Explain, evidence_notes, summarise_causes};
use crate::parallel;
use crate::profile::LoadOptions;
use crate::report::{Diff, DiffOutcome, Message, Name, Report};
use crate::source::is_url;
use crate::stats::{Incomparable, TestOptions};
use crate::transform::AlignError;
use crate::tree::By;
use crate::view::{DiffOptions, DiffSort, limit_by_side, limit_rows, unfit_to_compare};

/// What changed between two sides, and whether it is more than noise
///
/// To compare repeated runs of one program, give several profiles per side with --old and --new, or one
/// folder per side. They are never added up. Scripts can read the verdict from the exit code.
#[derive(Args, Debug)]
#[command(override_usage = "prof diff [OPTIONS] OLD NEW")]
#[command(mut_arg("profiles", |option| {
    option.help("OLD and NEW: a profile, a folder of profiles, an address (http://…), or `-` for standard input")
}))]
#[command(mut_arg("verbose", |option| option.help("Print how long each step took, and list all matched functions")))]
#[command(mut_arg("metrics", |option| option.help("Metric to compare, by name, profile type or number")))]
#[command(mut_arg("max_profiles", |option| {
    option.help("Use at most N profiles per side, chosen at random; 0 for all [default: all]")
}))]
#[command(mut_arg("format", |option| option.value_parser(every_format())))]
#[command(mut_arg("fold", |option| {
    // Known artefacts are always folded here: the option has nothing to say but the name.
    option
        .require_equals(false)
        .num_args(1)
        .help("Remove leaf frames that match NAME (--fold=NAME), as well as those inserted by the profiler; their self value moves to the caller")
}))]
#[command(after_help = "Examples:
  prof diff old.pb.gz new.pb.gz                             what changed, and whether it is noise
  prof diff --normalize per=1000,1000 old.pb.gz new.pb.gz   cost per request, 1000 per side
  prof diff --by-side old.pb.gz new.pb.gz newer.pb.gz       each build compared with the first")]
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
    /// Write a budget file and a CI workflow, then exit
    ///
    /// The files are prof.toml and a workflow for GitHub (or for GitLab, in a folder with a .gitlab-ci.yml) that
    /// records the project in this folder: Go, Rust, Java, Python or Node.js. If one of them exists already,
    /// nothing is written, unless --force is given.
    #[arg(
        long, help_heading = "Set up",
        conflicts_with_all = ["profiles", "old", "new", "metrics", "format", "output", "budget"]
    )]
    init: bool,
    #[command(flatten)]
    test: TestArgs,
    /// Record N times on each side, in turns, if both sides are addresses of servers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = None)]
    runs: Option<u16>,
    /// Show at most N rows; 0 for all [default: as many as fit the screen, or 20, at most 5 of them not significant; JSON and CSV: all]
    #[arg(short = 'n', long, value_name = "N", help_heading = None)]
    limit: Option<usize>,
    /// Sort rows by this column instead of by verdict
    #[arg(long, value_name = "COLUMN", value_enum, help_heading = None)]
    sort: Option<DiffSort>,
    /// Hide rows below this percentage on both sides [default: 0]
    #[arg(long, value_name = "P", value_parser = percent, help_heading = None)]
    min_share: Option<f64>,
    /// List every cause of a change; by default, only the causes that explain most of it
    #[arg(long, conflicts_with = "no_explain", help_heading = None)]
    explain: bool,
    /// Do not look for the causes of a change
    #[arg(long, help_heading = None)]
    no_explain: bool,
    #[command(flatten)]
    matching: MatchArgs,
    /// Compare several builds with the first
    ///
    /// Each is a profile or a folder with its runs. All are listed in one table.
    #[arg(long, conflicts_with_all = ["old", "new"])]
    by_side: bool,
    /// The warnings and notes that were printed.
    #[arg(skip)]
    said: RefCell<BTreeSet<String>>,
}

/// The values of `--format`, including those that no other command writes.
fn every_format() -> impl TypedValueParser<Value = OutputFormat> {
    let formats = OutputFormat::value_variants().iter();
    let values = formats.filter_map(|format| Some(format.to_possible_value()?.hide(false)));
    PossibleValuesParser::new(values).try_map(|name| OutputFormat::from_str(&name, false))
}

/// The default number of rows in text.
const ROWS: usize = 20;
/// The exit code if there is too little evidence for a strict check.
const UNDECIDED: u8 = 3;
/// How many of these may be rows that are not significant, unless asked for more.
const OTHER_ROWS: usize = 5;
/// A small screen shows at least so many rows.
const FEWEST_ROWS: usize = 5;

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
        output.style.all_matches = self.input.verbose;
        if self.by_side {
            return by_side::run(&self, output);
        }
        let (old, new) = given(&self.input.profiles, &self.old, &self.new, self.test.budget.is_some())?;
        let (old, new) = (self.repeated(old)?, self.repeated(new)?);
        output.check(&self.files(&[&old[..], &new].concat()))?;
        if old.is_empty() {
            return self.check_budgets(&new, output);
        }
        let mut diff = self.diff(&old, &new, output.format)?;
        let code = exit_code(diff.outcome());
        output.style.exit_code = Some(code);
        self.report_evidence(&mut diff, &output);
        Outcome(code).after(write(&self.fitted(diff.into(), &output)?, &output, self.input.verbose))
    }

    /// The inputs of a side, as often as `--runs` says.
    fn repeated(&self, inputs: Vec<String>) -> Result<Vec<String>> {
        let Some(runs) = self.runs else { return Ok(inputs) };
        if let Some(file) = inputs.iter().find(|input| !is_url(input)) {
            let hint = "name several files per side instead: prof diff --old OLD... --new NEW...";
            return Err(hinted(format!("--runs: {file} is a file, which cannot be recorded again"), hint));
        }
        Ok(inputs.iter().cycle().take(inputs.len() * usize::from(runs)).cloned().collect())
    }

    /// All files that are read.
    fn files(&self, profiles: &[String]) -> Vec<PathBuf> {
        let profiles = profiles.iter().map(PathBuf::from);
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
        let testing = Testing { alpha: self.test.alpha, cut: self.cut(format), build: None };
        let compare = |needs: &LoadOptions| {
            let [old, both] = [old, &[old, new].concat()].map(|inputs| self.request(inputs, needs));
            let (old, both) = (old?, both?);
            let new = Request { inputs: new.to_vec(), ..old.clone() };
            let new = Some(&new).filter(|new| !new.inputs.is_empty());
            let sides = sides(&old, new).map_err(|error| self.no_sides(error, &both))?;
            self.compared(sides, &old, false)
        };
        let needs = self.needs(&[old, new].concat());
        let compared = compare(&needs)?;
        let has_labels = compared.has_text_labels && !needs.labels;
        let diff = self.report(compared, &testing)?;
        if !has_labels || !may_be_mix(&diff) {
            return Ok(diff);
        }
        self.report(compare(&with_kinds(needs))?, &testing)
    }

    /// Explains why there are no two sides. With budgets, the one profile that was named may be the new side.
    fn no_sides(&self, error: Error, request: &Request) -> anyhow::Error {
        match (&error, &self.test.budget) {
            (Error::OneSide(_), Some(budget)) => {
                let (budget, new) = (budget.display(), request.inputs.join(" "));
                let hint = format!("to check only budgets: prof diff --budget {budget} --new {new}");
                hinted(format!("diff: {error}"), hint)
            }
            _ => request::explain(error, request),
        }
    }

    /// What is read of each input at first.
    fn needs(&self, inputs: &[String]) -> LoadOptions {
        let needs = needs(&self.filters.filters(), &self.node.by());
        // A pipe cannot be read a second time.
        let is_pipe = inputs.iter().any(|input| input == "-");
        if is_pipe { with_kinds(needs) } else { needs }
    }

    /// The request to read one side.
    fn request(&self, inputs: &[String], needs: &LoadOptions) -> Result<Request> {
        let combine = Combine { sampling: self.choice.sampling(), ..Combine::default() };
        self.input.request(inputs.to_vec(), combine, needs.clone(), self.filters.all_frames)
    }

    /// Makes sides that were read as `request` says one filtered profile.
    fn compared(&self, sides: Sides, request: &Request, old_names: bool) -> Result<Compared> {
        let (by, filters) = (self.node.by(), self.filters.filters());
        self.check(&sides, &by)?;
        let options = CompareOptions {
            by,
            matching: self.matching.options(self.test.min_tested / 100.0)?,
            all_matches: self.input.verbose,
            old_names,
            keep: request.needs.clone(),
            observer: request.observer.clone(),
        };
        compare(sides, &filters, &options).map_err(|error| self.not_compared(error))
    }

    /// Fails if profiles of calls cannot answer what is asked.
    fn check(&self, sides: &Sides, by: &By) -> Result<()> {
        let requirement = Requirement::Costs;
        for input in sides.all() {
            requirement.check(&input.profile, by, &[input.metric])?;
            if input.profile.calls.is_some() && self.test.budget.is_some() {
                let format = input.profile.meta.format;
                let message = format!("--budget: {format} records calls between functions, not stacks");
                return Err(hinted(message, "prof top -f json has the numbers to check"));
            }
        }
        let inputs: Vec<&SideInput> = sides.all().collect();
        let unfit = parallel::ranges(inputs.len(), 1, |some| {
            let unfit = inputs[some].iter().map(|input| unfit_to_compare(&input.profile, input.metric));
            unfit.collect::<Vec<_>>()
        });
        for (input, unfit) in inputs.iter().zip(unfit.concat()) {
            let named = unfit.into_iter().map(|text| format!("{}: {text}", input.name));
            self.warn(&named.collect::<Vec<_>>());
        }
        self.note(requirement.note(sides.all().map(|input| &input.profile), by).as_slice());
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
    fn report(&self, mut compared: Compared, testing: &Testing) -> Result<Diff> {
        let usual = compared.options();
        let filters = self.filters.filters();
        let mut stages = filters.stages(compared.profile.clone(), &usual.by);
        let functions = stages.matching("--function", &self.test.function).map_err(filters::explain)?;
        let budgets = self.budgets(&compared, &mut stages)?;
        for remark in &mut compared.remarks {
            remark.text = testing.about(&remark.text);
        }
        self.say_about(&compared, &stages);
        let test = TestOptions { alpha: testing.alpha, ..self.test.options(usual.test) };
        let history = match &self.test.noise {
            NoiseSource::Learned(path) => {
                Some(learn_noise::history(path, &compared, &usual.by, test.normalize)?)
            }
            NoiseSource::Assumed(_) => None,
        };
        let Cut { limit, others, min_share } = testing.cut;
        let options = DiffOptions {
            test,
            history,
            functions,
            wanted_ratio: self.test.detect,
            strict: self.test.strict,
            explain: !self.no_explain,
            limit,
            others,
            sort: self.sort,
            min_share,
            budgets,
            ..usual
        };
        let mut clock = Clock::new(self.input.verbose);
        let mut diff = compared.report(&options).map_err(incomparable)?;
        diff.options = [self.filters.folds_repeated(), self.matching.repeated()].concat();
        summarise_causes(&mut diff);
        clock.step("test");
        Ok(diff)
    }

    /// Prints what there is to say about the inputs and patterns.
    fn say_about(&self, compared: &Compared, stages: &Stages) {
        self.warn(&compared.profile.meta.warnings);
        self.note(&compared.profile.meta.notes);
        self.say_once(compared.remarks.iter().cloned());
        self.note(&compared.notes);
        self.note(&stages.notes);
    }

    /// Which rows to show.
    fn cut(&self, format: OutputFormat) -> Cut {
        let is_short = format.is_for_people() && self.limit.is_none() && self.sort.is_none();
        Cut {
            limit: RowLimit { given: self.limit, text: ROWS }.rows(format, None),
            others: is_short.then_some(OTHER_ROWS),
            min_share: self.min_share.unwrap_or(0.0),
        }
    }

    /// Prints warnings, each only once: several comparisons may share a side, or be made again with labels.
    fn warn(&self, texts: &[String]) {
        self.say_once(texts.iter().map(Message::warning));
    }

    /// Prints notes, each only once.
    fn note(&self, texts: &[String]) {
        self.say_once(texts.iter().map(Message::note));
    }

    fn say_once(&self, messages: impl Iterator<Item = Message>) {
        let mut said = self.said.borrow_mut();
        say(messages.filter(|message| said.insert(message.text.clone())), &self.input);
    }

    /// The report with as many rows as fit the screen, unless the number of rows was given. At least a few are kept.
    fn fitted(&self, mut report: Report, output: &Output) -> Result<Report> {
        let Some(lines) = output.lines.filter(|_| self.limit.is_none()) else { return Ok(report) };
        let rows = match &report {
            Report::Diff(diff) => diff.rows.len(),
            Report::BySide(all) => all.rows.len(),
            _ => return Ok(report),
        };
        let fitted = fitted(&output.style, lines, rows, FEWEST_ROWS, &mut |rows| {
            match &mut report {
                Report::Diff(diff) => limit_rows(diff, rows),
                Report::BySide(all) => limit_by_side(all, rows),
                _ => {}
            }
            Ok(Attempt { report: report.clone(), notes: Vec::new() })
        })?;
        Ok(fitted.report)
    }

    /// Reports the quality of the evidence on standard error if the report is not printed to the terminal, and
    /// prepares the report for its format.
    fn report_evidence(&self, diff: &mut Diff, output: &Output) {
        self.tell_evidence(diff, &evidence_notes(diff), output);
        if output.format == OutputFormat::Github {
            relative_files(diff);
        }
    }

    /// Prints notes unless the terminal shows them in the report.
    fn tell_evidence(&self, diff: &mut Diff, notes: &[String], output: &Output) {
        if output.format != OutputFormat::Text || output.target != Target::Stdout {
            self.warn(notes);
        }
        if output.format == OutputFormat::Json {
            diff.header.warnings.extend(notes.iter().map(Message::warning));
        }
    }
}

/// How strict a comparison is, and which of its rows are kept.
struct Testing {
    /// The accepted probability of a false alarm.
    alpha: f64,
    cut: Cut,
    /// The new side, to be named in messages if there are several.
    build: Option<String>,
}

impl Testing {
    /// A message on this comparison.
    fn about(&self, message: &str) -> String {
        self.build.as_ref().map_or_else(|| message.to_string(), |build| format!("{build}: {message}"))
    }
}

/// Which rows to keep.
#[derive(Clone, Copy, Default)]
struct Cut {
    /// The maximum number of rows; `None` for all.
    limit: Option<usize>,
    /// The maximum number of rows that are not significant; `None` for all.
    others: Option<usize>,
    /// The minimum share, in percent.
    min_share: f64,
}

fn exit_code(outcome: DiffOutcome) -> u8 {
    match outcome {
        DiffOutcome::Passed => 0,
        DiffOutcome::Failed => FAILED,
        DiffOutcome::Undecided => UNDECIDED,
    }
}

/// The same with labels that may tell kinds of work.
fn with_kinds(needs: LoadOptions) -> LoadOptions {
    if needs.labels { needs } else { LoadOptions { labels: true, kinds_only: true, ..needs } }
}

/// Whether labels may show that only the mix of work changed.
fn may_be_mix(diff: &Diff) -> bool {
    diff.regressed > 0 || diff.improved > 0 || diff.mix.is_some()
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
    if matches!(error, Incomparable::NothingInCommon(..) | Incomparable::DifferentPrograms { .. }) {
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
