//! Code without a name.

/// Whether the name of a function, with its source file (empty if unknown), says only that the name is not known: an empty one, an
/// address, the binary that the code is in (`[libc.so.6]`), or what a profiler writes instead (`[unknown]`, `<name omitted>`).
/// In JavaScript, `[Symbol.iterator]` is a name; it has a file.
pub fn is_nameless(name: &str, file: &str) -> bool {
    let is_address =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    name.is_empty()
        || file.is_empty()
            && (name.starts_with('[') && !name.starts_with("[Symbol.")
                || name.starts_with('<') && name.ends_with("unknown>")
                || ["(unknown)", "<name omitted>"].contains(&name)
                || name.strip_prefix("0x").is_some_and(is_address))
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
