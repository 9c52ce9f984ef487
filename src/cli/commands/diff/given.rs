//! Which side each profile is on.

use anyhow::Result;

use crate::cli::terminal::failure::hinted;

/// The inputs of both sides: `positional` arguments, those after `--old`, and those after `--new`. No new ones if a single file
/// holds both sides, and no old ones if only budgets are checked.
pub(super) fn given(
    positional: &[String],
    old: &[String],
    new: &[String],
    has_budgets: bool,
) -> Result<(Vec<String>, Vec<String>)> {
    match (positional, old.is_empty(), new.is_empty()) {
        ([old, new], true, true) => Ok((vec![old.clone()], vec![new.clone()])),
        ([both], true, true) => Ok((vec![both.clone()], Vec::new())),
        ([], false, false) => Ok((old.to_vec(), new.to_vec())),
        ([], true, true) => Err(hinted("diff: no profiles given", "name the two sides: prof diff OLD NEW")),
        ([one], false, true) => Ok((old.to_vec(), vec![one.clone()])),
        ([one], true, false) => Ok((vec![one.clone()], new.to_vec())),
        ([], true, false) if has_budgets => Ok((Vec::new(), new.to_vec())),
        ([], ..) => {
            let missing = if old.is_empty() { "--old" } else { "--new" };
            Err(hinted(format!("diff: {missing} is missing"), "prof diff --old OLD... --new NEW..."))
        }
        (several, true, true) => {
            let message = format!("diff: {} profiles given for two sides", several.len());
            Err(hinted(message, hint_at_sides(several)))
        }
        (extra, ..) => {
            let message = format!("diff: {} is on neither side", extra.join(" "));
            Err(hinted(message, "prof diff --old OLD... --new NEW..."))
        }
    }
}

/// How to say which profiles are on which side. Where their names fall into two groups, as those of `old*.pb.gz new*.pb.gz`
/// and `old/1 old/2 new/1` do, these are the sides; nothing else tells.
fn hint_at_sides(profiles: &[String]) -> String {
    let group = |name: &String| name.replace(|c: char| c.is_ascii_digit(), "");
    let is_old = |group: &str| ["old", "before", "base", "main"].iter().any(|word| group.contains(word));
    let mut groups: Vec<String> = Vec::new();
    for name in profiles.iter().map(group) {
        if !groups.contains(&name) {
            groups.push(name);
        }
    }
    let [first, second] = &groups[..] else {
        return "say which side each profile is on: prof diff --old OLD... --new NEW...; \
                or put each side in a folder: prof diff OLD_FOLDER NEW_FOLDER; \
                to compare several builds with the first: prof diff --by-side"
            .to_string();
    };
    // A shell sorts names: `new1 new2 old1 old2`.
    let swapped = is_old(second) && !is_old(first);
    let (old, new): (Vec<&String>, Vec<&String>) =
        profiles.iter().partition(|name| (group(name) == *first) != swapped);
    let list = |side: &[&String]| side.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
    format!("if these are the sides: prof diff --old {} --new {}", list(&old), list(&new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_guessed_from_names_only() {
        let hint = |names: &str| hint_at_sides(&names.split(' ').map(String::from).collect::<Vec<_>>());
        let sides =
            |old: &str, new: &str| format!("if these are the sides: prof diff --old {old} --new {new}");
        assert_eq!(hint("old1.gz old2.gz new1.gz"), sides("old1.gz old2.gz", "new1.gz"));
        assert_eq!(hint("new1.gz new2.gz old1.gz"), sides("old1.gz", "new1.gz new2.gz"));
        assert_eq!(hint("A-001.gz B-002.gz A-003.gz"), sides("A-001.gz A-003.gz", "B-002.gz"));
        assert_eq!(hint("a/1.gz b/1.gz b/2.gz b/3.gz"), sides("a/1.gz", "b/1.gz b/2.gz b/3.gz"));
        for unclear in ["a b c", "a b c d", "cpu1.gz cpu2.gz cpu3.gz"] {
            assert!(
                hint(unclear).starts_with("say which side each profile is on: prof diff --old"),
                "{unclear}"
            );
        }
    }
}
