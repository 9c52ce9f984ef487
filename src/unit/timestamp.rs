//! Points in time: nanoseconds since 1970-01-01 UTC, formatted and parsed as dates.

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// Formats a time to the minute: `2024-02-26 18:40 UTC`.
pub fn timestamp_minutes(nanoseconds: i64) -> String {
    let (date, seconds) = split(nanoseconds);
    format!("{date} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

/// Formats a time to the second: `2024-02-26 18:40:37 UTC`; fractions of a second are dropped.
pub fn timestamp_seconds(nanoseconds: i64) -> String {
    let (date, seconds) = split(nanoseconds);
    format!("{date} {:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats the day of a time, in UTC: `2024-02-26`.
pub fn date(nanoseconds: i64) -> String {
    split(nanoseconds).0
}

/// The date, and the second within that day.
fn split(nanoseconds: i64) -> (String, i64) {
    let (year, month, day) = civil(nanoseconds.div_euclid(DAY));
    (format!("{year:04}-{month:02}-{day:02}"), nanoseconds.rem_euclid(DAY) / SECOND)
}

// The arithmetic below starts each year on 1 March, so that the leap day is the last day of a year and a
// month's first day is linear in the month: (153 · m + 2) / 5 for m = 0 in March.
const DAYS_PER_400_YEARS: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Year, month and day of the given number of days after 1970-01-01, in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    let (cycle, day_of_cycle) =
        ((days + EPOCH).div_euclid(DAYS_PER_400_YEARS), (days + EPOCH).rem_euclid(DAYS_PER_400_YEARS));
    // Without the leap days so far, every year has 365 days. The last term corrects the last day of the
    // 400 years, its own leap day, which would otherwise be in the 401st year.
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / (DAYS_PER_400_YEARS - 1))
        / 365;
    let day_of_year = day_of_cycle - year_start(year_of_cycle);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = cycle * 400 + year_of_cycle + i64::from(month >= 10);
    (year, (month + 2) % 12 + 1, day)
}

/// The day on which a year of the 400 starts.
fn year_start(year_of_cycle: i64) -> i64 {
    365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100
}

/// Days from 1970-01-01 to a date; the inverse of [`civil`].
fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * DAYS_PER_400_YEARS + year_start(year.rem_euclid(400)) + day_of_year - EPOCH
}

/// The error for text that is not an RFC 3339 timestamp, or outside the years 1678 to 2262 that fit 64
/// bits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a time such as 2024-02-26T18:40:37Z", text.escape_debug())]
pub struct TimestampError {
    text: String,
}

/// Parses an RFC 3339 timestamp (`2024-02-26T18:40:37.25+01:00`; a space may replace the `T`) as
/// nanoseconds since 1970-01-01 UTC. Digits below a nanosecond are dropped, and the leap second `:60` is
/// the second after it. Fails for any other text, and for dates that 64-bit nanoseconds cannot
/// represent.
pub fn parse_rfc3339(text: &str) -> Result<i64, TimestampError> {
    read(text.trim().as_bytes()).ok_or_else(|| TimestampError { text: text.to_owned() })
}

fn read(text: &[u8]) -> Option<i64> {
    let (head, tail) = text.split_at_checked(19)?;
    let punctuation = [head[4], head[7], head[13], head[16]] == *b"--::";
    if !punctuation || !matches!(head[10], b'T' | b't' | b' ') {
        return None;
    }
    let year = number(&head[..4], 0, 9999)?;
    let month = number(&head[5..7], 1, 12)?;
    let day = number(&head[8..10], 1, 31)?;
    let days = days_until(year, month, day);
    // Converting back yields a day in March for 31 February, which shows that it does not exist.
    if civil(days) != (year, month, day) {
        return None;
    }
    let seconds = number(&head[11..13], 0, 23)? * 3600
        + number(&head[14..16], 0, 59)? * 60
        + number(&head[17..19], 0, 60)?;
    let (fraction, zone) = split_fraction(tail)?;
    let total = i128::from(days * 86_400 + seconds - offset(zone)?) * i128::from(SECOND);
    i64::try_from(total + i128::from(fraction)).ok()
}

/// The nanoseconds of `.25`, which is optional, and the zone after it.
fn split_fraction(tail: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = tail.strip_prefix(b".") else { return Some((0, tail)) };
    let end = digits.iter().position(|c| !c.is_ascii_digit())?;
    let nine = digits[..end].iter().copied().chain(std::iter::repeat(b'0')).take(9);
    let nanoseconds = nine.fold(0, |sum, c| sum * 10 + i64::from(c - b'0'));
    (end > 0).then_some((nanoseconds, &digits[end..]))
}

/// Seconds east of UTC: `Z`, `+01:00`, `-08:30`.
fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let seconds = number(&[*h1, *h2], 0, 23)? * 3600 + number(&[*m1, *m2], 0, 59)? * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

/// Two or four ASCII digits within bounds.
fn number(digits: &[u8], low: i64, high: i64) -> Option<i64> {
    let value =
        digits.iter().try_fold(0, |sum, c| c.is_ascii_digit().then(|| sum * 10 + i64::from(c - b'0')))?;
    (low..=high).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_formatted() {
        for (ns, want) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (1_708_972_837_999_999_999, "2024-02-26 18:40:37 UTC"),
            (951_782_400 * SECOND, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199 * SECOND, "2024-02-29 23:59:59 UTC"),
            (4_107_542_400 * SECOND, "2100-03-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (i64::MAX, "2262-04-11 23:47:16 UTC"),
            (i64::MIN, "1677-09-21 00:12:43 UTC"),
        ] {
            assert_eq!(timestamp_seconds(ns), want, "{ns}");
        }
        assert_eq!(timestamp_minutes(1_708_972_837_000_000_000), "2024-02-26 18:40 UTC");
    }

    #[test]
    fn times_are_parsed() {
        for (text, want) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-02-26T18:40:37.25Z", Some(1_708_972_837_250_000_000)),
            ("2024-02-26 19:40:37.2500000009+01:00", Some(1_708_972_837_250_000_000)),
            ("2024-02-26t10:10:37-08:30", Some(1_708_972_837_000_000_000)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_800 * SECOND)),
            ("1969-12-31T23:59:59.999999999Z", Some(-1)),
            ("2023-02-29T00:00:00Z", None),
            ("2024-13-01T00:00:00Z", None),
            ("2024-02-26T18:40:37", None),
            ("2024-02-26T18:40:37.Z", None),
            ("2024-02-26T24:00:00Z", None),
            ("2300-01-01T00:00:00Z", None),
            ("2024-02-26T18:40:37Zé", None),
            ("1.5s", None),
        ] {
            assert_eq!(parse_rfc3339(text).ok(), want, "{text}");
        }
        assert_eq!(
            parse_rfc3339("now").unwrap_err().to_string(),
            "`now` is not a time such as 2024-02-26T18:40:37Z"
        );
    }

    proptest! {
        #[test]
        fn days_and_dates_are_inverse(days in -1_000_000_i64..1_000_000) {
            let (year, month, day) = civil(days);
            prop_assert_eq!(days_until(year, month, day), days);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&day));
        }

        #[test]
        fn times_round_trip(ns: i64) {
            let seconds = ns.div_euclid(SECOND);
            let text = timestamp_seconds(ns).replace(" UTC", "Z");
            // Near the two ends, the whole second may lie outside.
            prop_assert_eq!(parse_rfc3339(&text).ok(), seconds.checked_mul(SECOND));
        }

        #[test]
        fn any_text_is_parsed_or_rejected(text in "\\PC*") {
            let _ = parse_rfc3339(&text);
        }
    }
}
