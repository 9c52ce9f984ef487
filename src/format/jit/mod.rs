//! Names for the code that processes compiled while they ran.

mod code;
mod dump;

use std::rc::Rc;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

pub use code::{JitCode, JitError};

use crate::format::jit::code::JitPlace;
use crate::format::{RecordedFiles, Source};
use crate::name::{base_name, demangle};
use crate::profile::{Frame, FrameId, MappingId, ProfileBuilder};

/// The frames at an address, innermost first: several if calls were inlined.
pub(super) type JitFrames = Rc<[FrameId]>;

/// Looks up names of compiled code in the files of its processes.
#[derive(Default)]
pub(super) struct JitNames {
    files: Option<Arc<dyn RecordedFiles>>,
    /// The machine that was recorded; empty if unknown.
    host: String,
    maps: HashMap<u32, Option<JitCode>>,
    dumps: HashMap<u32, Vec<JitCode>>,
    /// The jitdumps that were looked for.
    seen: HashSet<(u32, String)>,
    /// The frames of an address, by the process, the address, and the numbers of the file and of the function.
    known: HashMap<(u32, u64, usize, usize), JitFrames>,
}

impl JitNames {
    /// Names from the files that belong to an input.
    pub(super) fn of(source: &Source) -> JitNames {
        JitNames { files: source.files(), ..JitNames::default() }
    }

    /// Sets the name of the recorded machine.
    pub(super) fn set_host(&mut self, host: &str) {
        self.host = host.to_string();
    }

    /// Process `pid` writes its jitdump to `path`.
    pub(super) fn dump(&mut self, pid: u32, path: &str) {
        let Some(files) = &self.files else { return };
        if is_dump(path) && self.seen.insert((pid, path.to_string())) {
            let found = files.jit_dump(path, pid, &self.host);
            self.dumps.entry(pid).or_default().extend(found);
        }
    }

    /// The frames at `address` of process `pid`, if it compiled that code before `time`, which is of the monotonic clock. A
    /// jitdump knows more than a map.
    pub(super) fn frames(
        &mut self,
        builder: &mut ProfileBuilder,
        pid: u32,
        mapping: MappingId,
        address: u64,
        time: Option<u64>,
    ) -> Option<JitFrames> {
        let (files, host) = (self.files.as_ref()?, &self.host);
        let map = self.maps.entry(pid).or_insert_with(|| files.perf_map(pid, host));
        let map = map.iter_mut().map(|code| (usize::MAX, code));
        let dumps = self.dumps.get_mut(&pid).into_iter().flatten().enumerate();
        for (number, code) in dumps.chain(map) {
            let Some(place) = code.at(address, time) else { continue };
            let key = (pid, address, number, place.number);
            let frames = self.known.entry(key).or_insert_with(|| made(builder, mapping, address, &place));
            return Some(Rc::clone(frames));
        }
        None
    }
}

fn made(builder: &mut ProfileBuilder, mapping: MappingId, address: u64, place: &JitPlace<'_>) -> JitFrames {
    if let Some((name, file)) = python_function(place.name) {
        let function = builder.named_function(name, file);
        return [builder.frame(Frame { function, line: place.line, address, mapping, inlined: false })]
            .into();
    }
    let mut frames: Vec<FrameId> = Vec::new();
    for (depth, name) in java_calls(place.name).into_iter().enumerate() {
        let function = builder.named_function(&demangle(name), place.file);
        let inlined = depth > 0;
        frames.push(builder.frame(Frame { function, line: place.line, address, mapping, inlined }));
    }
    frames.reverse();
    frames.into()
}

/// Whether a mapping is memory without a file, where compiled code is.
pub(super) fn is_anonymous(file: &[u8]) -> bool {
    let starts: [&[u8]; 6] = [b"//anon", b"/anon_hugepage", b"/dev/zero", b"[anon", b"/memfd:", b"[heap]"];
    starts.iter().any(|start| file.starts_with(start)) || map_pid(file).is_some()
}

/// The process of `/tmp/perf-PID.map`, which is what `perf script` calls memory without a file.
pub(super) fn map_pid(file: &[u8]) -> Option<u32> {
    let name = file.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let pid = name.strip_prefix(b"perf-")?.strip_suffix(b".map")?;
    std::str::from_utf8(pid).ok()?.parse().ok()
}

/// Whether a file is called `jit-PID.dump`, as jitdumps are.
fn is_dump(path: &str) -> bool {
    let name = base_name(path);
    let pid = name.strip_prefix("jit-").and_then(|name| name.strip_suffix(".dump"));
    pid.is_some_and(|pid| pid.parse::<u32>().is_ok())
}

/// Splits `py::Cart.total:/srv/shop/cart.py`, the name of CPython's trampoline for a function (`python -X perf`), into the
/// function and its file.
pub(super) fn python_function(name: &str) -> Option<(&str, &str)> {
    let (function, file) = name.strip_prefix("py::")?.split_once(':')?;
    // Not a function of C++ in a namespace that is called `py`: `py::detail::get(int)`.
    let is_name = !function.is_empty() && !function.contains(['(', ' ']) && !file.starts_with(':');
    (is_name && !file.is_empty()).then_some((function, file))
}

/// Splits `Lapp/Server;::handle->Lapp/Parser;::parse` into its calls, outermost first: perf-map-agent writes methods that were
/// inlined into each other as one symbol. Other uses of the arrow, such as V8's `String*String->String` and C++'s `operator->`,
/// are not split.
pub(super) fn java_calls(name: &str) -> Vec<&str> {
    let is_method = |part: &&str| {
        let is_part = |c: char| c.is_alphanumeric() || "_$/;:.<>-".contains(c);
        // `LoadIC:None` is a kind of code, but `Lapp/Server;::handle` is a class and its method.
        !part.is_empty() && part.chars().all(is_part) && !part.replace("::", "").contains(':')
    };
    let parts: Vec<&str> = name.split("->").collect();
    if parts.iter().all(is_method) { parts } else { vec![name] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trampolines_of_python_name_their_file() {
        for (name, expected) in [
            ("py::axpy:/tmp/x/hot.py", Some(("axpy", "/tmp/x/hot.py"))),
            ("py::Cart.f.<locals>.<lambda>:/a b/cart.py", Some(("Cart.f.<locals>.<lambda>", "/a b/cart.py"))),
            ("py::<module>:<frozen runpy>", Some(("<module>", "<frozen runpy>"))),
            ("py::handle::inc_ref", None),
            ("py::get(std::string)", None),
            ("py::work", None),
            ("work:/tmp/x.py", None),
        ] {
            assert_eq!(python_function(name), expected, "{name}");
        }
    }
}
