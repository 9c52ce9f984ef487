//! Profiles that stay loaded while one question after the other is asked of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use crate::cli::input::request::they_are;
use crate::cli::terminal::failure::hinted;
use crate::load::{Error, Loaded, Prepared, Sides};
use crate::report::Message;

/// Profiles that stay loaded, and the notes on the last report.
///
/// The metric is not part of what was loaded, unless profiles are compared or chosen by it: another metric of the same file needs
/// no second reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keep {
    loads: Arc<Mutex<Vec<(String, KeptProfile)>>>,
    /// What filters left of a profile the last time: another view or order of the same needs no filtering.
    prepared: Arc<Mutex<Option<(String, Prepared)>>>,
    notes: Arc<Mutex<Vec<Message>>>,
    metrics: Arc<Mutex<Vec<String>>>,
}

/// What was loaded.
#[derive(Clone, Debug)]
pub(crate) struct KeptProfile {
    /// The profile, with the old side if there is one.
    pub(crate) loaded: Loaded,
    /// The runs of both sides, for views that compare them.
    pub(crate) sides: Option<Sides>,
}

impl From<Loaded> for KeptProfile {
    fn from(loaded: Loaded) -> Self {
        KeptProfile { loaded, sides: None }
    }
}

/// How many profiles stay loaded: with and without labels, with and without times, and the baselines of two metrics.
const MOST: usize = 6;

impl Keep {
    /// The same profiles, without notes.
    #[cfg(feature = "ui")]
    pub(crate) fn anew(&self) -> Keep {
        Keep { notes: Arc::default(), ..self.clone() }
    }

    /// Adds notes on the report that is being made.
    pub(crate) fn note(&self, notes: impl Iterator<Item = Message>) {
        locked(&self.notes).extend(notes);
    }

    /// The metrics of the profile that was loaded last.
    #[cfg(feature = "ui")]
    pub(crate) fn metrics(&self) -> Vec<String> {
        locked(&self.metrics).clone()
    }

    /// The notes.
    #[cfg(feature = "ui")]
    pub(crate) fn notes(&self) -> Vec<Message> {
        locked(&self.notes).clone()
    }

    /// The same, of which these metrics are shown.
    pub(crate) fn get_showing(
        &self,
        key: String,
        metrics: &[String],
        load: impl FnOnce() -> Result<Loaded>,
    ) -> Result<Loaded> {
        let loaded =
            self.get(key, || load().map(KeptProfile::from))?.loaded.showing(metrics).map_err(unknown)?;
        self.remember_metrics(&loaded);
        Ok(loaded)
    }

    /// Remembers which metrics there are. A comparison has only one of them.
    pub(crate) fn remember_metrics(&self, loaded: &Loaded) {
        *locked(&self.metrics) =
            loaded.profile.meta.metrics.iter().map(|metric| metric.name.clone()).collect();
    }

    /// The filtered profile of this key, made now or the last time.
    pub(crate) fn prepared(&self, key: String, make: impl FnOnce() -> Result<Prepared>) -> Result<Prepared> {
        let last =
            locked(&self.prepared).as_ref().filter(|(other, _)| *other == key).map(|(_, last)| last.clone());
        if let Some(last) = last {
            return Ok(last);
        }
        let prepared = make()?;
        *locked(&self.prepared) = Some((key, prepared.clone()));
        Ok(prepared)
    }

    /// The profile of this key, loaded now or earlier.
    pub(crate) fn get(&self, key: String, load: impl FnOnce() -> Result<KeptProfile>) -> Result<KeptProfile> {
        let kept = locked(&self.loads).iter().find(|(other, _)| *other == key).map(|(_, kept)| kept.clone());
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let kept = load()?;
        let mut loads = locked(&self.loads);
        if loads.len() >= MOST {
            loads.remove(0);
        }
        loads.push((key, kept.clone()));
        Ok(kept)
    }
}

fn unknown(error: Error) -> anyhow::Error {
    match error {
        Error::UnknownMetric { name, known } => {
            hinted(format!("--metric {name}: no such metric"), they_are("the profile's", &known))
        }
        error => anyhow::Error::msg(error.to_string()),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
