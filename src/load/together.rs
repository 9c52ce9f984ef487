//! Loads the inputs and combines them into one profile.

use crate::load::combine::Combine;
use crate::load::metrics::{
    MetricKey, check_metrics, default_metric, metrics_wanted, note_of_default, refuse_too_large,
};
use crate::load::pair::read_both;
use crate::load::paths::InputPath;
use crate::load::read::{Kept, ReadInputs};
use crate::load::warnings::InputWarnings;
use crate::load::{Error, Request};
use crate::profile::{Meta, Metric, Profile};
use crate::report::{Combined, InfoInput};
use crate::source::is_url;
use crate::transform::{note_idle, note_multiples};
use crate::unit::plural;
use crate::view::BaseSide;

/// The profile to show, and the inputs it was made from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// All inputs combined.
    pub profile: Profile,
    /// The inputs as they were given.
    pub names: Vec<String>,
    /// A description of each loaded input.
    pub inputs: Vec<InfoInput>,
    /// How several inputs were combined.
    pub combined: Option<Combined>,
    /// Numbers of the metrics to show.
    pub metrics: Vec<usize>,
    /// The number of the metric that is shown by default.
    pub default_metric: usize,
    /// The old side, whose values are another metric of the profile, if there is one to compare with.
    pub base: Option<BaseSide>,
}

/// Inputs that were read, but not combined yet.
pub struct Unmerged(pub(super) ReadInputs);

impl Request {
    /// Loads the inputs, looks up names for their addresses, combines them, and finds the metrics to show.
    pub fn load(&self) -> Result<Loaded, Error> {
        self.merge(self.read_inputs(&self.paths()?)?)
    }

    /// Reads the inputs, and looks up names for their addresses.
    fn read_inputs(&self, paths: &[InputPath]) -> Result<Unmerged, Error> {
        let kept = if self.combine.chooses() { Kept::Each } else { Kept::Sum };
        self.read(paths, kept, |count| self.combine.order(count)).map(Unmerged)
    }

    /// Reads these inputs and those of an old side, which need not have the same metrics: at once if that is faster. Without
    /// this side, the old one is not needed. If they are also `tested`, all inputs stay apart, so that they can be compared as well
    /// as combined.
    pub fn read_with_base(
        &self,
        old: &Request,
        tested: bool,
    ) -> Result<(Unmerged, Result<Unmerged, Error>), Error> {
        read_both(self, old, |request, paths| {
            if !tested {
                return request.read_inputs(paths);
            }
            let order = |count| request.combine.order(count);
            request.with_sizes().read(paths, Kept::Each, order).map(Unmerged)
        })
    }

    /// Combines inputs that were read, and finds the metrics to show.
    pub fn merge(&self, read: Unmerged) -> Result<Loaded, Error> {
        let combine = &self.combine;
        let Unmerged(ReadInputs { metas, skipped, found, parts, .. }) = read;
        let read: Vec<&Meta> = metas.iter().map(|(_, meta)| meta).collect();
        let wanted = metrics_wanted(&self.metrics, &read)?;
        let note = note_of_default(&self.metrics, &read);
        let default = MetricKey::of(&metas[0].1, default_metric(&read));
        let named: Vec<(&str, &Meta)> = metas.iter().map(|(name, meta)| (&**name, meta)).collect();
        check_metrics(&named, &wanted)?;
        let chosen = chosen(combine, &metas, &wanted[0]);
        let inputs = chosen.iter().map(|&place| describe(&metas[place].0, &metas[place].1, &wanted[0]));
        let inputs: Vec<InfoInput> = inputs.collect();
        let combined = (found > 1 || self.inputs.len() > 1)
            .then(|| combine.describe(chosen.len(), found, skipped.count()));
        let mut parts: Vec<Profile> = parts.into_iter().collect::<Result<_, _>>()?;
        if combine.chooses() {
            let mut place = 0..;
            parts.retain(|_| place.next().is_some_and(|place| chosen.binary_search(&place).is_ok()));
        }
        let several = parts.len() > 1;
        let mut profile = combine.combine(parts)?;
        if several {
            self.observer.step("merge");
        }
        let of_chosen = chosen.iter().map(|&place| (&*metas[place].0, &metas[place].1));
        InputWarnings::of(of_chosen).name_inputs(&mut profile.meta);
        skipped.tell(&mut profile.meta);
        let metrics: Vec<usize> = wanted.iter().filter_map(|key| key.place_in(&profile.meta)).collect();
        for &metric in &metrics {
            refuse_too_large(&profile, metric)?;
        }
        let unresolved = self.symbols.warning([(&profile, metrics[0])].into_iter());
        if let Some(text) = unresolved {
            profile.meta.warn_of_fault(text);
        }
        profile.meta.warnings.extend(note);
        profile.meta.warnings.extend(warning_of_repetition(&inputs));
        profile.meta.warnings.extend(warning_of_copies(&inputs));
        let all: Vec<usize> = (0..profile.meta.metrics.len()).collect();
        note_idle(&mut profile, &all);
        note_multiples(&mut profile);
        let default_metric = default.place_in(&profile.meta).unwrap_or(metrics[0]);
        let names = self.names();
        Ok(Loaded { profile, names, inputs, combined, metrics, default_metric, base: None })
    }
}

