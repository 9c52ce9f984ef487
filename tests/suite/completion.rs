//! Shell completion.

use std::process::Command;

/// The completions offered for the word at `index`.
fn offered(shell: &str, index: usize, words: &[&str]) -> Vec<String> {
    offered_on(shell, index, words, "")
}

/// Like [`offered`], for a shell that passes the words before the cursor, and the whole line as `line`.
fn offered_on(shell: &str, index: usize, words: &[&str], line: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_prof"))
        .arg("--")
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("PROF_PROFILE")
        .env("PROF_COMPLETE", shell)
        .env("PROF_COMPLETE_WORDS", line)
        .env("_CLAP_COMPLETE_INDEX", index.to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

const HEAP: &str = "fixtures/pprof/go-heap.pb.gz";
const CPU: &str = "fixtures/pprof/go-cpu.pb.gz";

#[test]
fn commands_and_files() {
    assert_eq!(offered("bash", 1, &["prof", "to"]), ["top"]);
    // An alias is completed when typed, but not offered otherwise.
    assert_eq!(offered("bash", 1, &["prof", "flam"]), ["flame"]);
    assert_eq!(offered("bash", 1, &["prof", "sandw"]), ["sandwich"]);
    assert_eq!(offered("bash", 1, &["prof", "REA"]), ["README.md"]);
}

#[test]
fn metrics_and_labels_of_the_profile() {
    let metrics = offered("bash", 3, &["prof", "top", "-m", "in", HEAP]);
    assert_eq!(metrics, ["inuse_objects", "inuse_space"]);
    assert_eq!(offered("fish", 4, &["prof", "top", HEAP, "-m", "inuse_s"]), ["inuse_space"]);
    assert_eq!(offered("bash", 4, &["prof", "top", CPU, "--label", "e"]), ["endpoint"]);
    assert!(offered("bash", 4, &["prof", "top", "no/such/file", "-m", "in"]).is_empty());
}

#[test]
fn words_of_options_are_completed() {
    let offered_for = |words: &[&str]| offered("bash", words.len() - 1, words);
    assert_eq!(offered_for(&["prof", "top", CPU, "--by", "pa"]), ["package"]);
    assert_eq!(offered_for(&["prof", "top", CPU, "--by", "label:"]), ["label:endpoint"]);
    assert_eq!(offered_for(&["prof", "top", CPU, "--sort", "total,-se"]), ["total,-self"]);
    assert_eq!(offered_for(&["prof", "top", CPU, "--unit", "Mi"]), ["MiB"]);
    assert_eq!(offered_for(&["prof", "top", CPU, "--normalize", "c"]), ["core"]);
    assert_eq!(offered_for(&["prof", "diff", "--normalize", "p"]), ["per="]);
    assert_eq!(offered_for(&["prof", "trend", "--normalize", ""]), ["core", "total", "none"]);
    assert_eq!(offered_for(&["prof", "types", "inuse_s"]), ["inuse_space"]);
    assert_eq!(offered_for(&["prof", "types", "--language", "Ru"]), ["Ruby", "Rust"]);
    assert_eq!(offered_for(&["prof", "tree", "--focus", "@js"]), ["@json"]);
}

#[test]
fn functions_of_the_profile_are_quoted_for_the_shell() {
    let words = |typed| ["prof", "tree", CPU, "--focus", typed];
    assert_eq!(offered("bash", 4, &words("orders.pa")), ["orders.pack"]);
    let escaped = r"orders.\(\*Ledger\).sendReceipts";
    assert_eq!(offered("bash", 4, &words(r"orders.\(\*Ledger\).s")), [escaped]);
    let plain = "orders.(*Ledger).sendReceipts";
    assert_eq!(offered("bash", 4, &words("'orders.(*Ledger).s")), [plain]);
    assert!(
        offered("zsh", 4, &words(r"orders.\(\*Ledger\).s")).iter().any(|line| line.contains("sendReceipts"))
    );
}

#[test]
fn functions_match_anywhere_in_their_names() {
    // A single match is completed, wherever the profile is on the line.
    let only = ["runtime.mallocgcSmallNoscan"];
    assert_eq!(offered("bash", 2, &["prof", "focus", "gcSmallNoscan", CPU]), only);
    let line = format!("prof focus gcSmallNoscan '{CPU}'");
    assert_eq!(offered_on("fish", 2, &["prof", "focus", "gcSmallNoscan"], &line), only);
    // A name is offered once, although its full form begins with the import path.
    assert_eq!(offered("zsh", 2, &["prof", "source", "discount", CPU]), Vec::<String>::new());
    assert_eq!(offered("zsh", 2, &["prof", "source", "Discounted", CPU]), ["catalog.(*Catalog).Discounted"]);
    // With several matches, bash would replace what was typed with their common prefix.
    let several = offered("bash", 2, &["prof", "focus", "malloc", CPU]);
    assert!(several[0] == "malloc" && several.contains(&"runtime.mallocgc".to_string()), "{several:?}");
    assert!(
        several[1..].iter().all(|name| name.contains("malloc") || name.contains("Malloc")),
        "{several:?}"
    );
    assert!(!offered("zsh", 2, &["prof", "focus", "malloc", CPU]).contains(&"malloc".to_string()));
}

#[test]
fn formats() {
    assert_eq!(offered("bash", 3, &["prof", "convert", "--to", "sp"]), ["speedscope"]);
    assert!(offered("bash", 3, &["prof", "top", "--to", "sp"]).is_empty());
    assert_eq!(offered("bash", 3, &["prof", "top", "--input-format", "dh"]), ["dhat"]);
}
