//! Profiles that were copied from a page, a mail or a terminal, with what these put around them: fences of code blocks, quotation marks,
//! blanks before each line, and the command that printed the profile.
//!
//! ````text
//! ```
//! $ perf script
//! words 16499   877.743991:   10101010 cpu-clock:
//!                48076 words::count+0x166 (/srv/words)
//! ```
//! ````
//!
//! This is only tried with text that no format recognizes as it stands.

use crate::format::text::is_binary;
use crate::format::{Confidence, Format, recognize};

/// The number of code blocks, quotation marks and lines before a profile that are looked at: enough for what people copy.
const MOST_BLOCKS: usize = 8;
const MOST_QUOTES: usize = 8;
const MOST_BEFORE: usize = 8;

/// A profile within a text.
pub(super) struct Copied {
    pub(super) format: &'static Format,
    pub(super) confidence: Confidence,
    around: Around,
}

/// What is around a profile.
#[derive(Clone, Default, PartialEq, Eq)]
struct Around {
    /// How many quotation marks (`>`) there are before each line.
    quotes: usize,
    /// The number of the code block that the profile is in.
    block: Option<usize>,
    /// The blanks before each line.
    indent: Vec<u8>,
    /// How many lines come before it.
    before: usize,
}

/// Finds a profile in a text that is none as it stands, given its first bytes.
pub(super) fn find(head: &[u8]) -> Option<Copied> {
    if is_binary(head) {
        return None;
    }
    let around = Around { quotes: quotes(head), ..Around::default() };
    let blocks = blocks(&around.without(head));
    let in_blocks =
        (0..blocks.min(MOST_BLOCKS)).map(|number| Around { block: Some(number), ..around.clone() });
    in_blocks.chain([around.clone()]).find_map(|around| find_in(head, around))
}

/// Finds a profile in a part of the text.
fn find_in(head: &[u8], mut around: Around) -> Option<Copied> {
    around.indent = indent(&around.without(head));
    let text = around.without(head);
    let mut rest = &text[..];
    loop {
        // The text as it stands is no profile. After other lines, only what certainly is one is.
        let least = if around.before == 0 { Confidence::Likely } else { Confidence::Certain };
        if around != Around::default()
            && let Some((format, confidence)) = recognize(rest).filter(|&(_, confidence)| confidence >= least)
        {
            return Some(Copied { format, confidence, around });
        }
        let line = rest.split_inclusive(|&byte| byte == b'\n').next().filter(|line| may_precede(line))?;
        rest = &rest[line.len()..];
        around.before += 1;
        if around.before > MOST_BEFORE {
            return None;
        }
    }
}

/// Whether a line may come before a profile: a command, a message, or nothing.
fn may_precede(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || b"$#%[<(".contains(&line[0]) || line.starts_with(b"warning: ")
}

impl Copied {
    /// The text of the profile.
    pub(super) fn text(&self, whole: &[u8]) -> Vec<u8> {
        self.around.without(whole)
    }

    /// A warning that says what is left out.
    pub(super) fn warning(&self) -> String {
        let Around { quotes, block, indent, before } = &self.around;
        let mut parts = Vec::new();
        if *quotes > 0 {
            parts.push(format!("`{}` before each line", ">".repeat(*quotes)));
        }
        if block.is_some() {
            parts.push("the lines around its code block".to_string());
        }
        if !indent.is_empty() {
            parts.push("the blanks before each line".to_string());
        }
        match before {
            0 => {}
            1 => parts.push("its first line".to_string()),
            _ => parts.push(format!("its first {before} lines")),
        }
        let last = parts.pop().unwrap_or_default();
        let parts = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
        format!("this is a text with a profile in it, which is read without {parts}")
    }
}

impl Around {
    /// The text without what is around the profile.
    fn without(&self, whole: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        let (mut fences, mut skipped) = (Fences::default(), 0);
        for line in whole.split_inclusive(|&byte| byte == b'\n') {
            let line = (0..self.quotes).fold(line, |line, _| unquoted(line).unwrap_or(line));
            if self.block.is_some() && fences.block(line) != self.block {
                continue;
            }
            if skipped < self.before {
                skipped += 1;
                continue;
            }
            let kept = line.iter().zip(&self.indent).take_while(|(one, other)| one == other).count();
            text.extend_from_slice(&line[kept..]);
        }
        text
    }
}

/// A line without the quotation mark before it.
fn unquoted(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b">")?;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// How many quotation marks most lines begin with. Mail programs break long lines, and what follows has none.
fn quotes(head: &[u8]) -> usize {
    let is_quoted = |&quotes: &usize| {
        let (mut all, mut quoted) = (0, 0);
        for line in head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            all += 1;
            let rest = (0..quotes).try_fold(line, |line, _| unquoted(line));
            quoted += usize::from(rest.is_some());
        }
        quoted > 1 && quoted * 4 >= all * 3
    };
    (1..=MOST_QUOTES).take_while(is_quoted).count()
}

