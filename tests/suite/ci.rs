//! The GitHub action, the GitLab template, and the workflows that `prof diff --init` writes: they are valid YAML, and
//! their shell steps are run as the CI server would run them.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;
use yaml_rust2::{Yaml, YamlLoader};

use crate::support::{fixture, prof};

/// Builds that do the same, and a build in which `hash` costs eight times as much.
const OLD: &str = "main;read 5003\nmain;print 6007\nmain;sort 7013\nmain;find 8009\nmain;hash 1009\n";
const SAME: &str = "main;read 5011\nmain;print 5993\nmain;sort 7013\nmain;find 8009\nmain;hash 1009\n";
const DEARER: &str = "main;read 5003\nmain;print 6007\nmain;sort 7013\nmain;find 8009\nmain;hash 8000\n";

/// A file of this repository, parsed.
fn yaml(file: &str) -> Yaml {
    yaml_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
}

fn yaml_at(path: &Path) -> Yaml {
    let mut documents = documents(path);
    assert_eq!(documents.len(), 1, "{}", path.display());
    documents.remove(0)
}

fn documents(path: &Path) -> Vec<Yaml> {
    let text = fs::read_to_string(path).unwrap();
    YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", path.display()))
}

/// The job of the GitLab component. `inputs` are those that differ from the defaults in its first document; as in
/// GitLab, they are put into the text of the second one.
fn gitlab_job(inputs: &[(&str, &str)]) -> Yaml {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/prof-diff.yml");
    let declared = documents(&path)[0]["spec"]["inputs"].clone();
    let text = fs::read_to_string(&path).unwrap();
    let (_, mut jobs) = text.split_once("\n---\n").map(|(head, jobs)| (head, jobs.to_string())).unwrap();
    for (name, input) in declared.as_hash().unwrap() {
        let name = name.as_str().unwrap();
        assert!(input["description"].as_str().is_some(), "{name}");
        let default = input["default"].as_str().unwrap_or_else(|| panic!("{name} has no default"));
        let given = inputs.iter().find(|(given, _)| *given == name).map_or(default, |(_, value)| value);
        let place = format!("$[[ inputs.{name} ]]");
        assert!(jobs.contains(&place), "{name} is not used");
        jobs = jobs.replace(&place, given);
    }
    assert!(!jobs.contains("$[["), "{jobs}");
    YamlLoader::load_from_str(&jobs).unwrap().remove(0)[".prof-diff"].clone()
}

/// Writes a shell script that can be started as a program.
fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The search path with a folder in front.
fn path_with(bin: &Path) -> String {
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

/// A folder with three runs of each side, in folders with these names.
fn folder(new: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (side, stacks) in [("old", OLD), ("new", new)] {
        fs::create_dir(folder.path().join(side)).unwrap();
        for run in 1..=3 {
            fs::write(folder.path().join(side).join(format!("{run}.folded")), stacks).unwrap();
        }
    }
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// Runs a step of the action like GitHub does. `inputs` are those that differ from the defaults in `action.yml`.
fn run_step(folder: &Path, name: &str, inputs: &[(&str, &str)]) -> Output {
    let action = yaml("action.yml");
    let steps = action["runs"]["steps"].as_vec().unwrap();
    let step = steps.iter().find(|step| step["name"].as_str() == Some(name)).unwrap();
    assert_eq!(step["shell"].as_str(), Some("bash"));
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
    bash.current_dir(folder).env("RUNNER_TEMP", folder).env_remove("PROF_PROFILE");
    for variable in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
        bash.env(variable, folder.join(variable));
    }
    for (variable, value) in step["env"].as_hash().into_iter().flatten() {
        let value = value.as_str().unwrap();
        let input = value.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}")).unwrap();
        let declared = &action["inputs"][input];
        assert!(!declared.is_badvalue(), "{input} is not an input");
        let given = inputs.iter().find(|(name, _)| *name == input).map(|(_, value)| *value);
        let value = given.or(declared["default"].as_str()).unwrap_or_else(|| panic!("{input} is required"));
        bash.env(variable.as_str().unwrap(), value);
    }
    bash.output().unwrap()
}

fn compare(folder: &Path, inputs: &[(&str, &str)]) -> Output {
    let usual = [("old", "old"), ("new", "new"), ("prof", env!("CARGO_BIN_EXE_prof"))];
    let inputs: Vec<(&str, &str)> = inputs.iter().copied().chain(usual).collect();
    run_step(folder, "Compare", &inputs)
}

