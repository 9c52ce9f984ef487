//! Traces of memtrace, a sampling memory profiler for OCaml (versions 1 to 3): packets in the Common Trace Format.
//!
//! ```text
//! u32 0xC1FC1FC1, u32 size in bits, u64 begin and end in µs, u32, u16 version, u64 process, u16 domain (from 3 on)
//! u16, u16, u64 check of the cache, u64 first and last + 1 allocation
//! then events: u32 kind << 25 | low bits of the time
//!   0 info: f64 rate, u8 bits of a word, program, host, parameters, u64 process, context (from 2 on)
//!   1 places of an address ([`places`])            3 an object is moved to the major heap
//!   2 an allocation, 101 to 116 a short one        4 an object is collected
//! ```
//!
//! Each word is a sample with the probability of the rate, so a sample stands for 1 / rate words.

mod backtraces;
mod places;

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::group::SampleGroup;
use crate::format::heap::Heap;
use crate::format::memtrace::backtraces::{Backtraces, LimitedPaths};
use crate::format::memtrace::places::Places;
use crate::format::paths::PathId;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::plural;

/// The entry in the list of readable formats.
pub(super) static MEMTRACE: Format = Format { name: NAME, title: "memtrace", sniff, read };

const NAME: &str = "memtrace";
const MAGIC: u32 = 0xC1FC_1FC1;
const NEWEST: u16 = 3;

/// The bytes that samples stand for: allocated, never collected, and in use when the program used the most.
const METRICS: [&str; 3] = ["alloc_space", "leaked_space", "peak_space"];

