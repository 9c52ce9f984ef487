//! Disassembly: instructions compared with GNU objdump and LLVM, values with naive sums, and corrupt binaries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use prof::binary::{Address, Binary, DebugFiles, NoCode, code};
use prof::profile::Profile;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{fixture, load_well, prof};

/// Machines in the header of an ELF file.
const X86: u16 = 62;
const AARCH64: u16 = 183;
const RISCV: u16 = 243;

/// An ELF file with code at an address, and symbols of functions: name, address, size.
fn elf(machine: u16, address: u64, code: &[u8], symbols: &[(&str, u64, u64)]) -> Vec<u8> {
    let (mut names, mut table) = (vec![0], vec![0; 24]);
    for (name, value, size) in symbols {
        table.extend((names.len() as u32).to_le_bytes());
        // A global function in section 1.
        table.extend([0x12, 0, 1, 0]);
        table.extend(value.to_le_bytes());
        table.extend(size.to_le_bytes());
        names.extend(name.bytes().chain([0]));
    }
    let titles = b"\0.text\0.symtab\0.strtab\0";
    let [code_at, table_at] = [64, 64 + code.len()];
    let names_at = table_at + table.len();
    let titles_at = names_at + names.len();
    let headers_at = titles_at + titles.len();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([2, 0]);
    file.extend(machine.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    for number in [address, 0, headers_at as u64] {
        file.extend(number.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for number in [64_u16, 56, 0, 64, 5, 4] {
        file.extend(number.to_le_bytes());
    }
    file.extend([code, &table, &names, titles].concat());
    // Name, type, flags, address, offset, size, link, info, alignment, size of an entry.
    let sections: [[u64; 10]; 5] = [
        [0; 10],
        [1, 1, 6, address, code_at as u64, code.len() as u64, 0, 0, 16, 0],
        [7, 2, 0, 0, table_at as u64, table.len() as u64, 3, 1, 8, 24],
        [15, 3, 0, 0, names_at as u64, names.len() as u64, 0, 0, 1, 0],
        [15, 3, 0, 0, titles_at as u64, titles.len() as u64, 0, 0, 1, 0],
    ];
    for section in sections {
        for (number, value) in section.into_iter().enumerate() {
            // Four of the numbers have 32 bits.
            let size = if [0, 1, 6, 7].contains(&number) { 4 } else { 8 };
            file.extend(&value.to_le_bytes()[..size]);
        }
    }
    file
}

/// Each instruction of the functions at addresses: address, size, text.
fn instructions(file: &[u8], addresses: &[u64]) -> Result<Vec<(u64, u32, String)>, NoCode> {
    let binary = Binary::parse(file).unwrap();
    let addresses: Vec<Address> = addresses.iter().map(|&address| Address::Linked(address)).collect();
    let found = code(&binary, &DebugFiles::NONE, &addresses)?;
    let all = found.functions.into_iter().flat_map(|function| function.instructions);
    Ok(all.map(|instruction| (instruction.address, instruction.size, instruction.text)).collect())
}

#[test]
fn x86_code_is_written_in_at_and_t_syntax() {
    // What objdump 2.40 prints, apart from `0x` in front of addresses.
    let code = [
        0x55, 0x48, 0x89, 0xe5, 0xe8, 0x05, 0, 0, 0, 0x48, 0x8b, 0x45, 0xf8, 0x06, 0x8b, 0x05, 4, 0, 0, 0,
        0xc3,
    ];
    let file = elf(X86, 0x1000, &code, &[("first", 0x1000, 14), ("second", 0x100e, 7)]);
    let text = |address| -> Vec<(u64, u32, String)> { instructions(&file, &[address]).unwrap() };
    let expected = [
        (0x1000, 1, "push %rbp"),
        (0x1001, 3, "mov %rsp,%rbp"),
        (0x1004, 5, "call 0x100e <second>"),
        (0x1009, 4, "mov -0x8(%rbp),%rax"),
        (0x100d, 1, "(bad)"),
    ];
    assert_eq!(text(0x1004), expected.map(|(address, size, text)| (address, size, text.to_string())));
    let second = [(0x100e, 6, "mov 0x4(%rip),%eax # 0x1018"), (0x1014, 1, "ret")];
    assert_eq!(text(0x100e), second.map(|(address, size, text)| (address, size, text.to_string())));
}

#[test]
fn aarch64_code_has_absolute_targets() {
    // What llvm-objdump 14 prints for these words.
    let words: [u32; 7] =
        [0xf940_0b90, 0xeb10_023f, 0x5400_0049, 0x9400_0003, 0xd503_201f, 0xb000_0000, 0xd65f_03c0];
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let file = elf(AARCH64, 0x1000, &code, &[("first", 0x1000, 0x18), ("second", 0x1018, 4)]);
    let expected = [
        "ldr x16, [x28, #0x10]",
        "cmp x17, x16",
        "b.ls 0x1010",
        "bl 0x1018 <second>",
        "nop",
        "adrp x0, 0x2000",
        "ret",
    ];
    let found: Vec<String> =
        instructions(&file, &[0x1000, 0x1018]).unwrap().into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(found, expected);
}

#[test]
fn symbols_may_lie() {
    let code = [0x90; 32];
    let count = |symbols: &[(&str, u64, u64)], address| {
        instructions(&elf(X86, 0x1000, &code, symbols), &[address]).map(|found| found.len())
    };
    // A function ends with its section.
    assert_eq!(count(&[("f", 0x1000, 1 << 60)], 0x1001), Ok(32));
    assert_eq!(count(&[("f", 0x1010, u64::MAX)], 0x1010), Ok(16));
    // Without a size, at the next one.
    assert_eq!(count(&[("f", 0x1000, 0), ("g", 0x1008, 0)], 0x1004), Ok(8));
    // A function before its section has no code.
    assert!(count(&[("f", 0x10, 1 << 60)], 0x1001).is_err());
    assert_eq!(count(&[("f", 0x1000, 8)], 0x1009), Err(NoCode::NoSymbol));
    assert_eq!(count(&[("f", 0x1000, 8)], u64::MAX), Err(NoCode::NoSymbol));
    let riscv = elf(RISCV, 0x1000, &code, &[("f", 0x1000, 8)]);
    assert_eq!(instructions(&riscv, &[0x1000]), Err(NoCode::Architecture("Riscv64".to_string())));
    // The end of memory.
    let high = elf(X86, u64::MAX - 31, &code, &[("f", u64::MAX - 31, 1 << 40)]);
    assert!(instructions(&high, &[u64::MAX - 20]).is_ok());
    // A function of 3 MiB is cut.
    let long = elf(X86, 0x1000, &vec![0x90; 3 << 20], &[("f", 0x1000, 3 << 20)]);
    assert_eq!(instructions(&long, &[0x1000]).map(|found| found.len()), Ok(1 << 20));
}

#[test]
fn corrupt_binaries_are_no_danger() {
    let whole = fs::read(fixture("symbols/shapes")).unwrap();
    let addresses: Vec<Address> = (0..64).map(|number| Address::Linked(0x1000 + number * 64)).collect();
    let mut tried = 0;
    for step in 0..400_usize {
        let mut bytes = whole.clone();
        // Headers are at both ends of the file.
        let at = if step % 2 == 0 { step * 3 } else { whole.len() - 1 - step * 7 };
        bytes[at] ^= 1 << (step % 8);
        bytes[(at + 5) % whole.len()] = 0xff;
        if step % 5 == 0 {
            bytes.truncate(whole.len() / 400 * step);
        }
        if let Ok(binary) = Binary::parse(&*bytes) {
            tried += 1;
            let found = code(&binary, &DebugFiles::NONE, &addresses);
            let count = found.map_or(0, |code| code.functions.iter().map(|f| f.instructions.len()).sum());
            // Functions may overlap, but all of them together have at most 16 MiB.
            assert!(count <= 16 << 20, "{step}: {count}");
        }
    }
    assert!(tried > 100, "{tried}");
}

/// The report of `prof source --asm`, as JSON.
fn report(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["source", "--asm", "-f", "json"], arguments].concat();
    let output = prof(folder, &arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn address(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
}

/// Self and total of each address of a profile in the binary, where addresses are offsets in the file.
fn naive(profile: &Profile, metric: usize) -> BTreeMap<u64, (i64, i64)> {
    let mut values: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
    for (row, &stack) in profile.samples.stack.iter().enumerate() {
        let value = profile.samples.values[metric][row];
        let place = |frame| {
            let frame = profile.symbols.frames[frame];
            let mapping = profile.symbols.mappings[frame.mapping];
            frame.address - mapping.start + mapping.offset
        };
        let frames: Vec<u64> = profile.stacks.frames(stack).iter().map(|&frame| place(frame)).collect();
        values.entry(*frames.last().unwrap()).or_default().0 += value;
        let mut distinct = frames;
        distinct.sort_unstable();
        distinct.dedup();
        for address in distinct {
            values.entry(address).or_default().1 += value;
        }
    }
    values
}

#[test]
fn values_are_those_of_the_addresses() {
    let folder = fixture("symbols");
    let profile = load_well(&folder.join("sorting.pb.gz"));
    let metric = profile.meta.default_metric;
    let expected = naive(&profile, metric);
    let report = report(&folder, &["-F", "sort_some", "--binary", ".", "sorting.pb.gz"]);
    let [function] = &report["functions"].as_array().unwrap()[..] else { panic!("{report}") };
    let (start, end) = (address(&function["start"]), address(&function["end"]));
    let in_function: Vec<(u64, (i64, i64))> =
        expected.into_iter().filter(|(address, _)| (start..end).contains(address)).collect();
    assert_eq!(in_function.len(), 3);
    let lines = function["instructions"].as_array().unwrap();
    for (at, line) in lines.iter().enumerate() {
        let first = address(&line["address"]);
        let last = lines.get(at + 1).map_or(end, |next| address(&next["address"]));
        let of_line = in_function.iter().filter(|(address, _)| (first..last).contains(address));
        let own: i64 = of_line.clone().map(|(_, values)| values.0).sum();
        assert_eq!(line["self"], own, "{line}");
        // In this binary, no two calls have the same address, so that totals add up, too.
        let total: i64 = of_line.map(|(_, values)| values.1).sum();
        assert_eq!(line["total"], total, "{line}");
    }
    let all: i64 = in_function.iter().map(|(_, values)| values.0).sum();
    assert_eq!(function["self"], all);
    assert_eq!(function["total"], profile.meta.metrics[metric].total);
    assert!(function["cut"] == false && lines[0]["line"].is_u64());
}

#[test]
fn what_cannot_be_disassembled_says_what_to_do() {
    let folder = TempDir::new().unwrap();
    for file in [
        "pprof/go-cpu.pb.gz",
        "symbols/sorting.pb.gz",
        "symbols/sorting",
        "callgrind/c.callgrind",
        "collapsed/worked-1.folded",
    ] {
        fs::copy(fixture(file), folder.path().join(Path::new(file).file_name().unwrap())).unwrap();
    }
    for (arguments, message, hint) in [
        ("Discounted go-cpu.pb.gz", "is not found", "--binary PATH"),
        ("main c.callgrind", "callgrind records calls between functions", "without --asm"),
        ("foo1 worked-1.folded", "this collapsed profile has no addresses of foo1", "without --asm"),
        // The binary is stripped, and its debug information is not there.
        (". --binary sorting sorting.pb.gz", "it has no symbol at these addresses", "not stripped"),
        ("main --base sorting.pb.gz sorting.pb.gz", "--asm: ", "compares the lines"),
        ("nothing go-cpu.pb.gz", "nothing", ""),
    ] {
        let words: Vec<&str> = ["source", "--asm"].into_iter().chain(arguments.split(' ')).collect();
        let output = prof(folder.path(), &words).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(text.contains(message) && text.contains(hint), "{arguments}: {text}");
    }
}
