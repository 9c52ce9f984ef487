//! Instruments' XML, as `xctrace export` writes it: tables of samples.
//!
//! ```text
//! <trace-query-result><node xpath='…'><schema name="time-profile"><col><mnemonic>time</mnemonic>…</col>…</schema>
//! <row><sample-time id="1" fmt="00:00.057">57246708</sample-time>
//!   <thread id="2" fmt="main 0x84 (app, pid: 42)"><tid id="3">132</tid><process id="4" fmt="app (42)"/></thread>
//!   <thread-state id="8" fmt="Running">Running</thread-state><weight id="9" fmt="1.00 ms">1000000</weight>
//!   <backtrace id="10"><frame id="11" name="leaf" addr="0x1010"><binary id="12" name="app" UUID="C1…" load-addr="0x1000" path="/app"/>
//!     <source line="7"><path id="13">/src/main.c</path></source></frame><frame id="14" name="main" addr="0x1020"/></backtrace></row>
//! <row><sample-time id="15">58248125</sample-time><thread ref="2"/><weight ref="9"/><backtrace ref="10"/></row>
//! ```
//!
//! An element with an `id` is referred to by later ones with that number as `ref`. The leaf comes first. Xcode 14 and later put the
//! `backtrace` into a `tagged-backtrace`; up to 13, it has addresses instead of frames, and only the name of the leaf. Times and weights are in
//! nanoseconds, but a `cycle-weight`, which the CPU Profiler writes. A `sentinel` stands for a missing value.

use std::borrow::Cow;
use std::rc::Rc;

use hashbrown::HashMap;
use quick_xml::events::{BytesStart, Event};

use crate::format::labels::sample_labels;
use crate::format::text::{character, hex, lossy};
use crate::format::threads::Thread;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{
    Addresses, Frame, FrameId, LabelSetId, LoadOptions, Mapping, MappingId, Profile, ProfileBuilder, StackId,
    StringId,
};
use crate::unit::plural;

/// The entry in the list of readable formats.
pub(super) static XCTRACE: Format = Format { name: NAME, title: "xctrace (Instruments) XML", sniff, read };

const NAME: &str = "xctrace";

/// Elements nested more deeply than this are no export of `xctrace`.
const DEEPEST: usize = 64;

/// The state of a thread that uses a processor.
const RUNNING: &str = "Running";

/// What joins the name of the leaf and the number of its callers in the text of a backtrace: `malloc ← (16 other frames)`.
const CALLED_BY: &str = " ← ";

fn sniff(head: &[u8]) -> Confidence {
    let is_it = head.trim_ascii_start().starts_with(b"<")
        && memchr::memmem::find(head, b"<trace-query-result").is_some();
    if is_it { Confidence::Certain } else { Confidence::No }
}

/// The elements of which tables are made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Tag {
    Schema,
    Node,
    Row,
    Time,
    Nanoseconds,
    Cycles,
    Thread,
    Tid,
    Process,
    Pid,
    State,
    Stack,
    Addresses,
    Frame,
    Binary,
    Source,
    Path,
    #[default]
    Other,
}

impl Tag {
    fn of(name: &str) -> Tag {
        match name {
            "schema" => Tag::Schema,
            "node" => Tag::Node,
            "row" => Tag::Row,
            "sample-time" | "event-time" | "start-time" => Tag::Time,
            "weight" => Tag::Nanoseconds,
            "cycle-weight" => Tag::Cycles,
            "thread" => Tag::Thread,
            "tid" => Tag::Tid,
            "process" => Tag::Process,
            "pid" => Tag::Pid,
            "thread-state" => Tag::State,
            "backtrace" | "tagged-backtrace" => Tag::Stack,
            "text-addresses" => Tag::Addresses,
            "frame" => Tag::Frame,
            "binary" => Tag::Binary,
            "source" => Tag::Source,
            "path" => Tag::Path,
            _ => Tag::Other,
        }
    }
}

