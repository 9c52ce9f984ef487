//! The constant pools of a chunk: stacks, methods, classes, threads and names, which events refer to by
//! id.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::jfr::class_name::{class_name, source_file};
use crate::format::jfr::cursor::{Cursor, PooledText};
use crate::format::jfr::metadata::{Class, Classes, FieldValue, Plan};
use crate::format::recent::Recent;

/// A frame of a stack, as ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RawFrame {
    pub(super) method: u64,
    pub(super) line: u32,
    /// The id of the frame type: interpreted, compiled, inlined, native.
    pub(super) kind: u32,
}

/// A stack: the places of its frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawStack {
    start: usize,
    end: usize,
    pub(super) is_truncated: bool,
}

impl RawStack {
    /// The places of its frames, leaf first.
    pub(super) fn places(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A method: the ids of its class and name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    class: u64,
    name: u64,
}

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct RawThread<'a> {
    os_name: PooledText<'a>,
    java_name: PooledText<'a>,
    pub(super) os_id: i64,
    pub(super) java_id: i64,
}

/// The pools of a chunk that samples refer to.
#[derive(Debug, Default)]
pub(super) struct Constants<'a> {
    /// The distinct frames.
    frames: Vec<RawFrame>,
    numbers: HashMap<RawFrame, u32>,
    recent: Recent<RawFrame, u32>,
    /// The frames of all stacks, by their numbers.
    stack_frames: Vec<u32>,
    stacks: HashMap<u64, RawStack>,
    methods: HashMap<u64, Method>,
    /// The id of the symbol that is the class name.
    classes: HashMap<u64, u64>,
    threads: HashMap<u64, RawThread<'a>>,
    symbols: Texts<'a>,
    frame_types: Texts<'a>,
    states: Texts<'a>,
    gc_causes: Texts<'a>,
    strings: Texts<'a>,
}

/// A pool of which only one string field is needed.
type Texts<'a> = HashMap<u64, PooledText<'a>>;

impl<'a> Constants<'a> {
    /// Reads the pools: a chain of events, each with the distance back to the previous one. If the chain is broken, as
    /// after some agents have removed events, all pools in the chunk are read.
    pub(super) fn read(
        chunk: &Cursor<'a>,
        classes: &Classes,
        header: usize,
        last: usize,
    ) -> Result<Self, ParseError> {
        match Constants::chain(chunk, classes, last) {
            Err(error) => Constants::scan(chunk, classes, header).map_err(|_| error),
            constants => constants,
        }
    }

    fn chain(chunk: &Cursor<'a>, classes: &Classes, last: usize) -> Result<Self, ParseError> {
        let mut constants = Constants::default();
        let mut offset = last;
        // The bytes from the previously read event to the end. The chain must go towards the start, so
        // that no event is read twice.
        let mut behind = 0;
        loop {
            let mut cursor = chunk.at(offset);
            let start = cursor.left();
            let mut event = cursor.event()?;
            if cursor.left() < behind {
                return Err(event.error("the constant pools do not form a chain going backwards"));
            }
            behind = start;
            if event.long()? != 1 {
                return Err(event.error("there is no constant pool at the offset given in the chunk header"));
            }
            let delta = distance_back(&mut event)?;
            event.byte()?; // kind
            constants.pools(&mut event, classes)?;
            if delta == 0 {
                break;
            }
            let before = i64::try_from(offset).ok().and_then(|offset| offset.checked_add(delta));
            offset = before
                .and_then(|before| usize::try_from(before).ok())
                .ok_or_else(|| event.error("a constant pool lies outside the chunk"))?;
        }
        Ok(constants)
    }

    fn scan(chunk: &Cursor<'a>, classes: &Classes, header: usize) -> Result<Self, ParseError> {
        let mut constants = Constants::default();
        let mut cursor = chunk.at(header);
        while !cursor.is_at_end() {
            let mut event = cursor.event()?;
            if event.long()? != 1 {
                continue;
            }
            distance_back(&mut event)?;
            // Such agents may also have left out the byte with the kind of the event.
            let mut with_kind = event.clone();
            with_kind.byte()?;
            if skips_pools(&mut with_kind.clone(), classes) {
                event = with_kind;
            }
            constants.pools(&mut event, classes)?;
        }
        Ok(constants)
    }

    fn pools(&mut self, event: &mut Cursor<'a>, classes: &Classes) -> Result<(), ParseError> {
        for _ in 0..event.count()? {
            let class = event.long()?;
            self.pool(event, classes, class)?;
        }
        Ok(())
    }

