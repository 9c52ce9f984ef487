//! Named sets from a file: what a team calls its allocator, or its taxes.
//!
//! ```toml
//! [sets]
//! "@alloc" = ["^arena_", "file:pool\\.c"]   # added to what prof knows
//! "@tax" = ["^vat_"]                        # a set of its own, and a rule of prof report
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Result;
use serde::Deserialize;

use crate::cli::terminal::failure::hinted;
use crate::pattern::add_sets;

/// The file. Its other tables are for others, such as budgets.
#[derive(Default, Deserialize)]
struct SetsFile {
    #[serde(default)]
    sets: BTreeMap<String, Vec<String>>,
}

/// The variable that names the file.
const VARIABLE: &str = "PROF_SETS";

/// The file that is read if there is one.
const USUAL: &str = "prof.toml";

/// The hint for a wrong file.
const EXAMPLE: &str = r#"sets are lines such as "@tax" = ["^vat_"] below [sets]"#;

/// Adds the sets of the file in `$PROF_SETS`, or else of `prof.toml` in the working directory if it has any.
pub(crate) fn read() -> Result<()> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    match named {
        Some(path) => {
            let place = path.display().to_string();
            let text = fs::read_to_string(&path).map_err(|error| {
                let hint = format!(
                    "{VARIABLE} names a file with sets; if it is not set, {USUAL} is read if it exists"
                );
                hinted(format!("{VARIABLE}: {place}: {error}"), hint)
            })?;
            add(&place, &text)
        }
        None => match fs::read_to_string(Path::new(USUAL)) {
            // The file may be that of another program, or only about budgets.
            Ok(text) if text.lines().any(|line| line.trim_start().starts_with("[sets")) => add(USUAL, &text),
            _ => Ok(()),
        },
    }
}

fn add(place: &str, text: &str) -> Result<()> {
    let file: SetsFile =
        toml::from_str(text).map_err(|error| hinted(format!("{place}: {error}"), EXAMPLE))?;
    if file.sets.is_empty() {
        return Ok(());
    }
    add_sets(file.sets.into_iter().collect()).map_err(|error| hinted(format!("{place}: {error}"), EXAMPLE))
}
