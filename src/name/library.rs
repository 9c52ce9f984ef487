//! Which functions belong to libraries rather than to the program that was profiled.

use super::nameless::is_nameless;
use super::package::package;

/// Whether a function belongs to a library, a language's runtime or no code at all, judging by its name and
/// its source file (empty if unknown). If neither tells, the function is assumed to belong to the program.
pub fn is_library(function: &str, file: &str) -> bool {
    let is_no_code =
        is_nameless(function, file) || (function.starts_with('(') && !function.starts_with("(anonymous"));
    let is_of_library = || {
        is_library_file(file)
            || is_python_module(file)
            || is_of_go(file)
            || is_header_of_libstdcxx(file)
            || is_in_library_package(function, file)
    };
    is_no_code || !is_main_of_go(function, file) && is_of_library()
}

/// Whether a function is in the package that makes a Go program, wherever that was downloaded to.
fn is_main_of_go(function: &str, file: &str) -> bool {
    function.starts_with("main.") && file.rsplit_once('.').is_some_and(|(_, ending)| ending == "go")
}

/// Whether a file comes with Go: `/usr/local/go/src/internal/bytealg/compare_amd64.s`, whose functions have no package. Programs were
/// in a folder with such a name, too: `/home/me/go/src/github.com/me/shop/main.go`.
fn is_of_go(file: &str) -> bool {
    let within = file.split_once("/go/src/").map(|(_, within)| within.split('/').next().unwrap_or(within));
    within.is_some_and(|first| GO.contains(&first))
}

/// Whether a file is a header of GCC's C++ library, as Valgrind writes it: `new_allocator.h`, without the folder. Its names of inlined
/// functions lack `std::`, too. Names that a program may use itself, such as `allocator.h`, are not listed.
fn is_header_of_libstdcxx(file: &str) -> bool {
    const HEADERS: [&str; 15] = [
        "alloc_traits.h",
        "allocated_ptr.h",
        "basic_string.h",
        "basic_string.tcc",
        "char_traits.h",
        "deque.tcc",
        "hashtable_policy.h",
        "list.tcc",
        "new_allocator.h",
        "shared_ptr_base.h",
        "std_function.h",
        "std_mutex.h",
        "std_thread.h",
        "unique_ptr.h",
        "vector.tcc",
    ];
    let is_header = |name: &str| name.rsplit_once('.').is_some_and(|(_, ending)| ending == "h");
    HEADERS.contains(&file) || file.strip_prefix("stl_").is_some_and(is_header)
}

/// Whether a function comes with its language: the standard library of Go, Rust, Python and others, and the modules of
/// Node.js. Packages that the program chose to use do not.
pub fn is_standard_library(function: &str, file: &str) -> bool {
    let is_installed =
        ["/site-packages/", "/dist-packages/", "node_modules/", "/pkg/mod/", "/vendor/", "/gems/"]
            .iter()
            .any(|folder| file.contains(folder));
    let comes_with = ["/rustc/", "/lib/python", "/usr/include/", "/usr/lib/", "/usr/local/go/src/"];
    let is_standard_file = file.starts_with("node:")
        || file.starts_with("<frozen ")
        || comes_with.iter().any(|folder| file.contains(folder));
    // Go itself may be installed by a package manager, too.
    is_of_go(file)
        || is_header_of_libstdcxx(file)
        || !is_installed
            && (is_standard_file || is_python_module(file) || is_in_library_package(function, file))
}

/// Whether a function is built into Python: `<built-in method builtins.min>`, `<method 'append' of 'list' objects>`.
pub(crate) fn is_built_in(function: &str) -> bool {
    let function = function.trim_start_matches(['<', '{']);
    function.starts_with("built-in ") || function.starts_with("method '")
}

/// Whether a binary is the kernel, one of its modules, or a library of the operating system.
pub fn is_system_binary(path: &str) -> bool {
    let is_library = [".so", ".dylib", ".framework/"].iter().any(|part| path.contains(part));
    let folders = ["/lib", "/usr/lib", "/System/Library/"];
    // Code that a compiler makes while the program runs has no file: `[anon:v8]`.
    let memory = ["[unknown", "[anon", "[heap", "[stack", "[JIT"];
    path.starts_with('[') && !memory.iter().any(|start| path.starts_with(start))
        || is_library && folders.iter().any(|folder| path.starts_with(folder))
        || path.to_ascii_lowercase().starts_with("c:\\windows\\")
}

