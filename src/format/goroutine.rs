//! Reads goroutine dumps: panics, `SIGQUIT`, and `/debug/pprof/goroutine?debug=2`.
//!
//! ```text
//! goroutine 25 [chan receive, 5 minutes]:
//! main.bar(0x140000a4060, 0x0)
//!         /srv/shop/main.go:57 +0x11c
//! main.foo.func2(...)
//!         /srv/shop/main.go:50
//! created by main.foo in goroutine 1
//!         /srv/shop/main.go:49 +0x34
//! ```
//!
//! Every goroutine is a sample; the function that created it is its outermost frame. What is printed around the dump, such as
//! the message of a panic, is skipped.

use crate::format::labels::sample_labels;
use crate::format::text::{Lines, decimal, hex, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::plural;

/// The entry in the list of readable formats.
pub(super) static GOROUTINE: Format = Format { name: NAME, title: "goroutine dump", sniff, read };

const NAME: &str = "goroutine";

/// The number of lines in which the first goroutine is expected: a log may come before it.
const SNIFFED_LINES: usize = 400;

fn sniff(head: &[u8]) -> Confidence {
    let lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(SNIFFED_LINES).collect();
    let starts = |pair: &[&[u8]]| Header::parse(pair[0]).is_some() && !pair[1].is_empty();
    match lines.windows(2).position(starts) {
        Some(0) => Confidence::Certain,
        Some(_) => Confidence::Likely,
        None => Confidence::No,
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("goroutine", "count");
    let mut lines = Lines::new(source);
    let mut elided = 0;
    let mut goroutine = None;
    while lines.advance()? {
        let line = lines.line().trim_ascii_end();
        if let Some(header) = Header::parse(line) {
            let next = Goroutine::new(&header);
            if let Some(ended) = goroutine.replace(next) {
                elided += u64::from(add(ended, &mut builder));
            }
        } else if line.is_empty() {
            // A goroutine ends with an empty line.
            if let Some(ended) = goroutine.take() {
                elided += u64::from(add(ended, &mut builder));
            }
        } else if let Some(goroutine) = &mut goroutine {
            goroutine.line(&lossy(line), &mut builder);
        }
    }
    if let Some(ended) = goroutine {
        elided += u64::from(add(ended, &mut builder));
    }
    if builder.meta.rows == 0 {
        return Err(ParseError::whole(NAME, "there are no goroutines").into());
    }
    if elided > 0 {
        let warning = format!(
            "{elided} {} frames in the middle, which Go leaves out if there are more than 100",
            plural(elided, "stack lacks", "stacks lack")
        );
        builder.warn(warning);
    }
    Ok(finished(builder)?)
}

/// The line above a stack.
struct Header {
    /// What the goroutine does: `chan receive`.
    state: String,
    /// For how many minutes.
    wait: i64,
    is_locked: bool,
    /// Labels that the program set.
    labels: Vec<(String, String)>,
}

impl Header {
    /// `goroutine 25 [chan receive, 5 minutes, locked to thread]:`, in some versions of Go with pointers before the bracket, and
    /// with labels after it: `{"endpoint": "/users"}`.
    fn parse(line: &[u8]) -> Option<Header> {
        let rest = line.trim_ascii_end().strip_prefix(b"goroutine ")?.strip_suffix(b":")?;
        let text = lossy(rest);
        let (number, rest) = text.split_once(' ')?;
        decimal(number.as_bytes())?;
        let (before, rest) = rest.split_once('[')?;
        let (inside, after) = rest.split_once(']')?;
        let mut header = Header { state: String::new(), wait: 0, is_locked: false, labels: Vec::new() };
        if !before.split_whitespace().all(|word| word.contains('=')) {
            return None;
        }
        for (number, part) in inside.split(", ").enumerate() {
            let minutes = part.strip_suffix(" minutes").or_else(|| part.strip_suffix(" minute"));
            match (minutes.and_then(|minutes| decimal(minutes.as_bytes())), part) {
                (Some(minutes), _) => header.wait = minutes,
                (_, "locked to thread") => header.is_locked = true,
                _ if number == 0 => header.state = part.to_string(),
                // Other properties, such as `synctest bubble 1`.
                _ => {}
            }
        }
        header.labels = labels(after);
        Some(header)
    }
}

/// The pairs in `{"endpoint": "/users", shard: 7}`: Go quotes only what needs it.
fn labels(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let Some((_, mut rest)) = text.split_once('{') else { return labels };
    while let Some((key, after)) = label_text(rest, &[':'])
        && let Some((value, after)) = after.strip_prefix(':').and_then(|text| label_text(text, &[',', '}']))
    {
        labels.push((key, value));
        rest = after.strip_prefix(',').unwrap_or_default();
    }
    labels
}

/// A key or a value, which may be quoted, and what follows it.
fn label_text<'t>(text: &'t str, ends: &[char]) -> Option<(String, &'t str)> {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let (plain, rest) = text.split_at(text.find(ends)?);
        return Some((plain.trim_end().to_string(), rest));
    };
    let mut unquoted = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((unquoted, quoted[at + 1..].trim_start())),
            '\\' => unquoted.extend(characters.next().map(|(_, escaped)| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            other => unquoted.push(other),
        }
    }
    None
}

