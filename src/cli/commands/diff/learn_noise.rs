//! `prof diff --learn-noise`: writes how much functions vary between runs of one build. `prof diff --noise FILE`: checks
//! that such a file fits the profiles that are compared.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::Result;

use crate::cli::commands::diff::{DiffCommand, incomparable};
use crate::cli::commands::show::needs;
use crate::cli::input::noise::{self, FEWEST_RUNS};
use crate::cli::input::request::explain;
use crate::cli::options::args::{note, warn};
use crate::cli::options::layout::Output;
use crate::cli::terminal::failure::hinted;
use crate::compare::{CompareOptions, Compared, compare};
use crate::load::{Combine, Side, Sides, one_side};
use crate::output::noise_file;
use crate::report::{Name, NoiseHistory};
use crate::stats::Normalization;
use crate::tree::By;
use crate::unit::Unit;
use crate::view::{SampleSize, count_listed, grouping_name, learn_noise, normalization_name};

/// With fewer runs than this, a warning says so.
const ENOUGH_RUNS: usize = 10;

impl DiffCommand {
    /// Learns from the profiles given, each of which is a run of one build.
    pub(super) fn learn(&self, output: &Output) -> Result<()> {
        let runs = &self.input.profiles;
        if runs.is_empty() {
            let message = "diff --learn-noise: no profiles given";
            let hint = "name the runs of one build: prof diff --learn-noise RUNS... -o noise.toml";
            return Err(hinted(message, hint));
        }
        output.check(&self.files(runs))?;
        let (by, filters) = (self.node.by(), self.filters.filters());
        let keep = needs(&filters, &by);
        let combine = Combine { sampling: self.choice.sampling(), ..Combine::default() };
        let request = self.input.request(runs.clone(), combine, keep.clone(), self.filters.all_frames)?;
        let observer = request.observer.clone();
        let side = one_side(&request).map_err(|error| explain(error, &request))?;
        let count = side.inputs.len();
        if count < FEWEST_RUNS {
            let message = format!("diff --learn-noise: {count} of at least {FEWEST_RUNS} runs given");
            return Err(hinted(
                message,
                "give 10 or more runs of one build, recorded like the runs to judge",
            ));
        }
        if let Some(input) = side.inputs.iter().find(|input| input.profile.calls.is_some()) {
            let format = input.profile.meta.format;
            let message =
                format!("diff --learn-noise: {format} records calls between functions, not samples");
            return Err(hinted(
                message,
                "compare several runs per side instead: prof diff --old OLD... --new NEW...",
            ));
        }
        let options = CompareOptions { by: by.clone(), keep, observer, ..CompareOptions::default() };
        let compared =
            compare(divided(side), &filters, &options).map_err(|error| self.not_compared(error))?;
        let whole = &compared.profile;
        if compared.sides.size == SampleSize::Unknown {
            let metric = &whole.meta.metrics[0].name;
            let message =
                format!("diff --learn-noise: these profiles do not say how much {metric} makes one sample");
            let hint = "choose another metric with --metric, or give several runs per side to prof diff";
            return Err(hinted(message, hint));
        }
        warn(&whole.meta.warnings, &self.input);
        note(&compared.notes, &self.input);
        if count < ENOUGH_RUNS {
            let text = format!(
                "learned from {count} runs only; {ENOUGH_RUNS} or more say how noisy single functions are"
            );
            warn(&[text], &self.input);
        }
        let normalize = self.test.options(compared.options().test).normalize;
        let learned = learn_noise(whole, count, compared.sides.size, &by, normalize).map_err(incomparable)?;
        output.target.write(|out| Ok(noise_file(&learned, out)?))
    }
}

/// The runs as two sides. Any division will do: all of them are of one build.
fn divided(side: Side) -> Sides {
    let mut old = side.clone();
    let mut new = side;
    old.inputs.truncate(1);
    new.inputs.drain(..1);
    Sides { old, new, share_a_file: false }
}

/// What was learned earlier, for the functions that are compared: those of the old side that have another name on the new
/// side are renamed. Fails if the noise is that of other profiles.
pub(super) fn history(
    path: &Path,
    compared: &Compared,
    by: &By,
    normalize: Normalization,
) -> Result<NoiseHistory> {
    let mut history = noise::read(path)?;
    let whole = &compared.profile;
    let listed: HashSet<Name> = history.functions.iter().map(|function| function.name.clone()).collect();
    let renamed = compared.renamed.iter().filter(|(_, new)| !listed.contains(new));
    let new_name: HashMap<&Name, &Name> = renamed.map(|(old, new)| (old, new)).collect();
    for function in &mut history.functions {
        if let Some(name) = new_name.get(&function.name) {
            function.name = (*name).clone();
        }
    }
    let place = path.display();
    let wrong = |what: String| {
        let hint = "learn it again with the same options: prof diff --learn-noise RUNS... -o noise.toml";
        Err(hinted(format!("--noise {place}: {what}"), hint))
    };
    let metric = &whole.meta.metrics[0];
    let (learned, compared) = (&history.metric, &metric.name);
    if learned != compared {
        return wrong(format!("learned from the metric {learned}, but {compared} is compared"));
    }
    let family = |unit: &str| Unit::parse(unit).family();
    if family(&history.unit) != family(&metric.unit) {
        return wrong(format!(
            "learned from {compared} in {}, but these profiles are in {}",
            history.unit, metric.unit
        ));
    }
    let grouped = grouping_name(by);
    if history.by != grouped {
        return wrong(format!(
            "learned with --by {}, but this is a comparison with --by {grouped}",
            history.by
        ));
    }
    let is_per_run = |method: &str| method == "none";
    let method = normalization_name(normalize);
    if is_per_run(&history.normalize) != is_per_run(method) {
        let learned = &history.normalize;
        return wrong(format!(
            "learned with --normalize {learned}, but this is a comparison with --normalize {method}"
        ));
    }
    if count_listed(&history, whole, by) == 0 {
        let count = history.functions.len();
        return wrong(format!("none of its {count} functions is in these profiles"));
    }
    Ok(history)
}
