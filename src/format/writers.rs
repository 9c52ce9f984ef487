//! The formats that can be written, and how to choose one from a file name.

use crate::format::write::Writer;
use crate::format::{callgrind_write, collapsed_write, gecko, otlp, plain_name, pprof, speedscope_write, v8};
use crate::name::base_name;

/// All writable formats.
#[rustfmt::skip] // One format per line.
pub static WRITERS: &[&Writer] = &[
    &pprof::WRITER,
    &collapsed_write::WRITER,
    &speedscope_write::WRITER,
    &v8::write::WRITER,
    &callgrind_write::WRITER,
    &gecko::WRITER,
    &otlp::WRITER,
];

/// The writable format called `name`.
pub fn writer_named(name: &str) -> Option<&'static Writer> {
    let name = plain_name(name);
    WRITERS.iter().copied().find(|writer| writer.name.eq_ignore_ascii_case(name))
}

/// The writable format for a file name.
pub fn writer_for(file: &str) -> Option<&'static Writer> {
    let file = file.to_ascii_lowercase();
    let name = base_name(&file);
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    // valgrind calls its files `callgrind.out.1234`.
    if plain.starts_with("callgrind.out") {
        return writer_named("callgrind");
    }
    let ends = |writer: &Writer| {
        let mut endings = writer.endings.iter().chain(writer.packed_endings);
        endings.any(|ending| plain.ends_with(ending))
    };
    WRITERS.iter().copied().find(|writer| ends(writer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_determines_the_format_and_compression() {
        for (file, expected) in [
            ("cpu.pb.gz", Some(("pprof", true))),
            ("cpu.pb", Some(("pprof", false))),
            ("default.pgo", Some(("pprof", true))),
            ("CPU.PPROF", Some(("pprof", true))),
            ("a/b.folded", Some(("collapsed", false))),
            ("a.collapsed.gz", Some(("collapsed", true))),
            ("stacks.txt", Some(("collapsed", false))),
            ("a.speedscope.json", Some(("speedscope", false))),
            ("a.cpuprofile", Some(("cpuprofile", false))),
            ("x/callgrind.out.12", Some(("callgrind", false))),
            ("a.callgrind", Some(("callgrind", false))),
            ("a.firefox.json.gz", Some(("gecko", true))),
            ("a.json", None),
            ("a", None),
        ] {
            let found = writer_for(file).map(|writer| (writer.name, writer.is_packed(Some(file))));
            assert_eq!(found, expected, "{file}");
        }
        assert!(writer_named("pprof").unwrap().is_packed(Some("profile")));
        assert!(!writer_named("collapsed").unwrap().is_packed(None));
    }
}
