//! `prof diff --init`: writes a budget file and a CI workflow for the project in the current folder.

mod project;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::commands::init::project::{PROJECTS, Project};
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::target::Target;

const BUDGETS: &str = include_str!("init/prof.toml");
const GITHUB: &str = include_str!("init/github.yml");
const GITLAB: &str = include_str!("init/gitlab.yml");

/// A file to write.
struct Draft {
    path: &'static str,
    about: String,
    text: String,
}

/// Writes the files for the project in the current folder, and prints what to do with them. Existing files are only
/// replaced if `force` is set; if one is in the way, nothing is written.
pub(crate) fn run(force: bool) -> Result<()> {
    let folder = Path::new(".");
    let (project, file) = found(folder)?;
    let is_gitlab = folder.join(".gitlab-ci.yml").exists() && !folder.join(".github").exists();
    let budgets = Draft {
        path: "prof.toml",
        about: "limits on the cost of functions".to_string(),
        text: filled(BUDGETS, project),
    };
    let workflow = Draft {
        path: if is_gitlab { ".gitlab/performance.yml" } else { ".github/workflows/performance.yml" },
        about: format!(
            "records and compares both sides of a {}",
            if is_gitlab { "merge request" } else { "pull request" }
        ),
        text: filled(if is_gitlab { GITLAB } else { GITHUB }, project),
    };
    let next = next_steps(folder, is_gitlab, project, workflow.path);
    let drafts = [budgets, workflow];
    let existing: Vec<&str> =
        drafts.iter().map(|draft| draft.path).filter(|path| fs::symlink_metadata(path).is_ok()).collect();
    if !force && !existing.is_empty() {
        let (exist, them) =
            if existing.len() == 1 { ("already exists", "it") } else { ("already exist", "them") };
        let message = format!("{} {exist}", existing.join(" and "));
        return Err(hinted(message, format!("nothing was written; add --force to replace {them}")));
    }
    for draft in &drafts {
        let path = Path::new(draft.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(folder.join(parent)).with_context(|| parent.display().to_string())?;
        }
        Target::Path(path.to_path_buf()).write(|out| Ok(out.write_all(draft.text.as_bytes())?))?;
    }
    Target::Stdout.write(|out| {
        writeln!(out, "found {file}: {}", project.name)?;
        for draft in &drafts {
            writeln!(out, "wrote {}: {}", draft.path, draft.about)?;
        }
        writeln!(out, "\nNext:")?;
        for (number, step) in next.iter().enumerate() {
            writeln!(out, "{}. {step}", number + 1)?;
        }
        Ok(())
    })
}

/// The project in a folder, and the file that shows it.
fn found(folder: &Path) -> Result<(&'static Project, &'static str)> {
    let files = || {
        PROJECTS.iter().copied().flat_map(|project| project.files.iter().map(move |file| (project, *file)))
    };
    files().find(|(_, file)| folder.join(file).is_file()).ok_or_else(|| {
        let names: Vec<&str> = files().map(|(_, file)| file).collect();
        let hint = "run it in the folder of your project; for other languages, docs/diff-in-ci.md shows how to record";
        hinted(format!("diff --init: this folder has none of {}", names.join(", ")), hint)
    })
}

/// What is left to do by hand.
fn next_steps(folder: &Path, is_gitlab: bool, project: &Project, workflow: &str) -> Vec<String> {
    let mut steps = vec![format!("In {workflow}, set BENCHMARK: {}", lower_first(project.what))];
    if is_gitlab {
        steps.push(format!("In .gitlab-ci.yml, add to include: - local: /{workflow}"));
        steps.push(format!("In {workflow}, set project to the repository of prof, and the CI/CD variable PROF_REPOSITORY to its URL"));
    } else {
        steps.push(
            "Set the repository variable PROF_REPOSITORY to the repository of prof: owner/name".to_string(),
        );
    }
    steps.push("In prof.toml, replace the first budget with limits on functions that matter".to_string());
    // Other folders of a repository may hold projects, but CI servers look for workflows at the top only.
    if !folder.join(".git").exists() {
        steps.push(format!("Move {workflow} to the top folder of the repository, and adapt its paths"));
    }
    steps.push("Commit both files".to_string());
    steps
}

/// `The script to run.` as the end of a sentence: `the script to run`.
fn lower_first(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A template with the parts of a project filled in. A part on a line of its own may have several lines, which are
/// indented like the line, or none.
fn filled(template: &str, project: &Project) -> String {
    let parts = project.parts();
    let mut text = String::new();
    for line in template.lines() {
        let own = line.trim_start();
        let indent = &line[..line.len() - own.len()];
        if let Some((_, part)) = parts.iter().find(|(mark, _)| *mark == own) {
            part.lines().for_each(|line| text.push_str(&format!("{indent}{line}\n")));
            continue;
        }
        let line = parts.iter().fold(line.to_string(), |line, (mark, part)| line.replace(mark, part));
        text.push_str(&line);
        text.push('\n');
    }
    text
}