/// A goroutine that is being read.
struct Goroutine {
    state: String,
    wait: i64,
    is_locked: bool,
    labels: Vec<(String, String)>,
    /// The frames so far, the leaf first.
    frames: Vec<FrameId>,
    /// A function whose place is on the next line: its name, and whether it was inlined.
    function: Option<(String, bool)>,
    is_elided: bool,
    /// Whether the frames that follow are those of the goroutines that created this one.
    is_in_ancestors: bool,
}

impl Goroutine {
    fn new(header: &Header) -> Goroutine {
        Goroutine {
            state: header.state.clone(),
            wait: header.wait,
            is_locked: header.is_locked,
            labels: header.labels.clone(),
            frames: Vec::new(),
            function: None,
            is_elided: false,
            is_in_ancestors: false,
        }
    }

    fn line(&mut self, line: &str, builder: &mut ProfileBuilder) {
        if line.starts_with("[originating from goroutine ") {
            self.end_function(builder);
            self.is_in_ancestors = true;
        }
        if self.is_in_ancestors {
            return;
        }
        if let Some(place) = line.strip_prefix('\t').or_else(|| line.strip_prefix("        ")) {
            let function = self.function.take();
            self.frame(function, place, builder);
            return;
        }
        self.end_function(builder);
        if line.starts_with("...") {
            self.is_elided = true;
        } else if let Some(creator) = line.strip_prefix("created by ") {
            let name = creator.rsplit_once(" in goroutine ").map_or(creator, |(name, _)| name);
            self.function = Some((name.to_string(), false));
        } else if let Some((name, arguments)) = line.strip_suffix(')').and_then(|line| line.rsplit_once('('))
        {
            self.function = Some((name.to_string(), arguments == "..."));
        }
    }

    /// Adds a function whose place is not known.
    fn end_function(&mut self, builder: &mut ProfileBuilder) {
        if let Some((name, _)) = self.function.take() {
            let frame = builder.named_frame(&name);
            self.frames.push(frame);
        }
    }

    /// `/srv/shop/main.go:57 +0x11c fp=0xc0000a9f50 sp=0xc0000a9f10 pc=0x4a3b4c`
    fn frame(&mut self, function: Option<(String, bool)>, place: &str, builder: &mut ProfileBuilder) {
        let Some((name, inlined)) = function else { return };
        let (place, rest) = place.split_once(" +0x").unwrap_or((place, ""));
        let place = place.split(" fp=0x").next().unwrap_or_default();
        let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
        let address = rest.rsplit_once(" pc=0x").and_then(|(_, address)| hex(address.trim().as_bytes()));
        let frame = Frame {
            function: builder.named_function(&name, file),
            line: line.trim().parse().unwrap_or(0),
            address: address.unwrap_or(0),
            inlined,
            ..Frame::default()
        };
        self.frames.push(builder.frame(frame));
    }
}

