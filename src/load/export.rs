//! Exporting inputs to a dataset, each as a profile of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::{Export, ExportError, Exported, future};
use crate::filter::{FilterError, Filters};
use crate::load::metrics::metrics_wanted;
use crate::load::read::BatchOrder;
use crate::load::{Error, Request};
use crate::profile::Profile;
use crate::report::Message;
use crate::transform::pick_metrics;

/// What was exported.
#[derive(Clone, Debug)]
pub struct ExportedInputs {
    /// How many profiles were written.
    pub exported: Exported,
    /// What there is to say about the profiles.
    pub messages: Vec<Message>,
}

/// Why inputs cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportingError {
    /// An input cannot be read.
    #[error("{0}")]
    Load(#[from] Error),
    /// A filter cannot be applied to any of the profiles.
    #[error("{0}")]
    Filter(#[source] FilterError),
    /// The dataset cannot be written.
    #[error("{0}")]
    Export(#[from] ExportError),
    /// An input records calls, not stacks.
    #[error("{0} records calls, but datasets hold only stacks")]
    Calls(String),
    /// The values of a metric do not fit in 64 bits.
    #[error("{input}: the sum of the values of {metric} does not fit 64 bits")]
    TooLarge {
        /// The input.
        input: String,
        /// The metric.
        metric: String,
    },
}

impl Request {
    /// Reads the inputs one after the other, filters each, and adds it to a dataset. Memory does not grow with their number.
    pub fn export(&self, filters: &Filters, mut export: Export) -> Result<ExportedInputs, ExportingError> {
        let mut said = Said::default();
        let skipped = self.read_in_batches(BatchOrder::FirstFirst, |batch| {
            for (name, profile) in batch {
                if let Some(profile) = self.prepared(&name, profile, filters, &mut said)? {
                    export.add(&filters.input(&name), &profile)?;
                }
            }
            Ok::<(), ExportingError>(())
        })?;
        let exported = export.finish()?;
        if let (0, Some(error)) = (said.taken, said.unfiltered.take()) {
            return Err(ExportingError::Filter(error));
        }
        let mut messages = said.messages();
        messages.extend(mixed(&exported.programs).map(Message::note));
        messages.extend(skipped.messages());
        messages.extend(future(exported.latest.into_iter()).map(Message::warning));
        Ok(ExportedInputs { exported, messages })
    }

    /// A profile with the metrics and the samples that were asked for; `None` if a filter does not apply to it.
    fn prepared(
        &self,
        name: &str,
        profile: Profile,
        filters: &Filters,
        said: &mut Said,
    ) -> Result<Option<Profile>, ExportingError> {
        if profile.calls.is_some() {
            return Err(ExportingError::Calls(format!("{name}: {}", profile.meta.format)));
        }
        said.profiles += 1;
        let profile = if self.metrics.is_empty() {
            profile
        } else {
            let wanted = metrics_wanted(&self.metrics, &[&profile.meta])?;
            let places: Vec<usize> = wanted.iter().filter_map(|key| key.place_in(&profile.meta)).collect();
            pick_metrics(&profile, &places)
        };
        if let Some(metric) = profile.meta.metrics.iter().find(|metric| metric.too_large) {
            let (input, metric) = (name.to_string(), metric.name.clone());
            return Err(ExportingError::TooLarge { input, metric });
        }
        let filtered = match filters.apply(profile) {
            Ok(profile) => profile,
            // A function that is shown alone may be absent from some profiles.
            Err(error) => {
                said.unfiltered.get_or_insert(error);
                return Ok(None);
            }
        };
        said.taken += 1;
        for warning in &filtered.meta.warnings {
            *said.warnings.entry(warning.clone()).or_default() += 1;
        }
        Ok(Some(filtered))
    }
}

/// A note about profiles of several programs, which every query adds up that does not tell them apart.
fn mixed(programs: &BTreeSet<String>) -> Option<String> {
    if programs.len() < 2 {
        return None;
    }
    let named: Vec<&str> = programs.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = if programs.len() > MOST_NAMED { ", …" } else { "" };
    Some(format!(
        "the profiles are of {} programs ({}{more}): queries add them up unless they group by the column program of profiles",
        programs.len(),
        named.join(", ")
    ))
}

/// How many programs are named.
const MOST_NAMED: usize = 5;

/// What there is to say.
#[derive(Default)]
struct Said {
    profiles: usize,
    taken: usize,
    warnings: BTreeMap<String, usize>,
    unfiltered: Option<FilterError>,
}

impl Said {
    /// A text that does not apply to all profiles says to how many it does.
    fn messages(&self) -> Vec<Message> {
        let text = |(text, &count): (&String, &usize)| {
            if count >= self.profiles {
                text.clone()
            } else {
                format!("{text} ({count} of {} profiles)", self.profiles)
            }
        };
        let mut messages: Vec<Message> = self.warnings.iter().map(text).map(Message::warning).collect();
        if let Some(error) = &self.unfiltered {
            let left_out = self.profiles - self.taken;
            messages.push(Message::warning(format!(
                "{left_out} of {} profiles are left out: {error}",
                self.profiles
            )));
        }
        messages
    }
}
