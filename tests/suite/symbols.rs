//! Names for addresses: against what `addr2line` says, and on binaries that are broken.

use std::process::{Command, Stdio};
use std::{fs, io::Write};

use prof::binary::{Address, Binary, Place, functions};

/// What `addr2line -afi` says of each address, innermost first, with names as the linker has them.
fn addr2line(binary: &str, addresses: &[u64]) -> Option<Vec<Vec<(String, String)>>> {
    let mut child = Command::new("addr2line")
        .args(["-a", "-f", "-i", "-e", binary])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let input: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let mut stdin = child.stdin.take()?;
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().ok()?;
    feed.join().unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found: Vec<Vec<(String, String)>> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            found.push(Vec::new());
        } else {
            let place = lines.next().unwrap_or_default();
            let place = place.split(" (discriminator").next().unwrap_or_default();
            found.last_mut()?.push((line.to_string(), place.to_string()));
        }
    }
    Some(found)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

#[test]
fn names_are_those_of_addr2line() {
    let path = std::env::var("X").unwrap_or(env!("CARGO_BIN_EXE_prof").to_string());
    let bytes = fs::read(&path).unwrap();
    let binary = Binary::parse(&bytes[..]).unwrap();
    use object::{Object, ObjectSection};
    let file = object::File::parse(&bytes[..]).unwrap();
    let text = file.section_by_name(".text").unwrap();
    let n = std::env::var("N").map_or(3000, |n| n.parse().unwrap());
    let addresses: Vec<u64> = (0..n).map(|i| text.address() + text.size() / n * i).collect();
    let t = std::time::Instant::now();
    let linked: Vec<Address> = addresses.iter().map(|&a| Address::Linked(a)).collect();
    let found = functions(&binary, None, None, &linked);
    eprintln!("prof {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let theirs = addr2line(&path, &addresses).unwrap();
    eprintln!("addr2line {:?}", t.elapsed());
    let (mut same, mut empty, mut starts, mut frames) = (0, 0, 0, 0);
    for ((address, ours), theirs) in addresses.iter().zip(&found).zip(&theirs) {
        let show = |p: &Place| (p.function.clone(), format!("{}:{}", base(&p.file), p.line));
        let a: Vec<_> = ours.iter().map(show).collect();
        let b: Vec<_> = theirs.iter().map(|(f, p)| (prof::name::demangle(f).into_owned(), base(p).replace(":?", ":0").replace("??", "").to_string())).collect();
        empty += usize::from(a.is_empty());
        frames += a.len();
        starts += ours.iter().filter(|p| p.start_line > 0).count();
        if a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.1 == b.1 || a.1 == ":0") && (a.len() == 1 && a[0].0.ends_with(&b[0].0) || a.len() == 1 && b[0].0.contains(&a[0].0) || a.len() > 1) && (a.len() < 3 || a[1..a.len() - 1].iter().zip(&b[1..]).all(|(a, b)| a.0 == b.0)) { same += 1 } else if !(a.is_empty() && b[0].0 == "??") { println!("{address:x}\n  {a:?}\n  {b:?}"); } else { same += 1 }
    }
    println!("same {same} of {} empty {empty} start lines {starts} of {frames}", addresses.len());
}
