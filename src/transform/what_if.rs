//! `--what-if`: what a profile would look like if some of its functions cost more or less.

use std::sync::Arc;

use crate::profile::{Column, Profile, StackId, TooLarge};
use crate::stats::effective::greatest_common_divisor;
use crate::transform::{Marks, waiting_of};

/// What samples cost instead: a multiple that is an exact fraction, so that sums stay integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    numerator: i64,
    denominator: i64,
}

/// The most decimals of a factor.
const MOST_DECIMALS: usize = 6;

impl Factor {
    /// Parses `0.5`, `50%`, `0` (costs nothing) or `2` (costs twice as much).
    ///
    /// ```
    /// use prof::transform::Factor;
    ///
    /// assert_eq!(Factor::parse("50%"), Factor::parse("0.50"));
    /// assert_eq!(Factor::parse("-1"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Factor> {
        let (number, hundredth) = text.strip_suffix('%').map_or((text, 1), |number| (number, 100));
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{decimals}");
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || decimals.len() > MOST_DECIMALS {
            return None;
        }
        let numerator: i64 = digits.parse().ok()?;
        let denominator = hundredth * 10_i64.pow(u32::try_from(decimals.len()).ok()?);
        let common = greatest_common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs()).max(1);
        let common = i64::try_from(common).ok()?;
        Some(Factor { numerator: numerator / common, denominator: denominator / common })
    }
}

/// Multiplies the values of every sample that has a marked frame with the factor of these marks; with several, their product.
/// Each metric of `old` keeps its values: it is the old side of a comparison.
///
/// Values remain integers: those of other samples are multiplied by the denominator, and so is the divisor of the metric.
/// After the metrics come as many others with what was recorded, so that [`split_recorded`] can say what later filters left of it.
/// A metric whose values do not fit in 64 bits any more is marked as too large.
///
/// ```text
/// --what-if 'parse=0.5'    main;parse;read 30  →  30 ÷ 2 = 15
///                          main;render 8          16 ÷ 2 =  8
/// ```
pub fn what_if(
    profile: &Profile,
    changes: &[(Marks, Factor)],
    old: Option<usize>,
) -> Result<Profile, TooLarge> {
    let scale: Option<i64> =
        changes.iter().try_fold(1_i64, |scale, (_, factor)| scale.checked_mul(factor.denominator));
    let factors = factors(profile, changes);
    let (Some(scale), Some(factors)) = (scale, factors) else { return Err(TooLarge::Factors) };
    let old_waiting = old.and_then(|old| waiting_of(&profile.meta.metrics, old));
    let most = factors.iter().copied().max().unwrap_or(scale).max(scale);
    let mut metrics = profile.meta.metrics.clone();
    let mut values = profile.samples.values.clone();
    let mut recorded = (metrics.clone(), values.clone());
    let keeps = |metric| old.is_some_and(|old| metric == old || Some(metric) == old_waiting);
    for (metric, (about, column)) in metrics.iter_mut().zip(&mut values).enumerate() {
        let divisor = i64::try_from(about.divisor).ok().and_then(|divisor| divisor.checked_mul(scale));
        let (Some(divisor), Some(_)) = (divisor, about.total.checked_mul(most)) else {
            (about.total, about.too_large) = (i64::MAX, true);
            continue;
        };
        if about.too_large {
            continue;
        }
        about.divisor = divisor.unsigned_abs();
        about.total *= scale;
        about.idle *= scale;
        let before = &mut recorded.1[metric];
        for value in before.iter_mut() {
            *value *= scale;
        }
        if keeps(metric) {
            column.clone_from(before);
            continue;
        }
        for (value, &stack) in column.iter_mut().zip(&profile.samples.stack) {
            *value *= factors[stack];
        }
    }
    metrics.append(&mut recorded.0);
    values.append(&mut recorded.1);
    let samples = Arc::new(profile.samples.with_values(values));
    let mut changed = Profile { samples, ..profile.clone() };
    changed.meta.metrics = metrics;
    Ok(changed)
}