fn sniff(head: &[u8]) -> Confidence {
    // The magic number and what every trace starts with: a packet of less than 64 KiB with the info alone.
    let is_trace =
        Packet::parse(&mut Fields::new(head, false)).is_some_and(|packet| packet.content < 1 << 16);
    if is_trace { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut fields = Fields::new(&bytes, false);
    let mut reader = Reader::new(bytes.len(), options);
    while !fields.is_empty() {
        let at = (bytes.len() - fields.len()) as u64;
        match reader.packet(&mut fields) {
            Ok(true) => {}
            Ok(false) => {
                reader.builder.warn(
                    "the last packet is not complete: the program was still running, or the file is truncated"
                        .to_string(),
                );
                break;
            }
            Err(what) => return Err(ParseError::at_byte(NAME, at, what).into()),
        }
    }
    Ok(reader.finish()?)
}

/// The front of a packet.
struct Packet {
    /// The number of bytes that follow.
    content: usize,
    begin_us: u64,
    end_us: u64,
    version: u16,
    process: u64,
    domain: u16,
    first_allocation: u64,
}

impl Packet {
    fn parse(fields: &mut Fields<'_>) -> Option<Packet> {
        let whole = fields.len();
        if fields.u32()? != MAGIC {
            return None;
        }
        let size = fields.u32()? as usize / 8;
        let [begin_us, end_us] = [fields.u64()?, fields.u64()?];
        let _flush = fields.u32()?;
        let version = fields.u16()?;
        let process = fields.u64()?;
        let domain = if version >= 3 { fields.u16()? } else { 0 };
        fields.take(12)?;
        let [first_allocation, _last] = [fields.u64()?, fields.u64()?];
        let content = size.checked_sub(whole - fields.len())?;
        Some(Packet { content, begin_us, end_us, version, process, domain, first_allocation })
    }
}

/// What the first event says.
struct Info {
    rate: f64,
    word_bytes: f64,
    process: u64,
}

impl Info {
    fn parse(packet: &Packet, fields: &mut Fields<'_>) -> Option<Info> {
        let rate = f64::from_bits(fields.u64()?);
        let word_bytes = f64::from(fields.u8()?) / 8.0;
        let (_program, _host, _parameters) = (fields.text(), fields.text(), fields.text());
        let process = fields.u64()?;
        if packet.version >= 2 {
            fields.text();
        }
        Some(Info { rate, word_bytes, process })
    }
}

/// What is remembered of the events of a domain, which is a thread with a heap of its own.
#[derive(Default)]
struct Domain {
    backtraces: Backtraces,
    places: Places,
}

struct Reader {
    builder: ProfileBuilder,
    info: Option<Info>,
    domains: HashMap<u16, Domain>,
    /// The frames at an address, outermost first.
    frames: HashMap<u64, Vec<FrameId>>,
    paths: LimitedPaths,
    heap: Heap<PathId>,
    /// Number of packets that another process wrote.
    foreign: u64,
    begin_us: u64,
    end_us: u64,
}

impl Reader {
    fn new(bytes: usize, options: LoadOptions) -> Reader {
        Reader {
            builder: ProfileBuilder::new(NAME, options),
            info: None,
            domains: HashMap::new(),
            frames: HashMap::new(),
            paths: LimitedPaths::new(bytes),
            heap: Heap::new(),
            foreign: 0,
            begin_us: u64::MAX,
            end_us: 0,
        }
    }

    /// Reads a packet; returns whether it is complete.
    fn packet(&mut self, fields: &mut Fields<'_>) -> Result<bool, String> {
        let start = fields.bytes();
        let Some(packet) = Packet::parse(fields) else {
            let is_cut = start.len() < 64 && start.starts_with(&MAGIC.to_le_bytes()[..start.len().min(4)]);
            return if is_cut { Ok(false) } else { Err("expected a packet".into()) };
        };
        if packet.version == 0 || packet.version > NEWEST {
            return Err(unsupported_version(packet.version, 1, NEWEST));
        }
        let Some(content) = fields.take(packet.content) else { return Ok(false) };
        let mut events = Fields::new(content, false);
        if let Some(info) = &self.info {
            if packet.process != info.process {
                self.foreign += 1;
                return Ok(true);
            }
        } else if events.u32().is_some_and(|head| head >> 25 == 0) {
            self.info = Info::parse(&packet, &mut events);
        }
        if self
            .info
            .as_ref()
            .is_none_or(|info| !(info.rate > 0.0 && info.rate <= 1.0 && info.word_bytes > 0.0))
        {
            return Err("the first packet does not say how much is sampled".into());
        }
        self.begin_us = self.begin_us.min(packet.begin_us);
        self.end_us = self.end_us.max(packet.end_us);
        let mut next = packet.first_allocation;
        while !events.is_empty() {
            self.event(packet.domain, &mut events, &mut next).ok_or("an event of the packet is malformed")?;
        }
        Ok(true)
    }

    fn event(&mut self, domain: u16, fields: &mut Fields<'_>, next: &mut u64) -> Option<()> {
        let kind = fields.u32()? >> 25;
        match kind {
            1 => {
                let domain = self.domains.entry(domain).or_default();
                let (address, frames) = domain.places.read(fields, &mut self.builder)?;
                self.frames.insert(address, frames);
            }
            2 | 101..=116 => {
                let (mut samples, is_short) = (1, kind != 2);
                if !is_short {
                    let _words = number(fields)?;
                    samples = number(fields)?;
                    let _source = fields.u8()?;
                }
                let common = number(fields)?;
                let count = if is_short { fields.u8()?.into() } else { fields.u16()? };
                let Domain { backtraces, .. } = self.domains.entry(domain).or_default();
                let path = backtraces.read(fields, common, count, &mut self.paths)?;
                let site = self.heap.number(path);
                self.heap.allocate(site, *next, samples);
                *next += 1;
            }
            3 => {
                let _back = number(fields)?;
            }
            4 => {
                // Objects of another domain may have a higher number.
                let back = number(fields)?;
                self.heap.release(next.wrapping_sub(1).wrapping_sub(back));
            }
            _ => return None,
        }
        Some(())
    }
}

impl Reader {
    fn finish(mut self) -> Result<Profile, ParseError> {
        let Some(info) = self.info else { return Err(ParseError::whole(NAME, "the trace has no packets")) };
        for name in METRICS {
            self.builder.meta.default_metric = self.builder.metric(name, "bytes");
        }
        self.builder.meta.time_ns = i64::try_from(self.begin_us).ok().and_then(|time| time.checked_mul(1000));
        let duration = self.end_us.saturating_sub(self.begin_us).saturating_mul(1000);
        self.builder.meta.duration_ns = i64::try_from(duration).ok().filter(|&duration| duration > 0);
        let unknown = [self.builder.named_frame("<unknown>")];
        let mut group = SampleGroup::default();
        for (path, sums) in self.heap.finish() {
            let stack = self.paths.paths.stack(path, &mut group, &mut self.builder, |_, address, stack| {
                let known = self.frames.get(&address).filter(|frames| !frames.is_empty());
                stack.extend(known.map_or(&unknown[..], Vec::as_slice).iter().rev());
            });
            let bytes = |samples: i64| (samples as f64 * info.word_bytes / info.rate).round() as i64;
            let values = [sums.allocated, sums.in_use, sums.at_peak].map(|sum| bytes(sum.bytes));
            group.sample(stack, LabelSetId::default(), None, &values, &mut self.builder);
        }
        group.write(&mut self.builder);
        if self.paths.is_cut() || self.paths.paths.cut.is_some() {
            self.builder.warn("stacks are cut, because they have too many different callers".to_string());
        }
        if self.foreign > 0 {
            self.builder.warn(format!(
                "{} {} of another process {} skipped",
                self.foreign,
                plural(self.foreign, "packet", "packets"),
                plural(self.foreign, "was", "were")
            ));
        }
        finished(self.builder)
    }
}

/// A number in one byte, or in the two, four or eight bytes after it.
fn number(fields: &mut Fields<'_>) -> Option<u64> {
    match fields.u8()? {
        253 => fields.u16().map(u64::from),
        254 => fields.u32().map(u64::from),
        255 => fields.u64(),
        small => Some(small.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    /// Half of all words of 8 bytes are sampled, so that a sample stands for 16 bytes. `main` allocates two samples and `grow`, which is inlined in
    /// `add`, one; then that of `main` is collected, and `grow` allocates another, whose callee is predicted. The last packet is of another process.
    const TRACES: [&[u8]; 2] = [
        include_bytes!("../../../tests/hostile/seeds/memtrace/version-1.ctf"),
        include_bytes!("../../../tests/hostile/seeds/memtrace/version-3.ctf"),
    ];

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions { times: false, ..LoadOptions::ALL })
    }

    #[test]
    fn samples_stand_for_bytes() {
        for trace in TRACES {
            assert_eq!(sniff(trace), Confidence::Certain);
            let profile = load(trace).unwrap();
            assert_eq!(
                to_notation(&profile),
                "Shop.main@main.ml:1 32 0 32\nShop.main@main.ml:1;Cart.add@cart.ml:10;Cart.grow@cart.ml:20 32 32 16"
            );
            assert_eq!(profile.meta.time_ns, Some(1_700_000_000_000_000_000));
            assert_eq!(profile.meta.duration_ns, Some(50_000));
            assert_eq!(profile.meta.warnings, ["1 packet of another process was skipped"]);
        }
    }

    #[test]
    fn unknown_versions_and_cut_traces() {
        let mut newer = TRACES[1].to_vec();
        newer[28] = 4;
        assert_eq!(
            load(&newer).unwrap_err().to_string(),
            "memtrace: unsupported version 4; versions 1 to 3 are supported (byte 0)"
        );
        let cut = load(&TRACES[1][..TRACES[1].len() - 100]).unwrap();
        assert!(cut.meta.warnings[0].contains("the last packet is not complete"), "{:?}", cut.meta.warnings);
    }
}