/// What an element means, which those that refer to it mean as well.
#[derive(Clone)]
enum Value {
    Number(i64),
    Text(Rc<str>),
    Thread(Rc<Thread>),
    Stack(StackId),
    /// Code without a name, as up to Xcode 13.
    Addresses(Rc<[u64]>),
    Frame(FrameId),
    /// A binary, and where it was loaded.
    Binary(MappingId, u64),
    Source(StringId, u32),
}

/// An element that has not ended yet.
#[derive(Default)]
struct Open {
    tag: Tag,
    id: Option<u64>,
    reference: Option<u64>,
    /// The value as Instruments shows it.
    shown: String,
    name: String,
    path: String,
    uuid: String,
    address: u64,
    line: u32,
    text: String,
    /// What its children mean.
    parts: Vec<(Tag, Value)>,
}

impl Open {
    fn number(&self, wanted: Tag) -> Option<i64> {
        self.parts.iter().find_map(|(tag, value)| match value {
            Value::Number(number) if *tag == wanted => Some(*number),
            _ => None,
        })
    }

    fn part_text(&self, wanted: Tag) -> Option<Rc<str>> {
        self.parts.iter().find_map(|(tag, value)| match value {
            Value::Text(text) if *tag == wanted => Some(Rc::clone(text)),
            _ => None,
        })
    }

    fn thread(&self) -> Option<Rc<Thread>> {
        self.parts.iter().find_map(|(_, value)| match value {
            Value::Thread(thread) => Some(Rc::clone(thread)),
            _ => None,
        })
    }
}

/// A row of a table.
struct Row {
    stack: Option<StackId>,
    labels: LabelSetId,
    time: Option<i64>,
    nanoseconds: Option<i64>,
    cycles: Option<i64>,
}

/// Reads a file, whose rows become samples when it has ended: only then is it known what the weights are.
struct Reader {
    builder: ProfileBuilder,
    /// The elements with a number, in this table.
    known: HashMap<u64, Value>,
    open: Vec<Open>,
    /// The table that is being read, and the one whose rows are samples.
    table: String,
    chosen: Option<String>,
    left_out: Vec<String>,
    rows: Vec<Row>,
    /// Whether a thread did anything but run.
    waits: bool,
    /// References to elements that the file does not have.
    lost: u64,
}

impl Reader {
    fn new(options: LoadOptions) -> Self {
        Reader {
            builder: ProfileBuilder::new(NAME, options),
            known: HashMap::new(),
            open: Vec::new(),
            table: String::new(),
            chosen: None,
            left_out: Vec::new(),
            rows: Vec::new(),
            waits: false,
            lost: 0,
        }
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let text = lossy(&bytes);
    let mut reader = Reader::new(options);
    let mut xml = quick_xml::Reader::from_str(&text);
    loop {
        let at = xml.buffer_position();
        let failed = |what: String| {
            let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..at as usize]).count() as u64 + 1;
            ParseError::at_line(NAME, line, what)
        };
        match xml.read_event().map_err(|error| failed(error.to_string()))? {
            Event::Start(start) => {
                reader.begin(&start);
                if reader.open.len() > DEEPEST {
                    return Err(failed("elements are nested too deeply".into()).into());
                }
            }
            Event::Empty(start) => {
                reader.begin(&start);
                reader.end();
            }
            Event::Text(part) => reader.text(&part),
            Event::GeneralRef(reference) => reader.text(character(&reference)),
            Event::End(_) => reader.end(),
            Event::Eof => break,
            _ => {}
        }
    }
    let is_cut = !reader.open.is_empty();
    let mut builder = reader.samples()?;
    if is_cut {
        builder.warn("file is truncated: the end of `<trace-query-result>` is missing".into());
    }
    Ok(finished(builder)?)
}

