//! The order in which people list names with numbers.

use std::cmp::Ordering;

/// Compares names so that `run-9` is before `run-10`.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some(one), Some(other)) = (left.chars().next(), right.chars().next()) {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (of_left, of_right) = (digits(left), digits(right));
        if of_left > 0 && of_right > 0 {
            let (one, other) =
                (left[..of_left].trim_start_matches('0'), right[..of_right].trim_start_matches('0'));
            // Without leading zeros, the longer number is the larger one.
            match one.len().cmp(&other.len()).then_with(|| one.cmp(other)) {
                Ordering::Equal => (left, right) = (&left[of_left..], &right[of_right..]),
                unequal => return unequal,
            }
        } else if one == other {
            (left, right) = (&left[one.len_utf8()..], &right[one.len_utf8()..]);
        } else {
            return one.cmp(&other);
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["run-10", "run-9", "run-09b", "a/2", "a/10", "run", "run-1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a/2", "a/10", "run", "run-1", "run-9", "run-09b", "run-10"]);
    }
}
