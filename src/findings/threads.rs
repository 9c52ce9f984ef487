//! Work on one thread only.

use crate::findings::label_totals::{LabelTotals, RemarkRule};
use crate::report::Sentence;
use crate::unit;

/// The rule.
pub(super) static RULE: RemarkRule =
    RemarkRule { name: "one-thread", finds: "One of several threads does nearly all the work.", find };

fn find(label: &LabelTotals<'_>) -> Option<(Sentence, i64)> {
    let (&(name, most), others) = label.values.split_first()?;
    let does_all =
        i128::from(most) * 20 >= i128::from(label.whole) * 19 && !others.is_empty() && label.is_time;
    (label.key == "thread" && does_all).then(|| {
        let (count, share) = (label.values.len(), unit::share(most, label.whole));
        let says = format!("one of {count} threads, {name}, has {share}: more processors do not help");
        (Sentence::new(says), most)
    })
}