impl Reader {
    fn begin(&mut self, start: &BytesStart<'_>) {
        let mut open = Open { tag: Tag::of(start.name().as_ref()), ..Open::default() };
        for attribute in start.attributes().filter_map(Result::ok) {
            let value = &*attribute.value;
            match attribute.key.as_ref() {
                "id" => open.id = value.parse().ok(),
                "ref" => open.reference = value.parse().ok(),
                "fmt" => open.shown = unescaped(value),
                "name" => open.name = unescaped(value),
                "path" => open.path = unescaped(value),
                "UUID" => open.uuid = value.replace('-', "").to_ascii_lowercase(),
                "addr" | "load-addr" => open.address = address(value).unwrap_or(0),
                "line" => open.line = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        if open.tag == Tag::Schema {
            self.table.clone_from(&open.name);
        }
        self.open.push(open);
    }

    fn text(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            open.text.push_str(text);
        }
    }

    /// Ends the innermost element and hands its value to the one around it.
    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let value = match (open.tag, open.reference) {
            (Tag::Row, _) => return self.row(&open),
            // Numbers are those of one table.
            (Tag::Node, _) => return self.known.clear(),
            (Tag::Schema | Tag::Other, _) => return,
            (_, Some(reference)) => {
                let found = self.known.get(&reference).cloned();
                self.lost += u64::from(found.is_none());
                found
            }
            (_, None) => self.value(&open),
        };
        let Some(value) = value else { return };
        if let Some(id) = open.id {
            self.known.insert(id, value.clone());
        }
        if let Some(around) = self.open.last_mut() {
            around.parts.push((open.tag, value));
        }
    }

    fn value(&mut self, open: &Open) -> Option<Value> {
        let text = open.text.trim();
        Some(match open.tag {
            Tag::Path => Value::Text(text.into()),
            Tag::State => Value::Text(if open.shown.is_empty() { text } else { &open.shown }.into()),
            Tag::Process => Value::Text(process(open).into()),
            Tag::Thread => Value::Thread(Rc::new(thread(open))),
            Tag::Addresses => {
                Value::Addresses(text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect())
            }
            Tag::Source => Value::Source(self.builder.string(&open.part_text(Tag::Path)?), open.line),
            Tag::Binary => {
                let file = self.builder.string(if open.path.is_empty() { &open.name } else { &open.path });
                let build_id = self.builder.string(&open.uuid);
                let binary = Mapping { file, build_id, addresses: Addresses::Image, ..Mapping::default() };
                Value::Binary(self.builder.mapping(binary), open.address)
            }
            Tag::Frame => Value::Frame(self.frame(open)),
            Tag::Stack => Value::Stack(self.stack(open)?),
            _ => Value::Number(text.parse().ok()?),
        })
    }

    fn frame(&mut self, open: &Open) -> FrameId {
        let (mut mapping, mut loaded, mut file, mut line) = (MappingId::default(), 0, None, 0);
        for (_, part) in &open.parts {
            match *part {
                Value::Binary(binary, start) => (mapping, loaded) = (binary, start),
                Value::Source(path, at) => (file, line) = (Some(path), at),
                _ => {}
            }
        }
        let function = if address(&open.name).is_some() || open.name.is_empty() {
            self.builder.unnamed_function(mapping)
        } else {
            let file = file.map(|file| self.builder.text(file).to_string());
            self.builder.named_function(&demangle(&open.name), file.as_deref().unwrap_or_default())
        };
        let address = open.address.checked_sub(loaded).unwrap_or(open.address);
        self.builder.frame(Frame { function, line, address, mapping, ..Frame::default() })
    }

