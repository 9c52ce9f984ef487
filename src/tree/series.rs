//! The value of every stack in one series.

use std::borrow::Cow;
use std::ops::Index;

use crate::profile::{Column, Id, Profile, StackId};

/// The value of every stack in one series: a metric, or a run of a comparison.
///
/// Where each row of the samples has the stack of its number, these are the values of the profile itself. A comparison of a hundred runs
/// would hold all of them twice otherwise.
#[derive(Clone, Debug)]
pub struct Series<'p>(Cow<'p, [i64]>);

impl<'p> Series<'p> {
    /// The values of these metrics of a profile, as functions that may run on several threads.
    pub(super) fn of_metrics(profile: &'p Profile) -> impl Fn(usize) -> Series<'p> + Sync {
        let rows_are_stacks = profile.rows_are_stacks();
        move |metric| {
            if rows_are_stacks {
                Series(Cow::Borrowed(&profile.samples.values[metric]))
            } else {
                profile.value_by_stack(metric).into()
            }
        }
    }

    /// The values in the order of the stacks.
    pub fn as_slice(&self) -> &[i64] {
        &self.0
    }

    /// The values in the order of the stacks.
    pub fn iter(&self) -> std::slice::Iter<'_, i64> {
        self.0.iter()
    }

    /// The stacks with their values.
    pub fn enumerate(&self) -> impl Iterator<Item = (StackId, &i64)> {
        self.0.iter().enumerate().map(|(stack, value)| (StackId::new(stack), value))
    }
}

impl<'s> IntoIterator for &'s Series<'_> {
    type Item = &'s i64;
    type IntoIter = std::slice::Iter<'s, i64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Column<StackId, i64>> for Series<'_> {
    fn from(values: Column<StackId, i64>) -> Self {
        Series(Cow::Owned(values.into()))
    }
}

impl Index<StackId> for Series<'_> {
    type Output = i64;

    #[inline]
    fn index(&self, stack: StackId) -> &i64 {
        &self.0[stack.index()]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn values_are_borrowed_where_rows_are_stacks() {
        let mut profile = from_notation("main;a 3\nmain;b 4");
        assert!(matches!(Series::of_metrics(&profile)(0).0, Cow::Borrowed([3, 4])));
        // Rows in another order, and two of one stack, are summed by stack.
        Arc::make_mut(&mut profile.samples).stack.reverse();
        assert_eq!(Series::of_metrics(&profile)(0).as_slice(), [4, 3]);
        Arc::make_mut(&mut profile.samples).stack = vec![StackId::new(1); 2];
        assert_eq!(Series::of_metrics(&profile)(0).as_slice(), [0, 7]);
        assert!(matches!(Series::of_metrics(&profile)(0).0, Cow::Owned(_)));
    }
}