/// The blanks that all lines begin with.
fn indent(text: &[u8]) -> Vec<u8> {
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let blanks = |line: &[u8]| line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let Some(first) = lines.next().map(|line| &line[..blanks(line)]) else { return Vec::new() };
    let common =
        |kept: usize, line: &[u8]| first[..kept].iter().zip(line).take_while(|(a, b)| a == b).count();
    first[..lines.fold(first.len(), common)].to_vec()
}

/// The number of code blocks.
fn blocks(text: &[u8]) -> usize {
    let mut fences = Fences::default();
    for line in text.split(|&byte| byte == b'\n') {
        fences.block(line);
    }
    fences.count
}

/// The fences of code blocks, as Markdown has them.
#[derive(Default)]
struct Fences {
    /// The character of the fence above the current block.
    open: Option<u8>,
    /// How many blocks began.
    count: usize,
}

impl Fences {
    /// The number of the block that a line is in; `None` for the fences themselves and outside.
    fn block(&mut self, line: &[u8]) -> Option<usize> {
        let line = line.trim_ascii();
        let fence = line.first().copied().filter(|byte| b"`~".contains(byte));
        let fence = fence.filter(|fence| line.len() > 2 && line[..3].iter().all(|byte| byte == fence));
        match (self.open, fence) {
            (Some(open), Some(fence)) if open == fence && line.iter().all(|byte| *byte == fence) => {
                self.open = None;
                None
            }
            (Some(_), _) => Some(self.count - 1),
            (None, Some(fence)) => {
                self.open = Some(fence);
                self.count += 1;
                None
            }
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::format::{LoadError, Source, load};
    use crate::profile::{LoadOptions, Profile};

    const SAMPLE: &str = "words 9 [000] 1.5: 10 cycles:\n\tffffffff817f7f56 count+0x26 (/w)\n\t    7ffff7de68bb main+0xb (/w)\n\n";

    fn read(text: &str) -> Result<Profile, LoadError> {
        load(&mut Source::from_bytes(text.into()), LoadOptions::default(), None)
    }

    /// Puts something before every line.
    fn each(before: &str, text: &str) -> String {
        text.lines().flat_map(|line| [before, line, "\n"]).collect()
    }

    #[test]
    fn what_is_around_a_profile_is_left_out_with_a_warning() {
        let plain = read(SAMPLE).unwrap();
        assert_eq!(plain.meta.warnings, [""; 0]);
        let tilde = format!("Look:\n~~~\nnot this\n~~~\n\n~~~ text\n{SAMPLE}~~~\nSlow.\n");
        for (text, without) in [
            (format!("```\n{SAMPLE}```\n"), "the lines around its code block"),
            (tilde, "the lines around its code block"),
            // The end may be missing.
            (
                format!("# Title\n```bash\n# perf script\n$ perf script\n{SAMPLE}"),
                "the lines around its code block and its first 2 lines",
            ),
            (each("> ", SAMPLE), "`>` before each line"),
            (each(">> ", &format!("<log>\n{SAMPLE}")), "`>>` before each line and its first line"),
            (each("> > ", &each("    ", SAMPLE)), "`>>` before each line and the blanks before each line"),
            (each("\t ", SAMPLE), "the blanks before each line"),
            (format!("$ perf script\n{SAMPLE}"), "its first line"),
        ] {
            let profile = read(&text).unwrap();
            let expected = format!("this is a text with a profile in it, which is read without {without}");
            assert_eq!(profile.meta.warnings.first(), Some(&expected), "{text}");
            assert_eq!((profile.meta.format, profile.meta.metrics[0].total), ("perf-script", 1), "{text}");
            assert_eq!(profile.meta.bytes, text.len() as u64);
        }
    }

    /// Whether it is a function that is called or one that calls depends on the blanks before a line of OProfile's reports.
    #[test]
    fn reports_of_oprofile_may_be_quoted() {
        let report = "warning: /no-vmlinux could not be found.\n$ cat oprof.out\nvma      samples  %        image name               \
                      symbol name\n0006d430 1238     24.6123  libc-2.14.1.so           fgetc\n00400d30 12     0.6123  sha           main\n";
        for before in ["> ", "  "] {
            let profile = read(&each(before, report)).unwrap();
            assert_eq!((profile.meta.format, profile.meta.metrics[0].total), ("oprofile", 1250));
            assert_eq!(profile.meta.warnings.len(), 1, "{:?}", profile.meta.warnings);
        }
    }

    #[test]
    fn other_text_stays_unrecognized() {
        for text in [
            "```\n```\n~~~",
            "> > >\n>\n",
            "some words\n```\nmore words\n```\n",
            "    \n\t\n  x\n",
            "$ cat\n$ ls\n",
            &"#\n".repeat(1000),
            &"~~~\n".repeat(999),
        ] {
            assert!(matches!(read(text), Err(LoadError::Unrecognized { .. })), "{text}");
        }
    }

    /// A folder of profiles may have a README with one in it.
    #[test]
    fn files_of_a_folder_are_profiles_as_they_stand_or_not_at_all() {
        let mut source = Source::from_bytes(format!("```\n{SAMPLE}```\n").into());
        source.found_in_folder();
        let loaded = load(&mut source, LoadOptions::default(), None);
        assert!(matches!(loaded, Err(LoadError::Unrecognized { .. })));
    }
}
