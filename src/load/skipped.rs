//! Inputs that are left out: broken ones, and the files in a folder that are not profiles.

use std::path::Path;

use crate::format::LoadError;
use crate::load::paths::InputPath;
use crate::load::{Error, shown};
use crate::profile::Meta;
use crate::report::Message;
use crate::unit::first_of;

/// The number of an input that could not be read, and why.
pub(super) type Failed = (usize, LoadError);

/// Inputs that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SkippedInputs {
    /// Those that were named, or that must be profiles; only with `--skip-broken`.
    broken: Vec<String>,
    /// Files in folders that are not profiles.
    others: Vec<String>,
}

impl SkippedInputs {
    /// Tells the broken inputs from files that are not profiles, of those in `skipped`; `read` are the numbers of the inputs
    /// that could be read. Fails for a broken one, unless `skip_broken` is set: a side that silently lacks a run is
    /// compared wrongly.
    pub(super) fn of(
        skipped: Vec<Failed>,
        read: &[usize],
        paths: &[InputPath],
        skip_broken: bool,
    ) -> Result<Self, Error> {
        let mut all = SkippedInputs::default();
        for (number, error) in skipped {
            let path = &paths[number];
            let is_like = |other: &usize| are_alike(&path.name, &paths[*other].name);
            let is_profile = !path.may_be_any_file(&error) || read.iter().any(is_like);
            if is_profile && !skip_broken {
                return Err(Error::Input { name: path.name.clone(), error });
            }
            let list = if is_profile { &mut all.broken } else { &mut all.others };
            list.push(path.name.clone());
        }
        Ok(all)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.broken.len() + self.others.len()
    }

    /// Adds what is to be said about them to that of a profile.
    pub(super) fn tell(&self, meta: &mut Meta) {
        meta.warnings.extend(self.warning());
        meta.notes.extend(self.note());
    }

    /// The same as messages.
    pub(super) fn messages(&self) -> impl Iterator<Item = Message> {
        self.warning().map(Message::warning).into_iter().chain(self.note().map(Message::note))
    }

    fn warning(&self) -> Option<String> {
        text(&self.broken, ["input skipped: not a readable profile", "inputs skipped: not readable profiles"])
    }

    fn note(&self) -> Option<String> {
        text(&self.others, ["file skipped: not a profile", "files skipped: not profiles"])
    }
}

/// Whether two files of a folder have the same extension, so that both are profiles if one of them is. Those of
/// `3.pb.gz` and `notes.txt.gz` differ.
fn are_alike(one: &str, other: &str) -> bool {
    let split = |name: &str| {
        let path = Path::new(name);
        let mut parts =
            path.file_name()?.to_str()?.to_lowercase().rsplit('.').map(str::to_string).collect::<Vec<_>>();
        // The last part is the name.
        parts.pop();
        parts.truncate(if parts.first().is_some_and(|end| COMPRESSED.contains(&&**end)) { 2 } else { 1 });
        (!parts.is_empty()).then(|| (path.parent().map(Path::to_path_buf), parts))
    };
    let one = split(one);
    one.is_some() && one == split(other)
}

/// Extensions that say only how a file is compressed.
const COMPRESSED: [&str; 5] = ["gz", "zst", "bz2", "xz", "lz4"];

/// A list of inputs: how many, and the first of them.
fn text(names: &[String], [one, several]: [&str; 2]) -> Option<String> {
    let what = match names.len() {
        0 => return None,
        1 => one,
        _ => several,
    };
    let named = first_of(names.iter().map(|name| shown(name)), MOST_NAMED, ", ");
    Some(format!("{} {what} ({named})", names.len()))
}

/// How many of the inputs that were skipped are named.
const MOST_NAMED: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_the_extension_of_a_profile_are_profiles() {
        for (one, other, expected) in [
            ("runs/1.pb.gz", "runs/2.pb.gz", true),
            ("runs/1.PROF", "runs/2.prof", true),
            ("runs/1.folded", "runs/README.md", false),
            ("runs/1.pb.gz", "runs/notes.txt.gz", false),
            ("runs/1.pb.gz", "runs/2.gz", false),
            ("runs/1.pb.gz", "others/2.pb.gz", false),
            // Without an extension, names say nothing.
            ("runs/one", "runs/LICENSE", false),
        ] {
            assert_eq!(are_alike(one, other), expected, "{one} {other}");
        }
    }
}
