//! Minimizes findings.

use std::time::{Duration, Instant};

use prof::format::Format;

use crate::check::check;
use crate::views;

/// What identifies a finding: the location of a panic, or the first word.
pub fn kind(wrong: &str) -> String {
    let place = wrong.split_whitespace().find(|word| word.contains(".rs:"));
    place.unwrap_or_else(|| wrong.split(':').next().unwrap_or_default()).to_string()
}

/// Reads an input with the detected format and as `format`, and shows it in every view. Returns the first violation.
pub fn every_way(format: Option<&'static Format>, bytes: &[u8]) -> Option<String> {
    let readers = [format, None];
    let readers = if format.is_some() { &readers[..] } else { &readers[1..] };
    readers
        .iter()
        .find_map(|reader| (0..views::VIEWS.len()).find_map(|view| check(*reader, bytes, Some(view)).err()))
}

/// Removes parts of a finding, of decreasing size, as long as it remains the same finding.
pub fn shrink(format: &'static Format, bytes: &[u8], wanted: &str) -> Vec<u8> {
    let end = Instant::now() + Duration::from_secs(20);
    let is_same = |bytes: &[u8]| every_way(Some(format), bytes).is_some_and(|wrong| kind(&wrong) == wanted);
    let mut small = bytes.to_vec();
    if wanted == "time" || !is_same(&small) {
        return small;
    }
    let mut part = small.len() / 2;
    while part > 0 {
        let mut at = 0;
        while at < small.len() && Instant::now() < end {
            let mut shorter = small.clone();
            shorter.drain(at..(at + part).min(small.len()));
            if is_same(&shorter) { small = shorter } else { at += part }
        }
        part /= 2;
    }
    small
}