/// Adds a goroutine, and returns whether frames were left out.
fn add(mut goroutine: Goroutine, builder: &mut ProfileBuilder) -> bool {
    goroutine.end_function(builder);
    goroutine.frames.reverse();
    let stack = builder.stack(&goroutine.frames);
    let set = sample_labels(builder, |labels| {
        labels.text_if_known("state", &goroutine.state);
        if goroutine.wait > 0 {
            labels.number_in("wait", goroutine.wait, "minutes");
        }
        if goroutine.is_locked {
            labels.text("locked", "to thread");
        }
        for (key, value) in &goroutine.labels {
            labels.text(key, value);
        }
    });
    builder.sample(stack, set, None, &[1]);
    goroutine.is_elided
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert!(sniff(text.as_bytes()) >= Confidence::Likely);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
    }

    #[test]
    fn states_waits_and_creators() {
        let text = "goroutine 1 [running]:\npanic({0x4a, 0x1})\n\t/go/panic.go:770 +0x132\nmain.(*T).f(...)\n\t/srv/a.go:5\n\
                    main.main()\n\t/srv/a.go:9 +0x1d fp=0xc1 sp=0xc0 pc=0x4a3b4c\n\n\
                    goroutine 25 gp=0xc000007c00 m=nil [chan receive, 5 minutes, locked to thread]:\r\nmain.g()\r\n\t/srv/a.go:12 +0x3\r\n\
                    created by main.f in goroutine 1\r\n\t/srv/a.go:11 +0x34\r\n[originating from goroutine 1]:\r\nmain.x(...)\r\n\t/srv/a.go:1\r\n";
        let profile = load(text);
        assert_eq!(
            to_notation(&profile),
            "main.f@/srv/a.go:11;main.g@/srv/a.go:12 1 {locked=to thread state=chan receive wait=5minutes}\n\
             main.main@/srv/a.go:9;+main.(*T).f@/srv/a.go:5;panic@/go/panic.go:770 1 {state=running}"
        );
        assert!(profile.symbols.frames.iter().any(|frame| frame.address == 0x4a_3b4c));
    }

    /// Go 1.27 quotes only what needs it.
    #[test]
    fn labels_are_quoted_if_need_be() {
        let pairs = |text: &str| {
            labels(text).iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("|")
        };
        assert_eq!(pairs(r#" {pid: "<A.0>", shard: 7}"#), "pid=<A.0>|shard=7");
        assert_eq!(pairs(r#" {"a b": "x, \"y\"}", "endpoint": "/users"}"#), r#"a b=x, "y"}|endpoint=/users"#);
        for text in ["", " {", " {pid", " {pid: ", " {}", r#" {"pid: 1}"#] {
            assert_eq!(pairs(text), "", "{text}");
        }
        let text = "goroutine 7 [IO wait] {meta: \"Alias#<A>\"}:\nmain.f()\n\t/a.go:1 +0x1\n";
        assert_eq!(to_notation(&load(text)), "main.f@/a.go:1 1 {meta=Alias#<A> state=IO wait}");
    }

    #[test]
    fn a_panic_has_a_message_before_it_and_may_leave_out_frames() {
        let text = "panic: oops\n\n[signal SIGSEGV]\n\ngoroutine 7 [select] {\"endpoint\": \"/a\"}:\nmain.f()\n\
                    \t/a.go:1 +0x1\n...23 frames elided...\nmain.main()\n\t/a.go:2 +0x1\nexit status 2\n";
        let profile = load(text);
        assert_eq!(to_notation(&profile), "main.main@/a.go:2;main.f@/a.go:1 1 {endpoint=/a state=select}");
        assert_eq!(profile.meta.warnings.len(), 1);
    }

    #[test]
    fn a_text_that_mentions_goroutines_is_something_else() {
        for text in
            ["goroutine profile: total 3\n", "goroutine 1 [running]\n", "goroutine 1 of [2]:\n", "main;f 3\n"]
        {
            assert_eq!(sniff(text.as_bytes()), Confidence::No, "{text}");
        }
    }
}
