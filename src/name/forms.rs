//! The forms in which a name can appear on the screen.

use super::place::label_with_place;
use super::short::{NAMELESS, shortened_forms};

/// All forms in which a name can appear on the screen: in full, shortened to any level, with escapes for
/// unprintable characters, and as blocks of a picture are labelled. An empty name is shown as `""`.
pub fn screen_forms(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec![NAMELESS.to_owned()];
    }
    let mut forms: Vec<String> = shortened_forms(name).chain(label_with_place(name)).collect();
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Whether `name` can appear on the screen as `form`.
pub fn is_screen_form(name: &str, form: &str) -> bool {
    // Shortening only omits words and changes none, so most names can be ruled out without shortening them.
    let word = form.split(|c: char| !c.is_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default();
    let may_be = if word.is_empty() { !name.contains(char::is_alphanumeric) } else { name.contains(word) };
    (may_be || form.contains('\\')) && screen_forms(name).iter().any(|own| own == form)
}