/// Whether a file is a module of Python's standard library, as samplers write it: `json/encoder.py`, without the folder.
fn is_python_module(file: &str) -> bool {
    let Some(path) = file.strip_suffix(".py") else { return false };
    PYTHON.contains(&path.split('/').next().unwrap_or(path))
}

/// Modules of Python's standard library that profiles often show.
const PYTHON: [&str; 87] = [
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "bisect",
    "calendar",
    "cmd",
    "codecs",
    "collections",
    "colorsys",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "ctypes",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "email",
    "enum",
    "fnmatch",
    "fractions",
    "functools",
    "genericpath",
    "gettext",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "json",
    "linecache",
    "locale",
    "logging",
    "mimetypes",
    "multiprocessing",
    "numbers",
    "operator",
    "optparse",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "plistlib",
    "posixpath",
    "pprint",
    "queue",
    "random",
    "re",
    "reprlib",
    "runpy",
    "selectors",
    "shelve",
    "shlex",
    "shutil",
    "socket",
    "socketserver",
    "sqlite3",
    "sre_compile",
    "sre_parse",
    "ssl",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "tokenize",
    "traceback",
    "typing",
    "unittest",
    "urllib",
    "uuid",
    "weakref",
    "xml",
    "zipfile",
];

/// Folders in which package managers and systems install libraries.
const FOLDERS: [&str; 12] = [
    "/pkg/mod/",
    "/vendor/",
    "/rustc/",
    "/rust/deps/",
    "/.cargo/registry/",
    "/node_modules/",
    "/site-packages/",
    "/dist-packages/",
    "/lib/python",
    "/gems/",
    "/usr/include/",
    "/usr/lib/",
];

fn is_library_file(file: &str) -> bool {
    file.starts_with("node:")
        || file.starts_with("<frozen ")
        || file.starts_with("node_modules/")
        || FOLDERS.iter().any(|folder| file.contains(folder))
}

/// Packages that come with Go. They include the packages below them: `encoding` includes `encoding/gob`. Only slashes lead
/// there: `io.netty` is a package in Java.
const GO: [&str; 48] = [
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "unicode",
    "unique",
    "unsafe",
    "vendor",
    "weak",
];

/// Packages that come with other languages, with the packages below them: `java` includes `java.util`.
const PACKAGES: [&str; 16] = [
    // Rust and C++
    "alloc",
    "core",
    "std",
    "__gnu_cxx", // Java and its siblings
    "java",
    "javax",
    "jdk",
    "sun",
    "com.sun",
    "scala",
    "kotlin",
    "clojure",
    "groovy", // .NET
    "System",
    "Microsoft",
    "node",
];

/// Only Go's own functions are in its packages: `text`, `image` and `math` are also good names for a namespace in C++, a module in
/// Python or a crate.
fn is_in_library_package(function: &str, file: &str) -> bool {
    let may_be_go = !function.contains("::")
        && (file.is_empty() || [".go", ".s", "<autogenerated>"].iter().any(|end| file.ends_with(end)));
    package(function, file).is_some_and(|package| is_library_package(&package, may_be_go))
}

