//! Profiles that only count, as Go writes them with `?debug=1`: goroutines, created threads.
//!
//! ```text
//! goroutine profile: total 7
//! 2 @ 0x43a1c5 0x4066f5
//! # labels: {"request":"7"}
//! #    0x4066f4    main.work+0x34    /src/main.go:12
//! ```

use crate::format::LoadError;
use crate::format::labels::sample_labels;
use crate::format::pprof_legacy::maps::{self, MemoryMap};
use crate::format::pprof_legacy::recorder::{AddressSymbol, Recorder, Start, UNNAMED_RUNTIME};
use crate::format::pprof_legacy::{addresses, is_blank_or_comment, to_call_addresses};
use crate::format::text::{BadLines, Lines, Scan};
use crate::profile::{LabelSetId, Period, Profile};

/// Returns what is counted and how many there are, if `line` is the header of such a profile.
pub(super) fn header(line: &[u8]) -> Option<(String, i64)> {
    let (name, total) = std::str::from_utf8(line).ok()?.split_once(" profile: total ")?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_total = !total.is_empty() && total.bytes().all(|byte| byte.is_ascii_digit());
    (is_name && is_total).then(|| (name.to_string(), total.parse().unwrap_or(i64::MAX)))
}

pub(super) fn read(
    (what, total): (String, i64),
    mut lines: Lines<'_>,
    start: Start,
) -> Result<Profile, LoadError> {
    let mut recorder = Recorder::new(start, &[(&what, "count")]);
    recorder.builder.meta.period = Some(Period { name: what, unit: "count".into(), value: 1 });
    // A waiting goroutine is in the runtime, whose frames Go does not name. What it waits for shows in the function
    // that called the runtime, such as `time.Sleep`.
    recorder.builder.meta.drop_frames = regex::escape(UNNAMED_RUNTIME);
    let (mut bad, mut samples, mut in_map) = (BadLines::default(), 0, false);
    let mut sum: i64 = 0;
    let mut comments = Comments::default();
    // Labels are in a comment after their sample.
    let mut waiting: Option<(i64, Vec<u64>, LabelSetId)> = None;
    while lines.advance()? {
        let line = lines.line();
        if is_blank_or_comment(line) {
            if let (Some(sample), Some(labels)) = (&mut waiting, labels(line)) {
                sample.2 = label_set(&mut recorder, &labels);
            }
            comments.line(line, &mut recorder);
            continue;
        }
        comments.end(&mut recorder);
        emit(&mut recorder, waiting.take());
        if line.starts_with(b"---") {
            in_map = maps::is_header(line);
            break;
        }
        let mut scan = Scan(line);
        let mut stack = Vec::new();
        let count = scan.integer().filter(|_| scan.literal(b"@").is_some() && addresses(scan.0, &mut stack));
        match count {
            Some(count) => {
                to_call_addresses(&mut stack);
                samples += 1;
                sum = sum.saturating_add(count);
                waiting = Some((count, stack, LabelSetId::default()));
            }
            None => bad.add(lines.number()),
        }
    }
    comments.end(&mut recorder);
    emit(&mut recorder, waiting);
    let mut map = MemoryMap::read(&mut lines, in_map)?;
    bad.settle(&mut recorder.builder, samples, "no count and stack")?;
    if sum != total {
        let warning = format!("counts do not add up: the first line says {total}, the stacks sum to {sum}");
        recorder.builder.warn(warning);
    }
    recorder.finish(&mut map)
}

fn emit(recorder: &mut Recorder, sample: Option<(i64, Vec<u64>, LabelSetId)>) {
    if let Some((count, stack, labels)) = sample {
        recorder.sample(&stack, labels, &[count]);
    }
}

/// Parses the labels in `# labels: {"key":"value"}`.
fn labels(line: &[u8]) -> Option<Vec<(String, String)>> {
    let mut scan = Scan(line);
    scan.literal(b"#")?;
    scan.literal(b"labels:")?;
    let labels: std::collections::BTreeMap<String, String> = serde_json::from_slice(scan.0).ok()?;
    Some(labels.into_iter().collect())
}

fn label_set(recorder: &mut Recorder, labels: &[(String, String)]) -> LabelSetId {
    sample_labels(&mut recorder.builder, |list| {
        for (key, value) in labels {
            list.text(key, value);
        }
    })
}

/// Comments in which Go names the functions of the preceding sample. Consecutive lines with the same address are
/// calls inlined into each other, innermost first.
#[derive(Default)]
pub(super) struct Comments {
    address: u64,
    symbols: Vec<AddressSymbol>,
}

impl Comments {
    pub(super) fn line(&mut self, line: &[u8], recorder: &mut Recorder) {
        match symbol(line) {
            Some((address, symbol)) => {
                if address != self.address {
                    self.end(recorder);
                    self.address = address;
                }
                self.symbols.push(symbol);
            }
            None => self.end(recorder),
        }
    }

    pub(super) fn end(&mut self, recorder: &mut Recorder) {
        if !self.symbols.is_empty() {
            recorder.symbols(self.address, &self.symbols);
            recorder.named_by_go = true;
        }
        self.symbols.clear();
    }
}

/// Parses `#    0x4066f4    main.work+0x34    /src/main.go:12`.
fn symbol(line: &[u8]) -> Option<(u64, AddressSymbol)> {
    let mut scan = Scan(line);
    scan.literal(b"#")?;
    scan.skip_blanks().0.strip_prefix(b"0x")?;
    let address = scan.hex()?;
    let text = String::from_utf8_lossy(scan.0.trim_ascii());
    let (function, place) = split_place(&text)?;
    let function = function.rsplit_once("+0x").map_or(function, |(name, _)| name).trim();
    let (file, line) = place.trim().rsplit_once(':')?;
    let symbol = AddressSymbol {
        function: function.to_string(),
        file: file.to_string(),
        line: line.parse().unwrap_or(0),
    };
    Some((address, symbol))
}

/// Splits `main.work+0x34    /src/main.go:12`. Go writes tabs, but text that was copied from a web page has blanks, as names
/// and paths may: then the name ends with its offset.
fn split_place(text: &str) -> Option<(&str, &str)> {
    text.split_once('\t').or_else(|| {
        let offset = text.find("+0x")?;
        let end = offset + text[offset..].find(' ')?;
        Some(text.split_at(end))
    })
}