/// What the values of each stack are multiplied by, before they are divided by the product of all denominators. `None` if that
/// does not fit in 64 bits.
fn factors(profile: &Profile, changes: &[(Marks, Factor)]) -> Option<Column<StackId, i64>> {
    let of_stack = |stack: StackId| {
        let frames = profile.stacks.frames(stack);
        changes.iter().try_fold(1_i64, |product, (marks, factor)| {
            let Factor { numerator, denominator } = *factor;
            product.checked_mul(if marks.match_any(frames) { numerator } else { denominator })
        })
    };
    profile.stacks.ids().map(of_stack).collect()
}

/// Removes the metrics with what was recorded, and returns what is left of each.
pub fn split_recorded(mut profile: Profile) -> (Profile, Vec<i64>) {
    let count = profile.meta.metrics.len() / 2;
    let recorded = (count..count * 2)
        .map(|metric| if profile.meta.metrics[metric].too_large { 0 } else { profile.shown_total(metric) });
    let recorded = recorded.collect();
    profile.meta.metrics.truncate(count);
    Arc::make_mut(&mut profile.samples).values.truncate(count);
    (profile, recorded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Patterns;
    use crate::profile::{from_notation, to_notation};

    fn change(profile: &Profile, pattern: &str, factor: &str) -> (Marks, Factor) {
        let patterns = Patterns::parse(&[pattern.to_string()], false).unwrap().0;
        (Marks::new(profile, &patterns), Factor::parse(factor).unwrap())
    }

    #[test]
    fn factors_are_exact_fractions() {
        let parsed = |text| Factor::parse(text).map(|factor| (factor.numerator, factor.denominator));
        assert_eq!(parsed("0.5"), Some((1, 2)));
        assert_eq!(parsed("12.5%"), Some((1, 8)));
        assert_eq!(parsed("0"), Some((0, 1)));
        assert_eq!(parsed("3"), Some((3, 1)));
        assert_eq!(parsed(".25"), Some((1, 4)));
        for wrong in ["", ".", "%", "-1", "1e3", "half", "0.1234567", "99999999999999999999", "٣"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn several_factors_of_one_stack_are_multiplied() {
        let profile = from_notation("main;a 10\nmain;a;b 20\nmain;b 30\nmain;a;a 4\nmain 7");
        let changes = [change(&profile, "^a$", "0.5"), change(&profile, "^b$", "0.2")];
        let (changed, recorded) = split_recorded(what_if(&profile, &changes, None).unwrap());
        // In tenths: a 10 × 1/2 = 5, a;b 20 × 1/10 = 2, b 30 × 1/5 = 6, a;a 4 × 1/2 = 2 (once per sample), main 7.
        let metric = &changed.meta.metrics[0];
        assert_eq!((metric.divisor, metric.total, recorded), (10, 710, vec![710]));
        assert_eq!(to_notation(&changed), "main 70\nmain;a 50\nmain;a;a 20\nmain;a;b 20\nmain;b 60");
    }

    #[test]
    fn the_old_side_of_a_comparison_keeps_its_values() {
        let profile = from_notation("main;a 10 12\nmain 7 8");
        let changes = [change(&profile, "a$", "0.5")];
        let (changed, recorded) = split_recorded(what_if(&profile, &changes, Some(1)).unwrap());
        assert_eq!(to_notation(&changed), "main 14 16\nmain;a 10 24");
        assert_eq!(recorded, [34, 40]);
    }

    #[test]
    fn values_that_become_too_large_are_marked() {
        let profile = from_notation("main;a 4611686018427387904 1");
        let changed = what_if(&profile, &[change(&profile, "a", "3")], None).unwrap();
        let (changed, _) = split_recorded(changed);
        assert_eq!(
            changed.meta.metrics.iter().map(|metric| metric.too_large).collect::<Vec<_>>(),
            [true, false]
        );
        let tiny = (0..4).map(|_| change(&profile, "a", "0.000001")).collect::<Vec<_>>();
        assert_eq!(what_if(&profile, &tiny, None).unwrap_err(), TooLarge::Factors);
    }
}
