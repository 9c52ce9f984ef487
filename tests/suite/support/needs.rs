//! What a test may need that a machine need not have.

use std::path::{Path, PathBuf};

/// Something that is not part of the checkout. A test names what it needs with `#[needs(…)]`; where that is missing,
/// the runner counts the test as ignored. `.ci/run` lists what may be missing there, by these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The corpus of real profiles, a folder next to the checkout.
    Corpus,
    /// Recorded runs of the same program, to compare with one another.
    Runs,
    /// Recorded pairs of builds, before and after a change.
    Builds,
    /// Chromium, for the page and the scripts of pictures.
    Browser,
    /// `dot`.
    Graphviz,
    /// `callgrind_annotate`, a part of Valgrind.
    Valgrind,
    /// `jfr`, a part of the JDK.
    Jdk,
    /// `go`, whose programs serve profiles.
    Go,
    /// `openssl`, which makes certificates and serves files with them.
    Openssl,
    /// Node.js, which runs the scripts of the page without a browser.
    Node,
    /// `python3`.
    Python,
    /// `pip`, which installs Python packages.
    Pip,
    /// `npm`, which installs packages of Node.js.
    Npm,
    /// Python's client of the Model Context Protocol, in `target/tools/mcp-python`.
    McpPython,
    /// The client for Node.js, in `target/tools/mcp-node`.
    McpNode,
    /// Python with the package `duckdb`, in `target/tools/fleet-duckdb`.
    DuckDb,
    /// Python with the package `pyspark`, in `target/tools/fleet-spark`, and Java.
    Spark,
    /// `mdbook`, which makes the documentation site.
    Mdbook,
    /// `dpkg-shlibdeps`, which finds the packages that a Debian package depends on, and the programs that come with it.
    Dpkg,
    /// `strace`, which shows the sockets that a program opens.
    Strace,
    /// `script`, which runs a program in a terminal.
    Script,
    /// A user who cannot write everywhere, as root can.
    OrdinaryUser,
}

impl Need {
    /// Why a test with this need cannot run; `None` if it can.
    pub fn missing(self) -> Option<String> {
        let folder =
            |name: &str| (!shared(name).is_dir()).then(|| format!("there is no folder ../shared/{name}"));
        let any =
            |names: &[&str]| program(names).is_none().then(|| format!("there is no `{}` in PATH", names[0]));
        let tool = |path: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools").join(path);
            (!path.exists()).then(|| format!("there is no {}", path.display()))
        };
        let reason = match self {
            Need::Corpus => folder("corpus"),
            Need::Runs => folder("ab"),
            Need::Builds => folder("changes"),
            Need::Browser => any(&BROWSERS),
            Need::Graphviz => any(&["dot"]),
            Need::Valgrind => any(&["callgrind_annotate"]),
            Need::Jdk => any(&["jfr"]),
            Need::Go => any(&["go"]),
            Need::Openssl => any(&["openssl"]),
            Need::Node => any(&["node"]),
            Need::Python => any(&["python3"]),
            Need::Pip => any(&["pip3", "pip"]),
            Need::Npm => any(&["npm"]),
            Need::McpPython => tool("mcp-python/bin/python3"),
            Need::McpNode => tool("mcp-node/node_modules/@modelcontextprotocol/sdk"),
            Need::DuckDb => tool("fleet-duckdb/bin/python3"),
            Need::Spark => tool("fleet-spark/bin/python3").or_else(|| any(&["java"])),
            Need::Mdbook => any(&["mdbook"]),
            Need::Dpkg => any(&["dpkg-shlibdeps"]),
            Need::Strace => any(&["strace"]),
            Need::Script => any(&["script"]),
            Need::OrdinaryUser => {
                may_write_everywhere().then(|| "this user may write everywhere".to_string())
            }
        };
        reason.map(|reason| format!("needs {self:?}: {reason}"))
    }
}

/// A folder of recordings next to the checkout.
pub fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name)
}

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The path of the browser; a test that calls this is marked with `#[needs(Browser)]`.
pub fn browser() -> PathBuf {
    program(&BROWSERS).expect("the test is marked with #[needs(Browser)]")
}

/// The first of these programs that is in PATH.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let suffix = std::env::consts::EXE_SUFFIX;
    std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(format!("{name}{suffix}"))))
        .find(|program| program.is_file())
}

/// Whether this user may write into a folder without write permission.
#[cfg(unix)]
fn may_write_everywhere() -> bool {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    std::fs::write(folder.path().join("probe"), "").is_ok()
}

#[cfg(not(unix))]
fn may_write_everywhere() -> bool {
    false
}
