//! A benchmark harness that fails if a function has become more expensive than noise explains.
//!
//! ```text
//! cargo run --release --example gate -- old/ new/
//! ```
//!
//! The arguments are folders with the profiles of several runs of each build. The exit code is 1 for a regression.

use std::process::ExitCode;

use prof::Filters;
use prof::compare::{CompareOptions, compare};
use prof::load::{Request, sides};
use prof::report::{Diff, DiffVerdict};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = &arguments[..] else { return Err("usage: gate OLD NEW".into()) };
    let found = compare_folders(old, new)?;
    for cause in found.causes.iter().filter(|cause| cause.explains_growth()) {
        println!(
            "{}: {:+.1} points ({:.0} % of the growth)",
            cause.function,
            cause.points,
            cause.explains * 100.0
        );
    }
    println!("{}", found.verdict.word());
    Ok(if found.verdict == DiffVerdict::Regressed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Compares the profiles of two folders as `prof diff` does.
fn compare_folders(old: &str, new: &str) -> Result<Diff, Box<dyn std::error::Error>> {
    let sides = sides(&Request::new([old]), Some(&Request::new([new])))?;
    let compared = compare(sides, &Filters::new(), &CompareOptions::default())?;
    let options = compared.options();
    Ok(compared.report(&options)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Three runs of a program in which `hash` takes this many samples.
    fn runs(folder: &std::path::Path, hash: u64) -> String {
        fs::create_dir_all(folder).unwrap();
        for run in 0..3 {
            let mut lines: Vec<String> =
                (1..9).map(|other| format!("main;other{other} {}", 2000 + 10 * other + run)).collect();
            lines.push(format!("main;hash {}", hash + 5 * run));
            let path = folder.join(format!("{run}.folded"));
            fs::write(path, lines.join("\n")).unwrap();
        }
        folder.display().to_string()
    }

    #[test]
    fn only_a_regression_fails() {
        let folder = tempfile::tempdir().unwrap();
        let [old, same, new] = [("old", 1000), ("same", 1010), ("new", 1800)]
            .map(|(name, hash)| runs(&folder.path().join(name), hash));
        assert_ne!(compare_folders(&old, &same).unwrap().verdict, DiffVerdict::Regressed);
        let found = compare_folders(&old, &new).unwrap();
        assert_eq!(found.verdict, DiffVerdict::Regressed);
        assert_eq!(&*found.causes[0].function, "hash");
    }
}
