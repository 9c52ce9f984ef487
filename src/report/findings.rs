//! The report of `report`: what a specialist would conclude from a profile.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::report::{Diff, DiffCause, DiffVerdict, Header, Name, TotalGrowth};

/// The conclusions from a profile. The values of the findings and of the rest add up to what is shown.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Findings {
    /// The header. `elided` is the value of the findings that a budget cut, and `elided_rows` their number.
    #[serde(flatten)]
    pub header: Header,
    /// Why there are no findings, if there are none.
    pub verdict: Option<Sentence>,
    /// The findings, the heaviest first.
    pub findings: Vec<Finding>,
    /// What no finding explains.
    pub rest: Rest,
    /// What is worth knowing about the samples of all findings together.
    pub remarks: Vec<Remark>,
    /// How far the share of a function may be off because of the number of samples, in percentage points (half of the 95 %
    /// interval of a share of 50 %); null if the number of samples is unknown.
    pub accuracy: Option<f64>,
    /// What is wrong with the recording, as far as it limits what can be concluded.
    pub recording_says: Vec<Sentence>,
    /// What findings save, in words: `CPU time`.
    pub saves: &'static str,
    /// What changed since the old side, if there is one that can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Whether the self of functions that the profiler put at the end of stacks counts for their callers, as with `--fold`.
    pub folds: bool,
    /// The options that every command with evidence repeats, ready for a shell.
    #[serde(skip)]
    pub common: String,
    /// Whether a budget left only the first finding, without its details.
    #[serde(skip)]
    pub is_short: bool,
}

impl Findings {
    /// The same with only the first `count` findings; the header says what was left out.
    #[must_use]
    pub fn first(&self, count: usize) -> Findings {
        let mut shorter = self.clone();
        for finding in shorter.findings.drain(count.min(self.findings.len())..) {
            shorter.header.elided += finding.value;
            shorter.header.elided_rows += 1;
        }
        shorter
    }

    /// Only the first finding, and of that only what was found and the command that shows it.
    #[must_use]
    pub fn shortest(&self) -> Findings {
        let mut shorter = self.first(1);
        for finding in &mut shorter.findings {
            finding.details.clear();
            finding.ceiling = None;
        }
        shorter.remarks.clear();
        shorter.is_short = true;
        shorter
    }
}

/// What changed between two sides, as `prof diff` sees it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Changes {
    /// The verdict of the comparison.
    pub verdict: DiffVerdict,
    /// How much more the new side costs; null if nothing could be tested.
    pub growth: Option<TotalGrowth>,
    /// Why costs changed: what explains the growth, the largest part first, then what only moved.
    pub causes: Vec<ExplainedCause>,
    /// The command that shows all changes.
    pub command: String,
    /// The comparison itself.
    #[serde(skip)]
    pub diff: Arc<Diff>,
}

/// A cause, in words and with its evidence.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ExplainedCause {
    /// The cause.
    #[serde(flatten)]
    pub cause: DiffCause,
    /// The same as a sentence.
    pub says: String,
}

impl Changes {
    /// The changes of a comparison, all of which `command` shows.
    pub fn new(diff: Diff, causes: Vec<ExplainedCause>, command: String) -> Self {
        Changes { verdict: diff.verdict, growth: diff.growth, causes, command, diff: Arc::new(diff) }
    }
}

impl ExplainedCause {
    /// A cause, given its sentence.
    pub fn new(cause: DiffCause, says: String) -> Self {
        ExplainedCause { cause, says }
    }
}

/// One conclusion.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// What was found.
    pub says: Sentence,
    /// Who causes it, and what else is known.
    pub details: Vec<Sentence>,
    /// The function that it is about, if it is about one.
    pub function: Option<Name>,
    /// The file and the line that it is about, as far as they are known.
    pub file: Option<Name>,
    /// The line.
    pub line: Option<u32>,
    /// The value of the samples that support this finding and no earlier one.
    pub value: i64,
    /// The value that the evidence shows: `value`, and what it shares with other findings.
    pub measured: i64,
    /// The same on the old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
    /// What could be gained if all of `measured` cost nothing.
    pub ceiling: Option<Ceiling>,
    /// The command and its arguments that show `measured`, without the options that all commands have in common.
    #[serde(skip)]
    pub evidence: Evidence,
    /// The same as one line for a shell.
    pub command: String,
}

/// The command that shows the evidence, before the common options are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The command and its options: `hot`, `-n`, `3`.
    pub words: Vec<String>,
    /// The function, for commands that take one.
    pub subject: Option<String>,
}

/// Amdahl's bound: how many times as much work could be done, if something cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ceiling {
    /// The factor.
    pub ratio: f64,
    /// The lower end of its 95 % interval; null if the number of samples is unknown.
    pub low: Option<f64>,
    /// The upper end; null if it is unbounded, too.
    pub high: Option<f64>,
    /// Whether the program as a whole becomes faster by it. Otherwise only the metric is known to become smaller.
    pub is_elapsed_time: bool,
    /// Whether it is no bound but an estimate, because other threads may be what is waited for instead.
    pub is_estimate: bool,
}

/// What no finding explains.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rest {
    /// Its value.
    pub value: i64,
    /// In how many functions it is.
    pub functions: u64,
    /// The largest value that one of them has.
    pub largest: i64,
    /// The part without a stack.
    pub no_stack: i64,
    /// The part in code without names.
    pub unnamed: i64,
}

/// Something about the samples of all findings.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Remark {
    /// The rule that found it.
    pub rule: &'static str,
    /// What was found.
    pub says: Sentence,
    /// The value that it is about, which the command shows.
    pub value: i64,
    /// The command that shows it, before the common options are added.
    #[serde(skip)]
    pub evidence: Evidence,
    /// The command that shows it.
    pub command: String,
}

/// A sentence, in which the names of functions can be shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Name(Name),
}

impl Sentence {
    /// A sentence without names.
    pub fn new(text: impl Into<String>) -> Self {
        Sentence(vec![Part::Text(text.into())])
    }

    /// A sentence that begins with a name.
    pub fn of(name: &Name) -> Self {
        Sentence(vec![Part::Name(name.clone())])
    }

    /// With more text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Text(text.into()));
        self
    }

    /// With a name.
    #[must_use]
    pub fn name(mut self, name: &Name) -> Self {
        self.0.push(Part::Name(name.clone()));
        self
    }

    /// The sentence with names as `write` writes them.
    pub fn with_names(&self, write: impl Fn(&str) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Name(name) => write(name),
        };
        self.0.iter().map(part).collect()
    }
}

impl Display for Sentence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_names(str::to_string))
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