fn is_library_package(package: &str, may_be_go: bool) -> bool {
    let is_within = |library: &str, separators: &[char]| {
        package.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with(separators))
    };
    may_be_go && GO.iter().any(|library| is_within(library, &['/']))
        || PACKAGES.iter().any(|library| is_within(library, &['/', '.', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_and_its_libraries_belong_to_the_system() {
        for path in [
            "[kernel.kallsyms]",
            "[vdso]",
            "/usr/lib/x86_64-linux-gnu/libc.so.6",
            "/lib64/ld-linux-x86-64.so.2",
            "/System/Library/Frameworks/Foundation.framework/Foundation",
            "C:\\Windows\\System32\\ntdll.dll",
        ] {
            assert!(is_system_binary(path), "{path}");
        }
        for path in
            ["", "[unknown]", "/srv/app/server", "/usr/lib/postgresql/bin/postgres", "/srv/app/libshop.so"]
        {
            assert!(!is_system_binary(path), "{path}");
        }
    }

    #[test]
    fn headers_of_the_library_of_c_plus_plus_have_no_folder_in_valgrind() {
        for file in ["new_allocator.h", "stl_vector.h", "basic_string.tcc"] {
            assert!(is_library("allocate", file) && is_standard_library("allocate", file), "{file}");
        }
        for file in ["allocator.h", "src/new_allocator.h", "stl_files.cpp"] {
            assert!(!is_library("allocate", file), "{file}");
        }
    }

    #[test]
    fn modules_of_python_are_libraries_however_a_sampler_writes_their_files() {
        for file in ["json/decoder.py", "random.py", "/usr/lib/python3.11/json/decoder.py"] {
            assert!(is_library("decode", file), "{file}");
        }
        for file in ["app/json/decoder.py", "shop.py", "json/decoder.js"] {
            assert!(!is_library("decode", file), "{file}");
        }
    }

    #[test]
    fn installed_packages_are_no_standard_library() {
        for (function, file) in [
            ("net/http.(*conn).serve", ""),
            ("<alloc::vec::Vec<T>>::push", ""),
            ("dumps", "/usr/lib/python3.11/json/__init__.py"),
            ("_iterencode", "json/encoder.py"),
            ("emit", "node:events"),
            ("container/heap.Pop", "/opt/lib/python3.11/site-packages/go/src/container/heap/heap.go"),
        ] {
            assert!(is_standard_library(function, file), "{function}");
        }
        for (function, file) in [
            ("get", "/usr/lib/python3/dist-packages/requests/api.py"),
            ("handle", "/srv/node_modules/express/lib/router.js"),
            ("shop.Place", "/srv/shop.go"),
            ("gauss", "/srv/shop/random.py"),
            ("io.netty.channel.Channel.read", "Channel.java"),
            ("io.prometheus.jmx.JmxScraper.doScrape", ""),
            ("place", ""),
        ] {
            assert!(!is_standard_library(function, file), "{function}");
        }
    }

    #[test]
    fn libraries() {
        for (function, file) in [
            ("runtime.mallocgc", ""),
            ("sync.(*Mutex).Unlock", ""),
            ("encoding/gob.(*Decoder).Decode", ""),
            ("net/http.(*conn).serve", ""),
            ("cmpbody", "/usr/local/go/src/internal/bytealg/compare_amd64.s"),
            ("github.com/lib/pq.Open", "/home/me/go/src/github.com/me/shop/vendor/github.com/lib/pq/conn.go"),
            (
                "github.com/dgraph-io/badger/v4.(*DB).View",
                "/root/go/pkg/mod/github.com/dgraph-io/badger/v4/db.go",
            ),
            ("core::ptr::drop_in_place::<alloc::string::String>", ""),
            ("std::vector<int>::push_back", ""),
            ("java/util/HashMap.put", ""),
            ("run", "/usr/lib/python3.11/threading.py"),
            ("emit", "node:events"),
            ("handle", "/srv/node_modules/express/lib/router.js"),
            ("System.Threading!Thread.Run", ""),
            ("(root)", ""),
            ("[libc.so.6]", ""),
        ] {
            assert!(is_library(function, file), "{function} {file}");
        }
        for (function, file) in [
            ("main.main", ""),
            ("main.busyLoop", "/home/me/go/src/shop/main.go"),
            ("github.com/me/shop.Place", "/home/me/go/src/github.com/me/shop/place.go"),
            ("main.run", "/root/go/pkg/mod/example.com/tool@v1.0.0/main.go"),
            ("example.com/shop/orders.(*Ledger).Place", "/srv/shop/orders/orders.go"),
            ("github.com/me/sync.Do", ""),
            ("shop::orders::place", ""),
            ("com/shop/Orders.place", ""),
            ("place", "/srv/shop/orders.py"),
            ("waysToPay", "file:///srv/app.mjs"),
            ("(anonymous)", "file:///srv/app.mjs"),
            ("place", ""),
        ] {
            assert!(!is_library(function, file), "{function} {file}");
        }
    }

    #[test]
    fn packages_of_go_are_those_of_go_only() {
        for (function, file) in
            [("text/template.(*state).walk", ""), ("image.Decode", "/usr/local/go/src/image/format.go")]
        {
            assert!(is_library(function, file), "{function}");
        }
        for (function, file) in [
            ("text::index(std::string const&)", "/srv/app/main.cpp"),
            ("<image::Pixel as core::ops::Add>::add", ""),
            ("text::index(char const*)", ""),
            ("load", "image/load.py"),
        ] {
            assert!(!is_library(function, file), "{function}");
            assert!(!is_standard_library(function, file), "{function}");
        }
    }
}