#[test]
fn the_action_passes_what_did_not_change() {
    let folder = folder(SAME);
    let output = compare(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stdout).contains("::error"), "{}", text(&output.stdout));
    let comment = folder.path().join("prof-diff.md");
    let outputs = format!("exit-code=0\ncomment={}\n", comment.display());
    assert_eq!(read(folder.path(), "GITHUB_OUTPUT"), outputs);
    let summary = read(folder.path(), "GITHUB_STEP_SUMMARY");
    assert!(summary.starts_with("### ") && !summary.contains("regressed by"), "{summary}");
    assert_eq!(summary, fs::read_to_string(comment).unwrap());
}

#[test]
fn the_action_fails_for_a_regression_and_explains_it() {
    let folder = folder(DEARER);
    let output = compare(folder.path(), &[("comment", "comment.md")]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let annotations = text(&output.stdout);
    assert!(
        annotations.lines().any(|line| line.starts_with("::error") && line.contains("hash")),
        "{annotations}"
    );
    assert_eq!(read(folder.path(), "GITHUB_OUTPUT"), "exit-code=1\ncomment=comment.md\n");
    let summary = read(folder.path(), "GITHUB_STEP_SUMMARY");
    assert!(summary.contains("`hash`") && summary == read(folder.path(), "comment.md"), "{summary}");
}

#[test]
fn the_action_passes_on_options_patterns_and_budgets() {
    let folder = folder(SAME);
    fs::write(folder.path().join("limits.toml"), "[[budget]]\nfunction = \"hash\"\ntotal = \"1 %\"\n")
        .unwrap();
    let output = compare(folder.path(), &[("budget", "limits.toml")]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("total of `hash` is 3.7%25, limit 1%25"),
        "{}",
        text(&output.stdout)
    );

    // One pair of runs says too little, which is an error only with --strict.
    let pair = [("old", "old/1.*"), ("new", "new/1.*"), ("args", "--strict --detect 1.01")];
    let output = compare(folder.path(), &pair);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(read(folder.path(), "GITHUB_OUTPUT").contains("exit-code=3\ncomment="));
}

#[test]
fn the_action_reports_profiles_that_cannot_be_compared() {
    let folder = folder(SAME);
    let output = compare(folder.path(), &[("new", "missing")]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("missing"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("::error title=prof diff::The profiles could not be compared"));
    assert_eq!(read(folder.path(), "GITHUB_OUTPUT"), "exit-code=2\n");
    assert_eq!(read(folder.path(), "GITHUB_STEP_SUMMARY"), "");
}

/// The first step puts `prof` where the second one looks for it.
#[test]
fn the_action_builds_prof_from_its_own_repository() {
    let folder = folder(SAME);
    let bin = folder.path().join("bin");
    program(&bin.join("rustup"), "true");
    // `cargo +stable install --locked --path . --root ROOT`
    let install = format!(
        "[ \"$2 $4\" = 'install --path' ] && [ -e \"$5/Cargo.toml\" ] && mkdir -p \"$7/bin\" && cp '{}' \"$7/bin/\"",
        env!("CARGO_BIN_EXE_prof")
    );
    program(&bin.join("cargo"), &install);
    let action = folder.path().join("action");
    fs::create_dir(&action).unwrap();
    fs::write(action.join("Cargo.toml"), "").unwrap();

    let parsed = yaml("action.yml");
    let build = &parsed["runs"]["steps"][0];
    assert_eq!(build["if"].as_str(), Some("inputs.prof == ''"));
    let output = Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", build["run"].as_str().unwrap()])
        .current_dir(folder.path())
        .env("PATH", path_with(&bin))
        .env("RUNNER_TEMP", folder.path())
        .env("GITHUB_ACTION_PATH", &action)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run_step(folder.path(), "Compare", &[("old", "old"), ("new", "new")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// Runs the script of the GitLab job with these inputs, and with its own variables and those in `given`.
fn run_job(folder: &Path, inputs: &[(&str, &str)], given: &[(&str, &str)]) -> Output {
    let job = gitlab_job(inputs);
    let script: Vec<&str> =
        job["script"].as_vec().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &script.join("\n")]).current_dir(folder).env_remove("PROF_PROFILE");
    for (variable, value) in job["variables"].as_hash().unwrap() {
        shell.env(variable.as_str().unwrap(), value.as_str().unwrap());
    }
    shell.envs(given.iter().copied()).output().unwrap()
}

#[test]
fn the_gitlab_job_leaves_a_test_report_and_a_comment() {
    for (new, code) in [(SAME, 0), (DEARER, 1)] {
        let folder = folder(new);
        let output = run_job(folder.path(), &[("prof", env!("CARGO_BIN_EXE_prof"))], &[]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        let job = gitlab_job(&[]);
        let artifacts = &job["artifacts"];
        let report = read(folder.path(), artifacts["reports"]["junit"].as_str().unwrap());
        assert!(report.contains("<testsuites "), "{report}");
        assert_eq!(report.contains("<failure"), code == 1, "{report}");
        let comment = read(folder.path(), artifacts["paths"][0].as_str().unwrap());
        assert!(comment.starts_with("### "), "{comment}");
    }
}

#[test]
fn the_gitlab_job_passes_on_options_and_fails_for_what_cannot_be_compared() {
    let folder = folder(SAME);
    let prof = ("PROF", env!("CARGO_BIN_EXE_prof"));
    fs::write(folder.path().join("limits.toml"), "[[budget]]\nfunction = \"hash\"\ntotal = \"1 %\"\n")
        .unwrap();
    let output = run_job(folder.path(), &[("budget", "limits.toml")], &[prof]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    // A job that extends it sets variables.
    let output = run_job(folder.path(), &[], &[prof, ("PROF_BUDGET", "limits.toml")]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let output = run_job(folder.path(), &[("old", "old/1.*"), ("args", "--min-points x")], &[prof]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--min-points"), "{}", text(&output.stderr));
}

/// Per kind of project: the file that shows it, a recording of that language, and the programs of which there are only
/// stand-ins in the test.
const PROJECTS: [(&str, &str, &str); 8] = [
    ("go.mod", "pprof/go-cpu.pb.gz", "go"),
    ("Cargo.toml", "perf-script/rust.perf.txt", "cargo perf apt-get"),
    ("pom.xml", "jfr/java.jfr", "mvn java"),
    ("build.gradle", "jfr/java.jfr", "./gradlew java"),
    ("build.gradle.kts", "jfr/java.jfr", "./gradlew java"),
    ("pyproject.toml", "collapsed/python.folded", "python3"),
    ("setup.py", "collapsed/python.folded", "python3"),
    ("package.json", "cpuprofile/node.cpuprofile", "node npm"),
];

/// A stand-in for all these programs. It builds what it is asked to build, and copies a recording to the path below
/// `profiles` that it is given.
const STAND_IN: &str = r#"
case "$*" in
    'test -c -o performance.test '*) cp "$0" performance.test ;;
    '-m venv .venv') mkdir -p .venv/bin && cp "$0" .venv/bin/pip && cp "$0" .venv/bin/py-spy ;;
    'bench --bench '*) $CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER benchmark ;;
    'script '*) cat "$RECORDING"; exit ;;
esac
folder=
for word in "$@"; do
    case $word in
        --cpu-prof-dir=*) folder=${word#*=} ;;
        --cpu-prof-name=*) cp "$RECORDING" "$folder/${word#*=}" ;;
        */profiles/*) cp "$RECORDING" "$(expr "$word" : '[^/]*\(/[^,]*\)')" ;;
    esac
done
"#;

/// A repository with a branch `main`, which is also that of its remote, and a project.
fn repository(file: &str, programs: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("repository");
    fs::create_dir(&root).unwrap();
    fs::write(root.join(file), "").unwrap();
    for name in programs.split(' ') {
        let place =
            if name.starts_with("./") { root.join(name) } else { folder.path().join("bin").join(name) };
        program(&place, STAND_IN);
    }
    let commands = "git init -q -b main && git remote add origin . && git add -A && \
                    git -c user.name=A -c user.email=a@example.com commit -qm Old && git fetch -q origin";
    let output = Command::new("sh").args(["-c", commands]).current_dir(&root).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder
}

/// Runs a script of a workflow with its variables, in the repository of `folder`.
fn run_script(folder: &Path, script: &str, variables: &Yaml, recording: &str) {
    let mut bash = Command::new("bash");
    bash.args(["-e", "-c", script]).current_dir(folder.join("repository"));
    for (name, value) in variables.as_hash().unwrap() {
        let value =
            value.as_i64().map_or_else(|| value.as_str().unwrap_or_default().to_string(), |n| n.to_string());
        bash.env(name.as_str().unwrap(), value);
    }
    bash.env("GITHUB_BASE_REF", "main").env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main");
    let output = bash
        .env("RECORDING", fixture(recording))
        .env("PATH", path_with(&folder.join("bin")))
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}\n{}", text(&output.stderr));
}

/// Checks that there are five recordings of each side, which can be compared with the budgets that were written.
fn check_recordings(root: &Path, file: &str) {
    for side in ["old", "new"] {
        let count = fs::read_dir(root.join("profiles").join(side)).unwrap().count();
        assert_eq!(count, 5, "{file} {side}");
    }
    let output =
        prof(root, &["diff", "profiles/old", "profiles/new", "--budget", "prof.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{file}: {}", text(&output.stderr));
    assert!(text(&output.stdout).contains("within budget: total of `.`"), "{file}: {}", text(&output.stdout));
}

#[test]
fn init_writes_a_github_workflow_that_records_both_sides() {
    for (file, recording, programs) in PROJECTS {
        let folder = repository(file, programs);
        let root = folder.path().join("repository");
        let output = prof(&root, &["diff", "--init"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let printed = text(&output.stdout);
        assert!(printed.starts_with(&format!("found {file}: ")), "{printed}");
        assert!(
            printed.contains("wrote prof.toml: ") && printed.contains("set BENCHMARK: the "),
            "{printed}"
        );

        let workflow = yaml_at(&root.join(".github/workflows/performance.yml"));
        let steps = workflow["jobs"]["compare"]["steps"].as_vec().unwrap();
        for name in ["Build both sides", "Record each side in turn"] {
            let step = steps.iter().find(|step| step["name"].as_str() == Some(name)).unwrap();
            run_script(folder.path(), step["run"].as_str().unwrap(), &workflow["env"], recording);
        }
        check_recordings(&root, file);
        // The inputs are those of the action.
        let compare = steps.iter().find(|step| step["id"].as_str() == Some("compare")).unwrap();
        let action = yaml("action.yml");
        for (input, _) in compare["with"].as_hash().unwrap() {
            assert!(!action["inputs"][input.as_str().unwrap()].is_badvalue(), "{input:?}");
        }
    }
}

#[test]
fn init_writes_a_gitlab_job_that_records_both_sides() {
    for (file, recording, programs) in PROJECTS {
        let folder = repository(file, programs);
        let root = folder.path().join("repository");
        fs::write(root.join(".gitlab-ci.yml"), "include: []\n").unwrap();
        let output = prof(&root, &["diff", "--init"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(
            text(&output.stdout).contains("- local: /.gitlab/performance.yml"),
            "{}",
            text(&output.stdout)
        );

        let jobs = yaml_at(&root.join(".gitlab/performance.yml"));
        let script = jobs["record"]["script"].as_vec().unwrap();
        let script: Vec<&str> = script.iter().map(|part| part.as_str().unwrap()).collect();
        run_script(folder.path(), &script.join("\n"), &jobs["record"]["variables"], recording);
        check_recordings(&root, file);
        // The variables are those of the component.
        let job = gitlab_job(&[]);
        for (variable, _) in jobs["performance"]["variables"].as_hash().unwrap() {
            let name = variable.as_str().unwrap();
            assert!(!job["variables"][name].is_badvalue(), "{name}");
        }
        assert!(!root.join(".github").exists());
    }
}

#[test]
fn init_says_which_folder_it_needs() {
    let folder = TempDir::new().unwrap();
    let output = prof(folder.path(), &["diff", "--init"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("this folder has none of go.mod, Cargo.toml") && error.contains("hint: "),
        "{error}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    // In a folder of a larger repository, nothing would start the workflow.
    let inner = folder.path().join("shop");
    for place in [&inner, &folder.path().join(".git")] {
        fs::create_dir(place).unwrap();
    }
    fs::write(inner.join("go.mod"), "module shop\n").unwrap();
    let output = prof(&inner, &["diff", "--init"]).output().unwrap();
    assert!(text(&output.stdout).contains("to the top folder of the repository"), "{}", text(&output.stdout));
    // Where there is no repository yet, this folder may become its top.
    fs::remove_dir(folder.path().join(".git")).unwrap();
    let output = prof(&inner, &["diff", "--init", "--force"]).output().unwrap();
    assert!(text(&output.stdout).contains("1. In .github/"), "{}", text(&output.stdout));
    // Options that do not apply are refused.
    let output = prof(folder.path(), &["diff", "--init", "--force", "old.pb.gz"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
