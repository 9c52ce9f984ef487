//! The report of `labels --outliers`.

use serde::Serialize;

use crate::report::{Header, LabelText, Name};
use crate::stats::CountKind;

/// The values of a label that differ from the others, and in which functions.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Outliers {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The key of the label.
    pub key: String,
    /// How many values were compared with the others.
    pub values: usize,
    /// How many values were not: they have too few samples, or too many others are heavier. They count among the others.
    pub skipped: usize,
    /// How many functions were tested in at least one value.
    pub tested: usize,
    /// The accepted probability of a false alarm, in all values and functions together.
    pub alpha: f64,
    /// Why nothing could be tested.
    pub untestable: Option<String>,
    /// How many values differ, rows that were cut included.
    pub differing: usize,
    /// The differences, the largest first.
    pub rows: Vec<OutlierRow>,
}

/// A function that one value of a label spends more or less on than the others.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutlierRow {
    /// The value of the label.
    pub value: LabelText,
    /// The unit of the value, if it is a number with a unit.
    pub unit: Option<String>,
    /// The function.
    pub name: Name,
    /// Its file.
    pub file: Option<Name>,
    /// Which of its counts differs.
    pub test: CountKind,
    /// This count, and the sum of all functions, among the samples with the value.
    pub inside: PartOfWhole,
    /// The same among the samples with other values.
    pub outside: PartOfWhole,
    /// The cost relative to the functions that do not differ, divided by that with other values; null if these have none.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % confidence interval of the ratio.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// The p-value of this test alone.
    pub p: f64,
    /// The same, adjusted for all values and functions.
    pub q: f64,
}

/// A part and its whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PartOfWhole {
    /// The part.
    pub part: i64,
    /// The whole.
    pub whole: i64,
}

impl PartOfWhole {
    /// The part as a fraction of the whole, 0 without a whole.
    pub fn fraction(self) -> f64 {
        if self.whole == 0 { 0.0 } else { self.part as f64 / self.whole as f64 }
    }
}
