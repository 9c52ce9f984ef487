//! Names as words of a shell.

/// Quotes a word for a shell, if it needs that.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,…".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The rest of a command line for a shell: options, and inputs that may look like options.
#[cfg(feature = "cli")]
pub(crate) fn shell_words<'w>(
    options: impl Iterator<Item = &'w String>,
    inputs: impl Iterator<Item = &'w String> + Clone,
) -> String {
    let divider = inputs.clone().any(|input| input.starts_with('-') && input != "-").then_some("--");
    let words = options.map(String::as_str).chain(divider).chain(inputs.map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}