    /// Reads the constants of the class with id `id`.
    pub(super) fn pool(
        &mut self,
        event: &mut Cursor<'a>,
        classes: &Classes,
        id: i64,
    ) -> Result<(), ParseError> {
        let Some(class) = classes.get(id) else {
            return Err(event.error(format!("constants of undeclared class {id}")));
        };
        let count = event.count()?;
        match class.name.as_str() {
            "jdk.types.StackTrace" => self.stacks(event, classes, class, count),
            "jdk.types.Method" => {
                let plan = class.plan(&["type", "name"]);
                for _ in 0..count {
                    let key = class.read_key(event)?;
                    let [class, name] = classes.numbers(event, class, &plan, true)?;
                    self.methods.insert(key, Method { class: class as u64, name: name as u64 });
                }
                Ok(())
            }
            "java.lang.Class" => {
                let plan = class.plan(&["name"]);
                for _ in 0..count {
                    let key = class.read_key(event)?;
                    let [name] = classes.numbers(event, class, &plan, true)?;
                    self.classes.insert(key, name as u64);
                }
                Ok(())
            }
            "java.lang.Thread" => {
                let wanted = &["osName", "javaName", "osThreadId", "javaThreadId"];
                each(event, classes, class, count, wanted, |key, [os_name, java_name, os_id, java_id]| {
                    let (os_id, java_id) = (os_id.number(), java_id.number());
                    let (os_name, java_name) = (text(os_name), text(java_name));
                    self.threads.insert(key, RawThread { os_name, java_name, os_id, java_id });
                })
            }
            "java.lang.String" => {
                for _ in 0..count {
                    self.strings.insert(event.long()? as u64, event.text()?);
                }
                Ok(())
            }
            "jdk.types.Symbol" => texts(event, classes, class, count, "string", &mut self.symbols),
            "jdk.types.FrameType" => {
                texts(event, classes, class, count, "description", &mut self.frame_types)
            }
            "jdk.types.GCCause" => texts(event, classes, class, count, "cause", &mut self.gc_causes),
            "jdk.types.ThreadState" => texts(event, classes, class, count, "name", &mut self.states),
            _ => each(event, classes, class, count, &[], |_, []| {}),
        }
    }

    fn stacks(
        &mut self,
        event: &mut Cursor<'a>,
        classes: &Classes,
        class: &Class,
        count: usize,
    ) -> Result<(), ParseError> {
        let frames = class.field("frames").and_then(|(index, id)| Some((index, classes.get(id)?)));
        let Some((frames_at, frame)) = frames else {
            return Err(event.error("the stack trace class has no frames"));
        };
        let plan = frame.plan(&["method", "lineNumber", "type"]);
        let truncated_at = class.field("truncated").map(|(index, _)| index);
        for _ in 0..count {
            let key = class.read_key(event)?;
            let start = self.stack_frames.len();
            let mut is_truncated = false;
            for (index, field) in class.fields.iter().enumerate() {
                if index == frames_at {
                    self.frames(event, classes, frame, &plan)?;
                } else if Some(index) == truncated_at {
                    is_truncated = event.byte()? != 0;
                } else {
                    classes.skip(event, field)?;
                }
            }
            self.stacks.insert(key, RawStack { start, end: self.stack_frames.len(), is_truncated });
        }
        Ok(())
    }

    fn frames(
        &mut self,
        event: &mut Cursor<'a>,
        classes: &Classes,
        frame: &Class,
        plan: &Plan<3>,
    ) -> Result<(), ParseError> {
        if frame.fields.is_empty() {
            return Err(event.error("the stack frame class has no fields"));
        }
        for _ in 0..event.count()? {
            let [method, line, kind] = classes.numbers(event, frame, plan, true)?;
            let frame = RawFrame {
                method: method as u64,
                // Native code has no line numbers; some recorders write −1.
                line: u32::try_from(line).unwrap_or(0),
                kind: kind as u32,
            };
            let number = self.frame_number(frame);
            self.stack_frames.push(number);
        }
        Ok(())
    }

