//! Names for code that a process compiled while it ran: maps and jitdumps next to a recording.

use std::fs;
use std::path::Path;

use crate::support::prof;

/// A recording of one event with process, thread and time, on the monotonic clock, on a machine called `host`.
struct Recording {
    records: Vec<u8>,
    host: String,
}

const PID: u32 = 4100;

/// Where the process has memory without a file.
const MEMORY: u64 = 0x7f00_0000;

impl Recording {
    fn new(host: &str) -> Recording {
        let mut recording = Recording { records: Vec::new(), host: host.to_string() };
        recording.map(MEMORY, 0x10000, 0x7000, "//anon");
        recording
    }

    fn record(&mut self, kind: u32, body: &[u8]) {
        const USER: u16 = 2;
        self.records.extend(kind.to_le_bytes());
        self.records.extend(USER.to_le_bytes());
        self.records.extend((8 + body.len() as u16).to_le_bytes());
        self.records.extend(body);
    }

    fn map(&mut self, start: u64, size: u64, offset: u64, path: &str) {
        let mut path = path.as_bytes().to_vec();
        path.resize((path.len() / 8 + 1) * 8, 0);
        self.record(1, &[&ids()[..], &longs(&[start, size, offset]), &path].concat());
    }

    fn sample(&mut self, time: u64, address: u64) {
        self.record(9, &[&longs(&[address])[..], &ids(), &longs(&[time])].concat());
    }

    fn bytes(&self) -> Vec<u8> {
        const FIELDS: u64 = 1 | 1 << 1 | 1 << 2; // address, process and thread, time
        const HAS_CLOCK: u64 = 1 << 25;
        const HOST: u64 = 1 << 3;
        let mut event = [&1_u32.to_le_bytes()[..], &96_u32.to_le_bytes()].concat();
        event.extend(longs(&[0, 1, FIELDS, 0, HAS_CLOCK, 0, 0, 0, 0, 0]));
        event.extend([0_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat()); // size of stacks, clock
        event.extend(longs(&[0, 0])); // ids
        let records_at = 104 + event.len() as u64;
        let size = self.records.len() as u64;
        let header = [
            &b"PERFILE2"[..],
            &longs(&[
                104,
                event.len() as u64,
                104,
                event.len() as u64,
                records_at,
                size,
                0,
                0,
                HOST,
                0,
                0,
                0,
            ]),
        ]
        .concat();
        let host_size = self.host.len() as u32 + 1;
        let host = [&host_size.to_le_bytes()[..], self.host.as_bytes(), &[0]].concat();
        let feature = longs(&[records_at + size + 16, host.len() as u64]);
        [header, event, self.records.clone(), feature, host].concat()
    }
}

fn ids() -> [u8; 8] {
    [PID.to_le_bytes(), PID.to_le_bytes()].concat().try_into().unwrap()
}

fn longs(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A jitdump of the process: functions with a time, a start, a size, a name.
fn dump(functions: &[(u64, u64, u64, &str)]) -> Vec<u8> {
    let mut bytes: Vec<u8> = [0x4A69_5444, 1, 40, 62, 0, PID, 0, 0, 0, 0]
        .iter()
        .flat_map(|field: &u32| field.to_le_bytes())
        .collect();
    for (index, &(time, start, size, name)) in functions.iter().enumerate() {
        let name = [name.as_bytes(), &[0]].concat();
        bytes.extend([0_u32.to_le_bytes(), (56 + name.len() as u32 + size as u32).to_le_bytes()].concat());
        bytes.extend(longs(&[time, 0, start, start, size, index as u64]));
        bytes.extend(name);
        bytes.extend(vec![0xC3; size as usize]);
    }
    bytes
}

/// The functions that ran, with their samples, and what is printed besides.
fn traces(folder: &Path, options: &[&str]) -> (String, String) {
    let output =
        prof(folder, &[&["convert", "--to", "collapsed", "-o", "-", "-m", "samples"], options].concat());
    let output = { output }.output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{errors}");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    // What the format cannot hold is beside the point.
    let errors = errors.lines().filter(|line| !line.contains("collapsed"));
    (lines.join("\n"), errors.collect())
}

fn recorded() -> Recording {
    let mut recording = Recording::new("build-7");
    for (time, address) in [(10, 0x100), (20, 0x100), (30, 0x100), (30, 0x8000)] {
        recording.sample(time, MEMORY + address);
    }
    recording
}

#[test]
fn a_jitdump_names_code_as_it_was_when_it_ran() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = recorded();
    recording.map(0x1000, 0x1000, 0, "/elsewhere/jit-4100.dump");
    // Maps come before samples in time, wherever they are in the file: they have none.
    fs::write(folder.path().join("perf.data"), recording.bytes()).unwrap();
    let [first, second] = [(15, MEMORY + 0xF0, 0x20, "JS:~add"), (25, MEMORY + 0x100, 8, "JS:*add")];
    fs::write(folder.path().join("jit-4100.dump"), dump(&[second, first])).unwrap();
    let (text, errors) = traces(folder.path(), &["--binary", ".", "perf.data"]);
    assert_eq!(text, "JS:*add 1\nJS:~add 1\n[anon] 2", "{errors}");
    // A map has no times, and a jitdump wins over it.
    fs::write(folder.path().join("perf-4100.map"), "7f008000 10 stub\n7f000100 10 LazyCompile:*add\n")
        .unwrap();
    let (text, _) = traces(folder.path(), &["--binary", ".", "perf.data"]);
    assert_eq!(text, "JS:*add 1\nJS:~add 1\nLazyCompile:*add 1\nstub 1");
    let (text, _) = traces(folder.path(), &["--binary", "perf-4100.map", "perf.data"]);
    assert_eq!(text, "LazyCompile:*add 3\nstub 1");
    let (text, errors) = traces(folder.path(), &["--symbolize", "never", "--binary", ".", "perf.data"]);
    assert_eq!((text.as_str(), errors.as_str()), ("[anon] 4", ""));
}

/// Ids of processes are used again, and the same on another machine.
#[test]
fn a_file_that_the_recording_names_has_to_be_of_the_recorded_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jit-4100.dump");
    let recording = |host: &str| {
        let mut recording = Recording { host: host.to_string(), ..recorded() };
        recording.map(0x1000, 0x1000, 0, path.to_str().unwrap());
        fs::write(folder.path().join("perf.data"), recording.bytes()).unwrap();
        traces(folder.path(), &["perf.data"])
    };
    fs::write(&path, dump(&[(0, MEMORY, 0x10000, "jitted")])).unwrap();
    let (text, errors) = recording("build-7");
    assert_eq!(text, "[anon] 4");
    let warning = format!("no names are taken from {}, which may be of another machine", path.display());
    assert!(errors.contains(&warning), "{errors}");
    let Ok(own) = fs::read_to_string("/proc/sys/kernel/hostname") else { return };
    assert_eq!(recording(own.trim()), ("jitted 4".to_string(), String::new()));
    // Written by another process.
    let mut other = fs::read(&path).unwrap();
    other[20] += 1;
    fs::write(&path, other).unwrap();
    let (text, errors) = recording(own.trim());
    assert_eq!(text, "[anon] 4");
    assert!(errors.contains("written by process 4101, which is not the recorded one"), "{errors}");
}

