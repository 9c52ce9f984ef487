//! The kinds of projects that `prof diff --init` knows, and how to record each.

/// A kind of project, and the parts of a workflow that depend on it.
pub(super) struct Project {
    /// The language and the program that records it.
    pub(super) name: &'static str,
    /// The files that show that a folder holds such a project.
    pub(super) files: &'static [&'static str],
    /// What the variable `BENCHMARK` is, as a sentence.
    pub(super) what: &'static str,
    benchmark: &'static str,
    /// More variables of the workflow, as YAML.
    variables: &'static str,
    /// Steps that install what a runner of GitHub lacks, as YAML.
    setup: &'static str,
    /// The container image in GitLab, and the commands that install what it lacks.
    image: &'static str,
    install: &'static str,
    /// The commands that build one side, in its folder.
    build: &'static str,
    /// The commands that record one run into the file `$out`, in the folder of its side.
    record: &'static str,
    /// The extension of that file.
    extension: &'static str,
    /// A function, a metric and a limit for the examples in the budget file.
    function: &'static str,
    metric: &'static str,
    limit: &'static str,
}

impl Project {
    /// The marks in templates, and what replaces them.
    pub(super) fn parts(&self) -> [(&'static str, &'static str); 13] {
        [
            ("{name}", self.name),
            ("{what}", self.what),
            ("{benchmark}", self.benchmark),
            ("{variables}", self.variables),
            ("{setup}", self.setup),
            ("{image}", self.image),
            ("{install}", self.install),
            ("{build}", self.build),
            ("{record}", self.record),
            ("{extension}", self.extension),
            ("{function}", self.function),
            ("{metric}", self.metric),
            ("{limit}", self.limit),
        ]
    }
}

/// All kinds. The first one found in a folder wins: many projects in other languages have a `package.json` for their tools.
pub(super) const PROJECTS: [&Project; 6] = [&GO, &RUST, &MAVEN, &GRADLE, &PYTHON, &NODE];

const GO: Project = Project {
    name: "Go (profiles of its benchmarks)",
    files: &["go.mod"],
    what: "The folder of the package with the benchmarks.",
    benchmark: ".",
    variables: "",
    setup: "- uses: actions/setup-go@v5\n  with:\n    go-version-file: go.mod",
    image: "golang:latest",
    install: "go version",
    build: "go test -c -o performance.test \"./$BENCHMARK\"",
    record: "test=$PWD/performance.test\n\
             cd \"$BENCHMARK\"\n\
             \"$test\" -test.run '^$' -test.bench . -test.benchtime 10s -test.cpuprofile \"$out\"",
    extension: "pb.gz",
    function: "^encoding/json[.]",
    metric: "cpu",
    limit: "250 ms",
};

const RUST: Project = Project {
    name: "Rust (criterion, recorded by perf)",
    files: &["Cargo.toml"],
    what: "The name of the benchmark in Cargo.toml.",
    benchmark: "benchmark",
    variables: "# perf finds callers with it.\nRUSTFLAGS: -C force-frame-pointers=yes",
    setup: "- run: |\n    \
              sudo apt-get update\n    \
              sudo apt-get install -y linux-tools-common \"linux-tools-$(uname -r)\"\n    \
              sudo sysctl kernel.perf_event_paranoid=1",
    image: "rust:latest",
    // Debian's perf works with every kernel.
    install: "# The runner must allow perf in its containers.\napt-get update\napt-get install -y linux-perf",
    build: "cargo bench --no-run --bench \"$BENCHMARK\"",
    record: "# Cargo starts the benchmark with this command.\n\
             export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=\"perf record -q -e cpu-clock -F 499 -g -o $out.data --\"\n\
             cargo bench --bench \"$BENCHMARK\" -- --profile-time 10\n\
             perf script --no-inline -i \"$out.data\" > \"$out\"\n\
             rm \"$out.data\"",
    extension: "perf.txt",
    function: "^serde",
    metric: "cpu-clock",
    limit: "250 ms",
};

const MAVEN: Project = Project {
    name: "Java (recorded by Flight Recorder)",
    files: &["pom.xml"],
    what: "The program to run, as a .jar file.",
    benchmark: "target/benchmark.jar",
    variables: "",
    setup: "- uses: actions/setup-java@v4\n  with:\n    distribution: temurin\n    java-version: 21",
    image: "maven:latest",
    install: "mvn --version",
    build: "mvn --quiet --batch-mode -DskipTests package",
    record: "java -XX:StartFlightRecording=filename=\"$out\",settings=profile -jar \"$BENCHMARK\"",
    extension: "jfr",
    function: "^com[.]fasterxml[.]jackson",
    metric: "cpu",
    limit: "250 ms",
};

const GRADLE: Project = Project {
    files: &["build.gradle", "build.gradle.kts"],
    benchmark: "build/libs/benchmark.jar",
    image: "gradle:latest",
    install: "java -version",
    build: "./gradlew --quiet assemble",
    ..MAVEN
};

const PYTHON: Project = Project {
    name: "Python (recorded by py-spy)",
    files: &["pyproject.toml", "setup.py"],
    what: "The script to run.",
    benchmark: "benchmark.py",
    variables: "",
    setup: "- uses: actions/setup-python@v5\n  with:\n    python-version: 3.x",
    image: "python:latest",
    install: "python3 --version",
    build: "python3 -m venv .venv\n.venv/bin/pip install --quiet --editable . py-spy",
    record: ".venv/bin/py-spy record --function --rate 200 --format raw --output \"$out\" -- .venv/bin/python \"$BENCHMARK\"",
    extension: "folded",
    function: "file:json/",
    metric: "samples",
    limit: "250",
};

const NODE: Project = Project {
    name: "Node.js (recorded by its own profiler)",
    files: &["package.json"],
    what: "The script to run.",
    benchmark: "benchmark.js",
    variables: "",
    setup: "- uses: actions/setup-node@v4\n  with:\n    node-version: lts/*",
    image: "node:lts",
    install: "node --version",
    build: "if [ -e package-lock.json ]; then npm ci; else npm install; fi",
    record: "node --cpu-prof --cpu-prof-dir=\"$(dirname \"$out\")\" --cpu-prof-name=\"$(basename \"$out\")\" \"$BENCHMARK\"",
    extension: "cpuprofile",
    function: "file:node_modules/",
    metric: "cpu",
    limit: "250 ms",
};
