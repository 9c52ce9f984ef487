//! Reads the text of phpspy: the frames of each trace, leaf first, until a blank line.
//!
//! ```text
//! 0 sleep <internal>:-1
//! 1 Shop::serve /srv/shop/index.php:12
//! 2 <main> /srv/shop/index.php:3
//! # uri = /orders
//!
//! ```
//!
//! Comments say what was asked for besides, such as the request. Traces of several threads are written in pieces, each with the number
//! of its trace below it and which of how many pieces it is: `# trace_id = 7.0/2`.

use hashbrown::HashMap;

use crate::format::labels::sample_labels;
use crate::format::text::{BadLines, decimal, is_binary, lossy};
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::plural;

/// The entry in the list of readable formats.
pub(super) static PHPSPY: Format = Format { name: NAME, title: "phpspy traces", sniff, read };

const NAME: &str = "phpspy";

/// The number of lines that are examined to detect the format.
const SNIFFED_LINES: usize = 64;

fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    let lines = whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let (mut good, mut bad) = (0, 0);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).take(SNIFFED_LINES) {
        match PhpFrame::of(line) {
            // The first trace begins with its leaf.
            Some(frame) if good > 0 || frame.depth == 0 => good += 1,
            _ if good == 0 => return Confidence::No,
            _ => bad += 1,
        }
    }
    if good > 0 && bad * 4 <= good { Confidence::Likely } else { Confidence::No }
}

/// A line such as `1 Shop::serve /srv/shop/index.php:12`.
struct PhpFrame<'a> {
    depth: i64,
    function: &'a [u8],
    /// Empty for PHP's own functions.
    file: &'a [u8],
    /// 0 if there is none.
    line: u32,
}

impl<'a> PhpFrame<'a> {
    fn of(line: &'a [u8]) -> Option<PhpFrame<'a>> {
        let (depth, rest) = split_at_blank(line)?;
        let (function, place) = split_at_blank(rest)?;
        let colon = memchr::memrchr(b':', place)?;
        let (file, number) = (&place[..colon], &place[colon + 1..]);
        let depth = decimal(depth).filter(|&depth| depth >= 0)?;
        let line = match number {
            b"-1" => 0,
            _ => u32::try_from(decimal(number)?).ok()?,
        };
        let is_file = file == b"<internal>" || file.contains(&b'.') || file.contains(&b'/');
        let file = if file == b"<internal>" { b"" } else { file };
        (!function.is_empty() && is_file).then_some(PhpFrame { depth, function, file, line })
    }
}

fn split_at_blank(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b' ', text)?;
    Some((&text[..at], &text[at + 1..]))
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let mut reader = PhpSpyReader {
        builder,
        frames: Vec::new(),
        uri: String::new(),
        pieces: HashMap::new(),
        good: 0,
        bad: BadLines::default(),
    };
    let mut number = 0;
    while let Some(line) = source.line()? {
        number += 1;
        reader.line(line.trim_ascii_end(), number);
    }
    reader.end_trace();
    let PhpSpyReader { mut builder, pieces, good, bad, .. } = reader;
    bad.settle(&mut builder, good, "expected a frame, such as `0 main /srv/index.php:3`")?;
    let lost = pieces.len() as u64;
    if lost > 0 {
        let traces = plural(
            lost,
            "trace was skipped because a piece of it is",
            "traces were skipped because pieces of them are",
        );
        builder.warn(format!("{lost} {traces} missing"));
    }
    Ok(finished(builder)?)
}

struct PhpSpyReader {
    builder: ProfileBuilder,
    /// The frames of the current trace, or piece of one, leaf first.
    frames: Vec<FrameId>,
    /// The address that was requested.
    uri: String,
    /// The frames of traces of which pieces are missing so far, and how many pieces there were.
    pieces: HashMap<i64, (Vec<FrameId>, i64)>,
    good: u64,
    bad: BadLines,
}

