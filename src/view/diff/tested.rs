//! Testing the two sides of a comparison as they were recorded, or for equal amounts of each kind of work.

use crate::stats::compare::Comparison;
use crate::stats::model::Scale;
use crate::stats::{Incomparable, Normalization, TestOptions};
use crate::tree::{By, Flat, Subject, flat};
use crate::view::diff::mix::{self, Mix};
use crate::view::diff::options::{DiffOptions, DiffSides};
use crate::view::diff::significance::{counts, test};

/// The result of the tests.
pub(super) struct Tested<'p> {
    pub(super) comparison: Option<Comparison>,
    /// The effective samples of both sides as recorded.
    pub(super) samples: Option<(f64, f64)>,
    /// Why there is none.
    pub(super) untestable: Option<String>,
    /// A change of the mix of work, without which the tests were made.
    pub(super) mix: Option<Mix<'p>>,
}

/// Runs the tests; if the mix of work changed, for equal amounts of each kind.
pub(super) fn test_sides<'p>(
    subject: &Subject<'p>,
    counted: &Flat,
    sides: &DiffSides,
    options: &DiffOptions,
) -> Result<Tested<'p>, Incomparable> {
    let all = counts(counted, sides);
    let core = core_of_functions(subject, sides, options)?;
    let options = &DiffOptions { test: TestOptions { core, ..options.test.clone() }, ..options.clone() };
    let (comparison, untestable) = test((subject, counted), &all, sides, options)?;
    let found = comparison
        .as_ref()
        .and_then(|comparison| mix::find(subject, counted, sides, comparison, &all.sample_unit, &options.by));
    let samples = comparison.as_ref().and_then(|comparison| Some(comparison.model.as_ref()?.samples()));
    let Some(mix) = found else { return Ok(Tested { comparison, samples, untestable, mix: None }) };
    let recorded = TestOptions { normalize: mix.recorded, ..options.test.clone() };
    let recorded =
        test((subject, counted), &all, sides, &DiffOptions { test: recorded, ..options.clone() })?.0;
    let sides = DiffSides { size: mix.size, ..sides.clone() };
    let equal = (&mix.subject, &mix.counted);
    let (mut equal, untestable) = test(equal, &counts(&mix.counted, &sides), &sides, options)?;
    if let (Some(equal), Some(recorded)) = (&mut equal, &recorded) {
        mix::excuse(equal, recorded);
    }
    Ok(Tested { comparison: equal, samples, untestable, mix: Some(mix) })
}

/// What unchanged code costs, by functions, where rows are labels, files or binaries: there are too few of these to tell.
fn core_of_functions(
    subject: &Subject<'_>,
    sides: &DiffSides,
    options: &DiffOptions,
) -> Result<Option<(f64, f64)>, Incomparable> {
    let is_coarse = matches!(options.by, By::Label(_) | By::File | By::Package | By::Mapping);
    if !is_coarse || options.test.normalize != Normalization::Core {
        return Ok(None);
    }
    let columns: Vec<usize> = (0..subject.profile.meta.metrics.len()).collect();
    let functions = Subject::new(subject.profile, &By::Function, &columns);
    let options = DiffOptions { history: None, functions: None, ..options.clone() };
    let counted = flat(&functions);
    let found = test((&functions, &counted), &counts(&counted, sides), sides, &options)?.0;
    let model = found.as_ref().and_then(|found| found.model.as_ref());
    // Where functions do not tell either, the rows may.
    let known = model.filter(|model| model.scale == Scale::Known);
    Ok(known.map(|model| (model.location, model.location_variance)))
}