impl Loaded {
    /// The same profile, of which other metrics are shown; by default those of the profile. There must be no old side.
    pub fn showing(mut self, metrics: &[String]) -> Result<Self, Error> {
        self.metrics = vec![self.default_metric];
        if !metrics.is_empty() {
            let wanted = metrics_wanted(metrics, &[&self.profile.meta])?;
            self.metrics = wanted.iter().filter_map(|key| key.place_in(&self.profile.meta)).collect();
        }
        for &metric in &self.metrics {
            refuse_too_large(&self.profile, metric)?;
        }
        Ok(self)
    }
}

/// `cpu.pb.gz is given twice, and counted twice`
fn warning_of_repetition(inputs: &[InfoInput]) -> Option<String> {
    let mut names: Vec<&str> = inputs.iter().map(|input| &*input.name).collect();
    // What a server or a pipe gives is another profile each time.
    names.retain(|name| !is_url(name) && *name != "-");
    names.sort_unstable();
    let repeated: Vec<&[&str]> = names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).collect();
    let (first, more) = repeated.split_first()?;
    let times = match first.len() {
        2 => "twice".to_string(),
        count => format!("{count} times"),
    };
    let others = match more.len() {
        0 => String::new(),
        count => format!(" ({count} more {} repeated, too)", plural(count as u64, "input is", "inputs are")),
    };
    Some(format!("{} is given {times}, and counted {times}{others}", first[0]))
}

/// `cpu.pb and cpu.pb.gz …`: a folder may have a profile and its compressed copy.
fn warning_of_copies(inputs: &[InfoInput]) -> Option<String> {
    // Recordings that begin at the same moment, to the nanosecond, and have the same total and length.
    let known = inputs.iter().filter(|input| input.time_ns.is_some() && input.total != 0);
    let mut known: Vec<&InfoInput> = known.collect();
    let data = |input: &InfoInput| (input.time_ns, input.total, input.duration_ns);
    known.sort_by(|a, b| (data(a), &a.name).cmp(&(data(b), &b.name)));
    known.dedup_by(|a, b| a.name == b.name);
    let copies = known.chunk_by(|a, b| data(a) == data(b)).filter(|same| same.len() > 1);
    let (mut first, mut more) = (None, 0);
    for same in copies {
        more += same.len() - 1;
        first = first.or(Some([&same[0].name, &same[1].name]));
    }
    let [one, other] = first?;
    let others = if more > 1 { format!(" (and {} more such)", more - 1) } else { String::new() };
    Some(format!(
        "{one} and {other} began at the same moment and have the same total{others}: if they are copies, the data are counted several \
         times"
    ))
}

/// The positions of the profiles to combine.
fn chosen(combine: &Combine, metas: &[(String, Meta)], metric: &MetricKey) -> Vec<usize> {
    let metrics: Vec<&Metric> =
        metas.iter().filter_map(|(_, meta)| Some(&meta.metrics[metric.place_in(meta)?])).collect();
    combine.choose(&metrics)
}

/// The description of an input for `info`.
fn describe(name: &str, meta: &Meta, shown: &MetricKey) -> InfoInput {
    let metric = shown.place_in(meta).map(|place| &meta.metrics[place]);
    InfoInput {
        name: name.to_string(),
        format: meta.format.to_string(),
        bytes: meta.bytes,
        total: metric.map_or(0, |metric| metric.total),
        time_ns: meta.time_ns,
        duration_ns: meta.duration_ns,
        unit: metric.map_or_else(String::new, |metric| metric.unit.clone()),
        divisor: metric.map_or(1, |metric| metric.divisor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_recording_are_told() {
        let input = |name: &str, time: i64, total: i64| InfoInput {
            name: name.to_string(),
            format: "pprof".to_string(),
            bytes: 1,
            total,
            time_ns: Some(time),
            duration_ns: Some(5),
            unit: "count".to_string(),
            divisor: 1,
        };
        let warning = |inputs: &[InfoInput]| warning_of_copies(inputs);
        let (one, other) = (input("a.pb", 7, 100), input("a.pb.gz", 7, 100));
        let said = warning(&[one.clone(), input("b.pb", 8, 100), other.clone()]).unwrap();
        assert!(said.starts_with("a.pb and a.pb.gz began at the same moment"), "{said}");
        let said = warning(&[one.clone(), other, input("a.pb.zst", 7, 100)]).unwrap();
        assert!(said.contains("(and 1 more such)"), "{said}");
        for another in [input("b.pb", 8, 100), input("b.pb", 7, 101), one.clone()] {
            assert_eq!(warning(&[one.clone(), another]), None);
        }
        let without_time = InfoInput { time_ns: None, ..one };
        assert_eq!(warning(&[without_time.clone(), InfoInput { name: "b".into(), ..without_time }]), None);
    }
}
