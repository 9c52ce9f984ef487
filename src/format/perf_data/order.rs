//! Brings the records of a recording into time order.
//!
//! Each CPU has its own buffer, which `perf` empties in turn, so a file consists of runs that are in order, of hundreds of
//! records each. Merging the runs needs memory for each run only, which a list of all records would need for each record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::format::fields::Fields;
use crate::format::perf_data::header::FileHeader;
use crate::format::perf_data::raw_record::split;
use crate::format::perf_data::record::{Record, kernel_record, kernel_start};

/// Where runs are shorter than this on average, a list of all records needs less memory than one of all runs.
const SHORT: usize = 4;

/// The records of the kernel in time order; those of the same time in the order of the file.
pub(super) struct InOrder<'a> {
    header: &'a FileHeader<'a>,
    runs: Vec<Run<'a>>,
    /// The number of bytes of incomplete records at the ends.
    pub(super) left: usize,
    /// Where the kernel was loaded, by the earliest record that says so, and the time of this record.
    kernel: Option<(u64, u64)>,
}

/// Records that are in time order, and possibly records of `perf` itself between them.
struct Run<'a> {
    rest: Fields<'a>,
    /// How many records of the kernel are left.
    count: usize,
}

impl<'a> Run<'a> {
    fn next(&mut self, header: &FileHeader<'_>) -> Option<Record<'a>> {
        self.count = self.count.checked_sub(1)?;
        loop {
            let raw = split(&mut self.rest)?;
            if let Some(record) = kernel_record(header, &raw) {
                return Some(record);
            }
        }
    }

    /// When the next record was written.
    fn time(&self, header: &FileHeader<'_>) -> Option<u64> {
        Run { ..*self }.next(header).map(|record| record.time)
    }
}

impl<'a> InOrder<'a> {
    /// The records of a file, and those that were compressed.
    pub(super) fn new(header: &'a FileHeader<'a>, unpacked: Fields<'a>) -> Self {
        let mut order = InOrder { header, runs: Vec::new(), left: 0, kernel: None };
        for records in [header.records, unpacked] {
            order.add_runs(records);
        }
        order
    }

    fn add_runs(&mut self, mut records: Fields<'a>) {
        let mut latest = None;
        loop {
            let rest = records;
            let Some(raw) = split(&mut records) else { break };
            let Some(record) = kernel_record(self.header, &raw) else { continue };
            if latest.is_none_or(|latest| record.time < latest) {
                self.runs.push(Run { rest, count: 0 });
            }
            latest = Some(record.time);
            if self.kernel.is_none_or(|(time, _)| record.time < time)
                && let Some(start) = kernel_start(&record)
            {
                self.kernel = Some((record.time, start));
            }
            if let Some(run) = self.runs.last_mut() {
                run.count += 1;
            }
        }
        self.left += records.len();
    }

    /// Where the kernel was loaded.
    pub(super) fn kernel_start(&self) -> Option<u64> {
        self.kernel.map(|(_, start)| start)
    }

    /// Calls `act` for each record, in order.
    pub(super) fn for_each(mut self, mut act: impl FnMut(&Record<'a>)) {
        let count: usize = self.runs.iter().map(|run| run.count).sum();
        if self.runs.len() > count / SHORT {
            let mut records = Vec::with_capacity(count);
            for run in &mut self.runs {
                records.extend(std::iter::from_fn(|| run.next(self.header)));
            }
            records.sort_by_key(|record| record.time);
            return records.iter().for_each(act);
        }
        // The time of the next record of each run that has one.
        let heads = self.runs.iter().enumerate();
        let heads = heads.filter_map(|(number, run)| Some(Reverse((run.time(self.header)?, number))));
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = heads.collect();
        while let Some(mut top) = next.peek_mut() {
            let Reverse((_, number)) = *top;
            let run = &mut self.runs[number];
            let record = run.next(self.header);
            match run.time(self.header) {
                Some(time) => *top = Reverse((time, number)),
                None => drop(PeekMut::pop(top)),
            }
            record.iter().for_each(&mut act);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::perf_data::record::SAMPLE;

    /// A recording of samples at these times, each with its number as its thread.
    fn file(times: &[u64]) -> Vec<u8> {
        let mut records = Vec::new();
        for (number, time) in times.iter().enumerate() {
            records.extend(SAMPLE.to_le_bytes());
            records.extend([0, 0, 24, 0]);
            records.extend((number as u64).to_le_bytes());
            records.extend(time.to_le_bytes());
        }
        let mut attributes = vec![0; 136];
        attributes[4] = 120; // the size
        attributes[24] = 1 << 1 | 1 << 2; // samples have a thread and a time
        let numbers = [104, 136, 104, 136, 240, records.len() as u64, 0, 0, 0, 0, 0, 0];
        let mut file = b"PERFILE2".to_vec();
        file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        [file, attributes, records].concat()
    }

    fn numbers(times: &[u64]) -> Vec<u64> {
        let bytes = file(times);
        let header = FileHeader::read(&bytes).unwrap();
        let mut found = Vec::new();
        let order = InOrder::new(&header, Fields::new(&[], false));
        order.for_each(|record| {
            let mut body = record.body;
            found.push(body.u64().unwrap());
        });
        found
    }

    #[test]
    fn runs_are_merged_as_a_stable_sort_would() {
        let two_buffers = [1, 3, 5, 7, 9, 2, 3, 3, 8, 9, 4, 6, 7, 10, 11];
        let back_and_forth: Vec<u64> = (0..40).map(|number| 1 + number * 17 % 40).collect();
        for times in [&two_buffers[..], &back_and_forth, &[5, 5, 5], &[1]] {
            let mut sorted: Vec<u64> = (0..times.len() as u64).collect();
            sorted.sort_by_key(|&number| times[number as usize]);
            assert_eq!(numbers(times), sorted, "{times:?}");
        }
    }
}