impl PhpSpyReader {
    fn line(&mut self, line: &[u8], number: u64) {
        if line.is_empty() {
            self.end_trace();
        } else if let Some(comment) = line.strip_prefix(b"#") {
            self.good += 1;
            self.comment(comment.trim_ascii());
        } else if let Some(frame) = PhpFrame::of(line) {
            self.good += 1;
            if frame.depth == 0 {
                self.end_trace();
            }
            let function = self.builder.script_function(&lossy(frame.function), &lossy(frame.file), 0);
            self.frames.push(self.builder.frame(Frame { function, line: frame.line, ..Frame::default() }));
        } else {
            self.bad.add(number);
        }
    }

    fn comment(&mut self, comment: &[u8]) {
        if let Some(uri) = comment.strip_prefix(b"uri = ") {
            self.uri = lossy(uri).into_owned();
        } else if let Some(piece) = comment.strip_prefix(b"trace_id = ").and_then(piece) {
            self.end_piece(piece);
        }
    }

    fn end_piece(&mut self, (trace, all): (i64, i64)) {
        let (frames, count) = self.pieces.entry(trace).or_default();
        frames.append(&mut self.frames);
        *count += 1;
        if *count >= all
            && let Some((frames, _)) = self.pieces.remove(&trace)
        {
            self.frames = frames;
            self.end_trace();
        }
    }

    fn end_trace(&mut self) {
        let uri = std::mem::take(&mut self.uri);
        if self.frames.is_empty() {
            return;
        }
        self.frames.reverse();
        let stack = self.builder.stack(&self.frames);
        self.frames.clear();
        let labels = match uri.as_str() {
            "" => LabelSetId::default(),
            uri => sample_labels(&mut self.builder, |labels| labels.text("uri", uri)),
        };
        self.builder.sample(stack, labels, None, &[1]);
    }
}

/// The number of a trace and of its pieces: `7.0/2`.
fn piece(text: &[u8]) -> Option<(i64, i64)> {
    let point = memchr::memchr(b'.', text)?;
    let slash = memchr::memchr(b'/', text)?;
    Some((decimal(&text[..point])?, decimal(text.get(slash + 1..)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
    }

    #[test]
    fn traces_are_leaf_first_and_end_with_a_blank_line() {
        let profile = load(
            "0 sleep <internal>:-1\n1 Shop::serve /srv/a b.php:12\n2 <main> /srv/index.php:3\n# mem 4096 8192\n# uri = /orders\n\n\
             0 <main> /srv/index.php:4\n\nnot a frame\n",
        );
        assert_eq!(
            to_notation(&profile),
            "<main>@/srv/index.php:3;Shop::serve@/srv/a b.php:12;sleep 1 {uri=/orders}\n<main>@/srv/index.php:4 1"
        );
        assert_eq!(profile.meta.warnings.len(), 1);
    }

    #[test]
    fn pieces_of_several_traces_are_joined() {
        let profile = load(
            "0 a /t.php:1\n1 b /t.php:2\n# trace_id = 1.0/2\n0 c /t.php:1\n# trace_id = 2.0/2\n2 <main> /t.php:3\n# trace_id = 1.1/2\n\n\
             1 <main> /t.php:4\n# trace_id = 2.1/2\n\n0 d /t.php:5\n# trace_id = 3.0/2\n",
        );
        assert_eq!(
            to_notation(&profile),
            "<main>@/t.php:3;b@/t.php:2;a@/t.php:1 1\n<main>@/t.php:4;c@/t.php:1 1"
        );
        assert_eq!(profile.meta.warnings, ["1 trace was skipped because a piece of it is missing"]);
    }

    #[test]
    fn other_texts_are_not_recognized() {
        for text in ["", "# a comment\n", "1 main /a.php:3\n", "0 main;f 3\n", "0 took 12:30\n", "12 34 56\n"]
        {
            assert_eq!(sniff(text.as_bytes()), Confidence::No, "{text}");
        }
    }
}
