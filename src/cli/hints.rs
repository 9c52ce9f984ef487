//! What people type out of habit from other programs, and what to type instead: the table `hints.txt`.

/// The lines of the sections whose titles begin with `kind`: the rest of the title, the name, and what to type instead. For
/// `option of `, one is `("go tool pprof", "cum", "prof top --sort total PROFILE")`.
pub(super) fn hints(kind: &str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let mut section = None;
    include_str!("hints.txt").lines().filter_map(move |line| {
        if let Some(title) = line.strip_prefix('[') {
            section = title.trim_end_matches(']').strip_prefix(kind);
        }
        let (name, instead) = line.split_once(" = ")?;
        Some((section?, name, instead))
    })
}

/// The first of these lines with this name: the rest of its title, and what to type instead.
pub(super) fn hint(kind: &str, name: &str) -> Option<(&'static str, &'static str)> {
    let (of, _, instead) = hints(kind).find(|(_, known, _)| *known == name)?;
    Some((of, instead))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::Prof;
    use clap::CommandFactory;

    /// Every option and command in the hints has to exist.
    #[test]
    fn hints_name_what_exists() {
        const PROSE: [&str; 6] = ["always", "cannot", "chooses", "does", "prints", "writes"];
        let prof = Prof::command();
        assert!(hints("").count() > 150);
        for (_, _, hint) in hints("") {
            let words: Vec<&str> = hint.split([' ', ',', ';', ':']).collect();
            for pair in words.windows(2).filter(|pair| pair[0] == "prof" && !PROSE.contains(&pair[1])) {
                assert!(prof.find_subcommand(pair[1]).is_some(), "{hint}: prof {}", pair[1]);
            }
            for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
                let has = |command: &clap::Command| {
                    command.get_arguments().any(|argument| argument.get_long() == Some(option))
                };
                assert!(prof.get_subcommands().any(has), "{hint}: --{option}");
            }
        }
    }

    /// An option that a command has is never taken for that of another program.
    #[test]
    fn our_own_options_are_not_foreign() {
        let prof = Prof::command();
        for (name, option, _) in hints("not in ") {
            let command = prof.find_subcommand(name).unwrap();
            let has = |argument: &clap::Arg| {
                argument.get_long() == Some(option)
                    || argument.get_short().is_some_and(|c| c.to_string() == option)
            };
            assert!(!command.get_arguments().any(has), "prof {name} --{option}");
        }
    }
}
