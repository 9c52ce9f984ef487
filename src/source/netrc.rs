//! `.netrc`: user names and passwords by host.

use std::fs;
use std::io;
use std::path::Path;

use super::FetchError;

/// The entries of a `.netrc` file.
#[derive(Debug, Default)]
pub(super) struct Netrc(Vec<Entry>);

#[derive(Debug, Default)]
struct Entry {
    /// The host; `None` for all others.
    machine: Option<String>,
    login: String,
    password: String,
}

impl Netrc {
    /// Reads a file. One that does not exist has no entries.
    pub(super) fn read(path: &Path) -> Result<Self, FetchError> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Netrc::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Netrc::default()),
            Err(error) => Err(FetchError::new(format!("{}: {error}", path.display()))),
        }
    }

    fn parse(text: &str) -> Self {
        // A macro ends at an empty line. Comments take the rest of a line.
        let mut in_macro = false;
        let mut words = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            in_macro = (in_macro || line.starts_with("macdef")) && !line.is_empty();
            if !in_macro {
                words.extend(line.split_whitespace().take_while(|word| !word.starts_with('#')));
            }
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut next = || words.next().unwrap_or_default().to_string();
            match (word, entries.last_mut()) {
                ("machine", _) => entries.push(Entry { machine: Some(next()), ..Entry::default() }),
                ("default", _) => entries.push(Entry::default()),
                ("login", Some(entry)) => entry.login = next(),
                ("password", Some(entry)) => entry.password = next(),
                _ => {}
            }
        }
        Netrc(entries)
    }

    /// `name:password` for a host.
    pub(super) fn user(&self, host: &str) -> Option<String> {
        let is_for = |entry: &&Entry| {
            entry.machine.as_deref().is_none_or(|machine| machine.eq_ignore_ascii_case(host))
        };
        let entry = self.0.iter().find(is_for)?;
        Some(format!("{}:{}", entry.login, entry.password))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_of_a_host_counts() {
        let text = "machine a login me password secret # comment\nmacdef init\nmachine evil login x password y\n\n\
                    machine b\n  login you\n  password p\ndefault login anyone password none\nmachine c login late password l";
        let netrc = Netrc::parse(text);
        assert_eq!(netrc.user("A").as_deref(), Some("me:secret"));
        assert_eq!(netrc.user("b").as_deref(), Some("you:p"));
        assert_eq!(netrc.user("evil").as_deref(), Some("anyone:none"));
        assert_eq!(netrc.user("c").as_deref(), Some("anyone:none"));
        assert_eq!(Netrc::parse("").user("a"), None);
    }
}
