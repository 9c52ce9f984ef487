//! The call graphs of FreeBSD's `pmcstat -G`: each root is a function that was running, its children are its callers.
//!
//! ```text
//! @ inst_retired.any [35705 samples]
//!
//! 20.86%  [7447]     zfs_lz4_compress @ /boot/kernel/zfs.ko
//!  100.0%  [7447]      zio_compress_data
//! ```
//!
//! A module applies to the callers that follow, until another one is named. Rare callers are left out, so the samples of a
//! node may be more than those of its callers; the rest is counted without further callers.

use crate::format::indented_tree::{From, IndentedTree};
use crate::format::text::{BadLines, Lines, Scan, lossy};
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, MappingId, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static PMCSTAT: Format = Format { name: NAME, title: "pmcstat call graph", sniff, read };

const NAME: &str = "pmcstat";

fn sniff(head: &[u8]) -> Confidence {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    if event(first).is_some() { Confidence::Certain } else { Confidence::No }
}

/// The name in `@ inst_retired.any [35705 samples]`.
fn event(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"@ ")?.strip_suffix(b" samples]")?;
    let at = memchr::memmem::rfind(rest, b" [")?;
    rest[at + 2..].iter().all(u8::is_ascii_digit).then_some(&rest[..at])
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut lines = Lines::new(source);
    let (mut bad, mut good) = (BadLines::default(), 0);
    let mut tree = IndentedTree::default();
    // The module of the nodes from the root to the current one.
    let mut modules: Vec<(usize, MappingId)> = Vec::new();
    let mut metric = None;
    while lines.advance()? {
        let line = lines.line().trim_ascii_end();
        if let Some(event) = event(line) {
            tree.close(&mut builder, From::Leaf, sample_of(metric.unwrap_or(0)), 0);
            metric = Some(builder.metric_once(&lossy(event), "count"));
        } else if let (Some((count, indent, text)), Some(metric)) = (node(line), metric) {
            modules.retain(|&(depth, _)| depth < indent);
            let text = lossy(text);
            let (name, module) =
                text.split_once(" @ ").map_or((&*text, None), |(name, path)| (name, Some(path)));
            let mapping = match module {
                Some(path) => builder.named_mapping(path.trim()),
                None => modules.last().map_or(MappingId::default(), |&(_, mapping)| mapping),
            };
            modules.push((indent, mapping));
            let function = builder.named_function(&demangle(name.trim()), "");
            let frame = builder.frame(Frame { function, mapping, ..Frame::default() });
            tree.add(&mut builder, From::Leaf, sample_of(metric), (indent, frame), [(count, None)]);
            good += 1;
        } else if !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"//") {
            bad.add(lines.number());
        }
    }
    tree.close(&mut builder, From::Leaf, sample_of(metric.unwrap_or(0)), 0);
    bad.settle(
        &mut builder,
        good,
        "expected a share, samples and a function, such as `20.86%  [7447]  main`",
    )?;
    Ok(finished(builder)?)
}

/// The samples, the indentation and the rest of `  100.0%  [7447]      zio_compress_data`.
fn node(line: &[u8]) -> Option<(i64, usize, &[u8])> {
    let indent = line.iter().take_while(|&&byte| byte == b' ').count();
    let mut scan = Scan(line);
    if !scan.word().ends_with(b"%") {
        return None;
    }
    scan.literal(b"[")?;
    let count = scan.integer().filter(|&count| count >= 0)?;
    scan.literal(b"]")?;
    Some((count, indent, scan.0.trim_ascii()))
}

/// Adds samples to one of the metrics.
fn sample_of(metric: usize) -> impl FnMut(&mut ProfileBuilder, &[FrameId], [i64; 1]) {
    move |builder, frames, [value]| {
        let stack = builder.stack(frames);
        let mut values = vec![0; builder.meta.metrics.len()];
        values[metric] = value;
        builder.sample(stack, LabelSetId::default(), None, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn callers_are_indented_below_what_they_call() {
        let text = include_str!("../../tests/hostile/seeds/pmcstat/two-events.txt");
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let profile = read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap();
        let names: Vec<&str> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
        assert_eq!(names, ["inst_retired.any", "cpu cycles"]);
        // Ten samples of `copy`: six from `read`, three from `write`, of which one from `main`; one from elsewhere.
        assert_eq!(
            to_notation(&profile),
            "copy 1 0\nidle 0 4\nmain;write;copy 1 0\nread;copy 6 0\nwrite;copy 2 0"
        );
        let modules: Vec<_> = profile
            .symbols
            .frames
            .iter()
            .map(|frame| {
                (profile.symbols.function_name(frame.function), profile.symbols.mapping_file(frame.mapping))
            })
            .collect();
        assert!(
            modules.contains(&("read", "/boot/kernel/kernel")) && modules.contains(&("main", "/bin/cat"))
        );
    }

    #[test]
    fn other_lines_are_rejected() {
        let text = "@ cycles [3 samples]\n\noops\n";
        let error =
            read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap_err().to_string();
        assert!(error.contains("expected a share") && error.ends_with("(line 3)"), "{error}");
        assert_eq!(sniff(b"@ cycles [3 things]\n"), Confidence::No);
    }
}