    /// The stack of a backtrace, which may be in an element within, or have addresses only. `None` if nothing is known of it.
    fn stack(&mut self, open: &Open) -> Option<StackId> {
        let mut frames: Vec<FrameId> = Vec::new();
        for (_, part) in &open.parts {
            match part {
                Value::Stack(stack) => return Some(*stack),
                Value::Frame(frame) => frames.push(*frame),
                Value::Addresses(addresses) => {
                    for &address in addresses.iter() {
                        let leaf =
                            frames.is_empty().then(|| open.shown.split(CALLED_BY).next().unwrap_or_default());
                        let function = match leaf.filter(|name| !name.is_empty()) {
                            Some(name) => self.builder.named_function(&demangle(name), ""),
                            None => self.builder.unnamed_function(MappingId::default()),
                        };
                        frames.push(self.builder.frame(Frame { function, address, ..Frame::default() }));
                    }
                }
                _ => {}
            }
        }
        frames.reverse();
        (!frames.is_empty()).then(|| self.builder.stack(&frames))
    }

    fn row(&mut self, open: &Open) {
        let stack = open.parts.iter().find_map(|(_, value)| match value {
            Value::Stack(stack) => Some(*stack),
            _ => None,
        });
        if stack.is_some() {
            self.chosen.get_or_insert_with(|| self.table.clone());
        }
        // A table without stacks is no profile, and a second one with stacks has the same samples in another form.
        if self.chosen.as_ref() != Some(&self.table) {
            if !self.left_out.contains(&self.table) {
                self.left_out.push(self.table.clone());
            }
            return;
        }
        let state = open.part_text(Tag::State).unwrap_or_default();
        self.waits |= !matches!(&*state, "" | RUNNING);
        let thread = open.thread().unwrap_or_default();
        let process = open.part_text(Tag::Process).unwrap_or_default();
        let labels = sample_labels(&mut self.builder, |labels| {
            if thread.process.is_empty() {
                labels.text_if_known("process", &process);
            }
            thread.add_to(labels);
            labels.text_if_known("state", &state);
        });
        self.rows.push(Row {
            stack,
            labels,
            time: open.number(Tag::Time),
            nanoseconds: open.number(Tag::Nanoseconds),
            cycles: open.number(Tag::Cycles),
        });
    }

    /// The profile with its samples.
    fn samples(self) -> Result<ProfileBuilder, ParseError> {
        let Reader { mut builder, rows, waits, lost, mut left_out, chosen, .. } = self;
        if chosen.is_none() {
            left_out.retain(|table| !table.is_empty());
            let tables =
                if left_out.is_empty() { String::new() } else { format!(" ({})", left_out.join(", ")) };
            let what =
                format!("the file has no stacks{tables}; export the table `time-profile` or `cpu-profile`");
            return Err(ParseError::whole(NAME, what));
        }
        let mut metrics: Vec<fn(&Row) -> i64> = vec![|_| 1];
        builder.metric("samples", "count");
        if rows.iter().any(|row| row.cycles.is_some()) {
            builder.meta.default_metric = builder.metric("cycles", "count");
            metrics.push(|row| row.cycles.unwrap_or(0));
        }
        if rows.iter().any(|row| row.nanoseconds.is_some()) {
            // Weights of threads that wait are no time of a processor.
            builder.meta.default_metric = builder.metric(if waits { "wall" } else { "cpu" }, "nanoseconds");
            metrics.push(|row| row.nanoseconds.unwrap_or(0));
        }
        let known = || rows.iter().filter_map(|row| Some((row.time?, row.nanoseconds.unwrap_or(0))));
        let end = known().map(|(time, lasts)| time.saturating_add(lasts)).max();
        let recorded =
            known().map(|(time, _)| time).min().zip(end).map(|(start, end)| end.saturating_sub(start));
        builder.meta.duration_ns = recorded.filter(|&duration| duration > 0);
        let mut without_stack = 0;
        for row in &rows {
            without_stack += u64::from(row.stack.is_none());
            let stack = row.stack.unwrap_or_else(|| builder.stack(&[]));
            let values: Vec<i64> = metrics.iter().map(|value| value(row)).collect();
            builder.sample(stack, row.labels, row.time, &values);
        }
        if without_stack > 0 {
            builder.warn(format!(
                "{without_stack} {} no stack",
                plural(without_stack, "sample has", "samples have")
            ));
        }
        if lost > 0 {
            let refer = plural(lost, "element refers to one that is", "elements refer to others that are");
            builder.warn(format!("{lost} {refer} not in the file"));
        }
        let tables: Vec<String> = left_out.iter().map(|table| format!("`{table}`")).collect();
        if let (Some(chosen), false) = (chosen, tables.is_empty()) {
            builder.warn(format!("only the table `{chosen}` was read, and not {}", tables.join(", ")));
        }
        Ok(builder)
    }
}

