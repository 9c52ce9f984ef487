//! Generated inputs, which are the same in every run.

#![allow(dead_code, reason = "each bench uses some of it")]

use std::fmt::Write;

use prof::format::{Source, load, named};
use prof::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// Pseudo-random numbers (xorshift).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new() -> Self {
        Numbers(0x9E37_79B9_7F4A_7C15)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A callee of function `number`. There are few, so that stacks recur.
fn callee(number: usize, choice: usize) -> usize {
    (number * 3 + choice + 1) % 2_000
}

/// A stack of 1 to 30 functions, root first.
fn stack(numbers: &mut Numbers) -> Vec<usize> {
    let depth = 1 + numbers.below(30);
    let mut stack = vec![0];
    while stack.len() < depth {
        // The first callee takes most of the time, as it does in programs.
        let choice = [0, 0, 0, 0, 0, 0, 1, 2][numbers.below(8)];
        stack.push(callee(stack[stack.len() - 1], choice));
    }
    stack
}

fn name(number: usize) -> String {
    format!("company::module{}::Type{}::function_{number}", number % 40, number % 300)
}

/// Collapsed stacks of 12 functions, none of which occurs twice.
pub(crate) fn distinct(size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size + 1000);
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str("main");
        for depth in 0..11 {
            write!(text, ";{}", name(depth * 4 + (number >> (2 * depth)) % 4)).unwrap();
        }
        text.push_str(" 1\n");
    }
    text.into_bytes()
}

/// The same as a profile.
pub(crate) fn distinct_profile(size: usize) -> Profile {
    let mut source = Source::from_bytes(distinct(size));
    load(&mut source, LoadOptions::default(), named("collapsed")).unwrap()
}

/// A profile with the given number of samples.
pub(crate) fn profile(samples: usize) -> Profile {
    let mut builder = ProfileBuilder::new("generated", LoadOptions::ALL);
    builder.metric("samples", "count");
    builder.metric("cpu", "nanoseconds");
    let mut numbers = Numbers::new();
    for sample in 0..samples {
        let stack = stack(&mut numbers);
        let frames: Vec<FrameId> = stack.iter().map(|&number| builder.named_frame(&name(number))).collect();
        let stack = builder.stack(&frames);
        let cpu = 9_000_000 + numbers.below(2_000_000) as i64;
        builder.sample(stack, LabelSetId::default(), Some(sample as i64 * 10_000_000), &[1, cpu]);
    }
    builder.finish().unwrap()
}

/// A heap profile as gperftools writes it.
pub(crate) fn legacy_heap(size: usize) -> Vec<u8> {
    let mut numbers = Numbers::new();
    let mut text = "heap profile: 1: 8 [1: 8] @ heapprofile\n".to_string();
    while text.len() < size {
        let (objects, bytes) = (1 + numbers.below(9), 16 * (1 + numbers.below(999)));
        write!(text, "{objects}: {bytes} [{objects}: {bytes}] @").unwrap();
        for number in stack(&mut numbers).iter().rev() {
            write!(text, " {:#x}", 0x40_0001 + number * 16).unwrap();
        }
        text.push('\n');
    }
    text.push_str("\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 77 /bin/server\n");
    text.into_bytes()
}