#[test]
fn perf_script_without_names_takes_them_from_the_map() {
    let folder = tempfile::tempdir().unwrap();
    let text = "java 9 1.000000: 1 cycles: \n\t 7f0010 [unknown] (/tmp/perf-4100.map)\n\t 7f0020 named (/tmp/perf-4100.map)\n\n\
                java 4100 1.000001: 1 cycles: \n\t 7f0030 [unknown] (//anon)\n\n\
                java 9 1.000002: 1 cycles: \n\t 7f0030 [unknown] (//anon)\n\n";
    fs::write(folder.path().join("perf.txt"), text).unwrap();
    fs::write(
        folder.path().join("perf-4100.map"),
        "7f0010 4 Lapp/Server;::handle->Lapp/Parser;::parse\n7f0020 4 other\n7f0030 4 stub\n",
    )
    .unwrap();
    let (text, _) = traces(folder.path(), &["--binary", ".", "perf.txt"]);
    assert_eq!(text, "[anon] 1\nnamed;Lapp/Server:::handle;Lapp/Parser:::parse 1\nstub 1");
}

/// Whatever stands where a process would have written, it is not waited for.
#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("jit-4100.dump");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("perf-4100.map")).unwrap();
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let mut recording = Recording { host: own.trim().to_string(), ..recorded() };
    recording.map(0x1000, 0x1000, 0, pipe.to_str().unwrap());
    fs::write(folder.path().join("perf.data"), recording.bytes()).unwrap();
    let (text, _) = traces(folder.path(), &["--binary", ".", "perf.data"]);
    assert_eq!(text, "[anon] 4");
}