    /// The number of a frame: stacks have few that are distinct.
    fn frame_number(&mut self, frame: RawFrame) -> u32 {
        let key = frame.method ^ u64::from(frame.line) << 32 ^ u64::from(frame.kind) << 56;
        if let Some(number) = self.recent.get(key, frame) {
            return number;
        }
        let number = *self.numbers.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            (self.frames.len() - 1) as u32
        });
        self.recent.set(key, frame, number);
        number
    }

    pub(super) fn stack(&self, key: u64) -> Option<RawStack> {
        self.stacks.get(&key).copied()
    }

    /// The number of the frame at a place of a stack.
    pub(super) fn frame_at(&self, place: usize) -> u32 {
        self.stack_frames[place]
    }

    /// The frame with a number.
    pub(super) fn raw_frame(&self, number: u32) -> RawFrame {
        self.frames[number as usize]
    }

    /// The class and name of a method, and the likely source file of its class; empty if unknown.
    pub(super) fn method(&self, key: u64) -> (Cow<'_, str>, &str, String) {
        let Some(method) = self.methods.get(&key) else { return Default::default() };
        let file = source_file(self.class_symbol(method.class));
        (self.class(method.class), self.named(&self.symbols, method.name), file)
    }

    /// The name of a class as in Java source, see [`class_name`].
    pub(super) fn class(&self, key: u64) -> Cow<'_, str> {
        class_name(self.class_symbol(key))
    }

    /// The name of a class as recorded.
    fn class_symbol(&self, key: u64) -> &str {
        self.classes.get(&key).map_or("", |&name| self.named(&self.symbols, name))
    }

    pub(super) fn is_inlined(&self, kind: u32) -> bool {
        self.named(&self.frame_types, kind.into()) == "Inlined"
    }

    /// The id of the thread state called `name`.
    pub(super) fn state_called(&self, name: &str) -> Option<u64> {
        self.states.iter().filter(|(_, text)| text.here() == name).map(|(&key, _)| key).min()
    }

    pub(super) fn state(&self, key: u64) -> &str {
        self.named(&self.states, key)
    }

    /// Why garbage was collected; empty if unknown.
    pub(super) fn gc_cause(&self, key: u64) -> &str {
        self.named(&self.gc_causes, key)
    }

    pub(super) fn thread(&self, key: u64) -> Option<&RawThread<'a>> {
        self.threads.get(&key)
    }

    /// The Java name of a thread, or its operating system name if it has none.
    pub(super) fn thread_name<'t>(&'t self, thread: &'t RawThread<'a>) -> &'t str {
        let java = self.text(&thread.java_name);
        if java.is_empty() { self.text(&thread.os_name) } else { java }
    }

    fn named<'t>(&'t self, pool: &'t Texts<'a>, key: u64) -> &'t str {
        pool.get(&key).map_or("", |text| self.text(text))
    }

    /// The string of a field. A reference is followed only once, because pooled strings are never references.
    pub(super) fn text<'t>(&'t self, text: &'t PooledText<'a>) -> &'t str {
        match text {
            PooledText::Pooled(key) => self.strings.get(key).map_or("", PooledText::here),
            here => here.here(),
        }
    }
}

/// Reads the start of an event that contains pools, up to the distance to the previous one.
fn distance_back(event: &mut Cursor<'_>) -> Result<i64, ParseError> {
    event.long()?; // start
    event.long()?; // duration
    event.long()
}

/// Whether the event consists of well-formed pools from here to its end.
fn skips_pools(event: &mut Cursor<'_>, classes: &Classes) -> bool {
    let mut skip = || {
        for _ in 0..event.count()? {
            let id = event.long()?;
            let class = classes.get(id).ok_or_else(|| event.error("undeclared class"))?;
            let count = event.count()?;
            each(event, classes, class, count, &[], |_, []| {})?;
        }
        Ok::<_, ParseError>(event.is_at_end())
    };
    skip().unwrap_or(false)
}

/// Reads the constants of one class, and calls `take` with the wanted fields of each.
fn each<'a, const N: usize>(
    event: &mut Cursor<'a>,
    classes: &Classes,
    class: &Class,
    count: usize,
    wanted: &[&str; N],
    mut take: impl FnMut(u64, [FieldValue<'a>; N]),
) -> Result<(), ParseError> {
    let plan = class.plan(wanted);
    for _ in 0..count {
        let key = class.read_key(event)?;
        take(key, classes.read(event, class, &plan, true)?);
    }
    Ok(())
}

/// Reads constants of which only the string in `field` is needed.
fn texts<'a>(
    event: &mut Cursor<'a>,
    classes: &Classes,
    class: &Class,
    count: usize,
    field: &str,
    pool: &mut Texts<'a>,
) -> Result<(), ParseError> {
    each(event, classes, class, count, &[field], |key, [value]| {
        pool.insert(key, text(value));
    })
}

fn text(value: FieldValue<'_>) -> PooledText<'_> {
    if let FieldValue::Text(text) = value { text } else { PooledText::Null }
}
