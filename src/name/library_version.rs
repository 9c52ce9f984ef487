//! Which version of a library a source file belongs to.

/// The library in whose folder a source file lies, and the version in the name of that folder. `None` if no folder has a
/// version.
///
/// | who unpacked it | file | library and version |
/// |---|---|---|
/// | Cargo | `/root/.cargo/registry/src/index.crates.io-6f17d22b/serde_json-1.0.128/src/de.rs` | `serde_json`, `1.0.128` |
/// | Go | `/go/pkg/mod/golang.org/x/crypto@v0.31.0/sha3/sha3.go` | `crypto`, `v0.31.0` |
/// | pnpm | `node_modules/.pnpm/marked@4.3.0/node_modules/marked/lib/marked.cjs` | `marked`, `4.3.0` |
/// | RubyGems | `/usr/lib/ruby/gems/3.1.0/gems/rack-2.2.8/lib/rack.rb` | `rack`, `2.2.8` |
pub fn library_version(file: &str) -> Option<(&str, &str)> {
    let (folders, _) = file.rsplit_once(['/', '\\'])?;
    folders.rsplit(['/', '\\']).find_map(split_version)
}

/// `rack-2.2.8` → `rack` and `2.2.8`.
fn split_version(folder: &str) -> Option<(&str, &str)> {
    let marks = folder.match_indices(['@', '-']).map(|(at, _)| at);
    let (library, version) = marks
        .map(|at| (&folder[..at], &folder[at + 1..]))
        .find(|(library, version)| !library.is_empty() && is_version(version))?;
    // pnpm adds what a package was installed with: `react-dom@18.2.0_react@18.2.0`.
    let version = version.split(['_', '(']).next().unwrap_or(version);
    // The compiler of Go comes as a module. What it brings along is no library of the program.
    (library != "toolchain").then_some((library, version))
}

/// Whether a text starts with two numbers at least: `1.0.128`, `v0.31.0`, `2.0-rc.1`.
fn is_version(text: &str) -> bool {
    let after_number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(digits)
    };
    let text = text.strip_prefix('v').unwrap_or(text);
    let rest = after_number(text).and_then(|digits| text[digits..].strip_prefix('.'));
    rest.and_then(after_number).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_package_managers_have_versions() {
        let of = |file| library_version(file).map(|(library, version)| format!("{library} {version}"));
        let cases = [
            (
                "/r/registry/src/index.crates.io-6f17d22bba15001f/serde_json-1.0.128/src/de.rs",
                "serde_json 1.0.128",
            ),
            (
                "/r/registry/src/index.crates.io-6f17d22bba15001f/rand-0.9.0-beta.1/src/lib.rs",
                "rand 0.9.0-beta.1",
            ),
            ("/go/pkg/mod/golang.org/x/crypto@v0.31.0/sha3/sha3.go", "crypto v0.31.0"),
            ("golang.org/x/crypto@v0.31.0/sha3/sha3.go", "crypto v0.31.0"),
            (
                "file:///app/node_modules/.pnpm/@babel+core@7.24.1/node_modules/@babel/core/lib/index.js",
                "@babel+core 7.24.1",
            ),
            (
                "/app/node_modules/.pnpm/react-dom@18.2.0_react@18.2.0/node_modules/react-dom/cjs/a.js",
                "react-dom 18.2.0",
            ),
            ("/usr/lib/ruby/gems/3.1.0/gems/rack-2.2.8/lib/rack.rb", "rack 2.2.8"),
            (
                r"C:\Users\me\.cargo\registry\src\index.crates.io-1949cf8c\regex-1.10.2\src\exec.rs",
                "regex 1.10.2",
            ),
        ];
        for (file, expected) in cases {
            assert_eq!(of(file).as_deref(), Some(expected), "{file}");
        }
    }

    #[test]
    fn other_files_have_none() {
        let files = [
            "",
            "app-1.2.js",
            "src/main.rs",
            "node:internal/fs",
            "/usr/lib/python3.11/json/encoder.py",
            "/usr/lib/jvm/java-17-openjdk-amd64/lib/A.java",
            "/root/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22.3.linux-amd64/src/runtime/malloc.go",
            "/app/node_modules/@scope/pkg/index.js",
        ];
        for file in files {
            assert_eq!(library_version(file), None, "{file}");
        }
    }
}
