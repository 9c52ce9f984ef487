//! Commands for people. One that names many files would fill the screen, so a word stands for these.

use crate::name::quoted;
use crate::report::Header;
use crate::unit::group_thousands;

/// A command names no more files than this.
const MOST_FILES: usize = 12;

/// Whether a command with so many files would fill the screen.
pub(super) fn is_long(files: usize) -> bool {
    files > MOST_FILES
}

/// How to complete a command in which OLD and NEW stand for so many files.
pub(super) fn old_and_new(old: usize, new: usize) -> String {
    let [old, new] = [old, new].map(|count| group_thousands(count as i128));
    format!(
        "replace OLD with the {old} old files, each after its own --base, and NEW with the {new} new files"
    )
}

/// What stands for the files of a report in its commands.
pub(super) struct ManyFiles {
    /// Files as they are in a command, and the word that stands for them.
    words: Vec<(String, &'static str)>,
    says: String,
}

impl ManyFiles {
    /// `None` if the report has few files.
    pub(super) fn of(header: &Header) -> Option<Self> {
        let new = &header.inputs;
        let old = header.base.as_ref().map_or(&[][..], |base| &base.inputs);
        if !is_long(old.len() + new.len()) {
            return None;
        }
        let list = |files: &[String], before: &str| {
            files.iter().map(|file| [" ", before, &quoted(file)].concat()).collect::<String>()
        };
        let count = |files: &[String]| group_thousands(files.len() as i128);
        let (mut words, mut says) = (Vec::new(), Vec::new());
        // A single file is as short as a word, and may be part of a longer name.
        if old.len() > 1 {
            words.extend([(list(old, "--base "), " --base OLD"), (list(old, ""), " OLD")]);
            says.push(format!("OLD with the {} old files (--base takes one: repeat it)", count(old)));
        }
        if new.len() > 1 {
            let (word, which) = if old.is_empty() { (" FILES", "") } else { (" NEW", "new ") };
            words.push((list(new, ""), word));
            says.push(format!("{} with the {} {which}files", word.trim_start(), count(new)));
        }
        Some(ManyFiles { words, says: format!("replace {}", says.join(" and ")) })
    }

    /// The command with a word in the place of all files.
    pub(super) fn shortened(&self, command: &str) -> String {
        let mut text = command.to_string();
        for (files, word) in &self.words {
            text = text.replace(files, word);
        }
        text
    }

    /// How to complete the command.
    pub(super) fn says(&self) -> &str {
        &self.says
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Base;

    fn files(folder: &str, count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("{folder}/run {number}.pb.gz")).collect()
    }

    fn listed(files: &[String], before: &str) -> String {
        files.iter().map(|file| [" ", before, "'", file, "'"].concat()).collect()
    }

    #[test]
    fn a_word_stands_for_many_files() {
        assert!(ManyFiles::of(&Header { inputs: files("new", 12), ..Header::default() }).is_none());
        let inputs = files("new", 13);
        let new = listed(&inputs, "");
        let header = Header { inputs, ..Header::default() };
        let many = ManyFiles::of(&header).unwrap();
        assert_eq!(many.shortened(&format!("prof top --from 0s{new}")), "prof top --from 0s FILES");
        assert_eq!(many.says(), "replace FILES with the 13 files");

        let inputs = files("old", 7);
        let (base, old) = (listed(&inputs, "--base "), listed(&inputs, ""));
        let many =
            ManyFiles::of(&Header { base: Some(Base { inputs, ..Base::default() }), ..header }).unwrap();
        assert_eq!(many.shortened(&format!("prof focus{base} f{new}")), "prof focus --base OLD f NEW");
        assert_eq!(
            many.shortened(&format!("prof diff --old{old} --new{new}")),
            "prof diff --old OLD --new NEW"
        );
        let says =
            "replace OLD with the 7 old files (--base takes one: repeat it) and NEW with the 13 new files";
        assert_eq!(many.says(), says);
    }
}
