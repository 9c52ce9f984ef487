//! Packs when samples were taken, apart from the data: a page may be written without it.
//!
//! ```text
//! length of the JSON (u32, little endian), JSON
//! for each sample: steps since the previous sample of its row        (varint)
//! for each sample: its stack                                         (varint)
//! for each metric: the value of each sample                          (zigzag varint)
//! if values of a metric last: how long after its step each sample began  (zigzag varint)
//! ```

use std::io;

use serde::Serialize;

use crate::name::clean;
use crate::output::html::pack::{deflated, values, varint};
use crate::report::Page;

/// Times take at most this part of a page, unless they are asked for.
const PART: usize = 5;

/// About what the fixed part of a page takes: the script, the style and the still picture.
const FIXED: usize = 80_000;

#[derive(Serialize)]
struct TimesHead {
    /// Nanoseconds.
    step: i64,
    from: i64,
    steps: u32,
    /// Name and number of samples.
    rows: Vec<(String, u32)>,
    lasts: Vec<f64>,
    cuts: Vec<bool>,
    clocks: Vec<bool>,
    /// For each metric, the stacks in which nothing happens, each as the distance to the one before.
    idle: Vec<Vec<u32>>,
    /// Start and length in nanoseconds, and why.
    pauses: Vec<(i64, i64, String)>,
}

/// The times as text; empty if they are not known.
pub(super) fn times(page: &Page) -> io::Result<String> {
    let Some(times) = &page.times else { return Ok(String::new()) };
    let head = serde_json::to_vec(&TimesHead {
        step: times.step_ns,
        from: times.from_ns,
        steps: times.steps,
        rows: times.rows.iter().map(|row| (clean(&row.name).into_owned(), row.samples)).collect(),
        lasts: times.lasts.clone(),
        cuts: times.cuts.clone(),
        clocks: times.clocks.clone(),
        idle: times.idle.iter().map(|stacks| distances(stacks)).collect(),
        pauses: (times.pauses.iter())
            .map(|pause| (pause.from_ns, pause.length_ns, clean(&pause.cause).into_owned()))
            .collect(),
    })?;
    let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
    bytes.extend(head);
    let mut sample = 0;
    for row in &times.rows {
        let mut before = 0;
        for &step in &times.time[sample..sample + row.samples as usize] {
            varint(&mut bytes, (step - before).into());
            before = step;
        }
        sample += row.samples as usize;
    }
    times.stack.iter().for_each(|&stack| varint(&mut bytes, stack.into()));
    times.values.iter().for_each(|column| bytes.extend(values(column)));
    bytes.extend(values(&times.late));
    deflated(&bytes)
}

/// The distances between sorted numbers, beginning at 0.
fn distances(numbers: &[u32]) -> Vec<u32> {
    let before = std::iter::once(0).chain(numbers.iter().copied());
    numbers.iter().zip(before).map(|(number, before)| number - before).collect()
}

/// Whether times are a small part of the page.
pub(super) fn fits(times: &str, data: &str) -> bool {
    times.len() * (PART - 1) <= data.len() + FIXED
}