/// A speedscope profile with events.
pub(crate) fn evented(size: usize) -> Vec<u8> {
    let frames: Vec<String> = (0..2_000).map(|number| format!("{{\"name\":\"{}\"}}", name(number))).collect();
    let mut text = format!(
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{{\"frames\":[{}]}},\
         \"profiles\":[{{\"type\":\"evented\",\"name\":\"main\",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":0,\"events\":[",
        frames.join(",")
    );
    let mut event = |kind: char, frame: usize, at: usize| {
        write!(text, "{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}},").unwrap();
        text.len()
    };
    spans_of(size, |kind, function, at| event(if kind == 'B' { 'O' } else { 'C' }, function, at));
    text.pop();
    text.push_str("]}]}");
    text.into_bytes()
}

/// A Chrome trace with begin and end events.
pub(crate) fn spans(size: usize) -> Vec<u8> {
    let mut text = "{\"traceEvents\":[".to_string();
    spans_of(size, |kind, function, at| {
        let name = name(function);
        write!(
            text,
            "{{\"ph\":\"{kind}\",\"name\":\"{name}\",\"ts\":{at},\"pid\":1,\"tid\":1,\"cat\":\"x\"}},"
        )
        .unwrap();
        text.len()
    });
    text.pop();
    text.push_str("]}");
    text.into_bytes()
}

/// Generates events (`B`egin or `E`nd, function, time) that go from stack to stack, until `event` returns that `size` is
/// reached.
fn spans_of(size: usize, mut event: impl FnMut(char, usize, usize) -> usize) {
    let (mut numbers, mut open, mut at) = (Numbers::new(), Vec::new(), 0);
    let mut written = 0;
    while written < size {
        let next = stack(&mut numbers);
        let same = open.iter().zip(&next).take_while(|(a, b)| a == b).count();
        for function in open.drain(same..).rev() {
            at += 1;
            event('E', function, at);
        }
        for &function in &next[same..] {
            at += 1 + numbers.below(50);
            written = event('B', function, at);
        }
        open = next;
    }
    for function in open.into_iter().rev() {
        at += 1;
        event('E', function, at);
    }
}

/// A stackprof profile recorded with `raw: true`.
pub(crate) fn stackprof(size: usize) -> Vec<u8> {
    let mut numbers = Numbers::new();
    let frames: Vec<String> = (0..2_000)
        .map(|number| {
            format!("\"{number}\":{{\"name\":\"{}\",\"file\":\"/srv/a.rb\",\"line\":{number}}}", name(number))
        })
        .collect();
    let mut text =
        format!("{{\"mode\":\"wall\",\"interval\":1000,\"frames\":{{{}}},\"raw\":[", frames.join(","));
    while text.len() < size {
        let stack = stack(&mut numbers);
        write!(text, "{},", stack.len()).unwrap();
        for function in stack {
            write!(text, "{function},").unwrap();
        }
        text.push_str("1,");
    }
    text.pop();
    text.push_str("]}");
    text.into_bytes()
}

/// The output of DTrace's `@[ustack()] = count()`.
pub(crate) fn dtrace(size: usize) -> Vec<u8> {
    let mut numbers = Numbers::new();
    let mut text = "CPU     ID                    FUNCTION:NAME\n\n".to_string();
    while text.len() < size {
        for number in stack(&mut numbers).into_iter().rev() {
            writeln!(text, "              server`{}+{:#x}", name(number), number * 4).unwrap();
        }
        writeln!(text, "              {:>5}\n", 1 + numbers.below(9)).unwrap();
    }
    text.into_bytes()
}

/// A method trace of Android in which four threads enter and leave methods: version 3, with two clocks.
pub(crate) fn art_trace(size: usize) -> Vec<u8> {
    let mut text = String::from("*version\n3\ndata-file-overflow=false\nclock=dual\n*threads\n");
    (1..=4).for_each(|thread| writeln!(text, "{thread}\tpool-{thread}").unwrap());
    text.push_str("*methods\n");
    for method in 0..2_000 {
        writeln!(text, "{:#x}\tcompany.module{}.Type{method}\trun\t()V\tType.java", method * 4, method % 40)
            .unwrap();
    }
    text.push_str("*end\n");
    let mut bytes = text.into_bytes();
    bytes.extend(b"SLOW\x03\0\x20\0");
    bytes.extend([0; 8]);
    bytes.extend(14_u16.to_le_bytes());
    bytes.extend([0; 14]);
    let (mut numbers, mut stacks, mut clock) = (Numbers::new(), vec![Vec::<usize>::new(); 4], 0_u32);
    while bytes.len() < size {
        let thread = numbers.below(4);
        // A thread records some calls before another one does.
        for _ in 0..=numbers.below(20) {
            let stack = &mut stacks[thread];
            let enters = stack.is_empty() || stack.len() < 30 && numbers.below(2) == 0;
            let (method, action) = if enters {
                let choice = [0, 0, 0, 0, 0, 0, 1, 2][numbers.below(8)];
                stack.push(stack.last().map_or(0, |&caller| callee(caller, choice)));
                (stack[stack.len() - 1], 0)
            } else {
                (stack.pop().unwrap(), 1)
            };
            clock += numbers.below(3) as u32;
            bytes.extend((thread as u16 + 1).to_le_bytes());
            bytes.extend(((method as u32 * 4) | action).to_le_bytes());
            bytes.extend((clock / 4).to_le_bytes());
            bytes.extend(clock.to_le_bytes());
        }
    }
    bytes
}

/// A recording of austin in its binary format: each function is defined where it is needed first.
pub(crate) fn mojo(size: usize) -> Vec<u8> {
    fn number(out: &mut Vec<u8>, mut number: usize) {
        let first = (number & 0x3F) as u8;
        number >>= 6;
        out.push(first | if number > 0 { 0x80 } else { 0 });
        while number > 0 {
            let byte = (number & 0x7F) as u8;
            number >>= 7;
            out.push(byte | if number > 0 { 0x80 } else { 0 });
        }
    }
    let mut bytes = b"MOJ\x03\x01mode\0wall\0".to_vec();
    let (mut numbers, mut known) = (Numbers::new(), vec![false; 2_000]);
    while bytes.len() < size {
        bytes.push(2);
        number(&mut bytes, 8374);
        number(&mut bytes, 0);
        bytes.extend(format!("{:x}\0", 0x20B6 + numbers.below(4)).bytes());
        let stack = stack(&mut numbers);
        for &function in &stack {
            let key = function + 2;
            if !std::mem::replace(&mut known[function], true) {
                bytes.push(11);
                number(&mut bytes, key);
                bytes.extend(format!("{}\0", name(function)).bytes());
                bytes.push(3);
                // The file has no name.
                for part in [key, 0, key, 7, 0, 0, 0] {
                    number(&mut bytes, part);
                }
            }
            bytes.push(5);
            number(&mut bytes, key);
        }
        bytes.push(9);
        number(&mut bytes, 10_000 + numbers.below(500));
    }
    bytes.extend(b"\x01duration\x0010000000\0");
    bytes
}
