//! Code without a name.

/// Whether the name of a function, with its source file (empty if unknown), says only that the name is not known: an empty one, an
/// address, the binary that the code is in (`[libc.so.6]`), or what a profiler writes instead (`[unknown]`, `<name omitted>`).
///
/// Other names in brackets are names: `[Symbol.iterator]`, and what Hermes writes for itself. So are names that only begin with one:
/// `[[` of R, and the functions of Android's linker, such as `[linker]strncmp`.
pub fn is_nameless(name: &str, file: &str) -> bool {
    let is_address =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    name.is_empty()
        || file.is_empty()
            && (is_placeholder(name)
                || name.starts_with('<') && name.ends_with("unknown>")
                || ["(unknown)", "<name omitted>"].contains(&name)
                || name.strip_prefix("0x").is_some_and(is_address))
}

/// Names in brackets that stand for something that has no other name.
const NAMED: &[&str] = &["[Symbol.", "[GC ", "[root]"];

fn is_placeholder(name: &str) -> bool {
    let inner = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    // Async-profiler puts the thread above its stacks: `[main tid=9219]`.
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(" tid="))
        && !NAMED.iter().any(|named| name.starts_with(named))
}

#[cfg(test)]
mod tests {
    use super::is_nameless;

    #[test]
    fn names_that_stand_for_none() {
        for name in [
            "",
            "[libc.so]",
            "[unknown]",
            "<unknown>",
            "<redacted, unknown>",
            "0x7f3a",
            "(unknown)",
            "<name omitted>",
        ] {
            assert!(is_nameless(name, ""), "{name}");
        }
        for (name, file) in [
            ("main", ""),
            ("[Symbol.iterator]", ""),
            ("[linker]strncmp", ""),
            ("[", ""),
            ("[[", ""),
            ("[.data.frame", ""),
            ("[GC Young Gen]", ""),
            ("[root]", ""),
            ("[kFlush]", "file:///srv/app.mjs"),
            ("<lambda>", ""),
            ("0x", ""),
            ("0xcafe_babe", ""),
            ("(anonymous)", "app.js"),
            ("(idle)", ""),
        ] {
            assert!(!is_nameless(name, file), "{name}");
        }
    }
}
