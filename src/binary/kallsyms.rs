//! The kernel's list of its own symbols, as in `/proc/kallsyms`.
//!
//! ```text
//! ffffffff81000000 T _text
//! ffffffff816bab70 T vfs_read
//! ffffffffa0001000 t init_queue [virtio]
//! ```

/// The functions of a kernel, sorted by address.
#[derive(Debug)]
pub struct KernelSymbols<'t> {
    functions: Vec<(u64, &'t str)>,
}

impl<'t> KernelSymbols<'t> {
    /// Reads a list; `None` if it has no addresses, which the kernel hides from other users than root.
    pub fn parse(text: &'t str) -> Option<Self> {
        Self::of(text.lines())
    }

    /// The functions of a module, such as `virtio`. The modules of another boot are elsewhere.
    pub fn of_module(text: &'t str, module: &str) -> Option<Self> {
        let end = format!("[{module}]");
        Self::of(text.lines().filter(|line| line.ends_with(&end)))
    }

    fn of(lines: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut functions: Vec<(u64, u8, &str)> = lines.filter_map(line).collect();
        functions.sort_by_key(|&(address, rank, name)| (address, rank, underscores(name)));
        functions.dedup_by_key(|function| function.0);
        let functions: Vec<(u64, &str)> =
            functions.into_iter().map(|(address, _, name)| (address, name)).collect();
        let has_addresses = functions.last().is_some_and(|&(address, _)| address != 0);
        has_addresses.then_some(KernelSymbols { functions })
    }

    /// The name of the function at `address`.
    pub fn at(&self, address: u64) -> Option<&'t str> {
        let place = self.functions.partition_point(|&(start, _)| start <= address).checked_sub(1)?;
        // The end of the last function is not known.
        (place + 1 < self.functions.len() || self.functions[place].0 == address)
            .then(|| self.functions[place].1)
    }
}

/// The address of `_text` or `_stext`, where the code of the kernel starts.
pub fn kernel_start(text: &str) -> Option<u64> {
    let find = |wanted: &str| {
        let found = text.lines().find(|line| line.split(' ').nth(2) == Some(wanted))?;
        u64::from_str_radix(found.split(' ').next()?, 16).ok()
    };
    find("_text").or_else(|| find("_stext"))
}

/// The address of a function, how little it is preferred to others at the same address, and its name.
fn line(line: &str) -> Option<(u64, u8, &str)> {
    let mut words = line.split([' ', '\t']);
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let rank = match kind {
        "T" => 0,
        "t" => 1,
        "W" | "w" => 2,
        _ => return None,
    };
    Some((u64::from_str_radix(address, 16).ok()?, rank, name))
}

fn underscores(name: &str) -> usize {
    name.len() - name.trim_start_matches('_').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_reach_to_the_next_one() {
        let text = "0000000000001000 T _text\n0000000000001000 T _stext\n0000000000001100 t __do_read\n\
            0000000000001100 T vfs_read\n0000000000001180 D a_table\n0000000000001200 W weak\n\
            0000000000009000 t init_queue\t[virtio]\n";
        let symbols = KernelSymbols::parse(text).unwrap();
        assert_eq!(kernel_start(text), Some(0x1000));
        let at = |address| symbols.at(address);
        assert_eq!([at(0xFFF), at(0x1000), at(0x11FF)], [None, Some("_text"), Some("vfs_read")]);
        assert_eq!([at(0x1200), at(0x9000), at(0x9001)], [Some("weak"), Some("init_queue"), None]);
        let module = KernelSymbols::of_module(text, "virtio").unwrap();
        assert_eq!([module.at(0x9000), module.at(0x1100)], [Some("init_queue"), None]);
        assert!(KernelSymbols::of_module(text, "io").is_none());
        assert!(KernelSymbols::parse("0000000000000000 T _text\n0000000000000000 T vfs_read\n").is_none());
    }
}