/// `&lt;` and its like as characters.
fn unescaped(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or_else(|_| text.to_string(), Cow::into_owned)
}

/// `0x1047b15cd`
fn address(text: &str) -> Option<u64> {
    hex(text.strip_prefix("0x")?.as_bytes())
}

/// The name in `app (42)`, or the number if there is no name.
fn process(open: &Open) -> String {
    match open.shown.rsplit_once(" (") {
        Some((name, _)) => name.to_string(),
        None if open.shown.is_empty() => open.number(Tag::Pid).map(|pid| pid.to_string()).unwrap_or_default(),
        None => open.shown.clone(),
    }
}

/// `Main Thread  0x84 (app, pid: 42)`, which may have no name.
fn thread(open: &Open) -> Thread {
    let shown = &*open.shown;
    let name = shown.find("0x").map_or(shown, |at| &shown[..at]).trim_end_matches([' ', '(']);
    Thread {
        process: open.part_text(Tag::Process).unwrap_or_default().to_string(),
        name: name.to_string(),
        tid: open.number(Tag::Tid).map(|tid| tid.to_string()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    /// A file with one table.
    fn table(name: &str, rows: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><trace-query-result><node><schema name=\"{name}\"/>{rows}</node></trace-query-result>"
        )
    }

    const ROWS: &str = r#"
        <row><sample-time id="1" fmt="00:00.005">5000000</sample-time>
          <thread id="2" fmt="Main Thread  0x84 (app, pid: 42)"><tid id="3" fmt="0x84">132</tid><process id="4" fmt="app (42)">
            <pid id="5">42</pid></process></thread><process ref="4"/><thread-state id="6" fmt="Running">Running</thread-state>
          <weight id="7" fmt="1.00 ms">1000000</weight>
          <tagged-backtrace id="8"><backtrace id="9">
            <frame id="10" name="vec&lt;int&gt;::push(int &amp;)" addr="0x1010">
              <binary id="11" name="app" UUID="C1-AB" load-addr="0x1000" path="/Applications/app"/>
              <source line="7"><path id="12">/src/main.cc</path></source></frame>
            <frame id="13" name="main" addr="0x1020"><binary ref="11"/><source line="20"><path ref="12"/></source></frame>
            <frame id="14" name="0x9f" addr="0x9f"/>
          </backtrace></tagged-backtrace></row>
        <row><sample-time id="15">6000000</sample-time><thread ref="2"/><process ref="4"/><thread-state ref="6"/>
          <weight id="16">100000000</weight><backtrace><frame ref="13"/><frame ref="14"/></backtrace></row>
        <row><sample-time id="17">7000000</sample-time><thread ref="2"/><thread-state ref="6"/><weight ref="7"/><sentinel/></row>
        <row><sample-time id="18">8000000</sample-time><thread ref="2"/><weight ref="7"/><tagged-backtrace ref="8"/></row>"#;

    #[test]
    fn rows_have_weights_threads_times_and_places() {
        let profile = load(&table("time-profile", ROWS)).unwrap();
        let metrics: Vec<&str> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
        assert_eq!((metrics, profile.meta.default_metric), (vec!["samples", "cpu"], 1));
        let of_thread = "{process=app state=Running thread=Main Thread tid=132}";
        let main = "<unknown>;main@/src/main.cc:20";
        let expected = [
            format!(" 1 1000000 {of_thread}"),
            format!("{main} 1 100000000 {of_thread}"),
            format!("{main};vec<int>::push(int &)@/src/main.cc:7 1 1000000 {of_thread}"),
            format!(
                "{main};vec<int>::push(int &)@/src/main.cc:7 1 1000000 {}",
                of_thread.replace("state=Running ", "")
            ),
        ];
        assert_eq!(
            to_notation(&profile),
            expected.join(
                "
"
            )
        );
        assert_eq!(profile.meta.duration_ns, Some(101_000_000));
        assert_eq!(profile.meta.warnings, ["1 sample has no stack"]);
        let symbols = &profile.symbols;
        let text = |id| symbols.strings.get(id);
        let frame = symbols.frames.iter().find(|frame| frame.line == 7).unwrap();
        let (function, mapping) = (&symbols.functions[frame.function], &symbols.mappings[frame.mapping]);
        assert_eq!((text(function.file), frame.address), ("/src/main.cc", 0x10));
        assert_eq!((text(mapping.file), text(mapping.build_id)), ("/Applications/app", "c1ab"));
    }

    /// In a table of the CPU Profiler, which weighs cycles, and of a thread that waits.
    #[test]
    fn the_metric_is_what_weights_are() {
        let metrics = |rows: &str| -> Vec<String> {
            let profile = load(&table("cpu-profile", rows)).unwrap();
            profile.meta.metrics.iter().map(|metric| metric.name.clone()).collect()
        };
        let cycles = ROWS.replace("<weight", "<cycle-weight").replace("</weight", "</cycle-weight");
        assert_eq!(metrics(&cycles), ["samples", "cycles"]);
        assert_eq!(metrics(&ROWS.replace("Running", "Blocked")), ["samples", "wall"]);
        assert_eq!(metrics(&ROWS.replace("weight", "other")), ["samples"]);
    }

    #[test]
    fn up_to_xcode_13_only_the_leaf_has_a_name() {
        let row = "<row><weight>5</weight><backtrace fmt=\"malloc ← (2 other frames)\"><text-addresses>16</text-addresses>\
                   <text-addresses>32 48</text-addresses></backtrace></row>";
        let profile = load(&table("time-profile", row)).unwrap();
        assert_eq!(to_notation(&profile), "<unknown>;<unknown>;malloc 1 5");
        assert_eq!(
            profile.symbols.frames.iter().map(|frame| frame.address).collect::<Vec<_>>(),
            [16, 32, 48]
        );
    }

    #[test]
    fn one_table_with_stacks_is_read() {
        let hangs = "<node><schema name=\"hangs\"/><row><start-time>1</start-time></row></node>";
        let both = table("time-profile", ROWS).replace("</trace-query-result>", hangs);
        let warnings = load(&both).unwrap().meta.warnings;
        assert_eq!(
            warnings[1..],
            [
                "only the table `time-profile` was read, and not `hangs`",
                "file is truncated: the end of `<trace-query-result>` is missing",
            ]
        );
        let error =
            load(&format!("<trace-query-result>{hangs}</trace-query-result>")).unwrap_err().to_string();
        assert_eq!(
            error,
            "xctrace: the file has no stacks (hangs); export the table `time-profile` or `cpu-profile`"
        );
        let lost = load(&table("time-profile", &ROWS.replace("<frame ref=\"14\"/>", "<frame ref=\"99\"/>")))
            .unwrap();
        assert_eq!(lost.meta.warnings[1], "1 element refers to one that is not in the file");
    }

    #[test]
    fn errors_say_the_line() {
        let error =
            load(&table("time-profile", &ROWS.replace("</backtrace>", "</frame>"))).unwrap_err().to_string();
        assert!(error.starts_with("xctrace: ") && error.contains("(line "), "{error}");
        let deep = table("time-profile", &"<frame>".repeat(100));
        assert_eq!(load(&deep).unwrap_err().to_string(), "xctrace: elements are nested too deeply (line 1)");
    }
}
