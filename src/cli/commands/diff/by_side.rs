//! `prof diff --by-side`: several builds, each compared with the first.

use anyhow::Result;

use crate::cli::commands::diff::{Cut, DiffCommand, Testing, exit_code, may_be_mix, with_kinds};
use crate::cli::commands::outcome::Outcome;
use crate::cli::commands::show::write;
use crate::cli::input::request::explain;
use crate::cli::options::layout::{Output, OutputFormat};
use crate::cli::terminal::failure::hinted;
use crate::load::{Request, Sides, builds};
use crate::output::evidence_notes;
use crate::profile::LoadOptions;
use crate::report::Diff;
use crate::stats::Normalization;
use crate::view::{BySideOptions, by_side};

/// Compares the builds and writes the table. If any build fails the check, so does the program.
pub(super) fn run(command: &DiffCommand, mut output: Output) -> Result<Outcome> {
    let given = &command.input.profiles;
    check(command, given, output.format)?;
    output.check(&command.files(given))?;
    let needs = command.needs(given);
    let (mut diffs, has_labels) = compare(command, given, &needs)?;
    if has_labels && !needs.labels && diffs.iter().any(may_be_mix) {
        diffs = compare(command, given, &with_kinds(needs))?.0;
    }
    for (diff, name) in diffs.iter_mut().zip(&given[1..]) {
        let notes: Vec<String> =
            evidence_notes(diff).into_iter().map(|note| format!("{name}: {note}")).collect();
        command.tell_evidence(diff, &notes, &output);
    }
    let Cut { limit, others, min_share } = command.cut(output.format);
    let options = BySideOptions { alpha: command.test.alpha, limit, others, sort: command.sort, min_share };
    let all = by_side(diffs, &options);
    let code = exit_code(all.outcome());
    output.style.exit_code = Some(code);
    Outcome(code).after(write(&command.fitted(all.into(), &output)?, &output, command.input.verbose))
}

/// Compares each build with the first. Also returns whether samples have labels that may tell kinds of work.
fn compare(command: &DiffCommand, given: &[String], needs: &LoadOptions) -> Result<(Vec<Diff>, bool)> {
    let requests = given.iter().map(|input| command.request(std::slice::from_ref(input), needs));
    let requests = requests.collect::<Result<Vec<Request>>>()?;
    let sides = builds(&requests.iter().collect::<Vec<_>>()).map_err(|error| {
        let all = Request { inputs: given.to_vec(), ..requests[0].clone() };
        explain(error, &all)
    })?;
    // A build is more likely to fail by chance the more of them there are, so each gets a part of alpha.
    let alpha = command.test.alpha / (given.len() - 1) as f64;
    let mut sides = sides.into_iter();
    let Some(old) = sides.next() else { return Ok((Vec::new(), false)) };
    let (mut diffs, mut has_labels) = (Vec::new(), false);
    for (new, name) in sides.zip(&given[1..]) {
        let both = Sides { old: old.clone(), new, share_a_file: false };
        let compared = command.compared(both, &requests[0], true)?;
        has_labels |= compared.has_text_labels;
        let testing = Testing { alpha, cut: Cut::default(), build: Some(name.clone()) };
        diffs.push(command.report(compared, &testing)?);
    }
    Ok((diffs, has_labels))
}

/// Rejects what only makes sense for two sides.
fn check(command: &DiffCommand, given: &[String], format: OutputFormat) -> Result<()> {
    if given.len() < 2 {
        return Err(hinted(
            "--by-side compares several builds with the first, but fewer than two were given",
            "name each build by its profile or folder: prof diff --by-side v1/ v2/ v3/",
        ));
    }
    if matches!(format, OutputFormat::Github | OutputFormat::Junit) {
        return Err(hinted(
            "--by-side writes no annotations and no test reports",
            "its formats are text, json, csv and markdown; prof diff OLD NEW writes the others for one build",
        ));
    }
    if matches!(command.test.normalize, Some(Normalization::Per { .. })) {
        return Err(hinted(
            "--normalize per=OLD,NEW is about two sides, and --by-side has more",
            "if every run does the same work, use --normalize none",
        ));
    }
    Ok(())
}
