//! `prof diff --init`: writes a budget file and a CI workflow for the project in the current folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::target::Target;

const PROJECTS: &str = include_str!("init/projects.toml");
const BUDGETS: &str = include_str!("init/prof.toml");
const GITHUB: &str = include_str!("init/github.yml");
const GITLAB: &str = include_str!("init/gitlab.yml");

/// The kinds of projects, the first of which found in a folder wins.
#[derive(Deserialize)]
struct Projects {
    project: Vec<Project>,
}

/// A kind of project.
#[derive(Deserialize)]
struct Project {
    /// The files that show that a folder holds such a project.
    files: Vec<String>,
    /// What replaces `{name}` and other marks in the templates.
    #[serde(flatten)]
    parts: BTreeMap<String, String>,
}

impl Project {
    fn part(&self, name: &str) -> &str {
        self.parts.get(name).map_or("", String::as_str)
    }
}

/// Writes the files for the project in the current folder, and prints what to do with them. Existing files are only
/// replaced if `force` is set; if one is in the way, nothing is written.
pub(crate) fn run(force: bool) -> Result<()> {
    let folder = Path::new(".");
    let (project, file) = found(folder)?;
    let is_gitlab = folder.join(".gitlab-ci.yml").exists() && !folder.join(".github").exists();
    let (workflow, template, request) = if is_gitlab {
        (".gitlab/performance.yml", GITLAB, "merge request")
    } else {
        (".github/workflows/performance.yml", GITHUB, "pull request")
    };
    let about_workflow = format!("records and compares both sides of a {request}");
    let drafts = [
        ("prof.toml", BUDGETS, "limits on the cost of functions"),
        (workflow, template, about_workflow.as_str()),
    ];
    let existing: Vec<&str> =
        drafts.iter().map(|(path, ..)| *path).filter(|path| fs::symlink_metadata(path).is_ok()).collect();
    if !force && !existing.is_empty() {
        let (exist, them) =
            if existing.len() == 1 { ("already exists", "it") } else { ("already exist", "them") };
        let message = format!("{} {exist}", existing.join(" and "));
        return Err(hinted(message, format!("nothing was written; add --force to replace {them}")));
    }
    for (path, template, _) in drafts {
        let path = Path::new(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(folder.join(parent)).with_context(|| parent.display().to_string())?;
        }
        Target::Path(path.to_path_buf())
            .write(|out| Ok(out.write_all(filled(template, &project).as_bytes())?))?;
    }
    Target::Stdout.write(|out| {
        writeln!(out, "found {file}: {}", project.part("name"))?;
        for (path, _, about) in drafts {
            writeln!(out, "wrote {path}: {about}")?;
        }
        writeln!(out, "\nNext:")?;
        for (number, step) in next_steps(folder, is_gitlab, &project, workflow).iter().enumerate() {
            writeln!(out, "{}. {step}", number + 1)?;
        }
        Ok(())
    })
}

/// The project in a folder, and the file that shows it.
fn found(folder: &Path) -> Result<(Project, String)> {
    let Projects { project: projects } = toml::from_str(PROJECTS)?;
    let mut looked_for = Vec::new();
    for project in projects {
        if let Some(file) = project.files.iter().find(|file| folder.join(file).is_file()) {
            let file = file.clone();
            return Ok((project, file));
        }
        looked_for.extend(project.files);
    }
    let hint =
        "run it in the folder of your project; for other languages, docs/diff-in-ci.md shows how to record";
    Err(hinted(format!("diff --init: this folder has none of {}", looked_for.join(", ")), hint))
}

/// What is left to do by hand.
fn next_steps(folder: &Path, is_gitlab: bool, project: &Project, workflow: &str) -> Vec<String> {
    let mut steps = Vec::new();
    // Other folders of a repository may hold projects, but CI servers look for workflows at the top only.
    if is_below_top(folder) {
        steps.push(format!("Move {workflow} to the top folder of the repository, and adapt its paths"));
    }
    steps.push(format!("In {workflow}, set BENCHMARK: {}", lower_first(project.part("what"))));
    if is_gitlab {
        steps.push(format!("In .gitlab-ci.yml, add to include: - local: /{workflow}"));
        steps.push(format!("In {workflow}, set project to the repository of prof, and the CI/CD variable PROF_REPOSITORY to its URL"));
    } else {
        steps.push(
            "Set the repository variable PROF_REPOSITORY to the repository of prof: owner/name".to_string(),
        );
    }
    steps.push("In prof.toml, replace the first budget with limits on functions that matter".to_string());
    steps.push(if is_gitlab { "Commit all three files" } else { "Commit both files" }.to_string());
    steps
}

/// Whether a folder is in a repository, but is not its top folder.
fn is_below_top(folder: &Path) -> bool {
    let has_git = |folder: &Path| folder.join(".git").exists();
    !has_git(folder) && folder.canonicalize().is_ok_and(|whole| whole.ancestors().any(has_git))
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
    let parts: Vec<(String, &str)> =
        project.parts.iter().map(|(name, part)| (format!("{{{name}}}"), part.as_str())).collect();
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
